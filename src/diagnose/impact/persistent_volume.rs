//! A volume that is to be deleted, and its disk.
//!
//! # Symptom
//!
//! You are about to run `kubectl delete pv`. If it is `Bound`, it stays `Terminating`.
//!
//! ```text
//! $ kubectl finalizers explain pv/pvc-used --from tests/causes/impact.yaml
//! ```
//!
//! # Why
//!
//! The reclaim policy decides about the disk, and only if a controller reads the policy before the object is gone
//! ([`crate::diagnose::causes::storage::keep_disk`]). A volume that is deleted before its claim stays `Terminating`
//! until the claim is gone, and this cannot be withdrawn.
//!
//! # Before you act
//!
//! See the policy, the claim and its pods.
//!
//! # If it was a mistake
//!
//! Nothing is deleted yet. Set `Retain` to keep the data.
//!
//! # If it was intended
//!
//! Keep the order: pods, claim, volume. With policy `Delete` the volume then goes by itself.
//!
//! # Do not
//!
//! Do not delete a volume to delete its claim.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | destroyed | the policy is `Delete`, and a finalizer makes the provisioner delete the disk |
//! | leaked | the object goes before anybody reads the policy |
//! | kept | the policy is `Retain` |
//! | unknown | the claim could not be read |
//!
//! # What it reads
//!
//! The claim and its pods.
//!
//! # Sources
//!
//! - `kubernetes/kubernetes:pkg/controller/volume/persistentvolume/pv_controller.go` reclaimVolume

use crate::{
    command::Command,
    diagnose::{
        causes::{
            advice,
            storage::{pv_protection, pvc_protection, stop_consumers},
        },
        impact::Impact,
        kinds::PersistentVolume,
        model::{Evidence, Fate, Safety, Strength, When},
        reclaim_policy,
        view::View,
    },
    snapshot::facts::Object,
};

pub(crate) fn deleting_volume(volume: &Object, impact: &mut Impact, view: &View<'_>) {
    let (name, phase) = (volume.name(), PersistentVolume(volume).phase());
    let deletes = reclaim_policy::deletes_disk(volume);
    let reclaimed = reclaim_policy::has_reclaim_finalizer(volume);
    let (fate, says) = match phase {
        "Bound" if deletes && !reclaimed => (
            Fate::Leaked,
            format!(
                "LEAKED INFRASTRUCTURE if it is deleted before its claim: the volume object goes with the claim, and nobody \
                 deletes the disk {}. {}",
                reclaim_policy::disk(volume),
                reclaim_policy::why_no_reclaim_finalizer(volume)
            ),
        ),
        "Bound" if deletes => (
            Fate::Destroyed,
            format!(
                "{}, once its claim goes too; until then pods keep their data",
                reclaim_policy::disk_by_policy(volume)
            ),
        ),
        "Released" if deletes && !reclaimed => (Fate::Leaked, reclaim_policy::fate_without_claim(volume)),
        "Released" if deletes => (Fate::Destroyed, reclaim_policy::disk_by_policy(volume)),
        "Bound" | "Released" if reclaim_policy::is_emptied(volume) => {
            (Fate::Destroyed, reclaim_policy::disk_by_policy(volume))
        }
        // The cause of its finalizer says what then holds it for ever.
        _ => (Fate::Kept, reclaim_policy::fate_without_claim(volume)),
    };
    impact.add_effect(fate, says, []);
    impact.evidence.push(Evidence {
        source: format!("PersistentVolume {name} spec.persistentVolumeReclaimPolicy, status.phase"),
        value: format!("{}, {phase}", reclaim_policy::policy(volume)),
        strength: Strength::Proof,
    });
    if deletes {
        impact.steps.push(advice::keep_disks(
            When::KeepData,
            "Keep the disk: set the volume to Retain first. Nobody then deletes the disk.".into(),
            &[volume],
        ));
    }
    if phase != "Bound" {
        return;
    }
    match pv_protection::claim_of(volume, view) {
        Ok(Some(claim)) => {
            match pvc_protection::users(claim, view) {
                Ok(users) => impact.steps.extend(stop_consumers::steps(claim, &users, view)),
                Err(missing) => impact.add_unknown("which pods use it", &missing),
            }
            impact.steps.push(pv_protection::delete_claim(volume, claim));
            if !deletes {
                impact.add_step(
                    Safety::Reversible,
                    "then delete the volume object, which is Released; write down its disk",
                    Command::of("kubectl delete pv {}", [name]),
                );
            }
        }
        Ok(None) => {}
        Err(missing) => impact.add_unknown("whether its claim still exists", &missing),
    }
}
