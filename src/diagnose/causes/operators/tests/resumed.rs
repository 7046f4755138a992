//! Steps that wake a controller, which then deletes what the object stands for.

use serde_json::{Value, json};

use crate::{
    command::Command,
    diagnose::{
        Diagnosis, Safety,
        testing::{
            fixtures::{controller, going},
            world::{World, object},
        },
    },
};

/// The labels of the steps that scale its controller up, and of those that nudge it.
fn labels(group: &str, kind: &str, finalizer: &str, spec: &Value, replicas: u32) -> Vec<(Safety, String)> {
    let plural = format!("{}s", kind.to_lowercase());
    let target = object(
        group,
        &plural,
        kind,
        json!({"metadata": going("db", "shop", &[finalizer]), "spec": spec}),
    );
    let name = match group {
        "strimzi.io" => "keeper",
        "pxc.percona.com" => "percona-xtradb-cluster-operator",
        _ => "provider-aws-rds",
    };
    let marks = json!({"app.kubernetes.io/name": name, "pkg.crossplane.io/provider": name,
        "pkg.crossplane.io/revision": format!("{name}-1")});
    let mut world = World::of(Vec::new());
    for mut one in controller("ops", name, &marks, group) {
        if one.is("apps", "deployments") {
            one.value["spec"]["replicas"] = replicas.into();
            one.value["status"]["readyReplicas"] = replicas.into();
        }
        world = world.with(one);
    }
    waking(world.explain(&target))
}

/// The labels and texts of the steps that wake a controller.
fn waking(diagnosis: Diagnosis) -> Vec<(Safety, String)> {
    let waking = diagnosis.steps.into_iter().filter(|step| {
        let command = step.command.as_ref();
        command.is_some_and(Command::wakes)
    });
    waking.map(|step| (step.safety, step.text)).collect()
}

const RDS: [&str; 3] = [
    "rds.aws.upbound.io",
    "Instance",
    "finalizer.managedresource.crossplane.io",
];

#[test]
fn an_operator_that_is_scaled_up_deletes_what_the_object_stands_for() {
    let [group, kind, finalizer] = RDS;
    for replicas in [0, 1] {
        let found = labels(
            group,
            kind,
            finalizer,
            &json!({"forProvider": {}, "deletionPolicy": "Delete"}),
            replicas,
        );
        let [(safety, text)] = &found[..] else {
            panic!("{found:#?}");
        };
        assert_eq!(*safety, Safety::Destructive, "{text}");
        let is_told = match replicas {
            0 => text.starts_with("DELETES WHAT IT STANDS FOR: "),
            _ => text.ends_with("If it then finishes, WHAT IT STANDS FOR IS DELETED"),
        };
        assert!(is_told, "{text}");
    }
    // The claims of the database have no owner that says so.
    let found = labels(
        "pxc.percona.com",
        "PerconaXtraDBCluster",
        "percona.com/delete-pxc-pvc",
        &json!({}),
        0,
    );
    assert!(!found.is_empty());
    assert!(
        found.iter().all(|(safety, _)| *safety == Safety::Destructive),
        "{found:#?}"
    );
}

#[test]
fn an_operator_that_keeps_what_the_object_stands_for_may_be_scaled_up() {
    let [group, kind, finalizer] = RDS;
    let found = labels(
        group,
        kind,
        finalizer,
        &json!({"forProvider": {}, "deletionPolicy": "Orphan"}),
        0,
    );
    let [(safety, text)] = &found[..] else {
        panic!("{found:#?}");
    };
    assert_eq!(*safety, Safety::Reversible, "{text}");
    assert!(
        text.ends_with("What it stands for stays (spec.deletionPolicy is Orphan)"),
        "{text}"
    );
}

#[test]
fn an_undescribed_controller_may_delete_anything() {
    let found = labels(
        "strimzi.io",
        "Keeper",
        "keepers.strimzi.io/undescribed",
        &json!({}),
        1,
    );
    let [(safety, text)] = &found[..] else {
        panic!("{found:#?}");
    };
    assert_eq!(*safety, Safety::Destructive, "{text}");
    assert!(
        text.ends_with("If it then finishes, WHAT IT STANDS FOR MAY BE DELETED"),
        "{text}"
    );
}

#[test]
fn the_fate_of_a_disk_is_reported_once() {
    let volume = object(
        "",
        "persistentvolumes",
        "PersistentVolume",
        json!({"metadata": going("pv-1", "", &["storage.openshift.com/lso-symlink-deleter"]), "status": {"phase": "Released"},
            "spec": {"persistentVolumeReclaimPolicy": "Retain", "local": {"path": "/disk"}}}),
    );
    let [_, account, role, binding] =
        controller("openshift-local-storage", "diskmaker-manager", &json!({}), "");
    let diskmaker = object(
        "apps",
        "daemonsets",
        "DaemonSet",
        json!({"metadata": {"name": "diskmaker-manager", "namespace": "openshift-local-storage"},
            "spec": {"template": {"spec": {"serviceAccountName": "diskmaker-manager"}}},
            "status": {"desiredNumberScheduled": 1, "numberReady": 1}}),
    );
    let diagnosis = World::of([diskmaker, account, role, binding]).explain(&volume);
    let [(_, text)] = &waking(diagnosis)[..] else {
        panic!("one step wakes it");
    };
    assert_eq!(text.matches("stays (reclaim policy Retain)").count(), 1, "{text}");
}
