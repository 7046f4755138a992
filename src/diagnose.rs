//! Turns facts into the reason why an object is stuck. Pure: no I/O, no clock.
//!
//! [`diagnose`] reads the facts, and returns its conclusions and the queries that it still wants answered. The
//! caller answers the queries and calls again, until none is left. So the causes decide what is read, and a
//! test of a cause consists of some facts and a diagnosis.

mod admission;
mod causes;
pub mod complaint;
mod cut;
mod disruption;
mod events;
pub mod fault;
#[allow(
    clippy::indexing_slicing,
    reason = "its indexes are the numbers of its own nodes"
)]
pub mod graph;
pub mod holder;
mod impact;
pub(crate) mod kinds;
pub mod leftovers;
mod limits;
pub mod model;
mod place;
pub(crate) mod reclaim_policy;
mod removal;
mod risk;
mod service_backend;
#[cfg(test)]
pub(crate) mod testing;
mod timing;
pub mod view;

use std::{collections::BTreeSet, mem};

pub(crate) use crate::diagnose::{causes::storage::taken_back, limits::TARGETS_OF_ONE_PLAN};
pub use crate::diagnose::{
    causes::{
        advice::NUDGED, api_machinery::is_definition_failure, operators::known_finalizer::filled,
        storage::pvc_protection::uses as uses_claim,
    },
    limits::first_names,
    model::{
        Blocker, CauseState, Diagnosis, Evidence, Fate, Finding, Outlook, Release, Safety, Step, StepKind,
        Verdict, Wait,
    },
    removal::{Lost, Unable, Veto},
    timing::{COMPLAINT, UNSEEN_CONTROLLER},
};
use crate::{
    diagnose::{
        impact::Impact,
        view::{Causes, View},
    },
    knowledge::Knowledge,
    object::{Age, Finalizer, ObjectRef},
    snapshot::facts::{Facts, Object, Query},
};

/// The diagnosis so far, and what is still to be read.
#[derive(Debug)]
pub struct Progress {
    /// The diagnosis so far.
    pub diagnosis: Diagnosis,
    /// The queries to answer next; empty if the diagnosis is final.
    pub wanted: BTreeSet<Query>,
}

/// The view of the causes on these facts.
pub fn view<'a>(facts: &'a Facts, knowledge: &'a Knowledge) -> View<'a> {
    let causes = Causes {
        findings: causes::findings,
        each: causes::own_findings,
    };
    View::new(facts, knowledge, causes)
}

/// Explains why `target` is stuck, or what would hold it if it were deleted now.
pub fn diagnose(target: &Object, facts: &Facts, knowledge: &Knowledge) -> Progress {
    diagnose_with(target, &view(facts, knowledge))
}

/// Like [`diagnose`], for many objects in turn: work that was done for one object is reused for the next.
pub fn diagnose_with(target: &Object, view: &View<'_>) -> Progress {
    view.begin();
    let findings = causes::findings(target, view);
    let fault = fault::fault_of(target, view);
    let impact = impact::impact_of(target, &findings, view);
    let diagnosis = assemble(target, fault, findings, impact, view);
    Progress {
        diagnosis,
        wanted: view.wanted(),
    }
}

/// Like [`diagnose`], from a dump that may lack objects. `seen` takes the dump as complete; `proved` has a gap
/// wherever it may lack something. Objects in the dump count: a finding that names blockers is valid, although
/// there may be more blockers. Absent objects do not count, so such a finding comes from `proved` with its gap.
pub fn diagnose_partly(
    target: &Object,
    seen: &Facts,
    proved: &Facts,
    knowledge: &Knowledge,
) -> (Progress, BTreeSet<Query>) {
    let (complete, incomplete) = (view(seen, knowledge), view(proved, knowledge));
    let impact_if_complete = impact::impact_of(target, &[], &complete);
    let mut with_blockers: Vec<_> = causes::findings(target, &complete)
        .into_iter()
        .filter(|finding| !finding.wait.on.is_empty() && rests_on_existing_objects(finding.wait.verdict))
        .collect();
    let findings: Vec<_> = causes::findings(target, &incomplete)
        .into_iter()
        .map(|finding| {
            let same = |other: &Finding| other.wait.finalizer == finding.wait.finalizer;
            match with_blockers.iter().position(same) {
                Some(at) => with_blockers.remove(at),
                None => finding,
            }
        })
        .collect();
    let mut fault = fault::fault_of(target, &incomplete);
    let seen = fault::fault_of(target, &complete);
    if let (Some((fault, _)), Some((seen, _))) = (&mut fault, seen) {
        fault.holds = seen.holds;
    }
    let mut impact = impact::impact_of(target, &findings, &incomplete);
    impact.complete_with(impact_if_complete);
    let progress = Progress {
        diagnosis: assemble(target, fault, findings, impact, &incomplete),
        wanted: incomplete.wanted(),
    };
    (progress, complete.wanted())
}

