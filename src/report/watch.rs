//! The report of `watch`: one change of an object that is watched, and the comparison that finds changes.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::Serialize;

use super::{
    API_VERSION, DeletionReport, ExplainReport, GapReport, ObjectName,
    explain::{BlockerReport, WaitReport},
};
use crate::{command::Command, diagnose::Verdict, object::Finalizer, snapshot::Why};

/// One change.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangeReport {
    /// Version of this schema.
    pub api_version: &'static str,
    /// `Change`.
    pub kind: &'static str,
    /// When it was seen.
    pub time: Timestamp,
    /// Seconds from the begin of the watch until then.
    pub watched_seconds: u64,
    /// The object that is watched; none if the change concerns all of them.
    pub target: Option<ObjectName>,
    /// What changed.
    #[serde(flatten)]
    pub change: Change,
}

/// What changed.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "change", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum Change {
    /// The object does not exist when the watch begins.
    NotFound,
    /// It exists and is not being deleted.
    NotDeleted,
    /// It is being deleted, and this is what holds it: at the begin, and whenever a verdict changes.
    Held {
        /// Why.
        explanation: Box<ExplainReport>,
    },
    /// It is in deletion when the watch begins, or its deletion begins.
    InDeletion {
        /// Its deletion.
        deletion: DeletionReport,
        /// Its finalizers.
        finalizers: Vec<Finalizer>,
    },
    /// A finalizer was removed.
    FinalizerRemoved {
        /// Which.
        finalizer: Finalizer,
    },
    /// An object that held it is gone.
    BlockerGone {
        /// Which.
        object: ObjectName,
    },
    /// An object no longer holds it. It may still exist.
    BlockerReleased {
        /// Which.
        object: ObjectName,
    },
    /// Another object holds it.
    BlockerFound {
        /// Which.
        object: ObjectName,
        /// Its state.
        says: String,
    },
    /// It is gone.
    Gone {
        /// Whether another object of that name exists now.
        replaced: bool,
        /// Seconds from the request of its deletion until now; none if that request was not seen.
        terminating_seconds: Option<i64>,
    },
    /// Something cannot be read or watched any more.
    Lost {
        /// What.
        what: String,
        /// One word: `Forbidden`, `Connection` …
        reason: &'static str,
        /// The full reason.
        message: String,
    },
    /// It can be read or watched again.
    Regained {
        /// What.
        what: String,
    },
    /// Types that cannot be watched. They are read at intervals instead.
    NotWatched {
        /// Their names.
        types: Vec<String>,
        /// One word: `Forbidden`, `Limit` …
        reason: &'static str,
        /// The full reason.
        message: String,
    },
    /// Nothing is in deletion any more, in what could be read.
    NothingLeft {
        /// The only namespace that was watched.
        namespace: Option<String>,
        /// What could not be read.
        not_read: Vec<GapReport>,
    },
    /// More objects are in deletion, which were not explained.
    MoreLeft {
        /// The objects.
        objects: Vec<ObjectName>,
        /// The command that explains them.
        next: Command,
    },
    /// The time was up.
    TimedOut {
        /// What still holds it; none if it could not be read.
        explanation: Option<Box<ExplainReport>>,
    },
    /// The user stopped the watch.
    Stopped {
        /// What still holds it; none if it could not be read.
        explanation: Option<Box<ExplainReport>>,
    },
}

/// Where everything in deletion stands, for a terminal.
#[derive(Clone, Debug)]
pub struct Standing {
    /// The only namespace that is watched.
    pub namespace: Option<String>,
    /// The objects in deletion, the oldest deletion first.
    pub objects: Vec<StandingObject>,
    /// How many are gone since the watch began.
    pub gone: usize,
    /// What cannot be read.
    pub not_read: Vec<String>,
    /// How many types are not read yet.
    pub unread_types: usize,
}

/// One object in deletion.
#[derive(Clone, Debug)]
pub struct StandingObject {
    /// Which.
    pub object: ObjectName,
    /// Its deletion as of now.
    pub deletion: DeletionReport,
    /// Its finalizers.
    pub finalizers: Vec<Finalizer>,
    /// Why it is stuck, if that was looked at.
    pub explanation: Option<Box<ExplainReport>>,
}

