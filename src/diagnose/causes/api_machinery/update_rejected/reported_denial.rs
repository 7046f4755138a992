//! A rejection that the controller reports: a running webhook or policy denied its own update, or the API server
//! found the object invalid.
//!
//! Only the webhook or policy itself knows why it denies. But the message of the API server names it, and a
//! controller repeats that message in an event or a condition: `failed to clear finalizers: admission webhook "W"
//! denied the request: …`. A controller that cleans up is denied other things too. So a message counts only if it mentions
//! finalizers, or if the webhook that it names is asked about objects of this type alone and the message tells of no other
//! request. A controller may also report it on the owner that it works for, as the Job controller does for a Pod. It counts
//! whoever wrote it, because it does not stand alone: the webhook or policy that it names must match this object, and whether
//! it still denies is tried out before a removal. Source:
//! `kubernetes/apiserver:pkg/admission/plugin/webhook/errors/statuserror.go` and
//! `pkg/admission/plugin/policy/validating/dispatcher.go`, `kubernetes/apimachinery:pkg/api/errors/errors.go`
//! NewInvalid and `pkg/api/validation/objectmeta.go` `FieldImmutableErrorMsg`.

use crate::{
    command::Command,
    diagnose::{
        admission::{policies::Policy, webhooks::Webhook},
        causes::api_machinery::update_rejected::{
            PAGE, add_rejection, admission_policy, edit_step, namespace_exemption,
        },
        complaint::{complaints, complaints_of_owner},
        kinds::WebhookConfiguration,
        model::{Blocker, Finding, Safety, Step, Verdict, When},
        view::View,
    },
    snapshot::facts::Object,
};

