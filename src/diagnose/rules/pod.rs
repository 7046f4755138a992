//! An object that is being deleted and has no finalizers: for a pod, the kubelet's turn.
//!
//! **Why.** A pod goes when the kubelet of its node confirms that it stopped
//! (`kubernetes/kubernetes:pkg/kubelet/status/status_manager.go`); when its node object is gone the pod
//! collector does it (`kubernetes/kubernetes:pkg/controller/podgc/gc_controller.go`). Without grace period and
//! finalizers nothing holds an object: the second half of a delete failed, and any update finishes it
//! (`kubernetes/apiserver:pkg/registry/rest/delete.go` BeforeDelete). **Wants** the node. **Concludes** with the
//! node's own words; a grace period that still runs is slow, not stuck.

use crate::{
    diagnose::{
        model::{Blocker, Evidence, Finding, Outlook, Safety, Step, Strength, Verdict},
        view::View,
    },
    object::Age,
    snapshot::facts::Object,
};

pub(super) fn without_finalizers(object: &Object, view: &View<'_>) -> Finding {
    let Some(deletion) = object.deletion() else {
        return Finding::new(None, Verdict::Unknown, "it is not being deleted");
    };
    if deletion.grace_seconds == 0 {
        return zombie(object);
    }
    if deletion.in_grace(view.now()) {
        let rest = Age::between(view.now(), deletion.timestamp);
        return Finding::new(
            None,
            Verdict::Waiting,
            format!("its grace period runs for another {rest}; slow, not stuck"),
        );
    }
    if !object.is("", "pods") {
        return Finding::new(
            None,
            Verdict::Unknown,
            "no finalizer, and its grace period is over; nobody has finished the deletion",
        );
    }
    if !object.annotation("kubernetes.io/config.mirror").is_empty() {
        return static_pod(object);
    }
    let overdue = Age::between(deletion.timestamp, view.now());
    let node = object.text("/spec/nodeName");
    let says = format!("no finalizer; its grace period ended {overdue} ago");
    match view.object("", "nodes", "", node) {
        Err(missing) => Finding::new(
            None,
            Verdict::Unknown,
            format!(
                "{says}, and the kubelet of {node} has not confirmed that it stopped; how the node is, is not known: {}",
                missing.in_words()
            ),
        ),
        Ok(None) => {
            let mut finding = Finding::new(
                None,
                Verdict::Waiting,
                format!("{says}, and its node {node} does not exist"),
            );
            finding.outlook.push(Outlook {
                when: "if nothing is done".into(),
                then: "the pod collector of kube-controller-manager removes it within a minute or two".into(),
            });
            finding
        }
        Ok(Some(node)) => on_node(object, node, &says, view),
    }
}

fn on_node(pod: &Object, node: &Object, says: &str, view: &View<'_>) -> Finding {
    let (status, reason, message) = node.condition("Ready").unwrap_or(("Unknown", "", ""));
    let since = node
        .list("/status/conditions")
        .iter()
        .find(|condition| condition.get("type").and_then(serde_json::Value::as_str) == Some("Ready"))
        .and_then(|ready| ready.get("lastHeartbeatTime").and_then(serde_json::Value::as_str))
        .and_then(|text| text.parse().ok())
        .map(|time| format!(", last heard of {} ago", Age::between(time, view.now())))
        .unwrap_or_default();
    let evidence = Evidence {
        source: format!("Node {} condition Ready", node.name()),
        value: format!("{status} {reason} {message}").trim().to_owned(),
        strength: if status == "True" {
            Strength::Moderate
        } else {
            Strength::Proof
        },
    };
    if status == "True" {
        let mut finding = Finding::new(
            None,
            Verdict::Failing,
            format!(
                "{says}; its node {} is Ready, so its kubelet tries and does not get done: a container that cannot be \
                     killed, or a volume that cannot be unmounted",
                node.name()
            ),
        );
        finding.evidence.push(evidence);
        finding.steps.push(Step {
            when: "what to do",
            text: "see what the kubelet says; a failing unmount is only in its own log".into(),
            command: Some(format!(
                "kubectl -n {} describe pod {}",
                pod.namespace(),
                pod.name()
            )),
            safety: Safety::Safe,
        });
        finding.do_not.push(no_force(pod));
        return finding;
    }
    let mut finding = Finding::new(
        None,
        Verdict::Waiting,
        format!(
            "{says}, and only the kubelet of {} can confirm that it stopped",
            node.name()
        ),
    );
    finding.wait.on.push(Blocker::new(
        Some(node.reference()),
        format!(
            "not ready ({status}{})",
            if reason.is_empty() {
                String::new()
            } else {
                format!(", {reason}")
            }
        ) + &since,
    ));
    finding.evidence.push(evidence);
    finding.outlook.push(Outlook {
        when: "if nothing is done".into(),
        then: "it stays until the node comes back, or until somebody says that the machine is off".into(),
    });
    finding.steps.push(Step {
        when: "node comes back?",
        text: "bring it back: its kubelet finishes the deletion by itself".into(),
        command: Some(format!("kubectl describe node {}", node.name())),
        safety: Safety::Safe,
    });
    finding.steps.push(Step {
        when: "machine is off?",
        text: format!(
            "ONLY when the machine of {} is certainly off: say so. Its pods are then removed and their volumes \
             detached; if it still runs, two pods may write to one volume (DATA LOSS)",
            node.name()
        ),
        command: Some(format!("kubectl taint node {} node.kubernetes.io/out-of-service=nodeshutdown:NoExecute", node.name())),
        safety: Safety::Destructive,
    });
    finding.do_not.push(no_force(pod));
    finding
}

fn no_force(pod: &Object) -> String {
    let writers = match pod.controller() {
        Some(("StatefulSet", name)) => format!(
            "StatefulSet {name} starts the same pod elsewhere at once, and two may write to one volume"
        ),
        _ => "its containers may go on running, and nobody would know".to_owned(),
    };
    format!("force it (--force --grace-period=0): only the object goes; {writers}")
}

fn static_pod(pod: &Object) -> Finding {
    let node = pod.text("/spec/nodeName");
    let mut finding = Finding::new(
        None,
        Verdict::InUse,
        format!(
            "it mirrors a static pod: the kubelet of {node} makes it again as long as its manifest is on that node"
        ),
    );
    finding.steps.push(Step {
        when: super::INTENDED,
        text: format!("remove the manifest on {node} (usually below /etc/kubernetes/manifests)"),
        command: None,
        safety: Safety::Reversible,
    });
    finding
}

fn zombie(object: &Object) -> Finding {
    let mut finding = Finding::new(
        None,
        Verdict::Stalled,
        "nothing holds it: no finalizer and no grace period. The last step of its deletion failed once",
    );
    let namespace = object.namespace();
    let place = if namespace.is_empty() {
        String::new()
    } else {
        format!(" -n {namespace}")
    };
    finding.steps.push(Step {
        when: "what to do",
        text: "delete it once more; that finishes it".into(),
        command: Some(format!(
            "kubectl{place} delete {}/{}",
            object.resource.name(),
            object.name()
        )),
        safety: Safety::Safe,
    });
    finding.evidence.push(Evidence {
        source: format!("{} {} metadata", object.kind, object.name()),
        value: "deletionTimestamp set, deletionGracePeriodSeconds 0, no finalizers".into(),
        strength: Strength::Proof,
    });
    finding
}
