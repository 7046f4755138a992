//! Requests to the API server without a process for each: a world needs a hundred of them.

use std::{
    path::Path,
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::harness;

/// Longer than any controller needs, even one that polls every 15 seconds.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

pub(super) struct Api(harness::Api);

impl Api {
    pub(super) fn new(kubeconfig: &Path) -> Self {
        Api(harness::Api::new(kubeconfig))
    }

    pub(super) fn get(&self, path: &str) -> Option<Value> {
        self.must("GET", path, &Value::Null)
    }

    pub(super) fn create(&self, collection: &str, object: &Value) -> Value {
        self.must("POST", collection, object)
            .unwrap_or_else(|| panic!("nothing takes {object}"))
    }

    /// False if the object has changed since it was read. True if it is gone.
    pub(super) fn patch(&self, path: &str, change: &Value) -> bool {
        let answer = self.0.send("PATCH", path, "application/merge-patch+json", change);
        let answer = answer.unwrap_or_else(|error| panic!("{error}"));
        match answer.code.as_u16() {
            404 => true,
            409 => false,
            code => {
                assert!(
                    answer.code.is_success(),
                    "PATCH {path} {change}: {code} {}",
                    answer.body
                );
                true
            }
        }
    }

    /// Deletes the object, if it exists.
    pub(super) fn delete(&self, path: &str, options: &Value) {
        self.must("DELETE", path, options);
    }

    /// The response, or None if there is no such object.
    fn must(&self, method: &str, path: &str, body: &Value) -> Option<Value> {
        let answer = self.0.send(method, path, "application/json", body);
        let answer = answer.unwrap_or_else(|error| panic!("{error}"));
        if answer.code.as_u16() == 404 {
            return None;
        }
        assert!(
            answer.code.is_success(),
            "{method} {path} {body}: {} {}",
            answer.code,
            answer.body
        );
        Some(answer.body)
    }
}

/// Polls until the condition holds; false if that takes too long.
pub(super) fn until(mut holds: impl FnMut() -> bool) -> bool {
    let began = Instant::now();
    let mut pause = Duration::from_millis(10);
    while !holds() {
        if began.elapsed() > PATIENCE {
            return false;
        }
        thread::sleep(pause);
        pause = (pause * 3 / 2).min(Duration::from_millis(200));
    }
    true
}
