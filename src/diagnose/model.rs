//! The parts of a diagnosis: the terms of the product, as types.

mod fault;
mod outlook;
mod page;
mod said;
mod step;
mod words;

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde::Serialize;

pub use self::{
    fault::{Fault, Held},
    outlook::{Moment, Outlook},
    page::Page,
    said::{Actor, Liveness, Said},
    step::{Step, StepKind, When},
    words::Words,
};
use crate::{
    diagnose::removal::{Unable, Veto},
    knowledge::{Consequence, Label},
    object::{Deletion, Finalizer, ObjectRef},
    snapshot::Gap,
};

/// Why one object is stuck, and what can be done.
#[derive(Clone, Debug)]
pub struct Diagnosis {
    /// The object that is explained.
    pub target: ObjectRef,
    /// Its deletion; none if it is not being deleted.
    pub deletion: Option<Deletion>,
    /// The time from which ages are measured.
    pub observed_at: Timestamp,
    /// The state of the object in one sentence.
    pub headline: String,
    /// What will keep an object that is not late yet; none if nothing is known to.
    pub risk: Option<String>,
    /// The fault of the object, if it is not being deleted and others wait for it.
    pub fault: Option<Fault>,
    /// The waits of the object, one for each finalizer.
    pub waits: Vec<Wait>,
    /// The next events, each with its condition.
    pub outlook: Vec<Outlook>,
    /// What lies outside of the cluster and goes with it, whatever ends it; empty if it is not being deleted.
    pub lets_go: Vec<Release>,
    /// The effects of a deletion on other things; empty if the object is already being deleted.
    pub effects: Vec<Effect>,
    /// The steps to take, in order: those for one finalizer stand together.
    pub steps: Vec<Step>,
    /// For which finalizer each of the steps is; none for the object as a whole.
    pub steps_for: Vec<Option<Finalizer>>,
    /// Actions that do harm, and why.
    pub do_not: Vec<String>,
    /// The evidence for it.
    pub evidence: Vec<Evidence>,
    /// The gaps: missing facts that weaken the diagnosis.
    pub gaps: Vec<Gap>,
}

/// The result of one cause for one finalizer, or for an object without finalizers.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The wait.
    pub wait: Wait,
    /// The next events, each with its condition.
    pub outlook: Vec<Outlook>,
    /// The steps to take.
    pub steps: Vec<Step>,
    /// Actions that do harm.
    pub do_not: Vec<String>,
    /// The evidence for it.
    pub evidence: Vec<Evidence>,
}

impl Finding {
    /// The state of the controller that it is about; none if it is about no controller.
    pub fn liveness(&self) -> Option<Liveness> {
        let controller = self.wait.said.controller.as_ref();
        controller.map(|actor| actor.state)
    }

    /// A finding with the wait alone.
    pub fn new(finalizer: Option<Finalizer>, verdict: Verdict, said: impl Into<Said>) -> Self {
        Finding {
            wait: Wait {
                page: None,
                finalizer,
                verdict,
                said: said.into(),
                known: None,
                on: Vec::new(),
                may_be: BTreeSet::new(),
                unable: None,
                trial: None,
                vetoes: Vec::new(),
            },
            outlook: Vec::new(),
            steps: Vec::new(),
            do_not: Vec::new(),
            evidence: Vec::new(),
        }
    }

    /// Whether its controller fails, and nothing shows that it never can succeed.
    pub fn can_be_repaired(&self) -> bool {
        self.wait.verdict == Verdict::Failing && self.wait.unable.is_none()
    }

    /// Names the cause that this finding tells of now, instead of a more general one.
    pub fn tell_of(&mut self, page: Page) {
        self.wait.page = Some(page);
    }

    /// Adds what is true now, as a clause of its own.
    pub fn say(&mut self, fact: impl Into<String>) {
        self.wait.said.now.push(fact.into());
    }

    /// Adds a reason against a removal by hand, once.
    pub fn forbid(&mut self, veto: Veto) {
        if !self.wait.vetoes.contains(&veto) {
            self.wait.vetoes.push(veto);
        }
    }

    /// Whether it is about one of these finalizers.
    pub fn is_about(&self, finalizers: &[Finalizer]) -> bool {
        let finalizer = self.wait.finalizer.as_ref();
        finalizer.is_some_and(|finalizer| finalizers.contains(finalizer))
    }
}

/// The state of one finalizer of an object in deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The protection works: the object is still in use, and perhaps the deletion itself is the mistake.
    InUse,
    /// The controller is known and not known to be gone. Its condition is not met, and the blockers are named.
    Waiting,
    /// The controller acts and fails.
    Failing,
    /// The API server would refuse the removal itself.
    Rejected,
    /// Nothing known blocks the removal any more, and the controller has not acted.
    Stalled,
    /// At least two independent pieces of evidence prove that the controller is gone.
    Orphaned,
    /// There is not enough evidence.
    Unknown,
}

