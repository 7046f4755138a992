//! Looking at one object: diagnose, read what that wants to see, again, and make sure at the end that it is still
//! the same object.

use std::{cell::RefCell, collections::BTreeSet, time::Duration};

use tokio::time::{Instant, timeout_at};

use super::watch::Watch;
use crate::{
    diagnose::{Diagnosis, diagnose, diagnose_partly},
    knowledge::Knowledge,
    report::ExplainReport,
    run::witness::Witness,
    snapshot::{
        Why,
        facts::{Answer, Facts, Object, Query, Where},
        load::Dump,
    },
};

/// Rounds of reading. A chain of waits is rarely longer than four; what is not read by then is said to be unread.
const ROUNDS: usize = 12;
/// Reading ends after this much time, whatever is still wanted.
const LONGEST: Duration = Duration::from_secs(60);
/// How often an object that changes under our eyes is looked at again.
const TRIES: usize = 3;

/// Who is asked, and with what one looks.
pub(in crate::run) struct Looking<'a> {
    pub(in crate::run) witness: Witness<'a>,
    pub(in crate::run) knowledge: &'a Knowledge,
    pub(in crate::run) watch: &'a mut Watch,
}

impl Looking<'_> {
    /// What the object waits for, as it is at the end of the looking.
    pub(super) async fn at(&mut self, name: &str, mut object: Object, facts: &mut Facts) -> ExplainReport {
        if let Witness::Dump(dump, _) = self.witness {
            return in_dump(dump, &object, facts, self.knowledge);
        }
        let mut notes = Vec::new();
        for _ in 0..TRIES {
            let (diagnosis, all_read) = self.rounds(name, &object, facts).await;
            let mut report = ExplainReport::from(&diagnosis);
            report.interrupted = !all_read;
            report.notes.clone_from(&notes);
            let again = || format!("{name}: looking whether it is still there");
            match self.watch.over(again, now(self.witness, &object, facts)).await {
                Some(Now::Gone) => return ExplainReport::gone(&object.reference(), facts.now),
                Some(Now::Other(other)) => {
                    if other.uid() != object.uid() {
                        notes.push(format!(
                            "the object that was there at first (uid {}) is gone; a new one of that name has been made since, and this is about the new one (uid {})",
                            object.uid(),
                            other.uid()
                        ));
                    }
                    object = *other;
                }
                Some(Now::Same) | None => return report,
            }
        }
        let (diagnosis, all_read) = self.rounds(name, &object, facts).await;
        let mut report = ExplainReport::from(&diagnosis);
        report.interrupted = !all_read;
        notes.push("it changes while it is looked at, so this may be out of date already".to_owned());
        report.notes = notes;
        report
    }

    /// Reads until nothing more is wanted. Whether it came so far.
    pub(in crate::run) async fn rounds(
        &mut self,
        name: &str,
        object: &Object,
        facts: &mut Facts,
    ) -> (Diagnosis, bool) {
        let until = Instant::now() + LONGEST;
        for _ in 0..ROUNDS {
            let progress = diagnose(object, facts, self.knowledge);
            if progress.wanted.is_empty() {
                return (progress.diagnosis, true);
            }
            let open = RefCell::new(progress.wanted.clone());
            let doing = || format!("{name}: waiting for {}", in_words(&open.borrow()));
            let answered = |query: &Query| {
                open.borrow_mut().remove(query);
            };
            let reading = self.witness.answer_and_tell(progress.wanted, facts, &answered);
            if !matches!(
                self.watch.over(doing, timeout_at(until, reading)).await,
                Some(Ok(true))
            ) {
                break;
            }
        }
        unread(object, facts, self.knowledge)
    }
}

/// From files that nobody made for this: twice, once with what they hold, once with what that proves.
fn in_dump(dump: &Dump, object: &Object, proved: &mut Facts, knowledge: &Knowledge) -> ExplainReport {
    let mut seen = dump.initial_facts();
    let mut progress = diagnose_partly(object, &seen, proved, knowledge);
    for _ in 0..ROUNDS {
        let (now, also) = &progress;
        if now.wanted.is_empty() && also.is_empty() {
            break;
        }
        dump.add_answers(now.wanted.clone(), false, proved);
        dump.add_answers(also.clone(), true, &mut seen);
        progress = diagnose_partly(object, &seen, proved, knowledge);
    }
    ExplainReport::from(&progress.0.diagnosis)
}

/// What is still wanted will not be read: to the rules that is a gap like any other. Another object may be luckier,
/// so the facts stay as they are.
fn unread(object: &Object, facts: &Facts, knowledge: &Knowledge) -> (Diagnosis, bool) {
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

/// The object, compared with how it was.
enum Now {
    Same,
    Gone,
    Other(Box<Object>),
}

async fn now(witness: Witness<'_>, object: &Object, facts: &mut Facts) -> Now {
    if !matches!(witness, Witness::Server(_)) {
        return Now::Same;
    }
    let query = Query::of(&object.reference());
    witness.answer([query.clone()], facts).await;
    match facts.answers.get(&query) {
        Some(Ok(Answer::Object(None))) => Now::Gone,
        Some(Ok(Answer::Object(Some(now)))) if !is_same(now, object) => {
            let now = now.clone();
            // Whatever it waited for may have changed with it.
            facts.answers.clear();
            Now::Other(now)
        }
        // That it cannot be read any more says nothing about what was seen.
        _ => Now::Same,
    }
}

/// As far as a diagnosis depends on it. Status changes all the time.
fn is_same(now: &Object, then: &Object) -> bool {
    now.uid() == then.uid() && now.deletion() == then.deletion() && now.finalizers() == then.finalizers()
}

fn in_words(wanted: &BTreeSet<Query>) -> String {
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
    }
}
