//! Reads parts of a diagnosis for tests.

use crate::diagnose::{
    Diagnosis, Verdict,
    model::{Blocker, Step},
};

/// The verdict on a finalizer; for an empty name on an object without finalizers.
pub(crate) fn verdict(diagnosis: &Diagnosis, finalizer: &str) -> Option<Verdict> {
    diagnosis
        .waits
        .iter()
        .find(|wait| wait.finalizer.as_ref().map_or("", |finalizer| &finalizer.name) == finalizer)
        .map(|wait| wait.verdict)
}

/// The texts of all waits and their blockers, as one text.
pub(crate) fn said(diagnosis: &Diagnosis) -> String {
    fn blockers(all: &[Blocker], text: &mut String) {
        for blocker in all {
            text.push_str(&blocker.says);
            text.push('\n');
            blockers(&blocker.on, text);
        }
    }
    let mut text = String::new();
    for wait in &diagnosis.waits {
        text.push_str(&wait.says());
        text.push('\n');
        blockers(&wait.on, &mut text);
    }
    text
}

/// The commands of all steps, as one text.
pub(crate) fn commands(diagnosis: &Diagnosis) -> String {
    command_lines(diagnosis).join("\n")
}

/// The blockers of the first finalizer: the name and state of each.
pub(crate) fn waits_for(diagnosis: &Diagnosis) -> Vec<(String, String)> {
    let on = diagnosis.waits.first().map_or(&[][..], |wait| &wait.on);
    on.iter()
        .map(|blocker| {
            let name = blocker.object.as_ref().map_or("", |object| &object.name);
            (name.to_owned(), blocker.says.to_string())
        })
        .collect()
}

/// The command of a step; empty if it has none.
pub(crate) fn command_line(step: &Step) -> String {
    step.command.as_ref().map(ToString::to_string).unwrap_or_default()
}

/// The command of each step that has one.
pub(crate) fn command_lines(diagnosis: &Diagnosis) -> Vec<String> {
    diagnosis
        .steps
        .iter()
        .filter_map(|step| Some(step.command.as_ref()?.to_string()))
        .collect()
}

/// The outlook, one line for each entry.
pub(crate) fn outlook(diagnosis: &Diagnosis) -> String {
    let all: Vec<_> = diagnosis
        .outlook
        .iter()
        .map(|each| format!("{:?}: {}", each.when, each.then))
        .collect();
    all.join("\n")
}
