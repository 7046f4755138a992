//! What stands around an object, and what does not count.

use serde_json::{Value, json};

use crate::{
    diagnose::{
        Diagnosis, Verdict,
        testing::{
            fixtures::{controller, going},
            told::{said, verdict, waits_for},
            world::{World, object},
        },
    },
    snapshot::facts::Object,
};

const GROUP: &str = "lab.test";
const FINALIZER: &str = "lab.test/Gadget";

/// A store that an operator of nobody's catalogue holds, two hours after its deletion.
fn store(finalizer: &str, spec: &Value) -> Object {
    let mut metadata = going("s", "ns", &[finalizer]);
    metadata["uid"] = "u".into();
    object(
        GROUP,
        "stores",
        "Store",
        json!({"metadata": metadata, "spec": spec}),
    )
}

/// The diagnosis where its operator runs.
fn explained(store: &Object, others: impl IntoIterator<Item = Object>) -> Diagnosis {
    let mut world = World::of(controller("lab", "lab-operator", &json!({"app": "lab"}), GROUP))
        .serving(GROUP, "stores", "Store")
        .serving(GROUP, "gadgets", "Gadget");
    for other in others {
        world = world.with(other);
    }
    world.explain(store)
}

fn gadget(name: &str, store: &str) -> Object {
    let value = json!({"metadata": {"name": name, "namespace": "ns"}, "spec": {"storeRef": {"name": store}}});
    object(GROUP, "gadgets", "Gadget", value)
}

fn pod(owner: &str, fields: &Value) -> Object {
    let mut value = json!({"metadata": {"name": "p", "namespace": "ns",
        "ownerReferences": [{"kind": "Store", "name": "s", "uid": owner}]}, "spec": {"nodeName": "node-7"}});
    value["status"] = fields["status"].clone();
    if let Some(time) = fields.get("deletionTimestamp") {
        value["metadata"]["deletionTimestamp"] = time.clone();
        value["metadata"]["deletionGracePeriodSeconds"] = 30.into();
    }
    object("", "pods", "Pod", value)
}

#[test]
fn a_finalizer_named_after_a_kind_waits_for_the_objects_of_that_kind() {
    let told = explained(
        &store(FINALIZER, &json!({})),
        [gadget("g", "s"), gadget("h", "other")],
    );
    assert_eq!(verdict(&told, FINALIZER), Some(Verdict::Waiting));
    assert_eq!(
        waits_for(&told),
        [("g".to_owned(), "names it in spec.storeRef".to_owned())]
    );

    // Without any, nothing blocks it.
    let told = explained(&store(FINALIZER, &json!({})), [gadget("h", "other")]);
    assert_eq!(verdict(&told, FINALIZER), Some(Verdict::Stalled));
    assert!(
        said(&told).contains("no Gadget names this object"),
        "{}",
        said(&told)
    );
}

#[test]
fn a_finalizer_named_after_one_object_names_that_object() {
    let finalizer = "lab.test/gadget-g1";
    let told = explained(&store(finalizer, &json!({})), [gadget("g1", "other")]);
    assert!(
        said(&told).contains("named after Gadget g1, which exists"),
        "{}",
        said(&told)
    );
    let told = explained(&store(finalizer, &json!({})), [gadget("g2", "other")]);
    assert!(
        said(&told).contains("named after Gadget g1, which does not exist"),
        "{}",
        said(&told)
    );

    let mut going_away = gadget("g1", "other");
    going_away.value["metadata"] = going("g1", "ns", &["lab.test/wait"]);
    let told = explained(&store(finalizer, &json!({})), [going_away]);
    assert_eq!(verdict(&told, finalizer), Some(Verdict::Waiting));
    assert_eq!(waits_for(&told)[0].0, "g1");
}

