//! What the objects of a scan wait for in the end, and the line that says why one of them is still there.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{GapReport, ObjectName, ScanReport};
use crate::{
    diagnose::{
        Blocker, Diagnosis, Verdict, Wait,
        graph::{self, Waiting},
    },
    object::ObjectRef,
    snapshot::{Gap, Seen, What},
};

/// Something that holds objects and waits for nothing itself.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RootCauseReport {
    /// The object, if it is one.
    pub object: Option<ObjectName>,
    /// Its state, or what else the cause is.
    pub says: String,
    /// How many of `objects` wait for nothing else.
    pub frees: usize,
    /// The objects that wait for it, directly or through others.
    pub objects: Vec<ObjectName>,
}

/// Rows of the table that stand under the same root causes, as places in the lists of the report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grouping {
    /// Causes and the objects that wait for exactly these.
    pub groups: Vec<graph::Group>,
    /// Objects without a cause outside themselves.
    pub alone: Vec<usize>,
}

/// One object that was looked at after the scan.
#[derive(Clone, Debug)]
pub struct Looked<'a> {
    /// As the scan saw it.
    pub seen: &'a Seen,
    /// What came of it.
    pub came_of_it: Outcome,
    /// What is being deleted in it, if it is a Namespace.
    pub content: Vec<ObjectRef>,
}

/// What came of looking at one object.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// Its grace period runs: there is nothing to look for.
    InGrace,
    /// It was understood as far as that goes.
    Explained(Box<Diagnosis>),
    /// It could not be read.
    Unreadable(Gap),
    /// It has gone since it was listed.
    Gone,
    /// There were too many, or it took too long.
    NotLookedAt,
}

impl ScanReport {
    /// Adds what a closer look at the objects being deleted has shown.
    pub fn add_causes(&mut self, looked: &[Looked<'_>]) {
        let place = |name: &ObjectName| (name.resource.clone(), name.namespace.clone(), name.name.clone());
        let by_place: BTreeMap<_, _> = looked
            .iter()
            .map(|one| (place(&(&one.seen.object).into()), one))
            .collect();
        // In the order of the report, so that the graph's numbers are rows.
        let ordered: Option<Vec<&Looked<'_>>> = self
            .terminating
            .iter()
            .map(|row| by_place.get(&place(&row.object)).copied())
            .collect();
        let Some(ordered) = ordered else {
            return;
        };
        for (row, one) in self.terminating.iter_mut().zip(&ordered) {
            match &one.came_of_it {
                Outcome::InGrace => row.verdict = Some(Verdict::Waiting),
                Outcome::Unreadable(_) => row.verdict = Some(Verdict::Unknown),
                Outcome::Gone => row.reason = Some("it has gone since it was listed".into()),
                Outcome::NotLookedAt => {}
                Outcome::Explained(diagnosis) => {
                    if let Some(wait) = telling(&diagnosis.waits) {
                        row.verdict = Some(wait.verdict);
                        // What a scan counted in a Namespace says more than one blocker does, and what is known of
                        // the finalizer says more than that its holder is not known.
                        if row.left.is_empty()
                            && row.conditions.is_empty()
                            && let Some(line) = line(wait)
                        {
                            row.reason = Some(line);
                        }
                    }
                }
            }
        }
        let all = ordered.iter().flat_map(|one| match &one.came_of_it {
            Outcome::Explained(diagnosis) => diagnosis.gaps.as_slice(),
            Outcome::Unreadable(gap) => std::slice::from_ref(gap),
            _ => &[],
        });
        self.add_weaker(all);
        self.group(&ordered);
        let missed = ordered
            .iter()
            .filter(|one| matches!(one.came_of_it, Outcome::NotLookedAt))
            .count();
        if missed > 0 {
            self.not_looked_at = missed;
            let why = if self.interrupted {
                "because this was stopped"
            } else if self.not_read.iter().any(|gap| gap.reason == "Connection") {
                "because the server stopped answering"
            } else {
                "to spare the server"
            };
            self.notes.push(format!(
                "{missed} of {} objects were not looked at one by one, {why}; kubectl finalizers explain TYPE/NAME looks \
                 at one",
                self.terminating.len()
            ));
        }
    }

    /// What could not be seen of what was looked at one by one, besides what the scan could not read.
    pub(super) fn add_weaker<'a>(&mut self, gaps: impl Iterator<Item = &'a Gap>) {
        self.weaker_for = together(gaps);
        let not_read = &self.not_read;
        self.weaker_for.retain(|gap| !not_read.contains(gap));
    }

