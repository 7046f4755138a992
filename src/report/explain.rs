//! The report of `explain TYPE/NAME`.

use jiff::Timestamp;
use serde::Serialize;

use super::{API_VERSION, DeletionReport, GapReport, ObjectName, TOOL_VERSION};
use crate::{
    command::{Command, RunFlags, Shown, in_capitals},
    diagnose::{
        Blocker, CauseState, Diagnosis, Safety, Step, Verdict, Wait,
        model::{Effect, Evidence, Fate, Fault, Liveness, Moment, Page, Release, StepKind, Strength, When},
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
    /// Version of this program.
    pub tool_version: &'static str,
    /// Version of the API server; none if it is not known.
    pub server_version: Option<String>,
    /// The server's address, or the files.
    pub source: String,
    /// When the object was read, by the server's clock.
    pub observed_at: Timestamp,
    /// Whether it comes from a recording, so that its ages do not grow.
    #[serde(skip)]
    pub is_recorded: bool,
    /// The object.
    pub target: ObjectName,
    /// Its deletion; none if it is not being deleted.
    pub deletion: Option<DeletionReport>,
    /// Whether the object disappeared during the run. The other fields are then empty.
    pub gone: bool,
    /// Whether the user stopped the run, or the time was up. `notRead` lists what is missing.
    pub interrupted: bool,
    /// Its state in one sentence.
    pub headline: String,
    /// What will keep it, if it is not late yet and will be stuck soon.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_risk: Option<String>,
    /// What happened during the run.
    pub notes: Vec<String>,
    /// The command that makes its controller look again, if nothing blocks it and nothing is lost by that.
    #[serde(skip)]
    pub nudge: Option<Command>,
    /// What is wrong with it, if it is not being deleted and others wait for it.
    pub fault: Option<FaultReport>,
    /// What it waits for.
    pub waits_for: Vec<WaitReport>,
    /// What happens next, without any action.
    pub outlook: Vec<OutlookReport>,
    /// What happens to other objects if this one is deleted now. Empty if it is already terminating.
    pub if_deleted: Vec<EffectReport>,
    /// What becomes of its data outside of the cluster, whatever ends it. Empty if it is not being deleted.
    pub data_fate: Vec<DataFateReport>,
    /// The command to type next: the first that only reads, otherwise the first; empty if there is none.
    pub next: Shown,
    /// What to do, in order.
    pub steps: Vec<StepReport>,
    /// What not to do, and why.
    pub do_not: Vec<String>,
    /// The observations that support this.
    pub evidence: Vec<EvidenceReport>,
    /// What could not be read.
    pub not_read: Vec<GapReport>,
}

/// A fault that others wait for.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FaultReport {
    /// How it stands.
    pub state: CauseState,
    /// What is wrong, in sentences.
    pub says: Vec<String>,
    /// What one of the objects that wait for it is: `namespace`, `pod`; none if nobody looked for them.
    pub holds_type: Option<&'static str>,
    /// The objects in deletion that wait for it.
    pub holds: Vec<ObjectName>,
    /// Its page; none if no single cause is told.
    pub cause: Option<CauseReport>,
}

/// What becomes of data outside of the cluster.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DataFateReport {
    /// The disk or snapshot, by its name at the provider.
    pub disk: String,
    /// The policy that decides; none if it is not known.
    pub policy: Option<String>,
    /// What becomes of it.
    pub fate: Fate,
    /// Why.
    pub why: String,
}

/// What one finalizer waits for, or what blocks an object without finalizers.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WaitReport {
    /// The finalizer; none for an object without finalizers.
    pub finalizer: Option<Finalizer>,
    /// The state of this wait.
    pub verdict: Verdict,
    /// Who must act, and on which condition: all of the clauses below in one text.
    pub says: String,
    /// The controller that removes the finalizer; none if none is known.
    pub holder: Option<HolderReport>,
    /// When it removes the finalizer.
    pub once: Option<String>,
    /// The work that it must do before.
    pub work: Option<String>,
    /// What is true now.
    pub now: Vec<String>,
    /// What the finalizer protects; none if the catalogue does not have it.
    pub protects: Option<String>,
    /// What a removal by hand costs; none if the catalogue does not have the finalizer.
    pub if_removed: Option<IfRemovedReport>,
    /// What prevents the controller from removing the finalizer.
    pub blockers: Vec<BlockerReport>,
    /// The cause that this wait tells of; none if no single cause is told.
    pub cause: Option<CauseReport>,
}

/// A cause, which has a page in the documentation.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CauseReport {
    /// Its folder and name, such as `storage/pvc_protection`.
    pub id: String,
    /// The address of its page.
    pub url: String,
}

impl CauseReport {
    /// The path of its page in the repository.
    pub fn page(&self) -> String {
        format!("docs/causes/{}.md", self.id)
    }
}

/// A controller.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HolderReport {
    /// Its name.
    pub name: String,
    /// Which part of it acts; none if it has no parts.
    pub part: Option<String>,
    /// Whether it lives.
    pub state: Liveness,
    /// Whether that is likely only.
    pub likely: bool,
    /// Its version, as its image is tagged; none if that is not known.
    pub version: Option<String>,
    /// What shows that it lives.
    pub signs: Vec<String>,
}

