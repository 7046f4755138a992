//! Leaves out what a snapshot never holds: data of Secrets and ConfigMaps, values for programs, and what nobody reads
//! of `managedFields`.

use serde_json::{Map, Value, json};

use super::{Leftovers, Saved};
use crate::snapshot::{
    confidential,
    facts::{Answer, Object},
};

/// Strips a whole snapshot. Doing it again changes nothing.
pub(super) fn saved(saved: &mut Saved) {
    saved.answers.values_mut().flatten().for_each(answer);
    saved.leftovers.iter_mut().for_each(leftovers);
}

/// Removes what must not leave the cluster, and fields that no cause reads but that may hold a password.
pub(super) fn answer(answer: &mut Answer) {
    match answer {
        Answer::Object(found) => found.iter_mut().for_each(|one| object(one)),
        Answer::List(objects) => objects.iter_mut().for_each(object),
        Answer::Owned(owned) => owned.objects.iter_mut().for_each(object),
        // They hold only names and finalizers, and a version.
        Answer::Content(_) | Answer::Version(_) => {}
    }
}

/// Keeps of `managedFields` only what the causes read: finalizers, conditions, status, replicas. All other field names
/// are removed: they are most of an object, and in a Secret they name its data.
fn managed_fields(entry: &mut Value) {
    const READ_FIELDS: [(&str, &str); 3] = [
        ("f:metadata", "f:finalizers"),
        ("", "f:status"),
        ("f:spec", "f:replicas"),
    ];
    let Some(entry) = entry.as_object_mut() else {
        return;
    };
    entry.retain(|key, _| matches!(&**key, "manager" | "subresource" | "time" | "fieldsV1"));
    let Some(fields) = entry.get("fieldsV1") else {
        return;
    };
    let mut kept = Map::new();
    for (parent, field) in READ_FIELDS {
        let inside = if parent.is_empty() {
            Some(fields)
        } else {
            fields.get(parent)
        };
        let Some(value) = inside.and_then(|fields| fields.get(field)) else {
            continue;
        };
        let read = if field == "f:finalizers" {
            value.clone()
        } else {
            owned_conditions(value).map_or_else(|| json!({}), |keys| json!({"f:conditions": keys}))
        };
        match parent {
            "" => kept.insert(field.to_owned(), read),
            _ => kept.insert(parent.to_owned(), json!({field: read})),
        };
    }
    entry.insert("fieldsV1".to_owned(), kept.into());
}

/// The conditions that an entry owns: whose they are decides whether a controller itself complains.
fn owned_conditions(status: &Value) -> Option<Value> {
    let conditions = status.get("f:conditions")?.as_object()?;
    let keys = conditions.keys().filter(|key| key.starts_with("k:{\"type\":"));
    Some(Value::Object(keys.map(|key| (key.clone(), json!({}))).collect()))
}

pub(super) fn leftovers(leftovers: &mut Leftovers) {
    for unreclaimed in &mut leftovers.storage.volumes.kept {
        object(&mut unreclaimed.volume);
        unreclaimed.attached.iter_mut().flatten().for_each(object);
    }
    leftovers.storage.attachments.kept.iter_mut().for_each(object);
}

fn object(object: &mut Object) {
    confidential::strip(object);
    if let Some(Value::Array(entries)) = object.value.pointer_mut("/metadata/managedFields") {
        entries.retain(Value::is_object);
        entries.iter_mut().for_each(managed_fields);
    }
}
