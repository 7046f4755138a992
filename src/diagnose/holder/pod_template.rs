//! Reads a workload and the template of its Pods: its name in a sentence, labels, and account.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::snapshot::facts::Object;

/// Where the spec of the Pods is: in a Pod, in a workload, and in a CronJob.
pub(super) const POD_SPECS: [&str; 3] = [
    "/spec",
    "/spec/template/spec",
    "/spec/jobTemplate/spec/template/spec",
];

/// The labels at this JSON pointer; labels whose value is no text are left out.
pub fn labels(object: &Object, pointer: &str) -> BTreeMap<String, String> {
    let labels = object.value.pointer(pointer).and_then(Value::as_object);
    let text = |(key, value): (&String, &Value)| Some((key.clone(), value.as_str()?.to_owned()));
    labels.into_iter().flatten().filter_map(text).collect()
}

/// The workload in a sentence: `Deployment cert-manager/cert-manager`.
pub(super) fn name_of(object: &Object) -> String {
    format!("{} {}/{}", object.kind, object.namespace(), object.name())
}

/// The `ServiceAccount` of a Pod or of a Pod template, whose spec is at this JSON pointer; `default` if none is named.
pub(super) fn account_of<'a>(object: &'a Object, spec: &str) -> &'a str {
    match object.text(&format!("{spec}/serviceAccountName")) {
        "" => "default",
        account => account,
    }
}

/// The repositories of all images, without tag and digest.
pub(super) fn images(object: &Object) -> Vec<String> {
    POD_SPECS
        .iter()
        .flat_map(|spec| object.list(&format!("{spec}/containers")))
        .filter_map(|container| container.get("image").and_then(Value::as_str))
        .map(|image| {
            let image = image.split('@').next().unwrap_or_default();
            match image.rsplit_once(':') {
                // A colon before a slash belongs to the port of the registry.
                Some((repository, tag)) if !tag.contains('/') => repository.to_owned(),
                _ => image.to_owned(),
            }
        })
        .collect()
}
