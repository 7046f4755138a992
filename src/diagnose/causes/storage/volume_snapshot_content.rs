//! `volumesnapshotcontent-bound-protection`: the object that represents a snapshot at the provider.
//!
//! # Symptom
//!
//! A VolumeSnapshotContent stays in deletion, with the finalizer
//! `snapshot.storage.kubernetes.io/volumesnapshotcontent-bound-protection`. Its events say
//! `SnapshotDeleteError` with `Failed to delete snapshot`.
//!
//! ```text
//! $ kubectl finalizers explain volumesnapshotcontents/snapcontent-old --from tests/causes/storage.yaml
//! ```
//!
//! # Why
//!
//! The csi-snapshotter of the driver deletes the snapshot at the provider, but only if the content has the annotation
//! `snapshot.storage.kubernetes.io/volumesnapshot-being-deleted`. The snapshot-controller sets it when the
//! VolumeSnapshot is deleted. A content that was deleted without its VolumeSnapshot waits for ever.
//!
//! # Before you act
//!
//! The snapshot may be the only copy of the data. Check `deletionPolicy` before you repair anything.
//!
//! # If it was a mistake
//!
//! Set `deletionPolicy: Retain` on the content. The snapshot at the provider is then kept when the object goes.
//!
//! # If it was intended
//!
//! Delete the VolumeSnapshot, not its content. If the driver reports an error, repair the driver.
//!
//! # Do not
//!
//! Do not remove the finalizer by hand. The snapshot stays at the provider, and nothing points to it.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | in-use | its VolumeSnapshot is not being deleted |
//! | failing | the driver reports an error; if that is about a class, a missing one is named |
//! | stalled | it was deleted without its VolumeSnapshot, or nobody acts |
//! | orphaned | the driver is gone |
//!
//! # What it reads
//!
//! The VolumeSnapshot, the events, the VolumeSnapshotClass, and whether the driver is installed.
//!
//! # Sources
//!
//! - `kubernetes-csi/external-snapshotter:pkg/sidecar-controller/snapshot_controller.go` shouldDelete

use crate::{
    command::Command,
    diagnose::{
        causes::{
            advice,
            cause::{Cause, On, Reads, Tells},
            controller::Controller,
            release,
            storage::csi_errors,
            verdicts,
        },
        events::last_event,
        kinds::VolumeSnapshotContent,
        model::{Blocker, Evidence, Finding, Moment, Outlook, Page, Safety, Step, Strength, Verdict, When},
        timing,
        view::View,
    },
    object::{Finalizer, ObjectRef, join_group, pasteable},
    snapshot::facts::Object,
};

pub(crate) const CAUSE: Cause = Cause {
    page: Page::of(module_path!()),
    types: &[("snapshot.storage.k8s.io", "volumesnapshotcontents")],
    finalizer: On::Named("snapshot.storage.kubernetes.io/volumesnapshotcontent-bound-protection"),
    reads: Reads::Whole,
    tells: Tells::Finalizer(snapshot_not_deleted),
};

/// The API group of snapshots and their contents.
pub(crate) const GROUP: &str = "snapshot.storage.k8s.io";

const BEING_DELETED: &str = "snapshot.storage.kubernetes.io/volumesnapshot-being-deleted";

const BEING_CREATED: &str = "snapshot.storage.kubernetes.io/volumesnapshot-being-created";

/// What a removal by hand costs, beside what becomes of the snapshot.
const LEAK: &str =
    "LEAKED INFRASTRUCTURE: take this one finalizer off. Write down the name of the snapshot first";

