//! The output of `watch`: one line for each change in a pipe, and the present state on a terminal.

use std::io::{self, Write};

use super::{Style, explain, safe::harmless};
use crate::{
    object::List,
    report::{
        ExplainReport,
        watch::{Change, ChangeReport},
    },
};

/// How many changes the terminal shows.
const RECENT: usize = 5;

/// Writes one change as a line: the time, how long the watch runs, the object, and what changed.
pub fn write_line(change: &ChangeReport, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{}", harmless(&line(change, words(&change.change))))
}

/// The present state of the objects that are left, and the last changes, in at most `rows` lines.
pub fn screen(left: &[&ExplainReport], changes: &[ChangeReport], rows: usize, style: &Style) -> String {
    let recent = changes
        .get(changes.len().saturating_sub(RECENT)..)
        .unwrap_or_default();
    let recent: Vec<_> = recent
        .iter()
        .flat_map(|change| explain::wrapped(&line(change, short(&change.change)), style))
        .collect();
    let room = rows.saturating_sub(recent.len()).saturating_sub(2);
    let mut lines: Vec<String> = Vec::new();
    for (at, report) in left.iter().enumerate() {
        let block = explain::brief(report, style);
        let block: Vec<_> = block.lines().map(str::to_owned).collect();
        if at > 0 && lines.len() + block.len() > room {
            lines.push(format!("{} more objects are left.", left.len() - at));
            break;
        }
        lines.extend(block);
    }
    lines.truncate(room);
    if !(lines.is_empty() || recent.is_empty()) {
        lines.push(String::new());
    }
    lines.extend(recent);
    lines.iter().flat_map(|line| [line, "\n"]).collect()
}

fn line(change: &ChangeReport, words: String) -> String {
    let time = change.time.strftime("%H:%M:%SZ");
    let words = match &change.target {
        Some(target) => format!("{}: {words}", target.pasteable()),
        None => words,
    };
    format!("{time} +{}s  {words}", change.watched_seconds)
}

/// The change beside an explanation that the terminal shows already.
fn short(change: &Change) -> String {
    match change {
        Change::Held { .. } => "in deletion.".to_owned(),
        Change::TimedOut { .. } => "TIME IS UP.".to_owned(),
        Change::Stopped { .. } => "STOPPED.".to_owned(),
        change => words(change),
    }
}

fn words(change: &Change) -> String {
    match change {
        Change::NotFound => "not found. It is gone, or never existed.".to_owned(),
        Change::NotDeleted => "not being deleted. Waiting for its deletion.".to_owned(),
        Change::Held { explanation } => held(explanation),
        Change::FinalizerRemoved { finalizer } => match finalizer.list {
            List::Metadata => format!("finalizer {} was removed.", finalizer.name),
            List::Spec => format!("entry {} of spec.finalizers was removed.", finalizer.name),
        },
        Change::BlockerGone { object } => format!("{} is gone.", object.pasteable()),
        Change::BlockerReleased { object } => format!("{} no longer holds it.", object.pasteable()),
        Change::BlockerFound { object, says } => {
            format!("{} holds it now: {says}", object.pasteable())
        }
        Change::Gone { replaced: false } => "gone.".to_owned(),
        Change::Gone { replaced: true } => "gone. A new object of that name exists.".to_owned(),
        Change::Lost { what, message, .. } => format!("cannot read {what}: {message}. Trying again."),
        Change::Regained { what } => format!("can read {what} again."),
        Change::TimedOut { explanation } => format!("TIME IS UP. {}", left(explanation.as_deref())),
        Change::Stopped { explanation } => format!("STOPPED. {}", left(explanation.as_deref())),
    }
}

fn left(explanation: Option<&ExplainReport>) -> String {
    match explanation {
        Some(report) if report.deletion.is_some() => held(report),
        Some(_) => "It is not being deleted.".to_owned(),
        None => "It could not be read.".to_owned(),
    }
}

/// The verdict, the cause and the next command.
fn held(report: &ExplainReport) -> String {
    let text = explain::in_one_line(report);
    let command = report.steps.iter().find_map(|step| step.command.line());
    match command {
        Some(command) => format!("{text} Next: {command}"),
        None => text,
    }
}
