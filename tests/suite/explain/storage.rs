//! Claims, volumes, attachments and snapshots behind the real sidecars: what is said, and what then helps.

use std::{process::Command, time::Duration};

use serde_json::{Value, json};

use super::taken_away::withstands_less;
use crate::harness::{Cluster, CsiDriver, Namespace, User, wait};

const SOON: Duration = Duration::from_secs(60);

/// The explanation as JSON.
#[track_caller]
pub(super) fn explain(cluster: &Cluster, words: &[&str], user: Option<&User>) -> Value {
    let words = ["explain", "-o", "json"].iter().chain(words).copied();
    let mut plugin = cluster.plugin(words);
    if let Some(user) = user {
        plugin = plugin.as_user(user);
    }
    let out = plugin.run();
    assert_eq!(out.code, 0, "{out}");
    serde_json::from_str(&out.stdout).unwrap()
}

/// The wait for the finalizer that has this in its name.
#[track_caller]
pub(super) fn wait_for<'a>(said: &'a Value, finalizer: &str) -> &'a Value {
    let all = said["waitsFor"].as_array().unwrap();
    all.iter()
        .find(|wait| {
            wait["finalizer"]["name"]
                .as_str()
                .is_some_and(|name| name.contains(finalizer))
        })
        .unwrap_or_else(|| panic!("{said:#}"))
}

/// The command of the step whose text contains this.
#[track_caller]
fn command(said: &Value, text: &str) -> String {
    let steps = said["steps"].as_array().unwrap();
    let step = steps
        .iter()
        .find(|step| step["text"].as_str().unwrap().contains(text))
        .unwrap_or_else(|| panic!("no step {text:?} in {said:#}"));
    step["command"]
        .as_str()
        .unwrap_or_else(|| panic!("{step:#}"))
        .to_owned()
}

/// Does what was advised, as a person would: in a shell.
#[track_caller]
fn run(cluster: &Cluster, command: &str) {
    let kubectl = cluster.kubectl_program();
    let line = command.replacen("kubectl", &kubectl.display().to_string(), 1);
    let out = Command::new("sh")
        .args(["-c", &line])
        .env("KUBECONFIG", cluster.kubeconfig())
        .output()
        .unwrap();
    assert!(out.status.success(), "{command}: {out:?}");
}

#[track_caller]
fn says(said: &Value, text: &str) {
    assert!(said.to_string().contains(text), "{text:?} is not in {said:#}");
}

#[track_caller]
fn never_says(said: &Value, text: &str) {
    assert!(!said.to_string().contains(text), "{text:?} is in {said:#}");
}

/// A claim of 1 Mi that is bound; returns the volume's name.
fn bound_claim(ns: &Namespace, class: &str) -> String {
    ns.apply(&format!(
        "{{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {{name: data}}, spec: {{storageClassName: {class}, \
         accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Mi}}}}}}}}"
    ));
    let claim = || ns.get(["pvc", "data"]).unwrap();
    wait("the claim is bound", SOON, || {
        claim()["status"]["phase"] == "Bound"
    });
    claim()["spec"]["volumeName"].as_str().unwrap().to_owned()
}

fn node(cluster: &Cluster, name: &str) {
    cluster.apply(&format!(
        "{{apiVersion: v1, kind: Node, metadata: {{name: {name}}}}}"
    ));
}

fn delete(cluster: &Cluster, what: &[&str]) {
    let words = ["delete", "--wait=false"].iter().chain(what).copied();
    cluster.kubectl(words).success();
}

