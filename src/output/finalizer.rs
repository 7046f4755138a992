//! The explanation of a finalizer, as text, in the order in which a user with one stuck object and no time asks: what it
//! protects, who removes it, what a removal by hand costs, what to do.
//! Where that is known from follows.

mod deduced;
mod holder;
mod placeholders;

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use self::placeholders::Words;
use super::{Style, name::is_plain, sheet::Sheet};
use crate::{
    knowledge::{Consequence, Entry, Judged, List, Match, Right},
    report::finalizer::{Explained, FinalizersReport},
};

/// Writes one sheet for each finalizer; `wide` leaves nothing out.
pub fn write(report: &FinalizersReport, wide: bool, style: &Style, out: &mut impl Write) -> io::Result<()> {
    let mut sheet = Sheet::new(style, out);
    for (at, explained) in report.finalizers.iter().enumerate() {
        if at > 0 {
            sheet.gap()?;
        }
        self::explained(explained, wide, &mut sheet)?;
    }
    legend(report, wide, &mut sheet)
}

/// Writes the names that the catalogue knows, one per line. Leaves out a name that a shell would misread.
pub fn write_names(report: &FinalizersReport, out: &mut impl Write) -> io::Result<()> {
    let is_one_word = |explained: &&Explained| explained.name.split('/').all(is_plain);
    for explained in report
        .finalizers
        .iter()
        .filter(|one| one.in_catalogue)
        .filter(is_one_word)
    {
        writeln!(out, "{}", explained.name)?;
    }
    Ok(())
}

fn explained<W: Write>(explained: &Explained, wide: bool, sheet: &mut Sheet<'_, W>) -> io::Result<()> {
    let Explained {
        given, name, entries, ..
    } = explained;
    if explained.in_catalogue {
        sheet.heading(name)?;
        if given != name {
            sheet.sentence(&format!("(given as {given}; names are compared with their case)"))?;
        }
    } else {
        sheet.heading(&format!(
            "{name} is not in the catalogue: no controller is known for it."
        ))?;
    }
    let mut entries: Vec<&Entry> = entries.iter().collect();
    if let Some(deduced) = &explained.deduced {
        deduced::write(deduced, sheet)?;
        let (forms, patterns): (Vec<&Entry>, Vec<&Entry>) =
            entries.iter().partition(|entry| entry.last_resort);
        for form in &forms {
            sheet.fact("perhaps", &format!("from {}", owner(form, false)))?;
        }
        // Such an entry holds for no finalizer in particular.
        if !wide {
            entries = patterns;
        }
        if !entries.is_empty() {
            sheet.gap()?;
            sheet.sentence("A short pattern also matches this name. Only if the object is of its kinds:")?;
        }
    }
    for (at, entry) in entries.iter().enumerate() {
        if entries.len() > 1 {
            if at > 0 {
                sheet.gap()?;
            }
            sheet.sentence(&format!("{} of {}, on {}:", at + 1, entries.len(), kinds(entry)))?;
        }
        self::entry(entry, name, wide, sheet)?;
    }
    Ok(())
}

fn entry<W: Write>(entry: &Entry, name: &str, wide: bool, sheet: &mut Sheet<'_, W>) -> io::Result<()> {
    let words = Words::new(entry, name);
    // A star marks our own conclusions, so that the reader sees them at once.
    let label = |label: &str, part: Judged| {
        let star = if entry.judgement.contains(&part) { "*" } else { "" };
        format!("{label}{star}")
    };
    if !entry.verified {
        sheet.warning("NOT VERIFIED: nobody has read the source of its owner for this entry.")?;
    }
    if entry.thin {
        sheet.sentence("Little is known about this finalizer.")?;
    }
    sheet.fact(&label("protects", Judged::Protects), &entry.protects)?;
    sheet.fact(
        &label("removed by", Judged::Holder),
        &words.fill(&entry.removed_by),
    )?;
    sheet.fact(
        &label("waits for", Judged::WaitsFor),
        &words.fill(&entry.waits_for.text),
    )?;
    let text = words.fill(&entry.if_removed.text);
    let consequence = entry.if_removed.consequence;
    let cut = label("removed by hand", Judged::IfRemoved);
    if consequence >= Consequence::OrphanedObjects {
        sheet.warning_fact(&cut, &consequence.typed(), &text)?;
    } else {
        sheet.fact(&cut, &format!("{}: {text}", consequence.typed()))?;
    }
    let commands: Vec<Option<String>> = entry
        .fix
        .iter()
        .map(|step| {
            step.command
                .as_ref()
                .map(|command| words.command(command).to_string())
        })
        .collect();
    let steps = entry.fix.iter().zip(&commands);
    sheet.steps(
        &label("what to do", Judged::Fix),
        steps.map(|(step, command)| {
            let text = words.fill(&step.text);
            (format!("[{}] {text}", step.label.word()), command.as_deref())
        }),
    )?;
    if let Some(text) = &entry.done_when {
        sheet.fact("done when", &words.fill(text))?;
    }
    sheet.bullets("beware", entry.warnings.iter().map(|text| words.fill(text)))?;
    sheet.fact("project", &owner(entry, wide))?;
    if let Some(text) = naming(entry, name) {
        sheet.fact("name", &text)?;
    }
    let list = match entry.list {
        List::Metadata => "metadata.finalizers",
        List::NamespaceSpec => "spec.finalizers (changed only through the finalize subresource)",
    };
    sheet.fact("on", &format!("{}, in {list}", kinds(entry)))?;
    if let Some(text) = &entry.found_on {
        sheet.fact("", &words.fill(text))?;
    }
    let found = holder::lines(&entry.holder, wide);
    sheet.facts("found by", found.iter().map(|line| words.fill(line)))?;
    if wide && !entry.waits_for.on.is_empty() {
        // The terms of the schema, for contributors who improve the entry.
        let on = entry
            .waits_for
            .on
            .iter()
            .map(|wait| serde_json::to_string(wait).unwrap_or_default());
        sheet.facts("  as data", on)?;
    }
    sheet.facts("needs to", entry.waits_for.rights.iter().map(Right::to_string))?;
    if let Some(text) = &entry.note {
        sheet.fact("note", &words.fill(text))?;
    }
    if let Some(text) = versions(entry) {
        sheet.fact(&label("versions", Judged::Versions), &text)?;
    }
    sheet.facts("sources", &entry.sources)?;
    if entry.verified {
        sheet.fact("", "verified in its owner's source")?;
    }
    for at in &entry.verified_in {
        let text = format!("Verified in {} at {} ({}).", at.repository, at.revision, at.date);
        sheet.fact("", &text)?;
    }
    if !entry.judgement.is_empty() {
        sheet.fact("", "* our judgement, not from the sources")?;
    }
    Ok(())
}

