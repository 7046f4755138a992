//! Claims and snapshots that are the source of a snapshot, a clone or a restored claim.
//!
//! # Symptom
//!
//! A claim in deletion has `snapshot.storage.kubernetes.io/pvc-as-source-protection` or
//! `provisioner.storage.kubernetes.io/cloning-protection`. A snapshot in deletion has
//! `provisioner.storage.kubernetes.io/volumesnapshot-as-source-protection`.
//!
//! ```text
//! $ kubectl finalizers explain pvc/orders -n shop --from tests/causes/storage.yaml
//! ```
//!
//! # Why
//!
//! The snapshot-controller keeps the first while a snapshot of the claim is not `readyToUse`, even one that was never
//! started. It checks this only when a *snapshot* of the claim changes. The provisioner keeps the others while a claim with that `dataSource` is
//! `Pending`.
//!
//! # Before you act
//!
//! Find the snapshot, clone or restore that uses the object as its source, and see whether it still makes progress.
//!
//! # If it was a mistake
//!
//! Keep the disk with `kubectl finalizers rescue pvc/NAME --only-retain`, then let the snapshot finish.
//!
//! # If it was intended
//!
//! Let it finish, or give it up: delete the snapshot or the claim that is being made. If none is left, an interrupted
//! operation left the finalizer, and only this one finalizer may be removed.
//!
//! # Do not
//!
//! Do not remove the finalizer while the copy runs. The copy fails, or is incomplete.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | waiting | a snapshot, clone or restore of it is not finished |
//! | stalled | there is none, so an interrupted operation left the finalizer |
//! | unknown | snapshots or claims could not be listed |
//!
//! # What it reads
//!
//! The snapshots and the claims of the namespace.
//!
//! # Sources
//!
//! - `kubernetes-csi/external-snapshotter:pkg/common-controller/snapshot_controller.go` isPVCBeingUsed
//! - `kubernetes-csi/external-provisioner:pkg/controller/clone_controller.go`

use crate::{
    command::Command,
    diagnose::{
        causes::{
            advice,
            advice::remove_finalizer,
            cause::{Cause, On, Reads, Tells},
            controller::Controller,
            in_use,
            in_use::{Standing, Users},
            release,
            storage::volume_snapshot_content::GROUP,
        },
        kinds::{
            PersistentVolumeClaim, StorageClass, VolumeSnapshot, VolumeSnapshotClass, VolumeSnapshotContent,
        },
        limits,
        model::{Blocker, Finding, Moment, Outlook, Page, Safety, Said, Step, StepKind, Verdict, When},
        view::{Missing, View},
    },
    object::Finalizer,
    snapshot::{driver::names, facts::Object},
};

pub(crate) const SNAPSHOT_SOURCE: Cause = Cause {
    page: Page::of(module_path!()),
    types: &[("", "persistentvolumeclaims")],
    finalizer: On::Named("snapshot.storage.kubernetes.io/pvc-as-source-protection"),
    reads: Reads::Whole,
    tells: Tells::Finalizer(snapshot_in_progress),
};

pub(crate) const CLONE_SOURCE: Cause = Cause {
    page: Page::of(module_path!()),
    types: &[("", "persistentvolumeclaims")],
    finalizer: On::Named("provisioner.storage.kubernetes.io/cloning-protection"),
    reads: Reads::Whole,
    tells: Tells::Finalizer(clone_in_progress),
};

pub(crate) const RESTORE_SOURCE: Cause = Cause {
    page: Page::of(module_path!()),
    types: &[("snapshot.storage.k8s.io", "volumesnapshots")],
    finalizer: On::Named("provisioner.storage.kubernetes.io/volumesnapshot-as-source-protection"),
    reads: Reads::Whole,
    tells: Tells::Finalizer(restore_in_progress),
};

