//! Any other finalizer: what the catalogue knows of it, and how it stands with whoever must remove it.
//!
//! **Recognises** a finalizer that no other rule is about. **Why:** whoever put it there has work to do before the object
//! may go; which work, says the entry, and where that is written are the entry's own sources. **Wants** what shows its
//! holder: Lease, workload, account, webhooks, the definition of the type; then the rights on the object, and its events.
//! **Concludes** `waiting` where the holder runs, or was switched off; `failing` where it cannot run, may not do its
//! work, or complains; `orphaned` where two independent signs say that it is gone; otherwise `unknown`. **Advises**
//! what brings the holder back, then what the entry advises, filled in for this object.

use super::held;
use crate::{
    diagnose::{
        holder,
        model::{Finding, Outlook, Safety, Step},
        view::View,
    },
    knowledge::{Consequence, Entry, Runs, schema::fill},
    object::Finalizer,
    snapshot::facts::Object,
};

pub(super) fn look(object: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    let reference = object.reference();
    let Some(entry) = view
        .knowledge
        .lookup(&finalizer.name, finalizer.list, Some((&reference).into()))
    else {
        return super::uncatalogued::look(object, finalizer, view);
    };
    let filled = |text: &str| filled(text, object, finalizer, &entry);
    let found = holder::described(object, finalizer, &entry, view);
    let mut finding = held::finding(object, finalizer, &filled(&entry.removed_by), &found, view);
    if entry.holder.runs == Runs::Nobody {
        finding.say(". No released program removes it any more");
    }
    let awaited = filled(&entry.waits_for.text);
    finding.say(format!(". It waits for this: {}", awaited.trim_end_matches('.')));
    super::renamed::look(object, finalizer, &entry, &found, &mut finding, view);
    super::drained::look(object, finalizer, &mut finding, view);
    super::deployed::look(object, finalizer, &mut finding, view);
    super::shared_balancer::look(object, finalizer, &mut finding, view);
    super::awaited::look(object, &entry, &mut finding, view);
    for step in &entry.fix {
        finding.steps.push(Step {
            when: "what to do",
            text: filled(&step.text),
            command: step.command.as_deref().map(filled),
            safety: Safety::Reversible,
        });
    }
    finding.steps.extend(held::last_line(
        object,
        finalizer,
        &found,
        (entry.if_removed.consequence, &filled(&entry.if_removed.text)),
    ));
    super::unconfirmed::look(object, finalizer, &mut finding, view);
    caution(&mut finding, finalizer, &entry, &filled);
    finding
}

fn caution(finding: &mut Finding, finalizer: &Finalizer, entry: &Entry, filled: &impl Fn(&str) -> String) {
    if entry.if_removed.consequence != Consequence::None {
        finding.do_not.push(format!(
            "remove {} by hand before that ({}): {}",
            finalizer.name,
            entry.if_removed.consequence,
            filled(&entry.if_removed.text)
        ));
    }
    if let Some(done) = &entry.done_when {
        finding.outlook.push(Outlook {
            when: "done when".into(),
            then: filled(done),
        });
    }
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
