//! Steps that several causes advise, when they fit, and how they are written for a shell.

use crate::{
    diagnose::model::{Safety, Step},
    object::Finalizer,
    snapshot::facts::Object,
};

/// When the deletion itself was the mistake.
pub(crate) const MISTAKE: &str = "deleted by mistake?";
/// When the object really is to go.
pub(crate) const INTENDED: &str = "deletion intended?";
/// When its controller was made to look again, and did nothing.
pub(crate) const STILL_THERE: &str = "still there?";

/// The annotation that makes a level-triggered controller look again. Nothing reads it; that it changes is all.
pub const NUDGED: &str = "kubectl-finalizers/nudged";

/// A change that does nothing, so that a level-triggered controller looks again.
pub(crate) fn nudge(object: &Object) -> Step {
    Step {
        when: "what to do",
        text: "touch it, so that its controller looks again; the annotation does no harm".into(),
        command: Some(format!(
            "kubectl{} annotate {}/{} {NUDGED}=\"$(date +%s)\" --overwrite",
            place_of(object),
            object.resource.name(),
            object.name()
        )),
        safety: Safety::Safe,
    }
}

/// To see first what holds another object, as `text` says.
pub(crate) fn see(object: &Object, text: String) -> Step {
    Step {
        when: "what to do",
        text,
        command: Some(format!(
            "kubectl finalizers explain {} {}{}",
            object.resource.name(),
            object.name(),
            place_of(object)
        )),
        safety: Safety::Safe,
    }
}

/// Whether a step only makes a controller look again.
pub(crate) fn is_nudge(step: &Step) -> bool {
    step.command
        .as_deref()
        .is_some_and(|command| command.contains(NUDGED))
}

/// Takes one entry out of `metadata.finalizers`, with everything that guards it: it is diagnosed and tried out again, and
/// what it costs has to be accepted by whoever reads the plan.
pub(crate) fn take_out(object: &Object, finalizer: &Finalizer) -> String {
    format!(
        "kubectl finalizers remove{} {}/{} --finalizer {}",
        place_of(object),
        object.resource.name(),
        object.name(),
        word(&finalizer.name)
    )
}

/// Whether a step takes a finalizer out by hand.
pub(crate) fn is_take_out(step: &Step) -> bool {
    step.command
        .as_deref()
        .is_some_and(|command| command.starts_with("kubectl finalizers remove "))
}

/// `-n NAMESPACE`, with a space before it, where there is one.
pub(crate) fn place_of(object: &Object) -> String {
    match object.namespace() {
        "" => String::new(),
        namespace => format!(" -n {namespace}"),
    }
}

/// One word of a shell; a word that is one already stays as it is.
pub fn word(text: &str) -> String {
    let plain = !text.is_empty()
        && !text.starts_with('-')
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_./:".contains(c));
    if plain { text.to_owned() } else { quoted(text) }
}

/// As one word of a shell.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Takes one finalizer off, and only if it still stands where it was seen. `costs` says first what it costs.
pub(crate) fn let_go(object: &Object, finalizer: &Finalizer, when: &'static str, costs: &str) -> Step {
    Step {
        when,
        text: costs.to_owned(),
        command: Some(take_out(object, finalizer)),
        safety: Safety::Destructive,
    }
}
