//! Steps that several causes advise, when they apply, and how to quote words for a shell.

use crate::{
    diagnose::model::{Safety, Step},
    object::Finalizer,
    snapshot::facts::Object,
};

/// Applies if the deletion was a mistake.
pub(crate) const MISTAKE: &str = "deleted by mistake?";
/// Applies if the deletion was intended.
pub(crate) const INTENDED: &str = "deletion intended?";
/// Applies if the controller was triggered and did nothing.
pub(crate) const STILL_THERE: &str = "still there?";

/// The annotation that triggers a level-triggered controller. Nothing reads its value; only the change counts.
pub const NUDGED: &str = "kubectl-finalizers/nudged";

/// The step that sets a harmless annotation, so that a level-triggered controller checks the object again.
pub(crate) fn nudge(object: &Object) -> Step {
    Step {
        when: "what to do",
        text: "touch it, so that its controller looks again; the annotation does no harm".into(),
        command: Some(format!(
            "kubectl{} annotate {}/{} {NUDGED}=\"$(date +%s)\" --overwrite",
            namespace_flag(object),
            object.resource.name(),
            object.name()
        )),
        safety: Safety::Safe,
    }
}

/// The step that explains another object first. `text` says why.
pub(crate) fn explain_step(object: &Object, text: String) -> Step {
    Step {
        when: "what to do",
        text,
        command: Some(format!(
            "kubectl finalizers explain {} {}{}",
            object.resource.name(),
            object.name(),
            namespace_flag(object)
        )),
        safety: Safety::Safe,
    }
}

/// The step that sets policy Retain on these volumes, or on the volumes of these claims. All of them have one type and
/// one namespace. Nothing can be lost by it: it only keeps the disk.
pub(crate) fn keep_disks(when: &'static str, text: String, objects: &[&Object]) -> Step {
    let names: Vec<_> = objects
        .iter()
        .map(|object| {
            let ty = if object.is("", "persistentvolumeclaims") {
                "pvc"
            } else {
                "pv"
            };
            format!("{ty}/{}", object.name())
        })
        .collect();
    let place = objects
        .first()
        .map(|object| namespace_flag(object))
        .unwrap_or_default();
    Step {
        when,
        text,
        command: Some(format!(
            "kubectl finalizers rescue {}{place} --only-retain",
            names.join(" ")
        )),
        safety: Safety::Safe,
    }
}

/// Whether a step only triggers a controller.
pub(crate) fn is_nudge(step: &Step) -> bool {
    step.command
        .as_deref()
        .is_some_and(|command| command.contains(NUDGED))
}

/// The command that removes one finalizer. It diagnoses the object again and makes a dry run, and whoever reads the
/// plan must accept the cost.
pub(crate) fn removal_command(object: &Object, finalizer: &Finalizer) -> String {
    format!(
        "kubectl finalizers remove{} {}/{} --finalizer {}",
        namespace_flag(object),
        object.resource.name(),
        object.name(),
        word(&finalizer.name)
    )
}

/// Whether a step removes a finalizer by hand.
pub(crate) fn is_removal(step: &Step) -> bool {
    step.command
        .as_deref()
        .is_some_and(|command| command.starts_with("kubectl finalizers remove "))
}

/// `-n NAMESPACE` with a leading space, empty for a cluster-scoped object.
pub(crate) fn namespace_flag(object: &Object) -> String {
    match object.namespace() {
        "" => String::new(),
        namespace => format!(" -n {namespace}"),
    }
}

/// The text as one word of a shell, without quotes if it needs none.
pub fn word(text: &str) -> String {
    let plain = !text.is_empty()
        && !text.starts_with('-')
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_./:".contains(c));
    if plain { text.to_owned() } else { quoted(text) }
}

/// The text as one quoted word of a shell.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// The step that removes one finalizer, only if it is still where it was seen. `cost` starts with what the removal
/// costs.
pub(crate) fn remove_finalizer(
    object: &Object,
    finalizer: &Finalizer,
    when: &'static str,
    cost: &str,
) -> Step {
    Step {
        when,
        text: cost.to_owned(),
        command: Some(removal_command(object, finalizer)),
        safety: Safety::Destructive,
    }
}
