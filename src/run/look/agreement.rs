//! Checks that `scan`, `scan --by holder`, `explain` and `remove` say the same of an object. The worlds of all unit
//! tests are checked, so a test of a cause also tests this.

use std::{collections::BTreeMap, time::Duration};

use super::{
    asking::{Ask, LimitedReader, Limits},
    holders::HolderSearches,
    stuck::StuckObjects,
};
use crate::{
    command::RunFlags,
    diagnose::{
        Diagnosis, Verdict,
        holder::Liveness,
        testing::{scanned::snapshot, world::World},
    },
    error::Error,
    knowledge::{Consequence, Knowledge},
    object::{Finalizer, ResourceType},
    plan,
    report::{ScanReport, causes::Examination, holders::HolderSearch, scan::ScanView},
    snapshot::{
        Snapshot, Why,
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
    let snapshot = snapshot(&world.facts(), target);
    let is_in_grace = target
        .deletion()
        .is_none_or(|deletion| deletion.in_grace(explained.observed_at));
    if !is_in_grace {
        let (scanned, costs) = scanned(&server, &snapshot, knowledge);
        assert_same(&scanned, explained);
        let worst = explained_costs(explained).into_values().max();
        for cost in costs {
            assert_eq!(Some(cost), worst, "the cost by scan and by explain");
        }
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
    let costs = explained_costs(explained);
    for (finalizer, verdict) in verdicts(explained) {
        let Some(finalizer) = finalizer else { continue };
        let Ok(plan) = plan::remove(&seen, &finalizer.name) else {
            continue;
        };
        assert_eq!(plan.verdict, verdict, "remove and explain");
        assert_eq!(
            Some(&(plan.cost.consequence, plan.cost.known)),
            costs.get(&finalizer),
            "the cost by remove and by explain"
        );
    }
}

/// Checks that both diagnoses tell the same of each finalizer: the verdict, who must act, and every blocker down to the
/// root causes. What was not read is also the same, because it weakens both alike.
#[track_caller]
pub(super) fn assert_same(scanned: &Diagnosis, explained: &Diagnosis) {
    let of = explained.target.in_words();
    assert_eq!(verdicts(scanned), verdicts(explained), "scan and explain: {of}");
    assert_eq!(scanned.waits, explained.waits, "scan and explain: {of}");
    assert_eq!(scanned.gaps, explained.gaps, "scan and explain: {of}");
    assert_eq!(scanned.steps, explained.steps, "scan and explain: {of}");
}

/// What `explain` says of the cost of each finalizer, and whether somebody described the finalizer.
fn explained_costs(diagnosis: &Diagnosis) -> BTreeMap<Finalizer, (Consequence, bool)> {
    let waits = diagnosis.waits.iter();
    waits
        .filter_map(|wait| {
            let known = wait.known.as_ref();
            let cost = known.map_or(Consequence::DataLoss, |known| known.consequence);
            Some((wait.finalizer.clone()?, (cost, known.is_some())))
        })
        .collect()
}

fn verdicts(diagnosis: &Diagnosis) -> BTreeMap<Option<Finalizer>, Verdict> {
    let waits = diagnosis.waits.iter();
    waits.map(|wait| (wait.finalizer.clone(), wait.verdict)).collect()
}

/// What `scan` says of the object, and of the cost of a removal.
#[track_caller]
fn scanned(
    server: &Server<'_>,
    snapshot: &Snapshot,
    knowledge: &Knowledge,
) -> (Diagnosis, Vec<(Consequence, bool)>) {
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
    let mut report = ScanReport::new(snapshot, knowledge, &ScanView::default());
    report.add_causes(&examined, knowledge, &RunFlags::default());
    let costs = report.root_causes.iter().filter_map(|cause| cause.if_removed);
    let costs = costs.map(|cost| (cost.consequence, cost.known)).collect();
    match examined.into_iter().next().map(|one| one.result) {
        Some(Examination::Explained(diagnosis)) => (*diagnosis, costs),
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
