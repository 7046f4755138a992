//! A volume that is to be deleted, and the disk behind it.
//!
//! **Recognises** a PersistentVolume. **Why:** the disk is deleted by policy, and only if somebody looks at the policy
//! before the object goes ([`crate::diagnose::causes::storage::reclaim_policy`];
//! `kubernetes/kubernetes:pkg/controller/volume/persistentvolume/pv_controller.go` reclaimVolume); a volume that is deleted
//! before its claim stays Terminating until the claim goes, and that cannot be taken back. **Wants** the claim and its pods.
//! **Concludes** what becomes of the disk. **Advises** Retain where the data is to be kept, and the order pods, claim,
//! volume.

use crate::{
    diagnose::{
        causes::{
            pods::stop_consumers,
            storage::{pv_protection, pvc_protection, reclaim_policy},
        },
        impact,
        impact::Impact,
        model::{Evidence, Fate, Safety, Step, Strength},
        view::View,
    },
    snapshot::facts::Object,
};

pub(crate) fn deleting_volume(volume: &Object, impact: &mut Impact, view: &View<'_>) {
    let (name, phase) = (volume.name(), volume.text("/status/phase"));
    let deletes = reclaim_policy::policy(volume) == "Delete";
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
                reclaim_policy::fate(volume)
            ),
        ),
        "Released" if deletes && !reclaimed => (Fate::Leaked, reclaim_policy::fate_without_claim(volume)),
        "Released" if deletes => (Fate::Destroyed, reclaim_policy::fate_without_claim(volume)),
        // What then holds it for ever, its finalizer's rule says.
        _ => (Fate::Kept, reclaim_policy::fate_without_claim(volume)),
    };
    impact.say(fate, says, []);
    impact.evidence.push(Evidence {
        source: format!("PersistentVolume {name} spec.persistentVolumeReclaimPolicy, status.phase"),
        value: format!("{}, {phase}", reclaim_policy::policy(volume)),
        strength: Strength::Proof,
    });
    if deletes {
        impact.steps.push(Step {
            when: impact::KEEP,
            text: "set policy Retain first: nobody then deletes the disk".into(),
            command: Some(reclaim_policy::retain_command(volume)),
            safety: Safety::Reversible,
        });
    }
    if phase != "Bound" {
        return;
    }
    match pv_protection::claim_of(volume, view) {
        Ok(Some(claim)) => {
            match pvc_protection::users(claim, view) {
                Ok(users) => impact.steps.extend(stop_consumers::release(claim, &users, view)),
                Err(missing) => impact.unknown("which pods use it", &missing),
            }
            impact.steps.push(pv_protection::delete_claim(volume, claim));
            if !deletes {
                impact.then(
                    Safety::Reversible,
                    "then delete the volume object, which is Released; write down its disk",
                    format!("kubectl delete pv {name}"),
                );
            }
        }
        Ok(None) => {}
        Err(missing) => impact.unknown("whether its claim still exists", &missing),
    }
}
