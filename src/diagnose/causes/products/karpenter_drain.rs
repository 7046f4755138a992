//! `karpenter.sh/termination`: a node that Karpenter drains before it terminates the machine.
//!
//! # Symptom
//!
//! A Node or NodeClaim stays in deletion, with the finalizer `karpenter.sh/termination`. Events say `FailedDraining` or
//! `DisruptionBlocked`, and `Cannot evict pod as it would violate the pod's disruption budget`.
//!
//! ```text
//! $ kubectl finalizers explain node/ip-10-0-0-1 --from tests/causes/products.yaml
//! ```
//!
//! # Why
//!
//! Karpenter terminates the machine when no pod of the node waits for eviction. It ignores pods that have finished,
//! tolerate `karpenter.sh/disrupted`, belong to the node itself, or are a minute over their grace period. It never
//! evicts a pod with `karpenter.sh/do-not-disrupt`, but still waits for it. The API server refuses an eviction that a
//! PodDisruptionBudget does not allow.
//!
//! # Before you act
//!
//! See which pods are left on the node, and what keeps each.
//!
//! # If it was a mistake
//!
//! The deletion cannot be withdrawn. Karpenter makes another node if pods need one.
//!
//! # If it was intended
//!
//! Make room in the budget: repair pods that are not healthy, or run one more. Ask whoever set
//! `karpenter.sh/do-not-disrupt`.
//!
//! # Do not
//!
//! Do not remove the finalizer from the Node. The machine runs on and costs money, and nobody drains its pods.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | waiting | pods remain; each is named with what keeps it. Or the node is drained, and volumes are attached to it |
//! | (of the controller) | Karpenter is gone |
//! | stalled | no pod remains, and Karpenter has not acted |
//!
//! # What it reads
//!
//! The pods of the node and the budgets of their namespaces; for a NodeClaim its Node. Once the NodeClaim says `Drained`, the
//! VolumeAttachments of the node: Karpenter waits until its volumes are detached, before it ends the machine.
//!
//! # Sources
//!
//! - `kubernetes-sigs/karpenter:pkg/utils/pod/scheduling.go`
//! - `kubernetes-sigs/karpenter:pkg/controllers/node/termination/terminator/terminator.go`

use crate::{
    command::Command,
    diagnose::{
        causes::{
            advice::explain_step,
            cause::{Cause, Described, On, Reads, Tells, Turn},
            verdicts::set_unless_holder_is_at_fault,
        },
        disruption,
        holder::Holder,
        kinds::{OwnerReference, Pod, VolumeAttachment},
        limits,
        model::{Blocker, Evidence, Finding, Page, Safety, Step, Strength, Verdict, When},
        timing,
        view::View,
    },
    object::Age,
    snapshot::facts::{By, Object},
};

const FINALIZER: &str = "karpenter.sh/termination";
const DO_NOT_DISRUPT: &str = "karpenter.sh/do-not-disrupt";
const TAINT: &str = "karpenter.sh/disrupted";

pub(crate) const CAUSE: Cause = Cause {
    types: &[("karpenter.sh", "nodeclaims"), ("", "nodes")],
    finalizer: On::Named(FINALIZER),
    reads: Reads::Whole,
    page: Page::of(module_path!()),
    tells: Tells::Described(Turn::Product, add_pods_to_drain),
};

/// Adds what the drain of the node still waits for.
fn add_pods_to_drain(described: &Described<'_>, finding: &mut Finding, view: &View<'_>) {
    let Described { object, holder, .. } = *described;
    if object.is("karpenter.sh", "nodeclaims") {
        add_node_of_claim(object, holder, finding, view);
    } else if object.is("", "nodes") {
        add_pods_of_node(object, holder, finding, view);
    }
}

/// Adds the Node that a NodeClaim waits for.
fn add_node_of_claim(claim: &Object, holder: &Holder, finding: &mut Finding, view: &View<'_>) {
    let name = claim.text("/status/nodeName");
    if name.is_empty() {
        return;
    }
    if is_drained(claim) {
        add_attached_volumes(name, holder, finding, view);
        return;
    }
    match view.object("", "nodes", "", name) {
        Ok(Some(node)) => {
            let state = if node.deletion().is_some() {
                "is being drained"
            } else {
                "is not being deleted yet"
            };
            set_unless_holder_is_at_fault(finding, holder, Verdict::Waiting);
            finding
                .wait
                .on
                .push(view.blocker(node, format!("its node is still there, and {state}")));
            finding.steps.insert(
                0,
                explain_step(
                    node,
                    format!("see what holds node {name}: its machine is ended after that"),
                ),
            );
        }
        Ok(None) => finding.say(format!(
            "its node {name} is gone, so only the machine is left to be ended"
        )),
        Err(missing) => finding.say(format!(
            "whether its node {name} is left is not known: {}",
            missing.in_words()
        )),
    }
}

/// Whether Karpenter has drained the node of this NodeClaim.
fn is_drained(claim: &Object) -> bool {
    matches!(claim.condition("Drained"), Some(("True", ..)))
}

