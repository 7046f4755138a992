//! The API server would reject every update that removes a finalizer, whoever sends it.
//!
//! # Symptom
//!
//! Removing a finalizer fails with `admission webhook "…" denied the request`, `failed calling webhook`,
//! `ValidatingAdmissionPolicy '…' denied request` or `is invalid:`. The controller has the same error in its log, again
//! and again.
//!
//! ```text
//! $ kubectl finalizers explain inferenceservices.serving.kserve.io/iris -n models --from tests/stories/kserve-deprecated-deployment-mode/cluster.yaml
//! ```
//!
//! # Why
//!
//! Removing a finalizer is an update like any other. A webhook that cannot be called rejects it. So the webhook of a
//! product that is gone blocks the repair. A policy or a changed schema can reject it, too.
//!
//! # Before you act
//!
//! Find out whose webhook or policy it is, and whether it is still wanted. A removal with `--dry-run=server` shows the
//! error without a change.
//!
//! # If it was a mistake
//!
//! The object stays as long as updates are rejected. Save it now.
//!
//! # If it was intended
//!
//! Bring the Service of the webhook back. If its product is gone, save and delete that one webhook configuration. If it
//! works, exempt one namespace or mend the object.
//!
//! # Do not
//!
//! Do not delete all webhook configurations. That switches off the policies of the whole cluster.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | rejected | the rejection is certain, its controller reports it, or a rule lists the object as one that it denies |
//! | unknown | something may reject the update, and nothing else is in the way |
//! | (of the finalizer) | something may reject the update, and another cause is known |
//!
//! # What it reads
//!
//! The webhook configurations and policies once, and the Service behind each webhook that matches. Of a policy engine also
//! the rules, which list the objects that break them. If not all of this could be read, no controller is called gone.
//!
//! # Sources
//!
//! - `kubernetes/apiserver:pkg/admission/plugin/webhook/`
//! - `kubernetes/apiserver:pkg/admission/plugin/policy/`
//! - `kubernetes/apiserver:pkg/admission/plugin/namespace/lifecycle/admission.go`

mod admission_policy;
mod namespace_exemption;
mod reported_denial;
mod reported_violation;
pub(crate) mod unreachable_webhook;

use std::collections::BTreeMap;

use crate::{
    command::Command,
    diagnose::{
        admission::{Change, Truth, policies, schema, webhooks, webhooks::Webhook},
        causes::{
            advice,
            cause::{Cause, On, Reads, Stage, Subject, Tells},
        },
        limits,
        model::{
            Blocker, Evidence, Finding, Moment, Outlook, Page, Safety, Step, StepKind, Strength, Verdict,
            When,
        },
        view::View,
    },
    object::{Finalizer, List},
    snapshot::facts::Object,
};

/// Its page. The files below have none of their own.
const PAGE: Page = Page::of(module_path!());

/// The clause for an update that the API server may reject.
const NOT_KNOWN: &str = "whether an admission webhook or policy refuses updates of it is not known";
/// The same where all webhooks were read, and none is asked.
const POLICIES_NOT_KNOWN: &str = "whether an admission policy refuses updates of it is not known";

pub(crate) const CAUSE: Cause = Cause {
    types: &[],
    finalizer: On::Any,
    reads: Reads::Whole,
    page: Page::of(module_path!()),
    tells: Tells::More(Stage::Refusals, add_rejections),
};

/// Adds to each finding what rejects the removal of its finalizer.
///
/// `of_operators` are the finalizers that no cause knows by name. `is_incomplete` says that the causes could not read
/// all that they wanted: an unknown finding may then be about a controller that works or waits.
fn add_rejections(subject: &Subject<'_>, findings: &mut [Finding], view: &View<'_>) {
    let object = subject.object;
    let of_operators = &subject.of_operators;
    let is_incomplete = view.missed() > subject.missed_before;
    let is_in_grace_period = object
        .deletion()
        .is_none_or(|deletion| deletion.in_grace(view.now()));
    if is_in_grace_period {
        return;
    }
    for finding in findings {
        // While its protection works or its wait goes on, nobody tries to remove the finalizer.
        let is_of_operator = finding.is_about(of_operators);
        let may_be_rejected = match finding.wait.verdict {
            // The API server rejects the update of any controller, whether that controller runs or not.
            Verdict::Unknown | Verdict::Waiting if is_of_operator => true,
            Verdict::Unknown => !is_incomplete,
            Verdict::Stalled | Verdict::Orphaned | Verdict::Failing => true,
            _ => false,
        };
        if may_be_rejected {
            let missed_before = view.missed();
            add_rejections_of_update(object, finding, is_of_operator, view);
            // The controller is gone, whether the update of another would be rejected or not.
            if finding.wait.verdict == Verdict::Orphaned && view.missed() > missed_before {
                finding.say(not_known(finding, view));
            }
        }
    }
}