#[test]
fn a_claim_in_use_and_a_driver_that_refuses() {
    let cluster = Cluster::shared();
    let (ns, other) = (cluster.namespace("in-use"), cluster.namespace("elsewhere"));
    let driver = cluster.csi_driver("refuses.example.test").start();
    let volume = bound_claim(&ns, "refuses.example.test");
    node(cluster, "storage-node");
    let volumes = "volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]";
    let pod = |name: &str, more: &str| {
        format!(
            "{{apiVersion: v1, kind: Pod, metadata: {{name: {name}}}, spec: {{{more} containers: [{{name: c, image: i}}], \
             terminationGracePeriodSeconds: 0, {volumes}}}}}"
        )
    };
    ns.apply(&pod("finished", "nodeName: storage-node,"));
    ns.patch_status(["pod", "finished"], &json!({"phase": "Succeeded"}));
    ns.apply(&pod("unscheduled", ""));
    other.apply(&pod("foreigner", "nodeName: storage-node,"));
    ns.apply(&format!(
        "{{apiVersion: apps/v1, kind: StatefulSet, metadata: {{name: web}}, spec: {{replicas: 1, serviceName: web, \
         selector: {{matchLabels: {{a: web}}}}, template: {{metadata: {{labels: {{a: web}}}}, spec: {{nodeName: \
         storage-node, terminationGracePeriodSeconds: 0, containers: [{{name: c, image: i}}], {volumes}}}}}}}}}"
    ));
    wait("the stateful set has its pod", SOON, || {
        ns.get(["pod", "web-0"]).is_some()
    });
    let claim = ["pvc/data", "-n", ns.name()];
    let pv = format!("pv/{volume}");

    // Nothing is deleted yet: what would happen.
    let said = explain(cluster, &claim, None);
    says(&said, "not being deleted");
    says(&said, "IS DESTROYED (reclaim policy Delete)");
    assert_eq!(said["steps"], json!([]), "{said:#}");
    let said = explain(cluster, &[&pv], None);
    says(&said, "as long as the claim exists");

    // The volume is deleted by mistake.
    delete(cluster, &["pv", &volume]);
    let said = explain(cluster, &[&pv], None);
    assert_eq!(wait_for(&said, "pv-protection")["verdict"], "in-use", "{said:#}");
    assert_eq!(wait_for(&said, "external-provisioner")["verdict"], "waiting");
    says(&said, "This is protection at work, not a fault.");
    says(&said, "DATA LOSS: delete the claim");
    assert!(command(&said, "keep the disk").contains("Retain"));

    // And the claim too.
    delete(cluster, &["pvc", "data", "-n", ns.name()]);
    let said = explain(cluster, &claim, None);
    let held = wait_for(&said, "pvc-protection");
    assert_eq!(held["verdict"], "in-use", "{said:#}");
    let mut names: Vec<_> = held["blockers"].as_array().unwrap().iter().collect();
    names.sort_by_key(|blocker| blocker["object"]["name"].to_string());
    let names: Vec<_> = names.iter().map(|blocker| &blocker["object"]["name"]).collect();
    assert_eq!(names, ["finished", "web-0"], "{said:#}");
    never_says(&said, "unscheduled");
    never_says(&said, "foreigner");
    never_says(&said, "--force");
    withstands_less(cluster, "pvc/data", ns.name(), 10);
    withstands_less(cluster, &pv, "", 10);

    // Who may not see pods is told so, and nothing else.
    let blind = cluster
        .user("blind")
        .may("get,list", "persistentvolumeclaims,persistentvolumes")
        .create();
    let weaker = explain(cluster, &claim, Some(&blind));
    assert_eq!(
        wait_for(&weaker, "pvc-protection")["verdict"],
        "unknown",
        "{weaker:#}"
    );
    says(&weaker, "pods in ");

    driver.fails("DeleteVolume", "disk is on fire");
    run(cluster, &command(&said, "delete the finished pods"));
    run(cluster, &command(&said, "stop StatefulSet web"));
    wait("the claim goes", SOON, || ns.get(["pvc", "data"]).is_none());

    wait("the failure is told", SOON, || {
        explain(cluster, &[&pv], None)
            .to_string()
            .contains("disk is on fire")
    });
    let said = explain(cluster, &[&pv], None);
    let held = wait_for(&said, "external-provisioner");
    assert_eq!(held["verdict"], "failing", "{said:#}");
    assert!(held["says"].as_str().unwrap().contains("disk is on fire"));
    never_says(&said, "LEAKED INFRASTRUCTURE");
    never_says(&said, "not installed");
    withstands_less(cluster, &pv, "", 10);
    let deaf = cluster
        .user("deaf")
        .may("get,list", "persistentvolumeclaims,persistentvolumes,pods")
        .create();
    let weaker = explain(cluster, &[&pv], Some(&deaf));
    assert_eq!(
        wait_for(&weaker, "external-provisioner")["verdict"],
        "unknown",
        "{weaker:#}"
    );
    says(&weaker, "events in default");

    run(cluster, &command(&said, "repair what the driver complains of"));
    driver.heals("DeleteVolume");
    wait("the volume goes", SOON, || cluster.get(["pv", &volume]).is_none());
}

