//! The disks of claims that are deleted together with another object.
//!
//! **Recognises** nothing by itself. **Why:** the volume of a claim is deleted with it, and the reclaim policy
//! decides about the disk (`kubernetes/kubernetes:pkg/controller/volume/persistentvolume/pv_controller.go`
//! reclaimVolume). **Advises** Retain to keep the data.

use crate::{
    diagnose::{
        causes::advice,
        impact::{Impact, references, storage_quantity},
        model::{Evidence, Fate, Strength, When},
        reclaim_policy,
        view::View,
    },
    snapshot::facts::Object,
};

/// Adds what happens to the disks of these claims. `which` names the claims in a sentence.
pub(crate) fn add_disks<'a>(
    claims: impl IntoIterator<Item = &'a Object>,
    which: &str,
    impact: &mut Impact,
    view: &View<'_>,
) {
    let volumes = match reclaim_policy::volumes_of(claims, view) {
        Ok(volumes) => volumes,
        Err(missing) => {
            return impact.add_unknown(&format!("what becomes of the disks behind {which}"), &missing);
        }
    };
    let mut destroyed = Vec::new();
    let mut emptied = Vec::new();
    let mut leaked = Vec::new();
    let mut by_hand = Vec::new();
    let mut kept = Vec::new();
    for volume in volumes {
        match reclaim_policy::disk_fate(volume) {
            Fate::Leaked => leaked.push(volume),
            Fate::Destroyed if reclaim_policy::is_emptied(volume) => emptied.push(volume),
            Fate::Destroyed => destroyed.push(volume),
            _ if reclaim_policy::policy(volume) == "Delete" => by_hand.push(volume),
            _ => kept.push(volume),
        }
    }
    let mut add =
        |fate, because, volumes: &[&Object]| add_disks_with_fate(fate, which, because, volumes, impact);
    add(Fate::Destroyed, "their reclaim policy is Delete", &destroyed);
    add(
        Fate::Destroyed,
        "all files on them are deleted: their reclaim policy is Recycle",
        &emptied,
    );
    add(
        Fate::Leaked,
        "their volumes are being deleted already, and no finalizer makes anybody delete the disks",
        &leaked,
    );
    add(
        Fate::Kept,
        "people made their volumes, and nothing deletes disks of their types",
        &by_hand,
    );
    add(
        Fate::Kept,
        "their reclaim policy is Retain; the volumes are Released then",
        &kept,
    );
    destroyed.extend(emptied);
    if !destroyed.is_empty() {
        let text = "Keep the disks: set the volumes to Retain first. Nobody then deletes the disks when the claims go.";
        let step = advice::keep_disks(When::KeepData, text.into(), &destroyed);
        impact.steps.insert(0, step);
    }
}

fn add_disks_with_fate(fate: Fate, which: &str, because: &str, volumes: &[&Object], impact: &mut Impact) {
    if volumes.is_empty() {
        return;
    }
    let size = storage_quantity::of(volumes);
    impact.add_effect(
        fate,
        format!(
            "disks behind {which}: {}, of {size} in all; {because}",
            volumes.len()
        ),
        references(volumes.iter().copied()),
    );
    impact.evidence.extend(volumes.iter().map(|volume| Evidence {
        source: format!(
            "PersistentVolume {} spec.persistentVolumeReclaimPolicy, spec.csi.volumeHandle",
            volume.name()
        ),
        value: format!(
            "{}, {}",
            reclaim_policy::policy(volume),
            reclaim_policy::disk(volume)
        ),
        strength: Strength::Proof,
    }));
}
