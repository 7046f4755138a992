//! What the definition of a custom type says of its fields.

use serde_json::Value;

use crate::{
    diagnose::{kinds::CustomResourceDefinition, view::View},
    object::is_custom_group,
    snapshot::facts::Object,
};

/// The schema of the spec of a type, in the version that the object was read in. None for a type that is not custom, and where
/// its definition cannot be read: then the values alone count.
pub(super) fn of_spec<'a>(object: &Object, view: &View<'a>) -> Option<&'a Value> {
    if !is_custom_group(&object.resource.group) {
        return None;
    }
    let definition = view.definition(&object.resource.name()).ok()??;
    let version = object.api_version.rsplit('/').next()?;
    let schema = CustomResourceDefinition(definition).version(version)?.schema()?;
    schema.pointer("/properties/spec")
}

/// The fields that an object with this schema can have.
pub(super) fn fields(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.into_iter().flatten()
}

/// The schema of one field, or of any value in a map.
pub(super) fn field<'a>(schema: &'a Value, key: &str) -> Option<&'a Value> {
    let named = schema.get("properties").and_then(|fields| fields.get(key));
    named.or_else(|| schema.get("additionalProperties"))
}

/// The schema of the items of a list.
pub(super) fn item(schema: &Value) -> Option<&Value> {
    schema.get("items")
}

/// What the type says of a field.
pub(super) fn description(schema: &Value) -> &str {
    schema
        .get("description")
        .and_then(Value::as_str)
        .unwrap_or_default()
}
