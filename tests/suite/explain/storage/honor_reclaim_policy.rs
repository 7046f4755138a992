//! Volumes of the provisioner in kube-controller-manager. Since HonorPVReclaimPolicy they have a finalizer, so that a volume that
//! was deleted before its claim does not leak its disk.

use std::{fs, path::PathBuf};

use crate::{
    explain::told::{SOON, delete, goes, told},
    harness::{Cluster, Options, is_since, wait},
};

const RECLAIMS: &str = "kubernetes.io/pv-controller";

/// The name of a volume that was made for a claim, and is deleted before it.
fn deleted_before_its_claim(cluster: &Cluster) -> String {
    cluster.apply(
        "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: host}, provisioner: kubernetes.io/host-path}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: default}, spec: {storageClassName: host, \
         accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Mi}}}}",
    );
    let claim = || cluster.get(["pvc", "data", "-n", "default"]);
    wait("the claim is bound", SOON, || {
        claim().is_some_and(|claim| claim["status"]["phase"] == "Bound")
    });
    let volume = claim().unwrap()["spec"]["volumeName"]
        .as_str()
        .unwrap()
        .to_owned();
    delete(cluster, &format!("pv/{volume}"), "");
    volume
}

/// The folder that is the disk.
fn disk(cluster: &Cluster, volume: &str) -> PathBuf {
    let volume = cluster.get(["pv", volume]).unwrap();
    volume["spec"]["hostPath"]["path"].as_str().unwrap().into()
}

#[test]
#[ignore = "takes minutes: scripts/long slow"]
fn a_volume_of_the_built_in_provisioner_keeps_its_disk_from_leaking() {
    let cluster = Cluster::with(&Options {
        controller_manager_args: &["--enable-hostpath-provisioner"],
        ..Options::default()
    });
    let volume = deleted_before_its_claim(&cluster);
    let story = told(&cluster, &format!("pv/{volume}"), "");
    story.never_says("LEAK").says("IS DESTROYED");
    assert!(
        ["in-use", "waiting"].contains(&story.verdict(RECLAIMS)),
        "{story}"
    );
    let disk = disk(&cluster, &volume);
    assert!(disk.is_dir());
    delete(&cluster, "pvc/data", "default");
    goes(&cluster, &format!("pv/{volume}"), "");
    assert!(!disk.exists());
}

#[test]
#[ignore = "takes minutes: scripts/long slow"]
fn without_the_gate_the_disk_leaks() {
    if is_since(33) {
        eprintln!("left out: HonorPVReclaimPolicy cannot be switched off since Kubernetes 1.33");
        return;
    }
    let cluster = Cluster::with(&Options {
        controller_manager_args: &[
            "--enable-hostpath-provisioner",
            "--feature-gates=HonorPVReclaimPolicy=false",
        ],
        ..Options::default()
    });
    let volume = deleted_before_its_claim(&cluster);
    told(&cluster, &format!("pv/{volume}"), "")
        .says("IS LEAKED")
        .says("from 1.31 on (HonorPVReclaimPolicy)");
    let disk = disk(&cluster, &volume);
    delete(&cluster, "pvc/data", "default");
    goes(&cluster, &format!("pv/{volume}"), "");
    assert!(disk.is_dir(), "the disk is left behind");
    fs::remove_dir_all(disk).unwrap();
}