#[test]
fn its_pods_that_do_not_end_or_do_not_start_keep_it() {
    let finalizer = "lab.test/wait";
    let ending = json!({"deletionTimestamp": "2026-01-01T11:00:00Z", "status": {"phase": "Running"}});
    let unscheduled = json!({"status": {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False",
        "reason": "Unschedulable", "message": "0/3 nodes are available"}]}});
    for (fields, says) in [
        (
            ending.clone(),
            "was made for it, is being deleted on node-7, and has not ended",
        ),
        (
            unscheduled,
            "was made for it, does not start: Unschedulable: 0/3 nodes are available",
        ),
    ] {
        let told = explained(&store(finalizer, &json!({})), [pod("u", &fields)]);
        assert_eq!(verdict(&told, finalizer), Some(Verdict::Waiting));
        assert_eq!(waits_for(&told), [("p".to_owned(), says.to_owned())]);
    }
    // The Pod of another object, and one that runs as it should.
    let running = json!({"status": {"phase": "Running"}});
    for pod in [pod("other", &ending), pod("u", &running)] {
        let told = explained(&store(finalizer, &json!({})), [pod]);
        assert_eq!(verdict(&told, finalizer), Some(Verdict::Stalled));
        assert!(waits_for(&told).is_empty());
    }
}

#[test]
fn a_living_object_is_named_and_not_blamed() {
    let finalizer = "lab.test/wait";
    let spec = json!({"url": "https://db.shop.svc.cluster.local:443"});
    let service = object(
        "",
        "services",
        "Service",
        json!({"metadata": {"name": "db", "namespace": "shop"}}),
    );
    let told = explained(&store(finalizer, &spec), [service, gadget("g", "s")]);
    assert_eq!(verdict(&told, finalizer), Some(Verdict::Waiting));
    let said = said(&told);
    assert!(
        said.contains("Its spec names svc/db -n shop, which exists"),
        "{said}"
    );
    assert!(
        said.contains("Gadget g still names it in spec.storeRef"),
        "{said}"
    );
    assert!(waits_for(&told).is_empty(), "{told:#?}");
}

#[test]
fn nothing_is_blamed_if_the_controller_is_not_known_to_run() {
    let finalizer = "lab.test/wait";
    let ending = json!({"deletionTimestamp": "2026-01-01T11:00:00Z", "status": {"phase": "Running"}});
    let told = World::of([pod("u", &ending)]).explain(&store(finalizer, &json!({})));
    assert_eq!(verdict(&told, finalizer), Some(Verdict::Unknown));
    assert!(waits_for(&told).is_empty(), "{told:#?}");
    assert!(said(&told).contains("Pod p was made for it"), "{}", said(&told));
}

#[test]
fn a_manifest_never_removes_its_finalizer() {
    let mut store = store("lab.test/wait", &json!({}));
    store.value["metadata"]["managedFields"] = json!([{"manager": "helm", "time": "2026-01-01T08:00:00Z",
        "fieldsV1": {"f:metadata": {"f:finalizers": {"v:\"lab.test/wait\"": {}}}}}]);
    let told = explained(&store, []);
    assert!(
        said(&told).contains("from a manifest. That tool never removes it"),
        "{}",
        said(&told)
    );
}

/// A store that says this in its status since its deletion.
fn saying(message: &str) -> Object {
    let mut store = store("lab.test/wait", &json!({}));
    store.value["status"] = json!({"message": message});
    store
}

#[test]
fn an_object_that_its_words_name_keeps_it_only_if_it_is_in_trouble() {
    let gadget = |fields: Value| {
        let mut gadget = gadget("g", "other");
        gadget.value["status"] = fields;
        gadget
    };
    let unready = json!({"conditions": [{"type": "Ready", "status": "False", "reason": "NoDisk", "message": "no space"}]});
    for message in [
        "waiting for Gadget ns/g",
        "waiting for Gadget \"g\" to become ready",
        "still blocked by gadgets.lab.test g",
        "Gadget reference ns/g is invalid",
    ] {
        let told = explained(&saying(message), [gadget(unready.clone())]);
        let keeps = (
            "g".to_owned(),
            "is named in that message, is not ready: NoDisk: no space".to_owned(),
        );
        assert!(waits_for(&told).contains(&keeps), "{message}: {told:#?}");
    }
    // Not every type calls that condition Ready.
    let invalid = json!({"conditions": [{"type": "KeyValid", "status": "False", "reason": "Error", "message": "secret k not found",
        "lastTransitionTime": "2026-01-01T08:00:00Z"}]});
    let told = explained(&saying("waiting for Gadget g"), [gadget(invalid)]);
    assert!(
        waits_for(&told)
            .iter()
            .any(|(_, says)| says.contains("reports") && says.contains("secret k not found")),
        "{told:#?}"
    );
    let names = |told: &Diagnosis| waits_for(told).iter().any(|(name, _)| name == "g");
    for (message, fields) in [
        // It is well.
        ("waiting for Gadget g", json!({})),
        // No type, or no name.
        ("waiting for thing g", unready.clone()),
        ("waiting for every Gadget", unready.clone()),
        ("waiting for Gadget other/g", unready),
    ] {
        let told = explained(&saying(message), [gadget(fields)]);
        assert!(!names(&told), "{message}: {told:#?}");
    }
}

