//! A claim that is to be deleted, its volume with the disk, and what is made from it.
//!
//! **Recognises** a PersistentVolumeClaim. **Why:** its volume is released, and the reclaim policy decides about the
//! disk (`kubernetes/kubernetes:pkg/controller/volume/persistentvolume/pv_controller.go` reclaimVolume). Snapshots are
//! objects of their own, with a policy of their own
//! (`kubernetes-csi/external-snapshotter:pkg/common-controller/snapshot_controller.go`). **Wants** the volume, the pods,
//! and the snapshots of its namespace. **Concludes** what becomes of each. **Advises** Retain where the data is to be
//! kept, and to stop the pods first.

use crate::{
    diagnose::{
        causes::{
            pods::stop_consumers,
            storage::{pv_protection, pvc_protection, reclaim_policy},
        },
        impact,
        impact::{Impact, references},
        model::{Fate, Safety, Step},
        view::View,
    },
    snapshot::facts::{Object, Resource},
};

const SNAPSHOTS: &str = "snapshot.storage.k8s.io";

pub(crate) fn deleting_claim(object: &Object, impact: &mut Impact, view: &View<'_>) {
    let name = object.text("/spec/volumeName");
    // Asked together, so that they are read together.
    let found = (!name.is_empty()).then(|| view.object("", "persistentvolumes", "", name));
    let users = pvc_protection::users(object, view);
    snapshots(object, impact, view);
    let volume = match found {
        Some(Ok(Some(volume))) => volume,
        Some(Err(missing)) => {
            return impact.unknown("what becomes of the disk", &missing);
        }
        Some(Ok(None)) => {
            let says = format!("its volume {name} does not exist any more");
            return impact.say(Fate::Kept, says, []);
        }
        None => return,
    };
    let fate = match reclaim_policy::policy(volume) {
        "Delete" if reclaim_policy::is_leaked(volume) => Fate::Leaked,
        "Delete" => Fate::Destroyed,
        _ => Fate::Kept,
    };
    impact.say(fate, reclaim_policy::fate(volume), [volume.reference()]);
    if fate == Fate::Destroyed {
        impact.steps.push(Step {
            when: impact::KEEP,
            text: "set policy Retain on its volume first: nobody then deletes the disk".into(),
            command: Some(reclaim_policy::retain_command(volume)),
            safety: Safety::Reversible,
        });
    }
    match users {
        Ok(users) => impact.steps.extend(stop_consumers::release(object, &users, view)),
        Err(missing) => impact.unknown("which pods use it", &missing),
    }
    impact.steps.push(pv_protection::delete_claim(volume, object));
}

fn snapshots(claim: &Object, impact: &mut Impact, view: &View<'_>) {
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
                impact.say(Fate::Kept, says, references(own));
            }
        }
        Err(missing) => impact.unknown("which snapshots of it there are", &missing),
    }
}
