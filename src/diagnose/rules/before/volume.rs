//! A volume that is to be deleted, and the disk behind it.
//!
//! **Recognises** a PersistentVolume. **Why:** the disk is deleted by policy, and only if somebody looks at the policy
//! before the object goes ([`super::super::disk`];
//! `kubernetes/kubernetes:pkg/controller/volume/persistentvolume/pv_controller.go` reclaimVolume); a volume that is deleted
//! before its claim stays Terminating until the claim goes, and that cannot be taken back. **Wants** the claim and its pods.
//! **Concludes** what becomes of the disk. **Advises** Retain where the data is to be kept, and the order pods, claim,
//! volume.

use super::Before;
use crate::{
    diagnose::{
        model::{Evidence, Fate, Safety, Step, Strength},
        rules::{claim, disk, release, volume},
        view::View,
    },
    snapshot::facts::Object,
};

pub(super) fn look(volume: &Object, before: &mut Before, view: &View<'_>) {
    let (name, phase) = (volume.name(), volume.text("/status/phase"));
    let deletes = disk::policy(volume) == "Delete";
    let reclaimed = disk::is_reclaimed(volume);
    let (fate, says) = match phase {
        "Bound" if deletes && !reclaimed => (
            Fate::Leaked,
            format!(
                "LEAKED INFRASTRUCTURE if it is deleted before its claim: the volume object goes with the claim, and nobody \
                 deletes the disk {}. {}",
                disk::disk(volume),
                disk::why_unprotected(volume)
            ),
        ),
        "Bound" if deletes => (
            Fate::Destroyed,
            format!(
                "{}, once its claim goes too; until then pods keep their data",
                disk::fate(volume)
            ),
        ),
        "Released" if deletes && !reclaimed => (Fate::Leaked, disk::free_fate(volume)),
        "Released" if deletes => (Fate::Destroyed, disk::free_fate(volume)),
        // What then holds it for ever, its finalizer's rule says.
        _ => (Fate::Kept, disk::free_fate(volume)),
    };
    before.say(fate, says, []);
    before.evidence.push(Evidence {
        source: format!("PersistentVolume {name} spec.persistentVolumeReclaimPolicy, status.phase"),
        value: format!("{}, {phase}", disk::policy(volume)),
        strength: Strength::Proof,
    });
    if deletes {
        before.steps.push(Step {
            when: super::KEEP,
            text: "set policy Retain first: nobody then deletes the disk".into(),
            command: Some(disk::retain(volume)),
            safety: Safety::Reversible,
        });
    }
    if phase != "Bound" {
        return;
    }
    match volume::claim_of(volume, view) {
        Ok(Some(claim)) => {
            match claim::users(claim, view) {
                Ok(users) => before.steps.extend(release::release(claim, &users, view)),
                Err(missing) => before.unknown("which pods use it", &missing),
            }
            before.steps.push(volume::delete_claim(volume, claim));
            if !deletes {
                before.then(
                    Safety::Reversible,
                    "then delete the volume object, which is Released; write down its disk",
                    format!("kubectl delete pv {name}"),
                );
            }
        }
        Ok(None) => {}
        Err(missing) => before.unknown("whether its claim still exists", &missing),
    }
}
