//! The storage class that claims, volumes and their templates name.

use serde_json::Value;

use crate::{
    diagnose::{
        impact::{Impact, references},
        model::Fate,
    },
    snapshot::facts::Object,
};

const BETA_CLASS: &str = "volume.beta.kubernetes.io/storage-class";

/// Adds the workloads whose pods have ephemeral volumes of the class. `which` names the class in a sentence.
pub(crate) fn add_ephemeral_volumes(makers: &[&Object], which: &str, impact: &mut Impact) {
    if makers.is_empty() {
        return;
    }
    let says = format!(
        "workloads with ephemeral volumes that name {which}: {}; new pods of them get no volume, and wait",
        makers.len()
    );
    impact.add_effect(Fate::Broken, says, references(makers.iter().copied()));
}

/// The claim template of a generic ephemeral volume; none for other volumes.
pub(crate) fn ephemeral_claim(volume: &Value) -> Option<&Value> {
    volume.pointer("/ephemeral/volumeClaimTemplate")
}

/// The class that a claim or a volume names. The annotation precedes the spec
/// (`kubernetes/component-helpers:storage/volume/helpers.go` GetPersistentVolumeClaimClass).
pub(crate) fn class_of(object: &Object) -> &str {
    match object.annotation(BETA_CLASS) {
        "" => object.text("/spec/storageClassName"),
        class => class,
    }
}

/// The class that each volumeClaimTemplate of a `StatefulSet` names.
pub(crate) fn template_classes(set: &Object) -> impl Iterator<Item = Option<&str>> {
    set.list("/spec/volumeClaimTemplates")
        .iter()
        .map(class_of_template)
}

/// The class that a claim template names. An empty name asks for volumes without a class.
pub(crate) fn class_of_template(template: &Value) -> Option<&str> {
    let annotations = template.pointer("/metadata/annotations");
    let old = annotations.and_then(|all| all.get(BETA_CLASS));
    let class = old.or_else(|| template.pointer("/spec/storageClassName"));
    class.and_then(Value::as_str)
}
