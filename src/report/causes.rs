//! Adds root causes and reasons to a scan report, from the diagnosis of each object.

use std::collections::BTreeMap;

use super::{GapReport, ObjectName, ScanReport};
use crate::{
    command::RunFlags,
    diagnose::{Blocker, Diagnosis, Verdict, Wait, model::Said},
    knowledge::Knowledge,
    object::ObjectRef,
    snapshot::{Gap, Seen, What},
};

/// One object that was investigated after the scan.
#[derive(Clone, Debug)]
pub struct Examined<'a> {
    /// The object as the scan saw it.
    pub seen: &'a Seen,
    /// The result of the investigation.
    pub result: Examination,
    /// For a Namespace: the terminating objects in it.
    pub content: Vec<ObjectRef>,
}

/// The result of investigating one object.
#[derive(Clone, Debug)]
pub enum Examination {
    /// The grace period still runs, so there is nothing to explain but what will keep the object then, if that is known.
    InGrace(Option<String>),
    /// The diagnosis, as complete as the answers allow.
    Explained(Box<Diagnosis>),
    /// The object could not be read.
    Unreadable(Gap),
    /// The object disappeared after it was listed.
    Gone,
    /// Nobody investigated it: there were too many objects, or the time was up.
    NotLookedAt,
}

impl Examined<'_> {
    /// Its diagnosis, if there is one.
    pub(super) fn diagnosis(&self) -> Option<&Diagnosis> {
        match &self.result {
            Examination::Explained(diagnosis) => Some(diagnosis),
            _ => None,
        }
    }
}

impl ScanReport {
    /// The results in the order of the report.
    pub(super) fn in_order<'e, 'a>(&self, examined: &'e [Examined<'a>]) -> Option<Vec<&'e Examined<'a>>> {
        let place = |name: &ObjectName| (name.resource.clone(), name.namespace.clone(), name.name.clone());
        let by_place: BTreeMap<_, _> = examined
            .iter()
            .map(|one| (place(&(&one.seen.object).into()), one))
            .collect();
        self.terminating
            .iter()
            .map(|row| by_place.get(&place(&row.object)).copied())
            .collect()
    }

    /// Adds the results of investigating the terminating objects.
    pub fn add_causes(&mut self, examined: &[Examined<'_>], knowledge: &Knowledge, there: &RunFlags) {
        let Some(ordered) = self.in_order(examined) else {
            return;
        };
        for (row, one) in self.terminating.iter_mut().zip(&ordered) {
            match &one.result {
                Examination::InGrace(risk) => {
                    row.verdict = Some(Verdict::Waiting);
                    if risk.is_some() {
                        row.reason.clone_from(risk);
                        row.at_risk.clone_from(risk);
                    }
                }
                Examination::Unreadable(_) => row.verdict = Some(Verdict::Unknown),
                Examination::Gone => row.reason = Some("it has gone since it was listed".into()),
                Examination::NotLookedAt => {}
                Examination::Explained(diagnosis) => {
                    if let Some(wait) = most_telling_wait(&diagnosis.waits) {
                        row.verdict = Some(wait.verdict);
                        // For a Namespace, the scan's counts say more than one blocker. For an unknown
                        // controller, the description of the finalizer says more.
                        if row.remaining.is_empty()
                            && row.conditions.is_empty()
                            && let Some(reason) = reason(wait)
                        {
                            row.reason = Some(reason.to_string());
                        }
                    }
                }
            }
        }
        let all = ordered.iter().flat_map(|one| match &one.result {
            Examination::Explained(diagnosis) => diagnosis.gaps.as_slice(),
            Examination::Unreadable(gap) => std::slice::from_ref(gap),
            _ => &[],
        });
        self.add_weaker(all);
        self.add_root_causes(&ordered, knowledge, there);
        let missed = ordered
            .iter()
            .filter(|one| matches!(one.result, Examination::NotLookedAt))
            .count();
        if missed > 0 {
            self.not_looked_at = missed;
            let why = if self.interrupted {
                "because this was stopped"
            } else if self.not_read.iter().any(|gap| gap.reason == "Connection") {
                "because the server stopped answering"
            } else if there.from.is_empty() {
                "to spare the server"
            } else {
                "because it would take too long"
            };
            self.notes.push(format!(
                "{missed} of {} objects were not looked at one by one, {why}; kubectl finalizers explain TYPE/NAME looks \
                 at one",
                self.terminating.len()
            ));
        }
    }

    /// Adds the gaps of the investigation that the scan itself does not report.
    pub(super) fn add_weaker<'a>(&mut self, gaps: impl Iterator<Item = &'a Gap>) {
        self.weaker_for = merge_gaps(gaps);
        let not_read = &self.not_read;
        self.weaker_for.retain(|gap| !not_read.contains(gap));
    }
}

/// Merges equal gaps. The same refusal for a hundred objects or namespaces becomes one gap.
fn merge_gaps<'a>(all: impl Iterator<Item = &'a Gap>) -> Vec<GapReport> {
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

/// The wait that best explains why an object still exists.
pub(super) fn most_telling_wait(waits: &[Wait]) -> Option<&Wait> {
    waits.iter().min_by_key(|wait| wait.verdict.rank())
}

/// Why an object still exists, in one line.
pub enum Reason<'a> {
    /// By this object or backend, and by so many more.
    Blocked {
        /// `used by` or `waits for`.
        verb: &'static str,
        /// The first of them, in words.
        by: String,
        /// The number of the others.
        more: usize,
    },
    /// The controller does not act.
    NotActing(&'a Said),
    /// The controller is gone. `explain` shows what proves that.
    Gone(&'a Said),
}

fn reason(wait: &Wait) -> Option<Reason<'_>> {
    let blockers: Vec<&Blocker> = wait.on.iter().filter(|blocker| !blocker.rest).collect();
    match (wait.verdict, blockers.as_slice()) {
        (Verdict::InUse | Verdict::Waiting, [first, rest @ ..]) => Some(Reason::Blocked {
            verb: if wait.verdict == Verdict::InUse {
                "used by"
            } else {
                "waits for"
            },
            by: first.in_words(),
            more: rest.len(),
        }),
        (Verdict::Failing | Verdict::Rejected | Verdict::Stalled, _) => Some(Reason::NotActing(&wait.said)),
        (Verdict::Orphaned, _) => Some(Reason::Gone(&wait.said)),
        // The text says nothing about this object in particular.
        (Verdict::InUse | Verdict::Waiting | Verdict::Unknown, _) => None,
    }
}
