//! Volume snapshots.
//!
//! **Recognises** `volumesnapshot-as-source-protection` and `volumesnapshot-bound-protection` on a `VolumeSnapshot`.
//! **Why:** the snapshot-controller first waits for restores, then deletes the content if its policy is Delete, and keeps
//! the snapshot until that is gone; with Retain, or without a content that points back, it lets go
//! (`kubernetes-csi/external-snapshotter:pkg/common-controller/snapshot_controller.go`
//! checkandRemoveSnapshotFinalizersAndCheckandDeleteContent). **Wants** the content ([`crate::diagnose::causes::storage::volume_snapshot_content`]), claims
//! of the namespace and the group; where nothing is in the way, the snapshot-controller itself. **Concludes** `waiting` with
//! what is in the way, and its steps; `stalled` with the controller that was switched off, may not change the snapshot, or does
//! not renew its Lease.

use crate::{
    diagnose::{
        causes::{
            advice,
            cause::Cause,
            operators::holder_report,
            storage::{csi_holder::Holder, source_protection, volume_snapshot_content::fate},
            verdicts,
            verdicts::unknown,
        },
        model::{Finding, Outlook, Verdict},
        view::View,
    },
    object::Finalizer,
    snapshot::facts::Object,
};

pub(crate) const AS_SOURCE: Cause = Cause {
    group: "snapshot.storage.k8s.io",
    plural: "volumesnapshots",
    finalizer: "snapshot.storage.kubernetes.io/volumesnapshot-as-source-protection",
    explain: as_source,
};

pub(crate) const BOUND: Cause = Cause {
    group: "snapshot.storage.k8s.io",
    plural: "volumesnapshots",
    finalizer: "snapshot.storage.kubernetes.io/volumesnapshot-bound-protection",
    explain: bound,
};

pub(crate) const GROUP: &str = "snapshot.storage.k8s.io";

/// A snapshot from which claims may be restored: goes in the same moment as no restore runs any more.
fn as_source(snapshot: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    let holder = Holder::of(snapshot, finalizer, None, view);
    let says = format!(
        "removed by the snapshot-controller{}, once no claim that is restored from the snapshot is Pending",
        holder.alive()
    );
    let mut finding = Finding::new(
        Some(finalizer.clone()),
        verdicts::nothing_blocks(snapshot, view),
        says,
    );
    holder.testify(&mut finding);
    if !restores(&mut finding, snapshot, view) {
        late(&mut finding, snapshot, &holder, view);
    }
    finding
}

/// Whether a restore, or the group, is in the way, or may be.
fn restores(finding: &mut Finding, snapshot: &Object, view: &View<'_>) -> bool {
    match source_protection::pending(snapshot.namespace(), "VolumeSnapshot", snapshot.name(), view) {
        Ok(busy) => finding.wait.on.extend(busy),
        Err(missing) => {
            finding.wait.verdict = Verdict::Unknown;
            finding.say(format!(
                "; whether a claim is being restored from it is not known: {}",
                missing.in_words()
            ));
            return true;
        }
    }
    let group = snapshot.text("/status/volumeGroupSnapshotName");
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
                    "; whether its group {group} still exists is not known: {}",
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

/// Nothing is in the way, and the snapshot-controller has not acted: it is switched off, cannot act, or does not run.
fn late(finding: &mut Finding, snapshot: &Object, holder: &Holder, view: &View<'_>) {
    if finding.wait.verdict != Verdict::Stalled {
        return;
    }
    finding.steps.push(advice::nudge(snapshot));
    holder_report::add_stopped_holder(finding, snapshot, view);
    holder.or_late(finding, snapshot);
}

/// A snapshot that is bound to a content.
fn bound(snapshot: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    let holder = Holder::of(snapshot, finalizer, None, view);
    let says = format!(
        "removed by the snapshot-controller{}, once its content is gone or stays on purpose (deletionPolicy Retain)",
        holder.alive()
    );
    let name = match snapshot.text("/status/boundVolumeSnapshotContentName") {
        "" => format!("snapcontent-{}", snapshot.uid()),
        name => name.to_owned(),
    };
    let content = match view.object(GROUP, "volumesnapshotcontents", "", &name) {
        Ok(content) => content.filter(|c| c.text("/spec/volumeSnapshotRef/uid") == snapshot.uid()),
        Err(missing) => return unknown(finalizer, &says, &format!("how content {name} stands"), &missing),
    };
    let mut finding = Finding::new(
        Some(finalizer.clone()),
        verdicts::nothing_blocks(snapshot, view),
        says,
    );
    holder.testify(&mut finding);
    finding.do_not.push(format!(
        "remove {} by hand: the content and the snapshot at the provider stay with nothing that points to them",
        finalizer.name
    ));
    let Some(content) = content else {
        finding.say(format!("; no content {name} points back to it"));
        late(&mut finding, snapshot, &holder, view);
        return finding;
    };
    finding.outlook.push(Outlook {
        when: if snapshot.deletion().is_some() {
            "when it succeeds".into()
        } else {
            "if it is deleted now".into()
        },
        then: fate(content),
    });
    if restores(&mut finding, snapshot, view) {
        return finding;
    }
    if content.text("/spec/deletionPolicy") != "Delete" {
        late(&mut finding, snapshot, &holder, view);
        return finding;
    }
    if content.deletion().is_none() {
        late(&mut finding, snapshot, &holder, view);
    }
    finding.wait.verdict = Verdict::Waiting;
    let says = if content.deletion().is_some() {
        "being deleted, and so is the snapshot at the provider"
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
    }
    finding
}
