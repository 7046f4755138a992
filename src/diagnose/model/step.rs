//! One proposed action: when it is right, what it does, and what it can cost.

use serde::Serialize;

use super::{Release, Safety};
use crate::command::{Command, Effect};

/// One proposed action. The program prints it, and a user carries it out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The situation for which it is right.
    pub when: When,
    /// What to do and why.
    pub text: String,
    /// The command.
    pub command: Option<Command>,
    /// What the step can cost.
    pub safety: Safety,
    /// What it lets go outside of the cluster.
    pub lets_go: Vec<Release>,
}

impl Step {
    /// Whether it keeps a copy of an object, for the step after it.
    pub fn saves(&self) -> bool {
        self.command
            .as_ref()
            .is_some_and(|command| command.output().is_some())
    }

    /// Whether it only looks, and keeps no copy.
    pub fn looks(&self) -> bool {
        self.safety == Safety::ReadOnly && !self.saves()
    }

    /// What the step does. The command alone tells it, so that the two never differ.
    pub fn kind(&self) -> StepKind {
        match &self.command {
            None => StepKind::ByHand,
            Some(command) if command.is_nudge() => StepKind::Nudge,
            Some(command) if command.is_remove() => StepKind::RemoveFinalizer,
            Some(command) if command.is_keep_disks() => StepKind::KeepDisks,
            Some(command) if command.effect() == Effect::Reads => StepKind::Look,
            Some(_) => StepKind::Change,
        }
    }
}

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepKind {
    /// Only a person can do it: no command is known.
    ByHand,
    /// It only reads.
    Look,
    /// It wakes the controllers of an object.
    Nudge,
    /// It keeps the disks of volumes or claims.
    KeepDisks,
    /// It plans the removal of a finalizer by hand.
    RemoveFinalizer,
    /// It changes something else.
    Change,
}

/// The situation for which a step is right: the branch that a reader takes or leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    /// It is right in any case.
    Now,
    /// The deletion was a mistake.
    Mistake,
    /// The deletion was intended.
    Intended,
    /// The data of an object that is not deleted yet is still needed.
    KeepData,
    /// The snapshot is still needed.
    KeepSnapshot,
    /// The controller was woken and did nothing.
    StillThere,
    /// The number of objects that are left does not fall.
    NoProgress,
    /// The controller runs, which is not known.
    HolderRuns,
    /// The controller is gone, which is not known.
    HolderGone,
    /// The controller will never come back.
    HolderNeverBack,
    /// Nobody handles the entry.
    NobodyHandles,
    /// Nobody will ever serve the product again.
    ProductGone,
    /// The whole product is to go.
    ProductUnwanted,
    /// The driver of the disk is gone.
    DriverGone,
    /// Whoever wrote the entry is gone.
    WriterGone,
    /// The node can come back.
    NodeBack,
    /// The machine of the node is off, and stays so for now.
    MachineOff,
    /// The machine of the node is gone.
    MachineGone,
    /// There is time to wait.
    CanWait,
    /// The work that is not done can be given up.
    GiveUp,
    /// What cannot be read is lost for good.
    LostForGood,
    /// What is missing cannot come back.
    NeverBack,
    /// No release of the product removes the finalizer.
    NoReleaseRemoves,
    /// The object is still needed.
    StillNeeded,
    /// The object is to be made again.
    MakeAgain,
    /// The object is gone.
    Gone,
}
