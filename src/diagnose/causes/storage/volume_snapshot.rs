//! `volumesnapshot-bound-protection` and `volumesnapshot-as-source-protection`: a volume snapshot whose content is not
//! gone.
//!
//! # Symptom
//!
//! `kubectl delete volumesnapshot` does not return. The VolumeSnapshot has the finalizer
//! `snapshot.storage.kubernetes.io/volumesnapshot-bound-protection` or
//! `snapshot.storage.kubernetes.io/volumesnapshot-as-source-protection`.
//!
//! ```text
//! $ kubectl finalizers explain volumesnapshots/nightly -n shop --from tests/causes/storage.yaml
//! ```
//!
//! # Why
//!
//! The snapshot-controller first waits for restores from it. Then it deletes the content if the policy is `Delete`, and
//! keeps the snapshot until the content is gone. With `Retain`, or if no content points back to the snapshot, it
//! removes the finalizer at once.
//!
//! # Before you act
//!
//! Look at the VolumeSnapshotContent: its `deletionPolicy` decides whether the snapshot at the provider is destroyed.
//!
//! # If it was a mistake
//!
//! Set `deletionPolicy: Retain` on the content before its driver succeeds. The snapshot at the provider is then kept.
//!
//! # If it was intended
//!
//! Resolve what holds the content: see [`crate::diagnose::causes::storage::volume_snapshot_content`].
//!
//! # Do not
//!
//! Do not remove the finalizer by hand. The content and the snapshot at the provider stay, and nothing points to them.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | waiting | the content, a restore or a group is not finished |
//! | stalled | nothing blocks, and the controller is switched off, lacks a right, or does not renew its Lease |
//! | unknown | the content or the claims could not be read |
//!
//! # What it reads
//!
//! The content, the claims of the namespace, and the group. If nothing blocks, the snapshot-controller itself.
//!
//! # Sources
//!
//! - `kubernetes-csi/external-snapshotter:pkg/common-controller/snapshot_controller.go`
//!   checkandRemoveSnapshotFinalizersAndCheckandDeleteContent

use crate::{
    command::Command,
    diagnose::{
        causes::{
            advice,
            cause::{Cause, On, Reads, Tells},
            controller::Controller,
            stopped_controller,
            storage::{
                source_protection,
                volume_snapshot_content::{GROUP, fate},
            },
            verdicts,
            verdicts::unknown,
        },
        kinds::{PersistentVolumeClaim, VolumeSnapshot, VolumeSnapshotContent},
        limits,
        model::{Finding, Moment, Outlook, Page, Safety, Step, Verdict, When},
        timing,
        view::View,
    },
    object::Finalizer,
    snapshot::facts::Object,
};

pub(crate) const AS_SOURCE: Cause = Cause {
    page: Page::of(module_path!()),
    types: &[("snapshot.storage.k8s.io", "volumesnapshots")],
    finalizer: On::Named("snapshot.storage.kubernetes.io/volumesnapshot-as-source-protection"),
    reads: Reads::Whole,
    tells: Tells::Finalizer(source_of_restore),
};

pub(crate) const BOUND: Cause = Cause {
    page: Page::of(module_path!()),
    types: &[("snapshot.storage.k8s.io", "volumesnapshots")],
    finalizer: On::Named("snapshot.storage.kubernetes.io/volumesnapshot-bound-protection"),
    reads: Reads::Whole,
    tells: Tells::Finalizer(bound_to_content),
};

/// Answers for a snapshot that claims may be restored from. The finalizer is removed as soon as no restore runs.
fn source_of_restore(snapshot: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    let controller = Controller::of(snapshot, finalizer, None, view);
    let says = controller
        .removes("the snapshot-controller")
        .once("no claim that is restored from the snapshot is Pending");
    let mut finding = Finding::new(
        Some(finalizer.clone()),
        verdicts::nothing_blocks(snapshot, view),
        says,
    );
    controller.add_evidence(&mut finding);
    if !add_restores_and_group(&mut finding, snapshot, view) {
        add_if_controller_is_late(&mut finding, snapshot, &controller, view);
    }
    finding
}

/// Adds the restores and the group that block the snapshot. Returns whether something blocks it, or may.
fn add_restores_and_group(finding: &mut Finding, snapshot: &Object, view: &View<'_>) -> bool {
    match source_protection::pending_claims_from(
        snapshot.namespace(),
        "VolumeSnapshot",
        snapshot.name(),
        view,
    ) {
        Ok(busy) => finding.wait.on.extend(busy),
        Err(missing) => {
            finding.wait.verdict = Verdict::Unknown;
            finding.say(format!(
                "whether a claim is being restored from it is not known: {}",
                missing.in_words()
            ));
            return true;
        }
    }
    let group = VolumeSnapshot(snapshot).group();
    if !group.is_empty() {
        match view.object(
            "groupsnapshot.storage.k8s.io",
            "volumegroupsnapshots",
            snapshot.namespace(),
            group,
        ) {
            Ok(Some(object)) => finding.wait.on.push(view.blocker(
                object,
                "the snapshot belongs to this group, and goes only with it".into(),
            )),
            Ok(None) => {}
            Err(missing) => {
                finding.wait.verdict = Verdict::Unknown;
                finding.say(format!(
                    "whether its group {group} still exists is not known: {}",
                    missing.in_words()
                ));
                return true;
            }
        }
    }
    if finding.wait.on.is_empty() {
        return false;
    }
    finding.wait.verdict = Verdict::Waiting;
    true
}

