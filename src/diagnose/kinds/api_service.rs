//! An APIService: who serves a version of an API group.

use serde_json::Value;

use crate::{diagnose::kinds::service_reference::ServiceReference, snapshot::facts::Object};

/// An APIService.
#[derive(Clone, Copy)]
pub(crate) struct ApiService<'a>(pub(crate) &'a Object);

impl<'a> ApiService<'a> {
    /// Its API group.
    pub(crate) fn group(self) -> &'a str {
        self.0.text("/spec/group")
    }

    /// Its version.
    pub(crate) fn version(self) -> &'a str {
        self.0.text("/spec/version")
    }

    /// Whether kube-apiserver itself serves it.
    pub(crate) fn is_local(self) -> bool {
        let service = self.0.field("/spec/service");
        service.is_none_or(Value::is_null)
    }

    /// The Service that serves it; none if kube-apiserver does.
    pub(crate) fn service(self) -> Option<ServiceReference<'a>> {
        ServiceReference::at(&self.0.value, "/spec/service")
    }
}

#[cfg(all(test, feature = "client"))]
mod tests {
    use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1 as registration;

    use serde_json::json;

    use super::*;
    use crate::diagnose::{kinds::testing::reads, testing::world::bare};

    #[test]
    fn apis() {
        let api = registration::APIService {
            spec: Some(registration::APIServiceSpec {
                group: Some("metrics.example".into()),
                version: Some("v1beta1".into()),
                service: Some(registration::ServiceReference {
                    namespace: Some("sys".into()),
                    name: Some("metrics".into()),
                    port: Some(8443),
                }),
                ..Default::default()
            }),
            ..Default::default()
        };
        reads!(api => ApiService;
            |api| api.group() => "metrics.example", absent "";
            |api| api.version() => "v1beta1", absent "";
            |api| api.service().map(|service| (service.namespace, service.name)) => Some(("sys", "metrics")), absent None::<()>;
        );
        let absent = bare(
            "apiregistration.k8s.io",
            "apiservices",
            "APIService",
            json!({"spec": {"service": null}}),
        );
        assert!(ApiService(&absent).is_local());
        let damaged = bare(
            "apiregistration.k8s.io",
            "apiservices",
            "APIService",
            json!({"spec": {"service": {}}}),
        );
        assert!(!ApiService(&damaged).is_local());
        let whole = serde_json::to_value(&api).expect("an object as JSON");
        let service = ServiceReference::at(&whole, "/spec/service");
        assert_eq!(service.map(|service| service.port), Some(8443));
    }
}
