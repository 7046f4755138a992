//! Finds workloads and pods with a certain kind of volume: workloads by their templates, and pods that have no
//! such workload.
//!
//! **Recognises** nothing by itself. **Wants** all workloads, and all pods if running pods count too. Pods of
//! other controllers are found as pods alone.

use crate::{
    diagnose::{
        kinds::{Pod, PodSpec, Volume},
        view::{Missing, View},
    },
    snapshot::facts::Object,
};

/// The types that make pods.
const MAKERS: [(&str, &str); 4] = [
    ("apps", "deployments"),
    ("apps", "statefulsets"),
    ("apps", "daemonsets"),
    ("batch", "cronjobs"),
];

/// The workloads whose pods have such a volume.
pub(crate) fn makers<'a>(
    is_one: &dyn Fn(Volume<'_>) -> bool,
    view: &View<'a>,
) -> Result<Vec<&'a Object>, Missing> {
    // Queried together, so that they are read together.
    let lists = MAKERS.map(|(group, plural)| view.list(group, plural, ""));
    let mut all = Vec::new();
    for list in lists {
        all.extend(list?.iter().filter(|one| PodSpec::of(one).volumes().any(is_one)));
    }
    Ok(all)
}

/// The pods with such a volume that no workload of [`makers`] made.
pub(crate) fn pods<'a>(
    is_one: &dyn Fn(Volume<'_>) -> bool,
    view: &View<'a>,
) -> Result<Vec<&'a Object>, Missing> {
    let is_made = |pod: &&Object| {
        pod.controller()
            .is_some_and(|(kind, _)| matches!(kind, "ReplicaSet" | "StatefulSet" | "DaemonSet"))
    };
    let all = view.list("", "pods", "")?.iter();
    Ok(all
        .filter(|pod| !is_made(pod) && Pod(pod).volumes().any(is_one))
        .collect())
}
