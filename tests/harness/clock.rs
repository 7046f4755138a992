//! Makes a deletion older than it is, in etcd, so that a test need not wait for a minute to pass.

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::Cluster;

impl Cluster {
    /// Puts the deletion of an object back by so many seconds. `key` is the object's key in etcd below `/registry/`, such
    /// as `configmaps/NAMESPACE/NAME`. The API server and all controllers see the change at once.
    #[track_caller]
    pub fn deleted_earlier(&self, key: &str, seconds: i64) {
        let key_bytes = BASE64.encode(format!("/registry/{key}"));
        let stored = self.stored(key).unwrap_or_else(|| panic!("etcd has no {key}"));
        let earlier = put_back(&stored, seconds).unwrap_or_else(|| panic!("{key} is not being deleted"));
        self.ask_etcd(
            "kv/put",
            &json!({"key": key_bytes, "value": BASE64.encode(earlier)}),
        );
    }
}

/// How `ObjectMeta.deletionTimestamp` is stored: field 9, a message of eight bytes. Its seconds take five bytes since
/// 2004, its nanoseconds are zero (`k8s.io/apimachinery/pkg/apis/meta/v1/generated.proto`).
const START: [u8; 3] = [0x4a, 0x08, 0x08];
const END: [u8; 2] = [0x10, 0x00];

/// The stored object with an earlier `deletionTimestamp`: built-in types are protobuf, custom resources JSON.
fn put_back(stored: &[u8], seconds: i64) -> Option<Vec<u8>> {
    if let Ok(mut object) = serde_json::from_slice::<Value>(stored) {
        let time: Timestamp = object["metadata"]["deletionTimestamp"].as_str()?.parse().ok()?;
        object["metadata"]["deletionTimestamp"] =
            (time - SignedDuration::from_secs(seconds)).to_string().into();
        return Some(object.to_string().into_bytes());
    }
    let at = stored
        .windows(10)
        .position(|window| window.starts_with(&START) && window.ends_with(&END))?;
    let digits = at + START.len()..at + START.len() + 5;
    let then = stored[digits.clone()]
        .iter()
        .rev()
        .fold(0, |number, byte| number << 7 | i64::from(byte & 0x7f));
    let mut rest = then - seconds;
    let mut earlier = stored.to_vec();
    for (n, byte) in earlier[digits].iter_mut().enumerate() {
        let more = if n < 4 { 0x80 } else { 0 };
        *byte = more | u8::try_from(rest & 0x7f).expect("seven bits");
        rest >>= 7;
    }
    Some(earlier)
}
