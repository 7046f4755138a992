//! Finds out why each terminating object still exists.

use std::collections::{BTreeMap, BTreeSet};

use super::asking::{Ask, LimitedReader};
use crate::{
    diagnose::{self, Diagnosis, diagnose_with, looks_into},
    knowledge::Knowledge,
    object::ObjectRef,
    report::causes::{Examination, Examined},
    snapshot::{
        Gap, Seen, Snapshot, What, Why,
        facts::{Answer, Content, Facts, Object, Query},
    },
};

/// The terminating objects of a scan.
pub(super) struct StuckObjects {
    targets: Vec<Target>,
    /// The content of terminating namespaces, if the scan read all of it.
    contents: BTreeMap<String, Content>,
}

struct Target {
    reference: ObjectRef,
    /// The object; none until it has been read.
    object: Option<Object>,
    /// The scan's copy, for an object that cannot be read. None if the causes of its type need more than metadata.
    copy: Option<Object>,
    /// Why the object itself could not be read.
    gap: Option<Gap>,
    /// Whether its grace period still runs, so that it is only asked what will keep it then.
    in_grace: bool,
    state: TargetState,
}

enum TargetState {
    Open,
    Explained(Box<Diagnosis>),
    Unreadable(Gap),
    Gone,
    NotLookedAt,
}

impl StuckObjects {
    /// `narrowed` says that the scan did not read all content of a namespace. `max_objects` limits the
    /// investigated objects.
    pub(super) fn new(snapshot: &Snapshot, narrowed: bool, max_objects: usize) -> Self {
        let mut terminating = oldest_first(snapshot);
        let in_grace = |seen: &Seen| {
            seen.deletion
                .is_some_and(|deletion| deletion.in_grace(snapshot.observed_at))
        };
        // What is stuck already has its turn first.
        terminating.sort_by_key(|seen| in_grace(seen));
        let targets: Vec<_> = terminating
            .iter()
            .enumerate()
            .map(|(at, seen)| Target {
                reference: seen.object.clone(),
                // A diagnosis rests on the whole object, or `explain` would say something else. Of Secrets and
                // ConfigMaps, that is their metadata.
                object: None,
                copy: (!looks_into(&seen.object)).then(|| Object::from(*seen)),
                gap: None,
                in_grace: in_grace(seen),
                state: if at < max_objects {
                    TargetState::Open
                } else {
                    TargetState::NotLookedAt
                },
            })
            .collect();
        let namespaces = terminating
            .iter()
            .filter(|seen| seen.object.type_name == "namespaces");
        StuckObjects {
            contents: namespaces
                .filter(|_| !narrowed)
                .map(|seen| (seen.object.name.clone(), content(&seen.object.name, snapshot)))
                .collect(),
            targets,
        }
    }

    /// Whether there is anything to investigate.
    pub(super) fn is_open(&self) -> bool {
        self.targets
            .iter()
            .any(|target| matches!(target.state, TargetState::Open))
    }

    /// The number of finished objects, and of all objects.
    pub(super) fn progress(&self) -> (usize, usize) {
        let done = |target: &&Target| !matches!(target.state, TargetState::Open);
        (self.targets.iter().filter(done).count(), self.targets.len())
    }

