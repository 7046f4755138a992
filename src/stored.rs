//! An object as the API server stores it in etcd, and the same bytes without the deletion. Pure.
//!
//! Bytes are edited, not types: a type of another version would lose the fields that it does not know. Only the deletion
//! goes, and the lengths of what encloses it follow. Every other byte stays.
//!
//! Kubernetes' own types are protobuf in an envelope
//! (`kubernetes/apimachinery:pkg/runtime/serializer/protobuf/protobuf.go`). Custom resources are JSON
//! (`kubernetes/apiextensions-apiserver:pkg/apiserver/customresource_handler.go`). What is encrypted begins with a prefix
//! of its own (`kubernetes/apiserver:pkg/server/options/encryptionconfig/config.go`).

mod json;
mod keys;
mod metadata;
mod protobuf;
#[cfg(test)]
mod tests;

pub use self::keys::{PREFIXES, keys, mark_of_prefix, possible_prefixes};

/// Begins a value that is encrypted at rest.
const ENCRYPTED: &[u8] = b"k8s:enc:";
/// Begins the envelope of protobuf.
const PROTOBUF: &[u8] = b"k8s\0";
/// Begins CBOR, in which some servers store custom resources (feature gate `CBORServingAndStorage`).
const CBOR: &[u8] = &[0xd9, 0xd9, 0xf7];

/// The object that a value is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// Its kind.
    pub kind: String,
    /// Its namespace; empty if it has none.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its uid.
    pub uid: String,
}

/// A value, and the same without the deletion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undeleted {
    /// The object.
    pub object: Identity,
    /// The form of the value: `protobuf` or `JSON`.
    pub form: &'static str,
    /// The new value.
    pub value: Vec<u8>,
    /// The fields that are not in it any more; none if the object is not being deleted.
    pub cuts: Vec<Cut>,
    /// The metadata of the old value, for people: each field and its value.
    pub metadata: Vec<(String, String)>,
}

/// A field that was taken out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The field of `metadata`.
    pub field: &'static str,
    /// Its value.
    pub was: String,
}

/// Why a value cannot be edited.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// It is encrypted, with this prefix.
    #[error("the stored object is encrypted ({0})")]
    Encrypted(String),
    /// It is neither protobuf nor JSON of an object, or not as the API server writes it.
    #[error("the stored object is not as an API server writes it: {0}")]
    Unknown(String),
}

fn unknown(why: impl Into<String>) -> Unusable {
    Unusable::Unknown(why.into())
}

/// The value without `deletionTimestamp` and `deletionGracePeriodSeconds`.
pub fn undeleted(value: &[u8]) -> Result<Undeleted, Unusable> {
    if value.starts_with(ENCRYPTED) {
        return Err(Unusable::Encrypted(provider(value)));
    }
    if let Some(envelope) = value.strip_prefix(PROTOBUF) {
        return protobuf::undeleted(envelope);
    }
    if value.starts_with(CBOR) {
        return Err(unknown("it is CBOR"));
    }
    json::undeleted(value)
}

/// The prefix of an encrypted value without its key: `k8s:enc:aescbc:v1`.
fn provider(value: &[u8]) -> String {
    let words: Vec<_> = value.split(|byte| *byte == b':').take(4).collect();
    let short: Vec<u8> = words.join(&b':').into_iter().take(40).collect();
    String::from_utf8_lossy(&short).into_owned()
}
