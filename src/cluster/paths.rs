//! Paths and parameters of requests.

use crate::{
    object::{ResourceType, escape},
    snapshot::facts::By,
};

/// The path of one object. Names may hold special characters: a ClusterRole may be called `a?b`.
pub(super) fn object_path(ty: &ResourceType, namespace: Option<&str>, name: &str) -> String {
    let mut path = collection_path(ty, &ty.version, namespace);
    path.push('/');
    escape(name, &mut path);
    path
}

/// The path of a collection. The namespace may come from the command line.
pub(super) fn collection_path(ty: &ResourceType, version: &str, namespace: Option<&str>) -> String {
    let namespace = namespace.map(|name| {
        let mut escaped = String::new();
        escape(name, &mut escaped);
        escaped
    });
    ty.path(version, namespace.as_deref())
}

/// The parameters of a list that select by this.
pub(super) fn selector_parameters(by: &By) -> String {
    let mut parameters = String::new();
    match by {
        By::Name(name) => {
            parameters.push_str("&fieldSelector=");
            escape(&format!("metadata.name={}", field_value(name)), &mut parameters);
        }
        By::Node(name) => {
            parameters.push_str("&fieldSelector=");
            escape(&format!("spec.nodeName={}", field_value(name)), &mut parameters);
        }
        By::Labels(selector) => {
            parameters.push_str("&labelSelector=");
            escape(selector, &mut parameters);
        }
        By::Held => {}
    }
    parameters
}

/// Escapes a value in a field selector (`kubernetes/apimachinery:pkg/fields/selector.go` EscapeValue).
pub(super) fn field_value(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '\\' | ',' | '=') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}
