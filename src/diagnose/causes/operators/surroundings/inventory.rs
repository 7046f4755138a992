//! The objects that an object lists in its status: what it deployed, and removes before it goes.

use serde_json::Value;

use crate::{
    diagnose::{causes::advice::explain_step, limits, model::Finding, view::View},
    snapshot::facts::Object,
};

/// Adds the listed objects that are being deleted and do not go. One that is not being deleted says nothing: the
/// controller may keep it on purpose.
pub(super) fn add_listed(object: &Object, finding: &mut Finding, runs: bool, view: &View<'_>) {
    // What a Flux object or a fleet deploys with a kubeconfig is in another cluster.
    if object.value.pointer("/spec/kubeConfig").is_some() {
        return;
    }
    let mut listed = Vec::new();
    if let Some(status) = object.value.get("status") {
        collect(status, "status", object, view, &mut listed);
    }
    let going: Vec<_> = listed
        .into_iter()
        .filter(|(_, found)| found.deletion().is_some() && found.uid() != object.uid())
        .collect();
    for (field, found) in &going {
        let blocker = view.blocker(found, format!("is listed in its {field}, and is being deleted"));
        super::add_blocker(finding, blocker, runs);
    }
    let steps = going
        .iter()
        .take(limits::STEPS_FOR_EACH)
        .map(|(_, found)| explain_step(found, format!("see what holds {} {}", found.kind, found.name())));
    finding.steps.splice(0..0, steps);
}

/// Collects the listed objects that exist, each with the field of its list.
fn collect<'a>(
    value: &Value,
    path: &str,
    object: &Object,
    view: &View<'a>,
    found: &mut Vec<(String, &'a Object)>,
) {
    if path.split('.').count() > limits::FIELD_DEPTH {
        return;
    }
    match value {
        Value::Object(fields) => {
            for (key, inner) in fields.iter().filter(|(key, _)| *key != "conditions") {
                collect(inner, &format!("{path}.{key}"), object, view, found);
            }
        }
        Value::Array(entries) => {
            for entry in entries.iter().take(limits::DEPLOYED_OBJECTS) {
                match listed(entry, object, view) {
                    Some(one) if found.len() < limits::DEPLOYED_OBJECTS => found.push((path.to_owned(), one)),
                    Some(_) => return,
                    None => collect(entry, path, object, view, found),
                }
            }
        }
        _ => {}
    }
}

/// The object of an entry: with a kind or a resource and a name, or with an id in the form of Flux, which is
/// `NAMESPACE_NAME_GROUP_KIND` (`fluxcd/cli-utils:pkg/object/objmetadata.go`).
fn listed<'a>(entry: &Value, object: &Object, view: &View<'a>) -> Option<&'a Object> {
    let field = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default();
    let parts: Vec<_> = field("id").splitn(4, '_').collect();
    let (namespace, name, group, kind) = if let [namespace, name, group, kind] = parts[..] {
        (namespace, name, group, kind)
    } else {
        let group = field("apiVersion")
            .split_once('/')
            .map_or(field("group"), |(group, _)| group);
        (field("namespace"), field("name"), group, field("kind"))
    };
    let ty = match field("resource") {
        "" => view.kind(group, kind),
        plural => view.resource_type(group, plural),
    }?;
    let namespace = match namespace {
        _ if !ty.namespaced => "",
        "" => object.namespace(),
        namespace => namespace,
    };
    if name.is_empty() || ty.namespaced == namespace.is_empty() {
        return None;
    }
    view.object(&ty.group, &ty.plural, namespace, name).ok()?
}