impl Change {
    /// Something that cannot be read or watched.
    pub fn lost(what: &str, why: &Why) -> Self {
        Change::Lost {
            what: what.to_owned(),
            reason: why.word(),
            message: why.message(),
        }
    }

    /// The change with its time.
    pub fn report(self, target: Option<ObjectName>, time: Timestamp, watched_seconds: u64) -> ChangeReport {
        ChangeReport {
            api_version: API_VERSION,
            kind: "Change",
            time,
            watched_seconds,
            target,
            change: self,
        }
    }
}

/// The changes between two explanations of one object. `is_told` is true for objects that are already reported to
/// are gone.
pub fn changes(
    before: Option<&ExplainReport>,
    after: &ExplainReport,
    is_told: impl Fn(&ObjectName) -> bool,
) -> Vec<Change> {
    let mut changes = Vec::new();
    let now = blockers(after);
    if let Some(before) = before {
        let then = blockers(before);
        let left: BTreeSet<_> = finalizers(after).collect();
        changes.extend(
            finalizers(before)
                .filter(|finalizer| !left.contains(finalizer))
                .map(|finalizer| Change::FinalizerRemoved {
                    finalizer: finalizer.clone(),
                }),
        );
        // An object that could not be read again may hold it still.
        let unseen = |object: &ObjectName| {
            let is_hidden = |gap: &super::GapReport| gap.name.as_ref() == Some(&object.resource);
            after.interrupted || after.not_read.iter().any(is_hidden)
        };
        for (key, blocker) in &then {
            let Some(object) = blocker.object.as_ref().filter(|_| !now.contains_key(key)) else {
                continue;
            };
            if !(is_told(object) || unseen(object)) {
                let object = object.clone();
                changes.push(Change::BlockerReleased { object });
            }
        }
        // Before the deletion there were effects, and no blockers.
        if before.deletion.is_some() {
            for (_, blocker) in now.iter().filter(|(key, _)| !then.contains_key(*key)) {
                changes.extend(blocker.object.clone().map(|object| Change::BlockerFound {
                    object,
                    says: blocker.says.clone(),
                }));
            }
        }
    }
    let is_new = before.is_none_or(|before| state(before) != state(after));
    if after.deletion.is_none() && is_new {
        changes.push(Change::NotDeleted);
    } else if is_new {
        changes.push(Change::Held {
            explanation: Box::new(after.clone()),
        });
    }
    changes
}

/// The objects that hold the target, directly or through others.
pub fn holding(report: &ExplainReport) -> Vec<&ObjectName> {
    let found = blockers(report);
    found
        .into_values()
        .filter_map(|blocker| blocker.object.as_ref())
        .collect()
}

/// What a reader must know anew when it changes. A finalizer that went is a change of its own.
fn state(report: &ExplainReport) -> (bool, BTreeSet<Verdict>) {
    let verdicts = report.waits_for.iter().map(|wait| wait.verdict).collect();
    (report.deletion.is_some(), verdicts)
}

fn finalizers(report: &ExplainReport) -> impl Iterator<Item = &Finalizer> {
    report.waits_for.iter().filter_map(|wait| wait.finalizer.as_ref())
}

type Key<'a> = (&'a str, Option<&'a str>, &'a str, Option<&'a str>);

fn blockers(report: &ExplainReport) -> BTreeMap<Key<'_>, &BlockerReport> {
    let mut found = BTreeMap::new();
    if report.deletion.is_some() {
        add_waits(&report.waits_for, &mut found);
    }
    found
}

fn add_waits<'a>(waits: &'a [WaitReport], found: &mut BTreeMap<Key<'a>, &'a BlockerReport>) {
    for wait in waits {
        add_blockers(&wait.blockers, found);
    }
}

