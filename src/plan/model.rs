//! The parts of a plan.

use std::collections::BTreeSet;

use crate::{
    diagnose::{Blocker, Diagnosis, Evidence, Safety, Step, Unable, Verdict, Wait, kinds::Pod},
    knowledge::Knowledge,
    object::{Finalizer, List, ObjectRef},
    snapshot::facts::{Facts, Object},
};

use super::{Cost, Instead, Refusal, Request, Retention, StoredChange, trial};

/// The action of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Removes one entry from `metadata.finalizers`.
    Remove,
    /// Removes one entry from a Namespace's `spec.finalizers`.
    Finalize,
    /// Changes an annotation, so that the controllers of the object look at it again.
    Nudge,
    /// Sets the reclaim policy of a volume to Retain.
    Retain,
    /// Lets a volume go that is being deleted, and makes it again for the same claim.
    Rescue,
    /// Takes the deletion out of what etcd has stored.
    Unmark,
}

impl Action {
    /// The verb as the user types it.
    pub fn word(self) -> &'static str {
        match self {
            Action::Remove => "remove",
            Action::Finalize => "finalize",
            Action::Nudge => "nudge",
            Action::Retain | Action::Rescue | Action::Unmark => "rescue",
        }
    }
}

/// What was read of one object when its plan was made.
pub struct Seen<'a> {
    /// The object.
    pub object: &'a Object,
    /// Why the object is stuck.
    pub diagnosis: &'a Diagnosis,
    /// Whether every query of the diagnosis was made.
    pub complete: bool,
    /// All facts that were read.
    pub facts: &'a Facts,
    /// The catalogue.
    pub knowledge: &'a Knowledge,
}

impl Seen<'_> {
    /// The wait of one of its finalizers.
    pub(super) fn wait(&self, finalizer: &Finalizer) -> Option<&Wait> {
        let waits = self.diagnosis.waits.iter();
        waits
            .into_iter()
            .find(|wait| wait.finalizer.as_ref() == Some(finalizer))
    }

    /// The names in one of its lists, for a sentence about a name that is not there; none if the list is empty.
    pub(super) fn names_in(&self, list: List) -> Option<String> {
        let all = self.object.finalizers().into_iter();
        let names: Vec<_> = all.filter(|one| one.list == list).map(|one| one.name).collect();
        (!names.is_empty()).then(|| names.join(", "))
    }

    /// Whether this name is in one of its lists.
    pub(super) fn has(&self, list: List, name: &str) -> bool {
        let all = self.object.finalizers();
        all.iter().any(|one| one.list == list && one.name == name)
    }

    /// The plan to remove this finalizer with this request, at this cost.
    pub(super) fn removal_plan(
        &self,
        action: Action,
        finalizer: Finalizer,
        wait: &Wait,
        cost: Cost,
        request: Request,
    ) -> Plan {
        Plan {
            action,
            target: self.object.reference(),
            resource_version: self.object.resource_version().to_owned(),
            stays: other_finalizers(self.object, &finalizer),
            kubelet: self.kubelet(),
            finalizer: Some(finalizer),
            verdict: wait.verdict,
            says: wait.says(),
            unable: wait.unable,
            may_be: wait.may_be.clone(),
            blockers: wait.on.clone(),
            evidence: self.diagnosis.evidence.clone(),
            cost,
            safer: self.safer_steps(),
            retention: None,
            stored: None,
            untried: self.untried(),
            request,
        }
    }

    /// The node whose kubelet must confirm that a pod has stopped before the API server deletes it. The kubelet sets the
    /// grace period to zero when it confirms, and an update deletes only what has none left
    /// (`kubernetes/apiserver:pkg/registry/generic/registry/store.go` ShouldDeleteDuringUpdate).
    fn kubelet(&self) -> Option<String> {
        let has_grace = self
            .object
            .deletion()
            .is_some_and(|deletion| deletion.grace_seconds > 0);
        has_grace.then(|| Pod(self.object).node().to_owned())
    }

    /// Why the request is not tried out before the confirmation; none if it is.
    pub(super) fn untried(&self) -> Option<String> {
        trial::untried(&self.object.reference(), self.facts)
    }

    /// The steps of the diagnosis that destroy nothing.
    fn safer_steps(&self) -> Vec<Step> {
        let steps = self.diagnosis.steps.iter();
        steps
            .filter(|step| step.safety != Safety::Destructive)
            .cloned()
            .collect()
    }

    /// A refusal for this object. `instead` says what its explanation shows.
    pub(super) fn refuse(&self, why: impl Into<String>, needs: impl Into<String>, instead: &str) -> Refusal {
        let target = self.object.reference();
        let instead = Instead::explain(&target, instead);
        Refusal::new(&target, why, needs, instead)
    }

    /// A refusal for this object, with something else to do.
    pub(super) fn refuse_for(
        &self,
        why: impl Into<String>,
        needs: impl Into<String>,
        instead: Instead,
    ) -> Refusal {
        Refusal::new(&self.object.reference(), why, needs, instead)
    }

    /// Checks that nothing speaks against a removal by hand, whatever the verdict.
    pub(super) fn check_vetoes(&self, wait: &Wait) -> Result<(), Refusal> {
        match wait.vetoes.first() {
            Some(veto) => Err(self.refuse(veto.why(), veto.needs(), "See what to do first:")),
            None => Ok(()),
        }
    }

    /// Checks what every plan requires: the object is being deleted, its grace period is over, and everything
    /// was read.
    pub(super) fn check_in_deletion(&self) -> Result<(), Refusal> {
        let Some(deletion) = self.object.deletion() else {
            return Err(self.refuse(
                "it is not being deleted",
                "it is being deleted: its controllers then do what the finalizers are for",
                "Nothing is stuck. See what deleting it would do:",
            ));
        };
        if deletion.in_grace(self.diagnosis.observed_at) {
            return Err(self.refuse(
                "its grace period is not over, so it is not stuck",
                format!("it still exists after {}", deletion.timestamp),
                "Wait until then. See what it waits for:",
            ));
        }
        if !self.complete {
            return Err(self.refuse_for(
                "the diagnosis ended before everything was read",
                "everything that the diagnosis needs is read",
                Instead::only("Run it again with --request-timeout=60s, which gives the server more time."),
            ));
        }
        Ok(())
    }
}

