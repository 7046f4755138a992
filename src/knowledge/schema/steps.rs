//! Checks the steps of an entry: a label that its command contradicts, and advice to remove the finalizer by hand.

use super::{IfHolder, Label, Step};
use crate::command::{Effect, Template};

/// What is wrong with a step, if anything.
pub(super) fn check_step(step: &Step) -> Option<String> {
    let effect = step.command.as_ref().map_or(Effect::Unknown, Template::effect);
    if effect == Effect::Reads && step.label != Label::ReadOnly {
        return Some(format!(
            "the command only reads, so the label is `read-only` and not `{}`; what to do then is a step of its own",
            step.label.word()
        ));
    }
    if effect == Effect::Changes && step.label == Label::ReadOnly {
        return Some("the command changes something, so the label is not `read-only`".to_owned());
    }
    let last_resort = step.label == Label::Destructive && step.if_holder == Some(IfHolder::Gone);
    (removes_by_hand(step) && !last_resort).then(|| {
        "to remove the finalizer by hand is not a step, because `remove` says what it costs; where nothing else \
         helps, the step has `if-holder: gone` and `label: destructive`"
            .to_owned()
    })
}

/// Whether the step is to remove the finalizer by hand.
fn removes_by_hand(step: &Step) -> bool {
    let patches = step.command.as_ref().is_some_and(|command| {
        command.effect() == Effect::Changes
            && ["/finalizers", "\"finalizers\"", "finalizers:"]
                .iter()
                .any(|field| command.text().contains(field))
    });
    let words: Vec<String> = step
        .text
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase())
        .collect();
    patches
        || words.iter().enumerate().any(|(at, verb)| {
            // "Cannot remove project x finalizer" in a quoted error is no advice.
            let object: Vec<&str> = words.iter().skip(at + 1).take(3).map(String::as_str).collect();
            ["remove", "removing", "strip", "cut"].contains(&verb.as_str())
                && ["this", "the", "that", "its", "these", "those", "finalizers"]
                    .iter()
                    .any(|word| object.first() == Some(word))
                && (["finalizer", "finalizers", "string"]
                    .iter()
                    .any(|word| object.contains(word))
                    || object.starts_with(&["this", "one"]))
        })
}
