//! The conditions of the namespace controller, quoted literally because people search for these messages.
//!
//! They are evidence and no more. They show what the controller saw last, and never change while it does not run.
//! From Kubernetes 1.33 on, they may claim that all content is gone while Pods remain. Source:
//! `kubernetes/kubernetes:pkg/controller/namespace/deletion/status_condition_utils.go`.

use crate::{
    diagnose::{
        causes::api_machinery::controller_manager::stale_lease,
        kinds::Condition,
        model::{Evidence, Finding, Strength, Verdict},
        view::View,
    },
    snapshot::facts::Object,
};

/// Adds the messages of the controller literally, because people search for them. They are evidence, because they may
/// be old or wrong.
pub(crate) fn add_conditions(finding: &mut Finding, namespace: &Object, view: &View<'_>) {
    if Condition::all(namespace).next().is_none() && namespace.deletion().is_some() {
        finding.evidence.push(Evidence {
            source: format!("Namespace {} status.conditions", namespace.name()),
            value: "none yet: the namespace controller has not reported on this deletion".into(),
            strength: Strength::Moderate,
        });
    }
    for kind in [
        "NamespaceDeletionDiscoveryFailure",
        "NamespaceDeletionGroupVersionParsingFailure",
        "NamespaceDeletionContentFailure",
        "NamespaceContentRemaining",
        "NamespaceFinalizersRemaining",
    ] {
        if let Some(("True", _, message)) = namespace.condition(kind) {
            finding.evidence.push(Evidence {
                source: format!("Namespace {} condition {kind}", namespace.name()),
                value: message.to_owned(),
                strength: Strength::Moderate,
            });
        }
    }
    if let Some(("True", _, message)) = namespace.condition("NamespaceDeletionDiscoveryFailure") {
        add_discovery_failure(message, finding, view);
    }
    if let Some(("True", _, message)) = namespace.condition("NamespaceDeletionGroupVersionParsingFailure") {
        finding.wait.verdict = Verdict::Failing;
        finding.say(format!("it fails: {message}"));
    }
}

/// Adds that some group did not answer. Where one does not answer now, that group is named instead.
fn add_discovery_failure(message: &str, finding: &mut Finding, view: &View<'_>) {
    let groups = view.silent_groups();
    if groups.is_empty() {
        finding.say(format!(
            "at its last try an API group did not answer, and now all do: {message}"
        ));
    } else if !groups.iter().any(|gap| gap.why.is_unavailable()) {
        // Nothing else that is known says more.
        let fact = format!(
            "at its last try an API group did not answer, and whether it does now is not known: {message}"
        );
        finding.wait.said.now.insert(0, fact);
        // The controller tries again, and would have written that it succeeded.
        if finding.wait.verdict == Verdict::Unknown && matches!(stale_lease(view), Ok(None)) {
            finding.wait.verdict = Verdict::Waiting;
        }
    }
}
