//! `karpenter.sh/termination`: a node that is drained before its machine is ended.
//!
//! **Recognises** the finalizer on a Node or a `NodeClaim`. **Why:** Karpenter ends the machine when no pod of the node waits
//! to be evicted: not those that have finished, that tolerate `karpenter.sh/disrupted`, that belong to the node itself, or
//! that have been ending for a minute longer than they may. A pod with `karpenter.sh/do-not-disrupt` it never evicts, and
//! waits for all the same; an eviction that a `PodDisruptionBudget` does not allow is refused. Sources:
//! `kubernetes-sigs/karpenter:pkg/utils/pod/scheduling.go`,
//! `pkg/controllers/node/termination/terminator/terminator.go`,
//! `kubernetes/kubernetes:pkg/registry/core/pod/storage/eviction.go`. **Wants** the pods of the node, the budgets of their
//! namespaces; of a `NodeClaim` its Node. **Concludes** `waiting` with the pods that are left, unless the holder is gone; says
//! of each what keeps it. **Advises** to make room in the budget or to ask who marked the pod; never to take the finalizer
//! off the Node, which leaves the machine running and pods on a node that nobody drains.

use serde_json::Value;

use crate::{
    diagnose::{
        causes::{
            advice::{place_of, see},
            verdicts::waits,
        },
        holder::Holder,
        kinds::Pod,
        limits,
        model::{Blocker, Evidence, Finding, Safety, Step, Strength, Verdict},
        timing,
        view::{Missing, View},
    },
    object::{Age, Finalizer},
    snapshot::{
        facts::{By, Object},
        selector::Selector,
    },
};

const FINALIZER: &str = "karpenter.sh/termination";
const KEEP: &str = "karpenter.sh/do-not-disrupt";
const TAINT: &str = "karpenter.sh/disrupted";

pub(crate) fn add_pods_to_drain(
    object: &Object,
    finalizer: &Finalizer,
    holder: &Holder,
    finding: &mut Finding,
    view: &View<'_>,
) {
    if finalizer.name != FINALIZER {
        return;
    }
    if object.is("karpenter.sh", "nodeclaims") {
        of_claim(object, holder, finding, view);
    } else if object.is("", "nodes") {
        of_node(object, holder, finding, view);
    }
}

fn of_claim(claim: &Object, holder: &Holder, finding: &mut Finding, view: &View<'_>) {
    let name = claim.text("/status/nodeName");
    if name.is_empty() {
        return;
    }
    match view.object("", "nodes", "", name) {
        Ok(Some(node)) => {
            let going = if node.deletion().is_some() {
                "is being drained"
            } else {
                "is not being deleted yet"
            };
            waits(finding, holder, Verdict::Waiting);
            finding
                .wait
                .on
                .push(view.blocker(node, format!("its node is still there, and {going}")));
            finding.steps.insert(
                0,
                see(
                    node,
                    format!("see what holds node {name}: its machine is ended after that"),
                ),
            );
        }
        Ok(None) => finding.say(format!(
            "; its node {name} is gone, so only the machine is left to be ended"
        )),
        Err(missing) => finding.say(format!(
            "; whether its node {name} is left is not known: {}",
            missing.in_words()
        )),
    }
}

