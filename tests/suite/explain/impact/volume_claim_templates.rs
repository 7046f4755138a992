//! StatefulSets and the claims of their volumeClaimTemplates, with the real provisioner.

use serde_json::json;

use super::WORLD;
use crate::{
    explain::{
        less_is_weaker::withstands_less,
        told::{SOON, goes, release, told},
    },
    harness::{Namespace, wait},
};

const DRIVER: &str = "sets.example.test";

/// A StatefulSet with one claim for each replica.
pub fn set(ns: &Namespace, class: &str, name: &str, replicas: u32, when_deleted: &str) {
    let labels = json!({"app": name});
    ns.apply(
        &json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": name}, "spec": {
            "replicas": replicas, "podManagementPolicy": "Parallel", "serviceName": name,
            "persistentVolumeClaimRetentionPolicy": {"whenDeleted": when_deleted, "whenScaled": "Retain"},
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
            "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {"storageClassName": class,
                "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Mi"}}}}]}})
        .to_string(),
    );
}

fn claim(ns: &Namespace, name: &str) {
    ns.apply(&format!(
        "{{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {{name: {name}}}, spec: {{storageClassName: {DRIVER}, \
         accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Mi}}}}}}}}"
    ));
}

/// Waits until the claims are bound, with or without an owner.
fn bound(ns: &Namespace, names: &[&str], owned: bool) -> Vec<String> {
    let volume = |name: &&str| {
        let mut volume = String::new();
        wait(&format!("{name} is bound, and owned: {owned}"), SOON, || {
            let claim = ns.get(["pvc", name]).unwrap_or_default();
            claim["spec"]["volumeName"]
                .as_str()
                .unwrap_or_default()
                .clone_into(&mut volume);
            claim["status"]["phase"] == "Bound" && claim["metadata"]["ownerReferences"].is_array() == owned
        });
        volume
    };
    names.iter().map(volume).collect()
}

#[test]
fn the_claims_of_a_stateful_set_follow_its_retention_policy() {
    let cluster = &*WORLD;
    let ns = cluster.namespace("sets");
    let driver = cluster.csi_driver(DRIVER).start();
    set(&ns, DRIVER, "db", 2, "Delete");
    set(&ns, DRIVER, "web", 1, "Retain");
    // Other objects: a StatefulSet whose name begins the same, and claims with similar names.
    set(&ns, DRIVER, "db-0", 1, "Delete");
    for name in ["data-dbx-0", "data-db-first", "data-db"] {
        claim(&ns, name);
    }
    let volumes = bound(&ns, &["data-db-0", "data-db-1"], true);
    let others = bound(&ns, &["data-db-0-0"], true);
    bound(&ns, &["data-web-0"], false);

    let target = "sts/db";
    let story = told(cluster, target, ns.name());
    story
        .fates(
            "released",
            "claims of its volumeClaimTemplates: 2; they have it as their owner and are deleted with it",
        )
        .fates("released", "data-db-0 data-db-1")
        .fates(
            "destroyed",
            "disks behind its claims: 2, of 2Mi in all; their reclaim policy is Delete",
        )
        .never_says("data-db-0-0")
        .never_says("data-dbx-0")
        .never_says("data-db-first")
        .never_says("data-web-0")
        .never_says(&others[0])
        .is_careful();
    assert!(
        story.effects_with("kept").is_empty() && story.effects_with("harmless").is_empty(),
        "{story}"
    );
    for volume in &volumes {
        story.says(volume);
    }
    withstands_less(cluster, target, ns.name(), 25);

    // The claims of the other StatefulSet stay and cost money.
    let web = told(cluster, "sts/web", ns.name());
    web.fates(
        "kept",
        "claims of its volumeClaimTemplates: 1, of 1Mi in all; they stay with their data, and cost what they cost",
    )
    .fates("harmless", "nothing else is lost")
    .never_advises("delete");
    assert!(web.effects_with("destroyed").is_empty(), "{web}");
    withstands_less(cluster, "sts/web", ns.name(), 25);

    // After the advised step the claims outlive the StatefulSet.
    story.follow(cluster, r#""whenDeleted":"Retain""#);
    bound(&ns, &["data-db-0", "data-db-1"], false);
    let kept = told(cluster, target, ns.name());
    kept.fates("kept", "claims of its volumeClaimTemplates: 2, of 2Mi in all");
    assert!(kept.effects_with("destroyed").is_empty(), "{kept}");
    story.follow(cluster, "delete statefulsets.apps/db");
    goes(cluster, target, ns.name());
    for name in ["data-db-0", "data-db-1"] {
        assert!(
            ns.get(["pvc", name]).unwrap()["metadata"]["deletionTimestamp"].is_null(),
            "{name}"
        );
    }

    // Without that step they are deleted, and so is the disk.
    let story = told(cluster, "sts/db-0", ns.name());
    story.fates("destroyed", &others[0]);
    story.follow(cluster, "delete statefulsets.apps/db-0");
    goes(cluster, "pvc/data-db-0-0", ns.name());
    goes(cluster, &format!("pv/{}", others[0]), "");
    assert!(
        driver.calls().contains(&format!("DeleteVolume {}", others[0])),
        "{:?}",
        driver.calls()
    );
}

/// The owner reference of a claim decides; the policy only says what the controller will set.
#[test]
fn a_claim_without_its_owner_reference_stays_despite_the_policy() {
    let cluster = &*WORLD;
    let ns = cluster.namespace("unowned");
    set(&ns, DRIVER, "queue", 0, "Delete");
    claim(&ns, "data-queue-3");
    let story = told(cluster, "sts/queue", ns.name());
    story
        .fates("unknown", "whether these claims go with it is not known: 1")
        .fates("unknown", "data-queue-3");
    assert!(
        story.effects_with("destroyed").is_empty() && story.effects_with("harmless").is_empty(),
        "{story}"
    );
    cluster
        .kubectl(["delete", "statefulset", "queue", "--namespace", ns.name()])
        .success();
    goes(cluster, "sts/queue", ns.name());
    assert!(ns.get(["pvc", "data-queue-3"]).is_some());
    release(cluster, "pvc/data-queue-3", ns.name());
}
