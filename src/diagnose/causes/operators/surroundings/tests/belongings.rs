//! What an object owns, its siblings, and its users where the catalogue has only words.

use serde_json::{Value, json};

use super::{GROUP, chain, explained, store};
use crate::{
    diagnose::{
        Diagnosis, Verdict,
        testing::{
            fixtures::{controller, going},
            told::{said, verdict},
            world::{World, object},
        },
    },
    snapshot::facts::Object,
};

const FINALIZER: &str = "lab.test/wait";

#[test]
fn an_owned_object_that_is_being_deleted_first_is_what_its_controller_waits_for() {
    let shelf = |owner: &str, is_going: bool| {
        let mut metadata = json!({"name": "shelf", "namespace": "ns", "uid": "sh", "finalizers": ["lab.test/shelf"],
            "ownerReferences": [{"apiVersion": "lab.test/v1", "kind": "Store", "name": "s", "uid": owner}]});
        if is_going {
            metadata["deletionTimestamp"] = "2026-01-01T10:00:00Z".into();
        }
        object(GROUP, "gadgets", "Gadget", json!({"metadata": metadata}))
    };
    let told = |other: Object| explained(&store(FINALIZER, &json!({})), [other]);
    let diagnosis = told(shelf("u", true));
    assert_eq!(verdict(&diagnosis, FINALIZER), Some(Verdict::Waiting));
    let says = "belongs to it, and is being deleted";
    assert!(
        chain(&diagnosis)
            .iter()
            .any(|(name, words, ..)| name == "shelf" && words.contains(says)),
        "{diagnosis:#?}"
    );
    for other in [shelf("u", false), shelf("other", true)] {
        let diagnosis = told(other);
        assert!(
            !chain(&diagnosis)
                .iter()
                .any(|(_, words, ..)| words.contains(says)),
            "{diagnosis:#?}"
        );
    }
}

#[test]
fn pods_of_the_same_owner_that_are_not_ready_are_named() {
    let member = |name: &str, owner: &str, ready: &str| {
        let mut metadata = going(name, "ns", &[FINALIZER]);
        metadata["ownerReferences"] = json!([{"apiVersion": "lab.test/v1", "kind": "Store", "name": "s", "uid": owner, "controller": true}]);
        if name != "server" {
            metadata["finalizers"] = json!([]);
            metadata["deletionTimestamp"] = Value::Null;
        }
        object(
            "",
            "pods",
            "Pod",
            json!({"metadata": metadata, "spec": {"nodeName": "n"}, "status": {"phase": "Running", "conditions": [
                {"type": "Ready", "status": ready, "reason": "ContainersNotReady", "message": "unready: [server]"}]}}),
        )
    };
    let told = |sibling: Object| {
        let mut world = World::of(controller("lab", "lab-operator", &json!({"app": "lab"}), GROUP));
        let server = member("server", "u", "False");
        world = world.with(server.clone()).with(sibling);
        said(&world.explain(&server))
    };
    let words = told(member("coordinator", "u", "False"));
    assert!(
        words.contains(
            "Pod coordinator of the same Store is not ready: ContainersNotReady: unready: [server]"
        ),
        "{words}"
    );
    for sibling in [
        member("coordinator", "u", "True"),
        member("coordinator", "other", "False"),
    ] {
        let words = told(sibling);
        assert!(!words.contains("of the same Store"), "{words}");
    }
}

#[test]
fn members_that_are_being_deleted_and_containers_that_have_not_ended_are_told() {
    let member = |name: &str, finalizers: &[&str], state: &Value| {
        let mut metadata = going(name, "ns", finalizers);
        metadata["ownerReferences"] = json!([{"apiVersion": "lab.test/v1", "kind": "Store", "name": "s", "uid": "u", "controller": true}]);
        let lost = json!({"terminated": {"reason": "ContainerStatusUnknown", "exitCode": 137}});
        let status = json!({"phase": "Running", "containerStatuses": [{"name": "broker", "state": state, "lastState": lost}]});
        object(
            "",
            "pods",
            "Pod",
            json!({"metadata": metadata, "spec": {"nodeName": "n"}, "status": status}),
        )
    };
    let ended = json!({"terminated": {"exitCode": 0}});
    let told = |state: &Value, others: &[Object]| {
        let mut world = World::of(controller("lab", "lab-operator", &json!({"app": "lab"}), GROUP));
        let server = member("server", &[FINALIZER], state);
        for other in others {
            world = world.with(other.clone());
        }
        said(&world.with(server.clone()).explain(&server))
    };
    let words = told(
        &ended,
        &[member("server-1", &[], &ended), member("server-2", &[], &ended)],
    );
    assert!(
        words.contains("Of the same Store, these are being deleted, too: server-1, server-2"),
        "{words}"
    );
    assert!(!words.contains("By its status"), "{words}");
    let words = told(&json!({"waiting": {"reason": "ContainerCreating"}}), &[]);
    let says =
        "By its status, container broker waits (ContainerCreating), and ended before: ContainerStatusUnknown";
    assert!(words.contains(says), "{words}");
    assert!(!words.contains("Of the same"), "{words}");
}

