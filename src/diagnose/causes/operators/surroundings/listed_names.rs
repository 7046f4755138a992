//! The objects that a list names, if it is called after the last word of their kind: `clusters: [{name: a}]` for a
//! `KubeFedCluster`. They may be in any namespace. So does a field of the status: `currentAppVersion` for an `AppVersion`.
//!
//! Such a name may belong to something else. So an object is told of only if it exists, is of the same product, and is in
//! trouble.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Troubled;
use crate::{
    diagnose::{
        causes::operators::{
            missing_reference::wishes,
            referenced_by::{is_called_after, name_of_item},
            trouble::trouble,
        },
        limits,
        model::Finding,
        view::View,
    },
    object::{ResourceType, is_product_group},
    snapshot::facts::Object,
};

/// Says which of them is being deleted or is not ready, and returns them.
pub(super) fn add_listed_names(object: &Object, finding: &mut Finding, view: &View<'_>) -> Vec<Troubled> {
    let mut lists = BTreeMap::new();
    let status = object.value.get("status").map(|status| ("status", status));
    for (field, value) in wishes(object).chain(status) {
        collect(value, field, &mut lists);
    }
    let mut told = Vec::new();
    let types = related_types(object, view);
    for (field, names) in lists {
        let key = field.rsplit('.').next().unwrap_or_default();
        let one = key.strip_suffix('s').unwrap_or(key);
        let mut called = types.iter().filter(|ty| is_called_after(one, &ty.kind));
        let ty = match (called.next(), called.next()) {
            (Some(ty), None) => ty,
            (None, _) => match type_in(key, &types) {
                Some(ty) => ty,
                None => continue,
            },
            _ => continue,
        };
        // Types that could not be listed are a gap of the diagnosis.
        let all = view.list(&ty.group, &ty.plural, "").unwrap_or_default();
        let named = all.iter().filter(|other| {
            let is_it = |name: &str| match name.split_once('/') {
                Some((namespace, name)) => namespace == other.namespace() && name == other.name(),
                None => name == other.name(),
            };
            names.iter().any(|name| is_it(name))
        });
        let troubled = named.filter_map(|other| Some((other, trouble(other, view)?)));
        for (found, why) in troubled.take(limits::NAMES_IN_SENTENCE) {
            let named = (
                field.clone(),
                *ty,
                found.namespace().to_owned(),
                found.name().to_owned(),
            );
            told.push(Troubled::told(object, finding, &named, Some(&why)));
        }
    }
    told
}

/// The other types of the product, judging by the domain of their groups: `core.kubefed.io` for `types.kubefed.io`.
fn related_types<'a>(object: &Object, view: &View<'a>) -> Vec<&'a ResourceType> {
    let domain = |group: &str| {
        let parent = group.split_once('.').map(|(_, parent)| parent.to_owned());
        parent
            .filter(|parent| parent.contains('.'))
            .unwrap_or_else(|| group.to_owned())
    };
    let group = &object.resource.group;
    if !is_product_group(group) {
        return Vec::new();
    }
    let own = domain(group);
    let is_related = |ty: &&ResourceType| {
        is_product_group(&ty.group) && domain(&ty.group) == own && ty.name() != object.resource.name()
    };
    view.types().iter().filter(is_related).collect()
}

/// The type whose kind a key contains, as `currentAppVersionInstance` does `AppVersion`: the longest one.
fn type_in<'t, 'a>(key: &str, types: &'t [&'a ResourceType]) -> Option<&'t &'a ResourceType> {
    let key = key.to_lowercase();
    let is_in =
        |ty: &&&ResourceType| ty.kind.len() > limits::FIELD_NAME && key.contains(&ty.kind.to_lowercase());
    types.iter().filter(is_in).max_by_key(|ty| ty.kind.len())
}

/// Collects the names in the lists at this path and below it, by the path of their list.
fn collect<'v>(value: &'v Value, path: &str, lists: &mut BTreeMap<String, Vec<&'v str>>) {
    if path.split('.').count() > limits::FIELD_DEPTH || lists.len() >= limits::REFERENCES_COUNTED {
        return;
    }
    match value {
        Value::Object(fields) => {
            for (key, inner) in fields.iter().filter(|(key, _)| *key != "conditions") {
                collect(inner, &format!("{path}.{key}"), lists);
            }
        }
        // What a controller has chosen: `status.currentAppVersionInstance`.
        Value::String(name) if path.starts_with("status.") && !name.is_empty() => {
            lists.entry(path.to_owned()).or_default().push(name);
        }
        Value::Array(items) => {
            let items = items.iter().take(limits::REFERENCES_COUNTED);
            for item in items {
                match name_of_item(item) {
                    Some(name) => lists.entry(path.to_owned()).or_default().push(name),
                    None => collect(item, path, lists),
                }
            }
        }
        _ => {}
    }
}
