//! Patches of which the API server would keep nothing: it drops fields that the schema of a type does not have
//! (`kubernetes/apiextensions-apiserver:pkg/apiserver/schema/pruning/algorithm.go` Prune). A step that promises what such a field
//! would do is wrong for the installed version of the product.

use serde_json::Value;

use crate::{
    command::Command,
    diagnose::{kinds::CustomResourceDefinition, view::View},
    snapshot::facts::Object,
};

/// Whether no version of the object's type has all fields that this command patches in its spec. What is not known drops
/// nothing.
pub(super) fn would_be_pruned(command: &Command, object: &Object, view: &View<'_>) -> bool {
    let type_name = object.resource.name();
    let patch = command.merge_patch_of(&type_name, object.name());
    let Some(patched) = patch.as_ref().and_then(|patch| patch.get("spec")) else {
        return false;
    };
    let Ok(Some(definition)) = view.definition(&type_name) else {
        return false;
    };
    let mut versions = CustomResourceDefinition(definition)
        .versions()
        .filter(|version| version.is_served())
        .peekable();
    let lacks_it = |schema: &Value| {
        schema
            .get("properties")
            .and_then(|fields| fields.get("spec"))
            .is_some_and(|spec| lacks(patched, spec))
    };
    versions.peek().is_some() && versions.all(|version| version.schema().is_some_and(lacks_it))
}

/// Whether a field of the patch is not in the schema.
fn lacks(patch: &Value, schema: &Value) -> bool {
    let keeps_all = schema.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(true))
        || schema.get("additionalProperties").is_some();
    let (Value::Object(patched), Some(Value::Object(fields))) = (patch, schema.get("properties")) else {
        return false;
    };
    let is_lost = |(key, value): (&String, &Value)| fields.get(key).is_none_or(|inner| lacks(value, inner));
    !keeps_all && patched.iter().any(is_lost)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_field_that_the_schema_lacks_is_lost() {
        let schema = json!({"properties": {
            "deletionPolicy": {"type": "string"},
            "backup": {"properties": {"keep": {"type": "boolean"}}},
            "labels": {"additionalProperties": {"type": "string"}},
            "any": {"properties": {}, "x-kubernetes-preserve-unknown-fields": true},
        }});
        for (patch, is_lost) in [
            (json!({"deletionPolicy": "Orphan"}), false),
            (json!({"managementPolicies": ["Observe"]}), true),
            (json!({"backup": {"keep": true}}), false),
            (json!({"backup": {"retain": true}}), true),
            (json!({"backup": null}), false),
            (json!({"labels": {"a": "b"}, "any": {"x": {"y": 1}}}), false),
        ] {
            assert_eq!(lacks(&patch, &schema), is_lost, "{patch}");
        }
        assert!(!lacks(&json!({"a": 1}), &json!({"type": "object"})));
    }
}
