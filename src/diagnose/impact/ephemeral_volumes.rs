//! Who has pods with a volume of some sort: workloads by their templates, and pods that none of these made.
//!
//! **Recognises** nothing by itself. **Wants** all workloads, and all pods where what runs now counts too. What another
//! controller makes of a type of its own shows in its pods alone.

use serde_json::Value;

use crate::{
    diagnose::view::{Missing, View},
    snapshot::facts::Object,
};

/// Types that make pods, and where their volumes stand.
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

/// The workloads that make pods with such a volume.
pub(crate) fn makers<'a>(
    is_one: &dyn Fn(&Value) -> bool,
    view: &View<'a>,
) -> Result<Vec<&'a Object>, Missing> {
    // Asked together, so that they are read together.
    let lists = MAKERS.map(|(group, plural, volumes)| (view.list(group, plural, ""), volumes));
    let mut all = Vec::new();
    for (list, volumes) in lists {
        all.extend(list?.iter().filter(|one| one.list(volumes).iter().any(is_one)));
    }
    Ok(all)
}

/// The pods with such a volume that have been made by nobody whom [`makers`] knows.
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
