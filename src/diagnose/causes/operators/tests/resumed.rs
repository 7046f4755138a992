//! Steps that wake a controller, which then deletes what the object stands for.

use serde_json::{Value, json};

use crate::diagnose::{
    Safety,
    testing::{
        fixtures::{controller, going},
        world::{World, object},
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
    let diagnosis = world.explain(&target);
    let waking = diagnosis.steps.into_iter().filter(|step| {
        let command = step.command.as_ref();
        command.is_some_and(crate::command::Command::wakes)
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
        assert!(text.starts_with("DELETES WHAT IT STANDS FOR: "), "{text}");
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
fn nobody_knows_what_an_undescribed_controller_deletes() {
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
    assert!(text.starts_with("MAY DELETE WHAT IT STANDS FOR: "), "{text}");
}
