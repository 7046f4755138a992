//! Volumes, claims, attachments and snapshots with the real CSI sidecars: what is explained, and which steps
//! help.

mod csi_errors;
mod honor_reclaim_policy;
mod keep_disk;
mod pv_attacher;
mod pv_disk_deletion;
mod pv_protection;
mod pv_reclaim;
mod pvc_protection;
mod source_protection;
mod take_back;
mod volume_attachment_detach;
mod volume_attachment_in_use;
mod volume_attributes_class;
mod volume_snapshot;
mod volume_snapshot_content;

use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use super::told::carry_out as run;
use crate::harness::{Cluster, Namespace, User, wait};

const SOON: Duration = Duration::from_secs(60);

/// Sets the renewal time of a Lease.
fn renewed(cluster: &Cluster, lease: &str, time: Timestamp) {
    let patch = format!("{{\"spec\":{{\"renewTime\":\"{time:.6}\"}}}}");
    let words = [
        "patch",
        "lease",
        lease,
        "--namespace=kube-system",
        "--type=merge",
        "-p",
        &patch,
    ];
    cluster.kubectl(words).success();
}

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

/// The wait whose finalizer contains this text.
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

/// The command of the step that contains this text.
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

#[track_caller]
fn says(said: &Value, text: &str) {
    assert!(said.to_string().contains(text), "{text:?} is not in {said:#}");
}

#[track_caller]
fn never_says(said: &Value, text: &str) {
    assert!(!said.to_string().contains(text), "{text:?} is in {said:#}");
}

/// Creates a bound claim of 1 Mi and returns the name of its volume.
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

/// Creates a volume by hand, and the claim `data` that binds it. No driver runs, so only its protection holds the volume.
fn bound_by_hand(cluster: &Cluster, ns: &Namespace, policy: &str) -> String {
    let volume = cluster.unique(ns.name());
    cluster.apply(&format!(
        "{{apiVersion: v1, kind: PersistentVolume, metadata: {{name: {volume}}}, spec: {{capacity: {{storage: 1Mi}}, \
         accessModes: [ReadWriteOnce], persistentVolumeReclaimPolicy: {policy}, csi: {{driver: by-hand.example.test, \
         volumeHandle: disk-{volume}}}}}}}"
    ));
    ns.apply(&format!(
        "{{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {{name: data}}, spec: {{storageClassName: '', volumeName: \
         {volume}, accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Mi}}}}}}}}"
    ));
    wait("volume and claim are bound", SOON, || {
        let is_bound = |object: Option<Value>| object.unwrap()["status"]["phase"] == "Bound";
        is_bound(cluster.get(["pv", &volume])) && is_bound(ns.get(["pvc", "data"]))
    });
    volume
}

/// Creates a Pod that uses the claim `data`. It needs no kubelet to end.
fn pod_with_the_claim(cluster: &Cluster, ns: &Namespace) {
    ns.apply(&format!(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: user}}, spec: {{nodeName: {}, terminationGracePeriodSeconds: 0, \
         containers: [{{name: c, image: i}}], volumes: [{{name: d, persistentVolumeClaim: {{claimName: data}}}}]}}}}",
        cluster.node()
    ));
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
