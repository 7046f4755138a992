//! `rescue pv/NAME`: the volume is there again, for the same disk and the same claim, with the real provisioner, attacher
//! and kube-controller-manager.

mod by_others;
mod claims;
mod interrupted;
mod random;
mod refused;
mod rejected;

use std::{fs, path::Path};

use serde_json::{Value, json};

use super::{
    Case, digest, documents,
    gate::{Fate, Gate},
    rescue::Disk,
    says,
};
use crate::{
    explain::told::{SOON, delete, goes},
    harness::{Cluster, Options, Output, is_since, wait},
};

/// What must not change while a volume is made again.
struct Before {
    claim: Value,
    volume_uid: Value,
}

impl Before {
    fn of(disk: &Disk<'_>) -> Self {
        Before {
            claim: disk.case.ns.get(["pvc", "data"]).expect("the claim exists")["metadata"]["uid"].clone(),
            volume_uid: disk.object().expect("the volume exists")["metadata"]["uid"].clone(),
        }
    }

    /// Asserts that the volume is a new one, Bound to the same claim, and that the disk survives.
    #[track_caller]
    fn is_there_again(&self, disk: &Disk<'_>) {
        let volume = disk.object().expect("the volume exists");
        assert_ne!(volume["metadata"]["uid"], self.volume_uid, "{volume:#}");
        assert!(volume["metadata"]["deletionTimestamp"].is_null(), "{volume:#}");
        assert_eq!(volume["status"]["phase"], "Bound", "{volume:#}");
        let claim = disk.case.ns.get(["pvc", "data"]).expect("the claim exists");
        assert_eq!(claim["metadata"]["uid"], self.claim, "{claim:#}");
        assert_eq!(claim["status"]["phase"], "Bound", "{claim:#}");
        assert_eq!(claim["spec"]["volumeName"], disk.volume, "{claim:#}");
        disk.survives();
    }
}

/// `rescue pv/NAME`, planned and confirmed, with these words added.
fn rescued(disk: &Disk<'_>, more: &[&str]) -> Output {
    let pv = disk.pv();
    disk.case.confirm(&[&["rescue", &pv], more].concat()).run()
}

/// The outcome of a run with these words, planned and confirmed.
#[track_caller]
pub(super) fn outcome(case: &Case<'_>, words: &[&str]) -> Value {
    let plan = case
        .run(&[words, &["--plan", "-o=json"]].concat())
        .run()
        .success();
    let out = case
        .run(&[words, &["-o=json", "--confirm", &digest(&plan)]].concat())
        .run();
    assert_eq!(out.code, 0, "{out}");
    documents(&out).remove(1)["outcomes"][0].clone()
}

/// A Pod on a node that uses the claim.
fn pod(case: &Case<'_>, node: &str) {
    case.ns.apply(&format!(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: user}}, spec: {{nodeName: {node}, terminationGracePeriodSeconds: 0, \
         containers: [{{name: c, image: example.com/c}}], volumes: [{{name: v, persistentVolumeClaim: {{claimName: data}}}}]}}}}"
    ));
}

#[test]
fn a_volume_that_was_deleted_is_there_again_and_its_pod_is_unchanged() {
    let disk = Disk::made(Cluster::shared(), "again");
    let case = &disk.case;
    pod(case, &case.cluster.node());
    let user = || case.ns.get(["pod", "user"]).expect("the pod exists");
    let (pod_before, before) = (user(), Before::of(&disk));
    case.cluster
        .kubectl(["label", &disk.pv(), "team=data", "app.kubernetes.io/name=shop"])
        .success();
    delete(case.cluster, &disk.pv(), "");

    let outcome = outcome(case, &["rescue", &disk.pv()]);
    assert_eq!(outcome["result"], "rescued", "{outcome:#}");
    assert_eq!(outcome["differences"], json!([]), "{outcome:#}");
    before.is_there_again(&disk);
    let volume = disk.object().expect("the volume exists");
    assert_eq!(volume["metadata"]["labels"]["team"], "data", "{volume:#}");
    assert_eq!(disk.policy(), "Retain");
    assert_eq!(user()["metadata"], pod_before["metadata"]);

    // A patch is refused, and sent again, if the provisioner has just removed its finalizer.
    let mut writes: Vec<_> = case
        .writes()
        .into_iter()
        .map(|one| (one.verb, one.type_name))
        .collect();
    writes.dedup();
    let on_volumes = |verb: &str| (verb.to_owned(), "persistentvolumes".to_owned());
    assert_eq!(writes, [on_volumes("patch"), on_volumes("create")]);
    let mut noted = case.noted();
    noted.dedup();
    assert_eq!(noted, ["sending", "done"]);
    let copies = case.copies();
    assert!(copies.len() >= 2, "{copies:?}");

    // Nothing is left to take back.
    let pv = disk.pv();
    let out = case.run(&["rescue", &pv]).run();
    assert_eq!(out.code, 3, "{out}");
    says(&out, "neither it nor its claim is being deleted");
    let receipts = case.place.path().join("receipts.jsonl");
    let out = case
        .run(&["rescue", &pv, "--resume", receipts.to_str().unwrap()])
        .run();
    assert_eq!(out.code, 2, "{out}");
    says(&out, "has no unfinished rescue");
}

