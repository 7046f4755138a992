//! `finalize` and `nudge`: the same checks, other requests.

use std::time::Duration;

use super::{Case, HOLD, digest, documents, guards::refused};
use crate::{
    explain::told::delete,
    harness::{Cluster, Options, wait},
};

#[test]
fn a_namespace_with_content_is_not_finalized() {
    let cluster = Cluster::shared();
    let case = Case::empty(cluster, "full");
    case.make("held", &[HOLD]);
    delete(cluster, &format!("ns/{}", case.ns.name()), "");
    wait("the controller has started", Duration::from_secs(60), || {
        case.get()
            .is_some_and(|object| object["metadata"]["deletionTimestamp"].is_string())
    });
    refused(
        &case,
        case.run(&["finalize", case.ns.name(), "--plan"]),
        "this is left in it: configmaps (1)",
    );
    // `remove` does not change entries of spec.finalizers.
    let namespace = format!("ns/{}", case.ns.name());
    refused(
        &case,
        case.run(&["remove", &namespace, "--finalizer", "kubernetes", "--plan"]),
        "is in spec.finalizers, which only finalize changes",
    );
    crate::explain::told::release(cluster, "configmap/held", case.ns.name());
}

#[test]
fn a_namespace_that_is_not_in_deletion_is_not_finalized() {
    let case = Case::empty(Cluster::shared(), "alive");
    refused(
        &case,
        case.run(&["finalize", case.ns.name(), "--plan"]),
        "it is not being deleted",
    );
}

#[test]
fn an_empty_namespace_without_a_controller_is_finalized() {
    let cluster = Cluster::with(&Options {
        controller_manager: false,
        ..Options::default()
    });
    let case = Case::empty(&cluster, "empty");
    delete(&cluster, &format!("ns/{}", case.ns.name()), "");
    // In the first minute no controller is late.
    refused(
        &case,
        case.run(&["finalize", case.ns.name(), "--plan"]),
        "its controller had the time to do it",
    );
    cluster.deleted_earlier(&format!("namespaces/{}", case.ns.name()), 61);
    let plan = case
        .run(&["finalize", case.ns.name(), "--plan", "-o=json"])
        .run()
        .success();
    let digest = digest(&plan);
    let out = case
        .run(&["finalize", case.ns.name(), "--confirm", &digest, "-o=json"])
        .run();
    assert_eq!(out.code, 0, "{out}");
    assert_eq!(documents(&out)[1]["outcomes"][0]["result"], "gone", "{out}");
    assert!(cluster.get(["namespace", case.ns.name()]).is_none());
    let writes = case.writes();
    assert_eq!(writes.len(), 1, "{writes:#?}");
    assert_eq!(
        writes[0].event["objectRef"]["subresource"], "finalize",
        "{writes:#?}"
    );
}

#[test]
fn a_nudge_reports_whether_a_controller_reacted() {
    let cluster = Cluster::shared();
    let case = Case::held(cluster, "nudge", &[HOLD]);
    let plan = case
        .run(&["nudge", "configmap/held", "--plan", "-o=json"])
        .run()
        .success();
    let digest = digest(&plan);
    let run = case
        .run(&["nudge", "configmap/held", "--confirm", &digest, "-o=json"])
        .spawn();
    wait("the object is updated", Duration::from_secs(30), || {
        case.get()
            .is_some_and(|object| object["metadata"]["annotations"]["kubectl-finalizers/nudged"].is_string())
    });
    // The controller reacts.
    crate::explain::told::release(cluster, "configmap/held", case.ns.name());
    let out = run.finish();
    assert_eq!(out.code, 0, "{out}");
    assert_eq!(documents(&out)[1]["outcomes"][0]["result"], "woke", "{out}");
    assert_eq!(case.writes().len(), 1);
}

#[test]
fn a_nudge_without_a_reaction_says_so() {
    let case = Case::held(Cluster::shared(), "asleep", &[HOLD]);
    let plan = case
        .run(&["nudge", "configmap/held", "--plan", "-o=json"])
        .run()
        .success();
    let digest = digest(&plan);
    let out = case.run(&["nudge", "configmap/held", "--confirm", &digest]).run();
    assert_eq!(out.code, 0, "{out}");
    super::says(&out, "No controller reacted within 30s.");
    assert_eq!(case.finalizers().unwrap(), [HOLD]);
}
