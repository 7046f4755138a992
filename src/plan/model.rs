//! The parts of a plan.

use crate::{
    diagnose::{Blocker, Diagnosis, Evidence, Safety, Step, Verdict, Wait},
    knowledge::Knowledge,
    object::{Finalizer, List, ObjectRef},
    snapshot::facts::{Facts, Object},
};

use super::{Cost, Request, Retention};

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
            says: wait.says.clone(),
            evidence: self.diagnosis.evidence.clone(),
            cost,
            safer: self.safer_steps(),
            retention: None,
            request,
        }
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
    /// The evidence for the verdict.
    pub evidence: Vec<Evidence>,
    /// The cost.
    pub cost: Cost,
    /// Other steps, which destroy nothing.
    pub safer: Vec<Step>,
    /// The disk that it keeps; only for a rescue.
    pub retention: Option<Retention>,
    /// The request.
    pub request: Request,
}

impl Plan {
    /// Whether the other plan means the same to the user who confirmed this one, although the object has a new
    /// version.
    pub fn means_the_same(&self, other: &Plan) -> bool {
        self.action == other.action
            && self.target.uid == other.target.uid
            && self.finalizer == other.finalizer
            && self.stays == other.stays
            && self.verdict == other.verdict
            && self.cost == other.cost
            && match (&self.retention, &other.retention) {
                (Some(confirmed), Some(now)) => confirmed.means_the_same(now),
                (confirmed, now) => confirmed.is_none() && now.is_none(),
            }
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
