//! What `rescue` can take back: which volume and claim it makes again, and what has to go from etcd.
//!
//! A new object has another uid, so its owner may delete it again. An object that spans more than itself in etcd is never
//! edited there.

use crate::{
    diagnose::{
        kinds::{Condition, OwnerReference, PersistentVolume, PersistentVolumeClaim},
        reclaim_policy,
    },
    snapshot::facts::Object,
};

/// Conditions of a claim whose volume is being resized.
const RESIZES: [&str; 2] = ["Resizing", "FileSystemResizePending"];

/// Why a volume or a claim is not made again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Obstacle {
    /// It has an owner, of this kind and name.
    Owner(String),
    /// This finalizer is of somebody else, who may have work to do first.
    Finalizer(String),
    /// A new claim would ask for more than the volume has.
    Resize,
}

/// Why this volume is not made again.
pub(crate) fn obstacle_of_volume(volume: &Object) -> Option<Obstacle> {
    owner(volume).or_else(|| reclaim_policy::other_finalizer(volume).map(Obstacle::Finalizer))
}

/// Why this claim is not made again.
pub(crate) fn obstacle_of_claim(claim: &Object) -> Option<Obstacle> {
    let is_resized = Condition::all(claim).any(|condition| RESIZES.contains(&condition.kind()));
    owner(claim).or_else(|| is_resized.then_some(Obstacle::Resize))
}

/// Whether the volume is Bound to this very claim. Only then is it sure that the disk is that of the claim.
pub(crate) fn are_bound(volume: &Object, claim: &Object) -> bool {
    PersistentVolume(volume).phase() == "Bound"
        && PersistentVolumeClaim(claim).volume() == volume.name()
        && claim.uid() == PersistentVolume(volume).claim_uid()
}

/// Why the deletion of an object is never taken out of etcd.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unmarkable {
    /// Its stored value would be read and saved.
    Secret,
    /// Its phase and its `spec.finalizers` have changed too, and its objects are deleted one by one.
    Namespace,
    /// Its custom resources are deleted, whatever its deletion says.
    Definition,
}

/// Why the deletion of an object of this type is never taken out of etcd.
pub(crate) fn unmarkable(object: &Object) -> Option<Unmarkable> {
    match (object.resource.group.as_str(), object.resource.plural.as_str()) {
        ("", "secrets") => Some(Unmarkable::Secret),
        ("", "namespaces") => Some(Unmarkable::Namespace),
        ("apiextensions.k8s.io", "customresourcedefinitions") => Some(Unmarkable::Definition),
        _ => None,
    }
}

fn owner(object: &Object) -> Option<Obstacle> {
    let owner = OwnerReference::all(object).next()?;
    Some(Obstacle::Owner(format!("{} {}", owner.kind(), owner.name())))
}
