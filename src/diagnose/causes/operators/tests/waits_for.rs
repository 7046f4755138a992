//! Objects that use another object, were created for it, or must be gone before it.

use serde_json::{Value, json};

use crate::{
    diagnose::{
        Verdict,
        causes::has_own_cause,
        testing::{
            fixtures::{controller, going},
            told::{commands, said, waits_for},
            world::{World, object},
        },
    },
    knowledge::Knowledge,
    object::{Finalizer, List},
    snapshot::facts::Object,
};

fn project() -> Object {
    object(
        "argoproj.io",
        "appprojects",
        "AppProject",
        json!({"metadata": going("team", "argocd", &["resources-finalizer.argocd.argoproj.io"])}),
    )
}

fn application(name: &str, spec: &Value) -> Object {
    let metadata = json!({"name": name, "namespace": "argocd"});
    object(
        "argoproj.io",
        "applications",
        "Application",
        json!({"metadata": metadata, "spec": spec}),
    )
}

fn argo(objects: impl IntoIterator<Item = Object>) -> World {
    World::of(objects)
        .serving("argoproj.io", "applications", "Application")
        .serving("argoproj.io", "appprojects", "AppProject")
}

/// Its running controller.
fn argo_cd() -> [Object; 4] {
    let labels = json!({"app.kubernetes.io/name": "argocd-application-controller"});
    controller("argocd", "argocd-application-controller", &labels, "argoproj.io")
}

#[test]
fn only_objects_that_name_it_use_it() {
    let diagnosis = argo(
        [
            application("web", &json!({"project": "team"})),
            application("other", &json!({"project": "default"})),
            application("says-so", &json!({"description": "team"})),
        ]
        .into_iter()
        .chain(argo_cd()),
    )
    .explain(&project());
    assert_eq!(diagnosis.waits[0].verdict, Verdict::InUse, "{diagnosis:#?}");
    assert_eq!(
        waits_for(&diagnosis),
        [(
            "web".to_owned(),
            "names it in spec.project and is not being deleted".to_owned()
        )]
    );

    // Without its controller, Applications keep nothing: the project is orphaned. A user with fewer rights is not
    // diagnosis that the project is protected.
    let diagnosis = argo([application("web", &json!({"project": "team"}))]).explain(&project());
    assert_eq!(diagnosis.waits[0].verdict, Verdict::Orphaned, "{diagnosis:#?}");

    // Finding no Application proves nothing: others may reference the project in their own ways.
    let diagnosis = argo(
        [application("other", &json!({"project": "default"}))]
            .into_iter()
            .chain(argo_cd()),
    )
    .explain(&project());
    assert_ne!(diagnosis.waits[0].verdict, Verdict::InUse, "{diagnosis:#?}");
    let diagnosis = argo([application("web", &json!({"project": "team"}))])
        .hiding("applications")
        .explain(&project());
    assert!(
        diagnosis.waits[0]
            .says()
            .contains("whether any of applications.argoproj.io keeps it is not known"),
        "{diagnosis:#?}"
    );
}

#[test]
fn summarizes_many_users() {
    let many = (0..9).map(|number| application(&format!("web-{number}"), &json!({"project": "team"})));
    let diagnosis = argo(many.chain(argo_cd())).explain(&project());
    let found = waits_for(&diagnosis);
    assert_eq!(found.len(), 6, "{found:#?}");
    assert_eq!(found[5].1, "4 more applications.argoproj.io");
    let looks = diagnosis
        .steps
        .iter()
        .filter(|step| step.text.starts_with("before you delete or move it"));
    assert_eq!(looks.count(), 3);
}

