use serde_json::json;

use super::*;
use crate::{
    diagnose::{
        Diagnosis,
        testing::{
            told::{commands, said, verdict},
            world::{World, bare as object},
        },
    },
    snapshot::{
        What,
        facts::{Answer, Owned, Query},
    },
};

const NAME: &str = "foregroundDeletion";

fn owner(deleted: &str) -> Object {
    object(
        "",
        "configmaps",
        "ConfigMap",
        json!({"metadata": {"name": "owner", "namespace": "ns", "uid": "u1", "finalizers": [NAME],
            "deletionTimestamp": deleted}}),
    )
}

fn owned(name: &str, blocks: bool, deleted: bool) -> Object {
    let mut metadata = json!({"name": name, "namespace": "ns", "uid": format!("uid-{name}"), "finalizers": ["x.test/hold"],
        "ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": "u1",
            "blockOwnerDeletion": blocks}]});
    if deleted {
        metadata["deletionTimestamp"] = "2026-01-01T11:00:00Z".into();
    }
    object("x.test", "things", "Thing", json!({ "metadata": metadata }))
}

fn world(all: &[Object], gaps: &[Gap]) -> World {
    let found = |objects: &[Object]| {
        Ok(Answer::Owned(Owned {
            objects: objects.iter().map(Object::as_owned).collect(),
            gaps: gaps.to_vec(),
        }))
    };
    let mut world = World::closed()
        .with_type("x.test", "things")
        .object(
            "coordination.k8s.io",
            "leases",
            "kube-system",
            "kube-controller-manager",
            None,
        )
        .answer(Query::Owned(Where::Namespace("ns".into())), found(all))
        .answer(Query::Owned(Where::Owner("u1".into())), found(all));
    for object in all {
        world = world.object("x.test", "things", "ns", object.name(), Some(object.clone()));
    }
    world
}

fn explain_with(all: &[Object], gaps: &[Gap]) -> Diagnosis {
    world(all, gaps).explain(&owner("2026-01-01T11:00:00Z"))
}

fn unlisted(why: Why) -> Gap {
    Gap {
        what: What::TypeIn {
            name: "others.x.test".into(),
            namespace: "ns".into(),
            read: 0,
        },
        why,
    }
}

#[test]
fn names_exactly_the_dependents_that_block() {
    let diagnosis = explain_with(&[owned("a", true, true), owned("b", false, true)], &[]);
    assert_eq!(verdict(&diagnosis, NAME), Some(Verdict::Waiting));
    let names: Vec<_> = diagnosis.waits[0].on.iter().flat_map(|on| &on.object).collect();
    assert_eq!(names.len(), 1, "{names:?}");
    assert_eq!(names[0].name, "a");
    assert!(said(&diagnosis).contains("being deleted, held by x.test/hold"));
    assert!(commands(&diagnosis).contains("kubectl finalizers explain things.x.test/a -n ns"));
    assert!(!commands(&diagnosis).contains("delete"));
}

#[test]
fn a_held_dependent_that_names_its_owner_may_wait_for_it() {
    let naming = |deleted: bool| {
        let mut dependent = owned("a", true, deleted);
        dependent.value["spec"] = json!({"configMapRef": {"name": "owner"}});
        said(&explain_with(&[dependent], &[]))
    };
    let words = "Thing a names it in spec.configMapRef";
    assert!(naming(true).contains(words), "{}", naming(true));
    assert!(!naming(false).contains(words), "it is not being deleted");
    let silent = said(&explain_with(&[owned("a", true, true)], &[]));
    assert!(!silent.contains("each waits for the other"), "{silent}");
}

#[test]
fn advises_a_second_deletion_if_no_dependent_is_left() {
    let diagnosis = explain_with(&[owned("b", false, true)], &[]);
    assert_eq!(verdict(&diagnosis, NAME), Some(Verdict::Stalled));
    assert!(commands(&diagnosis).contains("delete configmaps/owner -n ns --cascade=background"));
    let soon = world(&[], &[]).explain(&owner("2026-01-01T11:59:50Z"));
    assert_eq!(verdict(&soon, NAME), Some(Verdict::Waiting));
    assert!(!commands(&soon).contains("--cascade"));
}

#[test]
fn no_dependents_among_partly_listed_types_prove_nothing() {
    let diagnosis = explain_with(&[], &[unlisted(Why::Forbidden("no".into()))]);
    assert_eq!(verdict(&diagnosis, NAME), Some(Verdict::Unknown));
    assert!(said(&diagnosis).contains("which are left is not known"));
    assert!(!commands(&diagnosis).contains("--cascade"));
}

#[test]
fn unconvertible_dependents_are_a_failure() {
    let words = "conversion webhook for x.test/v1, Kind=Other failed: no";
    let diagnosis = explain_with(&[], &[unlisted(Why::ServerError(words.into()))]);
    assert_eq!(verdict(&diagnosis, NAME), Some(Verdict::Failing));
}

#[test]
fn a_garbage_collector_that_deletes_no_dependent_is_stalled() {
    let diagnosis = explain_with(&[owned("a", true, false)], &[]);
    assert_eq!(verdict(&diagnosis, NAME), Some(Verdict::Stalled));
    assert!(said(&diagnosis).contains("none of its dependents is being deleted"));
    assert!(!commands(&diagnosis).contains("--cascade"));
    // Nothing else can keep it from asking this one.
    let partly = explain_with(
        &[owned("a", true, false)],
        &[unlisted(Why::Forbidden("no".into()))],
    );
    assert_eq!(verdict(&partly, NAME), Some(Verdict::Stalled));
}

