//! The PersistentVolume of the same name. A driver that keeps an object for each volume gives it the name that
//! external-provisioner gave to the volume (`kubernetes-csi/external-provisioner:pkg/controller/controller.go`
//! makeVolumeName).

use crate::{
    diagnose::{
        kinds::PersistentVolume,
        model::{Evidence, Finding, Strength},
        view::View,
    },
    snapshot::facts::Object,
};

/// Says what is with the volume. A name alone changes no verdict, and a redacted snapshot has other names.
pub(super) fn add_volume(object: &Object, finding: &mut Finding, view: &View<'_>) {
    if !is_name_of_volume(object.name()) {
        return;
    }
    let Ok(found) = view.object("", "persistentvolumes", "", object.name()) else {
        return;
    };
    let state = match found {
        None => "does not exist, so external-provisioner does not ask the driver to delete it".to_owned(),
        Some(volume) if volume.deletion().is_some() => "is being deleted, too".to_owned(),
        Some(volume) => match PersistentVolume(volume).phase() {
            "" => "exists".to_owned(),
            phase => format!("exists, and is {phase}"),
        },
    };
    let value = format!("PersistentVolume {} {state}", object.name());
    finding.say(value.clone());
    finding.evidence.push(Evidence {
        source: "the PersistentVolume of the same name".to_owned(),
        value,
        strength: Strength::Moderate,
    });
}

/// Whether a name is `pvc-` and the uid of a claim.
fn is_name_of_volume(name: &str) -> bool {
    let Some(uid) = name.strip_prefix("pvc-") else {
        return false;
    };
    let parts: Vec<_> = uid.split('-').map(str::len).collect();
    parts == [8, 4, 4, 4, 12] && uid.chars().all(|c| c == '-' || c.is_ascii_hexdigit())
}
