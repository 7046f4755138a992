//! Finds out why each terminating object of a dump still exists. The files have all answers, so nothing is bundled.

use std::time::Instant;

use super::{
    asking::Limits,
    stuck::{oldest_first, terminating_content},
};
use crate::{
    knowledge::Knowledge,
    report::causes::{Examination, Examined},
    run::dumped::Dumped,
    snapshot::{
        Seen, Snapshot,
        facts::{Answer, Query},
        load::Dump,
    },
};

/// Explains the terminating objects of the scan, the oldest first.
pub(in crate::run) fn examine<'a>(
    dump: &Dump,
    snapshot: &'a Snapshot,
    limits: Limits,
    knowledge: &Knowledge,
) -> Vec<Examined<'a>> {
    let began = Instant::now();
    let mut dumped = Dumped::new(dump);
    let mut open = 0;
    let mut examine = |seen: &Seen| {
        let deletion = seen.deletion?;
        let in_grace = deletion.in_grace(snapshot.observed_at);
        if open >= limits.objects || began.elapsed() > limits.max_time {
            return in_grace.then_some(Examination::InGrace(None));
        }
        open += 1;
        let Ok(Answer::Object(Some(object))) = dump.answer(&Query::of(&seen.object), false) else {
            return in_grace.then_some(Examination::InGrace(None));
        };
        let diagnosis = dumped.diagnose(&object, knowledge);
        if in_grace {
            return Some(Examination::InGrace(diagnosis.risk));
        }
        Some(Examination::Explained(Box::new(diagnosis)))
    };
    let results: Vec<_> = oldest_first(snapshot)
        .into_iter()
        .map(|seen| (seen, examine(seen).unwrap_or(Examination::NotLookedAt)))
        .collect();
    let content = |seen: &Seen| terminating_content(&seen.object, Some(dumped.proved()));
    results
        .into_iter()
        .map(|(seen, result)| Examined {
            seen,
            content: content(seen),
            result,
        })
        .collect()
}
