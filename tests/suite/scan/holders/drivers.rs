//! CSI drivers: each has its own sidecars, whose finalizers have the same names. One driver runs here, and
//! another was uninstalled before its objects were deleted.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json as value};
use tempfile::TempDir;

use super::{document, json, text};
use crate::{
    explain::{
        replayed::{from, taken},
        told::{delete, told},
    },
    harness::{Cluster, Namespace, Plugin, User, wait},
};

const SOON: Duration = Duration::from_secs(60);
const ALIVE: &str = "alive.drivers.example";
const GONE: &str = "gone.drivers.example";
const TYPES: &str = "pv,volumeattachments,volumesnapshotcontents,pvc";
/// The objects that each driver has for itself.
const SIDECARS: [&str; 3] = ["csi-provisioner", "csi-attacher", "csi-snapshotter"];

/// The drivers that the kubelet of the only Node registered.
fn registered(cluster: &Cluster, drivers: &[&str]) {
    let drivers: Vec<_> = drivers
        .iter()
        .map(|name| value!({"name": name, "nodeID": "n1"}))
        .collect();
    cluster.apply(
        &value!({"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": "n1"},
            "spec": {"drivers": drivers}})
        .to_string(),
    );
}

/// A claim, its attached volume and a snapshot of it, each with its finalizers.
fn used(ns: &Namespace, driver: &str, attachment: &str) {
    ns.apply(&format!(
        "{{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {{name: data}}, spec: {{storageClassName: {driver}, \
         accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Mi}}}}}}}}"
    ));
    let mut volume = String::new();
    wait("the claim is bound", SOON, || {
        let claim = ns.get(["pvc", "data"]).unwrap();
        claim["spec"]["volumeName"]
            .as_str()
            .unwrap_or_default()
            .clone_into(&mut volume);
        claim["status"]["phase"] == "Bound"
    });
    ns.apply(&format!(
        "{{apiVersion: storage.k8s.io/v1, kind: VolumeAttachment, metadata: {{name: {attachment}}}, spec: {{attacher: {driver}, \
         nodeName: n1, source: {{persistentVolumeName: {volume}}}}}}}
---
{{apiVersion: snapshot.storage.k8s.io/v1, kind: VolumeSnapshot, metadata: {{name: one}}, spec: {{volumeSnapshotClassName: {driver}, \
         source: {{persistentVolumeClaimName: data}}}}}}"
    ));
    wait("the volume is attached", SOON, || {
        ns.get(["volumeattachment", attachment]).unwrap()["status"]["attached"] == true
    });
    wait("the snapshot is taken", SOON, || {
        ns.get(["volumesnapshot", "one"]).unwrap()["status"]["readyToUse"] == true
    });
}

/// Uninstalls a stopped driver: its objects stay, and its Leases expire.
fn uninstall(cluster: &Cluster, driver: &str) {
    delete(cluster, &format!("csidriver/{driver}"), "");
    let then = Timestamp::now() - SignedDuration::from_mins(5);
    let patch = format!("{{\"spec\":{{\"renewTime\":\"{then:.6}\"}}}}");
    for sidecar in ["", "external-attacher-leader-", "external-snapshotter-leader-"] {
        let lease = format!("{sidecar}{}", driver.replace('.', "-"));
        let place = "--namespace=kube-system";
        cluster
            .kubectl(["patch", "lease", &lease, place, "--type=merge", "-p", &patch])
            .success();
    }
}

fn words(more: &[&str]) -> Vec<String> {
    let words = ["scan", TYPES, "--by", "holder", "-o", "json"];
    words.iter().chain(more).map(|word| (*word).to_owned()).collect()
}

fn scan(cluster: &Cluster, user: Option<&User>) -> Value {
    let plugin = cluster.plugin(words(&[]));
    json(match user {
        Some(user) => plugin.as_user(user),
        None => plugin,
    })
}