/// Answers for the finalizer on a content.
fn snapshot_not_deleted(content: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    let driver = VolumeSnapshotContent(content).driver();
    let controller = Controller::sidecar(content, finalizer, driver, view);
    let says = controller
        .removes(format!("the csi-snapshotter of {driver}"))
        .once(format!(
            "the snapshot {} has been deleted at the provider",
            handle(content)
        ));
    let mut finding = Finding::new(
        Some(finalizer.clone()),
        verdicts::nothing_blocks(content, view),
        says,
    );
    controller.add_evidence(&mut finding);
    finding.do_not.push(format!(
        "remove {} by hand: the snapshot {} stays at the provider with nothing that points to it",
        finalizer.name,
        handle(content)
    ));
    finding.outlook.push(Outlook {
        when: if content.deletion().is_some() {
            Moment::Succeeds
        } else {
            Moment::DeletedNow
        },
        then: fate(content),
    });
    let is_unbound = !VolumeSnapshotContent(content).given_handle().is_empty()
        && VolumeSnapshotContent(content).snapshot_uid().is_empty();
    if !is_unbound {
        if content.has_annotation(BEING_CREATED) {
            finding.wait.verdict = Verdict::Waiting;
            finding.wait.on.push(Blocker::new(
                None,
                format!("driver {driver} has not answered yet whether it took the snapshot (CreateSnapshot)"),
            ));
            controller.add_if_gone_or_late(&mut finding, content, LEAK);
            return finding;
        }
        if !content.has_annotation(BEING_DELETED) {
            return not_marked_for_deletion(content, finding, view);
        }
    }
    if content.deletion().is_none() {
        return finding;
    }
    add_failure(&mut finding, content, &controller, view);
    // An event, or a status error of the last hour, proves that the sidecar runs.
    let failed_recently = VolumeSnapshotContent(content)
        .error()
        .time()
        .is_some_and(|time| timing::is_within_last_hour(time, view))
        || finding.wait.verdict == Verdict::Failing
            && VolumeSnapshotContent(content).error().message().is_empty();
    if !failed_recently {
        controller.add_if_gone_or_late(&mut finding, content, LEAK);
    }
    finding.steps.extend(keep_snapshot_step(content));
    finding
}

/// Adds the error of the last attempt, from the status or from an event.
fn add_failure(finding: &mut Finding, content: &Object, controller: &Controller, view: &View<'_>) {
    let status = VolumeSnapshotContent(content).error().message();
    let event = last_event(content, &["SnapshotDeleteError"], view);
    let message = match event {
        _ if !status.is_empty() => {
            let source = format!("VolumeSnapshotContent {} status.error.message", content.name());
            let time = VolumeSnapshotContent(content).error().time();
            csi_errors::add_error(finding, ("it failed", source), status, time, view);
            status
        }
        Ok(Some(event)) => {
            let source = format!(
                "Event SnapshotDeleteError on VolumeSnapshotContent {}",
                content.name()
            );
            let driver = [VolumeSnapshotContent(content).driver()];
            csi_errors::add_event(finding, ("it failed", source), (event, content, &driver), view);
            event.message()
        }
        Ok(None) => {
            if finding.wait.verdict == Verdict::Stalled {
                finding.say("no event of the last hour says that it fails");
                finding.steps.push(advice::nudge(content));
            }
            return;
        }
        Err(missing) => {
            finding.wait.verdict = Verdict::Unknown;
            finding.say(format!("whether it fails is not known: {}", missing.in_words()));
            return;
        }
    };
    finding
        .steps
        .extend(csi_errors::steps(content, message, controller, view));
    add_missing_class(finding, content, message, view);
}

/// Adds the class of the content if it does not exist, and the error is about a class. Some versions of the sidecar read
/// the Secret for the deletion from the class, others from annotations of the content. So a missing class alone proves
/// nothing.
fn add_missing_class(finding: &mut Finding, content: &Object, message: &str, view: &View<'_>) {
    let class = VolumeSnapshotContent(content).class();
    let is_missing = || matches!(view.object(GROUP, "volumesnapshotclasses", "", class), Ok(None));
    if class.is_empty() || !message.contains("class") || !is_missing() {
        return;
    }
    finding.wait.on.push(Blocker::new(
        Some(ObjectRef {
            type_name: join_group("volumesnapshotclasses", GROUP),
            kind: "VolumeSnapshotClass".to_owned(),
            api_version: content.reference().api_version,
            namespace: None,
            name: class.to_owned(),
            uid: String::new(),
        }),
        "does not exist; spec.volumeSnapshotClassName names it, and the error is about its class".to_owned(),
    ));
    let step = Step {
        when: When::Intended,
        text: format!(
            "create VolumeSnapshotClass {class} again, with the driver and the Secret that it had. The csi-snapshotter \
             then goes on"
        ),
        command: None,
        safety: Safety::Reversible,
        lets_go: Vec::new(),
    };
    let released = release::by_end_of(content);
    finding.steps.push(release::letting_go(step, released));
}

