//! Tests the silence of a controller as a sign, on a type that many controllers change, so that rights are no sign.

use serde_json::{Value, json};

use super::*;
use crate::{
    diagnose::testing::fixtures::bound,
    snapshot::{
        Why,
        facts::{Query, Resource},
    },
};

const HANDLER: &str = "wrangler.cattle.io/thing";

fn written(manager: &str, time: &str) -> Value {
    json!([{"manager": manager, "operation": "Update", "time": time, "fieldsV1": {"f:metadata": {}}}])
}

/// A ConfigMap that has waited for its handler of Rancher for three hours.
fn waiting(name: &str, fields: Value) -> Object {
    let mut waiting = object(
        "",
        "configmaps",
        "ConfigMap",
        json!({"metadata": {"name": name, "namespace": "n", "finalizers": [HANDLER],
            "deletionTimestamp": "2026-01-01T09:00:00Z", "deletionGracePeriodSeconds": 0}}),
    );
    waiting.value["metadata"]["managedFields"] = fields;
    waiting
}

/// The target, which Rancher wrote to four hours ago.
fn target() -> Object {
    waiting("a", written("rancher", "2026-01-01T08:00:00Z"))
}

fn sibling() -> Object {
    waiting("b", written("rancher", "2026-01-01T07:00:00Z"))
}

fn verdict_beside(others: impl IntoIterator<Item = Object>) -> Verdict {
    let target = target();
    verdict(&World::of(others).with(target.clone()).explain(&target))
}

#[test]
fn a_controller_that_wrote_nothing_for_hours_while_several_objects_wait_is_a_second_sign() {
    let target = target();
    let diagnosis = World::of([target.clone(), sibling()]).explain(&target);
    assert_eq!(verdict(&diagnosis), Verdict::Orphaned, "{diagnosis:#?}");
    let said = "rancher wrote to configmaps last 4h ago, and 2 of them wait for wrangler.cattle.io/thing";
    assert!(
        diagnosis.evidence.iter().any(|one| one.value == said),
        "{:#?}",
        diagnosis.evidence
    );
    // The kubelet and the tools of people are not the controller.
    for manager in ["kubelet", "kubectl-annotate", "helm"] {
        let other = waiting("c", written(manager, "2026-01-01T11:59:00Z"));
        assert_eq!(verdict_beside([sibling(), other]), Verdict::Orphaned, "{manager}");
    }
}

#[test]
fn one_object_that_waits_is_no_silence() {
    assert_eq!(verdict_beside([]), Verdict::Unknown);
    let mut recent = sibling();
    recent.value["metadata"]["deletionTimestamp"] = "2026-01-01T11:30:00Z".into();
    assert_eq!(verdict_beside([recent]), Verdict::Unknown);
    let mut another = sibling();
    another.value["metadata"]["finalizers"] = json!(["wrangler.cattle.io/other"]);
    assert_eq!(verdict_beside([another]), Verdict::Unknown);
}

#[test]
fn a_recent_write_to_any_object_of_the_type_ends_the_silence() {
    let recent = |name: &str, manager: &str| waiting(name, written(manager, "2026-01-01T11:50:00Z"));
    assert_eq!(
        verdict_beside([sibling(), recent("c", "rancher")]),
        Verdict::Unknown
    );
    let mut living = recent("c", "rancher");
    living.value["metadata"] = json!({"name": "c", "namespace": "n", "uid": "c",
        "managedFields": written("rancher", "2026-01-01T11:50:00Z")});
    assert_eq!(verdict_beside([sibling(), living.clone()]), Verdict::Unknown);
    // A program under another name counts only where the finalizer is.
    assert_eq!(
        verdict_beside([sibling(), recent("c", "helper")]),
        Verdict::Unknown
    );
    living.value["metadata"]["managedFields"] = written("helper", "2026-01-01T11:50:00Z");
    assert_eq!(verdict_beside([sibling(), living]), Verdict::Orphaned);
    // A clock that is ahead proves nothing.
    let ahead = waiting("c", written("rancher", "2030-01-01T00:00:00Z"));
    assert_eq!(verdict_beside([sibling(), ahead]), Verdict::Unknown);
}

#[test]
fn a_name_that_others_share_is_nobodys_silence() {
    for manager in ["kubectl", "helm", "agent", "manager"] {
        let target = waiting("a", written(manager, "2026-01-01T08:00:00Z"));
        let other = waiting("b", written(manager, "2026-01-01T07:00:00Z"));
        let diagnosis = World::of([target.clone(), other]).explain(&target);
        assert_eq!(verdict(&diagnosis), Verdict::Unknown, "{manager}");
    }
}

#[test]
fn a_truncated_list_or_an_object_without_managed_fields_shows_no_silence() {
    let unowned = waiting("c", json!([]));
    assert_eq!(verdict_beside([sibling(), unowned]), Verdict::Unknown);
    let target = target();
    let query = Query::List {
        resource: Resource::new("", "configmaps"),
        namespace: None,
    };
    let diagnosis = World::of([target.clone(), sibling()])
        .answer(query, Err(Why::Interrupted))
        .explain(&target);
    assert_eq!(verdict(&diagnosis), Verdict::Unknown, "{diagnosis:#?}");
}

#[test]
fn a_program_that_may_be_it_outweighs_the_silence() {
    let mut rancher = deployment("ops", &json!({}), 1, 1);
    rancher.value["metadata"]["name"] = "rancher-fork".into();
    rancher.value["spec"]["template"]["spec"]["serviceAccountName"] = "rancher-fork".into();
    let mut all = vec![sibling(), rancher];
    all.extend(bound(
        "fork",
        &json!([""]),
        &json!(["configmaps"]),
        &json!({"kind": "ServiceAccount", "namespace": "ops", "name": "rancher-fork"}),
    ));
    assert_eq!(verdict_beside(all), Verdict::Unknown);
}