#[test]
fn a_conversion_webhook_without_its_service_may_be_what_stops_the_garbage_collector() {
    let definition = |plural: &str, stored: &[&str]| {
        object(
            "apiextensions.k8s.io",
            "customresourcedefinitions",
            "CustomResourceDefinition",
            json!({"metadata": {"name": format!("{plural}.y.test")},
                "spec": {"group": "y.test", "names": {"plural": plural}, "conversion": {"strategy": "Webhook",
                    "webhook": {"clientConfig": {"service": {"namespace": "sys", "name": "converter"}}}}},
                "status": {"storedVersions": stored}}),
        )
    };
    let gaps = [unlisted(Why::Forbidden("no".into()))];
    let definitions = vec![definition("tokens", &["v1", "v2"]), definition("idle", &[])];
    let world = world(&[owned("a", true, false)], &gaps)
        .list(
            "apiextensions.k8s.io",
            "customresourcedefinitions",
            "",
            definitions,
        )
        .object("", "services", "sys", "converter", None)
        .object("", "namespaces", "", "sys", None);
    let diagnosis = world.explain(&owner("2026-01-01T11:00:00Z"));
    assert_eq!(verdict(&diagnosis, NAME), Some(Verdict::Stalled));
    let told = said(&diagnosis);
    assert!(told.contains("tokens.y.test"), "{told}");
    assert!(!told.contains("idle.y.test"), "{told}");
}

#[test]
fn a_dependent_that_was_made_after_the_deletion_is_recreated_by_some_controller() {
    let made = |created: &str| {
        let mut dependent = owned("again", true, false);
        dependent.value["metadata"]["creationTimestamp"] = created.into();
        explain_with(&[dependent], &[])
    };
    let after = made("2026-01-01T11:59:30Z");
    assert_eq!(verdict(&after, NAME), Some(Verdict::Waiting));
    let text = said(&after);
    assert!(
        text.contains("so some controller creates or recreates it"),
        "{text}"
    );
    assert!(
        commands(&after).contains("--show-managed-fields"),
        "{}",
        commands(&after)
    );
    // The garbage collector is late for one that is not new.
    for created in ["2026-01-01T11:30:00Z", "2026-01-01T10:30:00Z"] {
        let old = made(created);
        assert_eq!(verdict(&old, NAME), Some(Verdict::Stalled));
        assert!(!said(&old).contains("recreates"));
    }
}

#[test]
fn the_maker_of_a_dependent_is_named_by_its_events() {
    let mut again = owned("again", true, false);
    again.value["metadata"]["creationTimestamp"] = "2026-01-01T11:59:30Z".into();
    let told = |reason: &str, time: &str| {
        let value = json!({"metadata": {"name": "e", "namespace": "ns"}, "type": "Normal", "reason": reason, "count": 104,
            "message": "made it", "lastTimestamp": time, "source": {"component": "graph-operator"},
            "involvedObject": {"name": "owner", "uid": "u1"}});
        let events = Query::Events {
            kind: "ConfigMap".into(),
            namespace: Some("ns".into()),
            name: "owner".into(),
        };
        let event = object("", "events", "Event", value);
        let world = world(&[again.clone()], &[]).answer(events, Ok(Answer::List(vec![event])));
        said(&world.explain(&owner("2026-01-01T11:00:00Z")))
    };
    let text = told("CreateThing", "2026-01-01T11:59:30Z");
    assert!(
        text.contains("graph-operator reported CreateThing 104 times, the last time 30s ago"),
        "{text}"
    );
    for (reason, time) in [
        ("Synced", "2026-01-01T11:59:30Z"),
        ("CreateThing", "2026-01-01T10:59:30Z"),
    ] {
        let text = told(reason, time);
        assert!(!text.contains("graph-operator"), "{text}");
    }
}

#[test]
fn what_is_made_again_and_again_ends_with_a_second_deletion() {
    let again = |name: &str, writers: &[&str]| {
        let mut dependent = owned(name, true, false);
        dependent.value["metadata"]["creationTimestamp"] = "2026-01-01T11:59:30Z".into();
        let fields = |writer: &&str| json!({"manager": writer, "time": "2026-01-01T11:59:30Z"});
        dependent.value["metadata"]["managedFields"] = writers.iter().map(fields).collect();
        dependent
    };
    let twice = explain_with(&[again("again", &["issuer"]), again("more", &["issuer"])], &[]);
    let text = said(&twice);
    assert!(
        text.contains("Its maker writes as field manager \"issuer\""),
        "{text}"
    );
    assert!(text.contains("this does not end by itself"), "{text}");
    assert!(commands(&twice).contains("delete configmaps/owner -n ns --cascade=background"));
    assert!(!commands(&twice).contains("--show-managed-fields"));
    assert!(twice.do_not.is_empty(), "{:?}", twice.do_not);

    // A controller that cleans up may make one object for it.
    let once = explain_with(&[again("again", &["issuer"])], &[]);
    assert!(!said(&once).contains("does not end"), "{}", said(&once));
    assert!(!commands(&once).contains("--cascade"));
    assert!(!once.do_not.is_empty());

    // Two that wrote at once: which of them made it is not known.
    let by_two = explain_with(&[again("again", &["issuer", "injector"])], &[]);
    assert!(!said(&by_two).contains("field manager"), "{}", said(&by_two));
}
