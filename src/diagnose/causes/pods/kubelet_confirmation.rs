//! A pod whose grace period is over and whose kubelet has not confirmed that it stopped.
//!
//! **Recognises** a pod past its grace period. **Why:** only the kubelet of its node can say that the containers
//! stopped; it waits for ever by design, because a silent node may still run them. When the node object is gone, or
//! the node is not ready and has the taint `node.kubernetes.io/out-of-service`, the pod collector of
//! kube-controller-manager removes the pod. Source: `kubernetes/kubernetes:pkg/controller/podgc/gc_controller.go`,
//! `pkg/kubelet/kubelet.go` SyncTerminatedPod. **Wants** the node, its Lease in `kube-node-lease`, and events of the
//! pod. **Concludes** with the node's own words. Ready is written by others when a node falls silent, so a Ready
//! node whose Lease is old is not believed. **Advises** to bring the node back, or to say that its machine is off.

use serde_json::Value;

use crate::{
    diagnose::{
        causes::{
            api_machinery::controller_manager,
            pods::{
                grace_period::{is_static, mirror, no_force},
                kubelet::{ready, silent},
                pod_garbage_collector::collected,
            },
        },
        holder,
        holder::Life,
        model::{Evidence, Finding, Strength, Verdict},
        view::{Missing, View},
    },
    object::Age,
    snapshot::facts::Object,
};

pub(crate) fn not_confirmed(pod: &Object, view: &View<'_>) -> Finding {
    let overdue = pod
        .deletion()
        .map_or(Age(jiff::SignedDuration::ZERO), |deletion| {
            Age::between(deletion.timestamp, view.now())
        });
    let node = pod.text("/spec/nodeName");
    let says = format!("its grace period ended {overdue} ago");
    if node.is_empty() {
        return collected(&format!("{says}, and it has no node"), pod, view);
    }
    match view.object("", "nodes", "", node) {
        Err(missing) => unseen(
            pod,
            &format!("{says}, and how its node {node} is, whose kubelet has to confirm that it stopped"),
            &missing,
        ),
        Ok(None) => {
            let mut finding = collected(&format!("{says}, and its node {node} does not exist"), pod, view);
            finding.evidence.push(Evidence {
                source: format!("Node {node}"),
                value: "not found".into(),
                strength: Strength::Proof,
            });
            finding
        }
        Ok(Some(node)) => on_node(pod, node, &says, overdue, view),
    }
}

/// Whether the kubelet can do anything was not seen, and so neither whose turn it is.
fn unseen(pod: &Object, what: &str, missing: &Missing) -> Finding {
    let says = format!("{what}, is not known: {}", missing.in_words());
    let mut finding = Finding::new(None, Verdict::Unknown, says);
    finding.do_not.push(no_force(pod));
    finding
}

fn on_node(pod: &Object, node: &Object, says: &str, overdue: Age, view: &View<'_>) -> Finding {
    let (status, reason, message) = node.condition("Ready").unwrap_or(("Unknown", "", ""));
    let lease = lease_of(node, view);
    let evidence = Evidence {
        source: format!("Node {} condition Ready", node.name()),
        value: format!("{status} {reason} {message}").trim().to_owned(),
        strength: if status == "True" {
            Strength::Moderate
        } else {
            Strength::Proof
        },
    };
    let mut finding = match (status, &lease) {
        ("True", Err(missing)) => unseen(
            pod,
            &format!(
                "{says}, and whether the kubelet of its node {}, which is Ready by its status, is alive",
                node.name()
            ),
            missing,
        ),
        ("True", Ok(Some(Life::Stale { ago, .. }))) => silent(
            pod,
            node,
            says,
            &format!(
                "Ready by its status, but its kubelet has not renewed its Lease for {ago}, so that is old"
            ),
            false,
        ),
        ("True", _) if is_static(pod) => mirror(pod),
        ("True", _) => ready(pod, node, says, overdue, view),
        _ => {
            let because = if reason.is_empty() {
                String::new()
            } else {
                format!(", {reason}")
            };
            let state = format!("not ready ({status}{because}){}", last_heard(node, view));
            silent(pod, node, says, &state, is_declared_off(node))
        }
    };
    if status != "True" && is_declared_off(node) {
        controller_manager::blame(&mut finding, view);
    }
    finding.evidence.push(evidence);
    let life = lease.ok().flatten();
    finding.evidence.extend(life.as_ref().and_then(Life::evidence));
    finding
}

/// The kubelet's own sign of life. Not every cluster has it, and its absence says nothing.
fn lease_of(node: &Object, view: &View<'_>) -> Result<Option<Life>, Missing> {
    let lease = view.object("coordination.k8s.io", "leases", "kube-node-lease", node.name())?;
    Ok(lease
        .and_then(|lease| holder::life_of_lease(lease, view.now()))
        .map(|(_, life)| life))
}