/// Its controller deletes the others when these are gone. Nobody should be led to delete them by hand.
#[test]
fn a_child_that_is_not_deleted_yet_keeps_nothing_while_another_is_terminating() {
    let group = "controlplane.cluster.x-k8s.io";
    let mut metadata = going("plane", "fleet", &["talos.controlplane.cluster.x-k8s.io"]);
    metadata["uid"] = json!("the-plane");
    let plane = object(
        group,
        "taloscontrolplanes",
        "TalosControlPlane",
        json!({"metadata": metadata}),
    );
    let machine = |name: &str| {
        let owner = json!({"apiVersion": format!("{group}/v1"), "kind": "TalosControlPlane", "name": "plane",
            "uid": "the-plane"});
        let metadata = json!({"name": name, "namespace": "fleet", "uid": name, "ownerReferences": [owner]});
        object(
            "cluster.x-k8s.io",
            "machines",
            "Machine",
            json!({"metadata": metadata}),
        )
    };
    let mut terminating = machine("first");
    terminating.value["metadata"]["deletionTimestamp"] = json!("2026-01-01T11:00:00Z");
    terminating.value["metadata"]["finalizers"] = json!(["x.test/hold"]);
    let roots = |machines: Vec<Object>| {
        let labels = json!({"cluster.x-k8s.io/provider": "control-plane-talos"});
        let provider = controller("cacppt-system", "cacppt-controller-manager", &labels, group);
        let diagnosis = World::of(machines.into_iter().chain(provider))
            .serving("cluster.x-k8s.io", "machines", "Machine")
            .serving(group, "taloscontrolplanes", "TalosControlPlane")
            .explain(&plane);
        let on = &diagnosis.waits[0].on;
        let roots = on.iter().filter(|blocker| !blocker.rest);
        let names: Vec<_> = roots
            .filter_map(|blocker| Some(blocker.object.as_ref()?.name.clone()))
            .collect();
        let mut steps = diagnosis.steps.iter();
        (names, steps.any(|step| step.text.contains("Machine later")))
    };
    assert_eq!(
        roots(vec![terminating, machine("later")]),
        (vec!["first".to_owned()], false)
    );
    assert_eq!(roots(vec![machine("later")]), (vec!["later".to_owned()], true));
}

/// A DataStore of Kamaji, whose status lists the control planes that use it.
fn data_store(used_by: &Value) -> Object {
    object(
        "kamaji.clastix.io",
        "datastores",
        "DataStore",
        json!({"metadata": going("etcd", "", &["kamaji.clastix.io/TenantControlPlane"]), "status": {"usedBy": used_by}}),
    )
}

#[test]
fn a_field_that_must_be_empty_lists_what_keeps_the_object() {
    let labels =
        json!({"app.kubernetes.io/name": "kamaji", "app.kubernetes.io/component": "controller-manager"});
    let world = || {
        World::of(controller(
            "kamaji-system",
            "kamaji",
            &labels,
            "kamaji.clastix.io",
        ))
    };
    let told = world().explain(&data_store(&json!(["shop/blue", "shop/green"])));
    assert_eq!(told.waits[0].verdict, Verdict::Waiting, "{told:#?}");
    assert_eq!(
        told.waits[0].on[0].says,
        "status.usedBy still lists shop/blue, shop/green"
    );
    for empty in [json!([]), json!(null)] {
        let told = world().explain(&data_store(&empty));
        assert_eq!(told.waits[0].verdict, Verdict::Stalled, "{told:#?}");
        assert!(
            told.waits[0].says().contains("status.usedBy is empty"),
            "{told:#?}"
        );
    }
    // Nobody is late who is not known to run.
    let told = World::of([]).explain(&data_store(&json!([])));
    assert_ne!(told.waits[0].verdict, Verdict::Stalled, "{told:#?}");
}

/// An operation of KubeBlocks, which is kept while its phase is `Running`.
fn operation(status: &Value) -> Object {
    object(
        "operations.kubeblocks.io",
        "opsrequests",
        "OpsRequest",
        json!({"metadata": going("move", "shop", &["opsrequest.kubeblocks.io/finalizer"]), "spec": {}, "status": status}),
    )
}

fn kubeblocks() -> World {
    World::of(controller(
        "kb-system",
        "kubeblocks",
        &json!({"app.kubernetes.io/name": "kubeblocks", "app.kubernetes.io/component": "apps"}),
        "operations.kubeblocks.io",
    ))
}

/// An address of Deckhouse, which is kept while it is attached.
fn address(conditions: &Value) -> Object {
    object(
        "virtualization.deckhouse.io",
        "virtualmachineipaddresses",
        "VirtualMachineIPAddress",
        json!({"metadata": going("ip", "shop", &["virtualization.deckhouse.io/vmip-cleanup"]), "status": {"conditions": conditions}}),
    )
}

fn deckhouse() -> World {
    World::of(controller(
        "d8-virtualization",
        "virtualization-controller",
        &json!({"app": "virtualization-controller"}),
        "virtualization.deckhouse.io",
    ))
}