/// A Pod on a node, of a DaemonSet that an object without a namespace owns.
fn explained_on_node(owned_by: &str, node_ready: &str, pod_ready: &str) -> Diagnosis {
    let mut target = store(FINALIZER, &json!({}));
    target.resource.plural = "labsystems".into();
    target.kind = "LabSystem".into();
    target.value["metadata"]["namespace"] = Value::Null;
    let owners = |by: &str, kind: &str| json!([{"apiVersion": "x/v1", "kind": kind, "name": "s", "uid": by, "controller": true}]);
    let set = json!({"metadata": {"name": "s", "namespace": "lab", "uid": "set", "ownerReferences": owners(owned_by, "LabSystem")},
        "status": {"desiredNumberScheduled": 0}});
    let condition = |status: &str| json!({"conditions": [{"type": "Ready", "status": status}]});
    let pod = json!({"metadata": {"name": "s-7", "namespace": "lab", "ownerReferences": owners("set", "DaemonSet")},
        "spec": {"nodeName": "porto"}, "status": {"phase": "Running", "conditions": condition(pod_ready)["conditions"]}});
    let node = json!({"metadata": {"name": "porto"}, "status": condition(node_ready)});
    World::of(controller("lab", "lab-operator", &json!({"app": "lab"}), GROUP))
        .serving_everywhere(GROUP, "labsystems", "LabSystem")
        .with(object("apps", "daemonsets", "DaemonSet", set))
        .with(object("", "pods", "Pod", pod))
        .with(object("", "nodes", "Node", node))
        .explain(&target)
}

#[test]
fn a_pod_of_an_object_without_a_namespace_on_a_node_that_is_not_ready_keeps_it() {
    let says = "was made for it, is on node porto, which is not ready";
    let waits = |told: &Diagnosis| chain(told).iter().any(|(_, words, ..)| words.contains(says));
    let told = explained_on_node("u", "Unknown", "False");
    assert!(waits(&told), "{told:#?}");
    assert_eq!(verdict(&told, FINALIZER), Some(Verdict::Waiting));
    for (owner, node, pod) in [
        ("other", "Unknown", "False"),
        ("u", "True", "False"),
        ("u", "Unknown", "True"),
    ] {
        let told = explained_on_node(owner, node, pod);
        assert!(!waits(&told), "{owner} {node} {pod}: {told:#?}");
    }
}

#[test]
fn a_status_that_tells_of_users_is_quoted() {
    let told = |status: Value| {
        let mut target = store(FINALIZER, &json!({}));
        target.value["status"] = status;
        explained(&target, [])
    };
    for (status, says) in [
        (json!({"inUse": true}), "Its status.inUse is true"),
        (
            json!({"linked_by_policies": [{"name": "gold", "namespace": "api"}]}),
            "Its status.linked_by_policies is api/gold",
        ),
        (json!({"usedBy": "web"}), "Its status.usedBy is web"),
    ] {
        let diagnosis = told(status);
        assert!(said(&diagnosis).contains(says), "{}", said(&diagnosis));
        assert_eq!(verdict(&diagnosis, FINALIZER), Some(Verdict::Waiting));
    }
    for status in [
        json!({"inUse": false}),
        json!({"usedBy": []}),
        json!({"createdBy": "web"}),
    ] {
        let diagnosis = told(status);
        assert!(!said(&diagnosis).contains("Its status."), "{}", said(&diagnosis));
        assert_eq!(verdict(&diagnosis, FINALIZER), Some(Verdict::Stalled));
    }
}

#[test]
fn an_object_of_the_same_name_whose_kind_begins_with_its_kind_is_named() {
    let binding = |name: &str| {
        object(
            GROUP,
            "storebindings",
            "StoreBinding",
            json!({"metadata": {"name": name, "namespace": "ns"}}),
        )
    };
    let told = |name: &str| {
        let mut world = World::of(controller("lab", "lab-operator", &json!({"app": "lab"}), GROUP));
        world = world.serving(GROUP, "stores", "Store");
        world = world.serving(GROUP, "storebindings", "StoreBinding");
        world.with(binding(name)).explain(&store(FINALIZER, &json!({})))
    };
    let words = said(&told("s"));
    assert!(
        words.contains("StoreBinding s has the same name, and exists"),
        "{words}"
    );
    let words = said(&told("t"));
    assert!(!words.contains("same name"), "{words}");
}

