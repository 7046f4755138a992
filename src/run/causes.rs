//! After a scan: why each object that is being deleted is still there. Reads are shared between the objects, and
//! there is a limit to how many there are, so that a cluster with hundreds of stuck objects stays as it is.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use tokio::time::timeout;

use super::witness::Witness;
use crate::{
    diagnose::{Diagnosis, diagnose, looks_into},
    knowledge::Knowledge,
    object::ObjectRef,
    report::causes::{Looked, Outcome},
    snapshot::{
        Gap, Seen, Snapshot, What,
        facts::{Answer, Content, Facts, Object, Query, Resource, Where},
    },
};

/// Requests at most, those for the objects themselves among them.
const REQUESTS: usize = 400;
/// Objects at most: they are held whole.
const OBJECTS: usize = 500;
/// Time at most.
const LONGEST: Duration = Duration::from_secs(20);
/// Rounds at most; a chain of waits is rarely longer than four.
const ROUNDS: usize = 12;
/// Queries that are sent together. What has been answered survives when the time is up.
const TOGETHER: usize = 24;
/// Objects of a type on one page of a list.
const PAGE: u64 = 500;

/// Looking at the objects that a scan found to be going.
pub(super) struct Look {
    targets: Vec<Target>,
    facts: Option<Facts>,
    /// What the scan itself learned of the types, if it asked for all of them.
    known: Option<Facts>,
    /// Objects of each type, as the scan counted them.
    counts: BTreeMap<String, u64>,
    /// What the scan itself has found in the namespaces that are going, if it looked at everything there.
    contents: BTreeMap<String, Content>,
    left: usize,
}

