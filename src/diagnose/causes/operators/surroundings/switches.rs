//! Fields of an object that switch its controller off for it, or say what its deletion does.
//!
//! Products differ in what that means for a deletion. Current releases of Flux let a suspended object go, and older ones of
//! source-controller left it alone (`fluxcd/source-controller:internal/controller/gitrepository_controller.go`). So a field
//! is only told, where its controller runs and nothing else was found. `knowledge/marks.yaml` has those whose meaning is
//! known.

use serde_json::Value;

use crate::{
    diagnose::{
        limits,
        model::{Evidence, Finding, Strength},
    },
    object::is_custom_group,
    snapshot::facts::Object,
};

const SWITCHES: [&str; 2] = ["suspend", "suspended"];

/// Words in the names of fields that say what a deletion does.
const OF_DELETION: [&str; 8] = [
    "delet", "destroy", "retain", "reclaim", "cleanup", "prun", "orphan", "keep",
];

pub(super) fn add_switches(object: &Object, finding: &mut Finding) {
    add_settings_of_deletion(object, finding);
    let is_set = |field: &str| object.field(&format!("/spec/{field}")) == Some(&Value::Bool(true));
    if let Some(field) = SWITCHES.into_iter().find(|field| is_set(field)) {
        finding.say(format!(
            "Its spec.{field} is true, and some controllers then do nothing, not even for a deletion"
        ));
        finding.evidence.push(Evidence {
            source: format!("{} {} spec.{field}", object.kind, object.name()),
            value: "true".to_owned(),
            strength: Strength::Moderate,
        });
    }
}

/// Says what its spec sets for its deletion. Where nobody described the finalizer, that is all that tells what its controller may
/// do, and some controllers trip over a setting.
fn add_settings_of_deletion(object: &Object, finding: &mut Finding) {
    if finding.wait.known.is_some() || !is_custom_group(&object.resource.group) {
        return;
    }
    let fields = object.value.get("spec").and_then(Value::as_object);
    let is_of_deletion = |name: &str| {
        let name = name.to_lowercase();
        OF_DELETION.iter().any(|word| name.contains(word))
    };
    let settings = fields.into_iter().flatten().filter_map(|(name, value)| {
        let says = match value {
            Value::Bool(is_set) => is_set.to_string(),
            Value::String(text) if !text.is_empty() => text.clone(),
            _ => return None,
        };
        is_of_deletion(name).then(|| format!("spec.{name} is {says}"))
    });
    for says in settings.take(limits::NAMES_IN_SENTENCE) {
        super::tell(object, finding, says);
    }
}
