//! `longhorn.io`: an uninstall of Longhorn that nobody has confirmed.
//!
//! # Symptom
//!
//! `helm uninstall longhorn` hangs in `uninstalling`. The log of the Job `longhorn-uninstall` says `cannot uninstall
//! Longhorn because deleting-confirmation-flag is set to false`.
//!
//! ```text
//! $ kubectl finalizers explain volumes.longhorn.io/pvc-18e2 -n longhorn-system --from tests/causes/products.yaml
//! ```
//!
//! # Why
//!
//! The uninstall Job of Longhorn removes all its finalizers, and fails while the Setting `deleting-confirmation-flag`
//! is not true. The flag exists because users lost their storage by mistake.
//!
//! # Before you act
//!
//! Ask whether anybody needs the data in the volumes. Make backups to another place.
//!
//! # If it was a mistake
//!
//! Leave the flag at `false`. The uninstall then deletes nothing.
//!
//! # If it was intended
//!
//! Save the data, free all claims, and set the flag to `true`. Then run the uninstall of the same version again. It
//! DESTROYS all volumes.
//!
//! # Do not
//!
//! Do not remove the finalizer by hand while the flag is false or could not be read.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | (of the controller) | the flag is named as what blocks; removal by hand is forbidden |
//!
//! # What it reads
//!
//! That Setting, and the Jobs in the namespace of the object.
//!
//! # Sources
//!
//! - `longhorn/longhorn-manager:controller/uninstall_controller.go`
//! - `longhorn/longhorn:chart/templates/uninstall-job.yaml`

use crate::{
    command::Command,
    diagnose::{
        causes::cause::{Cause, Described, On, Reads, Tells, Turn},
        model::{Blocker, Evidence, Finding, Page, Safety, Step, StepKind, Strength, When},
        removal::Veto,
        view::View,
    },
    snapshot::facts::Object,
};

const GROUP: &str = "longhorn.io";
const FLAG: &str = "deleting-confirmation-flag";
const JOB: &str = "longhorn-uninstall";

pub(crate) const CAUSE: Cause = Cause {
    types: &[],
    finalizer: On::Named(GROUP),
    reads: Reads::Whole,
    page: Page::of(module_path!()),
    tells: Tells::Described(Turn::Steps, add_missing_confirmation),
};

/// Adds the flag that blocks the uninstall.
fn add_missing_confirmation(described: &Described<'_>, finding: &mut Finding, view: &View<'_>) {
    let Described {
        object, finalizer, ..
    } = *described;
    let of_longhorn = finalizer.name == GROUP && object.resource.group == GROUP;
    let has_settings = || view.resource_type(GROUP, "settings").is_some();
    if !of_longhorn || object.deletion().is_none() || !has_settings() {
        return;
    }
    let setting = match view.object(GROUP, "settings", object.namespace(), FLAG) {
        Ok(Some(setting)) if setting.text("/value") != "true" => setting,
        Ok(_) => return,
        Err(missing) => {
            finding.say(format!(
                "whether its uninstall was confirmed is not known: {}",
                missing.in_words()
            ));
            finding.steps.retain(is_harmless);
            finding.forbid(Veto::UninstallNotConfirmed);
            return;
        }
    };
    finding.tell_of(Page::of(module_path!()));
    finding.wait.on.push(Blocker::new(
        Some(setting.reference()),
        format!(
            "is {}: nobody has confirmed that the data may go, and the uninstall refuses (cannot uninstall Longhorn because \
             {FLAG} is set to false). This is no fault",
            match setting.text("/value") {
                "" => "empty",
                value => value,
            }
        ),
    ));
    finding.evidence.push(Evidence {
        source: format!("Setting {FLAG} value"),
        value: setting.text("/value").to_owned(),
        strength: Strength::Proof,
    });
    finding.steps.retain(is_harmless);
    finding.forbid(Veto::UninstallNotConfirmed);
    add_failed_job(object, finding, view);
    finding.steps.push(Step {
        when: When::ProductUnwanted,
        text: format!(
            "DATA LOSS: with this flag the uninstall deletes all volumes of Longhorn. Save what is needed and free all claims \
             first; then set it, and run the uninstall of the same version again (helm uninstall, or its Job {JOB}): it takes \
             the finalizers off by itself"
        ),
        command: Some(Command::merge_patch(
            "settings.longhorn.io",
            FLAG,
            object.namespace(),
            r#"{"value":"true"}"#,
        )),
        safety: Safety::Destructive,
        lets_go: Vec::new(),
    });
}

/// Whether a step neither removes the finalizer nor makes the uninstall remove it.
fn is_harmless(step: &Step) -> bool {
    let sets = step
        .command
        .as_ref()
        .is_some_and(|command| command.argv().iter().any(|word| word.contains(FLAG)));
    step.kind() != StepKind::RemoveFinalizer && !sets
}

/// Adds the failed uninstall Job, which is why Helm still reports `uninstalling`.
fn add_failed_job(object: &Object, finding: &mut Finding, view: &View<'_>) {
    let job = match view.object("batch", "jobs", object.namespace(), JOB) {
        Ok(Some(job)) => job,
        Ok(None) => return,
        Err(missing) => {
            finding.say(format!(
                "whether its uninstall was tried is not known: {}",
                missing.in_words()
            ));
            return;
        }
    };
    if let Some(("True", reason, _)) = job.condition("Failed") {
        finding.tell_of(Page::of(module_path!()));
        finding.wait.on.push(Blocker::new(
            Some(job.reference()),
            format!("has given up ({reason}): the uninstall was tried, and refused"),
        ));
    }
}
