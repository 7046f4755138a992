//! The references of an object that only the definition of its type explains: `spec.target.name` is no more than a name, and
//! the description says "Name of the Gadget".

use serde_json::Value;

use super::{Named, type_schema};
use crate::{
    diagnose::{limits, view::View},
    object::{ResourceType, is_custom_group},
    snapshot::facts::Object,
};

/// What the name of such a field ends with.
const ENDS: [&str; 4] = ["Ref", "Reference", "Name", "ClassName"];
/// The kinds of Kubernetes that a description may mean. Other words with a capital letter only begin a sentence.
const BUILT_IN: [&str; 9] = [
    "ConfigMap",
    "DaemonSet",
    "Deployment",
    "PersistentVolumeClaim",
    "Secret",
    "Service",
    "ServiceAccount",
    "StatefulSet",
    "StorageClass",
];

/// The references whose kind the description of the field names.
pub(super) fn references<'a>(object: &Object, view: &View<'a>) -> Vec<Named<'a>> {
    let mut found = Vec::new();
    if let (Some(spec), Some(schema)) = (object.value.get("spec"), type_schema::of_spec(object, view)) {
        collect(spec, schema, "spec", object, view, &mut found);
    }
    found
}

fn collect<'a>(
    value: &Value,
    schema: &Value,
    path: &str,
    object: &Object,
    view: &View<'a>,
    found: &mut Vec<Named<'a>>,
) {
    if found.len() >= limits::REFERENCES_COUNTED || path.split('.').count() > limits::FIELD_DEPTH {
        return;
    }
    match value {
        Value::Object(fields) => {
            for (key, inner) in fields {
                let Some(schema) = type_schema::field(schema, key) else {
                    continue;
                };
                let path = format!("{path}.{key}");
                match named(key, inner, schema, object, view) {
                    Some((ty, namespace, name)) => found.push((path, ty, namespace, name)),
                    None => collect(inner, schema, &path, object, view, found),
                }
            }
        }
        Value::Array(items) => {
            let Some(schema) = type_schema::item(schema) else {
                return;
            };
            for (at, item) in items.iter().enumerate().take(limits::REFERENCES_COUNTED) {
                collect(item, schema, &format!("{path}[{at}]"), object, view, found);
            }
        }
        _ => {}
    }
}

fn named<'a>(
    key: &str,
    value: &Value,
    schema: &Value,
    object: &Object,
    view: &View<'a>,
) -> Option<(&'a ResourceType, String, String)> {
    if !ENDS.iter().any(|end| key.ends_with(end)) {
        return None;
    }
    let field = |name: &str| value.get(name).and_then(Value::as_str);
    let name = value.as_str().or_else(|| field("name"))?;
    let ty = kind_in(type_schema::description(schema), object, view)?;
    let namespace = match field("namespace") {
        _ if !ty.namespaced => "",
        Some(namespace) => namespace,
        None => object.namespace(),
    };
    (!name.is_empty() && ty.namespaced != namespace.is_empty())
        .then(|| (ty, namespace.to_owned(), name.to_owned()))
}

/// The one kind that a description names, of the product of the object or of Kubernetes. With several, nobody can choose.
fn kind_in<'a>(text: &str, object: &Object, view: &View<'a>) -> Option<&'a ResourceType> {
    let is_word = |kind: &str| {
        let mut words = text.split(|c: char| !c.is_ascii_alphanumeric());
        words.any(|word| word == kind || word.strip_suffix('s') == Some(kind))
    };
    let of_product = super::types_of_domain(&object.resource.group, view);
    let built_in = view
        .types()
        .iter()
        .filter(|ty| !is_custom_group(&ty.group) && BUILT_IN.contains(&&*ty.kind));
    let mut named = of_product
        .chain(built_in)
        .filter(|ty| ty.kind != object.kind && is_word(&ty.kind));
    let first = named.next()?;
    named.all(|other| other.kind == first.kind).then_some(first)
}
