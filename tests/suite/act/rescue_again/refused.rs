//! Volumes that are not made again. Nothing is sent for them.

use super::{Case, Cluster, Disk, SOON, csi_disk, delete, goes, says, static_volume, wait};
use crate::act::guards::refused;
use serde_json::json;

/// Asserts that `rescue` refuses this volume for this reason, offers something else, and sends nothing.
#[track_caller]
fn refuses(case: &Case<'_>, volume: &str, why: &str, instead: &str) {
    let pv = format!("pv/{volume}");
    let out = case.run(&["rescue", &pv]).run();
    assert_eq!(out.code, 3, "{out}");
    says(&out, why);
    says(&out, instead);
    assert!(case.writes().is_empty(), "{:#?}", case.writes());
}

#[test]
fn what_cannot_be_taken_back_is_refused_with_something_to_do() {
    let cluster = Cluster::shared();
    let case = Case::empty(cluster, "unrescuable");
    let volume = static_volume(&case, &json!({}), &csi_disk());
    let pv = format!("pv/{volume}");
    let keep = format!("kubectl finalizers rescue {pv} --only-retain --plan");
    refuses(&case, &volume, "neither it nor its claim is being deleted", &keep);

    let patch = |text: &str| {
        cluster
            .kubectl(["patch", &pv, "--type=json", "-p", text])
            .success()
    };
    patch(r#"[{"op": "add", "path": "/metadata/finalizers/-", "value": "example.com/hold"}]"#);
    delete(cluster, &pv, "");
    refuses(
        &case,
        &volume,
        "example.com/hold also holds it",
        "kubectl finalizers explain",
    );
    let uid = case.ns.get(["pvc", "data"]).unwrap()["metadata"]["uid"].clone();
    let owner = json!([{"op": "add", "path": "/metadata/ownerReferences", "value": [
        {"apiVersion": "v1", "kind": "Node", "name": "node-a", "uid": uid}]}]);
    patch(&owner.to_string());
    refuses(
        &case,
        &volume,
        "its owner, Node node-a, may delete it again",
        &keep,
    );

    // The claim goes: the volume is Released, and held by the finalizer of this test only.
    delete(cluster, "pvc/data", case.ns.name());
    goes(cluster, "pvc/data", case.ns.name());
    wait("the volume is Released", SOON, || {
        cluster.get(["pv", &volume]).unwrap()["status"]["phase"] == "Released"
    });
    refuses(&case, &volume, "its claim is gone", &keep);
    patch(r#"[{"op": "remove", "path": "/metadata/finalizers"}]"#);
}

/// A policy refuses new volumes with this label. The volume has it only now.
#[test]
fn a_policy_that_refuses_the_new_volume_is_known_before() {
    let cluster = Cluster::shared();
    let disk = Disk::made(cluster, "forbidden-again");
    let label = "forbidden-again.example.test/no";
    cluster.apply(&format!(
        "{{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {{name: forbidden-again}}, \
         spec: {{failurePolicy: Fail, matchConstraints: {{resourceRules: [{{apiGroups: [''], apiVersions: [v1], operations: \
         [CREATE], resources: [persistentvolumes]}}], objectSelector: {{matchExpressions: [{{key: {label}, operator: \
         Exists}}]}}}}, validations: [{{expression: 'false', message: 'no new volumes'}}]}}}}
---
{{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {{name: forbidden-again}}, \
         spec: {{policyName: forbidden-again, validationActions: [Deny]}}}}"
    ));
    let manifest =
        json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": cluster.unique("probe"),
        "labels": {label: "x"}}, "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
        "hostPath": {"path": "/x"}}})
        .to_string();
    wait("the policy is in force", SOON, || {
        let probe = cluster.directory().join("probe.json");
        std::fs::write(&probe, &manifest).unwrap();
        let file = format!("--filename={}", probe.display());
        cluster.kubectl(["create", &file, "--dry-run=server"]).code != 0
    });
    cluster
        .kubectl(["label", &disk.pv(), &format!("{label}=x")])
        .success();
    delete(cluster, &disk.pv(), "");
    refuses(
        &disk.case,
        &disk.volume,
        "no new volumes",
        "validatingadmissionpolicies",
    );
    assert_eq!(disk.policy(), "Delete");
}

#[test]
fn each_right_is_asked_for_before() {
    let cluster = Cluster::shared();
    let mut disk = Disk::made(cluster, "unrightful-again");
    delete(cluster, &disk.pv(), "");
    let pv = disk.pv();
    for (name, verbs, told) in [
        (
            "no-patch",
            "get,list,create",
            "you may not patch persistentvolumes",
        ),
        (
            "no-create",
            "get,list,patch",
            "you may not create persistentvolumes",
        ),
    ] {
        let user = cluster
            .user(name)
            .may(verbs, "persistentvolumes")
            .may("get,list", "persistentvolumeclaims")
            .create();
        user.name().clone_into(&mut disk.case.user);
        disk.case.is_master = false;
        refused(&disk.case, disk.case.run(&["rescue", &pv]), told);
    }
    let user = cluster
        .user("no-claims")
        .may("get,list,create,patch", "persistentvolumes")
        .create();
    user.name().clone_into(&mut disk.case.user);
    refused(
        &disk.case,
        disk.case.run(&["rescue", &pv]),
        "its claim could not be read",
    );
    assert_eq!(disk.policy(), "Delete");
}
