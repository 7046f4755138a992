//! Names in lists, and what an object owns.

use serde_json::{Value, json};

use super::{GROUP, chain, explained, store};
use crate::diagnose::testing::{
    fixtures::controller,
    told::{commands, said},
    world::{World, object},
};
use crate::snapshot::facts::Object;

const FINALIZER: &str = "lab.test/wait";

/// The diagnosis where its operator runs, and the server has these types, too.
fn explained_with(types: &[(&str, &str, &str)], objects: &[Object]) -> String {
    let mut world = World::of(controller("lab", "lab-operator", &json!({"app": "lab"}), GROUP));
    world = world.serving(GROUP, "stores", "Store");
    for (group, plural, kind) in types {
        world = world.serving(group, plural, kind);
    }
    for other in objects {
        world = world.with(other.clone());
    }
    said(&world.explain(&objects[0]))
}

/// An object of the same product whose kind ends with a word that a list may have.
fn member(name: &str, namespace: &str, status: &Value) -> Object {
    let value = json!({"metadata": {"name": name, "namespace": namespace}, "status": status});
    object("core.lab.test", "labclusters", "LabCluster", value)
}

#[test]
fn an_object_in_trouble_is_found_by_the_last_word_of_its_kind_in_any_namespace() {
    let away = json!({"conditions": [{"type": "Ready", "status": "False", "reason": "Away", "message": "no answer"}]});
    let mut target = store(
        FINALIZER,
        &json!({"placement": {"clusters": [{"name": "lyon"}, {"name": "porto"}]}}),
    );
    target.resource.group = "types.lab.test".into();
    let told = |members: Vec<Object>| {
        let mut world = World::of(members).serving("core.lab.test", "labclusters", "LabCluster");
        world = world.serving("types.lab.test", "stores", "Store");
        said(&world.explain(&target))
    };
    let words = told(vec![
        member("lyon", "system", &away),
        member("porto", "system", &json!({})),
    ]);
    assert!(
        words.contains(
            "spec.placement.clusters names labclusters.core.lab.test/lyon -n system, which is not ready: Away"
        ),
        "{words}"
    );
    // One that is well, and a name that nothing has, may be of something else.
    for members in [
        vec![
            member("porto", "system", &away),
            member("lyon", "system", &json!({})),
        ],
        vec![member("other", "system", &away)],
    ] {
        let words = told(members);
        assert!(!words.contains("labclusters.core.lab.test/lyon"), "{words}");
        assert!(!words.contains("does not exist"), "{words}");
    }
}

#[test]
fn a_user_that_lists_the_name_of_the_object_is_named() {
    let user = |field: &str, items: Value| {
        let mut value = json!({"metadata": {"name": "ines", "namespace": "ns"}, "spec": {}});
        value["spec"][field] = items;
        object(GROUP, "labusers", "LabUser", value)
    };
    let types = [(GROUP, "labusers", "LabUser")];
    let told = |user: Object| explained_with(&types, &[store(FINALIZER, &json!({})), user]);
    let words = told(user("stores", json!(["other", "s"])));
    assert!(
        words.contains("LabUser ines still names it in spec.stores[1]"),
        "{words}"
    );
    // A list of objects may define what it names, and a list of something else names something else.
    for user in [
        user("stores", json!([{"name": "s"}])),
        user("regions", json!(["s"])),
        user("stores", json!(["other"])),
    ] {
        let words = told(user);
        assert!(!words.contains("ines"), "{words}");
    }
}