fn not_known(finding: &Finding, view: &View<'_>) -> &'static str {
    let is_read = |plural: &str| view.list("admissionregistration.k8s.io", plural, "").is_ok();
    let are_webhooks_read =
        is_read("validatingwebhookconfigurations") && is_read("mutatingwebhookconfigurations");
    if are_webhooks_read && finding.wait.trial.is_none() {
        POLICIES_NOT_KNOWN
    } else {
        NOT_KNOWN
    }
}

fn add_rejections_of_update(object: &Object, finding: &mut Finding, is_of_operator: bool, view: &View<'_>) {
    let Some(finalizer) = finding.wait.finalizer.clone() else {
        return;
    };
    if !object.namespace().is_empty()
        && matches!(view.object("", "namespaces", "", object.namespace()), Ok(None))
    {
        add_rejection(
            finding,
            Some(&format!("namespaces \"{}\" not found", object.namespace())),
        );
        return;
    }
    let Some(change) = Change::new(object, &finalizer, view) else {
        return;
    };
    let matching = webhooks::asked(&change, view);
    let policies = policies::refusing(&change, view);
    let mut reported =
        reported_denial::add_reported_denials(object, finding, is_of_operator, &matching, &policies, view);
    if finalizer.list == List::Metadata {
        reported.extend(reported_violation::add_reported_violations(
            object, finding, &matching, view,
        ));
    }
    let (mut unreachable, mut possible) = (BTreeMap::<_, Vec<Webhook<'_>>>::new(), Vec::new());
    for webhook in matching {
        match (webhook.dead_service().is_some(), webhook.asked) {
            (true, Truth::Yes) => unreachable
                .entry((&webhook.configuration.kind, webhook.configuration.name()))
                .or_default()
                .push(webhook),
            (true, _) => possible.push(format!(
                "webhook {}, which cannot be called, if its selectors and matchConditions cover it",
                webhook.name
            )),
            (false, _) if reported.iter().any(|name| name == webhook.name) => {}
            (false, _) => possible.push(format!("webhook {}", webhook.name)),
        }
    }
    for (index, webhooks) in unreachable.values().enumerate() {
        unreachable_webhook::add_unreachable_webhooks(finding, webhooks, index < limits::REJECTIONS_IN_FULL);
    }
    for policy in policies {
        if policy.refuses == Truth::Yes {
            admission_policy::add_policy_rejection(object, finding, &policy);
        } else if !reported.iter().any(|name| name == policy.object.name()) {
            possible.push(format!("ValidatingAdmissionPolicy {}", policy.object.name()));
        }
    }
    if let Some((definition, missing)) = schema::missing(object, view) {
        add_schema_rejection(object, finding, definition, &missing);
    }
    if !possible.is_empty() && finalizer.list == List::Metadata {
        add_possible_rejections(object, finding, &finalizer, &possible);
    }
}

/// Adds that the update is rejected, with the message of the server that people search for. No words are needed where a
/// blocker quotes them.
fn add_rejection(finding: &mut Finding, words: Option<&str>) {
    // A controller that fails at its own work has not tried the update yet.
    if finding.wait.verdict != Verdict::Failing {
        finding.tell_of(PAGE);
        finding.wait.verdict = Verdict::Rejected;
    }
    let quote = words.map_or_else(String::new, |words| format!(": {words}"));
    finding.outlook.push(Outlook {
        when: Moment::NothingDone,
        then: format!("every attempt to take a finalizer out is refused, its controller's and yours{quote}"),
    });
    // Touching the object is an update too.
    finding
        .steps
        .retain(|step| step.kind() != StepKind::Nudge && step.when != When::StillThere);
}

/// The step that edits an object so that it becomes valid, as `text` says.
fn edit_step(object: &Object, text: String) -> Step {
    Step {
        when: When::Now,
        text,
        command: Some(Command::of(
            "kubectl -n {} edit {}/{}",
            [object.namespace(), &object.resource.name(), object.name()],
        )),
        safety: Safety::Reversible,
        lets_go: Vec::new(),
    }
}

fn add_schema_rejection(object: &Object, finding: &mut Finding, definition: &Object, missing: &[&str]) {
    let fields = missing.join(", ");
    finding.wait.on.push(Blocker::new(
        Some(definition.reference()),
        format!(
            "its schema requires {fields}, which this object does not have: no update of it is valid any more, not even \
             one that only takes the finalizer out"
        ),
    ));
    let first = missing.first().copied().unwrap_or_default();
    add_rejection(finding, Some(&format!("{first}: Required value")));
    finding.evidence.push(Evidence {
        source: format!(
            "CustomResourceDefinition {} openAPIV3Schema.required",
            definition.name()
        ),
        value: format!("{fields}, not in this object"),
        strength: Strength::Proof,
    });
    finding.steps.insert(
        0,
        edit_step(
            object,
            format!(
                "add {fields} to the object, with values that its schema takes; an object that is being deleted can \
                 still be edited, and its controller can then finish"
            ),
        ),
    );
    finding.do_not.push(format!(
        "delete the CustomResourceDefinition {} to get rid of one object: all objects of the type go with it (DATA LOSS)",
        definition.name()
    ));
}

/// Adds the webhooks and policies that may reject the update, and the step that tries it.
fn add_possible_rejections(
    object: &Object,
    finding: &mut Finding,
    finalizer: &Finalizer,
    possible: &[String],
) {
    let named: Vec<_> = possible
        .iter()
        .take(limits::POSSIBLE_REJECTIONS)
        .map(String::as_str)
        .collect();
    let more = match possible.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    finding.outlook.push(Outlook {
        when: Moment::Removal,
        then: format!(
            "these are asked first and may refuse (whether they do is not known): {}{more}",
            named.join(", or ")
        ),
    });
    let (type_name, name, namespace) = (object.resource.name(), object.name(), object.namespace());
    // The plan tries the removal itself. For a controller that may act, it is refused without a try.
    let is_for_removal = finding.wait.verdict == Verdict::Orphaned && finding.wait.vetoes.is_empty();
    let (text, command) = if is_for_removal {
        (
            "see whether its removal would be refused, and why; this changes nothing",
            Command::plan_removal(&type_name, name, namespace, &finalizer.name),
        )
    } else {
        (
            "see whether an update of it would be refused, and why; this changes nothing",
            Command::of(
                "kubectl -n {} annotate {}/{} {}=try --overwrite --dry-run=server",
                [namespace, &type_name, name, advice::NUDGED],
            ),
        )
    };
    let step = Step {
        when: When::Now,
        text: text.into(),
        command: Some(command),
        safety: Safety::ReadOnly,
        lets_go: Vec::new(),
    };
    // Nothing is lost by it, so it stands before what destroys.
    let destroys = |step: &Step| step.when == When::Now && step.safety == Safety::Destructive;
    let at = finding
        .steps
        .iter()
        .position(destroys)
        .unwrap_or(finding.steps.len());
    // A copy belongs to the step after it.
    let copies = finding
        .steps
        .iter()
        .take(at)
        .rev()
        .take_while(|step| step.saves());
    let at = at - copies.count();
    finding.steps.insert(at, step.clone());
    finding.wait.trial = Some(step);
    doubt_stalled(finding);
}

/// Takes back that a controller has not acted, if its update may be refused. A refusal would explain it, and it makes each
/// further try useless, so the cause is open.
pub(crate) fn doubt_stalled(finding: &mut Finding) {
    let Some(trial) = finding
        .wait
        .trial
        .take_if(|_| finding.wait.verdict == Verdict::Stalled)
    else {
        return;
    };
    finding.wait.verdict = Verdict::Unknown;
    finding.say(NOT_KNOWN);
    finding.steps.retain(|step| *step != trial);
    finding.steps.insert(0, trial);
}

#[cfg(test)]
mod tests;