#[test]
fn an_object_of_another_namespace_that_names_one_like_it_is_told_of_where_its_own_words_speak_of_that_kind() {
    let told = |message: &str, store_name: &str| {
        let mut target = store(FINALIZER, &json!({}));
        target.value["status"] = json!({"conditions": [
            {"type": "Ready", "status": "False", "reason": "InUse", "message": message}]});
        let app = json!({"metadata": {"name": "web", "namespace": "far"}, "spec": {"store": store_name}});
        let mut world = World::of(controller("lab", "lab-operator", &json!({"app": "lab"}), GROUP));
        world = world.serving(GROUP, "stores", "Store");
        world = world.serving(GROUP, "labapps", "LabApp");
        said(
            &world
                .with(object(GROUP, "labapps", "LabApp", app))
                .explain(&target),
        )
    };
    let words = told("a LabApp still uses this store", "s");
    let says = "LabApp web in namespace far names one of the same name in spec.store";
    assert!(words.contains(says), "{words}");
    // Without those words, it names a store of its own namespace.
    for (message, name) in [
        ("the backend does not answer", "s"),
        ("a LabApp still uses this store", "other"),
    ] {
        let words = told(message, name);
        assert!(!words.contains("LabApp web"), "{words}");
    }
}

#[test]
fn users_are_looked_for_where_the_catalogue_tells_the_wait_only_in_words() {
    let group = "toolchain.dev.openshift.com";
    let labels = json!({"kubesaw-control-plane": "kubesaw-controller-manager"});
    let told = |tier: &str| {
        let metadata = going("gpu", "host", &["finalizer.toolchain.dev.openshift.com"]);
        let target = json!({"metadata": metadata, "spec": {}});
        let target = object(group, "nstemplatetiers", "NSTemplateTier", target);
        let space = json!({"metadata": {"name": "desk", "namespace": "host"}, "spec": {"tierName": tier}});
        World::of(controller(
            "host",
            "host-operator-controller-manager",
            &labels,
            group,
        ))
        .serving(group, "nstemplatetiers", "NSTemplateTier")
        .serving(group, "spaces", "Space")
        .with(object(group, "spaces", "Space", space))
        .explain(&target)
    };
    let diagnosis = told("gpu");
    let finalizer = "finalizer.toolchain.dev.openshift.com";
    assert_eq!(verdict(&diagnosis, finalizer), Some(Verdict::Waiting));
    let words = said(&diagnosis);
    assert!(
        words.contains("Space desk still names it in spec.tierName"),
        "{words}"
    );
    let words = said(&told("other"));
    assert!(!words.contains("still names it"), "{words}");
}

#[test]
fn what_the_owner_names_and_does_not_exist_is_told() {
    let told = |uid: &str, others: &[Object]| {
        let mut machine = store(FINALIZER, &json!({}));
        machine.value["metadata"]["ownerReferences"] = json!([{"apiVersion": "lab.test/v1", "kind": "Gadget", "name": "g", "uid": uid, "controller": true}]);
        let value = json!({"metadata": {"name": "g", "namespace": "ns", "uid": "g-1"},
            "spec": {"bootstrap": {"dataSecretName": "boot"}}});
        let owner = object(GROUP, "gadgets", "Gadget", value);
        let mut world = World::of(controller("lab", "lab-operator", &json!({"app": "lab"}), GROUP))
            .serving(GROUP, "gadgets", "Gadget")
            .serving("", "secrets", "Secret")
            .with(owner);
        for other in others {
            world = world.with(other.clone());
        }
        said(&world.explain(&machine))
    };
    let words = told("g-1", &[]);
    let expected =
        "Its owner Gadget g names secret/boot -n ns in spec.bootstrap.dataSecretName, which does not exist";
    assert!(words.contains(expected), "{words}");
    // It exists, or the owner is another object of that name.
    let secret = object(
        "",
        "secrets",
        "Secret",
        json!({"metadata": {"name": "boot", "namespace": "ns"}}),
    );
    for words in [told("g-1", &[secret]), told("g-0", &[])] {
        assert!(!words.contains("does not exist"), "{words}");
    }
    // Another object that works names the same, and does not need it either.
    let value = json!({"metadata": {"name": "h", "namespace": "ns"}, "spec": {"bootstrap": {"dataSecretName": "boot"}},
        "status": {"phase": "Running"}});
    let words = told("g-1", &[object(GROUP, "gadgets", "Gadget", value)]);
    assert!(!words.contains("does not exist"), "{words}");
}
