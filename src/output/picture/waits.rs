//! The graph of an explanation: the object, its finalizers, and what they wait for.

use super::graph::{Graph, Key, Mark, Shape};
use crate::{
    diagnose::Verdict,
    output::{
        explain::{NOT_READ, STOPPED, standing, state_of_wait, verdict, wait_in_words},
        flow::Look,
    },
    report::explain::{BlockerReport, ExplainReport, WaitReport},
};

impl Graph {
    pub(super) fn add_explanation(&mut self, report: &ExplainReport) {
        let (word, state) = standing(report);
        let state = match &word {
            Some((word, _)) => format!("{word}: {state}"),
            None => state,
        };
        let target = self.object(&report.target, &state);
        if let Some((_, look)) = word {
            self.mark(target, Mark::None, look);
        }
        self.waits(target, &report.waits_for);
        if report.interrupted {
            self.missing(STOPPED, "");
        }
        self.not_read(NOT_READ, &report.not_read);
    }

    fn waits(&mut self, owner: usize, waits: &[WaitReport]) {
        for wait in waits {
            // Without a finalizer, what the object waits for stands right behind it.
            if wait.finalizer.is_none() && waits.len() == 1 && !wait.blockers.is_empty() {
                self.blockers(owner, &wait.blockers, wait.verdict);
                continue;
            }
            let name = match &wait.finalizer {
                Some(finalizer) => finalizer.to_string(),
                None => "(no finalizer)".to_owned(),
            };
            let (word, look) = state_of_wait(wait);
            let state = match &wait.holder {
                Some(_) => format!("{word}: {}", wait_in_words(wait)),
                None => word,
            };
            let key = Key::Finalizer(owner, name.clone());
            let place = self.node(key, Shape::Finalizer, &name, &state);
            let mark = match wait.verdict {
                _ if !wait.blockers.is_empty() => Mark::None,
                Verdict::InUse | Verdict::Waiting => Mark::Keeps,
                _ => Mark::Root,
            };
            self.mark(place, mark, look);
            self.edge(owner, place, "");
            self.blockers(place, &wait.blockers, wait.verdict);
        }
    }

    fn blockers(&mut self, owner: usize, blockers: &[BlockerReport], state: Verdict) {
        for blocker in blockers {
            let place = if let Some(object) = &blocker.object {
                self.object(object, &blocker.says)
            } else {
                let key = Key::Words(Some(owner), blocker.says.clone());
                self.node(key, Shape::Words, &blocker.says, "")
            };
            // What holds a blocker with finalizers is drawn behind it, and bears the mark.
            if blocker.root_cause && blocker.waits_for.is_empty() {
                let (mark, look) = end(state);
                self.mark(place, mark, look);
            }
            self.edge(owner, place, "");
            self.blockers(place, &blocker.blockers, state);
            self.waits(place, &blocker.waits_for);
        }
    }
}

/// The mark of what waits for nothing else, and its look. It is a fault unless it is in use.
fn end(state: Verdict) -> (Mark, Look) {
    match state {
        Verdict::InUse => (Mark::Keeps, Look::Fine),
        Verdict::Waiting => (Mark::Root, Look::Fault),
        _ => (Mark::Root, verdict(state).1),
    }
}
