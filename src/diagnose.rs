//! From what was seen to why an object does not go. Pure: no I/O, no clock.
//!
//! [`diagnose`] looks at the facts, and says what it sees and what it still wants to see. Whoever calls it
//! answers what is wanted and calls again, until nothing is wanted. So the rules decide what is read, and a
//! test of a rule is some facts and an answer.

mod admission;
mod causes;
pub mod complaint;
mod cut;
mod events;
pub mod graph;
pub mod holder;
mod impact;
mod kinds;
pub mod leftovers;
mod limits;
pub mod model;
mod shell;
#[cfg(test)]
pub(crate) mod testing;
mod timing;
pub mod view;

use std::collections::BTreeSet;

pub use crate::diagnose::{
    causes::{
        advice::{NUDGED, word},
        api_machinery::is_definition_failure,
        operators::known_finalizer::filled,
    },
    model::{Blocker, Diagnosis, Evidence, Finding, Outlook, Safety, Step, Verdict, Wait},
};
use crate::{
    diagnose::{
        impact::Impact,
        view::{Causes, View},
    },
    knowledge::Knowledge,
    object::{Age, ObjectRef},
    snapshot::facts::{Facts, Object, Query},
};

/// What has been understood, and what is still to be read.
#[derive(Debug)]
pub struct Progress {
    /// The diagnosis as far as it goes.
    pub diagnosis: Diagnosis,
    /// What it wants to see next; empty when it is final.
    pub wanted: BTreeSet<Query>,
}

/// These facts, as the causes look at them.
pub fn view<'a>(facts: &'a Facts, knowledge: &'a Knowledge) -> View<'a> {
    let causes = Causes {
        findings: causes::findings,
        each: causes::own_findings,
    };
    View::new(facts, knowledge, causes)
}

/// Explains why `target` does not go, or what would hold it if it were deleted now.
pub fn diagnose(target: &Object, facts: &Facts, knowledge: &Knowledge) -> Progress {
    diagnose_with(target, &view(facts, knowledge))
}

/// The same, for one after the other of many objects: what was worked out for one is there for the next.
pub fn diagnose_with(target: &Object, view: &View<'_>) -> Progress {
    view.begin();
    let findings = causes::findings(target, view);
    let before = impact::impact_of(target, &findings, view);
    let diagnosis = assemble(target, findings, before, view);
    Progress {
        diagnosis,
        wanted: view.wanted(),
    }
}

/// The same from a dump, of which nobody knows what it lacks. `seen` takes it for all there is, `proved` has a gap
/// wherever it may lack something. What is there counts: a finding that names blockers holds though there may be more
/// of them. What is not there does not, and then the finding is the one that knows of the gap.
pub fn diagnose_partly(
    target: &Object,
    seen: &Facts,
    proved: &Facts,
    knowledge: &Knowledge,
) -> (Progress, BTreeSet<Query>) {
    let (all, sure) = (view(seen, knowledge), view(proved, knowledge));
    let partly = impact::impact_of(target, &[], &all);
    let mut named: Vec<_> = causes::findings(target, &all)
        .into_iter()
        .filter(|finding| !finding.wait.on.is_empty() && rests_on_what_is_there(finding.wait.verdict))
        .collect();
    let findings: Vec<_> = causes::findings(target, &sure)
        .into_iter()
        .map(|finding| {
            let same = |other: &Finding| other.wait.finalizer == finding.wait.finalizer;
            match named.iter().position(same) {
                Some(at) => named.remove(at),
                None => finding,
            }
        })
        .collect();
    let mut before = impact::impact_of(target, &findings, &sure);
    before.complete_with(partly);
    let progress = Progress {
        diagnosis: assemble(target, findings, before, &sure),
        wanted: sure.wanted(),
    };
    (progress, all.wanted())
}

fn rests_on_what_is_there(verdict: Verdict) -> bool {
    match verdict {
        Verdict::InUse | Verdict::Waiting | Verdict::Failing | Verdict::Rejected => true,
        Verdict::Stalled | Verdict::Orphaned | Verdict::Unknown => false,
    }
}

/// Whether any rule looks into objects of this type beyond their metadata.
pub fn looks_into(object: &ObjectRef) -> bool {
    causes::needs_whole_object(&object.type_name)
}

fn assemble(target: &Object, findings: Vec<Finding>, before: Impact, view: &View<'_>) -> Diagnosis {
    let mut diagnosis = Diagnosis {
        target: target.reference(),
        deletion: target.deletion(),
        observed_at: view.now(),
        headline: headline(target, &findings, view),
        waits: Vec::new(),
        outlook: Vec::new(),
        effects: before.effects,
        steps: Vec::new(),
        do_not: Vec::new(),
        evidence: Vec::new(),
        gaps: view.gaps(),
    };
    for finding in findings {
        diagnosis.waits.push(finding.wait);
        extend_new(&mut diagnosis.outlook, finding.outlook);
        extend_new(&mut diagnosis.steps, finding.steps);
        extend_new(&mut diagnosis.do_not, finding.do_not);
        extend_new(&mut diagnosis.evidence, finding.evidence);
    }
    extend_new(&mut diagnosis.steps, before.steps);
    extend_new(&mut diagnosis.evidence, before.evidence);
    // What is done at the same moment stands together, in the order in which the moments come up.
    let moments: Vec<_> = diagnosis.steps.iter().map(|step| step.when).collect();
    diagnosis
        .steps
        .sort_by_key(|step| moments.iter().position(|when| *when == step.when));
    shell::commands(&mut diagnosis, target);
    cut::texts(&mut diagnosis);
    diagnosis
}

/// Two finalizers that wait for the same thing say the same; once is enough.
fn extend_new<T: PartialEq>(all: &mut Vec<T>, more: Vec<T>) {
    for item in more {
        if !all.contains(&item) {
            all.push(item);
        }
    }
}

fn headline(target: &Object, findings: &[Finding], view: &View<'_>) -> String {
    let name = target.reference().in_words();
    let phase = match target.text("/status/phase") {
        "" | "Terminating" => String::new(),
        phase if target.deletion().is_some() => format!(", still {phase}"),
        phase => format!(", {phase}"),
    };
    let Some(deletion) = target.deletion() else {
        return format!("{name}: not being deleted{phase}.");
    };
    if deletion.in_grace(view.now()) {
        let rest = Age::between(view.now(), deletion.timestamp);
        return format!(
            "{name}: asked to stop, with {rest} of its grace period left{phase}. Slow, not stuck."
        );
    }
    let age = Age::between(deletion.requested_at(), view.now());
    if target.is("", "namespaces") {
        return format!("{name}: Terminating for {age}. Until it is gone nothing can be created in it.");
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
