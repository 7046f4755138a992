use serde_json::json;

use super::*;
use crate::diagnose::testing::world::bare as object;

fn kept(group: &str, value: Value) -> Option<bool> {
    is_kept(&object(group, "things", "Thing", value), &Knowledge::builtin()).map(|(kept, _)| kept)
}

#[test]
fn finds_the_addresses_of_a_load_balancer() {
    let service = |status: Value| {
        object(
            "",
            "services",
            "Service",
            json!({"metadata": {}, "status": status}),
        )
    };
    let status = json!({"loadBalancer": {"ingress": [{"ip": "203.0.113.7", "hostname": "lb.test"}, {"ip": "203.0.113.8"}, {}]}});
    assert_eq!(addresses(&service(status)), ["lb.test", "203.0.113.8"]);
    assert!(
        addresses(&service(
            json!({"loadBalancer": {}, "addresses": [{"value": "10.0.0.1"}]})
        ))
        .is_empty()
    );
}

#[test]
fn reads_the_setting_that_keeps_an_external_resource() {
    let managed = |mut spec: Value| {
        spec["forProvider"] = json!({});
        kept("s3.aws.upbound.io", json!({"metadata": {}, "spec": spec}))
    };
    assert_eq!(managed(json!({"deletionPolicy": "Orphan"})), Some(true));
    assert_eq!(
        managed(json!({"deletionPolicy": "Delete", "managementPolicies": ["*"]})),
        Some(false)
    );
    assert_eq!(
        managed(json!({"deletionPolicy": "Delete", "managementPolicies": ["Observe"]})),
        Some(true)
    );
    assert_eq!(
        managed(json!({"deletionPolicy": "Orphan", "managementPolicies": ["Observe", "Delete"]})),
        Some(false)
    );
    assert_eq!(managed(json!({})), None);
    let field = |group: &str, kind: &str, spec: Value| {
        is_kept(
            &object(group, "things", kind, json!({"metadata": {}, "spec": spec})),
            &Knowledge::builtin(),
        )
        .map(|(kept, _)| kept)
    };
    let hive = |spec: Value| field("hive.openshift.io", "ClusterDeployment", spec);
    assert_eq!(hive(json!({})), Some(false));
    assert_eq!(hive(json!({"preserveOnDelete": true})), Some(true));
    // A field that nobody read is not one that is not set.
    let listed = object(
        "hive.openshift.io",
        "things",
        "ClusterDeployment",
        json!({"metadata": {}}),
    );
    assert_eq!(is_kept(&listed, &Knowledge::builtin()), None);
    let terraform = |spec: Value| field("infra.contrib.fluxcd.io", "Terraform", spec);
    assert_eq!(terraform(json!({})), Some(true));
    assert_eq!(
        terraform(json!({"destroyResourcesOnDeletion": true})),
        Some(false)
    );
    let work = |spec: Value| field("work.open-cluster-management.io", "ManifestWork", spec);
    assert_eq!(
        work(json!({"deleteOption": {"propagationPolicy": "Orphan"}})),
        Some(true)
    );
    assert_eq!(
        work(json!({"deleteOption": {"propagationPolicy": "Foreground"}})),
        Some(false)
    );
    let annotated = |group: &str, name: &str, value: &str| {
        kept(
            group,
            json!({"metadata": {"annotations": {name: value}}, "spec": {}}),
        )
    };
    let ack = "services.k8s.aws/deletion-policy";
    assert_eq!(annotated("s3.services.k8s.aws", ack, "retain"), Some(true));
    assert_eq!(annotated("s3.services.k8s.aws", ack, "delete"), Some(false));
    assert_eq!(annotated("s3.services.k8s.aws", "other", "retain"), None);
    assert_eq!(annotated("example.test", ack, "retain"), None);
    assert_eq!(
        annotated(
            "sql.cnrm.cloud.google.com",
            "cnrm.cloud.google.com/deletion-policy",
            "abandon"
        ),
        Some(true)
    );
}
