//! The parts of a plan.

use crate::{
    diagnose::{Blocker, Diagnosis, Evidence, Safety, Step, Verdict, Wait},
    knowledge::Knowledge,
    object::{Finalizer, List, ObjectRef},
    snapshot::facts::{Facts, Object},
};

use super::{Cost, Request, Retention, trial};

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
}

impl Action {
    /// The verb as the user types it.
    pub fn word(self) -> &'static str {
        match self {
            Action::Remove => "remove",
            Action::Finalize => "finalize",
            Action::Nudge => "nudge",
            Action::Retain => "rescue",
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

    /// The finalizers of the object, in a sentence about one that it does not have: `it has a, b`.
    pub(super) fn finalizers_in_words(&self, none: &str) -> String {
        let names: Vec<_> = self.object.finalizers().iter().map(ToString::to_string).collect();
        if names.is_empty() {
            none.to_owned()
        } else {
            format!("it has {}", names.join(", "))
        }
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
            resource_version: self.object.text("/metadata/resourceVersion").to_owned(),
            stays: other_finalizers(self.object, &finalizer),
            finalizer: Some(finalizer),
            verdict: wait.verdict,
            says: wait.says(),
            blockers: wait.on.clone(),
            evidence: self.diagnosis.evidence.clone(),
            cost,
            safer: self.safer_steps(),
            retention: None,
            untried: self.untried(),
            request,
        }
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

    /// A refusal for this object.
    pub(super) fn refuse(&self, why: impl Into<String>, needs: impl Into<String>) -> Refusal {
        Refusal {
            target: self.object.reference().into(),
            why: why.into(),
            needs: needs.into(),
        }
    }

    /// Checks that nothing speaks against a removal by hand, whatever the verdict.
    pub(super) fn check_vetoes(&self, wait: &Wait) -> Result<(), Refusal> {
        match wait.vetoes.first() {
            Some(veto) => Err(self.refuse(veto.why(), veto.needs())),
            None => Ok(()),
        }
    }

    /// Checks what every plan requires: the object is being deleted, its grace period is over, and everything
    /// was read.
    pub(super) fn check_in_deletion(&self) -> Result<(), Refusal> {
        let Some(deletion) = self.object.deletion() else {
            return Err(self.refuse(
                "it is not being deleted",
                "somebody deletes it first; its finalizers then do the work that they are for",
            ));
        };
        if deletion.in_grace(self.diagnosis.observed_at) {
            return Err(self.refuse(
                "its grace period is not over: it is slow by agreement, not stuck",
                format!("it is still there after {}", deletion.timestamp),
            ));
        }
        if !self.complete {
            return Err(self.refuse(
                "looking at it ended before everything was read",
                "the diagnosis is complete; --request-timeout gives the server more time",
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
    /// The verdict on that finalizer; `Unknown` for a rescue, which judges none.
    pub verdict: Verdict,
    /// Which controller should have removed it, and under which condition.
    pub says: String,
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
    /// The request.
    pub request: Request,
}

impl Plan {
    /// How a newer plan for the same object is worse than this one, which the user confirmed: one part of a sentence for
    /// each difference. None of it matters to a nudge, which costs nothing, except that the finalizers are the same.
    pub fn worse(&self, now: &Plan) -> Vec<String> {
        let mut worse = Vec::new();
        if now.stays != self.stays {
            worse.push(format!("these would stay now: {}", joined(&now.stays)));
        }
        if self.action == Action::Nudge {
            return worse;
        }
        if doubt(now.verdict) > doubt(self.verdict) {
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
            worse.push(format!("this stays outside, too: {} {}", one.what, one.id));
        }
        for blocker in now.blockers.iter().filter(|one| !self.has_blocker(one)) {
            worse.push(format!("this keeps its controller now: {}", blocker.in_words()));
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

    /// Whether this was a blocker already. The words about a blocker change all the time, and so only objects are compared.
    /// A complaint without an object counts in the verdict.
    fn has_blocker(&self, blocker: &Blocker) -> bool {
        let is_same = |one: &Blocker| one.object == blocker.object;
        blocker.object.is_none() || self.blockers.iter().any(is_same)
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

/// The reason why there is no plan for an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The object.
    pub target: Box<ObjectRef>,
    /// The reason.
    pub why: String,
    /// What must be true for a plan.
    pub needs: String,
}

/// The blockers by name, for a sentence.
pub(super) fn names_of_blockers(blockers: &[Blocker]) -> String {
    const MAX_NAMED: usize = 3;
    let texts: Vec<_> = blockers.iter().take(MAX_NAMED).map(Blocker::in_words).collect();
    let more = match blockers.len().saturating_sub(MAX_NAMED) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    format!("{}{more}", texts.join("; "))
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
