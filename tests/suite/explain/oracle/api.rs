//! Requests to the API server without a process for each: a world needs a hundred of them.

use std::{
    path::Path,
    thread,
    time::{Duration, Instant},
};

use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

/// Longer than any controller needs, even one that polls every 15 seconds.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

pub(super) struct Api {
    runtime: Runtime,
    client: Client,
}

impl Api {
    pub(super) fn new(kubeconfig: &Path) -> Self {
        drop(rustls::crypto::ring::default_provider().install_default());
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let client = runtime.block_on(async {
            let kubeconfig = Kubeconfig::read_from(kubeconfig).unwrap();
            let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await;
            Client::try_from(config.unwrap()).unwrap()
        });
        Api { runtime, client }
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
        match self.send("PATCH", path, "application/merge-patch+json", change) {
            Ok(_) => true,
            Err(kube::Error::Api(status)) if [404, 409].contains(&status.code) => status.code == 404,
            Err(error) => panic!("PATCH {path} {change}: {error}"),
        }
    }

    /// Deletes the object, if it exists.
    pub(super) fn delete(&self, path: &str, options: &Value) {
        self.must("DELETE", path, options);
    }

    /// The response, or None if there is no such object.
    fn must(&self, method: &str, path: &str, body: &Value) -> Option<Value> {
        match self.send(method, path, "application/json", body) {
            Ok(answer) => Some(answer),
            Err(kube::Error::Api(status)) if status.code == 404 => None,
            Err(error) => panic!("{method} {path} {body}: {error}"),
        }
    }

    fn send(&self, method: &str, path: &str, content: &str, body: &Value) -> Result<Value, kube::Error> {
        let bytes = if body.is_null() {
            Vec::new()
        } else {
            body.to_string().into_bytes()
        };
        let request = http::Request::builder()
            .method(method)
            .uri(path)
            .header(http::header::CONTENT_TYPE, content)
            .body(bytes)
            .unwrap();
        self.runtime.block_on(self.client.request(request))
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
