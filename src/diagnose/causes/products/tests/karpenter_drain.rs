//! A node that Karpenter drains.

use serde_json::{Value, json};

use crate::{
    diagnose::{
        Verdict,
        testing::{
            fixtures::{LONG_AGO, controller, going},
            told::{command_lines, waits_for},
            world::{World, object},
        },
    },
    snapshot::facts::Object,
};

const FINALIZER: &str = "karpenter.sh/termination";

fn node() -> Object {
    object(
        "",
        "nodes",
        "Node",
        json!({"metadata": going("ip-10-0-0-1", "", &[FINALIZER])}),
    )
}

fn labels() -> Value {
    json!({"app.kubernetes.io/name": "karpenter"})
}

fn pod(name: &str, extra: &Value) -> Object {
    let mut value = json!({"metadata": {"name": name, "namespace": "shop", "labels": {"app": name}},
        "spec": {"nodeName": "ip-10-0-0-1"}, "status": {"phase": "Running"}});
    for (pointer, field) in extra.as_object().into_iter().flatten() {
        let (parent, name) = pointer.rsplit_once('/').expect("a pointer");
        value.pointer_mut(parent).expect("its parent")[name] = field.clone();
    }
    object("", "pods", "Pod", value)
}

fn budget(app: &str, allowed: u64) -> Object {
    object(
        "policy",
        "poddisruptionbudgets",
        "PodDisruptionBudget",
        json!({"metadata": {"name": format!("pdb-{app}"), "namespace": "shop"},
            "spec": {"selector": {"matchLabels": {"app": app}}},
            "status": {"disruptionsAllowed": allowed, "currentHealthy": 1, "desiredHealthy": 1}}),
    )
}

#[test]
fn each_remaining_pod_shows_what_keeps_it() {
    let told = World::of([
        node(),
        pod("tight", &json!({})),
        budget("tight", 0),
        pod("roomy", &json!({})),
        budget("roomy", 1),
        pod(
            "marked",
            &json!({"/metadata/annotations": {"karpenter.sh/do-not-disrupt": "true"}}),
        ),
        pod(
            "ending",
            &json!({"/metadata/deletionTimestamp": "2026-01-01T11:59:30Z", "/metadata/deletionGracePeriodSeconds": 30}),
        ),
    ])
    .explain_first();
    let says = |name: &str| {
        let found = waits_for(&told).into_iter().find(|(each, _)| each == name);
        found
            .unwrap_or_else(|| panic!("nothing of {name} in {told:#?}"))
            .1
    };
    assert!(
        says("tight")
            .contains("PodDisruptionBudget pdb-tight allows no disruption (1 of 1 healthy, 1 must be)")
    );
    assert_eq!(says("roomy"), "is not evicted yet");
    assert!(says("marked").contains("is never evicted, and waited for"));
    assert_eq!(says("ending"), "is ending");
    let commands = command_lines(&told);
    assert!(
        commands.contains(&"kubectl describe poddisruptionbudget/pdb-tight -n shop".to_owned()),
        "{commands:#?}"
    );
    assert!(
        commands.contains(&"kubectl annotate pod/marked -n shop karpenter.sh/do-not-disrupt-".to_owned()),
        "{commands:#?}"
    );
}

#[test]
fn pods_that_karpenter_ignores_are_not_named() {
    let told = World::of([
        pod("done", &json!({"/status/phase": "Succeeded"})),
        pod(
            "tolerant",
            &json!({"/spec/tolerations": [{"key": "karpenter.sh/disrupted", "operator": "Exists", "effect": "NoSchedule"}]}),
        ),
        pod("static", &json!({"/metadata/ownerReferences": [{"kind": "Node", "name": "ip-10-0-0-1", "uid": "n"}]})),
        pod("late", &json!({"/metadata/deletionTimestamp": LONG_AGO, "/metadata/deletionGracePeriodSeconds": 30})),
        pod("elsewhere", &json!({"/spec/nodeName": "ip-10-0-0-2"})),
    ])
    .explain(&node());
    assert_eq!(waits_for(&told), []);
    assert!(
        told.waits[0].says().contains("no pod is left that it waits for"),
        "{told:#?}"
    );

    // A toleration of another key or another effect does not count.
    for toleration in [
        json!({"key": "karpenter.sh/unregistered", "operator": "Exists"}),
        json!({"key": "karpenter.sh/disrupted", "operator": "Exists", "effect": "NoExecute"}),
    ] {
        let told = World::of([pod("other", &json!({"/spec/tolerations": [toleration]}))]).explain(&node());
        assert_eq!(waits_for(&told).len(), 1, "{told:#?}");
    }
}