fn add_blockers<'a>(blockers: &'a [BlockerReport], found: &mut BTreeMap<Key<'a>, &'a BlockerReport>) {
    for blocker in blockers {
        if let Some(object) = &blocker.object {
            let key = (
                object.resource.as_str(),
                object.namespace.as_deref(),
                object.name.as_str(),
                object.uid.as_deref(),
            );
            found.entry(key).or_insert(blocker);
        }
        add_blockers(&blocker.blockers, found);
        add_waits(&blocker.waits_for, found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        object::{List, ObjectRef},
        report::DeletionReport,
    };

    fn object(name: &str) -> ObjectName {
        ObjectName::from(&ObjectRef {
            type_name: "pods".into(),
            kind: "Pod".into(),
            api_version: "v1".into(),
            namespace: Some("db".into()),
            name: name.into(),
            uid: format!("uid of {name}"),
        })
    }

    /// A claim in deletion, with these finalizers, which these pods hold.
    fn report(finalizers: &[&str], verdict: Verdict, pods: &[&str]) -> ExplainReport {
        let target = ObjectRef {
            type_name: "persistentvolumeclaims".into(),
            kind: "PersistentVolumeClaim".into(),
            api_version: "v1".into(),
            namespace: Some("db".into()),
            name: "data".into(),
            uid: "u".into(),
        };
        let mut report = ExplainReport::gone(&target, Timestamp::UNIX_EPOCH);
        report.gone = false;
        let deletion = crate::object::Deletion {
            timestamp: Timestamp::UNIX_EPOCH,
            grace_seconds: 0,
        };
        report.deletion = Some(DeletionReport::new(&deletion, Timestamp::UNIX_EPOCH));
        let blocker = |name: &&str| BlockerReport {
            object: Some(object(name)),
            says: "Running".into(),
            root_cause: true,
            rest: false,
            quotes: false,
            blockers: Vec::new(),
            waits_for: Vec::new(),
        };
        let wait = |name: &&str| WaitReport {
            cause: None,
            finalizer: Some(Finalizer {
                list: List::Metadata,
                name: (*name).to_owned(),
            }),
            verdict,
            says: String::new(),
            holder: None,
            once: None,
            work: None,
            now: Vec::new(),
            protects: None,
            if_removed: None,
            blockers: pods.iter().map(blocker).collect(),
        };
        report.waits_for = finalizers.iter().map(wait).collect();
        report
    }

    /// The changes in a few letters.
    fn seen(before: Option<&ExplainReport>, after: &ExplainReport) -> Vec<String> {
        let words = |change| match change {
            Change::Held { .. } => "held".to_owned(),
            Change::NotDeleted => "not deleted".to_owned(),
            Change::FinalizerRemoved { finalizer } => format!("-{}", finalizer.name),
            Change::BlockerReleased { object } => format!("-{}", object.name),
            Change::BlockerFound { object, .. } => format!("+{}", object.name),
            other => format!("{other:?}"),
        };
        let told = |object: &ObjectName| object.name == "told";
        changes(before, after, told).into_iter().map(words).collect()
    }

    #[test]
    fn an_unchanged_state_is_not_reported_again() {
        let one = report(&["a/x"], Verdict::InUse, &["p"]);
        assert_eq!(seen(None, &one), ["held"]);
        assert!(seen(Some(&one), &one).is_empty());
    }

    #[test]
    fn each_added_or_removed_finalizer_or_blocker_is_reported_once() {
        let one = report(&["a/x", "a/y"], Verdict::InUse, &["p", "q", "told"]);
        let two = report(&["a/y"], Verdict::InUse, &["q", "r"]);
        assert_eq!(seen(Some(&one), &two), ["-a/x", "-p", "+r"]);
    }

    #[test]
    fn reports_a_new_verdict_and_the_start_of_a_deletion() {
        let one = report(&["a/x"], Verdict::InUse, &[]);
        let two = report(&["a/x"], Verdict::Stalled, &[]);
        assert_eq!(seen(Some(&one), &two), ["held"]);
        let mut before = report(&["a/x"], Verdict::InUse, &["p"]);
        before.deletion = None;
        assert_eq!(seen(None, &before), ["not deleted"]);
        // What would hold it then is no change now.
        assert_eq!(
            seen(Some(&before), &report(&["a/x"], Verdict::InUse, &["p"])),
            ["held"]
        );
    }

    #[test]
    fn a_blocker_that_was_not_read_again_may_still_hold_it() {
        let one = report(&["a/x"], Verdict::InUse, &["p"]);
        let mut two = report(&["a/x"], Verdict::InUse, &[]);
        two.interrupted = true;
        assert!(seen(Some(&one), &two).is_empty());
        two.interrupted = false;
        two.not_read = vec![
            (&crate::snapshot::Gap {
                what: crate::snapshot::What::Type {
                    name: "pods".into(),
                    read: 0,
                },
                why: Why::Forbidden("no".into()),
            })
                .into(),
        ];
        assert!(seen(Some(&one), &two).is_empty());
    }
}
