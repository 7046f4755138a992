//! What a plan consists of.

use crate::{
    diagnose::{Blocker, Diagnosis, Evidence, Step, Verdict, Wait},
    knowledge::Knowledge,
    object::{Finalizer, List, ObjectRef},
    snapshot::facts::{Facts, Object},
};

use super::{Cost, Request, remove::safer};

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// One entry is taken out of `metadata.finalizers`.
    Remove,
    /// One entry is taken out of a Namespace's `spec.finalizers`.
    Finalize,
    /// The object is touched, so that its controller looks again.
    Nudge,
}

impl Action {
    /// The verb, as it is typed.
    pub fn word(self) -> &'static str {
        match self {
            Action::Remove => "remove",
            Action::Finalize => "finalize",
            Action::Nudge => "nudge",
        }
    }
}

/// What was seen of one object when its plan was made.
pub struct Seen<'a> {
    /// The object.
    pub object: &'a Object,
    /// Why it does not go.
    pub diagnosis: &'a Diagnosis,
    /// Whether everything that the diagnosis wanted was asked for.
    pub complete: bool,
    /// All that was read.
    pub facts: &'a Facts,
    /// The catalogue.
    pub knowledge: &'a Knowledge,
}

impl Seen<'_> {
    /// What is said of one of its finalizers.
    pub(super) fn wait(&self, finalizer: &Finalizer) -> Option<&Wait> {
        let waits = self.diagnosis.waits.iter();
        waits
            .into_iter()
            .find(|wait| wait.finalizer.as_ref() == Some(finalizer))
    }

    /// What it has on it, where something else was looked for: `it has a, b`.
    pub(super) fn has(&self, none: &str) -> String {
        let names: Vec<_> = self.object.finalizers().iter().map(ToString::to_string).collect();
        if names.is_empty() {
            none.to_owned()
        } else {
            format!("it has {}", names.join(", "))
        }
    }

    /// The plan to take this finalizer out with this request, at this cost.
    pub(super) fn without(
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
            stays: others(self.object, &finalizer),
            finalizer: Some(finalizer),
            verdict: wait.verdict,
            says: wait.says.clone(),
            evidence: self.diagnosis.evidence.clone(),
            cost,
            safer: safer(self),
            request,
        }
    }

    /// A refusal to do anything to it.
    pub(super) fn refuse(&self, why: impl Into<String>, needs: impl Into<String>) -> Refusal {
        Refusal {
            target: self.object.reference().into(),
            why: why.into(),
            needs: needs.into(),
        }
    }

    /// What any plan demands: the object is being deleted, its grace period is over, and nothing that was to be looked
    /// at was skipped.
    pub(super) fn in_deletion(&self) -> Result<(), Refusal> {
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

/// One object, one request.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What is done.
    pub action: Action,
    /// The object.
    pub target: ObjectRef,
    /// Its version; the request holds only for this one.
    pub resource_version: String,
    /// What is taken out; none for a nudge.
    pub finalizer: Option<Finalizer>,
    /// The finalizers that stay.
    pub stays: Vec<Finalizer>,
    /// How it stands with what is taken out.
    pub verdict: Verdict,
    /// Who should have taken it out, and after what.
    pub says: String,
    /// What that rests on.
    pub evidence: Vec<Evidence>,
    /// What it costs.
    pub cost: Cost,
    /// What could be done instead, and costs nothing that cannot be undone.
    pub safer: Vec<Step>,
    /// The request.
    pub request: Request,
}

impl Plan {
    /// Whether the other plan is for the same object and means the same to whoever confirmed this one, though the
    /// object has a new version.
    pub fn is_the_same_truth(&self, other: &Plan) -> bool {
        self.action == other.action
            && self.target.uid == other.target.uid
            && self.finalizer == other.finalizer
            && self.stays == other.stays
            && self.verdict == other.verdict
            && self.cost == other.cost
    }
}

/// Why there is no plan for an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The object.
    pub target: Box<ObjectRef>,
    /// The reason.
    pub why: String,
    /// What would have to be true.
    pub needs: String,
}

/// Blockers by name, for a sentence.
pub(super) fn named(blockers: &[Blocker]) -> String {
    const NAMED: usize = 3;
    let texts: Vec<_> = blockers.iter().take(NAMED).map(Blocker::in_words).collect();
    let more = match blockers.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    format!("{}{more}", texts.join("; "))
}

/// All finalizers of the object but this one; of two entries with its name the second stays.
pub(super) fn others(object: &Object, finalizer: &Finalizer) -> Vec<Finalizer> {
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