impl Verdict {
    /// The word in the output.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::InUse => "in-use",
            Verdict::Waiting => "waiting",
            Verdict::Failing => "failing",
            Verdict::Rejected => "rejected",
            Verdict::Stalled => "stalled",
            Verdict::Orphaned => "orphaned",
            Verdict::Unknown => "unknown",
        }
    }

    /// The place of the verdict among those on one object: the most telling one has the lowest.
    pub fn rank(self) -> u8 {
        match self {
            Verdict::Failing => 0,
            Verdict::Rejected => 1,
            Verdict::Orphaned => 2,
            Verdict::InUse => 3,
            Verdict::Stalled => 4,
            Verdict::Unknown => 5,
            Verdict::Waiting => 6,
        }
    }
}

/// How a cause stands, worst first. The word is for people; the order decides which cause they read first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CauseState {
    /// The controller is proved to be gone.
    Gone,
    /// A backend does not serve, or a controller does not renew its Lease.
    Down,
    /// A node does not report.
    NotReady,
    /// It acts and fails.
    Failing,
    /// The API server would refuse the removal.
    Refused,
    /// Somebody scaled it to zero or paused it.
    SwitchedOff,
    /// Nothing blocks it, and it has not acted.
    Stalled,
    /// There is not enough evidence.
    Unknown,
    /// It works, and is not done.
    Waiting,
    /// The protection works.
    InUse,
}

impl CauseState {
    /// The word in the output.
    pub fn word(self) -> &'static str {
        match self {
            CauseState::Gone => "GONE",
            CauseState::Down => "DOWN",
            CauseState::NotReady => "NOT READY",
            CauseState::Failing => "FAILING",
            CauseState::Refused => "REFUSED",
            CauseState::SwitchedOff => "SWITCHED OFF",
            CauseState::Stalled => "STALLED",
            CauseState::Unknown => "UNKNOWN",
            CauseState::Waiting => "WAITING",
            CauseState::InUse => "IN USE",
        }
    }
}

impl From<Verdict> for CauseState {
    /// The state of what a wait names, as far as the verdict on the wait tells it.
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::InUse => CauseState::InUse,
            Verdict::Waiting => CauseState::Waiting,
            Verdict::Failing => CauseState::Failing,
            Verdict::Rejected => CauseState::Refused,
            Verdict::Stalled => CauseState::Stalled,
            Verdict::Orphaned => CauseState::Gone,
            Verdict::Unknown => CauseState::Unknown,
        }
    }
}

/// One finalizer and its blockers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The page about the cause; none if no single cause applies.
    pub page: Option<Page>,
    /// The finalizer; none if something else holds the object.
    pub finalizer: Option<Finalizer>,
    /// The state of the finalizer.
    pub verdict: Verdict,
    /// The controller that must act, its condition, and what is true now.
    pub said: Said,
    /// The description in the catalogue; none if the catalogue lacks the finalizer.
    pub known: Option<Known>,
    /// The blockers that keep the controller from acting.
    pub on: Vec<Blocker>,
    /// What may be the controller, or shows that it runs: `Deployment ops/widgets`. Two plans are compared by it.
    pub may_be: BTreeSet<String>,
    /// If it is failing: why the controller will not succeed, whatever is repaired.
    pub unable: Option<Unable>,
    /// Why the finalizer must not be removed by hand, whatever the verdict.
    pub vetoes: Vec<Veto>,
    /// The step that tries an update, if somebody is asked first who may refuse it.
    pub trial: Option<Step>,
}

/// The description of a finalizer in the catalogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// The protected thing, as a noun phrase.
    pub protects: String,
    /// The cost of a removal by hand.
    pub consequence: Consequence,
    /// The things that are left behind or lost.
    pub cost: String,
    /// Whether only words tell what its controller waits for. Then any object may keep it.
    pub is_only_told: bool,
    /// Whether its controller reports that what it protects is not there. Then a removal may cost nothing.
    pub is_doubted: bool,
}

impl Wait {
    /// All clauses as one text.
    pub fn says(&self) -> String {
        self.said.to_string()
    }
}

/// An object or a backend whose state keeps the controller from acting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocker {
    /// The object, if the blocker is one.
    pub object: Option<ObjectRef>,
    /// The state in words.
    pub says: Words,
    /// The report that it quotes, by its source; none if it quotes none.
    pub report: Option<String>,
    /// The state as a word, where the cause knows it. The verdict on the wait that names the blocker tells the others.
    pub state: Option<CauseState>,
    /// Its own blockers. A blocker without any is a root cause.
    pub on: Vec<Blocker>,
    /// The waits of its own finalizers, if it is itself being deleted.
    pub waits: Vec<Wait>,
    /// Whether it is no cause of its own: it sums up objects that wait for the blockers next to it, or goes after them.
    pub rest: bool,
}

