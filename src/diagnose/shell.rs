//! Keeps commands safe to paste into a shell. Names are written by others: a dump holds any name, and the API
//! server accepts any name for a role (`kubernetes/apimachinery:pkg/api/validation/path/name.go`). If a shell
//! would not take a name as part of a word, a placeholder replaces it. The reader fills in the placeholder.
//! This holds for the commands of every cause.

use crate::{
    diagnose::{
        causes::advice::word,
        model::{Blocker, Diagnosis, Wait},
    },
    object::ObjectRef,
    snapshot::facts::Object,
};

/// Fields whose values also stand in commands. In custom resources nothing validates them.
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
/// The placeholder, as in the commands of the catalogue.
const PLACEHOLDER: &str = "<name>";

/// Replaces every unsafe name in all commands.
pub(super) fn commands(diagnosis: &mut Diagnosis, target: &Object) {
    let mut names: Vec<String> = FIELDS.iter().map(|field| target.text(field).to_owned()).collect();
    diagnosis
        .waits
        .iter()
        .for_each(|wait| add_names_of_wait(wait, &mut names));
    for object in diagnosis.effects.iter().flat_map(|effect| &effect.objects) {
        add_names_of_object(object, &mut names);
    }
    names.retain(|name| is_unsafe(name));
    // Longer names come first, because one name may be part of another.
    names.sort_by_key(|name| std::cmp::Reverse(name.len()));
    names.dedup();
    for command in diagnosis
        .steps
        .iter_mut()
        .filter_map(|step| step.command.as_mut())
    {
        for name in &names {
            // A quoted name is already one word.
            let parts: Vec<_> = command
                .split(&word(name))
                .map(|part| part.replace(name.as_str(), PLACEHOLDER))
                .collect();
            *command = parts.join(&word(name));
        }
    }
}

/// Whether a shell gives a character of the name a meaning of its own.
fn is_unsafe(name: &str) -> bool {
    name.chars()
        .any(|c| !(c.is_alphanumeric() || "-_./:@%+=,~".contains(c)))
}

fn add_names_of_wait(wait: &Wait, names: &mut Vec<String>) {
    wait.on
        .iter()
        .for_each(|blocker| add_names_of_blocker(blocker, names));
}

fn add_names_of_blocker(blocker: &Blocker, names: &mut Vec<String>) {
    if let Some(object) = &blocker.object {
        add_names_of_object(object, names);
    }
    blocker
        .on
        .iter()
        .for_each(|blocker| add_names_of_blocker(blocker, names));
    blocker
        .waits
        .iter()
        .for_each(|wait| add_names_of_wait(wait, names));
}

fn add_names_of_object(object: &ObjectRef, names: &mut Vec<String>) {
    names.push(object.name.clone());
    names.extend(object.namespace.clone());
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::diagnose::testing::world::{World, object};

    /// A role may have such a name, and so may any object in a dump.
    #[test]
    fn no_name_acts_on_the_shell() {
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
            let diagnosis = World::of([pod]).explain(&target);
            for command in diagnosis.steps.iter().filter_map(|step| step.command.as_deref()) {
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
