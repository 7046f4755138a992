//! A volume that is Released with policy Delete: its disk is to be deleted now.
//!
//! **Recognises** a reclaim finalizer in that phase, for [`crate::diagnose::causes::storage::pv_reclaim`]. **Why:** the provisioner asks the driver only
//! when no attachment names the volume, and says in an event what the driver answers
//! (`kubernetes-csi/external-provisioner:pkg/controller/controller.go` canDeleteVolume,
//! `kubernetes-sigs/sig-storage-lib-external-provisioner:controller/controller.go` deleteVolumeOperation). **Wants** the
//! attachments and events about the volume. **Concludes** `waiting` while attached, `failing` with the driver's words,
//! `stalled` when nothing is said, `orphaned` without the driver.

use crate::{
    diagnose::{
        causes::{
            advice,
            storage::{
                csi_errors,
                csi_holder::Holder,
                pv_attacher,
                pv_reclaim::keep_disk,
                reclaim_policy::{disk, fate},
                volume_attachment_in_use,
            },
            verdicts,
        },
        events::{event_time, last_event},
        model::{Evidence, Finding, Outlook, Safety, Step, Strength, Verdict},
        view::View,
    },
    object::Finalizer,
    snapshot::facts::Object,
};

/// Released, policy Delete: the provisioner's turn. What keeps it is an attachment, or what its events say.
pub(crate) fn released(
    volume: &Object,
    finalizer: &Finalizer,
    holder: &Holder,
    says: &str,
    leak: &str,
    view: &View<'_>,
) -> Finding {
    let says = format!("{says}after the disk {} has been deleted", disk(volume));
    let mut finding = Finding::new(
        Some(finalizer.clone()),
        verdicts::nothing_blocks(volume, view),
        says,
    );
    finding.outlook.push(Outlook {
        when: "when it succeeds".into(),
        then: fate(volume),
    });
    let mut unseen = Vec::new();
    match pv_attacher::of_volume(volume.name(), view) {
        Ok(attachments) => {
            finding.wait.on = attachments
                .iter()
                .map(|attachment| pv_attacher::blocker(attachment, view))
                .collect();
            for attachment in &attachments {
                finding
                    .steps
                    .extend(volume_attachment_in_use::steps(attachment, view));
            }
        }
        Err(missing) => unseen.push(format!(
            "whether it is still attached is not known: {}",
            missing.in_words()
        )),
    }
    let failure = last_event(volume, &["VolumeFailedDelete"], view);
    let status = volume.text("/status/message");
    match failure {
        Ok(Some(event)) if !finding.wait.on.is_empty() || is_attached(event) => {
            quote(&mut finding, volume, event, view);
            finding.wait.verdict = Verdict::Waiting;
        }
        _ if !finding.wait.on.is_empty() => finding.wait.verdict = Verdict::Waiting,
        Ok(Some(event)) => {
            quote(&mut finding, volume, event, view);
            let message = event.text("/message");
            finding.steps.extend(csi_errors::steps(volume, message));
        }
        Ok(None) if !status.is_empty() => {
            finding.wait.verdict = Verdict::Failing;
            finding.say(format!("; it failed: {status}"));
        }
        Ok(None) => {}
        Err(missing) => unseen.push(format!("whether it fails is not known: {}", missing.in_words())),
    }
    if matches!(finding.wait.verdict, Verdict::Stalled | Verdict::Waiting) && finding.wait.on.is_empty() {
        if unseen.is_empty() {
            quiet(&mut finding, volume);
        } else {
            finding.wait.verdict = Verdict::Unknown;
        }
    }
    for gap in unseen {
        finding.say(format!("; {gap}"));
    }
    // An event is a sign of life of the last hour.
    if finding.wait.on.is_empty() && finding.wait.verdict != Verdict::Failing {
        holder.or_gone(&mut finding, volume, leak);
    }
    finding.steps.push(keep_disk(volume));
    finding
}

/// Whether it complains of an attachment: the driver was not even asked then
/// (`kubernetes-csi/external-provisioner:pkg/controller/controller.go` canDeleteVolume).
fn is_attached(event: &Object) -> bool {
    event.text("/message").contains("is still attached to node")
}

fn quote(finding: &mut Finding, volume: &Object, event: &Object, view: &View<'_>) {
    let source = format!("Event VolumeFailedDelete on PersistentVolume {}", volume.name());
    csi_errors::quote(
        finding,
        ("it failed", source),
        event.text("/message"),
        event_time(event),
        view,
    );
}

/// Nothing is attached and nothing is said: events are kept for an hour only.
fn quiet(finding: &mut Finding, volume: &Object) {
    if finding.wait.verdict != Verdict::Stalled {
        return;
    }
    finding.say("; nothing is attached, and no event of the last hour says that it fails");
    if let (Some(released), Some(deletion)) =
        (volume.time("/status/lastPhaseTransitionTime"), volume.deletion())
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
        when: "what to do",
        text: "if that does not help, read the log of the csi-provisioner container beside the driver's controller: it \
               may lack the right to patch persistentvolumes, or the driver may not answer"
            .into(),
        command: None,
        safety: Safety::Safe,
    });
}
