//! The report on a plan, before anything is sent.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde::Serialize;

use super::{
    API_VERSION, ObjectName,
    explain::{EvidenceReport, StepReport},
};
use crate::{
    command::{Command, RunFlags, Shown},
    diagnose::Verdict,
    object::Finalizer,
    plan::{Action, Cost, Instead, Lost, Plan, Refusal, Request, Retention, StoredChange},
};

/// The request that the plan would send, or the reason why it sends none.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanReport {
    /// Version of this schema.
    pub api_version: &'static str,
    /// `Plan`.
    pub kind: &'static str,
    /// `remove`, `finalize`, `nudge`, `rescue`.
    pub verb: &'static str,
    /// The API server.
    pub server: String,
    /// The value for `--confirm`; none if anything was refused.
    pub digest: Option<String>,
    /// One item for each object.
    pub plans: Vec<LineReport>,
    /// The reasons why nothing will be sent.
    pub refused: Vec<RefusalReport>,
    /// The objects that already are as they were to be.
    pub unchanged: Vec<UnchangedReport>,
}

/// The plan for one object: one request.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LineReport {
    /// The object.
    pub target: ObjectName,
    /// The version of the object that the request requires.
    pub resource_version: String,
    /// The finalizer to remove; none for a nudge and a rescue.
    pub finalizer: Option<Finalizer>,
    /// The finalizers that remain.
    pub stays: Vec<Finalizer>,
    /// The node whose kubelet must confirm before the object is deleted; none if nobody must.
    pub kubelet: Option<String>,
    /// The state of the finalizer; none for a rescue.
    pub verdict: Option<Verdict>,
    /// The controller that should remove the finalizer, and its condition.
    pub says: String,
    /// What may be that controller, or shows that it runs.
    pub may_be: Vec<String>,
    /// The observations that support this.
    pub evidence: Vec<EvidenceReport>,
    /// The cost of the removal.
    pub cost: CostReport,
    /// Safer steps.
    pub safer: Vec<StepReport>,
    /// Why the request was not tried out before this plan was shown; none if it was.
    pub untried: Option<String>,
    /// The disk that is kept; only for a rescue.
    pub retention: Option<RetentionReport>,
    /// The change of the value in etcd; only for a rescue with `--etcd`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stored: Option<StoredReport>,
    /// The request.
    pub request: Request,
    /// The request as a command.
    #[serde(flatten)]
    pub command: Shown,
}

/// The change of a reclaim policy to Retain, and what follows from it.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RetentionReport {
    /// The policy now.
    pub policy: String,
    /// The present state.
    pub now: Vec<String>,
    /// The state once the policy is Retain, and the next actor.
    pub then: Vec<String>,
    /// Whether the volume or its claim is made again; `then` are the steps. None if only the policy changes.
    pub again: Option<Lost>,
}

/// The change of the value that etcd has for an object.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredReport {
    /// The key.
    pub key: String,
    /// The revision at which the value is replaced.
    pub mod_revision: i64,
    /// The form of the value: `protobuf` or `JSON`.
    pub form: &'static str,
    /// Size and digest of the value now.
    pub before: String,
    /// Size and digest of the new value.
    pub after: String,
    /// The value now, in base64.
    pub before_value: String,
    /// The new value, in base64.
    pub after_value: String,
    /// The metadata that both values have, a field each, as people read it. Long values are cut.
    pub metadata: Vec<String>,
    /// The fields that go, each with its value.
    pub difference: Vec<String>,
    /// The effects that the deletion already has.
    pub now: Vec<String>,
    /// The state after the deletion is taken back.
    pub then: Vec<String>,
}

/// An object that already is as it was to be.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UnchangedReport {
    /// The object.
    pub target: ObjectName,
    /// The consequences.
    pub then: Vec<String>,
}

/// The things that are lost or left behind.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CostReport {
    /// The word for `--accept`.
    pub consequence: String,
    /// In words.
    pub text: String,
    /// External resources that remain.
    pub outside: Vec<OutsideReport>,
}

