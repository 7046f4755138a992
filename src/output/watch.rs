//! The output of `watch`: one line for each change in a pipe, and the present state on a terminal.

use std::io::{self, Write};

use jiff::SignedDuration;

use super::{Style, explain, safe::harmless};
use crate::{
    object::{Age, Finalizer, List},
    report::{
        DeletionReport, ExplainReport, GapReport,
        watch::{Change, ChangeReport, Standing},
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

/// Where everything in deletion stands, and the last changes, in at most `rows` lines.
pub fn board(standing: &Standing, changes: &[ChangeReport], rows: usize, style: &Style) -> String {
    let recent = changes
        .get(changes.len().saturating_sub(RECENT)..)
        .unwrap_or_default();
    let recent: Vec<_> = recent
        .iter()
        .flat_map(|change| explain::wrapped(&line(change, short(&change.change)), style))
        .collect();
    let mut lines = explain::wrapped(&heading(standing), style);
    let room = rows.saturating_sub(recent.len()).saturating_sub(2);
    for (at, object) in standing.objects.iter().enumerate() {
        let more = standing.objects.len() - at;
        let block = match &object.explanation {
            // The oldest is shown with its cause and the next command.
            Some(report) if at == 0 => explain::brief(report, style).lines().map(str::to_owned).collect(),
            Some(report) => explain::wrapped(
                &format!("{}: {}", object.object.pasteable(), explain::in_one_line(report)),
                style,
            ),
            None => explain::wrapped(
                &format!(
                    "{}: {}",
                    object.object.pasteable(),
                    in_deletion(&object.deletion, &object.finalizers)
                ),
                style,
            ),
        };
        if at > 0 && lines.len() + block.len() >= room {
            lines.push(format!("{more} more."));
            break;
        }
        lines.extend(block);
    }
    lines.truncate(room);
    if !recent.is_empty() {
        lines.push(String::new());
    }
    lines.extend(recent);
    lines.iter().flat_map(|line| [line, "\n"]).collect()
}

/// How much is in deletion, and what is not known.
fn heading(standing: &Standing) -> String {
    let place = place(standing.namespace.as_deref());
    let count = standing.objects.len();
    let objects = if count == 1 { "object" } else { "objects" };
    let mut sentences = vec![format!(
        "{count} {objects} in deletion {place}, {} gone.",
        standing.gone
    )];
    if standing.unread_types > 0 {
        sentences.push(format!("{} types are not read yet.", standing.unread_types));
    }
    if !standing.not_read.is_empty() {
        sentences.push(format!("NOT READ: {}.", standing.not_read.join(", ")));
    }
    sentences.join(" ")
}

fn place(namespace: Option<&str>) -> String {
    namespace.map_or_else(
        || "in the cluster".to_owned(),
        |name| format!("in namespace {name}"),
    )
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
        Change::InDeletion { deletion, finalizers } => in_deletion(deletion, finalizers),
        Change::FinalizerRemoved { finalizer } => match finalizer.list {
            List::Metadata => format!("finalizer {} was removed.", finalizer.name),
            List::Spec => format!("entry {} of spec.finalizers was removed.", finalizer.name),
        },
        Change::BlockerGone { object } => format!("{} is gone.", object.pasteable()),
        Change::BlockerReleased { object } => format!("{} no longer holds it.", object.pasteable()),
        Change::BlockerFound { object, says } => {
            format!("{} holds it now: {says}", object.pasteable())
        }
        Change::Gone {
            replaced,
            terminating_seconds,
        } => {
            let after = terminating_seconds
                .map(|seconds| format!(" after {}", Age(SignedDuration::from_secs(seconds))))
                .unwrap_or_default();
            let new = if *replaced {
                " A new object of that name exists."
            } else {
                ""
            };
            format!("gone{after}.{new}")
        }
        Change::Lost { what, message, .. } => format!("NOT READ: {what}: {message}. Trying again."),
        Change::Regained { what } => format!("READ AGAIN: {what}."),
        Change::NotWatched { types, message, .. } => format!(
            "NOT WATCHED: {}: {message}. Read at intervals instead.",
            types.join(", ")
        ),
        Change::NothingLeft { namespace, not_read } => nothing_left(namespace.as_deref(), not_read),
        Change::MoreLeft { objects, next } => format!(
            "{} more {} in deletion. Next: {next}",
            objects.len(),
            if objects.len() == 1 {
                "object is"
            } else {
                "objects are"
            },
        ),
        Change::TimedOut { explanation } => format!("TIME IS UP. {}", left(explanation.as_deref())),
        Change::Stopped { explanation } => format!("STOPPED. {}", left(explanation.as_deref())),
    }
}

fn in_deletion(deletion: &DeletionReport, finalizers: &[Finalizer]) -> String {
    let state = if deletion.in_grace_period {
        format!(
            "stopping for {}, in its grace period of {}s.",
            deletion.age, deletion.grace_period_seconds
        )
    } else {
        format!("Terminating for {}.", deletion.age)
    };
    if finalizers.is_empty() {
        return state;
    }
    let names: Vec<_> = finalizers.iter().map(Finalizer::to_string).collect();
    format!("{state} Finalizers: {}.", names.join(", "))
}

fn nothing_left(namespace: Option<&str>, not_read: &[GapReport]) -> String {
    let place = place(namespace);
    if not_read.is_empty() {
        return format!("Nothing is in deletion {place}.");
    }
    let names: Vec<_> = not_read.iter().filter_map(|gap| gap.name.as_deref()).collect();
    format!(
        "In what could be read, nothing is in deletion {place}. NOT READ: {}.",
        names.join(", ")
    )
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
    if let Some(nudge) = &report.nudge {
        return format!("{text} Nothing blocks it, so make its controller look again: {nudge}");
    }
    let command = report.steps.iter().find_map(|step| step.command.line());
    match command {
        Some(command) => format!("{text} Next: {command}"),
        None => text,
    }
}
