//! The objects that an object names in its spec, and what is wrong with them: `clusterRef`, `cluster: {name}` or
//! `clusterName` for a Cluster of its product.
//!
//! So many of them are read as [`limits::REFERENCES`] allows. The rest is counted, and nothing is concluded from it.

use serde_json::Value;

use super::{Named, described_fields};
use crate::{
    diagnose::{
        causes::operators::{missing_reference, referenced_by::is_called_after, trouble::trouble},
        limits,
        model::{Evidence, Finding, Strength},
        view::View,
    },
    object::{ResourceType, pasteable},
    snapshot::facts::Object,
};

/// Says which of the named objects is missing, is being deleted or is not ready. What is well is not mentioned.
pub(super) fn add_references(object: &Object, finding: &mut Finding, view: &View<'_>) {
    let known: Vec<_> = missing_reference::references(object, view)
        .into_iter()
        .map(|reference| {
            (
                reference.field,
                reference.ty,
                reference.namespace.to_owned(),
                reference.name.to_owned(),
            )
        })
        .collect();
    let mut named = Vec::new();
    if let Some(spec) = object.value.get("spec") {
        collect(spec, "spec", object, view, &mut named);
    }
    let mut by_description = described_fields::references(object, view);
    by_description.retain(|one| !named.iter().any(|other| other.0 == one.0));
    named.extend(by_description);
    let is_new = |one: &&(String, &ResourceType, String, String)| !known.iter().any(|other| other.3 == one.3);
    let by_kind: Vec<_> = named.iter().filter(is_new).cloned().collect();
    // A missing object is told of with the references by their form.
    let all: Vec<_> = known
        .into_iter()
        .map(|one| (false, one))
        .chain(by_kind.into_iter().map(|one| (true, one)))
        .collect();
    if let Some(more) = all.len().checked_sub(limits::REFERENCES).filter(|more| *more > 0) {
        view.leave_out();
        finding.say(format!(
            "{more} more of the objects that its spec names were not looked at"
        ));
    }
    for (is_by_kind, (field, ty, namespace, name)) in all.into_iter().take(limits::REFERENCES) {
        let trouble = match view.object(&ty.group, &ty.plural, &namespace, &name) {
            Ok(Some(found)) => trouble(found, view),
            Ok(None) if is_by_kind => Some("does not exist".to_owned()),
            Ok(None) | Err(_) => None,
        };
        let Some(trouble) = trouble else { continue };
        let place = Some(&*namespace).filter(|namespace| !namespace.is_empty());
        let says = format!(
            "{field} names {}, which {trouble}",
            pasteable(&ty.name(), place, &name)
        );
        finding.say(format!("Its {says}"));
        finding.evidence.push(Evidence {
            source: format!("{} {}", object.kind, object.name()),
            value: says,
            strength: Strength::Moderate,
        });
    }
}

/// Collects the fields that are called after a kind of the same product, and hold a name.
fn collect<'a>(value: &Value, path: &str, object: &Object, view: &View<'a>, found: &mut Vec<Named<'a>>) {
    if found.len() >= limits::REFERENCES_COUNTED || path.split('.').count() > limits::FIELD_DEPTH {
        return;
    }
    match value {
        Value::Object(fields) => {
            for (key, inner) in fields {
                let path = format!("{path}.{key}");
                match named(key, inner, object, view) {
                    Some((ty, namespace, name)) => found.push((path, ty, namespace, name)),
                    None => collect(inner, &path, object, view, found),
                }
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate().take(limits::REFERENCES_COUNTED) {
                collect(item, &format!("{path}[{at}]"), object, view, found);
            }
        }
        _ => {}
    }
}

fn named<'a>(
    key: &str,
    value: &Value,
    object: &Object,
    view: &View<'a>,
) -> Option<(&'a ResourceType, String, String)> {
    let field = |name: &str| value.get(name).and_then(Value::as_str);
    let name = value
        .as_str()
        .or_else(|| field("name"))
        .filter(|name| !name.is_empty())?;
    let mut types = super::types_of_domain(&object.resource.group, view);
    let ty = types
        .find(|ty| field("kind").is_none_or(|kind| kind == ty.kind) && is_called_after(key, &ty.kind))?;
    let namespace = match field("namespace") {
        _ if !ty.namespaced => String::new(),
        Some(namespace) => namespace.to_owned(),
        None => object.namespace().to_owned(),
    };
    (ty.namespaced != namespace.is_empty() && name != object.name()).then(|| (ty, namespace, name.to_owned()))
}
