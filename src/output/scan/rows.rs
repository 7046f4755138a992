//! The objects below a cause, a line each: what can be pasted, since when, and what else it waits for. Objects that say
//! the same share a line.

use unicode_width::UnicodeWidthStr;

use super::{Scan, all_finalizers};
use crate::{
    object::{Age, List, pasteable, short_type},
    output::{Style, flow::Flow, safe::harmless, table::truncate},
    report::{ObjectName, ObjectReport, gaps, root_causes::Row},
};

/// Columns before a line.
const INDENT: usize = 5;
/// Columns between the parts of a line.
const GAP: usize = 2;
/// So many objects that say the same share a line.
const ALIKE: usize = 3;
/// How many of them the line names.
const NAMED: usize = 3;

/// How many finalizers of an object its line names.
const FINALIZERS: usize = 2;

/// What objects that share a line have in common: type, namespace, and what else they wait for.
type Alike<'a> = (&'a str, Option<&'a str>, String);

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    object: String,
    age: String,
    detail: String,
    /// What else a wide terminal shows, on a line of its own.
    more: String,
}

impl Scan<'_> {
    /// The lines of the objects of a cause.
    pub(super) fn lines<'r>(&self, rows: impl Iterator<Item = &'r Row>) -> Vec<Line> {
        let mut groups: Vec<(Alike<'_>, Vec<&ObjectReport>)> = Vec::new();
        let rows: Vec<_> = rows.collect();
        for row in &rows {
            let Some(object) = self.report.terminating.get(row.at) else {
                continue;
            };
            let name = &object.object;
            let key = (
                name.resource.as_str(),
                name.namespace.as_deref(),
                self.detail(object, row, &rows),
            );
            match groups.iter_mut().find(|(other, _)| *other == key) {
                Some((_, objects)) => objects.push(object),
                None => groups.push((key, vec![object])),
            }
        }
        let mut lines = Vec::new();
        for ((type_name, namespace, detail), objects) in groups {
            if objects.len() < ALIKE || self.options.wide {
                lines.extend(objects.iter().map(|object| self.line(object, &detail)));
                continue;
            }
            let mut names: Vec<_> = objects.iter().map(|object| object.object.name.clone()).collect();
            names.sort();
            let names = gaps::first_names(&names, NAMED);
            let times = if self.style.unicode { "×" } else { "x" };
            let of = namespace
                .map(|namespace| format!(" -n {namespace}"))
                .unwrap_or_default();
            lines.push(Line {
                object: format!("{} {times}{}{of}", short_type(type_name), objects.len()),
                age: oldest(&objects),
                detail: [detail, names]
                    .into_iter()
                    .filter(|text| !text.is_empty())
                    .collect::<Vec<_>>()
                    .join(": "),
                more: String::new(),
            });
        }
        lines
    }

    /// The line of one object.
    pub(super) fn line(&self, object: &ObjectReport, detail: &str) -> Line {
        let more = object
            .deletion
            .as_ref()
            .filter(|_| self.options.wide)
            .map(|deletion| {
                let uid = object
                    .object
                    .uid
                    .as_deref()
                    .map(|uid| format!(", uid {uid}"))
                    .unwrap_or_default();
                let reason = object
                    .reason
                    .as_deref()
                    .map(|reason| format!(": {reason}"))
                    .unwrap_or_default();
                format!(
                    "deletion requested {}{uid}, finalizers {}{reason}",
                    deletion.requested_at,
                    all_finalizers(object)
                )
            });
        Line {
            object: object.object.pasteable(),
            age: oldest(&[object]),
            detail: detail.to_owned(),
            more: more.unwrap_or_default(),
        }
    }

    /// What an object waits for, besides the cause above it.
    fn detail(&self, object: &ObjectReport, row: &Row, rows: &[&Row]) -> String {
        let mut parts = Vec::new();
        match &row.through {
            // Where it stands: in the same namespace, or on a line of its own close by.
            Some(through)
                if rows
                    .iter()
                    .filter_map(|other| self.report.terminating.get(other.at))
                    .any(|other| other.object == *through) =>
            {
                parts.push(format!("waits for {}", without_namespace(through)));
            }
            Some(through) => {
                let home = match object.object.resource.as_str() {
                    "namespaces" => Some(object.object.name.as_str()),
                    _ => object.object.namespace.as_deref(),
                };
                parts.push(format!("waits for {}", from_namespace(home, through)));
            }
            None => {
                let names: Vec<_> = object
                    .finalizers
                    .iter()
                    .filter(|finalizer| finalizer.list == List::Metadata || finalizer.name != "kubernetes")
                    .map(ToString::to_string)
                    .collect();
                let most = if self.options.wide { usize::MAX } else { FINALIZERS };
                if !names.is_empty() {
                    parts.push(gaps::first_names(&names, most));
                }
            }
        }
        let also: Vec<_> = row.also.iter().map(|number| (number + 1).to_string()).collect();
        match also.len() {
            0 => {}
            1 => parts.push(format!("also cause {}", also.join(""))),
            _ => parts.push(format!("also causes {}", gaps::first_names(&also, NAMED))),
        }
        parts.join(", ")
    }

    /// The width of the first column, so that most lines have their parts below each other.
    pub(super) fn column<'l>(&self, lines: impl Iterator<Item = &'l Line>) -> usize {
        let most = self.style.width.map_or(usize::MAX, |width| width * 11 / 20);
        lines
            .map(|line| line.object.width())
            .filter(|&width| width <= most)
            .max()
            .unwrap_or(0)
    }
}