/// One request for one object.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The action.
    pub action: Action,
    /// The object.
    pub target: ObjectRef,
    /// The version of the object. The request is valid only for this version.
    pub resource_version: String,
    /// The finalizer to remove; none for a nudge and a rescue.
    pub finalizer: Option<Finalizer>,
    /// The finalizers that stay.
    pub stays: Vec<Finalizer>,
    /// The node whose kubelet must confirm before the object is deleted; none if nobody must, and for a nudge and a rescue.
    pub kubelet: Option<String>,
    /// The verdict on that finalizer; `Unknown` for a rescue, which judges none.
    pub verdict: Verdict,
    /// Which controller should have removed it, and under which condition.
    pub says: String,
    /// If it is failing: why the controller will not succeed.
    pub unable: Option<Unable>,
    /// What may be that controller, or shows that it runs.
    pub may_be: BTreeSet<String>,
    /// What keeps that controller from acting.
    pub blockers: Vec<Blocker>,
    /// The evidence for the verdict.
    pub evidence: Vec<Evidence>,
    /// The cost.
    pub cost: Cost,
    /// Other steps, which destroy nothing.
    pub safer: Vec<Step>,
    /// Why the request is not tried out before the confirmation; none if it was.
    pub untried: Option<String>,
    /// The disk that it keeps; only for a rescue.
    pub retention: Option<Retention>,
    /// The change of the stored value; only for a rescue through etcd.
    pub stored: Option<Box<StoredChange>>,
    /// The request.
    pub request: Request,
}

