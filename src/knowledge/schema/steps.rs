//! Checks the steps of an entry: a label that its command contradicts, and advice to remove the finalizer by hand.

use super::{IfHolder, Label, Step};
use crate::command::Template;

/// What a command does to the cluster, as far as its verb shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// It only reads.
    Reads,
    /// Not known: another program, or a plugin.
    Unknown,
    /// It changes something.
    Changes,
}

const READING: [&str; 8] = [
    "api-resources",
    "auth",
    "describe",
    "events",
    "explain",
    "get",
    "logs",
    "top",
];

const CHANGING: [&str; 16] = [
    "annotate", "apply", "cordon", "create", "delete", "drain", "edit", "label", "patch", "replace",
    "rollout", "run", "scale", "set", "taint", "uncordon",
];

/// The worst effect of the commands in a line.
pub fn effect(line: &str) -> Effect {
    line.split([';', '|', '&', '('])
        .map(str::split_whitespace)
        .filter_map(|mut words| match words.next() {
            Some("kubectl" | "oc") => Some(verb_effect(words)),
            // A filter behind a pipe, or a part of a path in quotes. Only the first program counts.
            _ => None,
        })
        .max()
        .unwrap_or(Effect::Unknown)
}

/// Flags with their values can stand before the verb, so the first word that is a verb counts.
fn verb_effect<'a>(mut words: impl Iterator<Item = &'a str>) -> Effect {
    words
        .find_map(|word| {
            if ["exec", "finalizers"].contains(&word) {
                // What the program in the Pod does, or our own, is not in the verb.
                Some(Effect::Unknown)
            } else if READING.contains(&word) {
                Some(Effect::Reads)
            } else {
                CHANGING.contains(&word).then_some(Effect::Changes)
            }
        })
        .unwrap_or(Effect::Unknown)
}

/// What is wrong with a step, if anything.
pub(super) fn check_step(step: &Step) -> Option<String> {
    let effect = step
        .command
        .as_ref()
        .map_or(Effect::Unknown, |command| effect(command.text()));
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
    let patches = step.command.as_ref().map(Template::text).is_some_and(|command| {
        effect(command) == Effect::Changes
            && ["/finalizers", "\"finalizers\"", "finalizers:"]
                .iter()
                .any(|field| command.contains(field))
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