#[test]
fn a_phase_keeps_the_object_until_it_is_over() {
    let told = kubeblocks().explain(&operation(&json!({"phase": "Running"})));
    assert_eq!(told.waits[0].verdict, Verdict::Waiting, "{told:#?}");
    assert_eq!(told.waits[0].on[0].says, "status.phase is still Running");
    assert!(!commands(&told).contains("finalizers nudge"), "{told:#?}");

    // Once it is over, a running controller that does nothing is late.
    let told = kubeblocks().explain(&operation(&json!({"phase": "Succeed"})));
    assert_eq!(told.waits[0].verdict, Verdict::Stalled, "{told:#?}");
    assert_eq!(
        told.waits[0].said.now,
        ["status.phase is Succeed", "so none of that blocks it"]
    );

    // A phase that nobody can compare is no phase.
    let told = kubeblocks().explain(&operation(&json!({"phase": 1})));
    assert_eq!(told.waits[0].verdict, Verdict::Waiting, "{told:#?}");
    assert!(told.waits[0].says().contains("is not known"), "{told:#?}");
}

#[test]
fn a_phase_does_not_show_whether_an_unseen_controller_runs() {
    let told = World::of([])
        .hiding_everything()
        .explain(&operation(&json!({"phase": "Running"})));
    assert_eq!(told.waits[0].verdict, Verdict::Unknown, "{told:#?}");
    // What a controller wrote that is gone holds nothing: it is gone that holds the object.
    let told = World::of([]).explain(&operation(&json!({"phase": "Running"})));
    assert_eq!(told.waits[0].verdict, Verdict::Orphaned, "{told:#?}");
    assert!(told.waits[0].on.is_empty(), "{told:#?}");
    assert!(
        told.waits[0].says().contains("status.phase is still Running"),
        "{told:#?}"
    );
}

#[test]
fn a_condition_keeps_the_object_and_its_message_is_quoted() {
    let attached = |status: &str, message: &str| json!([{"type": "Attached", "status": status, "reason": "Attached", "message": message}]);
    let told = deckhouse().explain(&address(&attached("True", "used by machine web")));
    assert_eq!(told.waits[0].verdict, Verdict::Waiting, "{told:#?}");
    assert_eq!(told.waits[0].on.len(), 1, "{told:#?}");
    assert_eq!(
        told.waits[0].on[0].says,
        "condition Attached is True, and must be False: Attached: used by machine web"
    );

    // What the message claims does not count, only the status.
    let told = deckhouse().explain(&address(&attached("False", "it is attached to machine web")));
    assert_eq!(told.waits[0].verdict, Verdict::Stalled, "{told:#?}");
    assert_eq!(told.waits[0].said.now[0], "condition Attached is False");

    // An absent condition is neither.
    let told = deckhouse().explain(&address(&json!([{"type": "Bound", "status": "False"}])));
    assert_eq!(told.waits[0].verdict, Verdict::Waiting, "{told:#?}");
    assert!(told.waits[0].on.is_empty(), "{told:#?}");
    assert!(
        told.waits[0]
            .says()
            .contains("whether condition Attached is False is not known"),
        "{told:#?}"
    );
}

#[test]
fn an_address_waits_for_the_claim_that_it_belongs_to() {
    let group = "ipam.metal3.io";
    let owners =
        json!([{"apiVersion": "ipam.metal3.io/v1", "kind": "IPClaim", "name": "web", "uid": "ipclaims-web"}]);
    let mut metadata = going("ip-1", "shop", &["ipaddress.ipam.metal3.io"]);
    metadata["ownerReferences"] = owners;
    let address = object(
        group,
        "ipaddresses",
        "IPAddress",
        json!({"metadata": metadata, "spec": {}}),
    );
    let claim = |metadata: Value| {
        object(
            group,
            "ipclaims",
            "IPClaim",
            json!({"metadata": metadata, "spec": {}}),
        )
    };
    let world = |claim: Object| {
        World::of([claim])
            .serving(group, "ipclaims", "IPClaim")
            .serving(group, "ipaddresses", "IPAddress")
    };
    let told = world(claim(json!({"name": "web", "namespace": "shop"}))).explain(&address);
    assert_eq!(
        waits_for(&told),
        [(
            "web".to_owned(),
            "is its parent and is not being deleted".to_owned()
        )],
        "{told:#?}"
    );
    // Another claim, and one of that name elsewhere, keep nothing.
    for (name, namespace) in [("other", "shop"), ("web", "elsewhere")] {
        let metadata = json!({"name": name, "namespace": namespace, "uid": "another"});
        let told = world(claim(metadata)).explain(&address);
        assert!(waits_for(&told).is_empty(), "{told:#?}");
    }
}