fn owner(entry: &Entry, wide: bool) -> String {
    let page = entry.page.as_deref().filter(|_| wide);
    let parts = [Some(&*entry.project), entry.part_of.as_deref(), page];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// How the entry's name differs from the requested one.
fn naming(entry: &Entry, name: &str) -> Option<String> {
    let mut texts = Vec::new();
    if entry.r#match != Match::Exact {
        texts.push(format!("one of {}", pattern(entry)));
    } else if entry.name != name {
        texts.push(format!("an older name of {}", entry.name));
    }
    let former: Vec<_> = entry
        .renamed_from
        .iter()
        .filter(|old| *old != name)
        .cloned()
        .collect();
    if !former.is_empty() {
        texts.push(format!("formerly {}", former.join(", ")));
    }
    if let Some(now) = &entry.renamed_to {
        texts.push(format!("now called {now}"));
    }
    (!texts.is_empty()).then(|| texts.join("; "))
}

fn versions(entry: &Entry) -> Option<String> {
    let parts = [("since", &entry.since), ("until", &entry.until)];
    let texts: Vec<_> = parts
        .iter()
        .filter_map(|(word, version)| Some(format!("{word} {}", version.as_ref()?)))
        .collect();
    (!texts.is_empty()).then(|| texts.join(", "))
}

/// The name as a shell pattern, with `*`.
pub(super) fn pattern(entry: &Entry) -> String {
    match entry.r#match {
        Match::Exact | Match::Glob => entry.name.clone(),
        Match::Prefix => format!("{}*", entry.name),
        Match::Suffix => format!("*{}", entry.name),
    }
}

/// The kinds as text for one line.
pub(super) fn kinds(entry: &Entry) -> String {
    let kinds: Vec<_> = entry.kinds.iter().map(ToString::to_string).collect();
    if kinds == ["*"] {
        "any object".to_owned()
    } else {
        kinds.join(", ")
    }
}

/// Explains the capitals in commands once, at the end, for the words that were used.
fn legend<W: Write>(report: &FinalizersReport, wide: bool, sheet: &mut Sheet<'_, W>) -> io::Result<()> {
    let mut open: BTreeMap<String, &str> = BTreeMap::new();
    let mut assumed = false;
    for explained in &report.finalizers {
        let shown = |entry: &&Entry| wide || explained.in_catalogue || !entry.last_resort;
        for entry in explained.entries.iter().filter(shown) {
            let words = Words::new(entry, &explained.name);
            open.extend(words.unfilled());
            assumed |= words.assumes_usual_holder();
        }
        if let Some(deduced) = &explained.deduced {
            open.extend(placeholders::meanings(
                deduced.look_at.iter().flat_map(|look| look.command.open()),
            ));
        }
    }
    if open.is_empty() {
        return Ok(());
    }
    sheet.gap()?;
    let capitals: Vec<&str> = open.keys().map(String::as_str).collect();
    let usual = if assumed {
        " The names of controllers are the usual ones; yours may differ."
    } else {
        ""
    };
    sheet.sentence(&format!("For you to fill in: {}.{usual}", capitals.join(", ")))?;
    if wide {
        for (word, about) in &open {
            sheet.fact(word, about)?;
        }
    }
    Ok(())
}
