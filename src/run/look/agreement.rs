//! Checks that `scan`, `scan --by holder`, `explain` and `remove` say the same of an object. The worlds of all unit
//! tests are checked, so a test of a cause also tests this.

use std::{collections::BTreeMap, time::Duration};

use super::{
    asking::{Ask, LimitedReader, Limits},
    holders::HolderSearches,
    stuck::StuckObjects,
};
use crate::{
    diagnose::{Diagnosis, Verdict, holder::Liveness, testing::world::World},
    error::Error,
    knowledge::Knowledge,
    object::{Finalizer, ResourceType},
    plan,
    report::{causes::Examination, holders::HolderSearch},
    snapshot::{
        Crowd, CrowdKey, Namespaces, OnType, Seen, Snapshot, Tally, TypeRead, Why, driver,
        facts::{Answer, Facts, Object, Query},
    },
};

/// A server with this world and this object.
struct Server<'a> {
    world: &'a World,
    target: &'a Object,
}

impl Ask for Server<'_> {
    async fn initial_facts(&self) -> Result<Facts, Error> {
        Ok(Facts {
            redacted: false,
            answers: BTreeMap::new(),
            ..self.world.facts()
        })
    }

    async fn answer(&self, queries: Vec<Query>, facts: &mut Facts) -> bool {
        for query in queries {
            let answer = if query == Query::of(&self.target.reference()) {
                Ok(Answer::Object(Some(Box::new(self.target.clone()))))
            } else {
                self.world.read(&query)
            };
            facts.answers.insert(query, answer);
        }
        true
    }

    async fn each(&self, _: &ResourceType, _: bool, _: &mut dyn FnMut(Object)) -> Result<(), Why> {
        Err(Why::NotInDump)
    }
}

/// Checks that all verbs agree with what `explain` says of the object. `facts` is what it read for that.
#[track_caller]
pub(crate) fn check(
    world: &World,
    target: &Object,
    (explained, facts): (&Diagnosis, &Facts),
    knowledge: &Knowledge,
) {
    let server = Server { world, target };
    let snapshot = snapshot(world, target);
    let is_in_grace = target
        .deletion()
        .is_none_or(|deletion| deletion.in_grace(explained.observed_at));
    if !is_in_grace {
        let scanned = scanned(&server, &snapshot, knowledge);
        assert_eq!(verdicts(&scanned), verdicts(explained), "scan and explain");
    }
    for search in searched(&server, &snapshot, knowledge) {
        let Some(result) = search.result.filter(|_| target.deletion().is_some()) else {
            continue;
        };
        let verdict = verdicts(explained).remove(&Some(search.finalizer));
        let is_gone = result.found.holder.liveness() == Liveness::Gone;
        match verdict {
            // Whoever would be rejected may be gone as well.
            Some(Verdict::Rejected) => {}
            verdict => assert_eq!(
                is_gone,
                verdict == Some(Verdict::Orphaned),
                "scan --by holder and explain ({verdict:?}): {:#?}",
                result.found.holder
            ),
        }
    }
    let seen = plan::Seen {
        object: target,
        diagnosis: explained,
        complete: true,
        facts,
        knowledge,
    };
    for (finalizer, verdict) in verdicts(explained) {
        let Some(plan) = finalizer.and_then(|finalizer| plan::remove(&seen, &finalizer.name).ok()) else {
            continue;
        };
        assert_eq!(plan.verdict, verdict, "remove and explain");
    }
}

fn verdicts(diagnosis: &Diagnosis) -> BTreeMap<Option<Finalizer>, Verdict> {
    let waits = diagnosis.waits.iter();
    waits.map(|wait| (wait.finalizer.clone(), wait.verdict)).collect()
}

/// What `scan` says of the object.
#[track_caller]
fn scanned(server: &Server<'_>, snapshot: &Snapshot, knowledge: &Knowledge) -> Diagnosis {
    let mut reader = reader(snapshot);
    let mut stuck = StuckObjects::new(snapshot, true, 1);
    block_on(async {
        reader.begin(server).await;
        stuck.fetch(server, &mut reader).await;
        loop {
            let wanted = stuck.round(&mut reader, knowledge);
            if wanted.is_empty() {
                break;
            }
            reader.answer(server, wanted).await;
        }
    });
    let examined = stuck.finish(&mut reader, snapshot, knowledge);
    match examined.into_iter().next().map(|one| one.result) {
        Some(Examination::Explained(diagnosis)) => *diagnosis,
        other => panic!("scan does not explain it: {}", other.is_some()),
    }
}

/// What `scan --by holder` finds.
fn searched(server: &Server<'_>, snapshot: &Snapshot, knowledge: &Knowledge) -> Vec<HolderSearch> {
    let mut reader = reader(snapshot);
    let mut searches = HolderSearches::new(snapshot, knowledge);
    block_on(async {
        reader.begin(server).await;
        searches.fetch(server, &mut reader).await;
        loop {
            let wanted = searches.round(&mut reader, knowledge);
            if wanted.is_empty() {
                break;
            }
            reader.answer(server, wanted).await;
        }
    });
    searches.finish(&mut reader, knowledge)
}

fn reader(snapshot: &Snapshot) -> LimitedReader {
    let limits = Limits {
        requests: usize::MAX / 1000,
        objects: 1000,
        max_time: Duration::from_secs(3600),
    };
    LimitedReader::new(snapshot, true, limits)
}

fn block_on(work: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime")
        .block_on(work);
}

/// What a scan keeps of the object.
fn snapshot(world: &World, target: &Object) -> Snapshot {
    let seen = Seen {
        object: target.reference(),
        created: None,
        deletion: target.deletion(),
        finalizers: target.finalizers(),
        conditions: Vec::new(),
        driver: driver::names(&target.value).next().map(str::to_owned),
    };
    let key = CrowdKey {
        finalizers: target.finalizers(),
        driver: seen.driver.clone(),
    };
    let crowd = Crowd {
        objects: 1,
        terminating: u64::from(seen.deletion.is_some()),
        first: seen.clone(),
    };
    let on = OnType {
        name: target.resource.name(),
        kind: target.kind.clone(),
        group: target.resource.group.clone(),
    };
    let mut tally = Tally {
        kept: vec![seen],
        ..Tally::default()
    };
    if !key.finalizers.is_empty() {
        tally.crowds.0.entry(on).or_default().insert(key, crowd);
    }
    let facts = world.facts();
    Snapshot {
        observed_at: facts.now,
        source: "a test".into(),
        types: facts
            .types
            .into_iter()
            .map(|ty| TypeRead { ty, objects: 1 })
            .collect(),
        tally,
        namespaces: Namespaces::Known,
        only_within: Vec::new(),
        gaps: Vec::new(),
        notes: Vec::new(),
        interrupted: false,
    }
}
