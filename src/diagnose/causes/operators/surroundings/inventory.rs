//! The objects that an object lists in its status: what it deployed, and removes before it goes.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{
    diagnose::{
        causes::{advice::explain_step, operators::referenced_by::name_of_item, storage::pvc_protection},
        limits,
        model::Finding,
        view::View,
    },
    object::ResourceType,
    snapshot::facts::Object,
};

/// Adds the listed objects that are being deleted and do not go. One that is not being deleted says nothing: the
/// controller may keep it on purpose.
pub(super) fn add_listed(object: &Object, finding: &mut Finding, runs: bool, view: &View<'_>) {
    // What a Flux object or a fleet deploys with a kubeconfig is in another cluster.
    if object.field("/spec/kubeConfig").is_some() {
        return;
    }
    let mut listed = Listed::default();
    if let Some(status) = object.value.get("status") {
        collect(status, "status", object, view, &mut listed);
    }
    for (namespace, field) in listed.namespaces.iter().take(limits::NAMES_IN_SENTENCE) {
        // Whoever went with it may have been needed for the rest: the rights of an account, for example.
        if let Ok(None) = view.object("", "namespaces", "", namespace) {
            super::tell(
                object,
                finding,
                format!("{field} lists objects of namespace {namespace}, which does not exist"),
            );
        }
    }
    add_mounted(object, finding, &listed.found, view);
    let going: Vec<_> = listed
        .found
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

/// Tells which listed claims are in use. A controller that wants to delete one waits for the Pods.
fn add_mounted(object: &Object, finding: &mut Finding, listed: &[(String, &Object)], view: &View<'_>) {
    let claims = listed
        .iter()
        .filter(|(_, found)| found.is("", "persistentvolumeclaims") && found.deletion().is_none());
    let used = claims.filter_map(|(field, claim)| {
        let users = pvc_protection::users(claim, view).ok()?;
        let pod = users.first()?;
        Some(format!(
            "{field} lists PersistentVolumeClaim {}, which Pod {} uses",
            claim.name(),
            pod.name()
        ))
    });
    for says in used.take(limits::NAMES_IN_SENTENCE) {
        super::tell(object, finding, says);
    }
}

/// What the lists of an object have.
#[derive(Default)]
struct Listed<'a> {
    /// The objects that exist, each with the field of its list.
    found: Vec<(String, &'a Object)>,
    /// The namespaces of all of them, each with such a field.
    namespaces: BTreeMap<String, String>,
}

/// Collects what is listed at this path and below it.
fn collect<'a>(value: &Value, path: &str, object: &Object, view: &View<'a>, listed: &mut Listed<'a>) {
    if path.split('.').count() > limits::FIELD_DEPTH {
        return;
    }
    match value {
        Value::Object(fields) => {
            for (key, inner) in fields.iter().filter(|(key, _)| *key != "conditions") {
                collect(inner, &format!("{path}.{key}"), object, view, listed);
            }
        }
        Value::Array(entries) => {
            for entry in entries.iter().take(limits::DEPLOYED_OBJECTS) {
                let claim = || claim(entry, path, object, view);
                let Some((ty, namespace, name)) = named(entry, object, view).or_else(claim) else {
                    collect(entry, path, object, view, listed);
                    continue;
                };
                // Only this form is known to be of this cluster. An Argo CD Application lists what is in another one, too.
                if !namespace.is_empty() && entry.get("id").is_some() {
                    listed
                        .namespaces
                        .entry(namespace.to_owned())
                        .or_insert_with(|| path.to_owned());
                }
                if let Ok(Some(found)) = view.object(&ty.group, &ty.plural, namespace, name) {
                    if listed.found.len() >= limits::DEPLOYED_OBJECTS {
                        return;
                    }
                    listed.found.push((path.to_owned(), found));
                }
            }
        }
        _ => {}
    }
}

/// The type, namespace and name of an entry: with a kind or a resource and a name, or with an id in the form of Flux, which is
/// `NAMESPACE_NAME_GROUP_KIND` (`fluxcd/cli-utils:pkg/object/objmetadata.go`).
fn named<'a, 'e>(
    entry: &'e Value,
    object: &'e Object,
    view: &View<'a>,
) -> Option<(&'a ResourceType, &'e str, &'e str)> {
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
    (!name.is_empty() && ty.namespaced != namespace.is_empty()).then_some((ty, namespace, name))
}

/// The claim that an entry names, in a list that is called after claims: `protectedPVCs: [{name: data}]`.
fn claim<'a, 'e>(
    entry: &'e Value,
    path: &str,
    object: &'e Object,
    view: &View<'a>,
) -> Option<(&'a ResourceType, &'e str, &'e str)> {
    let key = path.rsplit('.').next()?.to_lowercase();
    let is_of_claims = ["pvcs", "persistentvolumeclaims"]
        .iter()
        .any(|end| key.ends_with(end));
    let name = name_of_item(entry)?;
    let ty = view.kind("", "PersistentVolumeClaim").filter(|_| is_of_claims)?;
    (!name.is_empty() && !object.namespace().is_empty()).then_some((ty, object.namespace(), name))
}
