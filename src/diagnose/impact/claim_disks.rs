//! The disks of claims that are deleted together with another object.
//!
//! **Recognises** nothing by itself. **Why:** the volume of a claim is deleted with it, and the reclaim policy
//! decides about the disk (`kubernetes/kubernetes:pkg/controller/volume/persistentvolume/pv_controller.go`
//! reclaimVolume). **Advises** Retain to keep the data.

use crate::{
    diagnose::{
        causes::storage::reclaim_policy,
        impact,
        impact::{Impact, references, storage_quantity},
        limits,
        model::{Evidence, Fate, Safety, Step, Strength},
        view::{Missing, View},
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
    let names: Vec<_> = claims
        .into_iter()
        .map(|claim| claim.text("/spec/volumeName"))
        .filter(|name| !name.is_empty())
        .collect();
    let volumes = match volumes(&names, view) {
        Ok(volumes) => volumes,
        Err(missing) => {
            return impact.add_unknown(&format!("what becomes of the disks behind {which}"), &missing);
        }
    };
    let mut destroyed = Vec::new();
    let mut leaked = Vec::new();
    let mut kept = Vec::new();
    for volume in volumes {
        match reclaim_policy::policy(volume) {
            "Delete" if reclaim_policy::is_leaked(volume) => leaked.push(volume),
            "Delete" => destroyed.push(volume),
            _ => kept.push(volume),
        }
    }
    let mut add =
        |fate, because, volumes: &[&Object]| add_disks_with_fate(fate, which, because, volumes, impact);
    add(Fate::Destroyed, "their reclaim policy is Delete", &destroyed);
    add(
        Fate::Leaked,
        "their volumes are being deleted already, and no finalizer makes anybody delete the disks",
        &leaked,
    );
    add(
        Fate::Kept,
        "their reclaim policy is Retain; the volumes are Released then",
        &kept,
    );
    if !destroyed.is_empty() {
        impact.steps.insert(
            0,
            Step {
                when: impact::KEEP,
                text:
                    "set policy Retain on the volumes first: nobody then deletes the disks when the claims go"
                        .into(),
                command: Some(reclaim_policy::retain_command(destroyed)),
                safety: Safety::Reversible,
                lets_go: Vec::new(),
            },
        );
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

fn volumes<'a>(names: &[&str], view: &View<'a>) -> Result<Vec<&'a Object>, Missing> {
    if names.len() > limits::VOLUMES_ONE_BY_ONE {
        let all = view.list("", "persistentvolumes", "")?;
        return Ok(all
            .iter()
            .filter(|volume| names.contains(&volume.name()))
            .collect());
    }
    // All queries are made before the first answer is used.
    let asked: Vec<_> = names
        .iter()
        .map(|name| view.object("", "persistentvolumes", "", name))
        .collect();
    let found: Result<Vec<_>, _> = asked.into_iter().collect();
    Ok(found?.into_iter().flatten().collect())
}