#[test]
fn the_old_policy_comes_back_if_that_is_asked_for() {
    let disk = Disk::made(Cluster::shared(), "restored");
    let before = Before::of(&disk);
    delete(disk.case.cluster, &disk.pv(), "");
    let out = rescued(&disk, &["--restore-policy"]);
    assert_eq!(out.code, 0, "{out}");
    before.is_there_again(&disk);
    assert_eq!(disk.policy(), "Delete");
    wait("the provisioner protects the disk again", SOON, || {
        let volume = disk.object().expect("the volume exists");
        volume["metadata"]["finalizers"]
            .to_string()
            .contains("external-provisioner")
    });
    disk.survives();
}

#[test]
fn neither_a_provisioner_nor_its_class_is_needed() {
    let disk = Disk::made(Cluster::shared(), "unprovisioned");
    let before = Before::of(&disk);
    disk.driver.provisioner().stop();
    delete(disk.case.cluster, "storageclass/unprovisioned.example.test", "");
    delete(disk.case.cluster, &disk.pv(), "");
    let out = rescued(&disk, &[]);
    assert_eq!(out.code, 0, "{out}");
    before.is_there_again(&disk);
    disk.driver.provisioner().start();
    disk.survives();
}

/// The claim goes on going: its volume is then Released, with the disk.
#[test]
fn a_claim_that_is_deleted_too_leaves_the_volume_behind() {
    let disk = Disk::made(Cluster::shared(), "both-deleted");
    let (case, pv) = (&disk.case, disk.pv());
    pod(case, &case.cluster.node());
    delete(case.cluster, &pv, "");
    delete(case.cluster, "pvc/data", case.ns.name());
    let out = case.run(&["rescue", &pv, "--restore-policy"]).run();
    assert_eq!(out.code, 3, "{out}");
    says(&out, "so the disk would be deleted with it under the old policy");

    let out = rescued(&disk, &[]);
    assert_eq!(out.code, 0, "{out}");
    says(&out, "The claim is being deleted, too, and that goes on");
    delete(case.cluster, "pod/user", case.ns.name());
    goes(case.cluster, "pvc/data", case.ns.name());
    disk.is_released();
    disk.survives();
}

