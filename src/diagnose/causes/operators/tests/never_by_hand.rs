//! A guest of KubeVirt that may still write to its disk.

use serde_json::{Value, json};

use crate::{
    diagnose::{
        model::StepKind,
        removal::Veto,
        testing::{
            fixtures::going,
            world::{World, object},
        },
    },
    knowledge::{Filter, Knowledge, While},
    object::is_custom_group,
    snapshot::facts::Object,
};

fn guest() -> Object {
    let held = ["kubevirt.io/foregroundDeleteVirtualMachine"];
    object(
        "kubevirt.io",
        "virtualmachineinstances",
        "VirtualMachineInstance",
        json!({"metadata": going("guest", "vms", &held), "status": {"nodeName": "n"}}),
    )
}

fn launcher(phase: &str, owner: &str) -> Object {
    object(
        "",
        "pods",
        "Pod",
        json!({"metadata": {"name": "virt-launcher-guest", "namespace": "vms",
            "ownerReferences": [{"kind": "VirtualMachineInstance", "name": "guest", "uid": owner, "controller": true}]},
            "status": {"phase": phase}}),
    )
}

fn node(ready: &str, taints: &Value) -> Object {
    object(
        "",
        "nodes",
        "Node",
        json!({"metadata": {"name": "n"}, "spec": {"taints": taints},
            "status": {"conditions": [{"type": "Ready", "status": ready}]}}),
    )
}

/// The vetoes on the guest, in words.
fn vetoes(world: &World) -> Vec<String> {
    vetoes_on(&guest(), world)
}

fn vetoes_on(target: &Object, world: &World) -> Vec<String> {
    let diagnosis = world.explain(target);
    let vetoes: Vec<_> = diagnosis.waits.iter().flat_map(|wait| &wait.vetoes).collect();
    assert!(
        vetoes.is_empty()
            || !diagnosis
                .steps
                .iter()
                .any(|step| step.kind() == StepKind::RemoveFinalizer),
        "{diagnosis:#?}"
    );
    vetoes.into_iter().map(Veto::why).collect()
}

#[test]
fn a_guest_that_may_run_keeps_its_finalizer_whoever_is_gone() {
    let uid = guest().uid().to_owned();
    let because = "two guests that write to one disk destroy it";
    let ready = || node("True", &json!([]));
    assert_eq!(
        vetoes(&World::of([ready(), launcher("Running", &uid)])),
        [format!("its pod virt-launcher-guest has not ended: {because}")]
    );
    assert_eq!(
        vetoes(&World::of([node("Unknown", &json!([]))])),
        [format!("its node n does not report: {because}")]
    );
    // Not everything could be read.
    for hidden in ["pods", "nodes"] {
        let found = vetoes(&World::of([ready()]).hiding(hidden));
        assert!(found[0].contains("is not known"), "{hidden}: {found:?}");
    }
}

#[test]
fn a_guest_that_ended_or_whose_node_is_gone_is_not_forbidden() {
    let uid = guest().uid().to_owned();
    let out =
        json!([{"key": "node.kubernetes.io/out-of-service", "value": "nodeshutdown", "effect": "NoExecute"}]);
    for world in [
        World::of([node("True", &json!([])), launcher("Succeeded", &uid)]),
        World::of([node("True", &json!([])), launcher("Running", "of-another")]),
        World::of([node("Unknown", &out)]),
        World::default(),
    ] {
        assert_eq!(vetoes(&world), Vec::<String>::new());
    }
}