/// A driver that is stopped, and its Lease as it is an hour later.
fn an_hour_later(cluster: &Cluster, driver: CsiDriver<'_>, leases: &[&str]) {
    drop(driver);
    for lease in leases {
        let patch = r#"{"spec":{"renewTime":"2020-01-01T00:00:00.000000Z"}}"#;
        cluster
            .kubectl([
                "patch",
                "lease",
                lease,
                "-n",
                "kube-system",
                "--type=merge",
                "-p",
                patch,
            ])
            .success();
    }
}

#[test]
fn a_driver_that_was_uninstalled() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("uninstalled");
    let driver = cluster.csi_driver("uninstalled.example.test").start();
    let volume = bound_claim(&ns, "uninstalled.example.test");
    let pv = format!("pv/{volume}");
    driver.provisioner().pause();
    delete(cluster, &["pvc", "data", "-n", ns.name()]);
    wait("the volume is released", SOON, || {
        cluster.get(["pv", &volume]).unwrap()["status"]["phase"] == "Released"
    });
    delete(cluster, &["pv", &volume]);

    // Paused: late perhaps, gone never.
    let said = explain(cluster, &[&pv], None);
    let verdict = &wait_for(&said, "external-provisioner")["verdict"];
    assert_eq!(verdict, "waiting", "{said:#}");
    never_says(&said, "LEAKED INFRASTRUCTURE");

    // One sign is not proof.
    an_hour_later(cluster, driver, &["uninstalled-example-test"]);
    let said = explain(cluster, &[&pv], None);
    assert_ne!(wait_for(&said, "external-provisioner")["verdict"], "orphaned");
    never_says(&said, "LEAKED INFRASTRUCTURE");

    delete(cluster, &["csidriver", "uninstalled.example.test"]);
    let said = explain(cluster, &[&pv], None);
    assert_eq!(
        wait_for(&said, "external-provisioner")["verdict"],
        "orphaned",
        "{said:#}"
    );
    says(&said, "install driver uninstalled.example.test again");
    withstands_less(cluster, &pv, "", 10);

    // Who may not see one of the signs does not conclude it.
    let blind = cluster
        .user("no-leases")
        .may(
            "get,list",
            "persistentvolumes,events,volumeattachments.storage.k8s.io,csidrivers.storage.k8s.io,csinodes.storage.k8s.io",
        )
        .create();
    let weaker = explain(cluster, &[&pv], Some(&blind));
    assert_eq!(
        wait_for(&weaker, "external-provisioner")["verdict"],
        "waiting",
        "{weaker:#}"
    );

    run(
        cluster,
        &command(&said, "set policy Retain: the provisioner then lets go"),
    );
    run(
        cluster,
        &command(&said, "LEAKED INFRASTRUCTURE: take this one finalizer off"),
    );
    wait("the volume goes", SOON, || cluster.get(["pv", &volume]).is_none());
}

