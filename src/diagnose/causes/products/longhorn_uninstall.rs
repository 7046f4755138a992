//! `longhorn.io`: storage that nobody has confirmed to go.
//!
//! **Recognises** the finalizer on an object of Longhorn that is being deleted. **Why:** Longhorn's uninstall Job takes all its
//! finalizers off, and fails while the Setting `deleting-confirmation-flag` is not true; Helm then hangs in `uninstalling`.
//! The flag is there because people lost their storage by mistake
//! (`longhorn/longhorn-manager:controller/uninstall_controller.go`, `longhorn/longhorn:chart/templates/uninstall-job.yaml`).
//! **Wants** that Setting and the Jobs beside the object. **Concludes** nothing about who holds it. **Advises** never to take
//! the finalizer off by hand while the flag is false, or could not be seen; to set it, with what that costs.

use crate::{
    diagnose::{
        causes::advice::{is_take_out, place_of},
        model::{Blocker, Evidence, Finding, Safety, Step, Strength},
        view::View,
    },
    object::Finalizer,
    snapshot::facts::Object,
};

const GROUP: &str = "longhorn.io";
const FLAG: &str = "deleting-confirmation-flag";
const JOB: &str = "longhorn-uninstall";

pub(crate) fn add_missing_confirmation(
    object: &Object,
    finalizer: &Finalizer,
    finding: &mut Finding,
    view: &View<'_>,
) {
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
                "; whether its uninstall was confirmed is not known: {}",
                missing.in_words()
            ));
            finding.steps.retain(is_harmless);
            return;
        }
    };
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
    gave_up(object, finding, view);
    finding.steps.push(Step {
        when: "is Longhorn to go, with all its data?",
        text: format!(
            "DATA LOSS: with this flag the uninstall deletes all volumes of Longhorn. Save what is needed and free all claims \
             first; then set it, and run the uninstall of the same version again (helm uninstall, or its Job {JOB}): it takes \
             the finalizers off by itself"
        ),
        command: Some(format!(
            "kubectl{} patch settings.longhorn.io {FLAG} --type=merge -p '{{\"value\":\"true\"}}'",
            place_of(object)
        )),
        safety: Safety::Destructive,
    });
}

/// Whether a step neither takes the finalizer off nor lets the uninstall do it.
fn is_harmless(step: &Step) -> bool {
    let sets = step
        .command
        .as_deref()
        .is_some_and(|command| command.contains(FLAG));
    !is_take_out(step) && !sets
}

/// Why Helm still says `uninstalling`.
fn gave_up(object: &Object, finding: &mut Finding, view: &View<'_>) {
    let job = match view.object("batch", "jobs", object.namespace(), JOB) {
        Ok(Some(job)) => job,
        Ok(None) => return,
        Err(missing) => {
            finding.say(format!(
                "; whether its uninstall was tried is not known: {}",
                missing.in_words()
            ));
            return;
        }
    };
    if let Some(("True", reason, _)) = job.condition("Failed") {
        finding.wait.on.push(Blocker::new(
            Some(job.reference()),
            format!("has given up ({reason}): the uninstall was tried, and refused"),
        ));
    }
}