/// A snapshot of the claim is not ready to use.
fn snapshot_in_progress(claim: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    let controller = Controller::of(claim, finalizer, None, view);
    let says = controller
        .removes("the snapshot-controller")
        .once("each snapshot of the claim is ready to use");
    let snapshots = match view.list(GROUP, "volumesnapshots", claim.namespace()) {
        Ok(snapshots) => snapshots,
        Err(missing) => {
            let users = Users::not_seen("which snapshots there are", &missing);
            return in_use::finding(claim, finalizer, &controller, says, users, view).0;
        }
    };
    let snapshots_of_claim: Vec<_> = snapshots
        .iter()
        .filter(|one| VolumeSnapshot(one).claim() == claim.name())
        .collect();
    let busy = snapshots_of_claim
        .iter()
        .filter(|one| !VolumeSnapshot(one).is_ready())
        .map(|snapshot| {
            let error = VolumeSnapshot(snapshot).error().message();
            let says = match VolumeSnapshot(snapshot).content() {
                _ if !error.is_empty() => format!("cannot be taken: {error}"),
                // The snapshot-controller binds a content before the driver takes anything.
                "" => "not started: it has no VolumeSnapshotContent".to_owned(),
                _ => "is being taken, and not ready to use".to_owned(),
            };
            view.blocker(snapshot, says)
        });
    let busy: Vec<_> = busy.collect();
    let idle = busy.is_empty();
    let mut finding = source_in_use(claim, finalizer, (&controller, says), busy, "snapshot", view);
    if finding.wait.verdict == Verdict::Stalled {
        finding.steps.insert(
            0,
            match snapshots_of_claim.first() {
                Some(snapshot) => advice::nudge_saying(
                    snapshot,
                    "wake the snapshot-controller with a harmless annotation on a snapshot of the claim: it looks at the \
                           claim only when one of its snapshots changes"
                        .into(),
                ),
                None => Step {
                    when: When::Now,
                    text: "no snapshot of the claim is left, and only a change of one makes the controller look: without \
                           help this finalizer stays for ever"
                        .into(),
                    command: None,
                    safety: Safety::Safe,
                    lets_go: Vec::new(),
                },
            },
        );
    }
    if idle {
        controller.add_if_late(&mut finding, claim);
    }
    finding
}

/// The claim is being cloned.
fn clone_in_progress(claim: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    let (controller, driver_name) = match names(&claim.value).next() {
        Some(driver) => (
            Controller::sidecar(claim, finalizer, driver, view),
            driver.to_owned(),
        ),
        None => (
            Controller::of(claim, finalizer, None, view),
            "its driver".to_owned(),
        ),
    };
    let says = controller
        .removes(format!("the provisioner of {driver_name}"))
        .once("no claim that is cloned from this one is Pending");
    let busy = match pending_claims_from(claim.namespace(), "PersistentVolumeClaim", claim.name(), view) {
        Ok(busy) => busy,
        Err(missing) => {
            let users = Users::not_seen("whether one is", &missing);
            return in_use::finding(claim, finalizer, &controller, says, users, view).0;
        }
    };
    let idle = busy.is_empty();
    let mut finding = source_in_use(claim, finalizer, (&controller, says), busy, "clone", view);
    if idle {
        controller.add_if_late(&mut finding, claim);
    }
    finding
}

/// A claim is being restored from the snapshot.
fn restore_in_progress(snapshot: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    let (controller, driver_name) = match driver_of(snapshot, view) {
        Ok(Some(driver)) => (
            Controller::sidecar(snapshot, finalizer, driver, view),
            driver.to_owned(),
        ),
        Ok(None) => (
            Controller::of(snapshot, finalizer, None, view),
            "its driver".to_owned(),
        ),
        Err(missing) => (
            Controller::of(snapshot, finalizer, None, view),
            format!("its driver (which one is not known: {})", missing.in_words()),
        ),
    };
    let says = controller
        .removes(format!("the csi-provisioner of {driver_name}"))
        .once("no claim that is restored from this snapshot is Pending");
    let busy = match pending_claims_from(snapshot.namespace(), "VolumeSnapshot", snapshot.name(), view) {
        Ok(busy) => busy,
        Err(missing) => {
            let users = Users::not_seen("whether one is", &missing);
            return in_use::finding(snapshot, finalizer, &controller, says, users, view).0;
        }
    };
    let idle = busy.is_empty();
    let mut finding = source_in_use(snapshot, finalizer, (&controller, says), busy, "restore", view);
    if idle {
        // No controller watches for this finalizer: a periodic clean-up removes it, or it stays.
        finding.steps.retain(|step| step.kind() != StepKind::Nudge);
        finding.outlook.push(Outlook {
            when: Moment::NothingDone,
            then: "a csi-provisioner of v6.3 or later removes it within five minutes; one of v6.2 never does"
                .into(),
        });
        controller.add_if_late(&mut finding, snapshot);
    }
    finding
}

