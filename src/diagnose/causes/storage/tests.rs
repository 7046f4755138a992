//! Tests of the storage causes on small worlds: some objects, what cannot be read, and the diagnosis.

mod claims;
mod keep_disk;
mod snapshots;
mod take_back;
mod volume_attachments;
mod volumes;

use serde_json::{Value, json};

use crate::{
    diagnose::{
        Diagnosis, Safety, Verdict,
        testing::{fixtures::LONG_AGO, told::commands, world::bare as object},
    },
    snapshot::facts::Object,
};

const PROVISIONER: &str = "external-provisioner.volume.kubernetes.io/finalizer";

fn metadata(name: &str, namespace: &str, finalizers: &[&str], deleted: bool) -> Value {
    let mut metadata = json!({"name": name, "uid": format!("uid-{name}"), "finalizers": finalizers});
    if !namespace.is_empty() {
        metadata["namespace"] = json!(namespace);
    }
    if deleted {
        metadata["deletionTimestamp"] = json!(LONG_AGO);
        metadata["deletionGracePeriodSeconds"] = json!(0);
    }
    metadata
}

fn claim(finalizers: &[&str], deleted: bool) -> Object {
    let value = json!({"metadata": metadata("data", "ns", finalizers, deleted), "spec": {"volumeName": "pv"},
        "status": {"phase": "Bound"}});
    object("", "persistentvolumeclaims", "PersistentVolumeClaim", value)
}

fn volume(finalizers: &[&str], policy: &str, phase: &str, deleted: bool) -> Object {
    let value = json!({"metadata": metadata("pv", "", finalizers, deleted), "status": {"phase": phase},
        "spec": {"persistentVolumeReclaimPolicy": policy, "csi": {"driver": "d.example.com", "volumeHandle": "disk-1"},
            "claimRef": {"namespace": "ns", "name": "data", "uid": "uid-data"}}});
    object("", "persistentvolumes", "PersistentVolume", value)
}

fn pod(name: &str, phase: &str) -> Object {
    let value = json!({"metadata": {"name": name, "namespace": "ns", "uid": format!("uid-{name}")},
        "spec": {"nodeName": "n1", "volumes": [{"name": "d", "persistentVolumeClaim": {"claimName": "data"}}]},
        "status": {"phase": phase}});
    object("", "pods", "Pod", value)
}

fn lease(name: &str, renewed: &str) -> Object {
    let value = json!({"metadata": {"name": name, "namespace": "kube-system"},
        "spec": {"renewTime": renewed, "leaseDurationSeconds": 15}});
    object("coordination.k8s.io", "leases", "Lease", value)
}

fn attachment(volume: &str, deleted: bool, error: &str) -> Object {
    let value = json!({"metadata": metadata("va", "", &["external-attacher/d-example-com"], deleted),
        "spec": {"attacher": "d.example.com", "nodeName": "n1", "source": {"persistentVolumeName": volume}},
        "status": {"attached": true, "detachError": {"message": error}}});
    object("storage.k8s.io", "volumeattachments", "VolumeAttachment", value)
}

fn driver() -> Object {
    object(
        "storage.k8s.io",
        "csidrivers",
        "CSIDriver",
        json!({"metadata": {"name": "d.example.com"}}),
    )
}

fn csi_node(registered: &str) -> Object {
    let value = json!({"metadata": {"name": "n1"}, "spec": {"drivers": [{"name": registered}]}});
    object("storage.k8s.io", "csinodes", "CSINode", value)
}

fn failed_delete(message: &str) -> Object {
    let value = json!({"metadata": {"name": "pv.1", "namespace": "default"}, "reason": "VolumeFailedDelete",
        "message": message, "lastTimestamp": "2026-01-01T11:59:00Z", "source": {"component": "d.example.com_pod_id"},
        "involvedObject": {"kind": "PersistentVolume", "name": "pv", "uid": "uid-pv"}});
    object("", "events", "Event", value)
}

fn snapshot_object(plural: &str, kind: &str, value: Value) -> Object {
    object("snapshot.storage.k8s.io", plural, kind, value)
}

/// The whole diagnosis as one text.
fn text(diagnosis: &Diagnosis) -> String {
    format!("{diagnosis:?}\n{}", commands(diagnosis))
}

/// The verdict of the first wait.
fn verdict(diagnosis: &Diagnosis) -> Verdict {
    diagnosis.waits[0].verdict
}

/// Asserts that each destructive step starts with a warning.
fn assert_destructive_steps_warn(diagnosis: &Diagnosis) {
    for step in &diagnosis.steps {
        let has_warning = step.text.contains("DATA LOSS") || step.text.contains("LEAKED INFRASTRUCTURE");
        let is_mild = step.text.contains("is LOST")
            || step.text.contains("guards nothing")
            || step.text.contains("has no volume");
        assert!(
            step.safety != Safety::Destructive || has_warning || is_mild,
            "{step:?}"
        );
    }
}
