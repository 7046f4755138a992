//! The labels by which an object selects others, where nothing has them.

use serde_json::{Map, Value};

use crate::{
    diagnose::{
        limits,
        model::{Evidence, Finding, Strength},
        view::View,
    },
    snapshot::facts::{By, Object},
};

/// What the selectors are called, and the type that they select.
const SELECTORS: [(&str, &str, &str); 4] = [
    ("podSelector", "pods", "Pod"),
    ("nodeSelector", "nodes", "Node"),
    ("serviceSelector", "services", "Service"),
    ("namespaceSelector", "namespaces", "Namespace"),
];

/// Says which selectors in the spec select nothing. Many mean nothing bad by that, so nobody is blamed.
pub(super) fn add_empty(object: &Object, finding: &mut Finding, view: &View<'_>) {
    let mut found = Vec::new();
    if let Some(spec) = object.value.get("spec") {
        collect(spec, "spec", &mut found);
    }
    for (path, labels, (_, plural, kind)) in found.into_iter().take(limits::NAMES_IN_SENTENCE) {
        let place = if matches!(plural, "pods" | "services") {
            object.namespace()
        } else {
            ""
        };
        let selected = view.search("", plural, place, By::Labels(labels.clone()));
        if !selected.is_ok_and(<[Object]>::is_empty) {
            continue;
        }
        finding.say(format!("Its {path} selects no {kind}"));
        finding.evidence.push(Evidence {
            source: format!("{} {} {path}", object.kind, object.name()),
            value: format!("no {kind} has the labels {labels}"),
            strength: Strength::Moderate,
        });
    }
}

type Selector = (&'static str, &'static str, &'static str);

fn collect(value: &Value, path: &str, found: &mut Vec<(String, String, Selector)>) {
    if path.split('.').count() > limits::FIELD_DEPTH {
        return;
    }
    match value {
        Value::Object(fields) => {
            for (key, inner) in fields {
                let path = format!("{path}.{key}");
                let selector = SELECTORS.into_iter().find(|(name, _, _)| name == key);
                match selector.and_then(|selector| Some((selector, labels(inner)?))) {
                    Some((selector, labels)) => found.push((path, labels, selector)),
                    None => collect(inner, &path, found),
                }
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate().take(limits::REFERENCES_COUNTED) {
                collect(item, &format!("{path}[{at}]"), found);
            }
        }
        _ => {}
    }
}

/// The labels of a selector, as a query. None if it has other requirements, or none at all: then it selects everything.
fn labels(selector: &Value) -> Option<String> {
    let fields = selector.as_object()?;
    let labels: &Map<_, _> = match fields.get("matchLabels") {
        Some(labels) if !fields.contains_key("matchExpressions") => labels.as_object()?,
        Some(_) => return None,
        None => fields,
    };
    let pairs: Option<Vec<_>> = labels
        .iter()
        .map(|(key, value)| Some(format!("{key}={}", value.as_str()?)))
        .collect();
    pairs.map(|pairs| pairs.join(",")).filter(|text| !text.is_empty())
}