    fn group(&mut self, looked: &[&Looked<'_>]) {
        let waiting: Vec<_> = looked
            .iter()
            .map(|one| Waiting {
                object: &one.seen.object,
                finalizers: &one.seen.finalizers,
                diagnosis: match &one.came_of_it {
                    Outcome::Explained(diagnosis) => Some(diagnosis),
                    _ => None,
                },
                content: one.content.iter().collect(),
            })
            .collect();
        let found = graph::causes(&waiting);
        self.root_causes = found
            .causes
            .into_iter()
            .map(|cause| RootCauseReport {
                object: cause.object.as_ref().map(Into::into),
                says: cause.says,
                frees: cause.frees,
                objects: cause
                    .objects
                    .iter()
                    .map(|&at| self.terminating[at].object.clone())
                    .collect(),
            })
            .collect();
        self.grouping = Grouping {
            groups: found.groups,
            alone: found.alone,
        };
    }
}

/// What could not be seen, once each: the same refusal for a hundred objects, or in a hundred namespaces, is one
/// gap.
fn together<'a>(all: impl Iterator<Item = &'a Gap>) -> Vec<GapReport> {
    let mut gaps: BTreeMap<(What, &'static str), Gap> = BTreeMap::new();
    for gap in all {
        let everywhere = match &gap.what {
            What::TypeIn { name, .. } => What::Type {
                name: name.clone(),
                read: 0,
            },
            other => other.clone(),
        };
        let known = gaps
            .entry((everywhere.clone(), gap.why.word()))
            .or_insert_with(|| gap.clone());
        if known.what != gap.what {
            known.what = everywhere;
        }
    }
    gaps.values().map(Into::into).collect()
}

/// The wait that says most about why an object is still there.
fn telling(waits: &[Wait]) -> Option<&Wait> {
    let rank = |wait: &&Wait| match wait.verdict {
        Verdict::Failing => 0,
        Verdict::Rejected => 1,
        Verdict::Orphaned => 2,
        Verdict::InUse => 3,
        Verdict::Stalled => 4,
        Verdict::Unknown => 5,
        Verdict::Waiting => 6,
    };
    waits.iter().min_by_key(rank)
}

fn line(wait: &Wait) -> Option<String> {
    let blockers: Vec<&Blocker> = wait.on.iter().filter(|blocker| !blocker.rest).collect();
    match (wait.verdict, blockers.as_slice()) {
        (Verdict::InUse | Verdict::Waiting, [first, rest @ ..]) => {
            let verb = if wait.verdict == Verdict::InUse {
                "used by"
            } else {
                "waits for"
            };
            let more = if rest.is_empty() {
                String::new()
            } else {
                format!(", and {} more", rest.len())
            };
            Some(format!("{verb} {}{more}", first.in_words()))
        }
        // What is special about this object comes after what is true of every one with this finalizer.
        (Verdict::Failing | Verdict::Rejected | Verdict::Stalled, _) => {
            Some(match wait.says.split_once("; ") {
                Some((general, special)) => format!("{special} ({general})"),
                None => wait.says.clone(),
            })
        }
        // Who it was, and that it is gone; by which signs is told by explain.
        (Verdict::Orphaned, _) => {
            let sentences: Vec<_> = wait.says.split(". ").take(2).collect();
            Some(sentences.join(". "))
        }
        // It tells nothing that is true of this object alone.
        (Verdict::InUse | Verdict::Waiting | Verdict::Unknown, _) => None,
    }
}