#[test]
fn external_leftovers_are_named_once_everything_else_is_done() {
    let volume = |phase: &str| {
        object(
            "",
            "persistentvolumes",
            "PersistentVolume",
            json!({"metadata": going("local-1", "", &["storage.openshift.com/lso-symlink-deleter"]),
                "spec": {"local": {"path": "/mnt/local-1"}}, "status": {"phase": phase}}),
        )
    };
    let told = World::of([]).explain(&volume("Released"));
    assert!(
        told.waits[0]
            .says()
            .contains("status.phase is Released; what is left cannot be looked up: the link on the node"),
        "{told:#?}"
    );
    let told = World::of([]).explain(&volume("Bound"));
    assert!(!told.waits[0].says().contains("what is left"), "{told:#?}");
    assert!(
        said(&told).contains("status.phase is Bound, and must be Released or Available"),
        "{told:#?}"
    );
}

#[test]
fn a_word_that_few_finalizers_may_have_is_looked_up_by_their_own_causes() {
    let mut found = 0;
    for entry in Knowledge::builtin().all() {
        if entry.waits_for.on.iter().all(|wait| wait.only_for().is_none()) {
            continue;
        }
        for kind in &entry.kinds {
            let plural = format!("{}s", kind.kind().to_lowercase());
            let object = object(
                kind.group(),
                &plural,
                kind.kind(),
                json!({"metadata": {"name": "a"}}),
            );
            let finalizer = Finalizer {
                name: entry.example.clone(),
                list: List::Metadata,
            };
            // The causes of namespaces explain any name.
            let is_explained = object.is("", "namespaces") || has_own_cause(&object, &finalizer);
            assert!(is_explained, "{} on {kind}", entry.name);
            found += 1;
        }
    }
    assert!(found > 10, "{found}");
}

#[test]
fn a_usage_is_followed_to_what_it_stands_for() {
    let group = "aws.upbound.io";
    let config = object(
        group,
        "providerconfigs",
        "ProviderConfig",
        json!({"metadata": going("prod", "", &["in-use.crossplane.io"])}),
    );
    let usage = |kind: &str| {
        let owner = json!({"kind": kind, "name": "b", "uid": "b", "controller": true});
        let value = json!({"metadata": {"name": "u", "ownerReferences": [owner]},
            "providerConfigRef": {"name": "prod"},
            "resourceRef": {"apiVersion": "s3.aws.upbound.io/v1", "kind": kind, "name": "b"}});
        object(group, "providerconfigusages", "ProviderConfigUsage", value)
    };
    let bucket = |metadata: Value| {
        object(
            "s3.aws.upbound.io",
            "buckets",
            "Bucket",
            json!({"metadata": metadata}),
        )
    };
    let labels = json!({"pkg.crossplane.io/provider": "provider-aws"});
    let world = |kind: &str| {
        World::of(controller("crossplane-system", "provider-aws", &labels, group))
            .serving_everywhere(group, "providerconfigs", "ProviderConfig")
            .serving_everywhere(group, "providerconfigusages", "ProviderConfigUsage")
            .serving_everywhere("s3.aws.upbound.io", "buckets", "Bucket")
            .with(usage(kind))
    };
    let of_usage = |world: World| {
        let told = world.explain(&config);
        let on = &told.waits[0].on;
        let blocker = on
            .iter()
            .find(|on| on.object.as_ref().is_some_and(|object| object.name == "u"));
        blocker.unwrap_or_else(|| panic!("{told:#?}")).clone()
    };
    let gone = of_usage(world("Bucket"));
    assert!(
        gone.says
            .contains("; it stands for Bucket b, which does not exist any more; Bucket b made it"),
        "{}",
        gone.says
    );
    let there = of_usage(world("Bucket").with(bucket(json!({"name": "b"}))));
    assert!(there.says.contains("Bucket b, which exists"), "{}", there.says);
    let leaving = of_usage(world("Bucket").with(bucket(going(
        "b",
        "",
        &["finalizer.managedresource.crossplane.io"],
    ))));
    let on: Vec<_> = leaving.on.iter().filter_map(|on| on.object.as_ref()).collect();
    assert_eq!(on.len(), 1, "{leaving:#?}");
    assert_eq!(on[0].kind, "Bucket");
    // A kind that the API server does not have leads nowhere.
    let unknown = of_usage(world("Queue"));
    assert!(!unknown.says.contains("stands for"), "{}", unknown.says);
}
