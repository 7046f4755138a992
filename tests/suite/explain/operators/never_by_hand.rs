//! A finalizer that nobody may remove while what it protects may run.

use serde_json::json;

use crate::{
    act,
    explain::told::{delete, goes, release, told},
    harness::Cluster,
    stuck::custom_type,
};

const FINALIZER: &str = "kubevirt.io/foregroundDeleteVirtualMachine";

#[test]
fn a_guest_that_may_run_keeps_its_finalizer_whatever_is_accepted() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("guests");
    let (group, plural, kind) = ("kubevirt.io", "virtualmachineinstances", "VirtualMachineInstance");
    custom_type(cluster, group, plural, kind);
    let target = format!("{plural}.{group}/guest");
    ns.apply(&format!(
        "{{apiVersion: {group}/v1, kind: {kind}, metadata: {{name: guest, finalizers: [{FINALIZER}]}}}}"
    ));
    let uid = ns.get([&*target]).unwrap()["metadata"]["uid"].clone();
    let owner = json!({"apiVersion": format!("{group}/v1"), "kind": kind, "name": "guest", "uid": uid, "controller": true});
    ns.apply(
        &json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "virt-launcher-guest", "ownerReferences": [owner]},
            "spec": {"nodeName": cluster.node(), "terminationGracePeriodSeconds": 0,
                "containers": [{"name": "compute", "image": "i"}]}})
        .to_string(),
    );
    let launcher = |phase: &str| ns.patch_status(["pod", "virt-launcher-guest"], &json!({"phase": phase}));
    launcher("Running");
    delete(cluster, &target, ns.name());
    cluster.deleted_earlier(&format!("{group}/{plural}/{}/guest", ns.name()), 600);

    let story = told(cluster, &target, ns.name());
    assert!(
        ["unknown", "orphaned"].contains(&story.verdict(FINALIZER)),
        "{story}"
    );
    story
        .says("a guest that is still running")
        .never_advises("finalizers remove")
        .is_careful();
    let place = format!("--namespace={}", ns.name());
    let plan = || {
        let words = [
            "remove",
            &target,
            "--finalizer",
            FINALIZER,
            "--accept=data-loss",
            "--plan",
            &place,
        ];
        cluster.plugin(words).run()
    };
    let why = "its pod virt-launcher-guest has not ended: two guests that write to one disk destroy it";
    let refused = plan();
    assert_eq!(refused.code, 3, "{refused}");
    act::says(&refused, why);

    // The pod has ended, so it is no reason any more.
    launcher("Succeeded");
    let planned = plan().to_string();
    assert!(!planned.contains("virt-launcher-guest"), "{planned}");
    release(cluster, &target, ns.name());
    goes(cluster, &target, ns.name());
}
