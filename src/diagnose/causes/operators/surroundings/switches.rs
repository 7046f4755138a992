//! Fields of an object that switch its controller off for it.
//!
//! Products differ in what that means for a deletion. Current releases of Flux let a suspended object go, and older ones of
//! source-controller left it alone (`fluxcd/source-controller:internal/controller/gitrepository_controller.go`). So a field
//! is only told, where its controller runs and nothing else was found. `knowledge/marks.yaml` has those whose meaning is
//! known.

use serde_json::Value;

use crate::{
    diagnose::model::{Evidence, Finding, Strength},
    snapshot::facts::Object,
};

const SWITCHES: [&str; 2] = ["suspend", "suspended"];

pub(super) fn add_switches(object: &Object, finding: &mut Finding) {
    let is_set = |field: &str| object.value.pointer(&format!("/spec/{field}")) == Some(&Value::Bool(true));
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