#[test]
fn a_named_object_is_reported_only_if_it_has_a_problem() {
    let finalizer = "lab.test/wait";
    let with = |fields: Value| {
        let mut gadget = gadget("g", "other");
        gadget.value["status"] = fields;
        gadget
    };
    let unready =
        json!({"conditions": [{"type": "Ready", "status": "False", "reason": "NoDisk", "message": ""}]});
    for spec in [
        json!({"gadget": {"name": "g"}}),
        json!({"gadgetName": "g"}),
        json!({"parts": [{"gadgetRef": {"name": "g", "kind": "Gadget"}}]}),
    ] {
        let told = explained(&store(finalizer, &spec), [with(unready.clone())]);
        let words = said(&told);
        assert!(
            words.contains("names gadgets.lab.test/g -n ns, which is not ready: NoDisk"),
            "{spec}: {words}"
        );
        let told = explained(&store(finalizer, &spec), [with(json!({}))]);
        assert!(
            !said(&told).contains("names gadgets.lab.test/g"),
            "{spec}: {}",
            said(&told)
        );
    }
    let told = explained(
        &store(finalizer, &json!({"gadgetName": "other"})),
        [with(unready)],
    );
    assert!(
        said(&told).contains("gadgets.lab.test/other -n ns, which does not exist"),
        "{}",
        said(&told)
    );
}

#[test]
fn a_terminating_namespace_is_reported() {
    let metadata = json!({"name": "ns", "deletionTimestamp": "2026-01-01T10:00:00Z"});
    let namespace = object("", "namespaces", "Namespace", json!({"metadata": metadata}));
    let told = explained(&store("lab.test/wait", &json!({})), [namespace]);
    assert!(
        said(&told).contains("Its namespace ns is being deleted"),
        "{}",
        said(&told)
    );
    let told = explained(&store("lab.test/wait", &json!({})), []);
    assert!(!said(&told).contains("Its namespace"), "{}", said(&told));
}

#[test]
fn the_pods_of_a_helm_release_of_its_name_are_not_its_own() {
    let labelled = |labels: Value| {
        let fields = json!({"deletionTimestamp": "2026-01-01T11:00:00Z", "status": {"phase": "Running"}});
        let mut pod = pod("other", &fields);
        pod.value["metadata"]["labels"] = labels;
        pod
    };
    let (instance, program) = ("app.kubernetes.io/instance", "app.kubernetes.io/managed-by");
    for (labels, is_its_own) in [
        (json!({instance: "s", program: "lab-operator"}), true),
        (json!({instance: "s", program: "Helm"}), false),
        (json!({instance: "s"}), false),
        (json!({instance: "other", program: "lab-operator"}), false),
    ] {
        let told = explained(&store("lab.test/wait", &json!({})), [labelled(labels.clone())]);
        assert_eq!(!waits_for(&told).is_empty(), is_its_own, "{labels}");
    }
}

#[test]
fn an_object_whose_name_ends_the_finalizer_by_chance_is_not_blamed() {
    let mut gadget = gadget("default", "other");
    gadget.value["metadata"] = going("default", "ns", &["lab.test/hold"]);
    let told = explained(&store("lab.test/clean-default", &json!({})), [gadget]);
    assert!(waits_for(&told).is_empty(), "{told:#?}");
    assert!(said(&told).contains("Gadget default"), "{}", said(&told));
}