impl Blocker {
    /// A blocker that waits for nothing as far as known.
    pub fn new(object: Option<ObjectRef>, says: impl Into<Words>) -> Self {
        Blocker {
            object,
            says: says.into(),
            report: None,
            state: None,
            on: Vec::new(),
            waits: Vec::new(),
            rest: false,
        }
    }

    /// The blocker in a state that its cause knows.
    #[must_use]
    pub fn in_state(mut self, state: CauseState) -> Self {
        self.state = Some(state);
        self
    }

    /// A report that somebody made about the object, quoted. `source` says where it stands.
    pub fn quoting(source: &str, text: &str) -> Self {
        Blocker {
            report: Some(source.to_owned()),
            ..Blocker::new(None, text)
        }
    }

    /// Whether the blocker quotes the report from this source.
    pub fn quotes(&self, source: &str) -> bool {
        self.report.as_deref() == Some(source)
    }

    /// A summary of other objects that wait for the blockers next to it.
    pub fn rest(says: impl Into<Words>) -> Self {
        Blocker {
            rest: true,
            ..Blocker::new(None, says)
        }
    }

    /// The object and its state, as one part of a sentence.
    pub fn in_words(&self) -> String {
        match &self.object {
            Some(object) => format!("{}: {}", object.pasteable(), self.says),
            None => self.says.to_string(),
        }
    }

    /// Whether the blocker waits for nothing else.
    pub fn is_root(&self) -> bool {
        !self.rest && self.on.is_empty() && self.waits.iter().all(|wait| wait.on.is_empty())
    }
}

/// The effect of a deletion on something else. For an object that is not being deleted yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// The fate of the affected things.
    pub fate: Fate,
    /// The affected things, their number, and the reason.
    pub says: String,
    /// The affected objects, if they can be named.
    pub objects: Vec<ObjectRef>,
}

/// The fate of one thing if another is deleted, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// It is lost for ever.
    Destroyed,
    /// It stays outside the cluster, and no object refers to it any more.
    Leaked,
    /// It stays, and no controller removes its finalizer.
    Stuck,
    /// It no longer works.
    Broken,
    /// It is released: it is deleted, or free for other use.
    Released,
    /// It stays unchanged.
    Kept,
    /// Not enough could be read.
    Unknown,
    /// Nothing holds the object and nothing else is lost. Everything relevant was read.
    Harmless,
}

impl Fate {
    /// The word in the output.
    pub fn word(self) -> &'static str {
        match self {
            Fate::Destroyed => "destroyed",
            Fate::Leaked => "leaked",
            Fate::Stuck => "stuck",
            Fate::Broken => "broken",
            Fate::Released => "released",
            Fate::Kept => "kept",
            Fate::Unknown => "unknown",
            Fate::Harmless => "harmless",
        }
    }
}

/// The risk of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Safety {
    /// It only reads.
    ReadOnly,
    /// Nothing can be lost, neither by the step nor by what follows from it.
    Safe,
    /// The step can be undone.
    Reversible,
    /// Something is destroyed or lost; the text names it first.
    Destructive,
}

impl Safety {
    /// The word in the output.
    pub fn word(self) -> &'static str {
        match self {
            Safety::ReadOnly => "read-only",
            Safety::Safe => "safe",
            Safety::Reversible => "reversible",
            Safety::Destructive => "destructive",
        }
    }
}

impl From<Label> for Safety {
    fn from(label: Label) -> Self {
        match label {
            Label::ReadOnly => Self::ReadOnly,
            Label::Safe => Self::Safe,
            Label::Reversible => Self::Reversible,
            Label::Destructive => Self::Destructive,
        }
    }
}

/// A disk or snapshot outside the cluster that a step releases, and its fate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Release {
    /// Its type, and its name at the provider.
    pub what: String,
    /// The policy that decides its fate; none if it is not known.
    pub policy: Option<String>,
    /// Its fate.
    pub fate: Fate,
    /// Why.
    pub why: String,
}

/// How much an observation proves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strength {
    /// The object alone decides it, as the source code shows.
    Proof,
    /// A state of an object that has one normal cause.
    Strong,
    /// Likely.
    Moderate,
    /// A hint.
    Hint,
}

impl Strength {
    /// The word in the output.
    pub fn word(self) -> &'static str {
        match self {
            Strength::Proof => "proof",
            Strength::Strong => "strong",
            Strength::Moderate => "moderate",
            Strength::Hint => "hint",
        }
    }
}

/// One observation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The object and field that were read.
    pub source: String,
    /// The value that was read.
    pub value: String,
    /// How much the value proves.
    pub strength: Strength,
}
