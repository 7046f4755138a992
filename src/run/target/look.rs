//! Explains one object: diagnoses it, reads what the diagnosis wants, and repeats. At the end it checks that
//! the object is still the same.

use std::{cell::RefCell, collections::BTreeSet, time::Duration};

use tokio::time::{Instant, timeout};

use super::watch::Watch;
use crate::{
    command::RunFlags,
    diagnose::{Diagnosis, diagnose},
    knowledge::Knowledge,
    report::ExplainReport,
    run::{dumped::Dumped, witness::Witness},
    snapshot::{
        Why,
        facts::{Answer, Facts, Object, Query, Where},
    },
};

/// Maximum number of rounds. A chain of waits is rarely longer than four. Anything not read by then is a gap.
const MAX_ROUNDS: usize = 12;
/// Reading ends after this time, even if more is wanted.
const MAX_TIME: Duration = Duration::from_secs(60);
/// Attempts for an object that changes during the run.
const MAX_TRIES: usize = 3;

/// Explains objects from one source of answers.
pub(in crate::run) struct Explainer<'a> {
    pub(in crate::run) witness: Witness<'a>,
    pub(in crate::run) knowledge: &'a Knowledge,
    pub(in crate::run) watch: &'a mut Watch,
}

impl Explainer<'_> {
    /// Explains the object as it is at the end of the reads.
    pub(in crate::run) async fn explain(
        &mut self,
        name: &str,
        mut object: Object,
        facts: &mut Facts,
        run: &RunFlags,
    ) -> ExplainReport {
        if let Witness::Dump(dump, _) = self.witness {
            let diagnosis = Dumped::new(dump).diagnose(&object, self.knowledge);
            return ExplainReport::new(&diagnosis, run);
        }
        let mut notes = Vec::new();
        for _ in 0..MAX_TRIES {
            let (diagnosis, all_read) = self.read_and_diagnose(name, &object, facts).await;
            let mut report = ExplainReport::new(&diagnosis, run);
            report.interrupted = !all_read;
            report.notes.clone_from(&notes);
            let again = || format!("{name}: looking whether it is still there");
            match self
                .watch
                .show_progress(again, recheck(self.witness, &object, facts))
                .await
            {
                Some(Recheck::Gone) => return ExplainReport::gone(&object.reference(), facts.now),
                Some(Recheck::Changed(other)) => {
                    if other.uid() != object.uid() {
                        notes.push(format!(
                            "the object that was there at first (uid {}) is gone; a new one of that name has been made since, and this is about the new one (uid {})",
                            object.uid(),
                            other.uid()
                        ));
                    }
                    object = *other;
                }
                Some(Recheck::Same) | None => return report,
            }
        }
        let (diagnosis, all_read) = self.read_and_diagnose(name, &object, facts).await;
        let mut report = ExplainReport::new(&diagnosis, run);
        report.interrupted = !all_read;
        notes.push("it changes while it is looked at, so this may be out of date already".to_owned());
        report.notes = notes;
        report
    }

    /// Reads and diagnoses until nothing more is wanted. Returns whether everything was read.
    pub(in crate::run) async fn read_and_diagnose(
        &mut self,
        name: &str,
        object: &Object,
        facts: &mut Facts,
    ) -> (Diagnosis, bool) {
        let began = Instant::now();
        for _ in 0..MAX_ROUNDS {
            let progress = diagnose(object, facts, self.knowledge);
            if progress.wanted.is_empty() {
                return (progress.diagnosis, true);
            }
            let open = RefCell::new(progress.wanted.clone());
            let doing = || format!("{name}: waiting for {}", queries_in_words(&open.borrow()));
            let answered = |query: &Query| {
                open.borrow_mut().remove(query);
            };
            let reading = self.witness.answer_and_tell(progress.wanted, facts, &answered);
            if !matches!(
                self.watch
                    .show_progress(doing, timeout(MAX_TIME.saturating_sub(began.elapsed()), reading))
                    .await,
                Some(Ok(true))
            ) {
                break;
            }
        }
        diagnose_with_gaps(object, facts, self.knowledge)
    }
}

/// Diagnoses with every unanswered query as a gap. The original facts stay unchanged, because another object
/// may still get these answers.
fn diagnose_with_gaps(object: &Object, facts: &Facts, knowledge: &Knowledge) -> (Diagnosis, bool) {
    let mut facts = facts.clone();
    let mut all_read = true;
    loop {
        let progress = diagnose(object, &facts, knowledge);
        if progress.wanted.is_empty() {
            return (progress.diagnosis, all_read);
        }
        all_read = false;
        let wanted = progress.wanted.into_iter();
        facts
            .answers
            .extend(wanted.map(|query| (query, Err(Why::Interrupted))));
    }
}

/// The object compared with its earlier state.
enum Recheck {
    Same,
    Gone,
    Changed(Box<Object>),
}

async fn recheck(witness: Witness<'_>, object: &Object, facts: &mut Facts) -> Recheck {
    if !matches!(witness, Witness::Server(_)) {
        return Recheck::Same;
    }
    let query = Query::of(&object.reference());
    witness.answer([query.clone()], facts).await;
    match facts.answers.get(&query) {
        Some(Ok(Answer::Object(None))) => Recheck::Gone,
        Some(Ok(Answer::Object(Some(now)))) if !is_same(now, object) => {
            let now = now.clone();
            // Its blockers may have changed too.
            facts.answers.clear();
            Recheck::Changed(now)
        }
        // An unreadable object does not change what was read before.
        _ => Recheck::Same,
    }
}

/// Compares only what a diagnosis depends on. Status changes all the time.
fn is_same(now: &Object, then: &Object) -> bool {
    now.uid() == then.uid() && now.deletion() == then.deletion() && now.finalizers() == then.finalizers()
}

fn queries_in_words(wanted: &BTreeSet<Query>) -> String {
    let first = wanted.first().map(subject).unwrap_or_default();
    match wanted.len() {
        0 | 1 => first,
        all => format!("{first} and {} more", all - 1),
    }
}

fn subject(query: &Query) -> String {
    let within = |what: String, namespace: Option<&String>| match namespace {
        Some(namespace) => format!("{what} in {namespace}"),
        None => what,
    };
    match query {
        Query::Object {
            resource,
            namespace,
            name,
        } => within(format!("{} {name}", resource.name()), namespace.as_ref()),
        Query::List { resource, namespace }
        | Query::Search {
            resource, namespace, ..
        } => within(resource.name(), namespace.as_ref()),
        Query::Events { name, .. } => format!("events about {name}"),
        Query::Content { namespace } => format!("all that is in {namespace}"),
        Query::Owned(Where::Namespace(namespace)) => format!("who owns what in {namespace}"),
        Query::Owned(Where::Owner(_)) => "what it owns, in all namespaces".to_owned(),
        Query::Version => "the version of the API server".to_owned(),
    }
}
