//! Disks that go with a deletion, and the step that keeps them.
//!
//! # Symptom
//!
//! A volume, a claim, a namespace with claims, or an owner of claims is being deleted. The reclaim policy of the
//! volumes is `Delete`. The explanation then begins with the step `rescue --only-retain`.
//!
//! ```text
//! $ kubectl finalizers explain pvc/data-0 -n db --from examples/stuck-cluster.snapshot
//! ```
//!
//! # Why
//!
//! The volume of a claim is released with it. With policy `Delete` its provisioner then deletes the disk. With policy
//! `Retain` nobody does, whatever finalizers the objects have. The garbage collector deletes the claims of a
//! StatefulSet or of an operator's object after their owner. The catalogue says which objects may own claims.
//!
//! # Before you act
//!
//! Ask whether anybody needs the data. Setting `Retain` is safe: it only changes what happens to the disk later.
//!
//! # If it was a mistake
//!
//! `kubectl finalizers rescue TYPE/NAME --only-retain` sets all volumes concerned to `Retain`. Do it before anything
//! else.
//!
//! # If it was intended
//!
//! Leave the policy as it is. The disks are destroyed when the deletion ends.
//!
//! # Do not
//!
//! Do not rely on a finalizer to keep a disk. It only delays the deletion.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | (none) | this page has no verdict of its own; it adds a step to that of the finalizer |
//!
//! # What it reads
//!
//! The volumes of the claims, and the claim of a volume.
//!
//! # Sources
//!
//! - `kubernetes/kubernetes:pkg/controller/volume/persistentvolume/pv_controller.go` reclaimVolume
//! - `kubernetes-sigs/sig-storage-lib-external-provisioner:controller/controller.go` shouldDelete
//! - `kubernetes/kubernetes:pkg/controller/garbagecollector/garbagecollector.go` attemptToDeleteItem

use crate::{
    diagnose::{
        causes::{
            advice,
            cause::{Cause, On, Reads, Stage, Subject, Tells},
        },
        kinds::PersistentVolume,
        limits,
        model::{Finding, Moment, Outlook, Page, Step, When},
        reclaim_policy::{deletes_disk, disk, volumes_of},
        view::{Missing, View},
    },
    knowledge::GroupKind,
    object::Finalizer,
    snapshot::facts::Object,
};

pub(crate) const CLAIM: GroupKind<'_> = GroupKind {
    group: "",
    kind: "PersistentVolumeClaim",
};

pub(crate) const CAUSE: Cause = Cause {
    types: &[],
    finalizer: On::Any,
    reads: Reads::Whole,
    page: Page::of(module_path!()),
    tells: Tells::More(Stage::FirstSteps, add_keep_disk_step),
};

/// Adds the step in front of all others.
fn add_keep_disk_step(subject: &Subject<'_>, findings: &mut [Finding], view: &View<'_>) {
    let object = subject.object;
    let Some(finding) = findings.first_mut().filter(|_| object.deletion().is_some()) else {
        return;
    };
    if object.is("", "persistentvolumes") {
        finding.steps.splice(0..0, volume_step(object));
    } else if object.is("", "persistentvolumeclaims") {
        finding.steps.splice(0..0, claim_step(object, view));
    } else {
        add_claims_step(disks_that_go(object, view), finding);
    }
}

/// The volumes whose disks may be deleted after the claims that go with this object. None for a volume or a claim, which
/// has its own disk.
fn disks_that_go<'a>(object: &Object, view: &View<'a>) -> Result<Vec<&'a Object>, Missing> {
    let mut volumes = if object.is("", "namespaces") {
        volumes_of_namespace(object.name(), view)?
    } else if may_own_claims(object, view) {
        volumes_of_owner(object, view)?
    } else {
        Vec::new()
    };
    volumes.retain(|volume| is_at_stake(volume));
    Ok(volumes)
}