#[test]
fn a_volume_that_is_never_reclaimed_and_one_that_leaks() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("never");
    let _driver = cluster.csi_driver("never.example.test").start();
    let by_hand = |name: &str, more: &str| {
        format!(
            "{{apiVersion: v1, kind: PersistentVolume, metadata: {{name: {name}{more}}}, spec: {{capacity: {{storage: \
             1Mi}}, accessModes: [ReadWriteOnce], persistentVolumeReclaimPolicy: Delete, csi: {{driver: \
             never.example.test, volumeHandle: disk-9}}}}}}"
        )
    };
    let available = cluster.unique("available");
    cluster.apply(&by_hand(
        &available,
        ", finalizers: [external-provisioner.volume.kubernetes.io/finalizer]",
    ));
    let pv = format!("pv/{available}");
    wait("it is available", SOON, || {
        cluster.get(["pv", &available]).unwrap()["status"]["phase"] == "Available"
    });
    delete(cluster, &["pv", &available]);
    let said = explain(cluster, &[&pv], None);
    assert_eq!(
        wait_for(&said, "external-provisioner")["verdict"],
        "stalled",
        "{said:#}"
    );
    says(&said, "it stays for ever");
    withstands_less(cluster, &pv, "", 10);
    run(cluster, &command(&said, "set policy Retain"));
    wait("it goes", SOON, || cluster.get(["pv", &available]).is_none());

    // A driver that nobody runs adds no finalizer: the volume deleted first leaks its disk.
    let leaky = cluster.unique("leaky");
    cluster.apply(&by_hand(&leaky, "").replace("never.example.test", "old.example.test"));
    ns.apply(&format!(
        "{{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {{name: data}}, spec: {{storageClassName: '', \
         volumeName: {leaky}, accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Mi}}}}}}}}"
    ));
    wait("it is bound", SOON, || {
        cluster.get(["pv", &leaky]).unwrap()["status"]["phase"] == "Bound"
    });
    delete(cluster, &["pv", &leaky]);
    let said = explain(cluster, &[&format!("pv/{leaky}")], None);
    says(&said, "the disk disk-9 IS LEAKED");
    says(&said, "LEAKED INFRASTRUCTURE: delete the claim");
    never_says(&said, "IS DESTROYED");
    withstands_less(cluster, &format!("pv/{leaky}"), "", 10);
    run(
        cluster,
        &command(&said, "LEAKED INFRASTRUCTURE: delete the claim"),
    );
    wait("it goes", SOON, || cluster.get(["pv", &leaky]).is_none());
}

#[test]
fn a_disk_that_cannot_be_detached() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("attached");
    let driver = cluster.csi_driver("detach.example.test").with_attacher().start();
    let volume = bound_claim(&ns, "detach.example.test");
    cluster.apply(
        "{apiVersion: v1, kind: Node, metadata: {name: detach-node}}
---
{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {name: detach-node}, spec: {drivers: [{name: detach.example.test, nodeID: n1}]}}",
    );
    let attachment = |name: &str, volume: &str, more: &str| {
        cluster.apply(&format!(
            "{{apiVersion: storage.k8s.io/v1, kind: VolumeAttachment, metadata: {{name: {name}{more}}}, spec: \
             {{attacher: detach.example.test, nodeName: detach-node, source: {{persistentVolumeName: {volume}}}}}}}"
        ));
    };
    let get = |name: &str| cluster.get(["volumeattachment", name]);
    attachment("detach-one", &volume, "");
    wait("it is attached", SOON, || {
        get("detach-one").unwrap()["status"]["attached"] == true
    });
    driver.fails("ControllerUnpublishVolume", "device is busy");
    delete(cluster, &["pvc", "data", "-n", ns.name()]);
    delete(cluster, &["volumeattachment", "detach-one"]);
    delete(cluster, &["pv", &volume]);
    wait("the failure is on record", SOON, || {
        get("detach-one").unwrap()["status"]["detachError"]["message"].is_string()
    });
    let pv = format!("pv/{volume}");
    let said = explain(cluster, &[&pv], None);
    assert_eq!(
        wait_for(&said, "external-attacher")["verdict"],
        "waiting",
        "{said:#}"
    );
    assert_eq!(
        wait_for(&said, "external-provisioner")["verdict"],
        "waiting",
        "{said:#}"
    );
    says(&said, "cannot be detached from node detach-node");
    says(&said, "device is busy");
    assert_eq!(
        command(&said, "see why the disk is not detached"),
        "kubectl finalizers explain volumeattachment/detach-one"
    );
    withstands_less(cluster, &pv, "", 10);
    let said = explain(cluster, &["volumeattachment/detach-one"], None);
    assert_eq!(
        wait_for(&said, "external-attacher")["verdict"],
        "failing",
        "{said:#}"
    );
    says(&said, "device is busy");
    never_says(&said, "take this one finalizer off");
    withstands_less(cluster, "volumeattachment/detach-one", "", 10);
    run(cluster, &command(&said, "repair what the driver complains of"));
    driver.heals("ControllerUnpublishVolume");
    wait("all go", SOON, || {
        get("detach-one").is_none() && cluster.get(["pv", &volume]).is_none()
    });

    // The volume object was taken away first: the attacher can never detach.
    attachment(
        "detach-two",
        "pvc-lost",
        ", finalizers: [external-attacher/detach-example-test]",
    );
    delete(cluster, &["volumeattachment", "detach-two"]);
    let said = explain(cluster, &["volumeattachment/detach-two"], None);
    says(&said, "volume pvc-lost does not exist any more");
    says(&said, "it stays for ever");
    says(&said, "DATA LOSS if node detach-node still runs");
    withstands_less(cluster, "volumeattachment/detach-two", "", 10);
    run(
        cluster,
        &command(&said, "DATA LOSS if node detach-node still runs"),
    );
    wait("it goes", SOON, || get("detach-two").is_none());
    delete(cluster, &["node,csinode", "detach-node"]);
}

