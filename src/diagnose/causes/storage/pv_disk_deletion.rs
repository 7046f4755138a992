//! A volume that is Released with policy Delete: its disk is to be deleted now.
//!
//! # Symptom
//!
//! The claim is gone, and the PersistentVolume is `Released`, with policy `Delete` and a reclaim finalizer. `kubectl
//! describe pv` may show `VolumeFailedDelete`.
//!
//! ```text
//! $ kubectl finalizers explain pv/pvc-attached --from tests/causes/storage.yaml
//! ```
//!
//! # Why
//!
//! The provisioner calls the driver only when no attachment names the volume. It reports the answer of the driver in an
//! event. An attachment that is never detached keeps the volume for ever.
//!
//! # Before you act
//!
//! See whether the volume is still attached, and read the events. Decide whether the disk may go: at success it is
//! destroyed.
//!
//! # If it was a mistake
//!
//! Set `Retain` before the provisioner succeeds: `kubectl finalizers rescue pv/NAME --only-retain`. The disk is kept if
//! it still exists.
//!
//! # If it was intended
//!
//! Let the volume be detached first. Then repair what the event complains of. `kubectl finalizers nudge` makes the
//! provisioner try again at once.
//!
//! # Do not
//!
//! Do not remove the reclaim finalizer by hand. The disk is leaked and goes on costing money.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | waiting | an attachment names the volume |
//! | failing | the provisioner itself reported an error |
//! | stalled | nothing blocks and no error was reported, but the disk is not deleted |
//! | orphaned | the driver is gone |
//! | unknown | attachments or events could not be read |
//!
//! # What it reads
//!
//! The attachments and the events about the volume. [`crate::diagnose::causes::storage::pv_reclaim`] asks for it in
//! this phase.
//!
//! # Sources
//!
//! - `kubernetes-csi/external-provisioner:pkg/controller/controller.go` canDeleteVolume
//! - `kubernetes-sigs/sig-storage-lib-external-provisioner:controller/controller.go` deleteVolumeOperation

use crate::{
    diagnose::{
        causes::{
            advice,
            controller::Controller,
            storage::{csi_errors, volume_attachment_in_use, volume_attachments},
            verdicts,
        },
        events::last_event,
        kinds::{Event, PersistentVolume},
        model::{Evidence, Finding, Moment, Outlook, Page, Safety, Said, Step, Strength, Verdict, When},
        reclaim_policy::{disk, driver, fate},
        view::View,
    },
    object::Finalizer,
    snapshot::facts::Object,
};

/// The source of events of the volume controller (`kubernetes/kubernetes:pkg/controller/volume/persistentvolume`).
const VOLUME_CONTROLLER: &str = "persistentvolume-controller";

/// The provisioner must act. An attachment blocks it, or its events say why it fails.
pub(crate) fn released(
    volume: &Object,
    finalizer: &Finalizer,
    controller: &Controller,
    says: Said,
    leak: &str,
    view: &View<'_>,
) -> Finding {
    let says = says.once(format!("the disk {} has been deleted", disk(volume)));
    let mut finding = Finding::new(
        Some(finalizer.clone()),
        verdicts::nothing_blocks(volume, view),
        says,
    );
    finding.tell_of(Page::of(module_path!()));
    finding.outlook.push(Outlook {
        when: Moment::Succeeds,
        then: fate(volume),
    });
    let mut unread = Vec::new();
    match volume_attachments::of_volume(volume.name(), view) {
        Ok(attachments) => {
            finding.wait.on = attachments
                .iter()
                .map(|attachment| volume_attachment_in_use::blocker(attachment, view))
                .collect();
            for attachment in &attachments {
                finding
                    .steps
                    .extend(volume_attachment_in_use::steps(attachment, view));
            }
        }
        Err(missing) => unread.push(format!(
            "whether it is still attached is not known: {}",
            missing.in_words()
        )),
    }
    let failure = last_event(volume, &["VolumeFailedDelete"], view);
    let is_reported = matches!(failure, Ok(Some(_)));
    let status = PersistentVolume(volume).message();
    match failure {
        Ok(Some(event)) if !finding.wait.on.is_empty() || is_attached(event) => {
            add_failure(&mut finding, volume, event, view);
            finding.wait.verdict = Verdict::Waiting;
        }
        _ if !finding.wait.on.is_empty() => finding.wait.verdict = Verdict::Waiting,
        Ok(Some(event)) => {
            add_failure(&mut finding, volume, event, view);
            let message = event.message();
            finding
                .steps
                .extend(csi_errors::steps(volume, message, controller, view));
        }
        Ok(None) if !status.is_empty() => {
            finding.wait.verdict = Verdict::Failing;
            finding.say(format!("it failed: {status}"));
        }
        Ok(None) => {}
        Err(missing) => unread.push(format!("whether it fails is not known: {}", missing.in_words())),
    }
    if matches!(finding.wait.verdict, Verdict::Stalled | Verdict::Waiting) && finding.wait.on.is_empty() {
        if is_reported {
            // Another program wrote the event, so it decides nothing.
        } else if unread.is_empty() {
            add_silence(&mut finding, volume);
        } else {
            finding.wait.verdict = Verdict::Unknown;
        }
    }
    for gap in unread {
        finding.say(gap);
    }
    // A failure event is at most an hour old and proves that the controller runs.
    if finding.wait.on.is_empty() && finding.wait.verdict != Verdict::Failing {
        controller.add_if_gone_or_late(&mut finding, volume, leak);
    }
    finding
}

/// Whether the event reports an attachment. The provisioner did not call the driver then
/// (`kubernetes-csi/external-provisioner:pkg/controller/controller.go` canDeleteVolume).
fn is_attached(event: Event<'_>) -> bool {
    event.message().contains("is still attached to node")
}

/// Adds the error of a failure event.
fn add_failure(finding: &mut Finding, volume: &Object, event: Event<'_>, view: &View<'_>) {
    let source = format!("Event VolumeFailedDelete on PersistentVolume {}", volume.name());
    let driver = driver(volume);
    let reporters = [driver.as_str(), VOLUME_CONTROLLER];
    csi_errors::add_event(finding, ("it failed", source), (event, volume, &reporters), view);
}

/// Nothing is attached, and there is no error. The API server keeps events for an hour only.
fn add_silence(finding: &mut Finding, volume: &Object) {
    if finding.wait.verdict != Verdict::Stalled {
        return;
    }
    finding.say("nothing is attached, and no event of the last hour says that it fails");
    if let (Some(released), Some(deletion)) = (PersistentVolume(volume).in_phase_since(), volume.deletion())
        && released < deletion.timestamp
    {
        finding.evidence.push(Evidence {
            source: format!(
                "PersistentVolume {} status.lastPhaseTransitionTime, metadata.deletionTimestamp",
                volume.name()
            ),
            value: "released first, deleted after it: if no person deleted it, the provisioner did, and it does so only \
                    after the disk is gone"
                .into(),
            strength: Strength::Hint,
        });
    }
    finding.steps.push(advice::nudge(volume));
    finding.steps.push(Step {
        when: When::Now,
        text: "if that does not help, read the log of the csi-provisioner container beside the driver's controller: it \
               may lack the right to patch persistentvolumes, or the driver may not answer"
            .into(),
        command: None,
        safety: Safety::ReadOnly,
        lets_go: Vec::new(),
    });
}