/// The only row with this name.
#[track_caller]
fn row<'a>(report: &'a Value, name: &str) -> &'a Value {
    let rows = report["holders"].as_array().expect("holders");
    let found: Vec<_> = rows.iter().filter(|row| row["name"] == name).collect();
    let [row] = found.as_slice() else {
        panic!("{} rows are {name}: {report:#}", found.len())
    };
    row
}

/// The state of a driver's sidecars.
#[track_caller]
fn states<'a>(report: &'a Value, driver: &str) -> Vec<&'a str> {
    let state = |sidecar| text(row(report, &format!("{sidecar} of {driver}")), "state");
    SIDECARS.into_iter().map(state).collect()
}

fn gaps(report: &Value) -> Vec<&str> {
    let gaps = report["weakerFor"].as_array().expect("gaps");
    gaps.iter().map(|gap| text(gap, "name")).collect()
}

#[test]
fn each_driver_has_its_own_row_and_explain_agrees() {
    // A cluster of its own, because the drivers must be the only ones.
    let cluster = &Cluster::start();
    cluster.apply("{apiVersion: v1, kind: Node, metadata: {name: n1}}");
    registered(cluster, &[ALIVE, GONE]);
    let start = |name: &str| cluster.csi_driver(name).with_attacher().with_snapshots().start();
    let (_alive, gone) = (start(ALIVE), start(GONE));
    let (one, other) = (cluster.namespace("one"), cluster.namespace("other"));
    used(&one, ALIVE, "attached-alive");
    used(&other, GONE, "attached-gone");
    drop(gone);

    // The driver is only stopped: it is installed, and may come back.
    let report = scan(cluster, None);
    assert!(!states(&report, GONE).contains(&"gone"), "{report:#}");
    registered(cluster, &[ALIVE]);
    uninstall(cluster, GONE);
    delete(cluster, "volumeattachment/attached-gone", "");

    let report = scan(cluster, None);
    assert_eq!(states(&report, ALIVE), ["running"; 3], "{report:#}");
    assert_eq!(states(&report, GONE), ["gone"; 3], "{report:#}");
    let rows = report["holders"].as_array().unwrap().iter();
    assert!(
        !rows
            .clone()
            .any(|row| text(row, "name").contains("each CSI driver")),
        "{report:#}"
    );
    let attacher = row(&report, &format!("csi-attacher of {GONE}"));
    assert_eq!(
        (&attacher["objects"], &attacher["terminating"], &attacher["on"]),
        (
            &value!(2),
            &value!(1),
            &value!(["persistentvolumes", "volumeattachments.storage.k8s.io"])
        ),
    );
    for sign in [
        format!("CSIDriver {GONE}: does not exist"),
        format!("none of 1 names {GONE}"),
    ] {
        assert!(text(attacher, "says").contains(&sign), "{attacher:#}");
    }
    let provisioner = row(&report, &format!("csi-provisioner of {ALIVE}"));
    assert_eq!(
        (&provisioner["objects"], &provisioner["likely"]),
        (&value!(1), &value!(false))
    );
    assert!(
        text(provisioner, "says").starts_with("Lease kube-system/alive-drivers-example"),
        "{provisioner:#}"
    );
    let story = told(cluster, "volumeattachment/attached-gone", "");
    assert_eq!(
        story.verdict("external-attacher/gone-drivers-example"),
        "orphaned",
        "{story}"
    );

    who_sees_less(cluster);
    no_more_requests_for_more_objects(cluster);
    the_same_from_files(cluster);
}