    /// Returns the results.
    pub(super) fn finish<'a>(
        mut self,
        reader: &mut LimitedReader,
        snapshot: &'a Snapshot,
        knowledge: &Knowledge,
    ) -> Vec<Examined<'a>> {
        // The last answers have not been evaluated yet. If the run was stopped, even the objects themselves
        // may be missing.
        if let Some(facts) = &reader.facts {
            self.take_objects(facts);
        }
        self.round(reader, knowledge);
        let mut seen: BTreeMap<&ObjectRef, &Seen> =
            terminating(snapshot).map(|seen| (&seen.object, seen)).collect();
        let facts = reader.facts.as_ref();
        self.targets
            .into_iter()
            .filter_map(|target| {
                Some(Examined {
                    seen: seen.remove(&target.reference)?,
                    content: terminating_content(&target.reference, facts),
                    result: match target.state {
                        TargetState::Explained(diagnosis) if target.in_grace => {
                            Examination::InGrace(diagnosis.risk)
                        }
                        _ if target.in_grace => Examination::InGrace(None),
                        TargetState::Explained(diagnosis) => Examination::Explained(diagnosis),
                        TargetState::Unreadable(gap) => Examination::Unreadable(gap),
                        TargetState::Gone => Examination::Gone,
                        TargetState::Open | TargetState::NotLookedAt => Examination::NotLookedAt,
                    },
                })
            })
            .collect()
    }

    /// Reads the objects themselves.
    pub(super) async fn fetch(&mut self, server: &impl Ask, reader: &mut LimitedReader) {
        if let Some(facts) = &mut reader.facts {
            for (namespace, content) in std::mem::take(&mut self.contents) {
                let answer = Answer::Content(Box::new(content));
                facts.answers.insert(Query::Content { namespace }, Ok(answer));
            }
        }
        let unread = |target: &&Target| matches!(target.state, TargetState::Open) && target.object.is_none();
        let wanted: BTreeSet<_> = self
            .targets
            .iter()
            .filter(unread)
            .map(|target| Query::of(&target.reference))
            .collect();
        reader.read(server, &wanted).await;
        if let Some(facts) = &reader.facts {
            self.take_objects(facts);
        }
    }

    fn take_objects(&mut self, facts: &Facts) {
        for target in &mut self.targets {
            if !matches!(target.state, TargetState::Open) || target.object.is_some() {
                continue;
            }
            match facts.answers.get(&Query::of(&target.reference)) {
                Some(Ok(Answer::Object(Some(object)))) if object.uid() == target.reference.uid => {
                    target.object = Some((**object).clone());
                }
                Some(Ok(_)) => target.state = TargetState::Gone,
                Some(Err(why)) => {
                    let gap = gap(&target.reference, why);
                    target.object = target.copy.take();
                    if target.object.is_some() {
                        target.gap = Some(gap);
                    } else {
                        target.state = TargetState::Unreadable(gap);
                    }
                }
                None => target.state = TargetState::NotLookedAt,
            }
        }
    }

    /// Diagnoses every open object and returns the queries that they want, as far as the budget goes. An
    /// object that does not get its queries is given up.
    pub(super) fn round(&mut self, reader: &mut LimitedReader, knowledge: &Knowledge) -> Vec<Query> {
        let mut wants = Vec::new();
        if let Some(facts) = &reader.facts {
            let view = diagnose::view(facts, knowledge);
            for target in &mut self.targets {
                let (TargetState::Open, Some(object)) = (&target.state, &target.object) else {
                    continue;
                };
                let progress = diagnose_with(object, &view);
                if progress.wanted.is_empty() {
                    let mut diagnosis = progress.diagnosis;
                    diagnosis.gaps.extend(target.gap.take());
                    target.state = TargetState::Explained(Box::new(diagnosis));
                } else {
                    wants.push((target, progress.wanted));
                }
            }
        }
        let mut admitted = BTreeSet::new();
        for (target, wanted) in wants {
            if !reader.admit(&wanted, &mut admitted) {
                target.state = TargetState::NotLookedAt;
            }
        }
        admitted.into_iter().collect()
    }
}

/// The terminating objects of a scan, the oldest first: they have waited longest if a limit excludes some.
pub(super) fn oldest_first(snapshot: &Snapshot) -> Vec<&Seen> {
    let mut all: Vec<_> = terminating(snapshot).collect();
    all.sort_by_key(|seen| {
        let since = seen.deletion.map(|deletion| deletion.requested_at());
        (since, &seen.object)
    });
    all
}

fn terminating(snapshot: &Snapshot) -> impl Iterator<Item = &Seen> {
    snapshot.tally.kept.iter().filter(|seen| seen.deletion.is_some())
}

/// The gap for an object that could not be read.
pub(super) fn gap(object: &ObjectRef, why: &Why) -> Gap {
    let name = object.type_name.clone();
    let what = match &object.namespace {
        Some(namespace) => What::TypeIn {
            name,
            namespace: namespace.clone(),
            read: 0,
        },
        None => What::Type { name, read: 0 },
    };
    Gap {
        what,
        why: why.clone(),
    }
}

/// The content of a namespace as a complete scan saw it.
fn content(namespace: &str, snapshot: &Snapshot) -> Content {
    let inside = |seen: &&Seen| seen.object.namespace.as_deref() == Some(namespace);
    let missed = |gap: &&Gap| match &gap.what {
        What::Type { .. } | What::Namespaces | What::CoreGroup | What::Groups => true,
        What::TypeIn { namespace: name, .. } | What::Namespace(name) => name == namespace,
        What::TypeOutside { read_in, .. } => !read_in.iter().any(|name| name == namespace),
        // Groups that do not respond are facts of their own. A controller is no content.
        What::Discovery
        | What::GroupVersion { .. }
        | What::File { .. }
        | What::Controller(_)
        | What::Version => false,
    };
    let mut kept: Vec<_> = snapshot.tally.kept.iter().filter(inside).cloned().collect();
    // Lists finish in any order, and the report must not depend on it.
    kept.sort_by_cached_key(|seen| (seen.object.type_name.clone(), seen.object.name.clone()));
    Content {
        counts: snapshot
            .tally
            .remaining
            .get(namespace)
            .cloned()
            .unwrap_or_default(),
        kept,
        gaps: snapshot.gaps.iter().filter(missed).cloned().collect(),
    }
}

/// The terminating objects in a terminating namespace.
pub(super) fn terminating_content(object: &ObjectRef, facts: Option<&Facts>) -> Vec<ObjectRef> {
    if object.type_name != "namespaces" {
        return Vec::new();
    }
    let query = Query::Content {
        namespace: object.name.clone(),
    };
    match facts.and_then(|facts| facts.answers.get(&query)) {
        Some(Ok(Answer::Content(content))) => content
            .kept
            .iter()
            .filter(|seen| seen.deletion.is_some())
            .map(|seen| seen.object.clone())
            .collect(),
        _ => Vec::new(),
    }
}
