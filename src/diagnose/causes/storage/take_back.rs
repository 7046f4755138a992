//! Steps that take a deletion back, for what is worth it.
//!
//! # Symptom
//!
//! Something was deleted by mistake and is still there, `Terminating`. People search for "undelete", "cancel deletion"
//! and "remove deletionTimestamp".
//!
//! ```text
//! $ kubectl finalizers explain pvc/orders -n shop --from tests/causes/storage.yaml
//! ```
//!
//! # Why
//!
//! The API server lets nobody remove `metadata.deletionTimestamp`. A volume and a claim can be made again for the same
//! disk, because the disk keeps the data. Any other object would be a new one with another uid. Its deletion can only
//! be withdrawn in etcd.
//!
//! # Before you act
//!
//! Do not let the deletion end in the meantime: what holds the object also keeps it. A namespace that is being deleted
//! accepts no new object.
//!
//! # If it was a mistake
//!
//! For volumes and claims: `kubectl finalizers rescue TYPE/NAME` saves the object, sets `Retain`, lets the old object
//! go and makes it again. If both are being deleted, the volume comes first. For other objects:
//! `kubectl finalizers rescue TYPE/NAME --print-etcd-commands` shows what an administrator of etcd can do.
//!
//! # If it was intended
//!
//! Nothing to take back. Follow the steps of the finalizer's own page.
//!
//! # Do not
//!
//! Do not edit the object in etcd with other tools. A wrong byte makes the whole type unreadable.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | (none) | this page has no verdict of its own; it adds steps to that of the finalizer |
//!
//! # What it reads
//!
//! The volume of a claim, the claim of a volume, and the namespace.
//!
//! # Sources
//!
//! - `kubernetes/apiserver:pkg/registry/rest/update.go` BeforeUpdate

use crate::{
    command::Command,
    diagnose::{
        causes::{
            cause::{Cause, On, Reads, Stage, Subject, Tells},
            storage::{
                pv_protection,
                taken_back::{are_bound, obstacle_of_claim, obstacle_of_volume, unmarkable},
            },
        },
        kinds::PersistentVolume,
        model::{Finding, Page, Safety, Step, StepKind, When},
        reclaim_policy::volumes_of,
        view::View,
    },
    object::is_custom_group,
    snapshot::facts::Object,
};

pub(crate) const CAUSE: Cause = Cause {
    types: &[],
    finalizer: On::Any,
    reads: Reads::Whole,
    page: Page::of(module_path!()),
    tells: Tells::More(Stage::FirstSteps, add_take_back_step),
};

/// Adds the step to those that apply to a mistake, which come first.
fn add_take_back_step(subject: &Subject<'_>, findings: &mut [Finding], view: &View<'_>) {
    let object = subject.object;
    if object.deletion().is_none() {
        return;
    }
    let step = match (object.resource.group.as_str(), object.resource.plural.as_str()) {
        ("", "persistentvolumes") => of_volume(object, view),
        ("", "persistentvolumeclaims") => of_claim(object, view),
        _ => is_worth_it(object, findings).then(|| in_etcd(object)),
    };
    let step = step.filter(|_| keeps_what_is_made(object, view));
    if let (Some(finding), Some(step)) = (findings.first_mut(), step) {
        let steps = &mut finding.steps;
        let kept = steps.iter().take_while(|step| step.when == When::Mistake).count();
        // Nobody should begin with etcd where other steps keep the disks.
        let is_last = !object.resource.group.is_empty();
        steps.insert(if is_last { steps.len() } else { kept }, step);
    }
}

/// Whether an object can be made again, and stays: neither its namespace nor its type is being deleted.
fn keeps_what_is_made(object: &Object, view: &View<'_>) -> bool {
    let stays = |found: Option<&Object>| found.is_none_or(|found| found.deletion().is_none());
    let namespace = object.namespace();
    let has_place = || {
        namespace.is_empty()
            || matches!(view.object("", "namespaces", "", namespace), Ok(found) if stays(found))
    };
    let has_type = || {
        !is_custom_group(&object.resource.group)
            || matches!(view.definition(&object.resource.name()), Ok(found) if stays(found))
    };
    has_place() && has_type()
}

fn of_volume(volume: &Object, view: &View<'_>) -> Option<Step> {
    // Of any other volume, nobody has to read the claim.
    if PersistentVolume(volume).phase() != "Bound" {
        return None;
    }
    let claim = pv_protection::claim_of(volume, view).ok()??;
    if !are_bound(volume, claim) {
        return None;
    }
    if obstacle_of_volume(volume).is_some() {
        return Some(in_etcd(volume));
    }
    let text = if claim.deletion().is_some() {
        "Take the deletion back: the volume is made again, and keeps its disk. Its claim still goes."
    } else {
        "Take the deletion back: the volume is made again. Its disk, claim and pods stay."
    };
    Some(made_again(
        text,
        Command::of("kubectl finalizers rescue pv/{}", [volume.name()]),
    ))
}

/// Where the volume is being deleted, too, the same command takes that back first.
fn of_claim(claim: &Object, view: &View<'_>) -> Option<Step> {
    let volumes = volumes_of([claim], view).ok()?;
    let volume = volumes.into_iter().find(|volume| are_bound(volume, claim))?;
    let volume_goes = volume.deletion().is_some();
    if obstacle_of_claim(claim).is_some() || volume_goes && obstacle_of_volume(volume).is_some() {
        return Some(in_etcd(claim));
    }
    let text = if volume_goes {
        "Take the deletion of its volume back, which comes first. Then run it again for the claim."
    } else {
        "Take the deletion back: the claim is made again for its volume, once its pods have ended."
    };
    let names = [claim.name(), claim.namespace()];
    Some(made_again(
        text,
        Command::of("kubectl finalizers rescue pvc/{} -n {}", names),
    ))
}

fn made_again(text: &str, command: Command) -> Step {
    Step {
        when: When::Mistake,
        text: text.into(),
        command: Some(command),
        safety: Safety::Reversible,
        lets_go: Vec::new(),
    }
}

/// Whether the disks of claims go with it: a step keeps them, or the catalogue says how. For anything less, nobody should
/// change etcd by hand.
fn is_worth_it(object: &Object, findings: &[Finding]) -> bool {
    let mut steps = findings.iter().flat_map(|finding| &finding.steps);
    unmarkable(object).is_none() && steps.any(|step| step.kind() == StepKind::KeepDisks)
}

/// Shows whether etcd can be reached, and with what command. Nothing is changed yet.
fn in_etcd(object: &Object) -> Step {
    Step {
        when: When::Mistake,
        text: "Take the deletion back, if you can reach the etcd of this cluster. This shows how.".into(),
        command: Some(Command::way_to_etcd(
            &object.resource.name(),
            object.name(),
            object.namespace(),
        )),
        safety: Safety::ReadOnly,
        lets_go: Vec::new(),
    }
}
