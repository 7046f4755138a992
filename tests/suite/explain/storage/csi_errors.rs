//! Drivers that hang, and sidecars that are stopped or lack a right.

use jiff::{SignedDuration, Timestamp};

use super::{SOON, bound_claim};
use crate::{
    explain::{
        less_is_weaker::withstands_less,
        told::{delete, goes, told},
    },
    harness::{Cluster, User, wait},
};

const PROVISIONER: &str = "external-provisioner.volume.kubernetes.io/finalizer";

/// Sets the Lease as it is some minutes after its holder stopped.
fn some_minutes_later(cluster: &Cluster, lease: &str) {
    super::renewed(cluster, lease, Timestamp::now() - SignedDuration::from_secs(690));
}

/// A sidecar's user with these rights only.
fn sidecar(cluster: &Cluster, name: &str, rights: &[(&str, &str)]) -> User {
    let mut user = cluster
        .user(name)
        .may("*", "leases.coordination.k8s.io")
        .may("*", "events")
        .may("get,list,watch", "nodes,persistentvolumes,persistentvolumeclaims")
        .may(
            "get,list,watch",
            "csinodes.storage.k8s.io,volumeattachments.storage.k8s.io,storageclasses.storage.k8s.io,\
             csistoragecapacities.storage.k8s.io,volumeattributesclasses.storage.k8s.io",
        );
    for (verbs, resources) in rights {
        user = user.may(verbs, resources);
    }
    user.create()
}

fn grant(cluster: &Cluster, user: &User, verb: &str, resource: &str) {
    let name = cluster.unique("more");
    let (verb, resource) = (format!("--verb={verb}"), format!("--resource={resource}"));
    cluster
        .kubectl(["create", "clusterrole", &name, &verb, &resource])
        .success();
    let (role, user) = (format!("--clusterrole={name}"), format!("--user={}", user.name()));
    cluster
        .kubectl(["create", "clusterrolebinding", &name, &role, &user])
        .success();
}

#[test]
fn distinguishes_a_hanging_driver_from_a_stopped_provisioner() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("hangs");
    let driver = cluster.csi_driver("hangs.example.test").start();
    let volume = bound_claim(&ns, "hangs.example.test");
    let pv = format!("pv/{volume}");
    driver.hangs("DeleteVolume");
    delete(cluster, &pv, "");
    delete(cluster, "pvc/data", ns.name());
    wait("the driver has been called", SOON, || {
        driver.calls().iter().any(|call| call.starts_with("DeleteVolume"))
    });

    // No error yet, so no fault either.
    let story = told(cluster, &pv, "");
    withstands_less(cluster, &pv, "", 15);
    assert_ne!(story.verdict(PROVISIONER), "orphaned");
    story.never_says("LEAKED INFRASTRUCTURE: take").is_careful();

    // The sidecar's call times out and is repeated. So the sidecar is alive, and the driver is not.
    wait("the failure is reported", SOON, || {
        told(cluster, &pv, "").verdict(PROVISIONER) == "failing"
    });
    told(cluster, &pv, "")
        .says("DeadlineExceeded")
        .says("the driver does not answer in time")
        .says("the driver's own container")
        .never_says("not installed")
        .never_says("LEAKED INFRASTRUCTURE: take")
        .is_careful();

    // The provisioner freezes and its Lease expires. It does not act, but that does not prove it gone.
    driver.provisioner().pause();
    some_minutes_later(cluster, "hangs-example-test");
    cluster
        .kubectl([
            "delete",
            "events",
            "-n",
            "default",
            "--field-selector=reason=VolumeFailedDelete",
        ])
        .success();
    let story = told(cluster, &pv, "");
    withstands_less(cluster, &pv, "", 15);
    assert!(
        ["waiting", "stalled"].contains(&story.verdict(PROVISIONER)),
        "{story}"
    );
    story
        .has_root("Lease hangs-example-test: last renewed 11m ago")
        .says("the sidecar of driver hangs.example.test does not run, hangs, or cannot reach the API server")
        .never_says("not installed")
        .never_advises("finalizers nudge")
        .never_advises("finalizers remove")
        .is_careful();
    // The first step keeps the disk.
    assert!(
        story.commands()[1].contains("lease/hangs-example-test"),
        "{story}"
    );
    driver.heals("DeleteVolume");
    driver.provisioner().kill();
    driver.provisioner().start();
    story.follow(cluster, "lease/hangs-example-test");
    goes(cluster, &pv, "");
}

