//! Why each object that is being deleted is still there.

use std::collections::{BTreeMap, BTreeSet};

use super::asking::{Ask, Asking};
use crate::{
    diagnose::{self, Diagnosis, diagnose_with, looks_into},
    knowledge::Knowledge,
    object::ObjectRef,
    report::causes::{Looked, Outcome},
    snapshot::{
        Gap, Seen, Snapshot, What, Why,
        facts::{Answer, Content, Facts, Object, Query},
    },
};

/// The objects that a scan found to be going.
pub(super) struct Stuck {
    targets: Vec<Target>,
    /// What the scan itself has found in the namespaces that are going, if it looked at everything there.
    contents: BTreeMap<String, Content>,
}

struct Target {
    reference: ObjectRef,
    object: Option<Object>,
    state: State,
}

enum State {
    InGrace,
    Open,
    Explained(Box<Diagnosis>),
    Unreadable(Gap),
    Gone,
    NotLookedAt,
}

impl Stuck {
    /// `narrowed` says that not all of a namespace's content was read, `most` how many objects may be looked at.
    pub(super) fn new(snapshot: &Snapshot, narrowed: bool, most: usize) -> Self {
        let mut going: Vec<&Seen> = going(snapshot).collect();
        // The oldest first: if not all can be looked at, they have waited longest.
        going.sort_by_key(|seen| {
            let since = seen.deletion.map(|deletion| deletion.requested_at());
            (since, seen.object.clone())
        });
        let in_grace = |seen: &Seen| {
            seen.deletion
                .is_some_and(|deletion| deletion.in_grace(snapshot.observed_at))
        };
        let mut open = 0;
        let targets: Vec<_> = going
            .iter()
            .map(|seen| Target {
                reference: seen.object.clone(),
                // No rule looks into objects of most types: what the scan has seen of one is all there is to know.
                object: (!looks_into(&seen.object)).then(|| Object::from(*seen)),
                state: if in_grace(seen) {
                    State::InGrace
                } else if open < most {
                    open += 1;
                    State::Open
                } else {
                    State::NotLookedAt
                },
            })
            .collect();
        let namespaces = going.iter().filter(|seen| seen.object.type_name == "namespaces");
        Stuck {
            contents: namespaces
                .filter(|_| !narrowed)
                .map(|seen| (seen.object.name.clone(), content(&seen.object.name, snapshot)))
                .collect(),
            targets,
        }
    }

    /// Whether there is anything to look at.
    pub(super) fn is_open(&self) -> bool {
        self.targets
            .iter()
            .any(|target| matches!(target.state, State::Open))
    }

    /// How many objects are done with, and how many there are.
    pub(super) fn progress(&self) -> (usize, usize) {
        let done = |target: &&Target| !matches!(target.state, State::Open);
        (self.targets.iter().filter(done).count(), self.targets.len())
    }

    /// What came of it.
    pub(super) fn finish<'a>(
        mut self,
        asking: &mut Asking,
        snapshot: &'a Snapshot,
        knowledge: &Knowledge,
    ) -> Vec<Looked<'a>> {
        // What was answered last has not been looked at yet; if it was stopped, not even the objects themselves.
        if let Some(facts) = &asking.facts {
            self.take_objects(facts);
        }
        self.round(asking, knowledge);
        let mut seen: BTreeMap<&ObjectRef, &Seen> =
            going(snapshot).map(|seen| (&seen.object, seen)).collect();
        let facts = asking.facts.as_ref();
        self.targets
            .into_iter()
            .filter_map(|target| {
                Some(Looked {
                    seen: seen.remove(&target.reference)?,
                    content: inside(&target.reference, facts),
                    came_of_it: match target.state {
                        State::InGrace => Outcome::InGrace,
                        State::Explained(diagnosis) => Outcome::Explained(diagnosis),
                        State::Unreadable(gap) => Outcome::Unreadable(gap),
                        State::Gone => Outcome::Gone,
                        State::Open | State::NotLookedAt => Outcome::NotLookedAt,
                    },
                })
            })
            .collect()
    }

    /// The objects themselves.
    pub(super) async fn fetch(&mut self, server: &impl Ask, asking: &mut Asking) {
        if let Some(facts) = &mut asking.facts {
            for (namespace, content) in std::mem::take(&mut self.contents) {
                let answer = Answer::Content(Box::new(content));
                facts.answers.insert(Query::Content { namespace }, Ok(answer));
            }
        }
        let unread = |target: &&Target| matches!(target.state, State::Open) && target.object.is_none();
        let wanted: BTreeSet<_> = self
            .targets
            .iter()
            .filter(unread)
            .map(|target| Query::of(&target.reference))
            .collect();
        asking.read(server, &wanted).await;
        if let Some(facts) = &asking.facts {
            self.take_objects(facts);
        }
    }

    fn take_objects(&mut self, facts: &Facts) {
        for target in &mut self.targets {
            if !matches!(target.state, State::Open) || target.object.is_some() {
                continue;
            }
            match facts.answers.get(&Query::of(&target.reference)) {
                Some(Ok(Answer::Object(Some(object)))) if object.uid() == target.reference.uid => {
                    target.object = Some((**object).clone());
                }
                Some(Ok(_)) => target.state = State::Gone,
                Some(Err(why)) => {
                    target.state = State::Unreadable(gap(&target.reference, why));
                }
                None => target.state = State::NotLookedAt,
            }
        }
    }

    /// Diagnoses every object that is not yet understood and returns what they want to see, as far as the rest of
    /// the requests goes. Whoever does not get what it wants is given up.
    pub(super) fn round(&mut self, asking: &mut Asking, knowledge: &Knowledge) -> Vec<Query> {
        let mut wants = Vec::new();
        if let Some(facts) = &asking.facts {
            let view = diagnose::view(facts, knowledge);
            for target in &mut self.targets {
                let (State::Open, Some(object)) = (&target.state, &target.object) else {
                    continue;
                };
                let progress = diagnose_with(object, &view);
                if progress.wanted.is_empty() {
                    target.state = State::Explained(Box::new(progress.diagnosis));
                } else {
                    wants.push((target, progress.wanted));
                }
            }
        }
        let mut admitted = BTreeSet::new();
        for (target, wanted) in wants {
            if !asking.admit(&wanted, &mut admitted) {
                target.state = State::NotLookedAt;
            }
        }
        admitted.into_iter().collect()
    }
}

fn going(snapshot: &Snapshot) -> impl Iterator<Item = &Seen> {
    snapshot.tally.kept.iter().filter(|seen| seen.deletion.is_some())
}

/// That an object could not be read.
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

/// What a complete scan has seen of a namespace.
fn content(namespace: &str, snapshot: &Snapshot) -> Content {
    let inside = |seen: &&Seen| seen.object.namespace.as_deref() == Some(namespace);
    let missed = |gap: &&Gap| match &gap.what {
        What::Type { .. } | What::Namespaces | What::CoreGroup | What::Groups => true,
        What::TypeIn { namespace: name, .. } | What::Namespace(name) => name == namespace,
        What::TypeOutside { read_in, .. } => !read_in.iter().any(|name| name == namespace),
        // Single groups that do not answer are facts of their own.
        What::Discovery | What::GroupVersion { .. } | What::File { .. } => false,
    };
    let mut kept: Vec<_> = snapshot.tally.kept.iter().filter(inside).cloned().collect();
    // Lists end in any order, and what is said must not depend on it.
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

/// What is being deleted in a namespace that is.
fn inside(object: &ObjectRef, facts: Option<&Facts>) -> Vec<ObjectRef> {
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
