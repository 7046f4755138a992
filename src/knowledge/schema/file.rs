//! Reads one knowledge file: parses YAML with strict keys, fills in the file's defaults, runs the checks.

use serde::Deserialize;
use serde_saphyr::Spanned;

#[cfg(test)]
use super::check::PROTECTS_LIMIT;
use super::check::check;
use super::{
    Area, Entry, FixStep, HolderDescription, IfRemoved, Judged, KindPattern, Label, List, Located, Match,
    Mistake, NeverByHand, WaitsFor, gentle_first,
};

/// A knowledge file: the finalizers of one project.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct File {
    /// The name of the project, or of a small family of projects.
    project: String,
    /// The project's home page.
    page: Option<String>,
    /// What the project is about. A file without one is most likely about an operator of yours.
    #[serde(default = "default_area")]
    area: Area,
    /// How the controller is found. All entries of the file share it.
    holder: Option<HolderDescription>,
    /// The entries.
    #[cfg_attr(test, schemars(with = "Vec<Written>"))]
    finalizers: Vec<Spanned<Written>>,
}

/// An entry as written. It need not repeat the file's defaults.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Written {
    /// The finalizer, or the pattern.
    name: String,
    /// How to compare `name`. All but `exact` need an `example`.
    #[serde(default)]
    r#match: Match,
    /// The list that contains it.
    #[serde(default)]
    list: List,
    /// A name as it is really seen.
    example: Option<String>,
    /// The part or feature of the project.
    part_of: Option<String>,
    /// The kinds of object that have it: `Kind` (core group) or `Kind.group`, with `*` in either part.
    #[cfg_attr(test, schemars(length(min = 1)))]
    kinds: Vec<KindPattern>,
    /// The entry applies only to these kinds: the name alone is too short to identify the owner.
    #[serde(default)]
    kinds_only: bool,
    /// Used only if no other entry matches.
    #[serde(default)]
    last_resort: bool,
    /// Which objects of these kinds have it, in words.
    found_on: Option<String>,
    /// What it protects, as a noun phrase of at most 60 characters.
    #[cfg_attr(test, schemars(length(max = PROTECTS_LIMIT)))]
    protects: String,
    /// What must be true before the controller removes the finalizer.
    waits_for: WaitsFor,
    /// Who removes it, in words.
    removed_by: String,
    /// How to find that controller. It replaces the holder of the file whole.
    holder: Option<HolderDescription>,
    /// What happens if it is removed by hand.
    if_removed: IfRemoved,
    /// What to do, in order. A destructive step is moved behind the harmless ones that do not go on from it.
    #[cfg_attr(test, schemars(length(min = 1)))]
    fix: Vec<FixStep>,
    /// How to see that the controller did its work.
    done_when: Option<String>,
    /// Why it must never be removed by hand, if a source says so.
    never_by_hand: Option<NeverByHand>,
    /// What must not be done, or must be known first.
    #[serde(default)]
    warnings: Vec<String>,
    /// First version that has it.
    since: Option<String>,
    /// Last version that has it.
    until: Option<String>,
    /// Its former names.
    #[serde(default)]
    renamed_from: Vec<String>,
    /// Its current name.
    renamed_to: Option<String>,
    /// Upstream files that support this, each `owner/repo:path`.
    #[cfg_attr(test, schemars(inner(regex(pattern = r"^[\w.-]+/[\w.-]+:[^/\s]\S*$"))))]
    sources: Vec<String>,
    /// Whether somebody read the sources and they support this.
    verified: bool,
    /// The parts that are your judgement and not in the sources.
    #[serde(default)]
    judgement: Vec<Judged>,
    /// Anything else.
    note: Option<String>,
}

#[cfg(test)]
/// The JSON Schema of a knowledge file, so that an editor completes and checks it.
pub fn json_schema() -> schemars::Schema {
    schemars::schema_for!(File)
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
    holder: Option<&HolderDescription>,
) -> Entry {
    let entry = Entry {
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
        fix: gentle_first(
            written.fix,
            |step| &step.text,
            |step| step.label == Label::Destructive,
        ),
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
        thin: false,
        verified_in: Vec::new(),
    };
    Entry {
        thin: entry.is_thin(),
        ..entry
    }
}

/// The place of the words: their first occurrence from the entry's line on, otherwise that line.
fn find_place(text: &str, entry_line: u64, needle: &str) -> (u64, u64) {
    let from = usize::try_from(entry_line).unwrap_or(1).max(1);
    let found = text.lines().enumerate().skip(from - 1).find_map(|(at, line)| {
        let (before, _) = line.split_once(needle)?;
        Some((at as u64 + 1, before.chars().count() as u64 + 1))
    });
    found.filter(|_| !needle.is_empty()).unwrap_or((entry_line, 1))
}
