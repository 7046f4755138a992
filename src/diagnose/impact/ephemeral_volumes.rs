//! Finds workloads and pods with a certain kind of volume: workloads by their templates, and pods that have no
//! such workload.
//!
//! **Recognises** nothing by itself. **Wants** all workloads, and all pods if running pods count too. Pods of
//! other controllers are found as pods alone.

use serde_json::Value;

use crate::{
    diagnose::view::{Missing, View},
    snapshot::facts::Object,
};

/// The types that make pods, and the path of the volumes in them.
const MAKERS: [(&str, &str, &str); 4] = [
    ("apps", "deployments", "/spec/template/spec/volumes"),
    ("apps", "statefulsets", "/spec/template/spec/volumes"),
    ("apps", "daemonsets", "/spec/template/spec/volumes"),
    (
        "batch",
        "cronjobs",
        "/spec/jobTemplate/spec/template/spec/volumes",
    ),
];

/// The workloads whose pods have such a volume.
pub(crate) fn makers<'a>(
    is_one: &dyn Fn(&Value) -> bool,
    view: &View<'a>,
) -> Result<Vec<&'a Object>, Missing> {
    // Queried together, so that they are read together.
    let lists = MAKERS.map(|(group, plural, volumes)| (view.list(group, plural, ""), volumes));
    let mut all = Vec::new();
    for (list, volumes) in lists {
        all.extend(list?.iter().filter(|one| one.list(volumes).iter().any(is_one)));
    }
    Ok(all)
}

/// The pods with such a volume that no workload of [`makers`] made.
pub(crate) fn pods<'a>(is_one: &dyn Fn(&Value) -> bool, view: &View<'a>) -> Result<Vec<&'a Object>, Missing> {
    let is_made = |pod: &&Object| {
        pod.controller()
            .is_some_and(|(kind, _)| matches!(kind, "ReplicaSet" | "StatefulSet" | "DaemonSet"))
    };
    let all = view.list("", "pods", "")?.iter();
    Ok(all
        .filter(|pod| !is_made(pod) && pod.list("/spec/volumes").iter().any(is_one))
        .collect())
}
