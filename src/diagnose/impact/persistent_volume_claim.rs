//! A claim that is to be deleted, its volume with the disk, and its snapshots.
//!
//! # Symptom
//!
//! You are about to run `kubectl delete pvc`. People find out afterwards that the disk is gone.
//!
//! ```text
//! $ kubectl finalizers explain pvc/data-postgres-0 -n shop --from tests/causes/impact.yaml
//! ```
//!
//! # Why
//!
//! The volume of the claim is released, and the reclaim policy decides about the disk. Snapshots are separate objects
//! with their own policy.
//!
//! # Before you act
//!
//! See the policy of the volume, the pods, and the snapshots.
//!
//! # If it was a mistake
//!
//! Nothing is deleted yet. Set the volume to `Retain`: `kubectl finalizers rescue pvc/NAME --only-retain`.
//!
//! # If it was intended
//!
//! Stop the pods first, then delete the claim.
//!
//! # Do not
//!
//! Do not delete the claim while a pod writes. It stays `Terminating`, and no new pod can use it.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | destroyed | the disk, with policy `Delete` |
//! | kept | the disk with policy `Retain`, and snapshots |
//! | leaked | the disk, if nobody reads the policy in time |
//! | unknown | the volume could not be read |
//!
//! # What it reads
//!
//! The volume, the pods, and the snapshots of its namespace.
//!
//! # Sources
//!
//! - `kubernetes/kubernetes:pkg/controller/volume/persistentvolume/pv_controller.go` reclaimVolume
//! - `kubernetes-csi/external-snapshotter:pkg/common-controller/snapshot_controller.go`

use crate::{
    diagnose::{
        causes::{
            advice,
            storage::{pv_protection, pvc_protection, stop_consumers},
        },
        impact::{Impact, references},
        kinds::{PersistentVolumeClaim, VolumeSnapshot},
        model::{Fate, When},
        reclaim_policy,
        view::View,
    },
    snapshot::facts::{Object, Resource},
};

const SNAPSHOTS: &str = "snapshot.storage.k8s.io";

pub(crate) fn deleting_claim(object: &Object, impact: &mut Impact, view: &View<'_>) {
    let name = PersistentVolumeClaim(object).volume();
    // Queried together, so that they are read together.
    let found = (!name.is_empty()).then(|| view.object("", "persistentvolumes", "", name));
    let users = pvc_protection::users(object, view);
    add_snapshots(object, impact, view);
    let volume = match found {
        Some(Ok(Some(volume))) => volume,
        Some(Err(missing)) => {
            return impact.add_unknown("what becomes of the disk", &missing);
        }
        Some(Ok(None)) => {
            let says = format!("its volume {name} does not exist any more");
            return impact.add_effect(Fate::Kept, says, []);
        }
        None => return,
    };
    let fate = reclaim_policy::disk_fate(volume);
    let says = match fate {
        Fate::Destroyed => reclaim_policy::disk_by_policy(volume),
        _ => reclaim_policy::fate(volume),
    };
    impact.add_effect(fate, says, [volume.reference()]);
    if fate == Fate::Destroyed {
        impact.steps.push(advice::keep_disks(
            When::KeepData,
            "Keep the disk: set its volume to Retain first. Nobody then deletes the disk.".into(),
            &[object],
        ));
    }
    match users {
        Ok(users) => impact.steps.extend(stop_consumers::steps(object, &users, view)),
        Err(missing) => impact.add_unknown("which pods use it", &missing),
    }
    impact.steps.push(pv_protection::delete_claim(volume, object));
}

fn add_snapshots(claim: &Object, impact: &mut Impact, view: &View<'_>) {
    let plural = "volumesnapshots";
    if !view.has_type(&Resource::new(SNAPSHOTS, plural)) {
        return;
    }
    match view.list(SNAPSHOTS, plural, claim.namespace()) {
        Ok(all) => {
            let of_it = |one: &&Object| VolumeSnapshot(one).claim() == claim.name();
            let own: Vec<_> = all.iter().filter(of_it).collect();
            if !own.is_empty() {
                let says = format!("snapshots of it: {}; they stay", own.len());
                impact.add_effect(Fate::Kept, says, references(own));
            }
        }
        Err(missing) => impact.add_unknown("which snapshots of it there are", &missing),
    }
}
