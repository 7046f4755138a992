//! Reads one knowledge file: parses YAML with strict keys, fills in the file's defaults, runs the checks.

use serde::Deserialize;
use serde_saphyr::Spanned;

use super::check::check;
use super::{
    Area, Entry, Holder, IfRemoved, Judged, KindPattern, List, Located, Match, Mistake, NeverByHand, Step,
    WaitsFor,
};

/// The top level of a knowledge file.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct File {
    project: String,
    page: Option<String>,
    #[serde(default = "default_area")]
    area: Area,
    holder: Option<Holder>,
    finalizers: Vec<Spanned<Written>>,
}

/// An entry as written. It need not repeat the file's defaults.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Written {
    name: String,
    #[serde(default)]
    r#match: Match,
    #[serde(default)]
    list: List,
    example: Option<String>,
    part_of: Option<String>,
    kinds: Vec<KindPattern>,
    #[serde(default)]
    kinds_only: bool,
    #[serde(default)]
    last_resort: bool,
    found_on: Option<String>,
    protects: String,
    waits_for: WaitsFor,
    removed_by: String,
    holder: Option<Holder>,
    if_removed: IfRemoved,
    fix: Vec<Step>,
    done_when: Option<String>,
    never_by_hand: Option<NeverByHand>,
    #[serde(default)]
    warnings: Vec<String>,
    since: Option<String>,
    until: Option<String>,
    #[serde(default)]
    renamed_from: Vec<String>,
    renamed_to: Option<String>,
    sources: Vec<String>,
    verified: bool,
    #[serde(default)]
    judgement: Vec<Judged>,
    note: Option<String>,
}

/// The entries of one file, or all mistakes in it. A mistake of form (YAML, keys, words) ends the reading,
/// because the rest cannot be trusted. All mistakes of content are collected.
pub fn read(file: &str, text: &str) -> Result<Vec<Located>, Vec<Mistake>> {
    let parsed: File = serde_saphyr::from_str(text).map_err(|error| vec![form_mistake(file, &error)])?;
    let mut entries = Vec::new();
    let mut mistakes = Vec::new();
    if parsed.project.trim().is_empty() {
        mistakes.push(Mistake {
            file: file.to_owned(),
            line: 1,
            column: 1,
            message: "`project` is empty".to_owned(),
        });
    }
    for written in parsed.finalizers {
        let line = written.referenced.line();
        let example_given = written.value.example.is_some();
        let entry = resolve(
            written.value,
            &parsed.project,
            parsed.page.as_ref(),
            parsed.area,
            parsed.holder.as_ref(),
        );
        for problem in check(&entry, example_given) {
            let (line, column) = find_place(text, line, &problem.needle);
            mistakes.push(Mistake {
                file: file.to_owned(),
                line,
                column,
                message: format!("`{}`: {}", entry.name, problem.message),
            });
        }
        entries.push(Located {
            entry,
            file: file.to_owned(),
            line,
        });
    }
    if mistakes.is_empty() {
        Ok(entries)
    } else {
        Err(mistakes)
    }
}

/// A file without an area is most likely about a user's own operator.
fn default_area() -> Area {
    Area::PlatformOperators
}

fn form_mistake(file: &str, error: &serde_saphyr::Error) -> Mistake {
    let (line, column) = error.location().map_or((0, 0), |at| (at.line(), at.column()));
    let message = error.without_snippet().to_string();
    // Our message already contains the place.
    let message = message.split(" at line ").next().unwrap_or(&message);
    // Files for former versions have steps without a label, or with the mark that it replaces.
    let old = ["missing field `label`", "unknown field `destructive`"];
    let hint = if old.iter().any(|form| message.contains(form)) {
        "; each step says what it can cost: `label: read-only`, `safe`, `reversible` or `destructive`"
    } else {
        ""
    };
    Mistake {
        file: file.to_owned(),
        line,
        column,
        message: format!("{message}{hint}"),
    }
}

fn resolve(
    written: Written,
    project: &str,
    page: Option<&String>,
    area: Area,
    holder: Option<&Holder>,
) -> Entry {
    Entry {
        example: written.example.unwrap_or_else(|| written.name.clone()),
        name: written.name,
        r#match: written.r#match,
        list: written.list,
        project: project.to_owned(),
        page: page.cloned(),
        area,
        part_of: written.part_of,
        kinds: written.kinds,
        kinds_only: written.kinds_only,
        last_resort: written.last_resort,
        found_on: written.found_on,
        protects: written.protects,
        waits_for: written.waits_for,
        removed_by: written.removed_by,
        // Take one holder as a whole: a mixture would claim traces that nobody wrote.
        holder: written.holder.or_else(|| holder.cloned()).unwrap_or_default(),
        if_removed: written.if_removed,
        fix: written.fix,
        done_when: written.done_when,
        never_by_hand: written.never_by_hand,
        warnings: written.warnings,
        since: written.since,
        until: written.until,
        renamed_from: written.renamed_from,
        renamed_to: written.renamed_to,
        sources: written.sources,
        verified: written.verified,
        judgement: written.judgement,
        note: written.note,
    }
}

/// The place of the words: their first occurrence from the entry's line on, otherwise that line.
fn find_place(text: &str, entry_line: u64, needle: &str) -> (u64, u64) {
    let from = usize::try_from(entry_line).unwrap_or(1).max(1);
    let found = text.lines().enumerate().skip(from - 1).find_map(|(at, line)| {
        let byte = line.find(needle)?;
        Some((at as u64 + 1, line[..byte].chars().count() as u64 + 1))
    });
    found.filter(|_| !needle.is_empty()).unwrap_or((entry_line, 1))
}