fn rests_on_existing_objects(verdict: Verdict) -> bool {
    match verdict {
        Verdict::InUse | Verdict::Waiting | Verdict::Failing | Verdict::Rejected => true,
        Verdict::Stalled | Verdict::Orphaned | Verdict::Unknown => false,
    }
}

/// Whether a cause needs more than the metadata of objects of this type to say anything about them.
pub fn looks_into(object: &ObjectRef) -> bool {
    causes::needs_whole_object(&object.type_name)
}

fn assemble(
    target: &Object,
    fault: Option<fault::Found>,
    findings: Vec<Finding>,
    impact: Impact,
    view: &View<'_>,
) -> Diagnosis {
    let risk = risk::risk(target, &findings, view);
    let headline = headline(target, &findings, risk.is_some(), view);
    let place = place::terminating_namespace(target, view);
    let mut diagnosis = Diagnosis {
        target: target.reference(),
        deletion: target.deletion(),
        observed_at: view.now(),
        headline,
        risk,
        fault: None,
        lets_go: causes::release::by_whole_end_of(target, view),
        waits: Vec::new(),
        outlook: Vec::new(),
        effects: impact.effects,
        steps: Vec::new(),
        steps_for: Vec::new(),
        do_not: Vec::new(),
        evidence: Vec::new(),
        gaps: view.gaps(),
    };
    if let Some((fault, finding)) = fault {
        diagnosis.fault = Some(fault);
        add_block(&mut diagnosis, None, finding.steps);
        diagnosis.do_not = finding.do_not;
        diagnosis.evidence = finding.evidence;
    }
    let mut blocks = Vec::new();
    for mut finding in findings {
        let mut on = Vec::new();
        extend_new(&mut on, mem::take(&mut finding.wait.on));
        finding.wait.on = on;
        blocks.push((
            finding.wait.verdict.rank(),
            finding.wait.finalizer.clone(),
            finding.steps,
        ));
        diagnosis.waits.push(finding.wait);
        extend_new(&mut diagnosis.outlook, finding.outlook);
        extend_new(&mut diagnosis.do_not, finding.do_not);
        extend_new(&mut diagnosis.evidence, finding.evidence);
    }
    diagnosis.outlook.extend(place);
    // Each cause orders its steps. Only what costs never stands before what is harmless.
    let mut blocks: Vec<_> = blocks
        .into_iter()
        .map(|(rank, finalizer, steps)| {
            let steps: Vec<_> = by_moment(steps).into_iter().flat_map(harmless_first).collect();
            (rank, finalizer, steps)
        })
        .collect();
    let opens_with_loss = |steps: &[Step]| {
        steps
            .first()
            .is_some_and(|step| step.safety == Safety::Destructive)
    };
    blocks.sort_by_key(|(rank, _, steps)| (opens_with_loss(steps), *rank));
    for (_, finalizer, steps) in blocks {
        add_block(&mut diagnosis, finalizer.as_ref(), steps);
    }
    // What precedes a deletion has an order of its own: each step needs the one before.
    let steps = by_moment(impact.steps).into_iter().flatten();
    add_block(&mut diagnosis, None, steps.collect());
    extend_new(&mut diagnosis.evidence, impact.evidence);
    cut::shorten_texts(&mut diagnosis);
    diagnosis
}

