//! Reads a workload and the template of its Pods: its name in a sentence, labels, and account.

use std::collections::BTreeMap;

use crate::snapshot::facts::Object;

/// Where the spec of the Pods is: in a Pod, in a workload, and in a CronJob.
pub(super) const POD_SPECS: [&str; 3] = [
    "/spec",
    "/spec/template/spec",
    "/spec/jobTemplate/spec/template/spec",
];

/// The labels at this JSON pointer; labels whose value is no text are left out.
pub fn labels(object: &Object, pointer: &str) -> BTreeMap<String, String> {
    let labels = object
        .value
        .pointer(pointer)
        .and_then(serde_json::Value::as_object);
    let text = |(key, value): (&String, &serde_json::Value)| Some((key.clone(), value.as_str()?.to_owned()));
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