#[test]
fn a_workload_that_it_owns_runs_on_until_the_object_is_gone() {
    let workload = |owner: &str, replicas: u32| {
        let value = json!({"metadata": {"name": "s-server", "namespace": "ns", "uid": "w",
            "ownerReferences": [{"apiVersion": "lab.test/v1", "kind": "Store", "name": "s", "uid": owner}]},
            "spec": {"replicas": replicas}});
        object("apps", "deployments", "Deployment", value)
    };
    let told = explained(&store(FINALIZER, &json!({})), [workload("u", 2)]);
    assert!(
        !commands(&told).contains("--cascade"),
        "it does not block its owner: {}",
        commands(&told)
    );
    let mut blocking = workload("u", 2);
    blocking.value["metadata"]["ownerReferences"][0]["blockOwnerDeletion"] = true.into();
    let both = explained(&store(FINALIZER, &json!({})), [blocking]);
    assert!(commands(&both).contains("delete stores.lab.test/s -n ns --cascade=foreground"));
    assert!(
        said(&told).contains(
            "Deployment s-server belongs to it, and runs on. The garbage collector deletes what belongs to an object only"
        ),
        "{}",
        said(&told)
    );
    assert!(
        chain(&told).iter().any(|(name, ..)| name == "s-server"),
        "{told:#?}"
    );
    let daemon = |nodes: u32| {
        let mut set = workload("u", 1);
        set.resource.plural = "daemonsets".into();
        set.kind = "DaemonSet".into();
        set.value["spec"] = json!({});
        set.value["status"] = json!({"desiredNumberScheduled": nodes});
        said(&explained(&store(FINALIZER, &json!({})), [set]))
    };
    assert!(daemon(2).contains("DaemonSet s-server belongs to it"));
    assert!(!daemon(0).contains("belongs to it"));
    let mut foreground = store(FINALIZER, &json!({}));
    foreground.value["metadata"]["finalizers"] = json!([FINALIZER, "foregroundDeletion"]);
    for (target, workload) in [
        (store(FINALIZER, &json!({})), workload("u", 0)),
        (store(FINALIZER, &json!({})), workload("other", 2)),
        (foreground, workload("u", 2)),
    ] {
        let told = explained(&target, [workload]);
        assert!(!said(&told).contains("belongs to it"), "{}", said(&told));
    }
}

#[test]
fn a_pod_that_crashes_is_told_with_the_object_that_it_was_made_for() {
    let gadget = json!({"metadata": {"name": "g", "namespace": "ns", "uid": "gu", "finalizers": ["lab.test/x"],
        "deletionTimestamp": "2026-01-01T10:00:00Z"}});
    let pod = |owner: &str, ready: &str| {
        let value = json!({"metadata": {"name": "g-0", "namespace": "ns",
            "ownerReferences": [{"kind": "Gadget", "name": "g", "uid": owner}]}, "spec": {"nodeName": "n"},
            "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": ready}], "containerStatuses": [
                {"name": "db", "ready": ready == "True", "restartCount": 26, "state": {"running": {}},
                    "lastState": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}}]}});
        object("", "pods", "Pod", value)
    };
    let told = |pod: Object| {
        let gadget = object(GROUP, "gadgets", "Gadget", gadget.clone());
        said(&explained(
            &store(FINALIZER, &json!({"gadgetRef": {"name": "g"}})),
            [gadget, pod],
        ))
    };
    let words = told(pod("gu", "False"));
    assert!(
        words.contains("which is being deleted. Its Pod g-0 is not ready: "),
        "{words}"
    );
    assert!(words.contains("OOMKilled"), "{words}");
    for pod in [pod("gu", "True"), pod("other", "False")] {
        let words = told(pod);
        assert!(!words.contains("g-0"), "{words}");
    }
}

#[test]
fn a_claim_that_its_status_lists_is_told_with_the_pod_that_uses_it() {
    let mut target = store(FINALIZER, &json!({}));
    target.value["status"] = json!({"protectedPVCs": [{"name": "data"}]});
    let claim = object(
        "",
        "persistentvolumeclaims",
        "PersistentVolumeClaim",
        json!({"metadata": {"name": "data", "namespace": "ns"}, "spec": {}}),
    );
    let pod = |claim: &str| {
        let value = json!({"metadata": {"name": "web", "namespace": "ns"}, "spec": {"nodeName": "n", "volumes": [
            {"name": "d", "persistentVolumeClaim": {"claimName": claim}}]}, "status": {"phase": "Running"}});
        object("", "pods", "Pod", value)
    };
    let types = [("", "persistentvolumeclaims", "PersistentVolumeClaim")];
    let told = |used: &str| explained_with(&types, &[target.clone(), claim.clone(), pod(used)]);
    let words = told("data");
    assert!(
        words.contains("status.protectedPVCs lists PersistentVolumeClaim data, which Pod web uses"),
        "{words}"
    );
    assert!(!told("other").contains("lists PersistentVolumeClaim"));
}