/// What a scan of everything has learned of the server's types. One of chosen types has not kept the others.
fn known(snapshot: &Snapshot) -> Facts {
    let of_discovery = |gap: &&Gap| {
        matches!(
            gap.what,
            What::Discovery | What::CoreGroup | What::Groups | What::GroupVersion { .. }
        )
    };
    Facts {
        now: snapshot.observed_at,
        types: snapshot.types.iter().map(|read| read.ty.clone()).collect(),
        gaps: snapshot.gaps.iter().filter(of_discovery).cloned().collect(),
        answers: BTreeMap::new(),
    }
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

impl Look {
    /// None if nothing is being deleted. `narrowed` says that not all of a namespace's content was read, `all_types`
    /// that every type of the server was asked for: a scan of one namespace knows nothing of nodes.
    pub(super) fn new(snapshot: &Snapshot, narrowed: bool, all_types: bool) -> Option<Self> {
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
                } else if open < OBJECTS {
                    open += 1;
                    State::Open
                } else {
                    State::NotLookedAt
                },
            })
            .collect();
        let namespaces = going.iter().filter(|seen| seen.object.type_name == "namespaces");
        Some(Look {
            facts: None,
            known: all_types.then(|| known(snapshot)),
            counts: snapshot
                .types
                .iter()
                .map(|read| (read.ty.name(), read.objects))
                .collect(),
            contents: namespaces
                .filter(|_| !narrowed)
                .map(|seen| (seen.object.name.clone(), content(&seen.object.name, snapshot)))
                .collect(),
            left: REQUESTS,
            targets,
        })
        .filter(|look| !look.targets.is_empty())
    }

    /// Looks until nothing is wanted any more, or the limits are reached.
    pub(super) async fn run(&mut self, witness: Witness<'_>, knowledge: &Knowledge) {
        if !self
            .targets
            .iter()
            .any(|target| matches!(target.state, State::Open))
        {
            return;
        }
        let began = Instant::now();
        // Without the types nothing can be concluded from what is not there.
        let mut facts = match self.known.take() {
            Some(facts) => facts,
            None => match timeout(LONGEST, witness.first_look()).await {
                Ok(Ok(facts)) => facts,
                _ => return,
            },
        };
        for (namespace, content) in std::mem::take(&mut self.contents) {
            let answer = Answer::Content(Box::new(content));
            facts.answers.insert(Query::Content { namespace }, Ok(answer));
        }
        self.facts = Some(facts);
        self.fetch(witness, began).await;
        for _ in 0..ROUNDS {
            let wanted = self.round(knowledge);
            if wanted.is_empty() || !self.answer(witness, wanted, began).await {
                return;
            }
        }
    }

    /// What came of it.
    pub(super) fn finish<'a>(mut self, snapshot: &'a Snapshot, knowledge: &Knowledge) -> Vec<Looked<'a>> {
        // What was answered last has not been looked at yet.
        self.left = 0;
        self.round(knowledge);
        let mut seen: BTreeMap<&ObjectRef, &Seen> =
            going(snapshot).map(|seen| (&seen.object, seen)).collect();
        let facts = self.facts;
        self.targets
            .into_iter()
            .filter_map(|target| {
                Some(Looked {
                    seen: seen.remove(&target.reference)?,
                    content: inside(&target.reference, facts.as_ref()),
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

    /// The objects themselves: many of one type by a list of it, if that is cheaper, else each alone.
    async fn fetch(&mut self, witness: Witness<'_>, began: Instant) {
        let mut by_type: BTreeMap<String, Vec<Query>> = BTreeMap::new();
        for target in &self.targets {
            if matches!(target.state, State::Open) && target.object.is_none() {
                by_type
                    .entry(target.reference.type_name.clone())
                    .or_default()
                    .push(query(&target.reference));
            }
        }
        let mut queries = Vec::new();
        for (type_name, each) in by_type {
            let pages = self.counts.get(&type_name).map(|count| pages(*count));
            match pages {
                Some(pages) if !is_confidential(&type_name) && pages * 10 < each.len() => {
                    let namespaces: BTreeSet<_> = each.iter().map(namespace).collect();
                    queries.push(Query::List {
                        resource: resource(&type_name),
                        namespace: match namespaces.into_iter().collect::<Vec<_>>().as_slice() {
                            [Some(only)] => Some(only.clone()),
                            _ => None,
                        },
                    });
                }
                _ => queries.extend(each),
            }
        }
        queries.truncate(self.left);
        self.left -= queries.len();
        let lists: Vec<_> = queries
            .iter()
            .filter(|query| matches!(query, Query::List { .. }))
            .cloned()
            .collect();
        self.answer(witness, queries, began).await;
        if let Some(facts) = &mut self.facts {
            for list in &lists {
                spread(list, &self.targets, facts);
            }
        }
        self.take_objects();
    }

    fn take_objects(&mut self) {
        let Some(facts) = &self.facts else {
            return;
        };
        for target in &mut self.targets {
            if !matches!(target.state, State::Open) || target.object.is_some() {
                continue;
            }
            match facts.answers.get(&query(&target.reference)) {
                Some(Ok(Answer::Object(Some(object)))) if object.uid() == target.reference.uid => {
                    target.object = Some((**object).clone());
                }
                Some(Ok(_)) => target.state = State::Gone,
                Some(Err(why)) => {
                    target.state = State::Unreadable(Gap {
                        what: what(&target.reference),
                        why: why.clone(),
                    });
                }
                None => target.state = State::NotLookedAt,
            }
        }
    }

    /// Diagnoses every object that is not yet understood and returns what they want to see, as far as the rest of
    /// the requests goes. Whoever does not get what it wants is given up.
    fn round(&mut self, knowledge: &Knowledge) -> Vec<Query> {
        let Some(facts) = &self.facts else {
            return Vec::new();
        };
        let mut wanted = BTreeSet::new();
        for target in &mut self.targets {
            let (State::Open, Some(object)) = (&target.state, &target.object) else {
                continue;
            };
            let progress = diagnose(object, facts, knowledge);
            if progress.wanted.is_empty() {
                target.state = State::Explained(Box::new(progress.diagnosis));
            } else if !admit(&progress.wanted, &mut wanted, &mut self.left, |query| {
                cost(query, facts, &self.counts)
            }) {
                target.state = State::NotLookedAt;
            }
        }
        wanted.into_iter().collect()
    }

    /// Answers the queries, a part at a time. Whether there was time for all.
    async fn answer(&mut self, witness: Witness<'_>, queries: Vec<Query>, began: Instant) -> bool {
        let Some(facts) = &mut self.facts else {
            return false;
        };
        let mut all = true;
        for part in queries.chunks(TOGETHER) {
            let rest = LONGEST.saturating_sub(began.elapsed());
            match timeout(rest, witness.answer(part.iter().cloned(), facts)).await {
                Ok(answered) => all &= answered,
                Err(_) => return false,
            }
        }
        all
    }
}

/// Adds what one object wants to what is read next, if all of it can be paid for.
fn admit(
    wants: &BTreeSet<Query>,
    admitted: &mut BTreeSet<Query>,
    left: &mut usize,
    cost: impl Fn(&Query) -> usize,
) -> bool {
    let new: BTreeSet<_> = wants.difference(admitted).cloned().collect();
    let price: usize = new.iter().map(cost).sum();
    if price > *left {
        return false;
    }
    *left -= price;
    admitted.extend(new);
    true
}

/// Requests that a query takes.
fn cost(query: &Query, facts: &Facts, counts: &BTreeMap<String, u64>) -> usize {
    match query {
        Query::Object { .. } | Query::Events { .. } | Query::Search { .. } => 1,
        Query::List { resource, .. } => counts.get(&resource.name()).map_or(1, |count| pages(*count)),
        Query::Content { .. } | Query::Owned(Where::Namespace(_)) => {
            facts.types.iter().filter(|ty| ty.namespaced).count()
        }
        Query::Owned(Where::Owner(_)) => facts
            .types
            .iter()
            .map(|ty| counts.get(&ty.name()).map_or(1, |count| pages(*count)))
            .sum(),
    }
}

fn pages(objects: u64) -> usize {
    usize::try_from(objects.div_ceil(PAGE))
        .unwrap_or(usize::MAX / 100)
        .max(1)
}

fn going(snapshot: &Snapshot) -> impl Iterator<Item = &Seen> {
    snapshot.tally.kept.iter().filter(|seen| seen.deletion.is_some())
}

fn resource(type_name: &str) -> Resource {
    let (plural, group) = type_name.split_once('.').unwrap_or((type_name, ""));
    Resource::new(group, plural)
}

fn is_confidential(type_name: &str) -> bool {
    matches!(type_name, "secrets" | "configmaps")
}

fn query(object: &ObjectRef) -> Query {
    Query::Object {
        resource: resource(&object.type_name),
        namespace: object.namespace.clone(),
        name: object.name.clone(),
    }
}

fn namespace(query: &Query) -> Option<String> {
    match query {
        Query::Object { namespace, .. } => namespace.clone(),
        _ => None,
    }
}

fn what(object: &ObjectRef) -> What {
    let name = object.type_name.clone();
    match &object.namespace {
        Some(namespace) => What::TypeIn {
            name,
            namespace: namespace.clone(),
            read: 0,
        },
        None => What::Type { name, read: 0 },
    }
}

/// A list answers the questions after each of its objects, and after those that are not in it any more.
fn spread(list: &Query, targets: &[Target], facts: &mut Facts) {
    let Query::List { resource, namespace } = list else {
        return;
    };
    let Some(answer) = facts.answers.get(list) else {
        return;
    };
    let mut single = BTreeMap::new();
    for target in targets {
        let object = &target.reference;
        let inside = namespace.is_none() || *namespace == object.namespace;
        if object.type_name == resource.name() && inside {
            let answer = match answer {
                Ok(_) => Ok(Answer::Object(None)),
                Err(why) => Err(why.clone()),
            };
            single.insert(query(object), answer);
        }
    }
    if let Ok(Answer::List(objects)) = answer {
        for object in objects {
            if let Some(answer) = single.get_mut(&query(&object.reference())) {
                *answer = Ok(Answer::Object(Some(Box::new(object.clone()))));
            }
        }
    }
    // It may be forbidden to list what may be read one by one, but not worth as many requests to find out.
    facts.answers.extend(single);
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
        counts: snapshot.tally.left.get(namespace).cloned().unwrap_or_default(),
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