#[test]
fn snapshots_that_do_not_go() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("snapshots");
    let driver = cluster.csi_driver("snap.example.test").with_snapshots().start();
    bound_claim(&ns, "snap.example.test");
    let take = |name: &str| {
        ns.apply(&format!(
            "{{apiVersion: snapshot.storage.k8s.io/v1, kind: VolumeSnapshot, metadata: {{name: {name}}}, spec: \
             {{volumeSnapshotClassName: snap.example.test, source: {{persistentVolumeClaimName: data}}}}}}"
        ));
        let snapshot = || ns.get(["volumesnapshot", name]).unwrap();
        wait("the snapshot is taken", SOON, || {
            snapshot()["status"]["readyToUse"] == true
        });
        snapshot()["status"]["boundVolumeSnapshotContentName"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let (one, two) = (take("one"), take("two"));
    let content = |name: &str| cluster.get(["volumesnapshotcontent", name]);

    // Refused by the driver.
    driver.fails("DeleteSnapshot", "snapshot is locked");
    delete(cluster, &["volumesnapshot", "one", "-n", ns.name()]);
    let target = ["volumesnapshot/one", "-n", ns.name()];
    wait("the failure is told", SOON, || {
        explain(cluster, &target, None)
            .to_string()
            .contains("repair what the driver complains of")
    });
    let said = explain(cluster, &target, None);
    let held = wait_for(&said, "volumesnapshot-bound-protection");
    assert_eq!(held["verdict"], "waiting", "{said:#}");
    assert_eq!(held["blockers"][0]["object"]["name"], one);
    assert_eq!(
        held["blockers"][0]["waitsFor"][0]["verdict"], "failing",
        "{said:#}"
    );
    says(&said, "IS DESTROYED (deletionPolicy Delete)");
    never_says(&said, "LEAKED INFRASTRUCTURE");
    withstands_less(cluster, "volumesnapshot/one", ns.name(), 15);
    run(cluster, &command(&said, "repair what the driver complains of"));
    driver.heals("DeleteSnapshot");
    wait("both go", SOON, || {
        ns.get(["volumesnapshot", "one"]).is_none() && content(&one).is_none()
    });

    // The content is deleted while its snapshot is there: protection.
    delete(cluster, &["volumesnapshotcontent", &two]);
    let target = format!("volumesnapshotcontent/{two}");
    let said = explain(cluster, &[&target], None);
    assert_eq!(
        wait_for(&said, "bound-protection")["verdict"],
        "in-use",
        "{said:#}"
    );
    withstands_less(cluster, &target, "", 15);
    // And then the snapshot loses its finalizers by force: nobody marks the content any more.
    driver.snapshot_controller().stop();
    delete(cluster, &["volumesnapshot", "two", "-n", ns.name()]);
    ns.kubectl([
        "patch",
        "volumesnapshot",
        "two",
        "--type=merge",
        "-p",
        r#"{"metadata":{"finalizers":null}}"#,
    ])
    .success();
    driver.snapshot_controller().start();
    wait("the snapshot is gone", SOON, || {
        ns.get(["volumesnapshot", "two"]).is_none()
    });
    let said = explain(cluster, &[&target], None);
    assert_eq!(
        wait_for(&said, "bound-protection")["verdict"],
        "stalled",
        "{said:#}"
    );
    says(&said, "it stays for ever");
    assert!(command(&said, "set deletionPolicy Retain").contains("Retain"));
    withstands_less(cluster, &target, "", 15);
    run(cluster, &command(&said, "DATA LOSS (the snapshot"));
    wait("the content goes", SOON, || content(&two).is_none());
}
