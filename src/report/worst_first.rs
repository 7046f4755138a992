//! Finds the root causes of a scan, puts the worst first, and says what each costs.

use super::{
    ScanReport,
    causes::{Examination, Examined},
    holders,
    root_causes::{IfRemoved, RootCauseReport, Row, explain, explain_fault, rank},
    together::together,
};
use crate::{
    command::{Command, RunFlags},
    diagnose::{
        CauseState, Fate, Release, Safety, Step,
        fault::has_faults,
        graph::{self, Waiting},
    },
    knowledge::{GroupKind, Knowledge},
    object::{Finalizer, ObjectRef},
};

impl ScanReport {
    /// Adds the root causes. The investigated objects are in the order of the terminating objects of the report.
    pub(super) fn add_root_causes(
        &mut self,
        examined: &[&Examined<'_>],
        knowledge: &Knowledge,
        there: &RunFlags,
    ) {
        let is_gone = |one: &Examined<'_>| matches!(one.result, Examination::Gone);
        self.gone = examined.iter().filter(|one| is_gone(one)).count();
        let stuck: Vec<(usize, &Examined<'_>)> = (examined.iter().enumerate())
            .map(|(at, one)| (at, *one))
            .filter(|(at, _)| !self.is_slow(*at))
            .filter(|(_, one)| !is_gone(one))
            .collect();
        let waiting: Vec<_> = stuck
            .iter()
            .map(|(_, one)| Waiting {
                object: &one.seen.object,
                finalizers: &one.seen.finalizers,
                diagnosis: one.diagnosis(),
                content: one.content.iter().collect(),
            })
            .collect();
        let mut causes: Vec<RootCauseReport> = graph::causes(&waiting)
            .into_iter()
            .map(|cause| self.root_cause(cause, &stuck, knowledge, there))
            .collect();
        // Two that are alike stay in the order of their objects.
        causes.sort_by_key(|cause| rank(cause.state, cause.if_removed, cause.objects.len()));
        let mut causes_of = vec![Vec::new(); self.terminating.len()];
        for (number, cause) in causes.iter().enumerate() {
            for row in &cause.rows {
                causes_of[row.at].push(number);
            }
        }
        for (number, cause) in causes.iter_mut().enumerate() {
            for row in &mut cause.rows {
                let others = causes_of[row.at].iter().copied();
                row.also = others.filter(|&other| other != number).collect();
            }
            let listed = cause.rows.iter().find(|row| cause.lists(row, number));
            let first = listed.or(cause.rows.first());
            cause.next = match cause
                .object
                .as_ref()
                .filter(|object| has_faults(&object.resource))
            {
                Some(object) => explain_fault(object, there),
                None => first.and_then(|row| explain(&self.terminating[row.at], there)),
            };
        }
        self.root_causes = causes;
    }

    /// Whether the grace period of a terminating object still runs.
    pub(super) fn is_slow(&self, at: usize) -> bool {
        let deletion = self
            .terminating
            .get(at)
            .and_then(|object| object.deletion.as_ref());
        deletion.is_some_and(|deletion| deletion.in_grace_period)
    }

    fn root_cause(
        &self,
        cause: graph::RootCause,
        stuck: &[(usize, &Examined<'_>)],
        knowledge: &Knowledge,
        there: &RunFlags,
    ) -> RootCauseReport {
        let direct: Vec<_> = cause
            .objects
            .iter()
            .filter(|at| !cause.through.contains_key(at))
            .filter_map(|&at| Some(stuck.get(at)?.1))
            .collect();
        let mut rows: Vec<_> = cause
            .objects
            .iter()
            .map(|at| Row {
                at: stuck[*at].0,
                through: cause.through.get(at).map(Into::into),
                also: Vec::new(),
            })
            .collect();
        rows.sort_by_key(|row| row.through.is_some());
        let objects = cause
            .objects
            .iter()
            .map(|&at| self.terminating[stuck[at].0].object.clone());
        let held: Vec<_> = cause
            .objects
            .iter()
            .filter(|at| !cause.through.contains_key(at))
            .filter_map(|&at| stuck.get(at))
            .filter_map(|(at, one)| Some((*one, self.terminating.get(*at)?)))
            .collect();
        RootCauseReport {
            cluster: None,
            together: (cause.finalizer.as_ref()).and_then(|finalizer| together(&held, finalizer, there)),
            state: cause.state,
            controller: cause
                .finalizer
                .as_ref()
                .zip(direct.first())
                .and_then(|(finalizer, one)| {
                    let kind = GroupKind::from(&one.seen.object);
                    let entry = knowledge.lookup(&finalizer.name, finalizer.list, Some(kind))?;
                    Some(holders::catalogue_name(&entry, None))
                }),
            if_removed: may_be_removed(cause.state)
                .then(|| if_removed(&direct, knowledge))
                .flatten(),
            lets_go: lets_go(&direct),
            next: None,
            nudge: (cause.state == CauseState::Stalled)
                .then(|| nudge(&direct))
                .flatten()
                .and_then(|command| command.again(there)),
            object: cause.object.as_ref().map(Into::into),
            finalizer: cause.finalizer,
            says: cause.says.to_string(),
            frees: cause.frees,
            objects: objects.collect(),
            is_own: cause.is_own,
            is_known: cause.is_known,
            rows,
        }
    }
}

/// Whether somebody could think of a removal by hand.
fn may_be_removed(state: CauseState) -> bool {
    use CauseState::{Failing, Gone, Stalled, Unknown};
    matches!(state, Gone | Failing | Stalled | Unknown)
}

/// The worst consequence of removing all finalizers of these objects. An unknown cost may be the worst.
fn if_removed(objects: &[&Examined<'_>], knowledge: &Knowledge) -> Option<IfRemoved> {
    let costs = objects.iter().flat_map(|one| {
        one.seen
            .finalizers
            .iter()
            .map(|finalizer| cost(&one.seen.object, finalizer, knowledge))
    });
    costs.max_by_key(|cost| (cost.consequence, cost.known))
}

fn cost(object: &ObjectRef, finalizer: &Finalizer, knowledge: &Knowledge) -> IfRemoved {
    let (consequence, entry) = knowledge.removal_cost(finalizer, Some(GroupKind::from(object)));
    IfRemoved {
        consequence,
        known: entry.is_some(),
    }
}

/// The first step that makes a controller look again, if nothing is lost by that.
fn nudge(objects: &[&Examined<'_>]) -> Option<Command> {
    let diagnoses = objects.iter().filter_map(|one| one.diagnosis());
    let mut steps = diagnoses.flat_map(|diagnosis| &diagnosis.steps);
    let is_it = |step: &&Step| {
        step.safety < Safety::Destructive && step.command.as_ref().is_some_and(Command::is_nudge)
    };
    steps.find(is_it)?.command.clone()
}

/// What is lost when these objects are gone, each once.
fn lets_go(objects: &[&Examined<'_>]) -> Vec<Release> {
    let steps = objects
        .iter()
        .filter_map(|one| one.diagnosis())
        .flat_map(|diagnosis| &diagnosis.steps);
    let mut lost: Vec<Release> = steps
        .flat_map(|step| &step.lets_go)
        .filter(|one| matches!(one.fate, Fate::Destroyed | Fate::Leaked))
        .cloned()
        .collect();
    lost.sort_by(|a, b| (a.fate, &a.what).cmp(&(b.fate, &b.what)));
    lost.dedup_by(|a, b| a.what == b.what);
    lost
}
