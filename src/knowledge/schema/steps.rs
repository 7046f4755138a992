//! Checks the steps of an entry: a label that its command contradicts, advice to remove the finalizer by hand, and advice
//! to bring back a controller that may well run.

use super::{Entry, FixStep, IfHolder, Label};
use crate::command::{Effect, Template};

/// What is wrong with a step, if anything.
pub(super) fn check_step(entry: &Entry, step: &FixStep) -> Option<String> {
    if step.if_holder.is_none() && brings_holder_back(entry, step) {
        return Some(
            "a step that restores, installs, upgrades or scales up a controller needs `if-holder`: one for a controller that \
             runs is wrong for one that is gone"
                .to_owned(),
        );
    }
    let mut statuses = step.if_condition.iter().flat_map(|phase| &phase.statuses);
    if let Some(status) = statuses.find(|status| !is_status(status)) {
        return Some(format!(
            "`if-condition` has statuses of a condition, `True`, `False` or `Unknown`, and not `{status}`"
        ));
    }
    if let Some(field) = step.if_field.as_ref().filter(|field| !field.starts_with('/')) {
        return Some(format!(
            "`if-field` is a JSON pointer, such as `/spec/suspend`, and not `{field}`"
        ));
    }
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

/// Whether this is a status of a condition.
pub(super) fn is_status(text: &str) -> bool {
    matches!(text, "True" | "False" | "Unknown")
}

/// Whether the step is to remove the finalizer by hand.
fn removes_by_hand(step: &FixStep) -> bool {
    let patches = step.command.as_ref().is_some_and(|command| {
        command.effect() == Effect::Changes
            && ["/finalizers", "\"finalizers\"", "finalizers:"]
                .iter()
                .any(|field| command.text().contains(field))
    });
    let words = words(&step.text);
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

/// Whether a sentence of the step tells the reader to bring back who removes the finalizer. "Restore that webhook" does not.
fn brings_holder_back(entry: &Entry, step: &FixStep) -> bool {
    let holder = parts(&entry.removed_by);
    let is_holder = |part: &String| {
        ["operator", "controller", "controllers", "agent"].contains(&part.as_str()) || holder.contains(part)
    };
    step.text.split_inclusive(['.', '?', ':', ';']).any(|sentence| {
        let words = words(sentence);
        let is_order = match words.first().map(String::as_str) {
            Some("restore" | "install" | "reinstall" | "upgrade") => true,
            Some("run") => words.iter().any(|word| word == "version" || word == "release"),
            Some("bring") => {
                words.iter().any(|word| word == "back") && !words.iter().any(|word| word == "object")
            }
            Some("scale") => words.iter().any(|word| word == "up"),
            _ => false,
        };
        is_order && parts(sentence).iter().any(is_holder)
    })
}

/// The parts of the names in a text, without words that stand in every text: `chaos` and `manager` of `chaos-manager`.
fn parts(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .map(str::to_lowercase)
        .filter(|part| {
            part.len() > 3 && !["that", "this", "with", "each", "same", "from"].contains(&part.as_str())
        })
        .collect()
}

/// The words of a text, in lower case.
pub(super) fn words(text: &str) -> Vec<String> {
    text.split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase())
        .collect()
}
