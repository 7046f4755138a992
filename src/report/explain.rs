//! What an explanation of one object says.

use jiff::Timestamp;
use serde::Serialize;

use super::{API_VERSION, DeletionReport, GapReport, ObjectName};
use crate::{
    diagnose::{
        Blocker, Diagnosis, Safety, Step, Verdict, Wait,
        model::{Effect, Evidence, Fate, Strength},
    },
    object::{Finalizer, ObjectRef},
};

/// The explanation of one object.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExplainReport {
    /// Version of this schema.
    pub api_version: &'static str,
    /// `Explanation`.
    pub kind: &'static str,
    /// When it was seen, by the server's clock.
    pub observed_at: Timestamp,
    /// The object.
    pub target: ObjectName,
    /// Its deletion; none if it is not being deleted.
    pub deletion: Option<DeletionReport>,
    /// Whether it went while it was looked at: good news, and then nothing else is said of it.
    pub gone: bool,
    /// Whether the user stopped the looking, or it took too long; what was not seen for that is in `notRead`.
    pub interrupted: bool,
    /// Its state in one sentence.
    pub headline: String,
    /// What happened while it was looked at.
    pub notes: Vec<String>,
    /// What it waits for.
    pub waits_for: Vec<WaitReport>,
    /// What happens next.
    pub outlook: Vec<OutlookReport>,
    /// What becomes of other things if it is deleted now; empty if it is being deleted already.
    pub if_deleted: Vec<EffectReport>,
    /// What to do, in order.
    pub steps: Vec<StepReport>,
    /// What not to do, and why.
    pub do_not: Vec<String>,
    /// What this rests on.
    pub evidence: Vec<EvidenceReport>,
    /// What could not be read.
    pub not_read: Vec<GapReport>,
}

/// One finalizer, or what holds an object without any.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WaitReport {
    /// The finalizer.
    pub finalizer: Option<Finalizer>,
    /// How it stands.
    pub verdict: Verdict,
    /// Who must act, and after what.
    pub says: String,
    /// What keeps the holder from it.
    pub blockers: Vec<BlockerReport>,
}

/// An object or a backend in the way.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BlockerReport {
    /// The object, if it is one.
    pub object: Option<ObjectName>,
    /// Its state.
    pub says: String,
    /// Whether it waits for nothing else.
    pub root_cause: bool,
    /// What it waits for in turn.
    pub blockers: Vec<BlockerReport>,
    /// Its own finalizers, if it is itself being deleted.
    pub waits_for: Vec<WaitReport>,
}

/// What happens, and when.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OutlookReport {
    /// When.
    pub when: String,
    /// What then.
    pub then: String,
}

/// What becomes of something else.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EffectReport {
    /// What becomes of it.
    pub fate: Fate,
    /// What, how much of it, and why.
    pub says: String,
    /// All objects that this is about, where they can be named.
    pub objects: Vec<ObjectName>,
}

/// One thing to do.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StepReport {
    /// When it is the right one.
    pub when: String,
    /// What and why.
    pub text: String,
    /// The command.
    pub command: Option<String>,
    /// What it can cost.
    pub safety: Safety,
}

/// One observation.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EvidenceReport {
    /// Object and field.
    pub source: String,
    /// What it said.
    pub value: String,
    /// How much that proves.
    pub strength: Strength,
}

impl ExplainReport {
    /// That an object is gone that was there a moment ago.
    pub fn gone(object: &ObjectRef, observed_at: Timestamp) -> Self {
        let name = object.in_words();
        ExplainReport {
            api_version: API_VERSION,
            kind: "Explanation",
            observed_at,
            target: object.into(),
            deletion: None,
            gone: true,
            interrupted: false,
            headline: format!("{name}: gone. It went while it was being looked at."),
            notes: Vec::new(),
            waits_for: Vec::new(),
            outlook: Vec::new(),
            if_deleted: Vec::new(),
            steps: Vec::new(),
            do_not: Vec::new(),
            evidence: Vec::new(),
            not_read: Vec::new(),
        }
    }
}

impl From<&Diagnosis> for ExplainReport {
    fn from(diagnosis: &Diagnosis) -> Self {
        ExplainReport {
            api_version: API_VERSION,
            kind: "Explanation",
            observed_at: diagnosis.observed_at,
            target: (&diagnosis.target).into(),
            deletion: diagnosis
                .deletion
                .map(|deletion| DeletionReport::new(&deletion, diagnosis.observed_at)),
            gone: false,
            interrupted: false,
            headline: diagnosis.headline.clone(),
            notes: Vec::new(),
            waits_for: diagnosis.waits.iter().map(Into::into).collect(),
            outlook: diagnosis
                .outlook
                .iter()
                .map(|outlook| OutlookReport {
                    when: outlook.when.clone(),
                    then: outlook.then.clone(),
                })
                .collect(),
            if_deleted: diagnosis.effects.iter().map(Into::into).collect(),
            steps: diagnosis.steps.iter().map(Into::into).collect(),
            do_not: diagnosis.do_not.clone(),
            evidence: diagnosis.evidence.iter().map(Into::into).collect(),
            not_read: diagnosis.gaps.iter().map(Into::into).collect(),
        }
    }
}

impl From<&Wait> for WaitReport {
    fn from(wait: &Wait) -> Self {
        WaitReport {
            finalizer: wait.finalizer.clone(),
            verdict: wait.verdict,
            says: wait.says.clone(),
            blockers: wait.on.iter().map(Into::into).collect(),
        }
    }
}

impl From<&Blocker> for BlockerReport {
    fn from(blocker: &Blocker) -> Self {
        BlockerReport {
            object: blocker.object.as_ref().map(Into::into),
            says: blocker.says.clone(),
            root_cause: blocker.is_root(),
            blockers: blocker.on.iter().map(Into::into).collect(),
            waits_for: blocker.waits.iter().map(Into::into).collect(),
        }
    }
}

impl From<&Effect> for EffectReport {
    fn from(effect: &Effect) -> Self {
        EffectReport {
            fate: effect.fate,
            says: effect.says.clone(),
            objects: effect.objects.iter().map(Into::into).collect(),
        }
    }
}

impl From<&Step> for StepReport {
    fn from(step: &Step) -> Self {
        StepReport {
            when: step.when.to_owned(),
            text: step.text.clone(),
            command: step.command.clone(),
            safety: step.safety,
        }
    }
}

impl From<&Evidence> for EvidenceReport {
    fn from(evidence: &Evidence) -> Self {
        EvidenceReport {
            source: evidence.source.clone(),
            value: evidence.value.clone(),
            strength: evidence.strength,
        }
    }
}