/// Adds the steps for one finalizer.
fn add_block(diagnosis: &mut Diagnosis, finalizer: Option<&Finalizer>, steps: Vec<Step>) {
    extend_new(&mut diagnosis.steps, steps);
    diagnosis
        .steps_for
        .resize(diagnosis.steps.len(), finalizer.cloned());
}

/// The steps for the same moment stand together, in the order in which the moments first occur.
fn by_moment(steps: Vec<Step>) -> Vec<Vec<Step>> {
    let mut moments: Vec<Vec<Step>> = Vec::new();
    for step in steps {
        let of_moment = |same: &&mut Vec<Step>| same.first().is_some_and(|first| first.when == step.when);
        match moments.iter_mut().find(of_moment) {
            Some(same) => same.push(step),
            None => moments.push(vec![step]),
        }
    }
    moments
}

/// Puts what costs less first. Safe steps stand before the first that destroys: they may keep what it would destroy. One
/// step that looks stands before a first that destroys or wakes a controller: what it shows may speak against that.
/// After any other change, a look may be about its result, so that order stays.
fn harmless_first(mut steps: Vec<Step>) -> Vec<Step> {
    let destroys = |step: &Step| step.safety == Safety::Destructive;
    if let Some(first) = steps.iter().position(destroys) {
        // A copy of an object belongs to the step after it, so neither is passed.
        let after = steps.iter().skip(first + 1);
        let passed: Vec<_> = after
            .take_while(|step| !destroys(step) && !step.saves())
            .collect();
        // What a look shows may speak against waking a controller.
        let is_nudge = steps
            .get(first)
            .is_some_and(|step| step.kind() == StepKind::Nudge);
        let is_before = |step: &&Step| is_nudge || step.safety == Safety::Safe;
        if let Some(last) = passed.iter().rposition(is_before) {
            let step = steps.remove(first);
            steps.insert(first + 1 + last, step);
        }
    }
    let is_weighed = |step: &Step| destroys(step) || step.kind() == StepKind::Nudge;
    if steps.first().is_some_and(is_weighed)
        && let Some(at) = steps.iter().position(Step::looks)
    {
        let look = steps.remove(at);
        steps.insert(0, look);
    }
    steps
}

/// Adds the items that are not in the list yet. Two finalizers that wait for the same thing say the same.
fn extend_new<T: PartialEq>(all: &mut Vec<T>, more: Vec<T>) {
    for item in more {
        if !all.contains(&item) {
            all.push(item);
        }
    }
}

fn headline(target: &Object, findings: &[Finding], is_at_risk: bool, view: &View<'_>) -> String {
    let name = target.reference().pasteable();
    let phase = match kinds::phase(target).unwrap_or_default() {
        "" | "Terminating" => String::new(),
        phase if target.deletion().is_some() => format!(", still {phase}"),
        phase => format!(", {phase}"),
    };
    let Some(deletion) = target.deletion() else {
        return format!("{name}: not being deleted{phase}.");
    };
    if deletion.in_grace(view.now()) {
        let rest = Age::between(view.now(), deletion.timestamp);
        // What was not read may be what keeps it then.
        let prospect = match (is_at_risk, view.gaps().is_empty()) {
            (true, _) => " At risk: stuck soon.",
            (false, true) => " Slow, not stuck.",
            (false, false) => "",
        };
        return format!("{name}: asked to stop, with {rest} of its grace period left{phase}.{prospect}");
    }
    let age = Age::between(deletion.requested_at(), view.now());
    if target.is("", "namespaces") {
        let prospect = if is_at_risk { " At risk: stuck soon." } else { "" };
        return format!(
            "{name}: Terminating for {age}. Until it is gone nothing can be created in it.{prospect}"
        );
    }
    if is_at_risk {
        return format!("{name}: Terminating for {age}{phase}. At risk: stuck soon.");
    }
    let verdicts: BTreeSet<_> = findings.iter().map(|finding| finding.wait.verdict).collect();
    let comment = if verdicts.contains(&Verdict::InUse)
        && verdicts
            .iter()
            .all(|v| matches!(v, Verdict::InUse | Verdict::Waiting))
    {
        " This is protection at work, not a fault."
    } else {
        ""
    };
    format!("{name}: Terminating for {age}{phase}.{comment}")
}
