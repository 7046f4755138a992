//! Any other finalizer: what the catalogue knows of it, and whether its holder shows a sign of life.
//!
//! **Recognises** what no other rule does. **Why:** the entry's own sources. **Wants** the holder's Leases, where
//! the entry names any. **Concludes** `unknown`: that a holder is gone needs two independent pieces of evidence,
//! and a Lease alone is one. **Advises** what the entry advises, filled in for this object.

use crate::{
    diagnose::{
        holder,
        model::{Finding, Outlook, Safety, Step, Verdict},
        view::View,
    },
    knowledge::{Consequence, Entry, schema::fill},
    object::Finalizer,
    snapshot::facts::Object,
};

pub(super) fn look(object: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    let reference = object.reference();
    let Some(entry) = view
        .knowledge
        .lookup(&finalizer.name, finalizer.list, Some((&reference).into()))
    else {
        let mut finding = Finding::new(
            Some(finalizer.clone()),
            Verdict::Unknown,
            "not in the catalogue: who removes it, and after what, is not known",
        );
        finding.steps.push(Step {
            when: "what to do",
            text: "see what its name tells, and where to look for its controller".into(),
            command: Some(format!("kubectl finalizers explain {}", finalizer.name)),
            safety: Safety::Safe,
        });
        return finding;
    };
    let life = holder::life(&entry, None, view);
    let alive = if entry.holder.leases.is_empty() {
        String::new()
    } else {
        format!(", {}", life.in_words())
    };
    let filled = |text: &str| filled(text, object, finalizer, &entry);
    let mut finding = Finding::new(
        Some(finalizer.clone()),
        Verdict::Unknown,
        format!(
            "removed by {}{alive}. It waits for this: {}",
            filled(&entry.removed_by),
            filled(&entry.waits_for.text)
        ),
    );
    finding.evidence.extend(life.evidence());
    for step in &entry.fix {
        finding.steps.push(Step {
            when: "what to do",
            text: filled(&step.text),
            command: step.command.as_deref().map(filled),
            safety: Safety::Reversible,
        });
    }
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
    finding
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
