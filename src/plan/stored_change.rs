//! The change of one value in etcd.

use super::hash::sha256;

/// What etcd has under one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// The revision of its last change. The API server shows it as the object's resourceVersion.
    pub mod_revision: i64,
    /// The value.
    pub value: Vec<u8>,
}

/// A change of one value in etcd.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredChange {
    /// What etcd has now. It is replaced only at this revision.
    pub before: Entry,
    /// The new value.
    pub after: Vec<u8>,
    /// The form of both: `protobuf` or `JSON`.
    pub form: &'static str,
    /// The fields that go, each with its value.
    pub cuts: Vec<String>,
    /// The metadata that both values have, a field each, for people.
    pub metadata: Vec<String>,
    /// What the deletion has already done.
    pub now: Vec<String>,
    /// What is true once it is taken back, and who may delete the object again.
    pub then: Vec<String>,
}

impl StoredChange {
    /// The sizes and digests of the two values.
    pub fn versions(&self) -> [String; 2] {
        [&self.before.value, &self.after]
            .map(|value| format!("{} bytes, sha256 {}", value.len(), sha256(value)))
    }
}
