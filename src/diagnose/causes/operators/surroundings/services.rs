//! The Services that an object names in its spec by their DNS names
//! (`kubernetes/dns:docs/specification.md`).

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{
    diagnose::{
        causes::operators::trouble::trouble,
        limits,
        model::{Evidence, Finding, Strength},
        view::View,
    },
    object::pasteable,
    snapshot::facts::Object,
};

/// Says which Services are missing, are being deleted, or have nobody behind them. A Service that exists is only told of where the catalogue does not
/// say what the finalizer waits for.
pub(super) fn add_services(object: &Object, finding: &mut Finding, is_described: bool, view: &View<'_>) {
    let mut named = BTreeSet::new();
    if let Some(spec) = object.value.get("spec") {
        collect(spec, &mut named, 0);
    }
    for (name, namespace) in named.into_iter().take(limits::NAMES_IN_SENTENCE) {
        let service = pasteable("services", Some(&namespace), &name);
        let state = match view.object("", "services", &namespace, &name) {
            Ok(Some(found)) => match trouble(found, view) {
                Some(trouble) if found.deletion().is_some() => trouble,
                Some(trouble) => format!("exists and {trouble}"),
                None if is_described => continue,
                None => "exists".to_owned(),
            },
            Ok(None) => "does not exist".to_owned(),
            Err(_) => continue,
        };
        // Before who wrote the object: it may be what the controller waits for.
        let fact = format!("Its spec names {service}, which {state}");
        finding.wait.said.now.insert(0, fact);
        finding.evidence.push(Evidence {
            source: format!("{} {} spec", object.kind, object.name()),
            value: format!("names {service}, which {state}"),
            strength: Strength::Moderate,
        });
    }
}

fn collect(value: &Value, found: &mut BTreeSet<(String, String)>, depth: usize) {
    if depth > limits::FIELD_DEPTH {
        return;
    }
    match value {
        Value::String(text) => found.extend(services_in(text)),
        Value::Array(items) => items.iter().for_each(|item| collect(item, found, depth + 1)),
        Value::Object(fields) => fields.values().for_each(|field| collect(field, found, depth + 1)),
        _ => {}
    }
}

/// The names and namespaces of Services in a text: `NAME.NAMESPACE.svc`, with or without the domain of the cluster.
fn services_in(text: &str) -> Vec<(String, String)> {
    let is_inside = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '.';
    text.split(|c| !is_inside(c))
        .filter_map(|host| {
            let labels: Vec<_> = host.split('.').collect();
            let at = labels.iter().position(|label| *label == "svc")?;
            let namespace = labels.get(at.checked_sub(1)?)?;
            let name = labels.get(at.checked_sub(2)?)?;
            (!name.is_empty() && !namespace.is_empty()).then(|| ((*name).to_owned(), (*namespace).to_owned()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_names_of_services() {
        let one = vec![("db".to_owned(), "shop".to_owned())];
        for text in [
            "db.shop.svc",
            "https://db.shop.svc:443/x",
            "postgres://u@db-0.db.shop.svc.cluster.local:5432/app",
        ] {
            assert_eq!(services_in(text), one, "{text}");
        }
        for text in ["svc", "db.svc", "example.com", "a..svc", ""] {
            assert!(services_in(text).is_empty(), "{text}");
        }
    }
}
