//! Steps that several causes advise, and when they apply.

use crate::{
    command::Command,
    diagnose::{
        causes::release,
        model::{Safety, Step, When},
    },
    object::Finalizer,
    snapshot::facts::Object,
};

/// The annotation that triggers a level-triggered controller. Nothing reads its value; only the change counts.
pub const NUDGED: &str = "kubectl-finalizers/nudged";

/// The step that sets a harmless annotation, so that a level-triggered controller checks the object again.
pub(crate) fn nudge(object: &Object) -> Step {
    let text = "wake its controller with an annotation";
    nudge_saying(object, text.into())
}

/// The same step with another text.
pub(crate) fn nudge_saying(object: &Object, text: String) -> Step {
    let step = Step {
        when: When::Now,
        text,
        command: Some(Command::nudge(
            &object.resource.name(),
            object.name(),
            object.namespace(),
        )),
        safety: Safety::Safe,
        lets_go: Vec::new(),
    };
    release::letting_go(step, release::by_end_of(object))
}

/// The step that explains another object first. `text` says why.
pub(crate) fn explain_step(object: &Object, text: String) -> Step {
    Step {
        when: When::Now,
        text,
        command: Some(Command::explain(
            &object.resource.name(),
            object.name(),
            object.namespace(),
        )),
        safety: Safety::ReadOnly,
        lets_go: Vec::new(),
    }
}

/// The step that writes an object into a file, before another step changes or deletes it.
pub(crate) fn save_step(when: When, type_name: &str, name: &str, namespace: &str) -> Step {
    Step {
        when,
        text: format!("save {name} first; the next step cannot be undone without it"),
        command: Some(Command::save(type_name, name, namespace)),
        safety: Safety::ReadOnly,
        lets_go: Vec::new(),
    }
}

/// The step that sets policy Retain on these volumes, or on the volumes of these claims. All of them have one type and
/// one namespace. Nothing can be lost by it: it only keeps the disk.
pub(crate) fn keep_disks(when: When, text: String, objects: &[&Object]) -> Step {
    let names = objects.iter().map(|object| {
        let ty = if object.is("", "persistentvolumeclaims") {
            "pvc"
        } else {
            "pv"
        };
        format!("{ty}/{}", object.name())
    });
    let namespace = objects.first().map(|object| object.namespace());
    Step {
        when,
        text,
        command: Some(Command::keep_disks(names, namespace.unwrap_or_default())),
        safety: Safety::Safe,
        lets_go: Vec::new(),
    }
}

/// The command that removes one finalizer. It diagnoses the object again and makes a dry run, and whoever reads the
/// plan must accept the cost.
pub(crate) fn removal_command(object: &Object, finalizer: &Finalizer) -> Command {
    Command::remove(
        &object.resource.name(),
        object.name(),
        object.namespace(),
        &finalizer.name,
    )
}

/// The step that removes one finalizer, only if it is still where it was seen. `cost` starts with what the removal
/// costs.
pub(crate) fn remove_finalizer(object: &Object, finalizer: &Finalizer, when: When, cost: &str) -> Step {
    Step {
        when,
        text: cost.to_owned(),
        command: Some(removal_command(object, finalizer)),
        safety: Safety::Destructive,
        lets_go: Vec::new(),
    }
}
