//! A name that the catalogue does not know: what the name suggests, and where to look.

use std::io::{self, Write};

use super::placeholders::is_word;
use crate::{
    command::Command,
    knowledge::{Deduced, Propagation},
    output::sheet::Sheet,
};

pub(super) fn write<W: Write>(deduced: &Deduced, sheet: &mut Sheet<'_, W>) -> io::Result<()> {
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
        sheet.fact(
            "an object?",
            &format!(
                "then write two words: {}",
                Command::of("kubectl finalizers explain {} {}", [ty, object])
            ),
        )?;
    }
    if let Some(domain) = &deduced.domain {
        sheet.fact("domain", domain)?;
    }
    if let Some(resource) = &deduced.resource {
        sheet.fact("resource", &format!("{resource}, by the form of the name"))?;
    }
    if let [first, rest @ ..] = deduced.api_groups.as_slice() {
        let or = if rest.is_empty() {
            String::new()
        } else {
            format!(", or {}", rest.join(", or "))
        };
        sheet.fact("API group", &format!("probably {first}{or}"))?;
    }
    if let Some(project) = &deduced.project {
        sheet.fact("project", &format!("shares its domain with {project}"))?;
    }
    if !deduced.related.is_empty() {
        sheet.facts("same domain", &deduced.related)?;
    }
    match deduced.propagation {
        Some(Propagation::Foreground) => sheet.fact(
            "by its name",
            "probably waits for other objects to go first, as foregroundDeletion does; it is not the garbage \
             collector's own",
        )?,
        Some(Propagation::Orphan) => sheet.fact(
            "by its name",
            "probably lets other objects go on living, as orphan does; it is not the garbage collector's own",
        )?,
        None => {}
    }
    sheet.fact(
        "if cut by hand",
        "not known. Find out who must remove it and what that cleans up first.",
    )?;
    let commands: Vec<String> = deduced
        .look_at
        .iter()
        .map(|look| look.command.to_string())
        .collect();
    let looks = deduced.look_at.iter().zip(&commands);
    sheet.steps(
        "find its holder",
        looks.map(|(look, command)| (look.text.clone(), Some(command.as_str()))),
    )
}