/// The driver that took the snapshot. Its content names it, or its class if the content is already gone.
fn driver_of<'a>(snapshot: &Object, view: &View<'a>) -> Result<Option<&'a str>, Missing> {
    let get = |plural: &str, name: &str| match name {
        "" => Ok(None),
        name => view.object(GROUP, plural, "", name),
    };
    let snapshot = VolumeSnapshot(snapshot);
    let driver = match get("volumesnapshotcontents", snapshot.content())? {
        Some(content) => VolumeSnapshotContent(content).driver(),
        None => get("volumesnapshotclasses", snapshot.class())?
            .map_or("", |class| VolumeSnapshotClass(class).driver()),
    };
    Ok(Some(driver).filter(|driver| !driver.is_empty()))
}

/// The finding for a source: it waits for `busy`, or for nothing if that is empty. `what` is the operation.
fn source_in_use(
    object: &Object,
    finalizer: &Finalizer,
    (controller, says): (&Controller, Said),
    busy: Vec<Blocker>,
    what: &str,
    view: &View<'_>,
) -> Finding {
    let nobody = match what {
        "restore" => "no restore from it is left",
        "clone" => "no clone of it is left",
        _ => "no snapshot of it is left",
    };
    let users = Users::of(busy, Verdict::Waiting, nobody);
    let (mut finding, standing) = in_use::finding(object, finalizer, controller, says, users, view);
    if standing != Standing::Used {
        if standing == Standing::Late {
            finding.steps.push(advice::nudge(object));
            let text = format!(
                "if it stays: remove this one finalizer, which an interrupted {what} left behind; it guards nothing any \
                 more. Leave the others alone"
            );
            // A claim can go with it, while the storage system still copies from its disk.
            let (text, safety) = if object.is("", "persistentvolumeclaims") {
                let loss = "DATA LOSS, where the storage system still copies from the disk";
                (format!("{loss}: {text}"), Safety::Destructive)
            } else {
                (text, Safety::Safe)
            };
            finding.steps.push(Step {
                safety,
                ..remove_finalizer(object, finalizer, When::Now, &text)
            });
        }
        return finding;
    }
    finding.outlook.push(Outlook {
        when: Moment::WorkDone,
        then: "this finalizer goes by itself".into(),
    });
    let busy: Vec<_> = finding
        .wait
        .on
        .iter()
        .filter_map(|on| on.object.clone())
        .collect();
    for other in busy.iter().take(limits::STEPS_FOR_EACH) {
        let (kind, name) = (&other.kind, &other.name);
        let (text, safety) = if what == "snapshot" {
            (
                format!(
                    "DATA LOSS: let the snapshot finish; only if it cannot, delete {kind} {name}, with what was taken so \
                     far"
                ),
                Safety::Destructive,
            )
        } else {
            (
                format!(
                    "let the {what} finish; if it cannot, delete {kind} {name}, which is still Pending and has no volume: \
                     it can be made again"
                ),
                Safety::Reversible,
            )
        };
        let step = Step {
            when: When::GiveUp,
            text,
            command: Some(Command::of(
                "kubectl -n {} delete {}/{}",
                [object.namespace(), &other.type_name, name],
            )),
            safety,
            lets_go: Vec::new(),
        };
        // Then the source goes, which is being deleted.
        let released = release::by_whole_end_of(object, view);
        finding.steps.push(release::letting_go(step, released));
    }
    finding.do_not.push(format!(
        "remove {} by hand while the {what} runs: it fails, or what it makes is incomplete",
        finalizer.name
    ));
    finding
}

/// The Pending claims of a namespace that are being created from a source.
pub(crate) fn pending_claims_from(
    namespace: &str,
    kind: &str,
    name: &str,
    view: &View<'_>,
) -> Result<Vec<Blocker>, Missing> {
    let claims = view.list("", "persistentvolumeclaims", namespace)?;
    Ok(claims
        .iter()
        .filter(|claim| {
            PersistentVolumeClaim(claim).data_source() == (kind, name)
                && matches!(PersistentVolumeClaim(claim).phase(), "Pending" | "")
        })
        .map(|claim| {
            let class = StorageClass::named_by(claim);
            view.blocker(claim, format!("Pending, is made from it (storage class {class})"))
        })
        .collect())
}