/// What a removal by hand costs.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct IfRemovedReport {
    /// The word that the user accepts.
    pub consequence: String,
    /// What exactly is left or lost.
    pub text: String,
    /// Whether its controller reports that it is not there. The quoted report tells that in the JSON.
    #[serde(skip)]
    pub is_doubted: bool,
}

/// An object or a backend that blocks a deletion.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BlockerReport {
    /// The object, if it is one.
    pub object: Option<ObjectName>,
    /// Its state.
    pub says: String,
    /// Whether it waits for nothing else.
    pub root_cause: bool,
    /// Whether it sums up other objects.
    #[serde(skip)]
    pub rest: bool,
    /// Whether it quotes a report about the object itself.
    #[serde(skip)]
    pub quotes: bool,
    /// What it waits for itself.
    pub blockers: Vec<BlockerReport>,
    /// The waits of its own finalizers, if it is terminating too.
    pub waits_for: Vec<WaitReport>,
}

/// An event that follows without any action, and its condition.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OutlookReport {
    /// The condition.
    pub when: Moment,
    /// The event.
    pub then: String,
}

/// What a deletion does to other objects.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EffectReport {
    /// What happens to them.
    pub fate: Fate,
    /// Which objects, how many, and why.
    pub says: String,
    /// All affected objects whose names are known.
    pub objects: Vec<ObjectName>,
}

impl OutlookReport {
    /// Whether it says how to see that the work is done.
    pub fn is_end(&self) -> bool {
        self.when == Moment::Done
    }

    /// Whether it says what happens without any action, which the verdict tells in short.
    pub fn is_meanwhile(&self) -> bool {
        self.when.is_meanwhile()
    }
}

/// One step.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StepReport {
    /// The finalizer that the step is for; none if it is for the object as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finalizer: Option<String>,
    /// The situation in which this step is right.
    #[serde(rename = "branch")]
    pub when: When,
    /// What it does.
    pub kind: StepKind,
    /// What to do, and why.
    pub text: String,
    /// The command.
    #[serde(flatten)]
    pub command: Shown,
    /// What the step can cost.
    pub safety: Safety,
    /// Whether it only reads.
    pub read_only: bool,
    /// The words in capitals that the reader must fill in first.
    pub needs_input: Vec<String>,
    /// What it lets go outside of the cluster, and what becomes of that.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lets_go: Vec<Release>,
}

/// One observation.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EvidenceReport {
    /// The object and the field.
    pub source: String,
    /// The observed value.
    pub value: String,
    /// How much the value proves.
    pub strength: Strength,
}

impl ExplainReport {
    /// Whether the object should be gone: in deletion, and no longer in its grace period.
    pub fn is_stuck(&self) -> bool {
        let deletion = self.deletion.as_ref();
        !self.gone && deletion.is_some_and(|deletion| !deletion.in_grace_period)
    }

    /// The report on an object that disappeared during the run.
    pub fn gone(object: &ObjectRef, observed_at: Timestamp) -> Self {
        let name = object.pasteable();
        ExplainReport {
            api_version: API_VERSION,
            kind: "Explanation",
            tool_version: TOOL_VERSION,
            server_version: None,
            source: String::new(),
            observed_at,
            is_recorded: false,
            target: object.into(),
            deletion: None,
            gone: true,
            interrupted: false,
            headline: format!("{name}: gone. It went while it was being looked at."),
            at_risk: None,
            nudge: None,
            notes: Vec::new(),
            fault: None,
            waits_for: Vec::new(),
            outlook: Vec::new(),
            if_deleted: Vec::new(),
            data_fate: Vec::new(),
            next: Shown::default(),
            steps: Vec::new(),
            do_not: Vec::new(),
            evidence: Vec::new(),
            not_read: Vec::new(),
        }
    }
}

/// The step that makes the controller look again at an object that nothing blocks.
fn nudge(diagnosis: &Diagnosis) -> Option<Command> {
    let is_free = diagnosis
        .waits
        .iter()
        .all(|wait| wait.verdict == Verdict::Stalled);
    let is_it = |step: &&Step| {
        step.safety < Safety::Destructive && step.command.as_ref().is_some_and(Command::is_nudge)
    };
    let step = diagnosis.steps.iter().find(is_it).filter(|_| is_free)?;
    step.command.clone()
}