/// What an entry forbids: the object, one that it still needs, and one that almost fits.
#[expect(clippy::too_many_lines, reason = "a table")]
fn forbidden() -> Vec<(Object, Object, Object)> {
    let held = |group: &str, plural: &str, kind: &str, namespace: &str, finalizer: &str, rest: &Value| {
        let mut value = rest.clone();
        value["metadata"] = going("it", namespace, &[finalizer]);
        object(group, plural, kind, value)
    };
    let volume = |handle: &str, cluster: &str| {
        let csi =
            json!({"driver": "d.test", "volumeHandle": handle, "volumeAttributes": {"clusterID": cluster}});
        object(
            "",
            "persistentvolumes",
            "PersistentVolume",
            json!({"metadata": {"name": "pv", "uid": "pv"}, "spec": {"csi": csi}}),
        )
    };
    let custom = |group: &str, plural: &str, kind: &str, namespace: &str, name: &str| {
        let value = json!({"metadata": {"name": name, "namespace": namespace, "uid": name}, "spec": {}});
        object(group, plural, kind, value)
    };
    let attachment = |volume: &str| {
        object(
            "storage.k8s.io",
            "volumeattachments",
            "VolumeAttachment",
            json!({"metadata": {"name": "a", "uid": "a"}, "spec": {"attacher": "d.test", "nodeName": "n",
                "source": {"persistentVolumeName": volume}}}),
        )
    };
    let pod = |namespace: &str, phase: &str| {
        object(
            "",
            "pods",
            "Pod",
            json!({"metadata": {"name": "p", "namespace": namespace, "uid": "p"}, "status": {"phase": phase}}),
        )
    };
    let machine = |id: &str| {
        object(
            "",
            "nodes",
            "Node",
            json!({"metadata": {"name": "n", "uid": "n"}, "spec": {"providerID": id}}),
        )
    };
    vec![
        (
            held(
                "longhorn.io",
                "replicas",
                "Replica",
                "l",
                "longhorn.io",
                &json!({"spec": {"volumeName": "disk"}}),
            ),
            volume("disk", ""),
            volume("other", ""),
        ),
        (
            held(
                "ceph.rook.io",
                "cephclusters",
                "CephCluster",
                "rook",
                "cephcluster.ceph.rook.io",
                &json!({"spec": {}}),
            ),
            volume("1", "rook"),
            volume("1", "other"),
        ),
        (
            held(
                "",
                "secrets",
                "Secret",
                "rook",
                "ceph.rook.io/disaster-protection",
                &json!({}),
            ),
            custom("ceph.rook.io", "cephclusters", "CephCluster", "rook", "c"),
            custom("ceph.rook.io", "cephclusters", "CephCluster", "other", "c"),
        ),
        (
            held(
                "",
                "persistentvolumes",
                "PersistentVolume",
                "",
                "external-attacher/d-test",
                &json!({"spec": {"csi": {"driver": "d.test", "volumeHandle": "1"}}}),
            ),
            attachment("it"),
            attachment("other"),
        ),
        (
            held(
                "kubevirt.io",
                "virtualmachineinstancemigrations",
                "VirtualMachineInstanceMigration",
                "vms",
                "kubevirt.io/migrationJobFinalize",
                &json!({"spec": {"vmiName": "guest"}}),
            ),
            custom(
                "kubevirt.io",
                "virtualmachineinstances",
                "VirtualMachineInstance",
                "vms",
                "guest",
            ),
            custom(
                "kubevirt.io",
                "virtualmachineinstances",
                "VirtualMachineInstance",
                "vms",
                "other",
            ),
        ),
        (
            held(
                "core.gardener.cloud",
                "shootstates",
                "ShootState",
                "g",
                "core.gardener.cloud/shootstate",
                &json!({"spec": {}}),
            ),
            custom("core.gardener.cloud", "shoots", "Shoot", "g", "it"),
            custom("core.gardener.cloud", "shoots", "Shoot", "g", "other"),
        ),
        (
            held(
                "",
                "namespaces",
                "Namespace",
                "",
                "controller.cattle.io/namespace-auth",
                &json!({"spec": {}}),
            ),
            custom("management.cattle.io", "clusters", "Cluster", "", "it"),
            custom("management.cattle.io", "clusters", "Cluster", "", "other"),
        ),
        (
            held(
                "operator.tigera.io",
                "installations",
                "Installation",
                "",
                "tigera.io/operator-cleanup",
                &json!({"spec": {}}),
            ),
            pod("calico-system", "Running"),
            pod("calico-system", "Succeeded"),
        ),
        (
            held(
                "karpenter.sh",
                "nodeclaims",
                "NodeClaim",
                "",
                "karpenter.sh/termination",
                &json!({"spec": {}, "status": {"providerID": "aws:///1"}}),
            ),
            machine("aws:///1"),
            machine("aws:///2"),
        ),
    ]
}

/// A cluster with the target and this object, whose type the API server has.
fn beside(target: &Object, one: &Object) -> World {
    let resource = &one.resource;
    let world = World::of([target.clone(), one.clone()]);
    if is_custom_group(&resource.group) {
        return world.serving(&resource.group, &resource.plural, &one.kind);
    }
    world
}

#[test]
fn what_upstream_forbids_while_something_is_left_is_refused_as_long_as_it_is_there() {
    for (target, needed, other) in forbidden() {
        let found = vetoes_on(&target, &beside(&target, &needed));
        let left = format!("{} is left", needed.reference().in_words());
        assert!(
            found.iter().any(|veto| veto.starts_with(&left)),
            "{}: {found:?}",
            target.kind
        );
        let found = vetoes_on(&target, &beside(&target, &other));
        assert!(
            !found.iter().any(|veto| veto.contains("is left")),
            "{}: {found:?}",
            target.kind
        );
    }
}

#[test]
fn what_may_be_left_and_could_not_be_read_is_refused_as_well() {
    for (target, needed, _) in forbidden() {
        let plural: &'static str = needed.resource.plural.clone().leak();
        let found = vetoes_on(&target, &beside(&target, &needed).hiding(plural));
        assert!(
            found.iter().any(|veto| veto.contains("not known")),
            "{}: {found:?}",
            target.kind
        );
    }
}

#[test]
fn a_node_that_does_not_report_keeps_an_attachment_of_its_disk() {
    let attachment = object(
        "storage.k8s.io",
        "volumeattachments",
        "VolumeAttachment",
        json!({"metadata": going("a", "", &["external-attacher/d-test"]),
            "spec": {"attacher": "d.test", "nodeName": "n", "source": {"persistentVolumeName": "pv"}}}),
    );
    let out =
        json!([{"key": "node.kubernetes.io/out-of-service", "value": "nodeshutdown", "effect": "NoExecute"}]);
    let silent = World::of([node("Unknown", &json!([]))]);
    assert!(vetoes_on(&attachment, &silent)[0].starts_with("its node n does not report"));
    for world in [
        World::of([node("True", &json!([]))]),
        World::of([node("Unknown", &out)]),
        World::default(),
    ] {
        assert_eq!(vetoes_on(&attachment, &world), Vec::<String>::new());
    }
}

/// Every entry whose cause forbids it has a test of that cause, which this list names.
#[test]
fn a_cause_that_is_to_forbid_a_removal_is_known() {
    let all = Knowledge::builtin();
    let of_causes: Vec<_> = all
        .catalog(&Filter::default())
        .into_iter()
        .filter(|entry| {
            entry
                .never_by_hand
                .as_ref()
                .is_some_and(|never| never.r#while == While::ItsCauseForbids)
        })
        .map(|entry| entry.name.clone())
        .collect();
    // `crd_instances::tests::a_type_that_is_not_served_may_still_have_instances`
    assert_eq!(of_causes, ["customresourcecleanup.apiextensions.k8s.io"]);
}
