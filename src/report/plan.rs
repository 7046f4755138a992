//! What a plan says before anything is sent.

use serde::Serialize;

use super::{
    API_VERSION, ObjectName,
    explain::{EvidenceReport, StepReport},
};
use crate::{
    diagnose::Verdict,
    object::Finalizer,
    plan::{Action, Cost, Plan, Refusal, Request},
};

/// What would be sent, or why nothing will be.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanReport {
    /// Version of this schema.
    pub api_version: &'static str,
    /// `Plan`.
    pub kind: &'static str,
    /// `remove`, `finalize`, `nudge`.
    pub verb: &'static str,
    /// The API server.
    pub server: String,
    /// What `--confirm` takes; none if something was refused.
    pub digest: Option<String>,
    /// One for each object.
    pub plans: Vec<LineReport>,
    /// Why nothing will be sent.
    pub refused: Vec<RefusalReport>,
}

/// One object, one request.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LineReport {
    /// The object.
    pub target: ObjectName,
    /// The version of it that the request holds for.
    pub resource_version: String,
    /// What is taken out; none for a nudge.
    pub finalizer: Option<Finalizer>,
    /// What stays.
    pub stays: Vec<Finalizer>,
    /// How it stands with it.
    pub verdict: Verdict,
    /// Who should have taken it out, and after what.
    pub says: String,
    /// What that rests on.
    pub evidence: Vec<EvidenceReport>,
    /// What it costs.
    pub cost: CostReport,
    /// What could be done instead.
    pub safer: Vec<StepReport>,
    /// The request.
    pub request: Request,
    /// The same as a command.
    pub command: String,
}

/// What is lost or left behind.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CostReport {
    /// As it is typed behind `--accept`.
    pub consequence: String,
    /// In words.
    pub text: String,
    /// What stays outside.
    pub outside: Vec<OutsideReport>,
}

/// Something outside Kubernetes.
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

/// Why something is not done.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RefusalReport {
    /// The object.
    pub target: ObjectName,
    /// The reason.
    pub why: String,
    /// What would have to be true.
    pub needs: String,
}

impl PlanReport {
    /// The report on these plans. Each comes with the request as a command of kubectl.
    pub fn new(
        action: Action,
        server: &str,
        digest: Option<String>,
        plans: &[(Plan, String)],
        refused: &[Refusal],
    ) -> Self {
        PlanReport {
            api_version: API_VERSION,
            kind: "Plan",
            verb: action.word(),
            server: server.to_owned(),
            digest,
            plans: plans
                .iter()
                .map(|(plan, command)| LineReport::new(plan, command))
                .collect(),
            refused: refused.iter().map(Into::into).collect(),
        }
    }
}

impl LineReport {
    fn new(plan: &Plan, command: &str) -> Self {
        LineReport {
            target: (&plan.target).into(),
            resource_version: plan.resource_version.clone(),
            finalizer: plan.finalizer.clone(),
            stays: plan.stays.clone(),
            verdict: plan.verdict,
            says: plan.says.clone(),
            evidence: plan.evidence.iter().map(Into::into).collect(),
            cost: (&plan.cost).into(),
            safer: plan.safer.iter().map(Into::into).collect(),
            request: plan.request.clone(),
            command: command.to_owned(),
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
        }
    }
}