fn who_sees_less(cluster: &Cluster) {
    let objects = "persistentvolumes,persistentvolumeclaims,volumeattachments.storage.k8s.io,\
                   volumesnapshotcontents.snapshot.storage.k8s.io";
    // Without Nodes it is unknown that no Node has the driver. The other driver shows itself by its Lease.
    let user = cluster
        .user("sees-no-nodes")
        .may(
            "get,list",
            &format!("{objects},leases.coordination.k8s.io,csidrivers.storage.k8s.io"),
        )
        .create();
    let report = scan(cluster, Some(&user));
    assert_eq!(states(&report, GONE), ["unknown"; 3], "{report:#}");
    assert_eq!(states(&report, ALIVE), ["running"; 3], "{report:#}");
    assert!(gaps(&report).contains(&"csinodes.storage.k8s.io"), "{report:#}");

    // A user who may read only the objects knows nothing about either driver.
    let user = cluster.user("sees-objects").may("get,list", objects).create();
    let report = scan(cluster, Some(&user));
    for driver in [ALIVE, GONE] {
        assert_eq!(states(&report, driver), ["unknown"; 3], "{report:#}");
    }
    for missing in [
        "csinodes.storage.k8s.io",
        "csidrivers.storage.k8s.io",
        "leases.coordination.k8s.io",
    ] {
        assert!(gaps(&report).contains(&missing), "{missing}: {report:#}");
    }

    // A driver is known even if its objects may be listed and not read one by one.
    let signs = "leases.coordination.k8s.io,csidrivers.storage.k8s.io,csinodes.storage.k8s.io";
    let user = cluster
        .user("lists-only")
        .may("list", objects)
        .may("get,list", signs)
        .create();
    let report = scan(cluster, Some(&user));
    assert_eq!(states(&report, ALIVE), ["running"; 3], "{report:#}");
    assert!(gaps(&report).contains(&"persistentvolumes"), "{report:#}");
}

fn no_more_requests_for_more_objects(cluster: &Cluster) {
    let asked = |name: &str, made: std::ops::Range<u64>| {
        let volume = |at: u64| {
            value!({"apiVersion": "v1", "kind": "PersistentVolume",
                "metadata": {"name": format!("more-{at}"), "finalizers": ["external-provisioner.volume.kubernetes.io/finalizer"]},
                "spec": {"capacity": {"storage": "1Mi"}, "accessModes": ["ReadWriteOnce"],
                    "persistentVolumeReclaimPolicy": "Delete", "csi": {"driver": GONE, "volumeHandle": at.to_string()}}})
        };
        let items: Vec<_> = made.map(volume).collect();
        cluster.apply(&value!({"apiVersion": "v1", "kind": "List", "items": items}).to_string());
        let user = cluster.user(name).may("get,list", "*").create();
        let before = cluster.asked(name).len();
        let report = scan(cluster, Some(&user));
        let objects = row(&report, &format!("csi-provisioner of {GONE}"))["objects"].as_u64();
        (objects, cluster.asked(name).len() - before)
    };
    let (few, asked_for_few) = asked("asks-for-few", 0..1);
    let (many, asked_for_many) = asked("asks-for-many", 1..60);
    assert_eq!((few, many), (Some(2), Some(61)));
    assert_eq!(asked_for_many, asked_for_few);
}

fn the_same_from_files(cluster: &Cluster) {
    let folder = TempDir::new().unwrap();
    let file = taken(cluster, &folder, "", "");
    let saved = document(&from(&file, words(&[])));
    assert_eq!(states(&saved, ALIVE), ["running"; 3], "{saved:#}");
    assert_eq!(states(&saved, GONE), ["gone"; 3], "{saved:#}");

    let file = folder.path().join("redacted");
    let path = file.display().to_string();
    cluster.plugin(["snapshot", &path, "--redact"]).run().success();
    let hidden = document(&from(&file, words(&[])));
    assert_eq!(states(&hidden, ALIVE), ["running"; 3], "{hidden:#}");
    assert_eq!(states(&hidden, GONE), ["gone"; 3], "{hidden:#}");

    // The output of kubectl says what each holds, and nothing about whether it runs.
    let dump = cluster
        .kubectl(["get", TYPES, "--all-namespaces", "-o", "json"])
        .success();
    let plugin = Plugin::new(words(&["--from=-"])).stdin(&dump);
    let report = document(&plugin.run().success());
    for driver in [ALIVE, GONE] {
        assert_eq!(states(&report, driver), ["unknown"; 3], "{report:#}");
    }
}
