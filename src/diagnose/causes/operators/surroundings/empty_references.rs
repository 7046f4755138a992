//! The references that an object leaves empty, and that mean a default: an empty `storageClassName` means the StorageClass
//! that is marked as the default one. `knowledge/defaults.yaml` has them, and the schema of a type says which of them it has.

use serde_json::Value;

use super::type_schema;
use crate::{
    diagnose::{causes::operators::trouble::trouble, limits, model::Finding, view::View},
    knowledge::{GroupKind, schema::DefaultReference},
    object::{ResourceType, pasteable},
    snapshot::facts::Object,
};

/// What there is of the object that an empty reference means.
enum Meant<'a> {
    Object(&'a Object),
    Nothing,
    NotKnown,
}

/// Says which default is missing, is being deleted, or does not work. What is well is not mentioned.
pub(super) fn add_defaults(object: &Object, finding: &mut Finding, view: &View<'_>) {
    for (path, default) in empty(object, view) {
        let kind = default.kinds.first().map_or("object", |kind| kind.kind());
        let trouble = match meant(default, object, view) {
            Meant::Object(found) => {
                let Some(trouble) = trouble(found, view) else {
                    continue;
                };
                let place = Some(found.namespace()).filter(|namespace| !namespace.is_empty());
                let name = pasteable(&found.resource.name(), place, found.name());
                format!("means {name}, which {trouble}")
            }
            Meant::Nothing => match &default.named {
                Some(name) => format!("means {kind} {name}, which does not exist"),
                None => format!("means the default {kind}, and no {kind} is marked as the default"),
            },
            Meant::NotKnown => continue,
        };
        super::tell(object, finding, format!("{path} is empty, which {trouble}"));
    }
}

/// The field of `user` that is empty, and so means `target`. Each namespace has its own default.
pub(in crate::diagnose::causes::operators) fn field_that_means(
    user: &Object,
    target: &Object,
    view: &View<'_>,
) -> Option<String> {
    let is_it = |default: &DefaultReference| {
        let kind = GroupKind {
            group: &target.resource.group,
            kind: &target.kind,
        };
        default.kinds.iter().any(|pattern| pattern.matches(kind)) && is_default(default, target)
    };
    let is_elsewhere = !target.namespace().is_empty() && target.namespace() != user.namespace();
    // Only a default needs the definitions of others.
    if is_elsewhere || !view.knowledge.defaults().iter().any(is_it) {
        return None;
    }
    let mut empty = empty(user, view).into_iter();
    empty.find(|(_, default)| is_it(default)).map(|(path, _)| path)
}

fn is_default(default: &DefaultReference, found: &Object) -> bool {
    match (&default.named, &default.annotated) {
        (Some(name), _) => found.name() == name,
        (None, Some(annotation)) => found.annotation(annotation) == "true",
        (None, None) => false,
    }
}

fn meant<'a>(default: &DefaultReference, object: &Object, view: &View<'a>) -> Meant<'a> {
    let fits = |ty: &&ResourceType| {
        let kind = GroupKind {
            group: &ty.group,
            kind: &ty.kind,
        };
        default.kinds.iter().any(|pattern| pattern.matches(kind))
    };
    // A pattern over all groups means the product of the object.
    let of_product = super::types_of_domain(&object.resource.group, view).filter(fits);
    let is_fixed = |ty: &&ResourceType| {
        let mut patterns = default.kinds.iter();
        patterns.any(|pattern| pattern.group() == ty.group)
    };
    let elsewhere = view.types().iter().filter(is_fixed).filter(fits);
    let types: Vec<_> = of_product
        .chain(elsewhere)
        .take(limits::TYPES_OF_PATTERN)
        .collect();
    if types.is_empty() {
        return Meant::NotKnown;
    }
    for ty in types {
        let place = if ty.namespaced { object.namespace() } else { "" };
        match view.list(&ty.group, &ty.plural, place) {
            Ok(all) => {
                if let Some(found) = all.iter().find(|one| is_default(default, one)) {
                    return Meant::Object(found);
                }
            }
            Err(_) => return Meant::NotKnown,
        }
    }
    Meant::Nothing
}

/// The references that the type of the object has, and that the object leaves empty, each with its path.
fn empty<'k>(object: &Object, view: &View<'k>) -> Vec<(String, &'k DefaultReference)> {
    let mut found = Vec::new();
    if let (Some(spec), Some(schema)) = (object.value.get("spec"), type_schema::of_spec(object, view)) {
        collect(spec, schema, "spec", view, &mut found);
    }
    found.truncate(limits::NAMES_IN_SENTENCE);
    found
}

fn collect<'k>(
    value: &Value,
    schema: &Value,
    path: &str,
    view: &View<'k>,
    found: &mut Vec<(String, &'k DefaultReference)>,
) {
    let Some(values) = value.as_object() else { return };
    if path.split('.').count() > limits::FIELD_DEPTH {
        return;
    }
    for (key, schema) in type_schema::fields(schema) {
        let path = format!("{path}.{key}");
        let default = view.knowledge.defaults().iter().find(|one| one.field == *key);
        match (values.get(key), default) {
            (None | Some(Value::Null), Some(default)) => found.push((path, default)),
            (Some(Value::String(text)), Some(default)) if text.is_empty() => found.push((path, default)),
            (Some(inner), _) => collect(inner, schema, &path, view, found),
            (None, None) => {}
        }
    }
}