fn job(owner: &str, created: &str, condition: &Value) -> Object {
    let value = json!({"metadata": {"name": "cleanup", "namespace": "ns", "creationTimestamp": created,
        "ownerReferences": [{"kind": "Store", "name": "s", "uid": owner}]}, "status": {"conditions": [condition]}});
    object("batch", "jobs", "Job", value)
}

#[test]
fn a_clean_up_job_that_failed_is_named_and_an_older_job_or_one_of_another_owner_is_not() {
    let store = store("nobody.test/hold", &json!({}));
    let failed = json!({"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded", "message": "bucket is locked"});
    let (before, after) = ("2026-01-01T09:00:00Z", "2026-01-01T11:59:00Z");
    let told = explained(&store, [job("u", after, &failed)]);
    assert_eq!(
        waits_for(&told),
        [(
            "cleanup".to_owned(),
            "was made for it, and failed: BackoffLimitExceeded: bucket is locked".to_owned()
        )]
    );
    let running = explained(&store, [job("u", after, &json!({}))]);
    assert!(said(&running).contains("has not ended"));
    let complete = json!({"type": "Complete", "status": "True"});
    for other in [
        job("u", before, &failed),
        job("other", after, &failed),
        job("u", after, &complete),
    ] {
        assert_eq!(waits_for(&explained(&store, [other])), []);
    }
}

#[test]
fn an_object_that_its_status_lists_blocks_only_while_it_is_being_deleted() {
    let with_status = |status: &Value| {
        let mut store = store("nobody.test/hold", &json!({}));
        store.value["status"] = status.clone();
        store
    };
    let held = |deleted: bool| {
        let mut value =
            json!({"metadata": {"name": "c", "namespace": "ns", "uid": "c", "finalizers": ["x.test/y"]}});
        if deleted {
            value["metadata"] = going("c", "ns", &["x.test/y"]);
        }
        object(GROUP, "gadgets", "Gadget", value)
    };
    for (status, field) in [
        (
            json!({"resources": [{"apiVersion": "lab.test/v1", "kind": "Gadget", "name": "c"}]}),
            "status.resources",
        ),
        (
            json!({"inventory": {"entries": [{"id": "ns_c_lab.test_Gadget", "v": "v1"}]}}),
            "status.inventory.entries",
        ),
        (
            json!({"applied": [{"meta": {"refs": [{"group": "lab.test", "resource": "gadgets", "namespace": "ns", "name": "c"}]}}]}),
            "status.applied.meta.refs",
        ),
    ] {
        let told = explained(&with_status(&status), [held(true)]);
        let expected = format!("is listed in its {field}, and is being deleted");
        assert_eq!(waits_for(&told), [("c".to_owned(), expected)]);
        assert_eq!(waits_for(&explained(&with_status(&status), [held(false)])), []);
    }
    // An object in another cluster is not looked up here.
    let mut elsewhere =
        with_status(&json!({"inventory": {"entries": [{"id": "ns_c_lab.test_Gadget", "v": "v1"}]}}));
    elsewhere.value["spec"]["kubeConfig"] = json!({"secretRef": {"name": "k"}});
    assert_eq!(waits_for(&explained(&elsewhere, [held(true)])), []);
}

#[test]
fn a_pod_of_a_stateful_set_that_it_made_is_its_own() {
    let set = |owner: &str| {
        object(
            "apps",
            "statefulsets",
            "StatefulSet",
            json!({"metadata": {"name": "s-db", "namespace": "ns", "uid": "set",
                "ownerReferences": [{"kind": "Store", "name": "s", "uid": owner}]}}),
        )
    };
    let pod = object(
        "",
        "pods",
        "Pod",
        json!({"metadata": {"name": "s-db-0", "namespace": "ns",
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "s-db", "uid": "set", "controller": true}]},
            "status": {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
                "message": "0/2 nodes are available"}]}}),
    );
    let store = store("nobody.test/hold", &json!({}));
    let told = explained(&store, [set("u"), pod.clone()]);
    assert!(
        waits_for(&told)
            .iter()
            .any(|(name, says)| name == "s-db-0" && says.contains("0/2 nodes are available")),
        "{told:#?}"
    );
    assert_eq!(waits_for(&explained(&store, [set("other"), pod])), []);
}