fn last_heard(node: &Object, view: &View<'_>) -> String {
    node.list("/status/conditions")
        .iter()
        .find(|condition| condition.get("type").and_then(Value::as_str) == Some("Ready"))
        .and_then(|ready| ready.get("lastHeartbeatTime").and_then(Value::as_str))
        .and_then(|text| text.parse().ok())
        .map(|time| format!(", last heard of {} ago", Age::between(time, view.now())))
        .unwrap_or_default()
}

fn is_declared_off(node: &Object) -> bool {
    node.list("/spec/taints")
        .iter()
        .any(|taint| taint.get("key").and_then(Value::as_str) == Some("node.kubernetes.io/out-of-service"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        diagnose::testing::{
            told::{commands, said, verdict},
            world::{World, bare as object},
        },
        snapshot::facts::{Answer, Query},
    };

    fn pod() -> Object {
        object(
            "",
            "pods",
            "Pod",
            json!({
                "metadata": {
                    "name": "p", "namespace": "n", "deletionTimestamp": "2026-01-01T11:00:00Z", "deletionGracePeriodSeconds": 30,
                },
                "spec": {"nodeName": "a"},
                "status": {"phase": "Running", "containerStatuses": [{"name": "c", "state": {"running": {}}}]},
            }),
        )
    }

    fn node(ready: &str) -> Object {
        let conditions = json!([{"type": "Ready", "status": ready, "reason": "R", "message": ""}]);
        object(
            "",
            "nodes",
            "Node",
            json!({"metadata": {"name": "a"}, "status": {"conditions": conditions}}),
        )
    }

    #[test]
    fn a_kubelet_that_cannot_kill_is_quoted() {
        let event = object(
            "",
            "events",
            "Event",
            json!({"reason": "FailedKillPod", "message": "error killing pod: context deadline exceeded"}),
        );
        let events = Query::Events {
            kind: "Pod".into(),
            namespace: Some("n".into()),
            name: "p".into(),
        };
        let told = World::closed()
            .object("", "nodes", "", "a", Some(node("True")))
            .object("coordination.k8s.io", "leases", "kube-node-lease", "a", None)
            .answer(events, Ok(Answer::List(vec![event])))
            .explain(&pod());
        assert_eq!(verdict(&told, ""), Some(Verdict::Failing));
        let said = said(&told);
        assert!(
            said.contains("still run: c") && said.contains("error killing pod: context deadline exceeded"),
            "{said}"
        );
    }

    #[test]
    fn a_node_that_nobody_hears_is_not_believed_and_one_that_only_we_cannot_hear_is_unknown() {
        let lease = object(
            "coordination.k8s.io",
            "leases",
            "Lease",
            json!({"metadata": {"name": "a", "namespace": "kube-node-lease"},
                "spec": {"renewTime": "2026-01-01T11:50:00.000000Z", "leaseDurationSeconds": 40}}),
        );
        let with_node = || World::closed().object("", "nodes", "", "a", Some(node("True")));
        let told = with_node()
            .object(
                "coordination.k8s.io",
                "leases",
                "kube-node-lease",
                "a",
                Some(lease),
            )
            .explain(&pod());
        assert_eq!(verdict(&told, ""), Some(Verdict::Waiting));
        let told = with_node().explain(&pod());
        assert_eq!(verdict(&told, ""), Some(Verdict::Unknown));
        assert_eq!(commands(&told), "");
    }

    #[test]
    fn a_node_that_is_gone_is_the_pod_collectors_turn() {
        let lease = object(
            "coordination.k8s.io",
            "leases",
            "Lease",
            json!({"metadata": {"name": "kube-controller-manager", "namespace": "kube-system"},
                "spec": {"renewTime": "2026-01-01T11:59:58.000000Z", "leaseDurationSeconds": 15}}),
        );
        let gone = || World::closed().object("", "nodes", "", "a", None);
        // Whether anybody collects is seen by the Lease.
        let told = gone().explain(&pod());
        assert!(!told.outlook[0].then.contains("at the latest"));
        let (group, name) = ("coordination.k8s.io", "kube-controller-manager");
        let told = gone()
            .object(group, "leases", "kube-system", name, Some(lease))
            .explain(&pod());
        // It may have gone a second ago, however long the pod has been waiting.
        assert_eq!(verdict(&told, ""), Some(Verdict::Waiting));
        assert!(said(&told).contains("pod-garbage-collector"));
        assert!(
            told.outlook[0]
                .then
                .contains("by 2026-01-01T12:01:20Z at the latest")
        );
        assert!(!commands(&told).contains("--force"));
    }

    #[test]
    fn a_node_that_cannot_be_seen_is_unknown() {
        let told = World::closed().explain(&pod());
        assert_eq!(verdict(&told, ""), Some(Verdict::Unknown));
        assert!(!told.gaps.is_empty());
        assert_eq!(commands(&told), "");
    }
}
