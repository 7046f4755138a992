//! The disks behind claims that go together with something else.
//!
//! **Recognises** nothing by itself. **Why:** with a claim goes its volume, and the reclaim policy decides about the disk
//! (`kubernetes/kubernetes:pkg/controller/volume/persistentvolume/pv_controller.go` reclaimVolume). **Advises** Retain where
//! the data is to be kept.

use super::{Before, quantity, references};
use crate::{
    diagnose::{
        model::{Evidence, Fate, Safety, Step, Strength},
        rules::disk,
        view::{Missing, View},
    },
    snapshot::facts::Object,
};

/// So many volumes are read one by one; for more of them all volumes are listed.
const ONE_BY_ONE: usize = 10;

/// What becomes of the disks behind these claims; `which` tells which claims they are.
pub(super) fn behind<'a>(
    claims: impl IntoIterator<Item = &'a Object>,
    which: &str,
    before: &mut Before,
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
            return before.unknown(&format!("what becomes of the disks behind {which}"), &missing);
        }
    };
    let mut go = Vec::new();
    let mut leak = Vec::new();
    let mut stay = Vec::new();
    for volume in volumes {
        match disk::policy(volume) {
            "Delete" if disk::leaks(volume) => leak.push(volume),
            "Delete" => go.push(volume),
            _ => stay.push(volume),
        }
    }
    let mut tell = |fate, because, volumes: &[&Object]| said(fate, which, because, volumes, before);
    tell(Fate::Destroyed, "their reclaim policy is Delete", &go);
    tell(
        Fate::Leaked,
        "their volumes are being deleted already, and no finalizer makes anybody delete the disks",
        &leak,
    );
    tell(
        Fate::Kept,
        "their reclaim policy is Retain; the volumes are Released then",
        &stay,
    );
    if !go.is_empty() {
        let names: Vec<_> = go.iter().map(|volume| volume.name()).collect();
        before.steps.insert(
            0,
            Step {
                when: super::KEEP,
                text:
                    "set policy Retain on the volumes first: nobody then deletes the disks when the claims go"
                        .into(),
                command: Some(disk::retain_all(&names.join(" "))),
                safety: Safety::Reversible,
            },
        );
    }
}

fn said(fate: Fate, which: &str, because: &str, volumes: &[&Object], before: &mut Before) {
    if volumes.is_empty() {
        return;
    }
    let size = quantity::of(volumes);
    before.say(
        fate,
        format!(
            "disks behind {which}: {}, of {size} in all; {because}",
            volumes.len()
        ),
        references(volumes.iter().copied()),
    );
    before.evidence.extend(volumes.iter().map(|volume| Evidence {
        source: format!(
            "PersistentVolume {} spec.persistentVolumeReclaimPolicy, spec.csi.volumeHandle",
            volume.name()
        ),
        value: format!("{}, {}", disk::policy(volume), disk::disk(volume)),
        strength: Strength::Proof,
    }));
}

fn volumes<'a>(names: &[&str], view: &View<'a>) -> Result<Vec<&'a Object>, Missing> {
    if names.len() > ONE_BY_ONE {
        let all = view.list("", "persistentvolumes", "")?;
        return Ok(all
            .iter()
            .filter(|volume| names.contains(&volume.name()))
            .collect());
    }
    // All are asked for before the first answer is used.
    let asked: Vec<_> = names
        .iter()
        .map(|name| view.object("", "persistentvolumes", "", name))
        .collect();
    let found: Result<Vec<_>, _> = asked.into_iter().collect();
    Ok(found?.into_iter().flatten().collect())
}