#[test]
fn a_workload_that_was_made_for_it_and_is_scaled_to_0_is_named() {
    let workload = |instance: &str, replicas: u32| {
        let value = json!({"metadata": {"name": "s-server", "namespace": "ns", "labels": {"lab.test/store": instance}},
            "spec": {"replicas": replicas}});
        object("apps", "deployments", "Deployment", value)
    };
    let told = explained(&store(FINALIZER, &json!({})), [workload("s", 0)]);
    let says = "Deployment s-server was made for it, and is scaled to 0 replicas";
    assert!(said(&told).contains(says), "{}", said(&told));
    assert!(
        chain(&told).iter().any(|(name, ..)| name == "s-server"),
        "{told:#?}"
    );
    for workload in [workload("s", 1), workload("other", 0)] {
        let told = explained(&store(FINALIZER, &json!({})), [workload]);
        assert!(!said(&told).contains("s-server"), "{}", said(&told));
    }
}

#[test]
fn a_name_in_its_status_is_told_if_that_object_is_in_trouble() {
    let away = json!({"conditions": [{"type": "Ready", "status": "False", "reason": "Away", "message": "no answer"}]});
    let named = |field: &str, name: &str, status: &Value| {
        let mut target = store(FINALIZER, &json!({}));
        target.value["status"] = json!({field: name});
        let value = json!({"metadata": {"name": "release-7", "namespace": "ns"}, "status": status});
        let version = object(GROUP, "labversions", "LabVersion", value);
        explained_with(&[(GROUP, "labversions", "LabVersion")], &[target, version])
    };
    let told = |field: &str, status: &Value| named(field, "release-7", status);
    for field in ["currentLabVersion", "currentLabVersionInstance"] {
        let words = told(field, &away);
        let says =
            format!("status.{field} names labversions.lab.test/release-7 -n ns, which is not ready: Away");
        assert!(words.contains(&says), "{words}");
    }
    // A namespace may stand before the name.
    assert!(named("currentLabVersion", "ns/release-7", &away).contains("which is not ready: Away"));
    let words = named("currentLabVersion", "far/release-7", &away);
    assert!(!words.contains("status.currentLabVersion names"), "{words}");
    // A state with a message tells as much as a condition.
    let failed = |state: &str| json!({"state": state, "message": "token is not valid"});
    let words = told("currentLabVersion", &failed("Error"));
    let says = "release-7 -n ns, which reports Error: token is not valid";
    assert!(words.contains(says), "{words}");
    // One that is well, and a field that is called after something else.
    for (field, status) in [
        ("currentLabVersionInstance", &json!({})),
        ("currentLabVersionInstance", &failed("Ready")),
        ("currentRelease", &away),
    ] {
        let words = told(field, status);
        assert!(!words.contains(&format!("status.{field} names")), "{words}");
    }
}

#[test]
fn a_version_is_no_name_of_an_object() {
    let told = |text: &str| said(&explained(&store(FINALIZER, &json!({"gadget": text})), []));
    for version in ["2.4.0", "v1.30"] {
        let words = told(version);
        assert!(!words.contains("does not exist"), "{words}");
    }
    for name in ["v1", "release-2.4"] {
        let words = told(name);
        let says = format!("spec.gadget names gadgets.lab.test/{name} -n ns, which does not exist");
        assert!(words.contains(&says), "{words}");
    }
}