fn of_node(node: &Object, holder: &Holder, finding: &mut Finding, view: &View<'_>) {
    let pods = match view.search("", "pods", "", By::Node(node.name().to_owned())) {
        Ok(pods) => pods,
        Err(missing) => {
            finding.say(format!(
                "; which pods are left on it is not known: {}",
                missing.in_words()
            ));
            return;
        }
    };
    let left: Vec<_> = pods.iter().filter(|pod| is_awaited(pod, view)).collect();
    finding.evidence.push(Evidence {
        source: format!("pods with spec.nodeName {}", node.name()),
        value: format!(
            "{} of {} are still to be evicted or to end",
            left.len(),
            pods.len()
        ),
        strength: Strength::Proof,
    });
    if left.is_empty() {
        finding.say(
            "; no pod is left that it waits for, so volumes are detached next, and then its machine is ended",
        );
        return;
    }
    waits(finding, holder, Verdict::Waiting);
    for pod in left.iter().take(limits::BLOCKERS) {
        let (says, step) = kept(pod, view);
        finding.wait.on.push(view.blocker(pod, says));
        if node.deletion().is_some() {
            finding.steps.extend(step);
        }
    }
    if left.len() > limits::BLOCKERS {
        let rest = format!("{} more pods of this node", left.len() - limits::BLOCKERS);
        finding.wait.on.push(Blocker::new(None, rest));
    }
}

/// Karpenter's own predicate.
fn is_awaited(pod: &Object, view: &View<'_>) -> bool {
    let of_the_node = pod
        .list("/metadata/ownerReferences")
        .iter()
        .any(|owner| owner.get("kind").and_then(Value::as_str) == Some("Node"));
    let given_up = pod.deletion().is_some_and(|deletion| {
        Age::between(deletion.timestamp, view.now()).0.as_secs() > timing::KARPENTER_GIVES_UP
    });
    !Pod(pod).is_finished() && !of_the_node && !given_up && !tolerates(pod)
}

fn tolerates(pod: &Object) -> bool {
    pod.list("/spec/tolerations").iter().any(|toleration| {
        let field = |name: &str| toleration.get(name).and_then(Value::as_str).unwrap_or_default();
        let every_key = field("key").is_empty() && field("operator") == "Exists";
        let this_key = field("key") == TAINT && (field("operator") == "Exists" || field("value").is_empty());
        (every_key || this_key) && matches!(field("effect"), "" | "NoSchedule")
    })
}

/// Why it is still there, and what can be done.
fn kept(pod: &Object, view: &View<'_>) -> (String, Option<Step>) {
    if pod.deletion().is_some() {
        return ("is ending".into(), None);
    }
    if pod.annotation(KEEP) == "true" {
        let step = Step {
            when: "what to do",
            text: format!(
                "ask who marked pod {}, and why: what it does must not be interrupted. When it may, take the mark away, and \
                 it is evicted",
                pod.name()
            ),
            command: Some(format!(
                "kubectl{} annotate pod {} {KEEP}-",
                place_of(pod),
                pod.name()
            )),
            safety: Safety::Reversible,
        };
        return (
            format!("is marked {KEEP}: it is never evicted, and waited for"),
            Some(step),
        );
    }
    match budget(pod, view) {
        Ok(Some(budget)) => {
            let number = |field: &str| budget.number(&format!("/status/{field}")).unwrap_or_default();
            let step = Step {
                when: "what to do",
                text: format!(
                    "make room in PodDisruptionBudget {}: repair its pods that are not healthy, or run one more of them; then \
                     the eviction is allowed",
                    budget.name()
                ),
                command: Some(format!(
                    "kubectl{} describe poddisruptionbudget {}",
                    place_of(budget),
                    budget.name()
                )),
                safety: Safety::Safe,
            };
            let says = format!(
                "cannot be evicted: PodDisruptionBudget {} allows no disruption ({} healthy, {} wanted)",
                budget.name(),
                number("currentHealthy"),
                number("desiredHealthy")
            );
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

/// The budget that allows no disruption of this pod.
fn budget<'a>(pod: &Object, view: &View<'a>) -> Result<Option<&'a Object>, Missing> {
    let labels = pod.labels();
    let budgets = view.list("policy", "poddisruptionbudgets", pod.namespace())?;
    Ok(budgets.iter().find(|budget| {
        let selector = budget
            .value
            .pointer("/spec/selector")
            .and_then(Selector::of_object);
        budget.number("/status/disruptionsAllowed").unwrap_or_default() == 0
            && selector.is_some_and(|selector| selector.matches(&labels))
    }))
}
