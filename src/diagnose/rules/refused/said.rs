//! A refusal that the holder tells of: its own attempt was denied by a webhook or a policy that runs.
//!
//! What such a one goes by only it knows. But the API server's words name it, and a controller repeats them in an event or
//! a condition: `failed to clear finalizers: admission webhook "W" denied the request: …`. They count where they speak of
//! finalizers: whoever cleans up is denied other things too. Source:
//! `kubernetes/apiserver:pkg/admission/plugin/webhook/errors/statuserror.go` and
//! `pkg/admission/plugin/policy/validating/dispatcher.go`.

use super::{
    except::{self, Looking},
    refuse,
};
use crate::{
    diagnose::{
        admission::{policies::Policy, webhooks::Webhook},
        complaint::complaints,
        model::{Blocker, Finding, Safety, Step, Verdict},
        view::View,
    },
    snapshot::facts::Object,
};

/// Who refused, in the server's words.
#[derive(Debug, PartialEq)]
enum Denial<'a> {
    Webhook(&'a str),
    Policy(&'a str),
}

/// `webhooks` and `policies` are asked about every update of the object, or may be. Names those that were told of.
pub(super) fn look(
    object: &Object,
    finding: &mut Finding,
    webhooks: &[Webhook<'_>],
    policies: &[Policy<'_>],
    view: &View<'_>,
) -> Vec<String> {
    let mut told = Vec::new();
    if finding.wait.verdict != Verdict::Failing || !super::super::is_held(object, finding) {
        return told;
    }
    for said in &complaints(object, view) {
        let (name, named) = match denial(&said.text) {
            Some(Denial::Webhook(name)) => {
                let found = webhooks.iter().find(|webhook| webhook.name == name);
                (name, found.map(|webhook| by_webhook(object, webhook)))
            }
            Some(Denial::Policy(name)) => {
                let found = policies.iter().find(|policy| policy.object.name() == name);
                (name, found.map(|policy| by_policy(object, policy)))
            }
            None => continue,
        };
        let Some((blocker, steps, do_not)) = named else {
            not_found(finding, view);
            continue;
        };
        told.push(name.to_owned());
        finding.wait.on.push(blocker);
        finding.wait.verdict = Verdict::Rejected;
        refuse(finding, &said.text);
        finding.steps.splice(0..0, steps);
        finding.do_not.push(do_not);
    }
    told
}

/// It may have been changed since, or not be about this object; or nobody could look.
fn not_found(finding: &mut Finding, view: &View<'_>) {
    let group = "admissionregistration.k8s.io";
    let kinds = [
        "mutatingwebhookconfigurations",
        "validatingwebhookconfigurations",
        "validatingadmissionpolicies",
        "validatingadmissionpolicybindings",
    ];
    let unseen = kinds.iter().find_map(|plural| view.list(group, plural, "").err());
    if let Some(missing) = unseen {
        finding.wait.verdict = Verdict::Waiting;
        finding.say(format!(
            "; whether whoever denied it is still asked is not known: {}",
            missing.in_words()
        ));
    }
}

fn by_webhook(object: &Object, webhook: &Webhook<'_>) -> (Blocker, Vec<Step>, String) {
    let configuration = webhook.configuration;
    let (kind, name) = (configuration.resource.name(), configuration.name());
    let see = Step {
        when: "what to do",
        text: format!(
            "ask whoever runs webhook {} why it refuses, and whether a newer version lets finalizers go",
            webhook.name
        ),
        command: Some(format!("kubectl get {kind}/{name} -o yaml")),
        safety: Safety::Safe,
    };
    let at = format!("/webhooks/{}", webhook.index);
    let looking = Looking {
        configuration,
        same: (format!("{at}/name"), webhook.name),
        at,
        name: format!("webhook {}", webhook.name),
    };
    let steps = [Some(see), except::step(object, &looking)];
    (
        Blocker::new(
            Some(configuration.reference()),
            format!(
                "webhook {} is asked about every update of it, and has refused its controller's",
                webhook.name
            ),
        ),
        steps.into_iter().flatten().collect(),
        format!("delete {name}: it works, and what it checks would be checked nowhere any more"),
    )
}

fn by_policy(object: &Object, policy: &Policy<'_>) -> (Blocker, Vec<Step>, String) {
    let name = policy.object.name();
    (
        Blocker::new(
            Some(policy.object.reference()),
            format!(
                "applies to it through binding {}, and has refused its controller's update",
                policy.binding.name()
            ),
        ),
        super::policy::steps(object, policy),
        super::policy::do_not(name),
    )
}

/// Who denied that a finalizer is taken out, if that is what these words say.
fn denial(text: &str) -> Option<Denial<'_>> {
    if !text.to_lowercase().contains("finalizer") {
        return None;
    }
    let named = |start: &str, quote: char, end: &str| {
        let (_, rest) = text.split_once(start)?;
        let (name, after) = rest.split_once(quote)?;
        after.contains(end).then_some(name)
    };
    named("admission webhook \"", '"', "denied the request")
        .or_else(|| named("failed calling webhook \"", '"', ""))
        .map(Denial::Webhook)
        .or_else(|| named("ValidatingAdmissionPolicy '", '\'', "denied request").map(Denial::Policy))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_denied_is_read_out_of_the_servers_words() {
        let tekton = "InternalError: failed to clear finalizers: admission webhook \
                      \"validation.webhook.pipeline.tekton.dev\" denied the request: validation failed: invalid value: Once \
                      the PipelineRun is complete, no updates are allowed";
        for (text, denial) in [
            (
                tekton,
                Some(Denial::Webhook("validation.webhook.pipeline.tekton.dev")),
            ),
            (
                "removing finalizer: Internal error occurred: failed calling webhook \"a.test\": Post \"https://x\": EOF",
                Some(Denial::Webhook("a.test")),
            ),
            (
                "could not remove Finalizer: jobs.batch \"a\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' \
                 denied request: no",
                Some(Denial::Policy("p")),
            ),
            // It may not make what it needs to clean up.
            (
                "failed to create Job: admission webhook \"a.test\" denied the request: no",
                None,
            ),
            ("failed to remove finalizer: conflict", None),
            ("finalizer: admission webhook \"a.test", None),
        ] {
            assert_eq!(super::denial(text), denial, "{text}");
        }
    }
}