/// The annotation `volumesnapshot-being-deleted` is missing: the sidecar does nothing until the snapshot itself is
/// deleted.
fn not_marked_for_deletion(content: &Object, mut finding: Finding, view: &View<'_>) -> Finding {
    let (namespace, name) = (
        VolumeSnapshotContent(content).snapshot_namespace(),
        VolumeSnapshotContent(content).snapshot_name(),
    );
    let named = pasteable(&join_group("volumesnapshots", GROUP), Some(namespace), name);
    let uid = VolumeSnapshotContent(content).snapshot_uid();
    let snapshot = match view.object(GROUP, "volumesnapshots", namespace, name) {
        Ok(snapshot) => snapshot.filter(|snapshot| snapshot.uid() == uid),
        Err(missing) => {
            finding.wait.verdict = Verdict::Unknown;
            finding.say(format!(
                "whether its snapshot {named} still exists is not known: {}",
                missing.in_words()
            ));
            return finding;
        }
    };
    if let Some(snapshot) = snapshot {
        let state = if snapshot.deletion().is_some() {
            "being deleted; the snapshot-controller marks the content next"
        } else {
            "not being deleted"
        };
        finding.wait.verdict = if snapshot.deletion().is_some() {
            Verdict::Waiting
        } else {
            Verdict::InUse
        };
        finding.wait.on.push(view.blocker(snapshot, state.into()));
        if content.deletion().is_some() {
            finding.steps.extend(keep_snapshot_step(content));
            if snapshot.deletion().is_none() {
                let step = Step {
                    when: When::Intended,
                    text: format!("delete {named}; the content goes with it"),
                    command: Some(Command::of(
                        "kubectl -n {} delete volumesnapshots.{}/{}",
                        [namespace, GROUP, name],
                    )),
                    safety: Safety::Reversible,
                    lets_go: Vec::new(),
                };
                let released = release::by_end_of(content);
                finding.steps.push(release::letting_go(step, released));
            }
        }
        return finding;
    }
    finding.say(format!(
        "but its snapshot {named} is gone, and without it nobody marks the content for the sidecar"
    ));
    finding.evidence.push(Evidence {
        source: format!(
            "VolumeSnapshotContent {} annotation {BEING_DELETED}",
            content.name()
        ),
        value: "is not set".into(),
        strength: Strength::Proof,
    });
    if content.deletion().is_none() {
        finding.wait.verdict = Verdict::Waiting;
        return finding;
    }
    finding.wait.verdict = Verdict::Stalled;
    finding.outlook.insert(
        0,
        Outlook {
            when: Moment::NothingDone,
            then: "it stays for ever".into(),
        },
    );
    finding.steps.extend(keep_snapshot_step(content));
    let step = Step {
        when: When::Intended,
        text: "set the mark that its snapshot would have set".into(),
        command: Some(Command::of(
            "kubectl annotate {}/{} {}=yes",
            [&content.resource.name(), content.name(), BEING_DELETED],
        )),
        safety: Safety::Reversible,
        lets_go: Vec::new(),
    };
    let released = release::by_end_of(content);
    finding.steps.push(release::letting_go(step, released));
    finding
}

/// The step that sets deletionPolicy Retain, for a content with policy Delete.
fn keep_snapshot_step(content: &Object) -> Option<Step> {
    (VolumeSnapshotContent(content).deletion_policy() == "Delete").then(|| Step {
        when: When::KeepSnapshot,
        text: format!(
            "set deletionPolicy Retain: the snapshot {} then stays at the provider. Write down its name",
            handle(content)
        ),
        command: Some(Command::merge_patch(
            &content.resource.name(),
            content.name(),
            "",
            r#"{"spec":{"deletionPolicy":"Retain"}}"#,
        )),
        safety: Safety::Reversible,
        lets_go: Vec::new(),
    })
}

/// The handle of the snapshot at the provider.
fn handle(content: &Object) -> &str {
    match VolumeSnapshotContent(content).handle() {
        "" => "(none yet)",
        handle => handle,
    }
}

/// What happens to the snapshot at the provider when the content is deleted.
pub(crate) fn fate(content: &Object) -> String {
    match VolumeSnapshotContent(content).deletion_policy() {
        "Delete" => format!(
            "the snapshot {} IS DESTROYED (deletionPolicy Delete)",
            handle(content)
        ),
        policy => format!("the snapshot {} stays (deletionPolicy {policy})", handle(content)),
    }
}