/// The webhook or policy that denied, from the message of the server.
#[derive(Debug, PartialEq)]
enum Denial<'a> {
    Webhook(&'a str),
    Policy(&'a str),
}

/// Adds the denials that the controller reports. `webhooks` and `policies` match every update of the object, or may
/// match. Returns the names of those that a message reports.
pub(crate) fn add_reported_denials(
    object: &Object,
    finding: &mut Finding,
    is_of_operator: bool,
    webhooks: &[Webhook<'_>],
    policies: &[Policy<'_>],
    view: &View<'_>,
) -> Vec<String> {
    let mut reported = Vec::new();
    let may_be_denied = matches!(
        finding.wait.verdict,
        Verdict::Failing | Verdict::Waiting | Verdict::Unknown | Verdict::Stalled
    );
    if !may_be_denied {
        return reported;
    }
    let own = if is_of_operator {
        complaints(object, view)
    } else {
        Vec::new()
    };
    let is_anybody_asked = !webhooks.is_empty() || !policies.is_empty();
    let of_owner = if is_anybody_asked {
        complaints_of_owner(object, view)
    } else {
        Vec::new()
    };
    for complaint in own.iter().chain(&of_owner).filter(|one| one.is_failure) {
        let (name, named) = match denial(&complaint.text) {
            Some(Denial::Webhook(name)) => {
                let found = webhooks.iter().find(|webhook| webhook.name == name);
                let is_of_type = found.is_some_and(|webhook| webhook.is_only_for(&object.resource));
                let is_update = is_of_type && may_be_of_update(&complaint.text);
                if !mentions_finalizers(&complaint.text) && !is_update {
                    continue;
                }
                (name, found.map(|webhook| by_webhook(object, webhook)))
            }
            Some(Denial::Policy(name)) if mentions_finalizers(&complaint.text) => {
                let found = policies.iter().find(|policy| policy.object.name() == name);
                (name, found.map(|policy| by_policy(object, policy)))
            }
            Some(Denial::Policy(_)) => continue,
            None => {
                if let Some(words) = validation_error(&complaint.text) {
                    add_invalid_object(object, finding, words);
                }
                continue;
            }
        };
        let Some((blocker, steps, do_not)) = named else {
            add_unknown_denier(name, finding, complaint.is_recent(view.now()), view);
            continue;
        };
        reported.push(name.to_owned());
        finding.wait.on.push(blocker);
        finding.tell_of(PAGE);
        finding.wait.verdict = Verdict::Rejected;
        let is_quoted = finding.wait.on.iter().any(|on| on.quotes(&complaint.source));
        add_rejection(finding, (!is_quoted).then_some(&complaint.text));
        finding.steps.splice(0..0, steps);
        finding.do_not.push(do_not);
    }
    reported
}

/// The validation error of the API server for an object that was to lose a finalizer.
fn validation_error(text: &str) -> Option<&str> {
    // The message may quote the whole object, with its finalizers.
    let (tried, words) = text.split_once(" is invalid: ")?;
    let kinds = [
        "Required value",
        "Invalid value",
        "Unsupported value",
        "immutable",
    ];
    let is_from_server = kinds.iter().any(|kind| words.contains(kind));
    (is_from_server && tried.to_lowercase().contains("finalizer")).then_some(words)
}

/// Adds that the object is invalid. The API server validates the whole object at any update.
fn add_invalid_object(object: &Object, finding: &mut Finding, words: &str) {
    finding.wait.on.push(Blocker::new(
        Some(object.reference()),
        format!("is not valid for the API server ({words}), which takes no update of it then"),
    ));
    finding.tell_of(PAGE);
    finding.wait.verdict = Verdict::Rejected;
    add_rejection(finding, Some(words));
    let text = if words.contains("immutable") {
        "see who changes that field: whoever takes the finalizer out sends it with another value, or a webhook changes it on \
         the way"
    } else {
        "correct what it names: an object that is being deleted can still be edited, and its controller can then finish. Or \
         loosen its schema for as long as it takes"
    };
    finding.steps.insert(0, edit_step(object, text.into()));
    finding.do_not.push(
        "delete its definition to get rid of one object: all objects of the type go with it (DATA LOSS)"
            .into(),
    );
}

/// Handles a denier that was not found. It may have been changed since, or the message is about another object, or
/// the configurations could not be read. A controller that was denied in the last minutes fails all the same.
fn add_unknown_denier(name: &str, finding: &mut Finding, is_recent: bool, view: &View<'_>) {
    let group = "admissionregistration.k8s.io";
    let kinds = [
        "mutatingwebhookconfigurations",
        "validatingwebhookconfigurations",
        "validatingadmissionpolicies",
        "validatingadmissionpolicybindings",
    ];
    let lists: Vec<_> = kinds.iter().map(|plural| view.list(group, plural, "")).collect();
    // One that exists, and is not asked about this update, has denied something else.
    let has_it = |configuration: &Object| {
        let mut webhooks = WebhookConfiguration(configuration).webhooks();
        configuration.name() == name || webhooks.any(|webhook| webhook.name() == name)
    };
    if lists.iter().flatten().any(|list| list.iter().any(has_it)) {
        return;
    }
    if let Some(missing) = lists.into_iter().find_map(Result::err) {
        if !(is_recent && finding.wait.verdict == Verdict::Failing) {
            finding.wait.verdict = Verdict::Waiting;
        }
        finding.say(format!(
            "whether whoever denied it is still asked is not known: {}",
            missing.in_words()
        ));
    }
}

fn by_webhook(object: &Object, webhook: &Webhook<'_>) -> (Blocker, Vec<Step>, String) {
    let configuration = webhook.configuration;
    let (kind, name) = (configuration.resource.name(), configuration.name());
    let see = Step {
        when: When::Now,
        text: format!(
            "ask whoever runs webhook {} why it refuses, and whether a newer version lets finalizers go",
            webhook.name
        ),
        command: Some(Command::of("kubectl get {}/{} -o yaml", [&kind, name])),
        safety: Safety::ReadOnly,
        lets_go: Vec::new(),
    };
    let steps = [Some(see), namespace_exemption::of_webhook(object, webhook)];
    (
        Blocker::new(
            Some(configuration.reference()),
            format!(
                "webhook {} is asked about every update of it, and has refused its controller's",
                webhook.name
            ),
        ),
        steps.into_iter().flatten().collect(),
        do_not(webhook),
    )
}

pub(super) fn do_not(webhook: &Webhook<'_>) -> String {
    let name = webhook.configuration.name();
    format!("delete {name}: it works, and what it checks would be checked nowhere any more")
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

fn mentions_finalizers(text: &str) -> bool {
    text.to_lowercase().contains("finalizer")
}

/// Whether the denial can be that of an update: nothing but a reason stands in front of it, or it says so. `failed to create
/// Job: admission webhook …` is another request.
fn may_be_of_update(text: &str) -> bool {
    let Some((before, _)) = text.split_once("admission webhook \"") else {
        return false;
    };
    let before = before.trim().trim_end_matches(':');
    let is_reason = !before.contains(char::is_whitespace);
    is_reason || ["updat", "patch"].iter().any(|word| before.contains(word))
}

/// The webhook or policy that denied a request, if the message names it.
fn denial(text: &str) -> Option<Denial<'_>> {
    let quoted_name = |start: &str, quote: char, end: &str| {
        let (_, rest) = text.split_once(start)?;
        let (name, after) = rest.split_once(quote)?;
        after.contains(end).then_some(name)
    };
    quoted_name("admission webhook \"", '"', "denied the request")
        .or_else(|| quoted_name("failed calling webhook \"", '"', ""))
        .map(Denial::Webhook)
        .or_else(|| quoted_name("ValidatingAdmissionPolicy '", '\'', "denied request").map(Denial::Policy))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::causes::api_machinery::update_rejected::reported_denial;

    #[test]
    fn finds_who_denied_in_the_message_of_the_server() {
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
            ("failed to remove finalizer: conflict", None),
            ("finalizer: admission webhook \"a.test", None),
        ] {
            assert_eq!(reported_denial::denial(text), denial, "{text}");
        }
    }

    #[test]
    fn a_denial_behind_a_reason_may_be_of_an_update() {
        for text in [
            "admission webhook \"a.test\" denied the request: no",
            "InternalError: admission webhook \"a.test\" denied the request: no",
            "failed to update Widget: admission webhook \"a.test\" denied the request: no",
        ] {
            assert!(may_be_of_update(text), "{text}");
        }
        for text in [
            "failed to create Job: admission webhook \"a.test\" denied the request: no",
            "InternalError: cannot apply Widget: admission webhook \"a.test\" denied the request: no",
            "denied",
        ] {
            assert!(!may_be_of_update(text), "{text}");
        }
    }

    #[test]
    fn finds_the_validation_error_in_the_message_of_the_server() {
        let message =
            "failed to remove finalizer: Form.schema.test \"f\" is invalid: spec.size: Required value";
        assert_eq!(validation_error(message), Some("spec.size: Required value"));
        let message = "removing finalizers: Job.batch \"j\" is invalid: spec.template: Invalid value: field is immutable";
        assert!(validation_error(message).is_some_and(|words| words.contains("immutable")));
        for text in [
            // The controller may not create what it needs for the clean-up.
            "Job.batch \"j\" is invalid: spec.template: Required value",
            "failed to remove finalizer: the token is invalid: it has expired",
            "failed to remove finalizer: conflict",
        ] {
            assert_eq!(validation_error(text), None, "{text}");
        }
    }
}
