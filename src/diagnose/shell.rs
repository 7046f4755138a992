//! Commands are pasted into shells, and names are what others wrote: a dump holds any name, and the API server itself takes
//! any for a role (`kubernetes/apimachinery:pkg/api/validation/path/name.go`). What a shell would not take for part of a word is
//! left for the reader to fill in, in whichever rule's command it stands.

use crate::{
    diagnose::{
        causes::advice::word,
        model::{Blocker, Diagnosis, Wait},
    },
    object::ObjectRef,
    snapshot::facts::Object,
};

/// Fields whose values commands name too; nobody checks them in custom resources.
const FIELDS: &[&str] = &[
    "/metadata/name",
    "/metadata/namespace",
    "/spec/claimRef/name",
    "/spec/claimRef/namespace",
    "/spec/nodeName",
    "/spec/source/persistentVolumeName",
    "/spec/source/volumeSnapshotContentName",
    "/spec/volumeName",
    "/spec/volumeSnapshotRef/name",
    "/spec/volumeSnapshotRef/namespace",
    "/status/boundVolumeSnapshotContentName",
    "/status/nodeName",
];
/// What stands in their place, as in the commands of the catalogue.
const OPEN: &str = "<name>";

/// Takes out of all commands what is no part of a word.
pub(super) fn commands(diagnosis: &mut Diagnosis, target: &Object) {
    let mut names: Vec<String> = FIELDS.iter().map(|field| target.text(field).to_owned()).collect();
    diagnosis.waits.iter().for_each(|wait| of_wait(wait, &mut names));
    for object in diagnosis.effects.iter().flat_map(|effect| &effect.objects) {
        of_object(object, &mut names);
    }
    names.retain(|name| acts(name));
    // One may be part of another.
    names.sort_by_key(|name| std::cmp::Reverse(name.len()));
    names.dedup();
    for command in diagnosis
        .steps
        .iter_mut()
        .filter_map(|step| step.command.as_mut())
    {
        for name in &names {
            // What a rule has quoted is one word already.
            let parts: Vec<_> = command
                .split(&word(name))
                .map(|part| part.replace(name.as_str(), OPEN))
                .collect();
            *command = parts.join(&word(name));
        }
    }
}

/// Whether a shell takes anything in it for something else than itself.
fn acts(name: &str) -> bool {
    name.chars()
        .any(|c| !(c.is_alphanumeric() || "-_./:@%+=,~".contains(c)))
}

fn of_wait(wait: &Wait, names: &mut Vec<String>) {
    wait.on.iter().for_each(|blocker| of_blocker(blocker, names));
}

fn of_blocker(blocker: &Blocker, names: &mut Vec<String>) {
    if let Some(object) = &blocker.object {
        of_object(object, names);
    }
    blocker.on.iter().for_each(|blocker| of_blocker(blocker, names));
    blocker.waits.iter().for_each(|wait| of_wait(wait, names));
}

fn of_object(object: &ObjectRef, names: &mut Vec<String>) {
    names.push(object.name.clone());
    names.extend(object.namespace.clone());
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::diagnose::testing::world::{World, object};

    /// A role may be called so, and a dump may call anything so.
    #[test]
    fn no_name_becomes_a_command() {
        let evil = "a|evil-test>x;$(id)'x'\"y\"`z`&&\ntrue";
        let metadata = |name: &str, namespace: &str| {
            json!({"name": name, "namespace": namespace, "finalizers": ["kubernetes.io/pvc-protection", "x.test/y",
                "finalizer.acme.cert-manager.io", "foregroundDeletion"], "deletionTimestamp": "2026-01-01T09:00:00Z"})
        };
        let (mut commands, mut open) = (0, 0);
        for (group, plural, kind) in [
            ("", "persistentvolumeclaims", "PersistentVolumeClaim"),
            ("", "persistentvolumes", "PersistentVolume"),
            ("rbac.authorization.k8s.io", "clusterroles", "ClusterRole"),
            ("acme.cert-manager.io", "challenges", "Challenge"),
            ("storage.k8s.io", "volumeattachments", "VolumeAttachment"),
        ] {
            let target = object(
                group,
                plural,
                kind,
                json!({"metadata": metadata(evil, evil), "spec": {"volumeName": evil, "nodeName": evil,
                    "claimRef": {"name": evil, "namespace": evil}, "source": {"persistentVolumeName": evil}}}),
            );
            let pod = object(
                "",
                "pods",
                "Pod",
                json!({"metadata": {"name": evil, "namespace": evil}, "spec": {"nodeName": "n",
                    "volumes": [{"persistentVolumeClaim": {"claimName": evil}}]}}),
            );
            let told = World::of([pod]).explain(&target);
            for command in told.steps.iter().filter_map(|step| step.command.as_deref()) {
                assert!(!command.contains("evil-test"), "{command}");
                commands += 1;
                open += usize::from(command.contains("<name>"));
            }
        }
        assert!(
            commands > 20 && open > 10,
            "{commands} commands, {open} left open"
        );
    }
}
