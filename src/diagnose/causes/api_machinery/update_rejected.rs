//! The API server would refuse that a finalizer is taken out, whoever tries.
//!
//! **Recognises** an object whose finalizers nothing else keeps, and webhooks, policies or a schema that every update
//! of it must pass. **Why:** to take a finalizer out is an update like any other; a webhook that cannot be called
//! refuses it, and so the webhook of a product that is gone vetoes the repair. Source:
//! `kubernetes/apiserver:pkg/admission/plugin/webhook/`, `pkg/admission/plugin/policy/` and
//! `pkg/admission/plugin/namespace/lifecycle/admission.go`. **Wants** the webhook configurations and policies once, and
//! the Service behind each that is asked. **Concludes** `rejected` only where the refusal is certain, or where the holder
//! itself tells of it; what may refuse is named, and how to try it without changing anything. Where that could not all be
//! looked at, no holder is called gone. **Advises** to bring the backend back; to delete that one configuration only when its
//! product is gone; to except one namespace from what works.

mod admission_policy;
mod namespace_exemption;
mod reported_denial;
mod unreachable_webhook;

use std::collections::BTreeMap;

use crate::{
    diagnose::{
        admission::{Change, Truth, policies, schema, webhooks, webhooks::Webhook},
        causes,
        causes::advice,
        limits,
        model::{Blocker, Evidence, Finding, Outlook, Safety, Step, Strength, Verdict},
        view::View,
    },
    object::List,
    snapshot::facts::Object,
};

/// `blind` says that the rules could not see all that they wanted of this object: what is unknown for that reason may
/// be at work or waiting.
pub(crate) fn add_rejections(object: &Object, findings: &mut [Finding], blind: bool, view: &View<'_>) {
    let slow = object
        .deletion()
        .is_none_or(|deletion| deletion.in_grace(view.now()));
    if slow {
        return;
    }
    for finding in findings {
        // While its protection works or its wait goes on, nobody tries to take it out.
        let awaited = match finding.wait.verdict {
            // Whoever a holder is, and whether it runs: it is refused like anybody else.
            Verdict::Unknown | Verdict::Waiting if causes::is_held(object, finding) => true,
            Verdict::Unknown => !blind,
            Verdict::Stalled | Verdict::Orphaned | Verdict::Failing => true,
            _ => false,
        };
        if awaited {
            let missed = view.missed();
            one(object, finding, view);
            // Whoever is refused cannot do his part, whether he is there or not.
            if finding.wait.verdict == Verdict::Orphaned && view.missed() > missed {
                finding.wait.verdict = Verdict::Stalled;
                finding.say("; whether the API server takes an update of it is not known");
            }
        }
    }
}

fn one(object: &Object, finding: &mut Finding, view: &View<'_>) {
    let Some(finalizer) = finding.wait.finalizer.clone() else {
        return;
    };
    if !object.namespace().is_empty()
        && matches!(view.object("", "namespaces", "", object.namespace()), Ok(None))
    {
        refuse(
            finding,
            &format!("namespaces \"{}\" not found", object.namespace()),
        );
        return;
    }
    let Some(change) = Change::new(object, &finalizer, view) else {
        return;
    };
    let asked = webhooks::asked(&change, view);
    let policies = policies::refusing(&change, view);
    let told = reported_denial::add_reported_denials(object, finding, &asked, &policies, view);
    let (mut dead, mut perhaps) = (BTreeMap::<_, Vec<Webhook<'_>>>::new(), Vec::new());
    for webhook in asked {
        match (webhook.dead().is_some(), webhook.asked) {
            (true, Truth::Yes) => dead
                .entry((&webhook.configuration.kind, webhook.configuration.name()))
                .or_default()
                .push(webhook),
            (true, _) => perhaps.push(format!(
                "webhook {}, which cannot be called, if its selectors and matchConditions cover it",
                webhook.name
            )),
            (false, _) if told.iter().any(|name| name == webhook.name) => {}
            (false, _) => perhaps.push(format!("webhook {}", webhook.name)),
        }
    }
    for (at, webhooks) in dead.values().enumerate() {
        unreachable_webhook::dead(finding, webhooks, at < limits::REJECTIONS_IN_FULL);
    }
    for policy in policies {
        if policy.refuses == Truth::Yes {
            admission_policy::certain(object, finding, &policy);
        } else if !told.iter().any(|name| name == policy.object.name()) {
            perhaps.push(format!("ValidatingAdmissionPolicy {}", policy.object.name()));
        }
    }
    if let Some((definition, missing)) = schema::missing(object, view) {
        by_schema(object, finding, definition, &missing);
    }
    if !perhaps.is_empty() && finalizer.list == List::Metadata {
        may_refuse(object, finding, &perhaps);
    }
}

/// Says that it is refused, with the words of the server that people search for.
fn refuse(finding: &mut Finding, words: &str) {
    // A holder that fails at its own work has not come so far yet.
    if finding.wait.verdict != Verdict::Failing {
        finding.wait.verdict = Verdict::Rejected;
    }
    finding.outlook.push(Outlook {
        when: "if nothing is done".into(),
        then: format!(
            "every attempt to take a finalizer out is refused, its controller's and yours: {words}"
        ),
    });
    // To touch it is an update too.
    finding
        .steps
        .retain(|step| !advice::is_nudge(step) && step.when != advice::STILL_THERE);
}

/// To change what makes the object invalid, as `text` says.
fn edit(object: &Object, text: String) -> Step {
    Step {
        when: "what to do",
        text,
        command: Some(format!(
            "kubectl{} edit {}/{}",
            advice::namespace_flag(object),
            object.resource.name(),
            object.name()
        )),
        safety: Safety::Reversible,
    }
}

fn by_schema(object: &Object, finding: &mut Finding, definition: &Object, missing: &[&str]) {
    let fields = missing.join(", ");
    finding.wait.on.push(Blocker::new(
        Some(definition.reference()),
        format!(
            "its schema requires {fields}, which this object does not have: no update of it is valid any more, not even \
             one that only takes the finalizer out"
        ),
    ));
    let first = missing.first().copied().unwrap_or_default();
    refuse(finding, &format!("{first}: Required value"));
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
        edit(
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

/// What is asked and may say no, and how to find out.
fn may_refuse(object: &Object, finding: &mut Finding, perhaps: &[String]) {
    let named: Vec<_> = perhaps
        .iter()
        .take(limits::POSSIBLE_REJECTIONS)
        .map(String::as_str)
        .collect();
    let more = match perhaps.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    finding.outlook.push(Outlook {
        when: "when it is taken out".into(),
        then: format!(
            "these are asked first and may refuse (whether they do is not known): {}{more}",
            named.join(", or ")
        ),
    });
    let nudge = advice::nudge(object).command;
    finding.steps.push(Step {
        when: "what to do",
        text: "see whether an update of it would be refused, and why; this changes nothing".into(),
        command: nudge.map(|command| format!("{command} --dry-run=server")),
        safety: Safety::Safe,
    });
}

#[cfg(test)]
mod tests;