#[test]
fn a_provisioner_without_the_right_to_patch_volumes_is_named() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("may-not");
    let user = sidecar(
        cluster,
        "poor-provisioner",
        &[
            ("create,delete", "persistentvolumes"),
            ("update,patch", "persistentvolumeclaims"),
        ],
    );
    let driver = cluster
        .csi_driver("poor.example.test")
        .with_rights_of("csi-provisioner", &user)
        .start();
    let volume = bound_claim(&ns, "poor.example.test");
    let pv = format!("pv/{volume}");
    delete(cluster, "pvc/data", ns.name());
    wait("the disk is deleted", SOON, || {
        driver
            .calls()
            .iter()
            .any(|call| *call == format!("DeleteVolume {volume}"))
    });
    wait("the provisioner is late", crate::explain::told::SOON, || {
        told(cluster, &pv, "").verdict(PROVISIONER) == "stalled"
    });
    let story = told(cluster, &pv, "");
    withstands_less(cluster, &pv, "", 15);
    story
        .says("no event of the last hour says that it fails")
        .says("the right to patch persistentvolumes")
        .never_says("not installed")
        .never_advises("finalizers remove")
        .is_careful();
    grant(cluster, &user, "patch", "persistentvolumes");
    story.nudge(cluster);
    goes(cluster, &pv, "");
}

#[test]
fn distinguishes_an_attacher_without_rights_from_a_stopped_one() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("attacher");
    let user = sidecar(cluster, "poor-attacher", &[("patch", "persistentvolumes")]);
    grant(cluster, &user, "patch", "volumeattachments.storage.k8s.io/status");
    let driver = cluster
        .csi_driver("rights.example.test")
        .with_attacher()
        .with_rights_of("csi-attacher", &user)
        .start();
    let volume = bound_claim(&ns, "rights.example.test");
    let finalizer = "external-attacher/rights-example-test";
    cluster.apply(&format!(
        "{{apiVersion: v1, kind: Node, metadata: {{name: rights-node}}}}
---
{{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {{name: rights-node}}, spec: {{drivers: [{{name: rights.example.test, nodeID: n1}}]}}}}
---
{{apiVersion: storage.k8s.io/v1, kind: VolumeAttachment, metadata: {{name: rights-one, finalizers: [{finalizer}]}}, spec:
  {{attacher: rights.example.test, nodeName: rights-node, source: {{persistentVolumeName: {volume}}}}}}}"
    ));
    let target = "volumeattachment/rights-one";
    // Its attacher puts that on the volume, too, but only while the attachment is not being deleted.
    wait("the volume has the finalizer of the attacher", SOON, || {
        cluster.get(["pv", &volume]).unwrap()["metadata"]["finalizers"]
            .as_array()
            .is_some_and(|all| all.iter().any(|one| one == finalizer))
    });
    delete(cluster, target, "");
    wait("the failure is recorded", SOON, || {
        cluster.get(["volumeattachment", "rights-one"]).unwrap()["status"]["detachError"]["message"]
            .is_string()
    });
    let story = told(cluster, target, "");
    withstands_less(cluster, target, "", 15);
    assert_eq!(story.verdict(finalizer), "failing");
    story
        .says("is forbidden: User")
        .says("still lacks the right to patch volumeattachments.storage.k8s.io")
        .never_advises("finalizers remove")
        .is_careful();
    let asked = story
        .commands()
        .into_iter()
        .find(|command| command.contains("can-i"))
        .unwrap();
    assert!(asked.contains(user.name()), "{asked}");

    // The attacher is stopped, and has got its right meanwhile.
    driver.attacher().stop();
    some_minutes_later(cluster, "external-attacher-leader-rights-example-test");
    grant(cluster, &user, "patch", "volumeattachments.storage.k8s.io");
    story.follow(cluster, "can-i patch volumeattachments.storage.k8s.io");
    delete(cluster, &format!("pv/{volume}"), "");
    let blocked = told(cluster, &format!("pv/{volume}"), "");
    assert_eq!(blocked.verdict(finalizer), "waiting");
    blocked
        .has_root("VolumeAttachment rights-one")
        .never_advises("finalizers remove");

    driver.attacher().start();
    goes(cluster, target, "");
    delete(cluster, "node/rights-node", "");
    delete(cluster, "csinode/rights-node", "");
}
