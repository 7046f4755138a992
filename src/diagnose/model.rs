//! What a diagnosis consists of: the words of the product, as types.

use jiff::Timestamp;
use serde::Serialize;

use crate::{
    object::{Deletion, Finalizer, ObjectRef},
    snapshot::Gap,
};

/// Why one object does not go, and what can be done.
#[derive(Clone, Debug)]
pub struct Diagnosis {
    /// The object asked about.
    pub target: ObjectRef,
    /// Its deletion; none if it is not being deleted.
    pub deletion: Option<Deletion>,
    /// The time that ages are measured at.
    pub observed_at: Timestamp,
    /// Its state in one sentence.
    pub headline: String,
    /// What it waits for, one for each finalizer.
    pub waits: Vec<Wait>,
    /// What happens next.
    pub outlook: Vec<Outlook>,
    /// What becomes of other things if it is deleted now; empty if it is being deleted already.
    pub effects: Vec<Effect>,
    /// What to do, in order.
    pub steps: Vec<Step>,
    /// What not to do, and why.
    pub do_not: Vec<String>,
    /// What this rests on.
    pub evidence: Vec<Evidence>,
    /// What could not be seen, and so weakens what is said.
    pub gaps: Vec<Gap>,
}

/// What one rule says about one finalizer, or about the absence of all.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The wait.
    pub wait: Wait,
    /// What happens next.
    pub outlook: Vec<Outlook>,
    /// What to do.
    pub steps: Vec<Step>,
    /// What not to do.
    pub do_not: Vec<String>,
    /// What this rests on.
    pub evidence: Vec<Evidence>,
}

impl Finding {
    /// A finding of which only the wait is known yet.
    pub fn new(finalizer: Option<Finalizer>, verdict: Verdict, says: impl Into<String>) -> Self {
        Finding {
            wait: Wait {
                finalizer,
                verdict,
                says: says.into(),
                on: Vec::new(),
            },
            outlook: Vec::new(),
            steps: Vec::new(),
            do_not: Vec::new(),
            evidence: Vec::new(),
        }
    }

    /// Adds to what is said of the wait.
    pub fn say(&mut self, more: impl AsRef<str>) {
        self.wait.says.push_str(more.as_ref());
    }

    /// Whether it is about one of these finalizers.
    pub fn is_about(&self, finalizers: &[Finalizer]) -> bool {
        let finalizer = self.wait.finalizer.as_ref();
        finalizer.is_some_and(|finalizer| finalizers.contains(finalizer))
    }
}

/// How it stands with one finalizer of an object that is being deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Protection works: the thing is still used, and perhaps the deletion itself is the mistake.
    InUse,
    /// The holder is known and not known dead, its condition is not met, the blockers are named.
    Waiting,
    /// The holder acts and fails.
    Failing,
    /// The removal itself would be refused.
    Rejected,
    /// Nothing blocks it any more, and the holder has not acted.
    Stalled,
    /// The holder is proved gone by at least two independent pieces of evidence.
    Orphaned,
    /// Not enough evidence.
    Unknown,
}

impl Verdict {
    /// The word.
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
}

/// One finalizer and what it waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The finalizer; none if the object is held by something else.
    pub finalizer: Option<Finalizer>,
    /// How it stands.
    pub verdict: Verdict,
    /// Who must act, and after what.
    pub says: String,
    /// What keeps the holder from it.
    pub on: Vec<Blocker>,
}

/// An object or a backend whose state keeps the holder from acting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocker {
    /// The object, if it is one.
    pub object: Option<ObjectRef>,
    /// Its state, in words.
    pub says: String,
    /// What it waits for in turn. A blocker that waits for nothing is a root cause.
    pub on: Vec<Blocker>,
    /// Its own finalizers, if it is itself being deleted.
    pub waits: Vec<Wait>,
    /// Whether it sums up others that wait for the blockers named next to it, and so is no cause of its own.
    pub rest: bool,
}

impl Blocker {
    /// A blocker that waits for nothing that is known.
    pub fn new(object: Option<ObjectRef>, says: impl Into<String>) -> Self {
        Blocker {
            object,
            says: says.into(),
            on: Vec::new(),
            waits: Vec::new(),
            rest: false,
        }
    }

    /// Others that wait for the blockers named next to it, summed up.
    pub fn rest(says: impl Into<String>) -> Self {
        Blocker {
            rest: true,
            ..Blocker::new(None, says)
        }
    }

    /// Who it is and its state, as one part of a sentence.
    pub fn in_words(&self) -> String {
        match &self.object {
            Some(object) => format!("{}: {}", object.in_words(), self.says),
            None => self.says.clone(),
        }
    }

    /// Whether it waits for nothing else.
    pub fn is_root(&self) -> bool {
        !self.rest && self.on.is_empty() && self.waits.iter().all(|wait| wait.on.is_empty())
    }
}

/// What happens, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outlook {
    /// `if nothing is done`, `when the claim goes` …
    pub when: String,
    /// What then happens.
    pub then: String,
}

/// What becomes of something else if an object is deleted that nobody is deleting yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// What becomes of it.
    pub fate: Fate,
    /// What, how much of it, and why.
    pub says: String,
    /// All objects that this is about, where they can be named.
    pub objects: Vec<ObjectRef>,
}

/// What becomes of something if something else is deleted. The worst stands first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// It is gone for good.
    Destroyed,
    /// It stays outside the cluster, and nothing points to it any more.
    Leaked,
    /// It stays behind, and nobody removes its finalizer.
    Stuck,
    /// It does not work any more.
    Broken,
    /// It is let go, and goes or serves another.
    Released,
    /// It stays as it is.
    Kept,
    /// Not enough could be seen.
    Unknown,
    /// Nothing holds the object, and nothing else is lost: all that could be was looked at.
    Harmless,
}

impl Fate {
    /// The word.
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

/// How much a step can cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Safety {
    /// Nothing can be lost.
    Safe,
    /// It can be undone.
    Reversible,
    /// Something is destroyed or lost; the text says what, first.
    Destructive,
}

/// One proposed action. The tool prints it; a person does it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// When it is the right one: `deleted by mistake?`, `deletion intended?`.
    pub when: &'static str,
    /// What and why.
    pub text: String,
    /// The command.
    pub command: Option<String>,
    /// What it can cost.
    pub safety: Safety,
}

/// How much an observation proves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strength {
    /// The object alone decides it, by the source.
    Proof,
    /// Object state that has one normal cause.
    Strong,
    /// Likely.
    Moderate,
    /// A hint.
    Hint,
}

impl Strength {
    /// The word.
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
    /// Object and field it was read from.
    pub source: String,
    /// What it said.
    pub value: String,
    /// How much that proves.
    pub strength: Strength,
}