/// Whether claims may go with this object. An orphaning deletion keeps everything that it owns.
fn may_own_claims(object: &Object, view: &View<'_>) -> bool {
    let finalizers = object.finalizers();
    let reference = object.reference();
    let makes_claims = |finalizer: &Finalizer| {
        let kind = Some((&reference).into());
        let entry = view.knowledge.lookup(&finalizer.name, finalizer.list, kind);
        entry.is_some_and(|entry| entry.waits_for.children_of(CLAIM))
    };
    !finalizers.iter().any(|finalizer| finalizer.name == "orphan")
        && (object.is("apps", "statefulsets") || finalizers.iter().any(makes_claims))
}

/// The claims that this object owns go after it. Some operators own claims by a label alone, with the name of the object.
/// To keep one disk too many loses nothing.
fn volumes_of_owner<'a>(owner: &Object, view: &View<'a>) -> Result<Vec<&'a Object>, Missing> {
    let is_workload = owner.is("apps", "statefulsets");
    let is_its = |claim: &&Object| {
        claim.is_owned_by(owner.uid())
            || !is_workload && claim.labels().values().any(|value| value == owner.name())
    };
    let claims = view.list("", "persistentvolumeclaims", owner.namespace())?;
    volumes_of(claims.iter().filter(is_its), view)
}

fn volume_step(volume: &Object) -> Option<Step> {
    is_at_stake(volume).then(|| {
        let text = if PersistentVolume(volume).phase() == "Bound" {
            "Keep the disk: set the volume to Retain. The volume still goes when its claim goes.".into()
        } else {
            format!(
                "Keep the disk {}, if it still exists: set the volume to Retain. The volume object then goes.",
                disk(volume)
            )
        };
        advice::keep_disks(When::Mistake, text, &[volume])
    })
}

fn claim_step(claim: &Object, view: &View<'_>) -> Option<Step> {
    let volumes = volumes_of([claim], view).ok()?;
    volumes.into_iter().any(is_at_stake).then(|| {
        let text = "Keep the disk: set its volume to Retain. The claim still goes when no pod uses it.";
        advice::keep_disks(When::Mistake, text.into(), &[claim])
    })
}

/// Adds the step that keeps the disks of claims which go, and what becomes of their disks without it.
fn add_claims_step(volumes: Result<Vec<&Object>, Missing>, finding: &mut Finding) {
    let then = match volumes {
        Ok(volumes) if volumes.is_empty() => return,
        Ok(volumes) => {
            let text = "Keep the disks of its claims: set their volumes to Retain. The claims still go.";
            let step = advice::keep_disks(When::Mistake, text.into(), &volumes);
            finding.steps.insert(0, step);
            fate(&volumes)
        }
        Err(missing) => format!("what becomes of their disks is not known: {}", missing.in_words()),
    };
    finding.outlook.push(Outlook {
        when: Moment::ClaimsGo,
        then,
    });
}

fn volumes_of_namespace<'a>(namespace: &str, view: &View<'a>) -> Result<Vec<&'a Object>, Missing> {
    let claims = "persistentvolumeclaims";
    // What could not be listed is told with the rest of the content.
    let Ok(Some(content)) = view.content(namespace) else {
        return Ok(Vec::new());
    };
    if !content.counts.contains_key(claims) {
        return Ok(Vec::new());
    }
    volumes_of(view.list("", claims, namespace)?, view)
}

fn fate(volumes: &[&Object]) -> String {
    let named = volumes.iter().take(limits::BLOCKERS);
    let named: Vec<_> = named.map(|volume| format!("pv/{}", volume.name())).collect();
    let more = match volumes.len().saturating_sub(named.len()) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let count = match volumes.len() {
        1 => "1 disk IS DESTROYED".to_owned(),
        count => format!("{count} disks ARE DESTROYED"),
    };
    format!("{count} (reclaim policy Delete): {}{more}", named.join(", "))
}

/// Whether somebody may delete the disk once the volume is released.
fn is_at_stake(volume: &Object) -> bool {
    deletes_disk(volume)
}