/// A resource outside Kubernetes.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OutsideReport {
    /// What it is.
    pub what: String,
    /// The field that names it.
    pub field: String,
    /// Its name.
    pub id: String,
}

/// Why a change is refused.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RefusalReport {
    /// The object.
    pub target: ObjectName,
    /// The reason.
    pub why: String,
    /// The conditions that are not met.
    pub needs: String,
    /// The alternative.
    pub instead: InsteadReport,
}

/// The alternative to a refused change.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InsteadReport {
    /// What to do.
    pub text: String,
    /// The command for it, if there is one.
    #[serde(flatten)]
    pub command: Shown,
}

impl PlanReport {
    /// The report on these plans. Each plan comes with its request as a kubectl command, if there is one for it.
    pub fn new(
        action: Action,
        server: &str,
        digest: Option<String>,
        plans: &[(Plan, Option<Command>)],
        refused: &[Refusal],
        unchanged: Vec<UnchangedReport>,
    ) -> Self {
        PlanReport {
            api_version: API_VERSION,
            kind: "Plan",
            verb: action.word(),
            server: server.to_owned(),
            digest,
            plans: plans
                .iter()
                .map(|(plan, command)| LineReport::new(plan, command.as_ref()))
                .collect(),
            refused: refused.iter().map(Into::into).collect(),
            unchanged,
        }
    }
}

impl LineReport {
    fn new(plan: &Plan, command: Option<&Command>) -> Self {
        LineReport {
            target: (&plan.target).into(),
            resource_version: plan.resource_version.clone(),
            finalizer: plan.finalizer.clone(),
            stays: plan.stays.clone(),
            kubelet: plan.kubelet.clone(),
            verdict: (plan.action.word() != Action::Rescue.word()).then_some(plan.verdict),
            says: plan.says.clone(),
            may_be: plan.may_be.iter().cloned().collect(),
            evidence: plan.evidence.iter().map(Into::into).collect(),
            cost: (&plan.cost).into(),
            safer: plan
                .safer
                .iter()
                .map(|step| StepReport::new(step, &RunFlags::default()))
                .collect(),
            untried: plan.untried.clone(),
            retention: plan.retention.as_ref().map(Into::into),
            stored: plan.stored.as_deref().map(Into::into),
            request: plan.request.clone(),
            command: command.into(),
        }
    }
}

impl From<&Retention> for RetentionReport {
    fn from(retention: &Retention) -> Self {
        RetentionReport {
            policy: retention.policy.clone(),
            now: retention.now.clone(),
            then: retention.then.clone(),
            again: retention.again,
        }
    }
}

impl From<&StoredChange> for StoredReport {
    fn from(change: &StoredChange) -> Self {
        let [before, after] = change.versions();
        StoredReport {
            key: change.before.key.clone(),
            mod_revision: change.before.mod_revision,
            form: change.form,
            before,
            after,
            before_value: STANDARD.encode(&change.before.value),
            after_value: STANDARD.encode(&change.after),
            metadata: change.metadata.clone(),
            difference: change.cuts.clone(),
            now: change.now.clone(),
            then: change.then.clone(),
        }
    }
}

impl From<&Cost> for CostReport {
    fn from(cost: &Cost) -> Self {
        CostReport {
            consequence: cost.consequence.typed(),
            text: cost.text.clone(),
            outside: cost
                .outside
                .iter()
                .map(|outside| OutsideReport {
                    what: outside.what.clone(),
                    field: outside.field.clone(),
                    id: outside.id.clone(),
                })
                .collect(),
        }
    }
}

impl From<&Refusal> for RefusalReport {
    fn from(refusal: &Refusal) -> Self {
        RefusalReport {
            target: refusal.target.as_ref().into(),
            why: refusal.why.clone(),
            needs: refusal.needs.clone(),
            instead: refusal.instead.as_ref().into(),
        }
    }
}

impl From<&Instead> for InsteadReport {
    fn from(instead: &Instead) -> Self {
        InsteadReport {
            text: instead.text.clone(),
            command: instead.command.as_ref().into(),
        }
    }
}
