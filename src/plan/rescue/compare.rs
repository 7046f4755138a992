//! Compares an object with its copy, field by field, apart from what must differ: what the server fills in, the state, the
//! reclaim policy, and the finalizer of the provisioner, which depends on the policy.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::{diagnose::reclaim_policy, snapshot::facts::Object};

/// Metadata that a person or a controller wrote.
const WRITTEN: [&str; 3] = ["labels", "annotations", "ownerReferences"];

/// The fields that differ, a line each.
pub(super) fn differences(before: &Object, after: &Object) -> Vec<String> {
    let mut found = Vec::new();
    compare("", &comparable(before), &comparable(after), &mut found);
    found
}

/// The fields of two whole objects that differ, apart from these fields of the metadata.
pub(in crate::plan) fn changes(before: &Object, after: &Object, apart: &[&str]) -> Vec<String> {
    let [before, after] = [before, after].map(|object| {
        let mut value = object.value.clone();
        if let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.retain(|field, _| !apart.contains(&field.as_str()));
        }
        value
    });
    let mut found = Vec::new();
    compare("", &before, &after, &mut found);
    found
}

fn comparable(object: &Object) -> Value {
    let metadata = object.value.get("metadata");
    let mut written: Map<_, _> = WRITTEN
        .iter()
        .filter_map(|field| Some(((*field).to_owned(), metadata?.get(*field)?.clone())))
        .collect();
    let names = object.finalizers().into_iter().map(|one| one.name);
    let finalizers: BTreeSet<_> = names
        .filter(|name| !reclaim_policy::is_reclaim_finalizer(name))
        .collect();
    written.insert("finalizers".into(), finalizers.into_iter().collect());
    let mut spec = object.value.get("spec").cloned().unwrap_or_default();
    if let Some(spec) = spec.as_object_mut() {
        spec.remove("persistentVolumeReclaimPolicy");
    }
    if let Some(claim) = spec.pointer_mut("/claimRef").and_then(Value::as_object_mut) {
        claim.remove("resourceVersion");
    }
    json!({"metadata": written, "spec": spec})
}

fn compare(path: &str, before: &Value, after: &Value, found: &mut Vec<String>) {
    if let (Value::Object(one), Value::Object(other)) = (before, after) {
        let keys: BTreeSet<_> = one.keys().chain(other.keys()).collect();
        for key in keys {
            let value = |of: &Map<String, Value>| of.get(key).cloned().unwrap_or_default();
            compare(&format!("{path}/{key}"), &value(one), &value(other), found);
        }
    } else if before != after {
        found.push(format!("{path} was {before} and is {after}"));
    }
}
