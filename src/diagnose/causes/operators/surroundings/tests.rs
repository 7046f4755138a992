//! What stands around an object, and what does not count.

mod belongings;
mod lists;
mod settings;

use serde_json::{Value, json};

use crate::{
    diagnose::{
        Diagnosis, Verdict,
        testing::{
            fixtures::{bound, controller, going},
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
    assert_eq!(
        chain(&told),
        [(
            "g".to_owned(),
            "still names it in spec.storeRef".to_owned(),
            false
        )]
    );
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

#[test]
fn who_put_the_finalizer_on_is_told_after_what_names_the_object() {
    let mut store = store("lab.test/wait", &json!({}));
    store.value["metadata"]["managedFields"] = json!([{"manager": "store-operator", "time": "2026-01-01T08:00:00Z",
        "fieldsV1": {"f:metadata": {"f:finalizers": {"v:\"lab.test/wait\"": {}}}}}]);
    let told = said(&explained(&store, [gadget("g", "s")]));
    let (named, author) = (told.find("Gadget g still names it"), told.find("put it on"));
    assert!(named.is_some() && author.is_some() && named < author, "{told}");
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
fn an_object_that_still_names_it_keeps_it_if_the_message_speaks_of_use() {
    let blocked = |message: &str| {
        let mut store = store("lab.test/wait", &json!({}));
        store.value["status"] = json!({"conditions": [{"type": "DeletionBlocked", "status": "True", "reason": "Blocked",
            "message": message, "lastTransitionTime": "2026-01-01T10:30:00Z"}]});
        store
    };
    let in_use = "Cannot delete: referenced by workloads: [{Gadget g}]";
    let says = "is named in that message, and still names it in spec.storeRef";
    let keeps = ("g".to_owned(), says.to_owned());
    let told = explained(&blocked(in_use), [gadget("g", "s")]);
    assert!(waits_for(&told).contains(&keeps), "{told:#?}");
    assert_eq!(verdict(&told, "lab.test/wait"), Some(Verdict::Waiting));
    for (message, store) in [
        (in_use, "other"),
        ("Cannot delete: failed to update Gadget g", "s"),
    ] {
        let told = explained(&blocked(message), [gadget("g", store)]);
        assert!(!waits_for(&told).contains(&keeps), "{message}: {told:#?}");
    }
}

#[test]
fn an_object_keeps_it_whose_existence_the_message_gives_as_the_reason() {
    let keeps = ("g".to_owned(), "is named in that message, and exists".to_owned());
    let told = |message: &str| {
        let mut store = store("lab.test/wait", &json!({}));
        store.value["status"] = json!({"conditions": [{"type": "Deleted", "status": "False", "reason": "Refused",
            "message": message, "lastTransitionTime": "2026-01-01T10:30:00Z"}]});
        explained(&store, [gadget("g", "other")])
    };
    for message in [
        "refused to delete the store while Gadget ns/g exists",
        "cannot be deleted because Gadget g still exists",
    ] {
        let told = told(message);
        assert!(waits_for(&told).contains(&keeps), "{message}: {told:#?}");
        assert_eq!(
            verdict(&told, "lab.test/wait"),
            Some(Verdict::Waiting),
            "{message}"
        );
    }
    for message in [
        "cannot be deleted because Gadget g does not exist",
        "failed to see whether Gadget g exists",
        "cannot be deleted while Gadget other/g exists",
    ] {
        let told = told(message);
        assert!(!waits_for(&told).contains(&keeps), "{message}: {told:#?}");
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
    // The store of a store is what it stands for, and no other Store.
    let told = explained(&store(finalizer, &json!({"store": "shop.example.com"})), []);
    assert!(!said(&told).contains("shop.example.com"), "{}", said(&told));
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
fn a_listed_namespace_that_is_gone_is_told() {
    let mut lister = store("nobody.test/hold", &json!({}));
    lister.value["status"] =
        json!({"inventory": {"entries": [{"id": "preview_c_lab.test_Gadget", "v": "v1"}]}});
    let told = |is_there: bool| {
        let mut world = World::of(controller("lab", "lab-operator", &json!({"app": "lab"}), GROUP))
            .serving(GROUP, "stores", "Store")
            .serving(GROUP, "gadgets", "Gadget");
        if !is_there {
            world = world.object("", "namespaces", "", "preview", None);
        }
        said(&world.explain(&lister))
    };
    let words = "status.inventory.entries lists objects of namespace preview, which does not exist";
    assert!(told(false).contains(words), "{}", told(false));
    assert!(
        !told(true).contains("lists objects of namespace"),
        "{}",
        told(true)
    );
}

#[test]
fn an_object_that_it_names_and_nobody_may_read_is_told_as_not_known() {
    let naming = store("nobody.test/hold", &json!({"gadgetRef": {"name": "c"}}));
    let world = World::of(controller("lab", "lab-operator", &json!({"app": "lab"}), GROUP))
        .serving(GROUP, "stores", "Store")
        .serving(GROUP, "gadgets", "Gadget");
    let told = said(&world.hiding("gadgets").explain(&naming));
    assert!(
        told.contains("Whether gadgets.lab.test/c -n ns exists (its spec.gadgetRef names it) is not known"),
        "{told}"
    );
}

#[test]
fn a_condition_about_the_whole_object_tells_that_it_does_not_work() {
    let naming = store("nobody.test/hold", &json!({"gadgetRef": {"name": "c"}}));
    let with = |kind: &str| {
        let condition = json!([{"type": kind, "status": "False", "reason": "NoEndpoints"}]);
        let value =
            json!({"metadata": {"name": "c", "namespace": "ns"}, "status": {"conditions": condition}});
        said(&explained(&naming, [object(GROUP, "gadgets", "Gadget", value)]))
    };
    for kind in ["Available", "GadgetAvailable", "GadgetReady"] {
        assert!(with(kind).contains("is not available: NoEndpoints"), "{kind}");
    }
    // A part of it, or something else that may be there or not.
    for kind in ["UpdateAvailable", "BackupReady"] {
        assert!(!with(kind).contains("NoEndpoints"), "{kind}");
    }
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

#[test]
fn an_object_of_another_namespace_may_still_name_it() {
    let elsewhere = |reference: Value| {
        let metadata = json!({"name": "g", "namespace": "other"});
        let value = json!({"metadata": metadata, "spec": {"storeRef": reference}});
        object(GROUP, "gadgets", "Gadget", value)
    };
    let finalizer = "lab.test/wait";
    let told = explained(
        &store(finalizer, &json!({})),
        [elsewhere(json!({"name": "s", "namespace": "ns"}))],
    );
    assert_eq!(verdict(&told, finalizer), Some(Verdict::Waiting));
    let words = said(&told);
    assert!(
        words.contains("Gadget g in namespace other still names it in spec.storeRef"),
        "{words}"
    );
    // It names the store of its own namespace.
    let told = explained(&store(finalizer, &json!({})), [elsewhere(json!({"name": "s"}))]);
    assert_eq!(verdict(&told, finalizer), Some(Verdict::Stalled));
}

#[test]
fn a_spec_with_more_references_than_are_read_never_proves_that_nothing_blocks() {
    let names = |count: usize| {
        let parts: Vec<_> = (0..count)
            .map(|at| json!({"gadgetName": format!("g{at}")}))
            .collect();
        store("lab.test/wait", &json!({"parts": parts}))
    };
    let all = || (0..9).map(|at| gadget(&format!("g{at}"), "other"));
    let told = explained(&names(9), all());
    assert_eq!(verdict(&told, "lab.test/wait"), Some(Verdict::Unknown));
    let words = said(&told);
    assert!(
        words.contains("3 more of the objects that its spec names were not looked at"),
        "{words}"
    );
    let told = explained(&names(6), all());
    assert_eq!(verdict(&told, "lab.test/wait"), Some(Verdict::Stalled));
}

#[test]
fn what_it_names_may_exist_and_not_work() {
    let finalizer = "lab.test/wait";
    let deployment = |replicas: i64| {
        let value = json!({"metadata": {"name": "w", "namespace": "ns"}, "spec": {"replicas": replicas}});
        object("apps", "deployments", "Deployment", value)
    };
    let service = |selector: Value| {
        let value = json!({"metadata": {"name": "w", "namespace": "ns"}, "spec": {"selector": selector}});
        object("", "services", "Service", value)
    };
    let slice = |ready: bool| {
        let labels = json!({"kubernetes.io/service-name": "w"});
        let value = json!({"metadata": {"name": "w-1", "namespace": "ns", "labels": labels},
            "endpoints": [{"conditions": {"ready": ready}}]});
        object("discovery.k8s.io", "endpointslices", "EndpointSlice", value)
    };
    let pod = |status: Value| {
        let value = json!({"metadata": {"name": "w", "namespace": "ns"}, "status": status});
        object("", "pods", "Pod", value)
    };
    let unscheduled = json!({"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False",
        "reason": "Unschedulable", "message": "0/3 nodes are available"}]});
    let gated = |gates: &str, met: &str| {
        let (spec, conditions) = match gates {
            "schedulingGates" => (
                json!({"schedulingGates": [{"name": "queue.test/admit"}]}),
                json!([{"type": "PodScheduled", "status": met, "reason": "SchedulingGated", "message": "held"}]),
            ),
            _ => (
                json!({"readinessGates": [{"conditionType": "lb.test/attached"}]}),
                json!([{"type": "lb.test/attached", "status": met}]),
            ),
        };
        let mut pod = pod(json!({"phase": "Running", "conditions": conditions}));
        pod.value["spec"] = spec;
        pod
    };
    let told_of = |kind: &str, others: Vec<Object>| {
        let spec = json!({"target": {"ref": {"kind": kind, "name": "w"}}});
        let mut world = World::of(controller("lab", "lab-operator", &json!({"app": "lab"}), GROUP))
            .serving(GROUP, "stores", "Store")
            .serving("apps", "deployments", "Deployment")
            .serving("", "services", "Service")
            .serving("", "pods", "Pod");
        for other in others {
            world = world.with(other);
        }
        said(&world.explain(&store(finalizer, &spec)))
    };
    for (kind, others, trouble) in [
        ("Deployment", vec![deployment(0)], "is scaled to zero"),
        (
            "Service",
            vec![service(json!({"app": "w"}))],
            "has no endpoint that is ready",
        ),
        (
            "Service",
            vec![service(json!({"app": "w"})), slice(false)],
            "has no endpoint that is ready",
        ),
        ("Pod", vec![pod(unscheduled)], "does not start: Unschedulable"),
        (
            "Pod",
            vec![gated("schedulingGates", "False")],
            "SchedulingGated: held (queue.test/admit)",
        ),
        (
            "Pod",
            vec![gated("readinessGates", "False")],
            "its readiness gate lb.test/attached is not met",
        ),
    ] {
        let words = told_of(kind, others);
        assert!(
            words.contains("spec.target.ref names") && words.contains(trouble),
            "{kind}: {words}"
        );
    }
    for (kind, others) in [
        ("Deployment", vec![deployment(1)]),
        ("Service", vec![service(json!({"app": "w"})), slice(true)]),
        ("Service", vec![service(json!({}))]),
        ("Pod", vec![pod(json!({"phase": "Running"}))]),
        ("Pod", vec![gated("readinessGates", "True")]),
    ] {
        let words = told_of(kind, others);
        assert!(!words.contains("spec.target.ref names"), "{kind}: {words}");
    }
}

#[test]
fn only_the_clause_that_complains_accuses_whom_it_names() {
    let unready =
        json!({"conditions": [{"type": "Ready", "status": "False", "reason": "NoDisk", "message": ""}]});
    let with = |message: &str| {
        let mut gadget = gadget("g", "other");
        gadget.value["status"] = unready.clone();
        let told = explained(&saying(message), [gadget]);
        waits_for(&told).iter().any(|(name, _)| name == "g")
    };
    assert!(with("Volume v deleted. Waiting for Gadget g"));
    for message in [
        "Gadget g updated. Waiting for the disk",
        "Gadget g updated; still waiting for the disk",
        "Gadget g updated\nwaiting for the disk",
    ] {
        assert!(!with(message), "{message}");
    }
}

#[test]
fn a_kind_of_several_groups_is_that_of_the_product_or_of_nobody() {
    let unready =
        json!({"conditions": [{"type": "Ready", "status": "False", "reason": "NoDisk", "message": ""}]});
    let named = |group: &str, served: &[&str]| {
        let value = json!({"metadata": {"name": "w", "namespace": "ns"}, "status": unready});
        let mut world = World::of(controller("lab", "lab-operator", &json!({"app": "lab"}), GROUP))
            .serving(GROUP, "stores", "Store")
            .with(object(group, "widgets", "Widget", value));
        for group in served {
            world = world.serving(group, "widgets", "Widget");
        }
        let told = world.explain(&saying("waiting for Widget w"));
        waits_for(&told).iter().any(|(name, _)| name == "w")
    };
    assert!(named("a.test", &["a.test"]));
    assert!(named(GROUP, &["a.test", GROUP]));
    // The product of the object has none of that name, and another product's is not meant.
    assert!(!named("a.test", &["a.test", GROUP]));
    // Nobody can choose between two others.
    assert!(!named("a.test", &["a.test", "b.test"]));
}

#[test]
fn its_claims_and_the_attachments_of_its_node_keep_it_while_they_do_not_go() {
    let claim = |owner: &str, deleted: bool| {
        let mut metadata = if deleted {
            going("c", "ns", &["kubernetes.io/pvc-protection"])
        } else {
            json!({"name": "c", "namespace": "ns"})
        };
        metadata["ownerReferences"] = json!([{"kind": "Store", "name": "s", "uid": owner}]);
        object(
            "",
            "persistentvolumeclaims",
            "PersistentVolumeClaim",
            json!({"metadata": metadata, "spec": {}}),
        )
    };
    let attachment = |node: &str, deleted: bool| {
        let metadata = if deleted {
            going("a", "", &["external-attacher/x"])
        } else {
            json!({"name": "a"})
        };
        let spec = json!({"attacher": "d.test", "nodeName": node, "source": {"persistentVolumeName": "v"}});
        let value = json!({"metadata": metadata, "spec": spec});
        object("storage.k8s.io", "volumeattachments", "VolumeAttachment", value)
    };
    let finalizer = "lab.test/wait";
    let mut store = store(finalizer, &json!({}));
    store.value["status"] = json!({"nodeRef": {"name": "n1"}});
    for (other, name) in [(claim("u", true), "c"), (attachment("n1", true), "a")] {
        let told = explained(&store, [other]);
        assert_eq!(verdict(&told, finalizer), Some(Verdict::Waiting));
        assert_eq!(waits_for(&told)[0].0, name);
    }
    for other in [
        claim("u", false),
        claim("other", true),
        attachment("n1", false),
        attachment("n2", true),
    ] {
        let told = explained(&store, [other]);
        assert!(waits_for(&told).is_empty(), "{told:#?}");
    }
    let told = explained(&store, [attachment("n1", false)]);
    assert!(
        said(&told).contains("1 volume is attached to its node n1, by VolumeAttachment "),
        "{}",
        said(&told)
    );
}

#[test]
fn a_pod_that_waits_for_its_volume_is_told_with_the_words_of_its_events() {
    let event = |kind: &str, reason: &str| {
        let value = json!({"metadata": {"name": "e", "namespace": "ns"}, "type": kind, "reason": reason,
            "message": "volume is attached elsewhere", "lastTimestamp": "2026-01-01T11:59:00Z",
            "involvedObject": {"kind": "Pod", "name": "p", "uid": "pods-p"}});
        object("", "events", "Event", value)
    };
    let creating = json!({"status": {"phase": "Pending", "containerStatuses": [{"name": "c",
        "state": {"waiting": {"reason": "ContainerCreating"}}}]}});
    let store = store("lab.test/wait", &json!({}));
    let told = explained(
        &store,
        [pod("u", &creating), event("Warning", "FailedAttachVolume")],
    );
    assert_eq!(
        waits_for(&told),
        [(
            "p".to_owned(),
            "was made for it, does not start: FailedAttachVolume: volume is attached elsewhere".to_owned()
        )]
    );
    let told = explained(&store, [pod("u", &creating), event("Normal", "Scheduled")]);
    assert!(waits_for(&told).is_empty(), "{told:#?}");
}

/// The definition of the stores, or of the gadgets, with these fields in their spec.
fn definition(plural: &str, fields: &Value) -> Object {
    let schema = json!({"properties": {"spec": {"properties": fields}}});
    let value = json!({"metadata": {"name": format!("{plural}.{GROUP}")},
        "spec": {"versions": [{"name": "v1", "schema": {"openAPIV3Schema": schema}}]}});
    let group = "apiextensions.k8s.io";
    object(
        group,
        "customresourcedefinitions",
        "CustomResourceDefinition",
        value,
    )
}

#[test]
fn the_description_of_a_field_tells_what_a_name_stands_for() {
    let finalizer = "lab.test/wait";
    let with = |description: &str, spec: Value| {
        let fields = json!({"backendName": {"type": "string", "description": description}});
        said(&explained(
            &store(finalizer, &spec),
            [definition("stores", &fields)],
        ))
    };
    let spec = || json!({"backendName": "g"});
    let told = with("Name of the Gadget that serves it.", spec());
    assert!(
        told.contains("spec.backendName names gadgets.lab.test/g -n ns, which does not exist"),
        "{told}"
    );
    for (description, spec) in [
        ("Name of the backend.", spec()),
        ("Name of the gadgetry.", spec()),
        ("Name of the Gadget that serves it.", json!({"backendTitle": "g"})),
    ] {
        let told = with(description, spec);
        assert!(!told.contains("gadgets.lab.test/g"), "{description}: {told}");
    }
}

#[test]
fn a_reference_left_empty_means_the_default_both_ways() {
    let finalizer = "lab.test/wait";
    let class = |is_default: &str| {
        let metadata = json!({"name": "fast",
            "annotations": {"storageclass.kubernetes.io/is-default-class": is_default}});
        object(
            "storage.k8s.io",
            "storageclasses",
            "StorageClass",
            json!({"metadata": metadata}),
        )
    };
    let fields =
        json!({"storageClassName": {"type": "string"}, "disk": {"properties": {"storageClassName": {}}}});
    let told = |spec: Value, class: Object| {
        let world = World::of(controller("lab", "lab-operator", &json!({"app": "lab"}), GROUP))
            .serving(GROUP, "stores", "Store")
            .serving_everywhere("storage.k8s.io", "storageclasses", "StorageClass")
            .with(definition("stores", &fields))
            .with(class);
        said(&world.explain(&store(finalizer, &spec)))
    };
    let none = "means the default StorageClass, and no StorageClass is marked as the default";
    for (spec, path) in [
        (json!({}), "spec.storageClassName"),
        (
            json!({"storageClassName": "x", "disk": {}}),
            "spec.disk.storageClassName",
        ),
    ] {
        let words = told(spec, class("false"));
        assert!(
            words.contains(&format!("Its {path} is empty, which {none}")),
            "{words}"
        );
    }
    let mut leaving = class("true");
    leaving.value["metadata"]["deletionTimestamp"] = "2026-01-01T11:00:00Z".into();
    let words = told(json!({}), leaving);
    assert!(
        words.contains("which means sc/fast, which is being deleted"),
        "{words}"
    );
    for (spec, class) in [
        (json!({}), class("true")),
        (json!({"storageClassName": "x"}), class("false")),
    ] {
        let words = told(spec, class);
        assert!(!words.contains("is empty"), "{words}");
    }
}

#[test]
fn whoever_leaves_a_reference_empty_names_the_default() {
    let config = |name: &str| {
        let mut metadata = going(name, "", &["lab.test/wait"]);
        metadata["uid"] = "u".into();
        object(
            GROUP,
            "providerconfigs",
            "ProviderConfig",
            json!({"metadata": metadata, "spec": {}}),
        )
    };
    let told = |name: &str, spec: Value| {
        let gadget = json!({"metadata": {"name": "g", "namespace": "ns"}, "spec": spec});
        let world = World::of(controller("lab", "lab-operator", &json!({"app": "lab"}), GROUP))
            .serving_everywhere(GROUP, "providerconfigs", "ProviderConfig")
            .serving(GROUP, "gadgets", "Gadget")
            .with(definition(
                "gadgets",
                &json!({"providerConfigRef": {"properties": {"name": {}}}}),
            ))
            .with(object(GROUP, "gadgets", "Gadget", gadget));
        said(&world.explain(&config(name)))
    };
    let means_it = "leaves spec.providerConfigRef empty, which means it";
    let words = told("default", json!({}));
    assert!(words.contains(means_it), "{words}");
    for (name, spec) in [
        ("other", json!({})),
        ("default", json!({"providerConfigRef": {"name": "other"}})),
    ] {
        let words = told(name, spec);
        assert!(!words.contains(means_it), "{words}");
    }
}

#[test]
fn a_selector_that_selects_nothing_is_told() {
    let spec = json!({"rules": [{"podSelector": {"matchLabels": {"app": "web"}}}]});
    let pod = |app: &str| {
        let metadata = json!({"name": "web-1", "namespace": "ns", "labels": {"app": app}});
        object(
            "",
            "pods",
            "Pod",
            json!({"metadata": metadata, "status": {"phase": "Running"}}),
        )
    };
    let told = |spec: &Value, app: &str| said(&explained(&store("lab.test/wait", spec), [pod(app)]));
    let words = told(&spec, "db");
    assert!(
        words.contains("Its spec.rules[0].podSelector selects no Pod"),
        "{words}"
    );
    assert!(!told(&spec, "web").contains("selects no"));
    // An empty one selects everything, and one with other requirements is not looked up.
    for selector in [
        json!({}),
        json!({"matchExpressions": [{"key": "app", "operator": "Exists"}]}),
    ] {
        let spec = json!({"podSelector": selector});
        assert!(!told(&spec, "db").contains("selects no"));
    }
}

#[test]
fn what_it_deployed_and_knows_by_a_label_keeps_it_while_that_is_being_deleted() {
    let finalizer = "lab.test/wait";
    let member = |namespace: &str, labels: Value, is_going: bool| {
        let mut metadata = going("g", namespace, &["lab.test/hold"]);
        if !is_going {
            metadata = json!({"name": "g", "namespace": namespace});
        }
        metadata["labels"] = labels;
        object(GROUP, "gadgets", "Gadget", json!({"metadata": metadata}))
    };
    let mut set = store(finalizer, &json!({}));
    set.value["metadata"]["labels"] = json!({"applyset.kubernetes.io/id": "set-1"});
    set.value["metadata"]["annotations"] = json!({
        "applyset.kubernetes.io/contains-group-kinds": format!("Gadget.{GROUP},Service."),
        "applyset.kubernetes.io/additional-namespaces": "far",
    });
    let mut app = store(finalizer, &json!({}));
    app.value["status"] = json!({"deploy": {"kapp": {"associatedResources": {"label": "kapp.k14s.io/app=7",
        "namespaces": ["far"], "groupKinds": [{"group": GROUP, "kind": "Gadget"}]}}}});
    let of_set = || json!({"applyset.kubernetes.io/part-of": "set-1"});
    for (owner, labels) in [(&set, of_set()), (&app, json!({"kapp.k14s.io/app": "7"}))] {
        let told = explained(owner, [member("far", labels, true)]);
        assert_eq!(verdict(&told, finalizer), Some(Verdict::Waiting));
        assert_eq!(waits_for(&told)[0].0, "g");
    }
    for other in [
        member("far", of_set(), false),
        member("far", json!({"applyset.kubernetes.io/part-of": "set-2"}), true),
        member("elsewhere", of_set(), true),
    ] {
        let told = explained(&set, [other]);
        assert!(waits_for(&told).is_empty(), "{told:#?}");
    }
}

/// The store with labels and annotations, held by a finalizer that no kind is named after.
fn marked(labels: &Value, annotations: &Value) -> Object {
    let mut store = store("lab.test/wait", &json!({}));
    store.value["metadata"]["labels"] = labels.clone();
    store.value["metadata"]["annotations"] = annotations.clone();
    store
}

#[test]
fn a_label_of_the_product_names_an_object() {
    let finalizer = "lab.test/wait";
    let names = json!({"lab.test/gadget-name": "g", "app.kubernetes.io/name": "gadget"});
    let told = explained(&marked(&names, &json!({})), []);
    let words = said(&told);
    assert!(
        words.contains("Its label lab.test/gadget-name names gadgets.lab.test/g -n ns, which does not exist"),
        "{words}"
    );
    assert_eq!(verdict(&told, finalizer), Some(Verdict::Stalled));
    // A store that works has the same label, so it is no name of an object.
    let mut other = store("lab.test/wait", &json!({}));
    other.value["metadata"] = json!({"name": "well", "namespace": "ns", "uid": "w", "labels": names});
    other.value["status"] = json!({"phase": "Running"});
    // A living object is not mentioned, and a name that a product had to cut names nothing.
    let long = json!({"lab.test/gadget-name": "g".repeat(63)});
    // Neither does its own name, which some products write there.
    let own = json!({"lab.test/gadget-name": "s"});
    for (labels, others) in [
        (&names, vec![gadget("g", "other")]),
        (&names, vec![other]),
        (&long, vec![]),
        (&own, vec![]),
    ] {
        let told = explained(&marked(labels, &json!({})), others);
        assert!(!said(&told).contains("Its label"), "{}", said(&told));
        assert_eq!(verdict(&told, finalizer), Some(Verdict::Stalled));
    }
}

#[test]
fn the_object_that_it_was_made_for_is_told() {
    let annotations = json!({"operator-sdk/primary-resource": "far/g", "operator-sdk/primary-resource-type": "Gadget.lab.test"});
    let made_for = marked(&json!({}), &annotations);
    let named = "Its annotation operator-sdk/primary-resource names gadgets.lab.test/g -n far, which";
    let mut far = gadget("g", "other");
    far.value["metadata"]["namespace"] = "far".into();
    for (others, state, is) in [
        (vec![far], "exists", Verdict::Stalled),
        (vec![gadget("g", "other")], "does not exist", Verdict::Stalled),
    ] {
        let told = explained(&made_for, others);
        let words = said(&told);
        assert!(words.contains(&format!("{named} {state}")), "{words}");
        assert_eq!(verdict(&told, "lab.test/wait"), Some(is));
    }
}

#[test]
fn the_only_neighbour_of_a_kind_is_told_if_it_is_in_trouble() {
    let with = |name: &str, ready: &str| {
        let mut one = gadget(name, "other");
        one.value["status"] = json!({"conditions": [{"type": "Ready", "status": ready, "reason": "Init",
            "message": "Setup started"}]});
        one
    };
    let says =
        "The only Gadget beside it is gadgets.lab.test/g -n ns, which is not ready: Init: Setup started";
    let told = explained(&marked(&json!({}), &json!({})), [with("g", "Unknown")]);
    assert!(said(&told).contains(says), "{}", said(&told));
    assert_eq!(verdict(&told, "lab.test/wait"), Some(Verdict::Stalled));
    for others in [
        vec![with("g", "True")],
        vec![with("g", "False"), with("h", "False")],
    ] {
        let told = explained(&marked(&json!({}), &json!({})), others);
        assert!(!said(&told).contains("The only Gadget"), "{}", said(&told));
    }
}

#[test]
fn an_object_that_is_named_as_volumes_are_tells_of_its_volume() {
    let finalizer = "lab.test/wait";
    let name = "pvc-0a1b2c3d-0000-4000-8000-0123456789ab";
    let named = |name: &str| {
        let mut store = store(finalizer, &json!({}));
        store.value["metadata"]["name"] = name.into();
        store
    };
    let volume = json!({"metadata": {"name": name}, "status": {"phase": "Bound"}});
    let volume = object("", "persistentvolumes", "PersistentVolume", volume);
    for (others, says) in [(vec![], "does not exist"), (vec![volume], "exists, and is Bound")] {
        let told = explained(&named(name), others);
        let words = said(&told);
        assert!(
            words.contains(&format!("PersistentVolume {name} {says}")),
            "{words}"
        );
    }
    for other in ["pvc-1", "pvc-0a1b2c3d-0000-4000-8000-0123456789xy", "data"] {
        let told = explained(&named(other), []);
        assert!(!said(&told).contains("PersistentVolume"), "{}", said(&told));
    }
}

#[test]
fn a_list_of_names_and_the_last_word_of_a_field_lead_to_objects() {
    for spec in [
        json!({"gadgets": ["g"]}),
        json!({"gadgetRefs": [{"name": "g"}]}),
        json!({"sourceGadgetRef": {"name": "g"}}),
        json!({"sourceGadgetName": "g"}),
    ] {
        let words = |others: Vec<Object>| said(&explained(&store("lab.test/wait", &spec), others));
        let missing = words(vec![]);
        assert!(
            missing.contains("names gadgets.lab.test/g -n ns, which does not exist"),
            "{spec}: {missing}"
        );
        let there = words(vec![gadget("g", "other")]);
        assert!(!there.contains("does not exist"), "{spec}: {there}");
    }
    // A field that no kind is called after names nothing that can be looked up.
    let words = said(&explained(
        &store("lab.test/wait", &json!({"sourceName": "g", "parts": ["g"]})),
        [],
    ));
    assert!(!words.contains("does not exist"), "{words}");
}

#[test]
fn a_field_that_switches_a_controller_off_is_told() {
    let words = |spec: Value| said(&explained(&store("lab.test/wait", &spec), []));
    for field in ["suspend", "suspended"] {
        let told = words(json!({field: true}));
        assert!(told.contains(&format!("Its spec.{field} is true")), "{told}");
    }
    for spec in [
        json!({"suspend": false}),
        json!({"template": {"suspend": true}}),
        json!({"suspend": "true"}),
    ] {
        let told = words(spec);
        assert!(!told.contains("is true"), "{told}");
    }
}

#[test]
fn what_it_owns_and_its_own_words_speak_of_still_names_it() {
    let owned = |kind: &str, plural: &str| {
        let metadata = json!({"name": "own", "namespace": "ns",
            "ownerReferences": [{"kind": "Store", "name": "s", "uid": "u"}]});
        let value = json!({"metadata": metadata, "spec": {"storeRef": {"name": "s"}}});
        object(GROUP, plural, kind, value)
    };
    let names = |told: &Diagnosis, kind: &str| {
        said(told).contains(&format!("{kind} own still names it in spec.storeRef"))
    };
    let store = saying("waiting: 1 Gadget(s) still reference this store");
    let told = explained(&store, [owned("Gadget", "gadgets")]);
    assert!(names(&told, "Gadget"), "{told:#?}");
    // An object that it owns names it, too, and waits for it.
    let told = explained(&saying("waiting for the disks"), [owned("Gadget", "gadgets")]);
    assert!(!names(&told, "Gadget"), "{told:#?}");
    // The kind is a part of another word.
    let store = saying("waiting for the GadgetPool");
    assert!(!names(&explained(&store, [owned("Gadget", "gadgets")]), "Gadget"));
}

#[test]
fn an_object_of_another_group_that_its_only_controller_works_with_may_name_it() {
    let grant = |role: &str, account: &str| {
        bound(
            role,
            &json!([GROUP, "policies.example"]),
            &json!(["stores", "stores/status", "rules"]),
            &json!({"kind": "ServiceAccount", "namespace": account, "name": account}),
        )
    };
    let rule = object(
        "policies.example",
        "rules",
        "Rule",
        json!({"metadata": {"name": "r", "namespace": "ns"},
            "spec": {"targetRefs": [{"group": GROUP, "kind": "Store", "name": "s"}]}}),
    );
    let told = |more: Vec<Object>| {
        let mut world =
            World::default()
                .serving(GROUP, "stores", "Store")
                .serving("policies.example", "rules", "Rule");
        let [deployment, account, _, _] = controller("lab", "lab", &json!({"app": "lab"}), GROUP);
        for object in [deployment, account, rule.clone()].into_iter().chain(more) {
            world = world.with(object);
        }
        said(&world.explain(&store("lab.test/wait", &json!({}))))
    };
    let names = "Rule r still names it in spec.targetRefs[0]";
    let alone = told(grant("lab", "lab").to_vec());
    assert!(alone.contains(names), "{alone}");
    // Of two controllers, nothing tells whose types these are.
    let two = told(
        grant("lab", "lab")
            .into_iter()
            .chain(grant("other", "other"))
            .collect(),
    );
    assert!(!two.contains(names), "{two}");
}

#[test]
fn a_finalizer_of_a_kind_holds_back_the_others_on_the_same_object() {
    let both = |gadgets: Vec<Object>| {
        let mut store = store("lab.test/store", &json!({}));
        store.value["metadata"]["finalizers"] = json!(["lab.test/store", FINALIZER]);
        explained(&store, gadgets)
    };
    let told = both(vec![gadget("g", "s")]);
    let wait = told
        .waits
        .iter()
        .find(|wait| wait.on.iter().any(|blocker| !blocker.rest))
        .expect("a blocker");
    assert_eq!(
        wait.finalizer.as_ref().map(|finalizer| &*finalizer.name),
        Some(FINALIZER)
    );
    assert_eq!(verdict(&told, "lab.test/store"), Some(Verdict::Waiting));
    // Nothing holds either of them.
    assert_eq!(
        verdict(&both(Vec::new()), "lab.test/store"),
        Some(Verdict::Stalled)
    );
}

/// The rows of its chain: the name and state of each object, and whether it may be the cause.
fn chain(told: &Diagnosis) -> Vec<(String, String, bool)> {
    let on = told.waits[0].on.iter();
    on.map(|blocker| {
        let name = blocker.object.as_ref().map_or("", |object| &object.name);
        (name.to_owned(), blocker.says.to_string(), blocker.is_root())
    })
    .collect()
}

#[test]
fn a_missing_object_that_a_field_names_stands_in_the_chain_and_is_no_cause() {
    let named = store("lab.test/wait", &json!({"gadgetRef": {"name": "g"}}));
    let told = explained(&named, []);
    // Nobody makes it again, so nobody can wait for it.
    assert_eq!(verdict(&told, "lab.test/wait"), Some(Verdict::Stalled));
    assert_eq!(
        chain(&told),
        [(
            "g".to_owned(),
            "does not exist; spec.gadgetRef names it".to_owned(),
            false
        )]
    );
    // One that is there is not mentioned, and nothing then tells why it stays.
    let told = explained(&named, [gadget("g", "other")]);
    assert_eq!(chain(&told), []);
    assert_eq!(verdict(&told, "lab.test/wait"), Some(Verdict::Stalled));
}

#[test]
fn what_a_controller_still_reports_on_the_object_is_told() {
    let event = |time: &str, ty: &str| {
        let value = json!({"metadata": {"name": "e", "namespace": "ns"}, "type": ty, "reason": "Synced",
            "message": "pushed again", "lastTimestamp": time, "source": {"component": "lab"},
            "involvedObject": {"name": "s", "uid": "u"}});
        object("", "events", "Event", value)
    };
    let told = |event: Object| said(&explained(&store("lab.test/wait", &json!({})), [event]));
    let text = told(event("2026-01-01T11:50:00Z", "Normal"));
    assert!(
        text.contains("lab still reports on it, 10m ago: Synced: pushed again"),
        "{text}"
    );
    for other in [
        event("2026-01-01T09:50:00Z", "Normal"),
        event("2026-01-01T11:50:00Z", "Warning"),
    ] {
        let text = told(other);
        assert!(!text.contains("still reports"), "{text}");
    }
}

#[test]
fn where_nothing_is_known_its_log_is_the_first_place_to_look() {
    let told = explained(&store("lab.test/wait", &json!({})), []);
    let first = told.steps.first().expect("a step");
    let command = first
        .command
        .as_ref()
        .map(ToString::to_string)
        .unwrap_or_default();
    assert!(command.contains("logs deploy/lab-operator"), "{command}");
}

#[test]
fn a_policy_that_writes_the_finalizer_may_put_it_back() {
    let policy = |rule: &Value| {
        let value = json!({"metadata": {"name": "add-it", "namespace": "ns"}, "spec": {"rules": [rule]}});
        object("kyverno.io", "policies", "Policy", value)
    };
    let patch = json!({"metadata": {"finalizers": ["lab.test/wait"]}});
    let told = |rule: &Value| {
        World::of(controller("lab", "lab-operator", &json!({"app": "lab"}), GROUP))
            .serving(GROUP, "stores", "Store")
            .serving("kyverno.io", "policies", "Policy")
            .with(policy(rule))
            .explain(&store("lab.test/wait", &json!({})))
    };
    let puts_back = told(&json!({"mutate": {"patchStrategicMerge": patch}}));
    assert_eq!(verdict(&puts_back, "lab.test/wait"), Some(Verdict::Stalled));
    let text = said(&puts_back);
    assert!(
        text.contains("Policy add-it writes this finalizer into what it changes"),
        "{text}"
    );
    assert_eq!(
        chain(&puts_back),
        [("add-it".to_owned(), "writes this finalizer".to_owned(), false)]
    );
    // A rule that only matches it, and one that writes another.
    for rule in [
        json!({"validate": {"pattern": patch}}),
        json!({"mutate": {"patchStrategicMerge": {"metadata": {"finalizers": ["lab.test/other"]}}}}),
    ] {
        let told = told(&rule);
        assert!(!said(&told).contains("add-it"), "{rule}: {}", said(&told));
    }
}

#[test]
fn a_generation_that_the_controller_has_not_seen_is_told() {
    let told = |seen: u64| {
        let mut store = store("lab.test/wait", &json!({}));
        store.value["metadata"]["generation"] = 2.into();
        store.value["status"] = json!({ "observedGeneration": seen });
        said(&explained(&store, []))
    };
    let behind = told(1);
    assert!(
        behind.contains("the controller has not recorded the deletion"),
        "{behind}"
    );
    assert!(!told(2).contains("recorded"), "{}", told(2));
}

#[test]
fn what_a_release_would_do_is_not_told_where_this_one_has_not_done_it() {
    let group = "eventing.knative.dev";
    let finalizer = "kafka.triggers.eventing.knative.dev";
    let work = |broker: bool| {
        let mut finding = crate::diagnose::model::Finding::new(None, Verdict::Stalled, "");
        let lets_go = if broker {
            "It lets go at once if the Broker is gone"
        } else {
            "It lets go when it is done"
        };
        finding.wait.said.work = Some(format!("It takes the Trigger out of {group}. {lets_go}."));
        super::refute_work(&mut finding);
        (finding.wait.said.work, finding.wait.said.now.len())
    };
    let kept = format!("It takes the Trigger out of {group}");
    assert_eq!(work(true), (Some(kept), 2), "{finalizer}");
    let (whole, facts) = work(false);
    assert!(whole.is_some_and(|whole| whole.ends_with("It lets go when it is done")));
    assert_eq!(facts, 1);
}

#[test]
fn a_clean_up_job_that_is_suspended_is_told_as_such() {
    let job = |suspend: bool| {
        let value = json!({"metadata": {"name": "clean", "namespace": "ns", "creationTimestamp": "2026-01-01T11:00:00Z",
            "ownerReferences": [{"kind": "Store", "name": "s", "uid": "u"}]}, "spec": {"suspend": suspend}});
        object("batch", "jobs", "Job", value)
    };
    let told = |suspend| waits_for(&explained(&store("lab.test/wait", &json!({})), [job(suspend)]));
    assert!(
        told(true)[0].1.contains("is suspended (spec.suspend)"),
        "{:?}",
        told(true)
    );
    assert!(told(false)[0].1.contains("has not ended"), "{:?}", told(false));
}
