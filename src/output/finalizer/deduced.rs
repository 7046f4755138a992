//! A name that the catalogue does not know: what is known from the name, and what to run against the object.

use std::io::{self, Write};

use super::placeholders::is_word;
use crate::{
    command::Command,
    knowledge::{Deduced, Propagation},
    output::sheet::Sheet,
};

pub(super) fn write<W: Write>(deduced: &Deduced, sheet: &mut Sheet<'_, W>) -> io::Result<()> {
    sheet.sentence(&known_from_name(deduced))?;
    sheet.sentence("Removal by hand costs: unknown, so data-loss is assumed.")?;
    if !deduced.near.is_empty() {
        sheet.facts("did you mean", &deduced.near)?;
    }
    // `widgets.example.com/x` can be an object or a finalizer; only the user knows.
    if let Some((ty, object)) = deduced.name.split_once('/')
        && ty.contains('.')
        && is_word(ty)
        && is_word(object)
        && !["/", "final", "protect", "clean"]
            .iter()
            .any(|word| object.contains(word))
    {
        sheet.command(
            "an object?",
            "Write its type and its name as two words:",
            &Command::of("kubectl finalizers explain {} {}", [ty, object]).to_string(),
        )?;
    }
    let commands: Vec<String> = deduced
        .look_at
        .iter()
        .map(|look| look.command.to_string())
        .collect();
    let looks = deduced.look_at.iter().zip(&commands);
    sheet.steps(
        "find out more",
        looks.map(|(look, command)| (format!("[read-only] {}", look.text), Some(command.as_str()))),
    )
}

/// What is known from the name, as one sentence.
fn known_from_name(deduced: &Deduced) -> String {
    let mut known = Vec::new();
    if let Some(resource) = &deduced.resource {
        known.push(format!("type {resource}"));
    }
    match deduced.api_groups.as_slice() {
        [] => known.extend(deduced.domain.iter().map(|domain| format!("domain {domain}"))),
        groups => known.push(format!("API group {}", groups.join(" or "))),
    }
    if let Some(project) = &deduced.project {
        known.push(format!("project {project} ({})", deduced.related.join(", ")));
    }
    known.extend(deduced.propagation.map(|propagation| {
        match propagation {
            Propagation::Foreground => "other objects are deleted first",
            Propagation::Orphan => "other objects are kept",
        }
        .to_owned()
    }));
    if known.is_empty() {
        "Its name says nothing about its controller.".into()
    } else {
        format!("Its name suggests, and nothing confirms: {}.", known.join("; "))
    }
}