/// Adds why the snapshot-controller has not acted although nothing blocks: it is switched off, cannot act, or does
/// not run.
fn add_if_controller_is_late(
    finding: &mut Finding,
    snapshot: &Object,
    controller: &Controller,
    view: &View<'_>,
) {
    if finding.wait.verdict != Verdict::Stalled {
        return;
    }
    finding.steps.push(advice::nudge(snapshot));
    stopped_controller::add_stopped_controller(finding, snapshot, view);
    controller.add_if_late(finding, snapshot);
}

/// Answers for a snapshot that is bound to a content.
fn bound_to_content(snapshot: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    let controller = Controller::of(snapshot, finalizer, None, view);
    let says = controller
        .removes("the snapshot-controller")
        .once("its content is gone or stays on purpose (deletionPolicy Retain)");
    let name = match VolumeSnapshot(snapshot).content() {
        "" => format!("snapcontent-{}", snapshot.uid()),
        name => name.to_owned(),
    };
    let content = match view.object(GROUP, "volumesnapshotcontents", "", &name) {
        Ok(content) => content.filter(|c| VolumeSnapshotContent(c).snapshot_uid() == snapshot.uid()),
        Err(missing) => return unknown(finalizer, &says, &format!("how content {name} stands"), &missing),
    };
    let mut finding = Finding::new(
        Some(finalizer.clone()),
        verdicts::nothing_blocks(snapshot, view),
        says,
    );
    controller.add_evidence(&mut finding);
    finding.do_not.push(format!(
        "remove {} by hand: the content and the snapshot at the provider stay with nothing that points to them",
        finalizer.name
    ));
    let Some(content) = content else {
        finding.say(format!("no content {name} points back to it"));
        add_if_controller_is_late(&mut finding, snapshot, &controller, view);
        return finding;
    };
    finding.outlook.push(Outlook {
        when: if snapshot.deletion().is_some() {
            Moment::Succeeds
        } else {
            Moment::DeletedNow
        },
        then: fate(content),
    });
    if add_restores_and_group(&mut finding, snapshot, view) {
        return finding;
    }
    if VolumeSnapshotContent(content).deletion_policy() != "Delete" {
        add_if_controller_is_late(&mut finding, snapshot, &controller, view);
        return finding;
    }
    if content.deletion().is_none() {
        add_if_controller_is_late(&mut finding, snapshot, &controller, view);
    }
    finding.wait.verdict = Verdict::Waiting;
    let says = if content.deletion().is_some() {
        "being deleted; its driver must delete the snapshot at the provider first"
    } else {
        "not being deleted yet; the snapshot-controller does that next"
    };
    finding.wait.on.push(view.blocker(content, says.into()));
    if content.deletion().is_some() {
        for more in view.findings(content) {
            finding.steps.extend(more.steps);
            finding.do_not.extend(more.do_not);
            finding.evidence.extend(more.evidence);
        }
        finding.steps.splice(0..0, see_clones_step(snapshot, view));
    }
    finding
}

/// The step to look at claims that were restored from the snapshot. Some drivers make a clone for a restore, and their storage
/// keeps a snapshot while it has clones: RBD, ZFS and Cinder do. The claim does not tell which.
fn see_clones_step(snapshot: &Object, view: &View<'_>) -> Option<Step> {
    if timing::is_deletion_recent(snapshot, view) {
        return None;
    }
    let claims = view
        .list("", "persistentvolumeclaims", snapshot.namespace())
        .ok()?;
    let source = ("VolumeSnapshot", snapshot.name());
    let restored = claims.iter().filter(|object| {
        let claim = PersistentVolumeClaim(object);
        // An older claim was made from a former snapshot of this name.
        claim.data_source() == source && claim.phase() == "Bound" && object.created() >= snapshot.created()
    });
    let names: Vec<_> = restored.map(|claim| claim.name().to_owned()).collect();
    let first = names.first()?;
    Some(Step {
        when: When::Now,
        text: format!(
            "made from it: claim {}. If its driver made a clone, the snapshot goes only after the volume of that claim",
            limits::first_names(&names, limits::NAMES_IN_SENTENCE)
        ),
        command: Some(Command::describe(
            "persistentvolumeclaims",
            first,
            snapshot.namespace(),
        )),
        safety: Safety::ReadOnly,
        lets_go: Vec::new(),
    })
}
