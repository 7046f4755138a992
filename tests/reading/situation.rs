//! The recorded situations, and what the program says of them.

use std::{collections::BTreeMap, path::Path, process::Command};

use serde::Deserialize;
use serde_json::Value;

use crate::counts::Count;

const BINARY: &str = env!("CARGO_BIN_EXE_kubectl-finalizers");
const WIDTH: &str = "100";

/// An entry of `situations.yaml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Situation {
    pub id: String,
    pub family: String,
    /// The recording, in the repository.
    pub from: String,
    target: String,
    namespace: Option<String>,
    /// The first text that names what keeps the object.
    pub cause: String,
    #[serde(default)]
    pub exceptions: BTreeMap<Count, Exception>,
}

/// A count that may be over the limit.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exception {
    now: usize,
    pub why: String,
}

pub fn situations() -> Vec<Situation> {
    serde_saphyr::from_str(include_str!("situations.yaml")).unwrap()
}

impl Situation {
    pub fn limit(&self, count: Count) -> usize {
        let exception = self.exceptions.get(&count);
        exception.map_or_else(|| count.limit(), |exception| exception.now)
    }

    /// The explanation as text and as JSON.
    pub fn explained(&self) -> (String, Value) {
        let json = self.run("json");
        (self.run("table"), serde_json::from_str(&json).unwrap())
    }

    fn run(&self, format: &str) -> String {
        let mut command = Command::new(BINARY);
        command
            .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")))
            .env_clear()
            .env("LANG", "C.UTF-8")
            .env("COLUMNS", WIDTH)
            .env("XDG_CONFIG_HOME", "/nonexistent")
            .args(["explain", &self.target, "-o", format, "--from", &self.from]);
        if let Some(namespace) = &self.namespace {
            command.args(["-n", namespace]);
        }
        let output = command.output().unwrap();
        let (said, complaint) = (output.stdout, String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{}: {complaint}", self.id);
        String::from_utf8(said).unwrap()
    }
}