impl Plan {
    /// How a newer plan for the same object is worse than this one, which the user confirmed: one part of a sentence for
    /// each difference. None of it matters to a nudge, which costs nothing, except that the finalizers are the same.
    pub fn worse(&self, now: &Plan) -> Vec<String> {
        let mut worse = Vec::new();
        if now.stays != self.stays {
            worse.push(format!(
                "these other finalizers are on it now: {}",
                joined(&now.stays)
            ));
        }
        if self.action == Action::Nudge {
            return worse;
        }
        // Another verdict of the same doubt has another reason, which nobody has confirmed.
        let is_less = doubt(now.verdict) < doubt(self.verdict);
        if now.verdict != self.verdict && !is_less || now.unable.is_some() && now.unable != self.unable {
            worse.push(format!(
                "it was {} and is {} now: {}",
                self.verdict.word(),
                now.verdict.word(),
                now.says
            ));
        }
        if now.cost.consequence > self.cost.consequence || now.cost.text != self.cost.text {
            worse.push(format!(
                "it costs {} now: {}",
                now.cost.consequence.typed(),
                now.cost.text
            ));
        }
        let outside = now.cost.outside.iter();
        for one in outside.filter(|one| !self.cost.outside.contains(one)) {
            worse.push(format!("this also stays outside: {} {}", one.what, one.id));
        }
        for one in now.may_be.difference(&self.may_be) {
            worse.push(format!("this may be its controller, and was not there: {one}"));
        }
        for blocker in now.blockers.iter().filter(|one| !self.has_blocker(one)) {
            worse.push(format!(
                "its controller now waits for {}",
                blocker_in_words(blocker)
            ));
        }
        if let (None, Some(why)) = (&self.untried, &now.untried) {
            worse.push(format!("it can no longer be tried out: {why}"));
        }
        if let (Some(confirmed), Some(now)) = (&self.retention, &now.retention) {
            let news = confirmed.news(now);
            worse.extend(news.map(|news| format!("this is true now: {}", news.trim_end_matches('.'))));
        }
        worse
    }

    /// Whether this was a blocker already. The words about an object change all the time, and so only objects are compared.
    /// A blocker without an object is nothing but its words, of which numbers and times change.
    fn has_blocker(&self, blocker: &Blocker) -> bool {
        self.blockers
            .iter()
            .any(|one| match (&one.object, &blocker.object) {
                (None, None) => one.says.differs_in_numbers_only(&blocker.says),
                (one, now) => one == now,
            })
    }
}

/// How much a verdict speaks against a removal.
fn doubt(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Orphaned => 0,
        Verdict::Failing | Verdict::Stalled => 1,
        Verdict::Unknown => 2,
        Verdict::InUse | Verdict::Waiting | Verdict::Rejected => 3,
    }
}

/// The finalizers by name.
fn joined(finalizers: &[Finalizer]) -> String {
    let names: Vec<_> = finalizers.iter().map(ToString::to_string).collect();
    if names.is_empty() {
        "none".into()
    } else {
        names.join(", ")
    }
}

/// The verdict and its reason. What is in use needs no more than the things that use it.
pub(super) fn why(wait: &Wait) -> String {
    let on = names_of_blockers(&wait.on);
    let verdict = wait.verdict.word();
    match wait.verdict {
        _ if on.is_empty() => format!("{verdict}: {}", wait.says()),
        Verdict::InUse => format!("{verdict}: {on}"),
        _ => format!("{verdict}: {} ({on})", wait.says()),
    }
}

/// The blockers by name, for a sentence.
pub(super) fn names_of_blockers(blockers: &[Blocker]) -> String {
    const MAX_NAMED: usize = 3;
    let texts: Vec<_> = blockers.iter().take(MAX_NAMED).map(blocker_in_words).collect();
    let more = match blockers.len().saturating_sub(MAX_NAMED) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    format!("{}{more}", texts.join("; "))
}

/// The blocker and its state: `pod/db-0 -n db: Running on node-7`.
fn blocker_in_words(blocker: &Blocker) -> String {
    match &blocker.object {
        Some(object) => format!("{}: {}", object.pasteable(), blocker.says),
        None => blocker.says.to_string(),
    }
}

/// All finalizers of the object but this one. If two entries have its name, the second stays.
pub(super) fn other_finalizers(object: &Object, finalizer: &Finalizer) -> Vec<Finalizer> {
    let mut all = object.finalizers();
    if let Some(at) = all.iter().position(|one| one == finalizer) {
        all.remove(at);
    }
    all
}

/// An entry of `metadata.finalizers`.
pub(super) fn in_metadata(name: &str) -> Finalizer {
    Finalizer {
        list: List::Metadata,
        name: name.to_owned(),
    }
}
