//! A claim that is to be deleted, its volume with the disk, and what is made from it.
//!
//! **Recognises** a PersistentVolumeClaim. **Why:** its volume is released, and the reclaim policy decides about the
//! disk (`kubernetes/kubernetes:pkg/controller/volume/persistentvolume/pv_controller.go` reclaimVolume). Snapshots are
//! objects of their own, with a policy of their own
//! (`kubernetes-csi/external-snapshotter:pkg/common-controller/snapshot_controller.go`). **Wants** the volume, the pods,
//! and the snapshots of its namespace. **Concludes** what becomes of each. **Advises** Retain where the data is to be
//! kept, and to stop the pods first.

use super::{Before, references};
use crate::{
    diagnose::{
        model::{Fate, Safety, Step},
        rules::{claim, disk, release, volume},
        view::View,
    },
    snapshot::facts::{Object, Resource},
};

const SNAPSHOTS: &str = "snapshot.storage.k8s.io";

pub(super) fn look(object: &Object, before: &mut Before, view: &View<'_>) {
    let name = object.text("/spec/volumeName");
    // Asked together, so that they are read together.
    let found = (!name.is_empty()).then(|| view.object("", "persistentvolumes", "", name));
    let users = claim::users(object, view);
    snapshots(object, before, view);
    let volume = match found {
        Some(Ok(Some(volume))) => volume,
        Some(Err(missing)) => {
            return before.unknown("what becomes of the disk", &missing);
        }
        Some(Ok(None)) => {
            let says = format!("its volume {name} does not exist any more");
            return before.say(Fate::Kept, says, []);
        }
        None => return,
    };
    let fate = match disk::policy(volume) {
        "Delete" if disk::leaks(volume) => Fate::Leaked,
        "Delete" => Fate::Destroyed,
        _ => Fate::Kept,
    };
    before.say(fate, disk::fate(volume), [volume.reference()]);
    if fate == Fate::Destroyed {
        before.steps.push(Step {
            when: super::KEEP,
            text: "set policy Retain on its volume first: nobody then deletes the disk".into(),
            command: Some(disk::retain(volume)),
            safety: Safety::Reversible,
        });
    }
    match users {
        Ok(users) => before.steps.extend(release::release(object, &users, view)),
        Err(missing) => before.unknown("which pods use it", &missing),
    }
    before.steps.push(volume::delete_claim(volume, object));
}

fn snapshots(claim: &Object, before: &mut Before, view: &View<'_>) {
    let plural = "volumesnapshots";
    if !view.has_type(&Resource::new(SNAPSHOTS, plural)) {
        return;
    }
    match view.list(SNAPSHOTS, plural, claim.namespace()) {
        Ok(all) => {
            let of_it = |one: &&Object| one.text("/spec/source/persistentVolumeClaimName") == claim.name();
            let own: Vec<_> = all.iter().filter(of_it).collect();
            if !own.is_empty() {
                let says = format!("snapshots of it: {}; they stay", own.len());
                before.say(Fate::Kept, says, references(own));
            }
        }
        Err(missing) => before.unknown("which snapshots of it there are", &missing),
    }
}
