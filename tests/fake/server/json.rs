//! Objects as JSON, written into a reused buffer in the order of Go's encoder.

use std::io::Write;

use super::kind::Kind;
use super::object::Object;

/// One item of a `PartialObjectMetadataList`, or a response of that kind.
pub fn partial(object: &Object, type_name: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(br#"{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":"#);
    metadata(object, type_name, out);
    out.push(b'}');
}

/// The whole object. Items of built-in lists have no `kind`, custom ones do.
pub fn whole(object: &Object, kind: &Kind, named: bool, out: &mut Vec<u8>) {
    out.push(b'{');
    if named || kind.is_custom() {
        pair("kind", &kind.kind, out);
        out.push(b',');
        pair("apiVersion", &kind.api_version(), out);
        out.push(b',');
    }
    key("metadata", out);
    metadata(object, &kind.name(), out);
    for (name, value) in &object.rest {
        out.push(b',');
        key(name, out);
        serde_json::to_writer(&mut *out, value).unwrap();
    }
    out.push(b'}');
}

fn metadata(object: &Object, type_name: &str, out: &mut Vec<u8>) {
    out.push(b'{');
    pair("name", &object.name, out);
    if !object.namespace.is_empty() {
        out.push(b',');
        pair("namespace", &object.namespace, out);
    }
    if object.uid.as_deref() != Some("") {
        out.extend_from_slice(b",\"uid\":\"");
        object.write_uid(type_name, out);
        out.push(b'"');
    }
    write!(
        out,
        r#","resourceVersion":"{}","creationTimestamp":"{}""#,
        object.resource_version, object.created
    )
    .unwrap();
    if let Some(at) = object.deletion {
        let grace = object.grace_seconds;
        write!(
            out,
            r#","deletionTimestamp":"{at}","deletionGracePeriodSeconds":{grace}"#
        )
        .unwrap();
    }
    map("labels", &object.labels, out);
    map("annotations", &object.annotations, out);
    array("ownerReferences", &object.owners, out, |owner, out| {
        out.push(b'{');
        pair("apiVersion", &owner.api_version, out);
        out.push(b',');
        pair("kind", &owner.kind, out);
        out.push(b',');
        pair("name", &owner.name, out);
        out.push(b',');
        pair("uid", &owner.uid, out);
        write!(out, r#","blockOwnerDeletion":{}}}"#, owner.block_owner_deletion).unwrap();
    });
    array("finalizers", &object.finalizers, out, |name, out| {
        string(name, out);
    });
    array("managedFields", &object.managed_fields, out, |entry, out| {
        out.push(b'{');
        pair("manager", &entry.manager, out);
        out.push(b',');
        pair("operation", entry.operation, out);
        out.push(b',');
        pair("apiVersion", &entry.api_version, out);
        write!(
            out,
            r#","time":"{}","fieldsType":"FieldsV1","fieldsV1":"#,
            entry.time
        )
        .unwrap();
        out.extend_from_slice(entry.fields.as_bytes());
        if !entry.subresource.is_empty() {
            out.push(b',');
            pair("subresource", entry.subresource, out);
        }
        out.push(b'}');
    });
    out.push(b'}');
}

fn map(name: &str, entries: &std::collections::BTreeMap<String, String>, out: &mut Vec<u8>) {
    if entries.is_empty() {
        return;
    }
    out.push(b',');
    key(name, out);
    for (index, (entry, value)) in entries.iter().enumerate() {
        out.push(if index == 0 { b'{' } else { b',' });
        pair(entry, value, out);
    }
    out.push(b'}');
}

fn array<T>(name: &str, items: &[T], out: &mut Vec<u8>, write: impl Fn(&T, &mut Vec<u8>)) {
    if items.is_empty() {
        return;
    }
    out.push(b',');
    key(name, out);
    for (index, item) in items.iter().enumerate() {
        out.push(if index == 0 { b'[' } else { b',' });
        write(item, out);
    }
    out.push(b']');
}

/// `"key":"value"`.
pub fn pair(name: &str, value: &str, out: &mut Vec<u8>) {
    key(name, out);
    string(value, out);
}

fn key(name: &str, out: &mut Vec<u8>) {
    string(name, out);
    out.push(b':');
}

/// A string with only those escapes that JSON requires: C1 and bidi characters are sent raw, as Go does.
pub fn string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut from = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.extend_from_slice(&bytes[from..at]);
        from = at + 1;
        if byte < 0x20 {
            write!(out, "\\u{byte:04x}").unwrap();
        } else {
            out.extend_from_slice(&[b'\\', byte]);
        }
    }
    out.extend_from_slice(&bytes[from..]);
    out.push(b'"');
}
