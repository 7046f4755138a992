//! Any other finalizer: what the catalogue knows of it, and how it stands with whoever must remove it.
//!
//! **Recognises** a finalizer that no other rule is about. **Why:** whoever put it there has work to do before the object
//! may go; which work, says the entry, and where that is written are the entry's own sources. **Wants** what shows its
//! holder: Lease, workload, account, webhooks, the definition of the type; then the rights on the object, and its events.
//! **Concludes** `waiting` where the holder runs, or was switched off; `failing` where it cannot run, may not do its
//! work, or complains; `orphaned` where two independent signs say that it is gone; otherwise `unknown`. **Advises**
//! what brings the holder back, then what the entry advises, filled in for this object.

use crate::{
    diagnose::{
        causes::{
            advice,
            operators::{holder_report, renamed_finalizer, unknown_finalizer, waits_for},
            products::{aws_ingress_group, deployed_resources, karpenter_drain, longhorn_uninstall},
        },
        holder,
        holder::{Holder, State},
        model::{Finding, Outlook, Safety, Step},
        view::View,
    },
    knowledge,
    knowledge::{Consequence, Entry, IfHolder, Runs, schema::fill},
    object::Finalizer,
    snapshot::facts::Object,
};

pub(crate) fn by_its_entry(object: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    let reference = object.reference();
    let Some(entry) = view
        .knowledge
        .lookup(&finalizer.name, finalizer.list, Some((&reference).into()))
    else {
        return unknown_finalizer::without_an_entry(object, finalizer, view);
    };
    let filled = |text: &str| filled(text, object, finalizer, &entry);
    let found = holder::described(object, finalizer, &entry, view);
    let mut finding = holder_report::finding(object, finalizer, &filled(&entry.removed_by), &found, view);
    if entry.holder.runs == Runs::Nobody {
        finding.say(". No released program removes it any more");
    }
    let awaited = filled(&entry.waits_for.text);
    finding.say(format!(". It waits for this: {}", awaited.trim_end_matches('.')));
    renamed_finalizer::add_rename(object, finalizer, &entry, &found, &mut finding, view);
    karpenter_drain::add_pods_to_drain(object, finalizer, &found, &mut finding, view);
    deployed_resources::add_deployed_resources(object, finalizer, &found, &mut finding, view);
    aws_ingress_group::add_group_members(object, finalizer, &mut finding, view);
    waits_for::add_awaited_objects(object, &entry, &found, &mut finding, view);
    finding.steps.extend(steps(&entry, &found, &filled));
    let costs = filled(&entry.if_removed.text);
    let last = holder_report::last_line(object, finalizer, &found, (entry.if_removed.consequence, &costs));
    finding.steps.extend(last);
    longhorn_uninstall::add_missing_confirmation(object, finalizer, &mut finding, view);
    // What it costs stands in the step that takes it out, where there is one.
    let is_offered = finding.steps.iter().any(advice::is_removal);
    caution(&mut finding, finalizer, &entry, (!is_offered).then_some(&costs));
    if let Some(done) = &entry.done_when {
        finding.outlook.push(Outlook {
            when: "done when".into(),
            then: filled(done),
        });
    }
    finding
}

/// When a step makes sense however it stands with the holder, or as is known; in the order in which they are told.
const ANYHOW: &str = "what to do";
/// Only if it runs, and that is not known.
const RUNS: &str = "does it run?";
/// Only if it is gone, and that is not known.
const GONE: &str = "is it gone?";

/// What the entry advises, less what is for a holder that stands otherwise. Where that is not known, what holds in one
/// case only comes last and is asked for.
fn steps(entry: &Entry, holder: &Holder, filled: &impl Fn(&str) -> String) -> Vec<Step> {
    let when = |step: &knowledge::Step| match (step.if_holder, holder.state()) {
        (None, _)
        | (Some(IfHolder::Runs), State::Running | State::Failing)
        | (Some(IfHolder::Gone), State::Gone)
        | (Some(IfHolder::Unknown), State::Elsewhere | State::Unknown) => Some(ANYHOW),
        (Some(IfHolder::Runs), State::Elsewhere | State::Unknown) => Some(RUNS),
        // What destroys waits until that is certain.
        (Some(IfHolder::Gone), State::Elsewhere | State::Unknown) if !step.destructive => Some(GONE),
        _ => None,
    };
    let mut steps: Vec<_> = entry
        .fix
        .iter()
        .filter_map(|step| {
            Some(Step {
                when: when(step)?,
                text: filled(&step.words()),
                command: step.command.as_deref().map(filled),
                safety: match step.if_holder {
                    _ if step.destructive => Safety::Destructive,
                    // To find out changes nothing.
                    Some(IfHolder::Unknown) => Safety::Safe,
                    _ => Safety::Reversible,
                },
            })
        })
        .collect();
    steps.sort_by_key(|step| [ANYHOW, RUNS, GONE].iter().position(|when| *when == step.when));
    steps
}

fn caution(finding: &mut Finding, finalizer: &Finalizer, entry: &Entry, costs: Option<&String>) {
    let consequence = entry.if_removed.consequence;
    if consequence == Consequence::None {
        return;
    }
    let costs = costs.map_or_else(String::new, |costs| format!(": {costs}"));
    finding.do_not.push(format!(
        "remove {} by hand before that ({consequence}){costs}",
        finalizer.name
    ));
}

/// A text of an entry, with the names of this object in it.
pub fn filled(text: &str, object: &Object, finalizer: &Finalizer, entry: &Entry) -> String {
    fill(text, |word| {
        value(word, object, finalizer, entry.matched(&finalizer.name))
    })
}

fn value(word: &str, object: &Object, finalizer: &Finalizer, matched: Option<&str>) -> Option<String> {
    let text = match word {
        "name" => object.name(),
        "namespace" => object.namespace(),
        "kind" => &object.kind,
        "group" => &object.resource.group,
        "type" => return Some(object.resource.name()),
        "uid" => object.uid(),
        "finalizer" => &finalizer.name,
        "matched" => matched.unwrap_or_default(),
        "claim" => object.text("/spec/claimRef/name"),
        "claim-namespace" => object.text("/spec/claimRef/namespace"),
        "volume" => object.text("/spec/volumeName"),
        "node" => object.text("/spec/nodeName"),
        _ => "",
    };
    Some(text.to_owned()).filter(|text| !text.is_empty())
}