impl Line {
    /// The line, and more of them if one does not hold it. Names are cut last.
    pub(super) fn fit(&self, column: usize, style: &Style) -> Vec<String> {
        let margin = " ".repeat(INDENT);
        let (object, detail) = (harmless(&self.object), harmless(&self.detail));
        let width = style.width.unwrap_or(usize::MAX);
        let room = width.saturating_sub(INDENT + GAP + self.age.width());
        let object = truncate(&object, room.max(1), style);
        let pad = " ".repeat(
            column
                .saturating_sub(object.width())
                .min(room.saturating_sub(object.width()))
                + GAP,
        );
        let first = format!("{margin}{object}{pad}{}", self.age);
        let below = |text: &str| {
            let deeper = INDENT + 2;
            let lines = Flow::default()
                .text(text)
                .lines(width.saturating_sub(deeper).max(1), style);
            lines
                .into_iter()
                .map(|line| format!("{}{line}", " ".repeat(deeper)))
                .collect::<Vec<_>>()
        };
        // Ages are below each other too.
        let ages = " ".repeat(AGE.saturating_sub(self.age.width()) + GAP);
        let mut lines = if detail.is_empty() {
            vec![first]
        } else if first.width() + ages.len() + detail.width() <= width {
            vec![format!("{first}{ages}{detail}")]
        } else {
            [first].into_iter().chain(below(&self.detail)).collect()
        };
        if !self.more.is_empty() {
            lines.extend(below(&self.more).into_iter().map(|line| style.faint(&line)));
        }
        lines
    }
}

/// The object as it is named beside something of this namespace.
pub(super) fn from_namespace(home: Option<&str>, object: &ObjectName) -> String {
    if object.namespace.as_deref() == home {
        without_namespace(object)
    } else {
        object.pasteable()
    }
}

fn without_namespace(object: &ObjectName) -> String {
    pasteable(&object.resource, None, &object.name)
}

/// The widest usual age: `2m56s`.
const AGE: usize = 5;

/// The age of the object that waits longest.
fn oldest(objects: &[&ObjectReport]) -> String {
    let ages = objects
        .iter()
        .filter_map(|object| Some(object.deletion.as_ref()?.age));
    ages.max().map(|age: Age| age.to_string()).unwrap_or_default()
}
