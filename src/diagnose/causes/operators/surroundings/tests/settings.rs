//! Settings that a complaint names.

use serde_json::json;

use super::{explained, store};
use crate::diagnose::testing::told::{command_lines, said};

const FINALIZER: &str = "lab.test/wait";

#[test]
fn a_setting_that_a_complaint_names_is_told_with_its_value() {
    let told = |key: &str, value: bool, status: &str, message: &str| {
        let mut target = store(FINALIZER, &json!({"forProvider": {key: value}}));
        target.value["status"] = json!({"conditions": [{"type": "Synced", "status": status, "reason": "Destroy",
            "message": message, "lastTransitionTime": "2026-01-01T11:00:00Z"}]});
        explained(&target, [])
    };
    let message = "failed to delete the instance because deletion_protection is set to true";
    for message in [message, "cannot be deleted while Deletion Protection is on"] {
        let diagnosis = told("deletionProtection", true, "False", message);
        let words = said(&diagnosis);
        assert!(
            words.contains("Its spec.forProvider.deletionProtection is true"),
            "{words}"
        );
        let commands = command_lines(&diagnosis);
        assert_eq!(
            commands[0],
            "kubectl explain stores.spec.forProvider.deletionProtection --api-version=lab.test/v1",
        );
    }
    for (key, status, message) in [
        (
            "deletionProtection",
            "False",
            "failed to delete the instance: it is protected",
        ),
        ("deletionProtection", "False", "failed: protection of deletion"),
        ("protection", "False", message),
        ("deletionProtection", "True", "deletion_protection is up to date"),
    ] {
        let words = said(&told(key, true, status, message));
        assert!(!words.contains("spec.forProvider"), "{key} {message}: {words}");
    }
}

#[test]
fn what_its_spec_sets_for_its_deletion_is_told_where_nobody_described_the_finalizer() {
    let told = |finalizer: &str, spec| said(&explained(&store(finalizer, &spec), []));
    let words = told(FINALIZER, json!({"deleteResource": false, "size": "1Gi"}));
    assert!(words.contains("Its spec.deleteResource is false"), "{words}");
    let words = told(FINALIZER, json!({"reclaimPolicy": "Retain"}));
    assert!(words.contains("Its spec.reclaimPolicy is Retain"), "{words}");
    for spec in [
        json!({"size": "1Gi"}),
        json!({"template": {"deleteResource": false}}),
        json!({"cleanupAfter": 30}),
    ] {
        let words = told(FINALIZER, spec);
        assert!(!words.contains("Its spec."), "{words}");
    }
    // The catalogue tells what the setting means.
    let words = told("finalizers.fluxcd.io", json!({"deletionPolicy": "Orphan"}));
    assert!(!words.contains("Its spec."), "{words}");
}
