//! An API group that does not answer stops the deletion of every namespace.
//!
//! # Symptom
//!
//! Namespaces stay `Terminating`, even empty ones. Their condition is `NamespaceDeletionDiscoveryFailure` with `unable
//! to retrieve the complete list of server APIs: metrics.k8s.io/v1beta1`. `kubectl get apiservices` shows `False
//! (MissingEndpoints)` or `False (ServiceNotFound)`.
//!
//! ```text
//! $ kubectl finalizers explain ns/preview-42 --from examples/stuck-cluster.snapshot
//! ```
//!
//! # Why
//!
//! The namespace controller asks discovery for all types. While one group does not answer, it finalizes no namespace,
//! not even an empty one.
//!
//! # Before you act
//!
//! Find out which product served the group, and whether it is still wanted. It serves its types to the whole cluster.
//!
//! # If it was a mistake
//!
//! The content of the namespace is deleted nevertheless, except for types of that group. Keep the disks with `kubectl
//! finalizers rescue pv/NAME --only-retain`; the explanation names the volumes.
//!
//! # If it was intended
//!
//! Bring the backend of the APIService back. If its product is uninstalled, delete the APIService.
//!
//! # Do not
//!
//! Do not delete an APIService whose product is only down. Its objects cannot be reached any more, and its clients
//! fail.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | waiting | an API group is unavailable; it is named once for all namespaces |
//! | unknown | only *we* may not ask for the group, which proves nothing |
//!
//! # What it reads
//!
//! Nothing more than discovery and the APIServices.
//!
//! # Sources
//!
//! - `kubernetes/kubernetes:pkg/controller/namespace/deletion/namespaced_resources_deleter.go`
//! - `kubernetes/kube-aggregator:pkg/controllers/status/remote/remote_available_controller.go`

use crate::{
    command::Command,
    diagnose::{
        causes::advice,
        model::{Blocker, CauseState, Evidence, Finding, Page, Safety, Step, Strength, When},
        view::View,
    },
    object::{ObjectRef, join_group},
    snapshot::{Gap, What, Why},
};

/// Adds the groups that do not answer. Returns whether there are any.
pub(crate) fn add_discovery_failures(finding: &mut Finding, view: &View<'_>) -> bool {
    let mut found = false;
    for gap in view.silent_groups() {
        view.miss(gap);
        let What::GroupVersion { group, version, .. } = &gap.what else {
            continue;
        };
        let (Why::Unavailable(why) | Why::ApiServiceUnavailable { says: why, .. }) = &gap.why else {
            continue;
        };
        found = true;
        add_unavailable_group(finding, group, version, why);
    }
    found
}

/// Whether the types of some group are unknown for a reason that may be only ours.
pub(crate) fn has_unknown_groups(gaps: &[Gap]) -> bool {
    gaps.iter().any(|gap| !gap.why.is_unavailable())
}

/// The groups whose API servers compute their answers (`kubernetes/metrics`).
const METRICS: [&str; 3] = [
    "metrics.k8s.io",
    "custom.metrics.k8s.io",
    "external.metrics.k8s.io",
];

/// Adds one group that does not answer.
pub(crate) fn add_unavailable_group(finding: &mut Finding, group: &str, version: &str, why: &str) {
    let name = join_group(version, group);
    let blocker = Blocker::new(
        Some(ObjectRef {
            type_name: "apiservices.apiregistration.k8s.io".into(),
            kind: "APIService".into(),
            api_version: "apiregistration.k8s.io/v1".into(),
            name: name.clone(),
            ..ObjectRef::default()
        }),
        format!(
            "API group {group}/{version} does not answer, which stops the deletion of every namespace. {why}"
        ),
    );
    finding.tell_of(Page::of(module_path!()));
    finding.wait.on.push(blocker.in_state(CauseState::Down));
    finding.evidence.push(Evidence {
        source: format!("discovery of {group}/{version}"),
        value: why.to_owned(),
        strength: Strength::Proof,
    });
    finding.steps.push(Step {
        when: When::Now,
        text: "see which Service serves it, and why that does not answer".into(),
        command: Some(Command::of("kubectl get apiservice {} -o yaml", [&name])),
        safety: Safety::ReadOnly,
        lets_go: Vec::new(),
    });
    let computes = METRICS.contains(&group);
    let (text, safety) = if computes {
        (
            "delete the APIService if its server is uninstalled: metrics are not stored".to_owned(),
            Safety::Reversible,
        )
    } else {
        (
            format!(
                "ORPHANED OBJECTS if that API server stores objects. Delete the APIService only if what served {group} is \
                 uninstalled"
            ),
            Safety::Destructive,
        )
    };
    finding
        .steps
        .push(advice::save_step(When::ProductGone, "apiservice", &name, ""));
    finding.steps.push(Step {
        when: When::ProductGone,
        text,
        command: Some(Command::of("kubectl delete apiservice {}", [&name])),
        safety,
        lets_go: Vec::new(),
    });
}
