//! Steps that take a deletion back, for what is worth it.
//!
//! # Symptom
//!
//! Something was deleted by mistake and is still there, `Terminating`. People search for "undelete", "cancel deletion"
//! and "remove deletionTimestamp".
//!
//! ```text
//! $ kubectl finalizers explain rabbitmqclusters.rabbitmq.com/queue -n shop --from tests/causes/products.yaml
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
//! go and makes it again. For other objects: `kubectl finalizers rescue TYPE/NAME --print-etcd-commands` shows what an
//! administrator of etcd can do.
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
        causes::storage::pv_protection,
        kinds::PersistentVolume,
        model::{Finding, Safety, Step, StepKind, When},
        reclaim_policy::{self, volumes_of},
        view::View,
    },
    snapshot::facts::Object,
};

/// Adds the step to those that apply to a mistake, which come first.
pub(crate) fn add_take_back_step(object: &Object, findings: &mut [Finding], view: &View<'_>) {
    if object.deletion().is_none() {
        return;
    }
    let step = match (object.resource.group.as_str(), object.resource.plural.as_str()) {
        ("", "persistentvolumes") => of_volume(object, view),
        ("", "persistentvolumeclaims") => of_claim(object, view),
        _ => is_worth_it(object, findings).then(|| in_etcd(object)),
    };
    let step = step.filter(|_| keeps_what_is_made(object.namespace(), view));
    if let (Some(finding), Some(step)) = (findings.first_mut(), step) {
        let steps = &mut finding.steps;
        let kept = steps.iter().take_while(|step| step.when == When::Mistake).count();
        steps.insert(kept, step);
    }
}

/// Whether an object can be made again in this namespace, and stays there.
fn keeps_what_is_made(namespace: &str, view: &View<'_>) -> bool {
    namespace.is_empty()
        || matches!(view.object("", "namespaces", "", namespace), Ok(found) if found.is_none_or(|found| found.deletion().is_none()))
}

fn of_volume(volume: &Object, view: &View<'_>) -> Option<Step> {
    if PersistentVolume(volume).phase() != "Bound" {
        return None;
    }
    let claim = pv_protection::claim_of(volume, view).ok()??;
    if claim.deletion().is_some() {
        return None;
    }
    if has_owner(volume) || reclaim_policy::other_finalizer(volume).is_some() {
        return Some(in_etcd(volume));
    }
    Some(Step {
        when: When::Mistake,
        text: "Take the deletion back: the volume is made again. Its disk, claim and pods stay.".into(),
        command: Some(Command::of("kubectl finalizers rescue pv/{}", [volume.name()])),
        safety: Safety::Reversible,
        lets_go: Vec::new(),
    })
}

fn of_claim(claim: &Object, view: &View<'_>) -> Option<Step> {
    let volumes = volumes_of([claim], view).ok()?;
    // A volume in deletion has its own explanation: it is taken back first.
    if volumes.is_empty() || volumes.iter().any(|volume| volume.deletion().is_some()) {
        return None;
    }
    has_owner(claim).then(|| in_etcd(claim))
}

/// Whether `rescue` makes this claim again. The step that keeps its disk says so, because it has the same command but for
/// a flag.
pub(crate) fn is_made_again(claim: &Object, view: &View<'_>) -> bool {
    !has_owner(claim) && keeps_what_is_made(claim.namespace(), view)
}

/// Whether `rescue` refuses to make it again: its owner may delete it again.
fn has_owner(object: &Object) -> bool {
    !object.list("/metadata/ownerReferences").is_empty()
}

/// Whether the disks of claims go with it. For anything less, nobody should change etcd by hand. `rescue` refuses a
/// namespace: its objects are deleted one by one, whatever becomes of it.
fn is_worth_it(object: &Object, findings: &[Finding]) -> bool {
    let mut steps = findings.iter().flat_map(|finding| &finding.steps);
    !object.is("", "namespaces") && steps.any(|step| step.kind() == StepKind::KeepDisks)
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
