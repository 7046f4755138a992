//! A refusal that the holder tells of: its own attempt was denied by a webhook or a policy that runs, or by the API server
//! itself, for which the object is not valid.
//!
//! What such a one goes by only it knows. But the API server's words name it, and a controller repeats them in an event or
//! a condition: `failed to clear finalizers: admission webhook "W" denied the request: …`. They count where they speak of
//! finalizers: whoever cleans up is denied other things too. Source:
//! `kubernetes/apiserver:pkg/admission/plugin/webhook/errors/statuserror.go` and
//! `pkg/admission/plugin/policy/validating/dispatcher.go`, `kubernetes/apimachinery:pkg/api/errors/errors.go` NewInvalid and
//! `pkg/api/validation/objectmeta.go` `FieldImmutableErrorMsg`.

use crate::{
    diagnose::{
        admission::{policies::Policy, webhooks::Webhook},
        causes,
        causes::api_machinery::update_rejected::{
            admission_policy, edit, namespace_exemption, namespace_exemption::Looking, refuse,
        },
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
pub(crate) fn add_reported_denials(
    object: &Object,
    finding: &mut Finding,
    webhooks: &[Webhook<'_>],
    policies: &[Policy<'_>],
    view: &View<'_>,
) -> Vec<String> {
    let mut told = Vec::new();
    if finding.wait.verdict != Verdict::Failing || !causes::is_held(object, finding) {
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
            None => {
                if let Some(words) = invalidity(&said.text) {
                    invalid(object, finding, words);
                }
                continue;
            }
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

/// What the API server found wrong with an object that was to lose a finalizer.
fn invalidity(text: &str) -> Option<&str> {
    // The words may quote the whole object, with its finalizers.
    let (tried, words) = text.split_once(" is invalid: ")?;
    let kinds = [
        "Required value",
        "Invalid value",
        "Unsupported value",
        "immutable",
    ];
    let of_server = kinds.iter().any(|kind| words.contains(kind));
    (of_server && tried.to_lowercase().contains("finalizer")).then_some(words)
}

/// An update is checked as a whole, whatever it changes.
fn invalid(object: &Object, finding: &mut Finding, words: &str) {
    finding.wait.on.push(Blocker::new(
        Some(object.reference()),
        format!("is not valid for the API server ({words}), which takes no update of it then"),
    ));
    finding.wait.verdict = Verdict::Rejected;
    refuse(finding, words);
    let text = if words.contains("immutable") {
        "see who changes that field: whoever takes the finalizer out sends it with another value, or a webhook changes it on \
         the way"
    } else {
        "correct what it names: an object that is being deleted can still be edited, and its controller can then finish. Or \
         loosen its schema for as long as it takes"
    };
    finding.steps.insert(0, edit(object, text.into()));
    finding.do_not.push(
        "delete its definition to get rid of one object: all objects of the type go with it (DATA LOSS)"
            .into(),
    );
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
    let steps = [Some(see), namespace_exemption::step(object, &looking)];
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
        admission_policy::steps(object, policy),
        admission_policy::do_not(name),
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
    use crate::diagnose::causes::api_machinery::update_rejected::reported_denial;

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
            assert_eq!(reported_denial::denial(text), denial, "{text}");
        }
    }

    #[test]
    fn what_is_not_valid_is_read_out_of_them_too() {
        let said = "failed to remove finalizer: Form.schema.test \"f\" is invalid: spec.size: Required value";
        assert_eq!(invalidity(said), Some("spec.size: Required value"));
        let said = "removing finalizers: Job.batch \"j\" is invalid: spec.template: Invalid value: field is immutable";
        assert!(invalidity(said).is_some_and(|words| words.contains("immutable")));
        for text in [
            // It may not make what it needs to clean up.
            "Job.batch \"j\" is invalid: spec.template: Required value",
            "failed to remove finalizer: the token is invalid: it has expired",
            "failed to remove finalizer: conflict",
        ] {
            assert_eq!(invalidity(text), None, "{text}");
        }
    }
}
