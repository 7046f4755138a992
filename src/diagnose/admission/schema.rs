//! Whether a custom resource still passes the schema of its type.
//!
//! Every update validates the whole object. Since 1.30 errors in unchanged parts are tolerated. But the root
//! changes whenever a finalizer is removed, so the fields that are required there must exist. Source:
//! `kubernetes/apiextensions-apiserver:pkg/apiserver/validation/ratcheting.go` and
//! `pkg/registry/customresource/strategy.go`.

use serde_json::Value;

use crate::{
    diagnose::{admission::is_whole, kinds::CustomResourceDefinition, view::View},
    object::is_custom_group,
    snapshot::facts::Object,
};

/// The required fields that the root of the object lacks, with the definition that requires them.
pub(in crate::diagnose) fn missing<'a>(
    object: &Object,
    view: &View<'a>,
) -> Option<(&'a Object, Vec<&'a str>)> {
    if !is_whole(object) || !is_custom_group(&object.resource.group) {
        return None;
    }
    let definition = view.definition(&object.resource.name()).ok()??;
    let version = object.api_version.rsplit('/').next()?;
    let schema = CustomResourceDefinition(definition).version(version)?.schema()?;
    let required = schema.get("required").and_then(Value::as_array)?;
    let missing: Vec<_> = required
        .iter()
        .filter_map(Value::as_str)
        .filter(|field| object.value.get(field).is_none())
        .collect();
    (!missing.is_empty()).then_some((definition, missing))
}
