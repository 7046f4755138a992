//! Metadata lists in Kubernetes' protobuf: `k8s\0`, then a `runtime.Unknown` around the list.
//!
//! Field numbers are those of `k8s.io/apimachinery:pkg/apis/meta/v1/generated.proto` and
//! `pkg/runtime/generated.proto`. Empty strings are written too, as gogo-protobuf does for every field that is
//! not a pointer in Go. A reader that fails on them would fail on every real response.

use jiff::Timestamp;

use super::object::{ManagedFields, Object, Owner};

/// How many bytes the length of a part probably takes. A wrong estimate costs one move of that part.
const SMALL: usize = 1;
const OBJECT: usize = 2;
const LIST: usize = 3;

/// The metadata of a list.
pub struct ListMeta<'a> {
    pub resource_version: &'a str,
    pub continue_token: &'a str,
    pub remaining: Option<u64>,
}

/// One `items` entry: `PartialObjectMetadata{1: ObjectMeta}`.
pub fn item(object: &Object, type_name: &str, out: &mut Vec<u8>) {
    nested(2, OBJECT, out, |out| {
        nested(1, OBJECT, out, |out| object_meta(object, type_name, out));
    });
}

/// The response around `items`, which [`item`] writes.
pub fn list(meta: &ListMeta<'_>, items: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b"k8s\0");
    nested(1, SMALL, out, |out| {
        string(1, "meta.k8s.io/v1", out);
        string(2, "PartialObjectMetadataList", out);
    });
    nested(2, LIST, out, |out| {
        nested(1, SMALL, out, |out| {
            string(1, "", out); // selfLink
            string(2, meta.resource_version, out);
            string(3, meta.continue_token, out);
            if let Some(remaining) = meta.remaining {
                number(4, remaining, out);
            }
        });
        out.extend_from_slice(items);
    });
    string(3, "", out); // contentEncoding
    string(4, "", out); // contentType
}

fn object_meta(object: &Object, type_name: &str, out: &mut Vec<u8>) {
    string(1, &object.name, out);
    string(2, "", out); // generateName
    string(3, &object.namespace, out);
    string(4, "", out); // selfLink
    nested(5, SMALL, out, |out| object.write_uid(type_name, out));
    string(6, &object.resource_version.to_string(), out);
    number(7, 0, out); // generation
    time(8, object.created, out);
    if let Some(at) = object.deletion {
        time(9, at, out);
        number(10, object.grace_seconds.cast_unsigned(), out);
    }
    for (tag, map) in [(11, &object.labels), (12, &object.annotations)] {
        for (key, value) in map {
            nested(tag, SMALL, out, |out| {
                string(1, key, out);
                string(2, value, out);
            });
        }
    }
    for owner in &object.owners {
        nested(13, SMALL, out, |out| owner_reference(owner, out));
    }
    for finalizer in &object.finalizers {
        string(14, finalizer, out);
    }
    for entry in &object.managed_fields {
        nested(17, OBJECT, out, |out| managed_fields(entry, out));
    }
}

fn owner_reference(owner: &Owner, out: &mut Vec<u8>) {
    string(1, &owner.kind, out);
    string(3, &owner.name, out);
    string(4, &owner.uid, out);
    string(5, &owner.api_version, out);
    number(7, u64::from(owner.block_owner_deletion), out);
}

fn managed_fields(entry: &ManagedFields, out: &mut Vec<u8>) {
    string(1, &entry.manager, out);
    string(2, entry.operation, out);
    string(3, &entry.api_version, out);
    time(4, entry.time, out);
    string(6, "FieldsV1", out);
    nested(7, OBJECT, out, |out| string(1, &entry.fields, out));
    string(8, entry.subresource, out);
}

fn time(tag: u64, at: Timestamp, out: &mut Vec<u8>) {
    nested(tag, SMALL, out, |out| {
        number(1, at.as_second().cast_unsigned(), out);
        number(2, 0, out); // metav1.Time keeps whole seconds only
    });
}

fn number(tag: u64, value: u64, out: &mut Vec<u8>) {
    varint(tag << 3, out);
    varint(value, out);
}

fn string(tag: u64, text: &str, out: &mut Vec<u8>) {
    varint(tag << 3 | 2, out);
    varint(text.len() as u64, out);
    out.extend_from_slice(text.as_bytes());
}

/// A part whose length is known only after it is written. `guess` bytes are reserved, and corrected if wrong.
fn nested(tag: u64, guess: usize, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    varint(tag << 3 | 2, out);
    let at = out.len();
    out.resize(at + guess, 0);
    write(out);
    let (length, used) = encode((out.len() - at - guess) as u64);
    if used == guess {
        out[at..at + used].copy_from_slice(&length[..used]);
    } else {
        out.splice(at..at + guess, length[..used].iter().copied());
    }
}

fn varint(value: u64, out: &mut Vec<u8>) {
    let (bytes, used) = encode(value);
    out.extend_from_slice(&bytes[..used]);
}

fn encode(mut value: u64) -> ([u8; 10], usize) {
    let mut bytes = [0; 10];
    let mut used = 0;
    while value >= 0x80 {
        bytes[used] = (value & 0x7f) as u8 | 0x80;
        value >>= 7;
        used += 1;
    }
    bytes[used] = (value & 0x7f) as u8;
    (bytes, used + 1)
}