/// Adds the volumes that are still attached to a node which is drained: Karpenter waits for them next.
fn add_attached_volumes(node: &str, holder: &Holder, finding: &mut Finding, view: &View<'_>) {
    let attachments = match view.list("storage.k8s.io", "volumeattachments", "") {
        Ok(attachments) => attachments,
        Err(missing) => {
            finding.say(format!(
                "which volumes are still attached to {node} is not known: {}",
                missing.in_words()
            ));
            return;
        }
    };
    let on_node = |attachment: &&Object| VolumeAttachment(attachment).node() == node;
    let attached: Vec<_> = attachments.iter().filter(on_node).collect();
    if attached.is_empty() {
        finding.say(format!(
            "no volume is attached to {node} any more, so its machine is ended next"
        ));
        return;
    }
    set_unless_holder_is_at_fault(finding, holder, Verdict::Waiting);
    finding.tell_of(Page::of(module_path!()));
    for attachment in attached.into_iter().take(limits::BLOCKERS) {
        let says =
            format!("is still attached to {node}, which is drained: Karpenter waits until it is detached");
        finding.wait.on.push(view.blocker(attachment, says));
        let step = format!("see why VolumeAttachment {} is not detached", attachment.name());
        finding.steps.push(explain_step(attachment, step));
    }
}

/// Adds the pods that the drain of a Node waits for.
fn add_pods_of_node(node: &Object, holder: &Holder, finding: &mut Finding, view: &View<'_>) {
    let pods = match view.search("", "pods", "", By::Node(node.name().to_owned())) {
        Ok(pods) => pods,
        Err(missing) => {
            finding.say(format!(
                "which pods are left on it is not known: {}",
                missing.in_words()
            ));
            return;
        }
    };
    let remaining: Vec<_> = pods.iter().filter(|pod| is_awaited(pod, view)).collect();
    finding.evidence.push(Evidence {
        source: format!("pods with spec.nodeName {}", node.name()),
        value: format!(
            "{} of {} are still to be evicted or to end",
            remaining.len(),
            pods.len()
        ),
        strength: Strength::Proof,
    });
    if remaining.is_empty() {
        finding.say("no pod is left that it waits for");
        add_attached_volumes(node.name(), holder, finding, view);
        return;
    }
    set_unless_holder_is_at_fault(finding, holder, Verdict::Waiting);
    for pod in remaining.iter().take(limits::BLOCKERS) {
        let (says, step) = why_pod_remains(pod, view);
        finding.tell_of(Page::of(module_path!()));
        finding.wait.on.push(view.blocker(pod, says));
        if node.deletion().is_some() {
            finding.steps.extend(step);
        }
    }
    if remaining.len() > limits::BLOCKERS {
        let rest = format!("{} more pods of this node", remaining.len() - limits::BLOCKERS);
        finding.tell_of(Page::of(module_path!()));
        finding.wait.on.push(Blocker::new(None, rest));
    }
}

/// Whether Karpenter waits for the pod.
fn is_awaited(pod: &Object, view: &View<'_>) -> bool {
    let of_the_node = OwnerReference::all(pod).any(|owner| owner.kind() == "Node");
    let given_up = pod.deletion().is_some_and(|deletion| {
        Age::between(deletion.timestamp, view.now()).0.as_secs() > timing::KARPENTER_GIVES_UP
    });
    !Pod(pod).is_finished() && !of_the_node && !given_up && !Pod(pod).tolerates(TAINT)
}

/// Why the pod is still there, and what to do.
fn why_pod_remains(pod: &Object, view: &View<'_>) -> (String, Option<Step>) {
    if pod.deletion().is_some() {
        return ("is ending".into(), None);
    }
    if pod.annotation(DO_NOT_DISRUPT) == "true" {
        let step = Step {
            when: When::Now,
            text: format!(
                "ask who marked pod {}, and why: what it does must not be interrupted. When it may, take the mark away, and \
                 it is evicted",
                pod.name()
            ),
            command: Some(Command::of(
                "kubectl -n {} annotate pod {} {}-",
                [pod.namespace(), pod.name(), DO_NOT_DISRUPT],
            )),
            safety: Safety::Reversible,
            lets_go: Vec::new(),
        };
        return (
            format!("is marked {DO_NOT_DISRUPT}: it is never evicted, and waited for"),
            Some(step),
        );
    }
    match disruption::blocking_budget(pod, view) {
        Ok(Some(budget)) => {
            let step = Step {
                when: When::Now,
                text: format!(
                    "see what PodDisruptionBudget {} counts. Once its pods are healthy, or one more of them runs, the \
                     eviction is allowed",
                    budget.name()
                ),
                command: Some(Command::of(
                    "kubectl -n {} describe poddisruptionbudget {}",
                    [budget.namespace(), budget.name()],
                )),
                safety: Safety::ReadOnly,
                lets_go: Vec::new(),
            };
            let says = format!("cannot be evicted: {}", disruption::allows_none(budget, view));
            (says, Some(step))
        }
        Ok(None) => ("is not evicted yet".into(), None),
        Err(missing) => (
            format!(
                "whether a budget forbids to evict it is not known: {}",
                missing.in_words()
            ),
            None,
        ),
    }
}
