//! The Service that the API server calls for a webhook or for an API.

use serde_json::Value;

use crate::diagnose::kinds::read::some_text;

/// The port that is called if none is named.
const DEFAULT_PORT: i64 = 443;

/// The Service that a `clientConfig` or an `APIService` names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ServiceReference<'a> {
    pub(crate) namespace: &'a str,
    pub(crate) name: &'a str,
    pub(crate) port: i64,
}

impl<'a> ServiceReference<'a> {
    /// The Service at this place. None if no Service is named: the API server calls a URL then, or serves the API
    /// itself.
    pub(super) fn at(whole: &'a Value, pointer: &str) -> Option<Self> {
        let field = whole.pointer(pointer)?;
        let text = |name: &str| some_text(field, name).filter(|text| !text.is_empty());
        Some(ServiceReference {
            namespace: text("/namespace")?,
            name: text("/name")?,
            port: field.get("port").and_then(Value::as_i64).unwrap_or(DEFAULT_PORT),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_url_names_no_service() {
        assert_eq!(
            ServiceReference::at(&json!({"url": "https://x.test"}), "/service"),
            None
        );
        assert_eq!(
            ServiceReference::at(&json!({"service": {"name": "hook"}}), "/service"),
            None
        );
    }

    #[test]
    fn a_service_without_a_port_is_called_at_443() {
        let field = json!({"service": {"namespace": "sys", "name": "hook"}});
        let service = ServiceReference::at(&field, "/service").expect("a Service is named");
        assert_eq!(
            (service.namespace, service.name, service.port),
            ("sys", "hook", 443)
        );
    }
}
