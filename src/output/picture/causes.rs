//! The graph of a scan: the terminating objects, and the causes in which their waits end.

use std::collections::BTreeSet;

use super::graph::{Graph, Key, Mark, Shape};
use crate::{
    diagnose::CauseState,
    object::List,
    output::{
        flow::Look,
        scan::{HIDDEN, Words, changes_in_words, look_of_state, reason, stopped_in_words},
    },
    report::{
        ObjectReport, ScanReport,
        changes::ChangesReport,
        gaps,
        root_causes::{RootCauseReport, Row},
    },
};

/// How many finalizers of an object an edge names.
const FINALIZERS: usize = 2;
/// How many objects that went, or may have gone, have a node.
const WENT: usize = 50;

impl Graph {
    pub(super) fn add_scan(&mut self, report: &ScanReport) {
        for cause in &report.root_causes {
            self.cause(report, cause);
        }
        for object in &report.terminating {
            let has_cause = self.place(&object.object).is_some();
            let reason = object
                .reason
                .as_deref()
                .filter(|_| !has_cause && !is_slow(object));
            let place = match reason {
                Some(reason) => self.object(&object.object, &format!("{}: {reason}", state(object))),
                None => self.object(&object.object, &state(object)),
            };
            if is_slow(object) {
                self.mark(place, Mark::None, Look::Progress);
            }
        }
        if report.terminating.is_empty() {
            let key = Key::Words(None, String::new());
            self.node(key, Shape::Words, "Nothing that was read is stuck.", "");
        }
        if let Some(changes) = &report.changes {
            self.changes(changes);
        }
        if report.interrupted {
            self.missing(stopped_in_words(report), "");
        }
        self.not_read(HIDDEN, &report.not_read);
    }

    /// The counts are a node of their own. An object that is new says so, and one that went has a node, too.
    fn changes(&mut self, changes: &ChangesReport) {
        let key = Key::Words(None, "changes".into());
        self.node(key, Shape::Words, "Changes", &changes_in_words(changes));
        for one in &changes.new {
            let place = self.object(&one.object, "");
            self.changed(place, "new");
        }
        for one in changes.went.iter().take(WENT) {
            let place = self.node((&one.object).into(), Shape::Missing, &one.object.pasteable(), "");
            self.changed(place, "went");
            self.mark(place, Mark::None, Look::Fine);
        }
        if let Some(more) = changes.went.len().checked_sub(WENT).filter(|&more| more > 0) {
            self.missing(&format!("{more} more went"), "");
        }
        for one in changes.not_known.iter().take(WENT) {
            let place = self.object(&one.object.object, "");
            self.changed(place, &format!("not known: {}", reason(one)));
        }
    }

    fn cause(&mut self, report: &ScanReport, cause: &RootCauseReport) {
        let end = self.end(report, cause);
        let mark = match cause.state {
            CauseState::InUse | CauseState::Waiting => Mark::Keeps,
            _ => Mark::Root,
        };
        self.mark(end, mark, look_of_state(cause.state));
        let rows: Vec<(&Row, &ObjectReport)> = cause
            .rows
            .iter()
            .filter_map(|row| Some((row, report.terminating.get(row.at)?)))
            .collect();
        for (_, object) in &rows {
            self.object(&object.object, &state(object));
        }
        for (row, object) in rows {
            let place = self.object(&object.object, "");
            let Some(through) = &row.through else {
                let names = if cause.is_own {
                    String::new()
                } else {
                    finalizers(report, object, row)
                };
                self.edge(place, end, &names);
                continue;
            };
            let is_drawn = self.place(through).is_some();
            let next = self.object(through, "");
            self.edge(place, next, "");
            if !is_drawn {
                // The report has no line for it.
                self.edge(next, end, "");
            }
        }
    }

    /// The node in which the waits of a cause end.
    fn end(&mut self, report: &ScanReport, cause: &RootCauseReport) -> usize {
        let word = cause.state.word();
        match (&cause.object, &cause.finalizer) {
            (Some(object), _) if !cause.is_own => self.object(object, &format!("{word}: {}", cause.says)),
            (_, Some(finalizer)) => {
                let state = format!("{word}: {}", Words::new(report, false).held(cause));
                let name = finalizer.to_string();
                let key = Key::Words(None, format!("{name} {state}"));
                self.node(key, Shape::Finalizer, &name, &state)
            }
            _ => {
                let key = Key::Words(None, format!("{word} {}", cause.says));
                self.node(key, Shape::Words, &cause.says, word)
            }
        }
    }
}

/// For how long it is terminating.
fn state(object: &ObjectReport) -> String {
    match &object.deletion {
        Some(_) if object.at_risk.is_some() => "AT RISK: in the grace period, stuck soon".to_owned(),
        Some(_) if is_slow(object) => "SLOW: in the grace period, not stuck".to_owned(),
        Some(deletion) => format!("Terminating for {}", deletion.age),
        None => String::new(),
    }
}

fn is_slow(object: &ObjectReport) -> bool {
    let deletion = object.deletion.as_ref();
    deletion.is_some_and(|deletion| deletion.in_grace_period)
}

/// The finalizers through which the object may wait for a cause: not those that are causes of their own, nor the one that
/// every namespace has.
fn finalizers(report: &ScanReport, object: &ObjectReport, row: &Row) -> String {
    let others = row.also.iter().filter_map(|&other| report.root_causes.get(other));
    let own: BTreeSet<_> = others
        .filter(|other| other.is_own)
        .filter_map(|other| other.finalizer.as_ref())
        .collect();
    let names: Vec<_> = object
        .finalizers
        .iter()
        .filter(|finalizer| !own.contains(finalizer))
        .filter(|finalizer| finalizer.list == List::Metadata || finalizer.name != "kubernetes")
        .map(ToString::to_string)
        .collect();
    gaps::first_names(&names, FINALIZERS)
}
