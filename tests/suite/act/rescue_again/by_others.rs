//! Who would delete a volume or a claim again is named: before anything is sent, and at the end.

use serde_json::json;

use super::{Case, Cluster, csi_disk, outcome, says, static_volume_of};
use crate::explain::told::delete;

/// A claim as the StatefulSet `db` names it, and the set itself, which runs no Pod.
fn claim_of_set(case: &Case<'_>) -> String {
    let pods = json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "example.com/c"}]}});
    let template = json!({"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Mi"}}}});
    case.ns.apply(
        &json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db"}, "spec": {"replicas": 0,
            "serviceName": "db", "selector": {"matchLabels": {"a": "b"}}, "template": pods,
            "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Delete"},
            "volumeClaimTemplates": [template]}})
        .to_string(),
    );
    static_volume_of("data-db-0", case, &json!({}), &csi_disk())
}

#[test]
fn whoever_would_delete_it_again_is_named_before_and_after() {
    let cluster = Cluster::shared();
    let case = Case::empty(cluster, "deleted-again");
    let pv = format!("pv/{}", claim_of_set(&case));
    cluster
        .kubectl(["annotate", &pv, "argocd.argoproj.io/tracking-id=x"])
        .success();
    cluster
        .kubectl(["label", &pv, "managed=yes", "--field-manager=Terraform"])
        .success();
    case.ns
        .kubectl(["label", "pvc/data-db-0", "kustomize.toolkit.fluxcd.io/name=shop"])
        .success();
    let named = [
        "The volume may be deleted again by Argo CD: stop that first.",
        "The volume may be deleted again by Terraform: stop that first.",
        "The claim may be deleted again by Flux: stop that first.",
        "The claim may be deleted again by StatefulSet db when it is scaled down: set its \
         persistentVolumeClaimRetentionPolicy.whenScaled to Retain first.",
    ];
    delete(cluster, &pv, "");
    let plan = case.run(&["rescue", &pv, "--plan"]).run();
    assert_eq!(plan.code, 0, "{plan}");
    let outcome = outcome(&case, &["rescue", &pv]);
    assert_eq!(outcome["result"], "rescued", "{outcome:#}");
    let at_the_end = outcome["says"].as_str().expect("a text");
    for text in named {
        says(&plan, text);
        assert!(at_the_end.contains(text), "{at_the_end}");
    }
    assert!(!at_the_end.contains("whenDeleted"), "{at_the_end}");
}