/// A volume and a claim that name each other before they are bound. No driver runs for it.
#[test]
#[ignore = "takes minutes: scripts/long slow"]
fn a_volume_that_a_person_made_is_there_again_too() {
    let cluster = Cluster::shared();
    let migrated = json!({"annotations": {
        "pv.kubernetes.io/provisioned-by": "kubernetes.io/aws-ebs",
        "pv.kubernetes.io/migrated-to": "ebs.csi.aws.com"}});
    let of_node = json!({"required": {"nodeSelectorTerms": [
        {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": ["n1"]}]}]}});
    let cases = [
        ("of-csi", json!({}), csi_disk()),
        (
            "of-a-node",
            json!({}),
            json!({"local": {"path": "/mnt/disk"}, "nodeAffinity": of_node}),
        ),
        (
            "in-tree",
            json!({}),
            json!({"nfs": {"server": "nfs.example.test", "path": "/x"}}),
        ),
        (
            "migrated",
            migrated,
            json!({"awsElasticBlockStore": {"volumeID": "vol-1"}}),
        ),
        (
            "of-one-pod",
            json!({}),
            json!({"csi": {"driver": "none.example.test", "volumeHandle": "disk"}, "accessModes": ["ReadWriteOncePod"]}),
        ),
    ];
    for (name, metadata, spec) in cases {
        let case = Case::empty(cluster, name);
        let volume = static_volume(&case, &metadata, &spec);
        let before = cluster.get(["pv", &volume]).expect("the volume exists");
        delete(cluster, &format!("pv/{volume}"), "");
        let outcome = outcome(&case, &["rescue", &format!("pv/{volume}")]);
        assert_eq!(outcome["differences"], json!([]), "{outcome:#}");
        let found = cluster.get(["pv", &volume]).expect("the volume exists");
        assert_eq!(found["status"]["phase"], "Bound", "{found:#}");
        assert!(found["metadata"]["deletionTimestamp"].is_null(), "{found:#}");
        assert_eq!(
            found["metadata"]["annotations"], before["metadata"]["annotations"],
            "{found:#}"
        );
        for field in spec.as_object().unwrap().keys() {
            assert_eq!(found["spec"][field], before["spec"][field], "{found:#}");
        }
    }
}

/// The provisioner of host paths is a part of kube-controller-manager, which then protects the disk itself.
#[test]
#[ignore = "takes minutes: scripts/long slow"]
fn a_volume_of_a_provisioner_within_the_controller_manager_is_there_again() {
    let cluster = Cluster::with(&Options {
        controller_manager_args: &["--enable-hostpath-provisioner"],
        ..Options::default()
    });
    let case = Case::empty(&cluster, "in-tree-provisioned");
    cluster.apply(
        "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: host}, provisioner: kubernetes.io/host-path}",
    );
    case.ns.apply(
        "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, spec: {storageClassName: host, accessModes: \
         [ReadWriteOnce], resources: {requests: {storage: 1Mi}}}}",
    );
    let claim = || case.ns.get(["pvc", "data"]).expect("the claim exists");
    wait("the claim is bound", SOON, || {
        claim()["status"]["phase"] == "Bound"
    });
    let name = claim()["spec"]["volumeName"]
        .as_str()
        .expect("a volume")
        .to_owned();
    let get = || cluster.get(["pv", &name]);
    let is_protected = || {
        let volume = get().expect("the volume exists");
        // HonorPVReclaimPolicy is on by default since then.
        !is_since(31)
            || volume["metadata"]["finalizers"]
                .to_string()
                .contains("kubernetes.io/pv-controller")
    };
    wait("the disk is protected", SOON, is_protected);
    let before = get().expect("the volume exists");
    let folder = before["spec"]["hostPath"]["path"].as_str().expect("a path");
    let file = Path::new(folder).join("file");
    fs::write(&file, "precious").expect("the disk is a folder");

    let pv = format!("pv/{name}");
    delete(&cluster, &pv, "");
    let outcome = outcome(&case, &["rescue", &pv, "--restore-policy"]);
    assert_eq!(outcome["differences"], json!([]), "{outcome:#}");
    let after = get().expect("the volume exists");
    assert_ne!(after["metadata"]["uid"], before["metadata"]["uid"]);
    assert_eq!(after["status"]["phase"], "Bound", "{after:#}");
    assert_eq!(after["spec"]["persistentVolumeReclaimPolicy"], "Delete");
    assert_eq!(claim()["status"]["phase"], "Bound");
    assert_eq!(fs::read_to_string(&file).expect("the file is there"), "precious");
    wait("the disk is protected again", SOON, is_protected);

    // With the old policy the disk goes with its claim, as before.
    delete(&cluster, "pvc/data", case.ns.name());
    goes(&cluster, &pv, "");
    assert!(!file.exists());
}

/// A source of a volume that no driver serves.
pub(super) fn csi_disk() -> Value {
    json!({"csi": {"driver": "none.example.test", "volumeHandle": "disk"}})
}

/// A volume without a controller, Bound to claim `data`, with these metadata and this specification added. Returns its
/// name.
pub(super) fn static_volume(case: &Case<'_>, metadata: &Value, spec: &Value) -> String {
    static_volume_of("data", case, metadata, spec)
}

/// The same for a claim of this name.
fn static_volume_of(claim: &str, case: &Case<'_>, metadata: &Value, spec: &Value) -> String {
    let name = case.cluster.unique("static");
    let mut volume = json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": {
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "persistentVolumeReclaimPolicy": "Retain",
        "storageClassName": "", "claimRef": {"namespace": case.ns.name(), "name": claim}}});
    for (place, added) in [("metadata", metadata), ("spec", spec)] {
        for (key, value) in added.as_object().expect("it is an object") {
            volume[place][key] = value.clone();
        }
    }
    case.cluster.apply(&volume.to_string());
    let new = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": claim}, "spec": {
        "storageClassName": "", "volumeName": name, "accessModes": volume["spec"]["accessModes"],
        "resources": {"requests": {"storage": "1Mi"}}}});
    case.ns.apply(&new.to_string());
    wait("volume and claim are Bound", SOON, || {
        case.ns.get(["pvc", claim]).expect("the claim exists")["status"]["phase"] == "Bound"
            && case.cluster.get(["pv", &name]).expect("the volume exists")["status"]["phase"] == "Bound"
    });
    name
}
