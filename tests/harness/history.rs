//! The changes of a cluster's objects, from the history in etcd.

use std::{
    io::{BufRead as _, BufReader},
    process::{Command, Stdio},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::Value;

use super::{Cluster, binaries};

/// One change of one key.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The key.
    pub key: String,
    /// The revision of the store after the change.
    pub revision: u64,
    /// The stored value; none if the key was deleted.
    pub value: Option<Vec<u8>>,
}

impl Cluster {
    /// The present revision of the store.
    pub fn revision(&self) -> u64 {
        let text = self.etcdctl(["get", "no-such-key", "--write-out=json"]).success();
        let answer: Value = serde_json::from_str(&text).expect("etcdctl prints JSON");
        answer["header"]["revision"].as_u64().expect("a revision")
    }

    /// Every change below `prefix` from a revision on, up to the change of the key `last`.
    pub fn history(&self, prefix: &str, from: u64, last: &str) -> Vec<Event> {
        let mut watch = Command::new(binaries::program("etcdctl"))
            .args(self.etcdctl_flags())
            .args(["watch", "--prefix", "--write-out=json"])
            .arg(format!("--rev={from}"))
            .arg(prefix)
            .env_clear()
            .stdout(Stdio::piped())
            .spawn()
            .expect("etcdctl starts");
        let mut events = Vec::new();
        let lines = BufReader::new(watch.stdout.take().expect("a pipe")).lines();
        'all: for line in lines {
            let line: Value = serde_json::from_str(&line.expect("UTF-8")).expect("etcdctl prints JSON");
            for event in line["Events"].as_array().into_iter().flatten() {
                let event = read(event);
                if event.key == last {
                    break 'all;
                }
                events.push(event);
            }
        }
        let _ = watch.kill();
        let _ = watch.wait();
        events
    }
}

fn read(event: &Value) -> Event {
    let bytes = |field: &str| {
        let text = event["kv"][field].as_str().unwrap_or_default();
        STANDARD.decode(text).expect("base64")
    };
    let value = bytes("value");
    Event {
        key: String::from_utf8(bytes("key")).expect("a key is text"),
        revision: event["kv"]["mod_revision"].as_u64().expect("a revision"),
        // A deletion has no value, and no stored object is empty.
        value: (!value.is_empty()).then_some(value),
    }
}