impl ExplainReport {
    /// The report on a diagnosis. Its commands get the flags of the run.
    pub fn new(diagnosis: &Diagnosis, run: &RunFlags) -> Self {
        let steps = steps(diagnosis, run);
        ExplainReport {
            api_version: API_VERSION,
            kind: "Explanation",
            tool_version: TOOL_VERSION,
            server_version: None,
            source: String::new(),
            observed_at: diagnosis.observed_at,
            is_recorded: !run.from.is_empty(),
            target: (&diagnosis.target).into(),
            deletion: diagnosis
                .deletion
                .map(|deletion| DeletionReport::new(&deletion, diagnosis.observed_at)),
            gone: false,
            interrupted: false,
            headline: diagnosis.headline.clone(),
            at_risk: diagnosis.risk.clone(),
            nudge: nudge(diagnosis).map(|command| command.in_run(run)),
            notes: Vec::new(),
            fault: diagnosis.fault.as_ref().map(Into::into),
            waits_for: diagnosis.waits.iter().map(Into::into).collect(),
            outlook: diagnosis
                .outlook
                .iter()
                .map(|outlook| OutlookReport {
                    when: outlook.when,
                    then: outlook.then.clone(),
                })
                .collect(),
            if_deleted: diagnosis.effects.iter().map(Into::into).collect(),
            data_fate: diagnosis.lets_go.iter().map(Into::into).collect(),
            next: next(&steps),
            steps,
            do_not: diagnosis.do_not.clone(),
            evidence: diagnosis.evidence.iter().map(Into::into).collect(),
            not_read: diagnosis.gaps.iter().map(Into::into).collect(),
        }
    }
}

/// The first command that only reads, otherwise the first.
fn next(steps: &[StepReport]) -> Shown {
    let with_command = || steps.iter().filter(|step| step.command.command.is_some());
    let next = with_command()
        .find(|step| step.read_only)
        .or(with_command().next());
    next.map(|step| step.command.clone()).unwrap_or_default()
}

fn steps(diagnosis: &Diagnosis, run: &RunFlags) -> Vec<StepReport> {
    let steps = diagnosis.steps.iter().zip(&diagnosis.steps_for);
    steps
        .map(|(step, finalizer)| StepReport {
            finalizer: finalizer.as_ref().map(|finalizer| finalizer.name.clone()),
            ..StepReport::new(step, run)
        })
        .collect()
}

impl From<&Wait> for WaitReport {
    fn from(wait: &Wait) -> Self {
        let said = &wait.said;
        WaitReport {
            finalizer: wait.finalizer.clone(),
            verdict: wait.verdict,
            says: wait.says(),
            holder: said.controller.as_ref().map(|controller| HolderReport {
                name: controller.name.clone(),
                part: controller.part.clone(),
                state: controller.state,
                likely: controller.likely,
                version: controller.version.clone(),
                signs: controller.signs.clone(),
            }),
            once: said.once.clone(),
            work: said.work.clone(),
            now: said.now.clone(),
            protects: wait.known.as_ref().map(|known| known.protects.clone()),
            if_removed: wait.known.as_ref().map(|known| IfRemovedReport {
                consequence: known.consequence.typed(),
                text: known.cost.clone(),
                is_doubted: known.is_doubted,
            }),
            blockers: wait.on.iter().map(Into::into).collect(),
            cause: wait.page.map(Into::into),
        }
    }
}

impl HolderReport {
    /// `kube-controller-manager (pvc-protection)`.
    pub fn in_words(&self) -> String {
        match &self.part {
            Some(part) => format!("{} ({part})", self.name),
            None => self.name.clone(),
        }
    }
}

impl From<&Fault> for FaultReport {
    fn from(fault: &Fault) -> Self {
        let held = fault.holds.as_ref();
        FaultReport {
            state: fault.state,
            says: fault.says.clone(),
            holds_type: held.map(|held| held.what),
            holds: held
                .into_iter()
                .flat_map(|held| &held.objects)
                .map(Into::into)
                .collect(),
            cause: fault.page.map(Into::into),
        }
    }
}

impl From<&Release> for DataFateReport {
    fn from(release: &Release) -> Self {
        DataFateReport {
            disk: release.what.clone(),
            policy: release.policy.clone(),
            fate: release.fate,
            why: release.why.clone(),
        }
    }
}

impl From<Page> for CauseReport {
    fn from(page: Page) -> Self {
        let mut cause = CauseReport {
            id: page.id(),
            url: String::new(),
        };
        cause.url = format!("{}/blob/main/{}", env!("CARGO_PKG_REPOSITORY"), cause.page());
        cause
    }
}

impl From<&Blocker> for BlockerReport {
    fn from(blocker: &Blocker) -> Self {
        BlockerReport {
            object: blocker.object.as_ref().map(Into::into),
            says: blocker.says.to_string(),
            root_cause: blocker.is_root(),
            rest: blocker.rest,
            quotes: blocker.report.is_some(),
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

impl StepReport {
    /// A step of a diagnosis, or of a plan. Its command gets the flags of the run.
    pub fn new(step: &Step, run: &RunFlags) -> Self {
        let command = step.command.clone().map(|command| command.in_run(run));
        let open = command.iter().flat_map(Command::open).map(in_capitals);
        StepReport {
            finalizer: None,
            when: step.when,
            kind: step.kind(),
            text: step.text.clone(),
            command: command.as_ref().into(),
            safety: step.safety,
            read_only: step.safety == Safety::ReadOnly,
            needs_input: open.collect(),
            lets_go: step.lets_go.clone(),
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
