//! Why there is no plan for an object: the reason, what would have to be true, and what to do instead. No refusal names
//! the way around it.

use crate::{
    command::Command,
    object::{ObjectRef, short_type},
};

/// The reason why there is no plan for an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The object.
    pub target: Box<ObjectRef>,
    /// The reason.
    pub why: String,
    /// What must be true for a plan.
    pub needs: String,
    /// What to do instead.
    pub instead: Box<Instead>,
}

/// What to do instead of a change that is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instead {
    /// What to do.
    pub text: String,
    /// The command for it, which changes nothing.
    pub command: Option<Command>,
}

impl Refusal {
    /// A refusal for this object.
    pub fn new(
        target: &ObjectRef,
        why: impl Into<String>,
        needs: impl Into<String>,
        instead: Instead,
    ) -> Self {
        Refusal {
            target: target.clone().into(),
            why: why.into(),
            needs: needs.into(),
            instead: instead.into(),
        }
    }
}

impl Instead {
    /// Something to do without a command.
    pub fn only(text: impl Into<String>) -> Self {
        Instead {
            text: text.into(),
            command: None,
        }
    }

    /// Something to do with this command.
    pub fn run(text: impl Into<String>, command: Command) -> Self {
        Instead {
            text: text.into(),
            command: Some(command),
        }
    }

    /// Something that the explanation of this object shows.
    pub fn explain(target: &ObjectRef, text: impl Into<String>) -> Self {
        let command = Command::explain(short_type(&target.type_name), &target.name, target.place());
        Instead::run(text, command)
    }
}
