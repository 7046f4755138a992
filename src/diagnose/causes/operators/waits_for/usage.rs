//! What a usage stands for. Some products make an object for each use of another one: a `Usage`, a `ClusterReference`, a
//! `ServiceBinding`. It protects the other one until its user is gone (`crossplane/crossplane:apis/v2/protection/`).

use serde_json::{Map, Value};

use crate::{
    diagnose::{holder::makers, limits, model::Blocker, view::View},
    object::ResourceType,
    snapshot::facts::Object,
};

/// What the kinds of such objects end with.
const KINDS: [&str; 4] = ["Usage", "Reference", "Binding", "Grant"];

/// Adds what stands behind a blocker that is a usage of `object`, whether that still exists, and who made the usage.
pub(super) fn follow(usage: &Object, object: &Object, blocker: &mut Blocker, view: &View<'_>) {
    if !KINDS.iter().any(|end| usage.kind.ends_with(end)) {
        return;
    }
    let mut named = Vec::new();
    let fields = usage.value.as_object().into_iter().flatten();
    for (_, field) in fields.filter(|(key, _)| !["metadata", "status"].contains(&key.as_str())) {
        collect(field, usage, view, 0, &mut named);
    }
    let is_target = |(ty, _, name): &(&ResourceType, &str, &str)| {
        ty.name() == object.resource.name() && *name == object.name()
    };
    named.retain(|one| !is_target(one));
    for (ty, namespace, name) in named.into_iter().take(limits::NAMES_IN_SENTENCE) {
        let state = match view.object(&ty.group, &ty.plural, namespace, name) {
            Ok(Some(found)) if found.deletion().is_some() => {
                let says = "is what it stands for, and is being deleted".to_owned();
                blocker.on.push(view.blocker(found, says));
                continue;
            }
            Ok(Some(_)) => "which exists".to_owned(),
            Ok(None) => "which does not exist any more".to_owned(),
            Err(missing) => format!("and whether that exists is not known: {}", missing.in_words()),
        };
        let text = format!("; it stands for {} {name}, {state}", ty.kind);
        blocker.says.add(&text);
    }
    let maker = usage
        .controller()
        .map(|(kind, name)| format!("{kind} {name}"))
        .or_else(|| makers(usage).into_iter().next());
    if let Some(maker) = maker {
        blocker.says.add(&format!("; {maker} made it"));
    }
}

type Named<'a> = (&'a ResourceType, &'a str, &'a str);

/// Collects what the fields name by kind and name: `{kind, name}`, or `{kind, resourceRef: {name}}`.
fn collect<'a>(
    value: &'a Value,
    usage: &'a Object,
    view: &View<'a>,
    depth: usize,
    found: &mut Vec<Named<'a>>,
) {
    if depth > limits::FIELD_DEPTH || found.len() >= limits::REFERENCES {
        return;
    }
    match value {
        Value::Object(fields) => match named(fields, usage, view) {
            Some(one) => found.push(one),
            None => fields
                .values()
                .for_each(|field| collect(field, usage, view, depth + 1, found)),
        },
        Value::Array(items) => items
            .iter()
            .take(limits::REFERENCES)
            .for_each(|item| collect(item, usage, view, depth + 1, found)),
        _ => {}
    }
}

fn named<'a>(fields: &'a Map<String, Value>, usage: &'a Object, view: &View<'a>) -> Option<Named<'a>> {
    let field = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default();
    let inner = |name: &str| {
        let inner = fields.get("resourceRef").and_then(|inner| inner.get(name));
        inner.and_then(Value::as_str).unwrap_or_default()
    };
    let group = match field("apiVersion").split_once('/') {
        Some((group, _)) => group,
        None => field("group"),
    };
    let ty = view.kind(group, field("kind"))?;
    let first = |one: &'a str, other: &'a str| if one.is_empty() { other } else { one };
    let name = first(field("name"), inner("name"));
    let namespace = match first(field("namespace"), inner("namespace")) {
        _ if !ty.namespaced => "",
        "" => usage.namespace(),
        namespace => namespace,
    };
    (!name.is_empty() && ty.namespaced != namespace.is_empty()).then_some((ty, namespace, name))
}
