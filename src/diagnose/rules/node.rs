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

use super::pod::{is_static, mirror, no_force};
use crate::{
    diagnose::{
        holder::{self, Life},
        model::{Blocker, Evidence, Finding, Outlook, Safety, Step, Strength, Verdict},
        view::{Missing, View},
    },
    object::Age,
    snapshot::facts::Object,
};

/// The pod collector looks every 20 seconds and waits 40 after a node has vanished.
const COLLECTOR: i64 = 180;

pub(super) fn look(pod: &Object, view: &View<'_>) -> Finding {
    let overdue = pod
        .deletion()
        .map_or(Age(jiff::SignedDuration::ZERO), |deletion| {
            Age::between(deletion.timestamp, view.now())
        });
    let node = pod.text("/spec/nodeName");
    let says = format!("its grace period ended {overdue} ago");
    if node.is_empty() {
        return collected(&format!("{says}, and it has no node"), overdue, view);
    }
    match view.object("", "nodes", "", node) {
        Err(missing) => unseen(
            pod,
            &format!("{says}, and how its node {node} is, whose kubelet has to confirm that it stopped"),
            &missing,
        ),
        Ok(None) => {
            let mut finding = collected(
                &format!("{says}, and its node {node} does not exist"),
                overdue,
                view,
            );
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

/// Nobody but the pod collector has to act.
fn collected(says: &str, overdue: Age, view: &View<'_>) -> Finding {
    let mut finding = Finding::new(
        None,
        if overdue.0.as_secs() > COLLECTOR {
            Verdict::Stalled
        } else {
            Verdict::Waiting
        },
        format!("{says}; removed by kube-controller-manager (pod-garbage-collector)"),
    );
    finding.outlook.push(Outlook {
        when: "if nothing is done".into(),
        then: match super::controller_manager::stale(view) {
            Ok(Some(_)) => "it stays until kube-controller-manager runs again".into(),
            Ok(None) => {
                "the pod collector of kube-controller-manager removes it within a minute or two".into()
            }
            Err(missing) => format!(
                "it stays until the pod collector looks, and whether kube-controller-manager runs is not known: {}",
                missing.in_words()
            ),
        },
    });
    if finding.wait.verdict == Verdict::Stalled {
        finding.steps.push(Step {
            when: "what to do",
            text:
                "see whether kube-controller-manager runs, and whether something refuses its updates of pods"
                    .into(),
            command: Some("kubectl -n kube-system get lease kube-controller-manager -o yaml".into()),
            safety: Safety::Safe,
        });
    }
    super::controller_manager::blame(&mut finding, view);
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
        super::controller_manager::blame(&mut finding, view);
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
        .and_then(|lease| holder::of(lease, view.now()))
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

/// The kubelet runs and does not get done.
fn ready(pod: &Object, node: &Object, says: &str, overdue: Age, view: &View<'_>) -> Finding {
    let name = node.name();
    if overdue.0.as_secs() < super::SOON {
        let mut finding = Finding::new(
            None,
            Verdict::Waiting,
            format!("{says}; its node {name} is Ready, and its kubelet cleans up"),
        );
        finding.outlook.push(Outlook {
            when: "if nothing is done".into(),
            then:
                "it goes within a minute, unless a container cannot be killed or a volume cannot be unmounted"
                    .into(),
        });
        return finding;
    }
    let running: Vec<_> = pod
        .list("/status/containerStatuses")
        .iter()
        .filter(|container| container.pointer("/state/running").is_some())
        .filter_map(|container| container.get("name")?.as_str())
        .collect();
    let phase = pod.text("/status/phase");
    let why = if !running.is_empty() {
        format!("it says that these containers still run: {}", running.join(", "))
    } else if matches!(phase, "Succeeded" | "Failed") {
        "its containers have ended, so what is left is the clean-up on the node: most often a volume that cannot be \
         unmounted, which only the kubelet's own log tells"
            .to_owned()
    } else {
        "a container that cannot be killed, or a volume that cannot be unmounted".to_owned()
    };
    let mut finding = Finding::new(
        None,
        Verdict::Failing,
        format!("{says}; its node {name} is Ready, so its kubelet tries and does not get done: {why}"),
    );
    if let Ok(events) = view.events(pod)
        && let Some(event) = events
            .iter()
            .rev()
            .find(|event| event.text("/reason") == "FailedKillPod")
    {
        finding.say(format!("; FailedKillPod: {}", event.text("/message")));
        finding.evidence.push(Evidence {
            source: format!("Event FailedKillPod of Pod {}", pod.name()),
            value: event.text("/message").to_owned(),
            strength: Strength::Strong,
        });
    }
    finding.wait.on.push(super::as_blocker(
        node,
        "Ready; something on it keeps its kubelet from finishing the pod".to_owned(),
        view,
    ));
    finding.steps.push(Step {
        when: "what to do",
        text: format!("see what the kubelet says; a failing unmount is only in its own log (journalctl -u kubelet on {name})"),
        command: Some(format!("kubectl -n {} describe pod {}", pod.namespace(), pod.name())),
        safety: Safety::Safe,
    });
    finding.do_not.push(no_force(pod));
    finding
}

/// The kubelet cannot be heard.
fn silent(pod: &Object, node: &Object, says: &str, state: &str, declared_off: bool) -> Finding {
    let name = node.name();
    let mut finding = Finding::new(
        None,
        Verdict::Waiting,
        format!("{says}, and only the kubelet of {name} can confirm that it stopped"),
    );
    let going = if node.deletion().is_some() {
        ", being deleted itself"
    } else {
        ""
    };
    finding
        .wait
        .on
        .push(Blocker::new(Some(node.reference()), format!("{state}{going}")));
    if declared_off {
        finding.say("; the node is declared out of service, so the pod collector removes the pod");
        finding.outlook.push(Outlook {
            when: "if nothing is done".into(),
            then:
                "kube-controller-manager removes it within a minute (taint node.kubernetes.io/out-of-service)"
                    .into(),
        });
        finding.do_not.push(no_force(pod));
        return finding;
    }
    finding.outlook.push(Outlook {
        when: "if nothing is done".into(),
        then: "it stays until the node comes back, or until somebody says that the machine is off".into(),
    });
    finding.steps.push(Step {
        when: "node comes back?",
        text: "bring it back: its kubelet finishes the deletion by itself".into(),
        command: Some(format!("kubectl describe node {name}")),
        safety: Safety::Safe,
    });
    finding.steps.push(Step {
        when: "machine is off?",
        text: format!(
            "DATA LOSS if the machine of {name} still runs, because two pods may then write to one volume: ONLY when it \
             is certainly off, say so. The pods on it are then removed and their volumes detached"
        ),
        command: Some(format!(
            "kubectl taint node {name} node.kubernetes.io/out-of-service=nodeshutdown:NoExecute"
        )),
        safety: Safety::Destructive,
    });
    finding.do_not.push(no_force(pod));
    finding
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::sample::{World, commands, object, said, verdict};
    use super::*;
    use crate::snapshot::facts::{Answer, Query};

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
        let told = World::new()
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
        let with_node = || World::new().object("", "nodes", "", "a", Some(node("True")));
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
        let told = World::new().object("", "nodes", "", "a", None).explain(&pod());
        assert_eq!(verdict(&told, ""), Some(Verdict::Stalled));
        assert!(said(&told).contains("pod-garbage-collector"));
        assert!(!commands(&told).contains("--force"));
    }

    #[test]
    fn a_node_that_cannot_be_seen_is_unknown() {
        let told = World::new().explain(&pod());
        assert_eq!(verdict(&told, ""), Some(Verdict::Unknown));
        assert!(!told.gaps.is_empty());
        assert_eq!(commands(&told), "");
    }
}