#[test]
fn many_pods_are_summed_up_and_unreadable_objects_are_reported() {
    let many = (0..8).map(|number| pod(&format!("web-{number}"), &json!({})));
    let told = World::of(many).explain(&node());
    let found = waits_for(&told);
    assert_eq!(found.len(), 6);
    assert_eq!(found[5].1, "3 more pods of this node");

    let told = World::of([pod("web", &json!({})), budget("web", 0)])
        .hiding("poddisruptionbudgets")
        .explain(&node());
    assert!(
        waits_for(&told)[0]
            .1
            .contains("whether a budget forbids to evict it is not known")
    );
    let told = World::of([pod("web", &json!({}))])
        .hiding("pods")
        .explain(&node());
    assert!(
        told.waits[0]
            .says()
            .contains("which pods are left on it is not known")
    );
}

/// Karpenter writes `Drained`, and waits for the volumes next.
#[test]
fn a_drained_node_waits_for_the_volumes_that_are_attached_to_it() {
    let attachment = |node: &str| {
        object(
            "storage.k8s.io",
            "volumeattachments",
            "VolumeAttachment",
            json!({"metadata": {"name": format!("csi-{node}")},
                "spec": {"nodeName": node, "attacher": "ebs.csi.aws.com", "source": {"persistentVolumeName": "pv"}}}),
        )
    };
    let told = |drained: &str, objects: Vec<Object>| {
        let mut claim = claim(&[("Drained", drained)]);
        claim.value["status"]["nodeName"] = "ip-10-0-0-1".into();
        let all = [claim.clone(), node(), pod("left", &json!({}))];
        let running = controller("karpenter", "karpenter", &labels(), "karpenter.sh");
        let all = all.into_iter().chain(objects).chain(running);
        waits_for(&World::of(all).explain(&claim))
    };
    let drained = told("True", vec![attachment("ip-10-0-0-1"), attachment("ip-10-0-0-2")]);
    assert_eq!(drained.len(), 1, "{drained:?}");
    assert_eq!(drained[0].0, "csi-ip-10-0-0-1");
    assert!(told("True", vec![attachment("ip-10-0-0-2")]).is_empty());
    let draining = told("Unknown", vec![attachment("ip-10-0-0-1")]);
    assert_eq!(draining[0].0, "ip-10-0-0-1", "{draining:?}");
    // A node without pods has the same wait.
    let running = controller("karpenter", "karpenter", &labels(), "karpenter.sh");
    let all = [node(), attachment("ip-10-0-0-1")].into_iter().chain(running);
    let empty = waits_for(&World::of(all).explain_first());
    assert!(
        empty.iter().any(|(name, _)| name == "csi-ip-10-0-0-1"),
        "{empty:?}"
    );
}

#[test]
fn a_node_claim_waits_for_its_node() {
    let claim = |node: &str| {
        object(
            "karpenter.sh",
            "nodeclaims",
            "NodeClaim",
            json!({"metadata": going("default-x", "", &[FINALIZER]), "status": {"nodeName": node}}),
        )
    };
    let labels = json!({"app.kubernetes.io/name": "karpenter"});
    let karpenter = controller("kube-system", "karpenter", &labels, "karpenter.sh");
    let told = World::of([node()].into_iter().chain(karpenter)).explain(&claim("ip-10-0-0-1"));
    assert_eq!(told.waits[0].verdict, Verdict::Waiting, "{told:#?}");
    assert_eq!(
        waits_for(&told)[0].1,
        "its node is still there, and is being drained"
    );
    let told = World::of([]).explain(&claim("ip-10-0-0-1"));
    assert!(
        told.waits[0]
            .says()
            .contains("is gone, so only the machine is left"),
        "{told:#?}"
    );
    let told = World::of([node()]).explain(&claim(""));
    assert_eq!(waits_for(&told), []);
}

/// A claim for a machine, with these conditions.
fn claim(conditions: &[(&str, &str)]) -> Object {
    let conditions: Vec<_> = conditions
        .iter()
        .map(|(kind, status)| json!({"type": kind, "status": status}))
        .collect();
    object(
        "karpenter.sh",
        "nodeclaims",
        "NodeClaim",
        json!({"metadata": going("gpu", "", &[FINALIZER]), "status": {"conditions": conditions}}),
    )
}

#[test]
fn steps_for_a_phase_that_is_past_or_never_began_are_left_out() {
    let evictions = "Make room for the evictions";
    let unconfirmed = "The launch was not confirmed";
    for (conditions, expected) in [
        (&[("Launched", "True"), ("Drained", "Unknown")][..], [true, false]),
        (&[("Launched", "True")], [true, false]),
        (&[("Launched", "True"), ("Drained", "True")], [false, false]),
        (&[("Launched", "Unknown")], [false, true]),
        (&[], [true, true]),
    ] {
        let told = World::of([claim(conditions)]).explain_first();
        let is_told = |text: &str| told.steps.iter().any(|step| step.text.contains(text));
        assert_eq!(
            [evictions, unconfirmed].map(is_told),
            expected,
            "{conditions:?}: {told:#?}"
        );
    }
}
