//! Reads one knowledge file: YAML with strict keys, then the checks, then the file's own defaults filled in.

use serde::Deserialize;
use serde_saphyr::Spanned;

use super::check::check;
use super::{Area, Entry, Holder, IfRemoved, Judged, KindPattern, List, Match, Mistake, Step, WaitsFor};

/// An entry and the place it was written at.
#[derive(Debug, Clone)]
pub struct Located {
    /// The entry.
    pub entry: Entry,
    /// File that it is in.
    pub file: String,
    /// Line that it begins on, from 1.
    pub line: u64,
}

/// Everything that a knowledge file may contain at its top.
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

/// An entry as it is written: what the file says for all need not be repeated.
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

/// The entries of one file, or every mistake in it. A mistake of form (YAML, keys, words) ends the reading, since
/// what follows it cannot be trusted; mistakes of content are all collected.
pub fn read(file: &str, text: &str) -> Result<Vec<Located>, Vec<Mistake>> {
    let parsed: File = serde_saphyr::from_str(text).map_err(|error| vec![form(file, &error)])?;
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
            let (line, column) = place(text, line, &problem.needle);
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

/// An operator that somebody wrote for themselves is what a file without an area is most likely about.
fn default_area() -> Area {
    Area::PlatformOperators
}

fn form(file: &str, error: &serde_saphyr::Error) -> Mistake {
    let (line, column) = error.location().map_or((0, 0), |at| (at.line(), at.column()));
    let message = error.without_snippet().to_string();
    // The place is said once, by us.
    let message = message.split(" at line ").next().unwrap_or(&message).to_owned();
    Mistake {
        file: file.to_owned(),
        line,
        column,
        message,
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
        // Whole or not at all: a holder mixed from two would claim traces that nobody wrote down.
        holder: written.holder.or_else(|| holder.cloned()).unwrap_or_default(),
        if_removed: written.if_removed,
        fix: written.fix,
        done_when: written.done_when,
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

/// Where the offending words stand: their first occurrence from the entry's own line on, else that line.
fn place(text: &str, entry_line: u64, needle: &str) -> (u64, u64) {
    let from = usize::try_from(entry_line).unwrap_or(1).max(1);
    let found = text.lines().enumerate().skip(from - 1).find_map(|(at, line)| {
        let byte = line.find(needle)?;
        Some((at as u64 + 1, line[..byte].chars().count() as u64 + 1))
    });
    found.filter(|_| !needle.is_empty()).unwrap_or((entry_line, 1))
}
