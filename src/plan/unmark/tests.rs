//! Plans to write an object without its deletion, and what is refused.

use serde_json::{Value, json};

use super::{unmark, unmarked};
use crate::{
    knowledge::Knowledge,
    plan::{Entry, Plan, Refusal, digest},
    snapshot::facts::{Object, Resource},
};

fn object(group: &str, plural: &str, kind: &str, more: &Value) -> Object {
    let mut value = json!({"metadata": {"name": "one", "namespace": "shop", "uid": "u1", "resourceVersion": "7",
        "deletionTimestamp": "2026-11-23T07:00:00Z", "deletionGracePeriodSeconds": 0, "finalizers": ["x.test/hold"]}});
    for (key, more) in more.as_object().into_iter().flatten() {
        value[key] = more.clone();
    }
    Object {
        resource: Resource::new(group, plural),
        kind: kind.into(),
        api_version: "v1".into(),
        value,
    }
}

fn config() -> Object {
    object("", "configmaps", "ConfigMap", &json!({"data": {"k": "v"}}))
}

/// What etcd has for an object that the API server shows as JSON.
fn entry(object: &Object) -> Entry {
    let mut value = object.value.clone();
    value["kind"] = object.kind.clone().into();
    if let Some(metadata) = value["metadata"].as_object_mut() {
        metadata.remove("resourceVersion");
    }
    Entry {
        key: "/registry/configmaps/shop/one".into(),
        mod_revision: 7,
        value: value.to_string().into_bytes(),
    }
}

fn planned(object: &Object) -> Plan {
    unmark(object, entry(object), &Knowledge::builtin()).expect("a plan")
}

fn refused(object: &Object, entry: Entry) -> Refusal {
    unmark(object, entry, &Knowledge::builtin()).expect_err("no plan")
}

#[test]
fn the_plan_is_for_these_bytes_at_this_revision() {
    let object = config();
    let plan = planned(&object);
    let change = plan.stored.as_deref().expect("a change");
    assert_eq!(
        change.cuts,
        [
            "metadata.deletionTimestamp: 2026-11-23T07:00:00Z",
            "metadata.deletionGracePeriodSeconds: 0"
        ]
    );
    assert!(change.after.len() < change.before.value.len());
    assert_eq!(plan.request.body["compare"]["modRevision"], 7);
    assert_eq!(
        plan.request.body["put"]["bytes"],
        json!(change.after.len()),
        "{}",
        plan.request.body
    );

    // One byte more, and another plan is confirmed.
    let mut other = entry(&object);
    other.value.push(b'\n');
    let other = unmark(&object, other, &Knowledge::builtin()).expect("a plan");
    assert_ne!(digest(&[plan], "here"), digest(&[other], "here"));
}

#[test]
fn another_object_or_another_etcd_is_refused() {
    let object = config();
    let changed = |pointer: &str, value: &str| {
        let mut other = config();
        if pointer == "/kind" {
            other.kind = value.into();
        } else {
            *other.value.pointer_mut(pointer).expect("a field") = value.into();
        }
        entry(&other)
    };
    for (pointer, value) in [
        ("/kind", "Pod"),
        ("/metadata/uid", "u2"),
        ("/metadata/name", "two"),
        ("/metadata/namespace", "other"),
    ] {
        let refusal = refused(&object, changed(pointer, value));
        assert!(refusal.why.contains("holds another object"), "{refusal:?}");
    }
    let older = Entry {
        mod_revision: 6,
        ..entry(&object)
    };
    assert!(refused(&object, older).why.contains("different versions"));
    let mut alive = config();
    alive.value["metadata"]
        .as_object_mut()
        .expect("metadata")
        .retain(|field, _| !field.starts_with("deletion"));
    assert!(refused(&object, entry(&alive)).why.contains("has no deletion"));
    assert!(
        refused(&alive, entry(&alive))
            .why
            .contains("is not being deleted")
    );
}

#[test]
fn refuses_more_than_one_object() {
    for (group, plural, kind) in [
        ("", "secrets", "Secret"),
        ("", "namespaces", "Namespace"),
        (
            "apiextensions.k8s.io",
            "customresourcedefinitions",
            "CustomResourceDefinition",
        ),
    ] {
        let object = object(group, plural, kind, &json!({}));
        let refusal = refused(&object, entry(&object));
        assert!(refusal.needs.starts_with("it is no "), "{refusal:?}");
    }
}

#[test]
fn the_plan_says_first_what_does_not_come_back() {
    let bound = json!({"status": {"phase": "Bound"}, "spec": {"volumeName": "pv-1"}});
    let released = json!({"status": {"phase": "Released"}});
    for (plural, kind, more, said) in [
        ("persistentvolumes", "PersistentVolume", &bound, "is kept"),
        (
            "persistentvolumes",
            "PersistentVolume",
            &released,
            "may already be gone",
        ),
        (
            "persistentvolumeclaims",
            "PersistentVolumeClaim",
            &bound,
            "volume pv-1 and the data are kept",
        ),
        ("pods", "Pod", &json!({}), "does not start them again"),
        ("services", "Service", &json!({}), "DESTROYED"),
    ] {
        let plan = planned(&object("", plural, kind, more));
        let change = plan.stored.expect("a change");
        assert!(change.now[0].contains(said), "{:?}", change.now);
        let restart = "until kube-controller-manager restarts";
        assert!(
            change.then.iter().any(|one| one.contains(restart)),
            "{:?}",
            change.then
        );
    }
}

#[test]
fn names_the_fields_that_differ_afterwards() {
    let before = config();
    let mut after = config();
    assert_eq!(unmarked(&before, &after), None, "it is still being deleted");
    if let Some(metadata) = after.value["metadata"].as_object_mut() {
        metadata.retain(|field, _| !field.starts_with("deletion"));
        metadata.insert("resourceVersion".into(), "8".into());
    }
    assert_eq!(unmarked(&before, &after), Some(Vec::new()));
    after.value["data"]["k"] = "w".into();
    assert_eq!(
        unmarked(&before, &after),
        Some(vec![r#"/data/k was "v" and is "w""#.into()])
    );
    after.value["metadata"]["uid"] = "u2".into();
    assert_eq!(unmarked(&before, &after), None, "another object");
}

#[test]
fn warns_if_the_disk_is_still_deleted_with_its_claim() {
    let goes = |policy: &str| {
        let spec = json!({"spec": {"persistentVolumeReclaimPolicy": policy}, "status": {"phase": "Bound"}});
        let plan = planned(&object("", "persistentvolumes", "PersistentVolume", &spec));
        let then = plan.stored.expect("a change").then;
        then.iter()
            .any(|one| one.contains("when its claim goes, so does the disk"))
    };
    assert!(goes("Delete"));
    assert!(!goes("Retain"));
}
