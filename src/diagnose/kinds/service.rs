//! A Service, and the endpoints behind it.

use serde_json::Value;

use crate::{
    diagnose::kinds::read::{boolean, list, some_text, text},
    snapshot::facts::Object,
};

/// A Service.
#[derive(Clone, Copy)]
pub(crate) struct Service<'a>(pub(crate) &'a Object);

impl<'a> Service<'a> {
    /// Whether a load balancer outside the cluster stands before it.
    pub(crate) fn has_load_balancer(self) -> bool {
        self.0.text("/spec/type") == "LoadBalancer"
    }

    /// The host that it stands for instead of Pods.
    pub(crate) fn external_host(self) -> Option<&'a str> {
        (self.0.text("/spec/type") == "ExternalName").then(|| self.0.text("/spec/externalName"))
    }

    /// Its address in the cluster.
    pub(crate) fn cluster_ip(self) -> &'a str {
        self.0.text("/spec/clusterIP")
    }

    /// The keys and values of the labels that select its Pods.
    pub(crate) fn selector(self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let selector = self.0.field("/spec/selector").and_then(Value::as_object);
        let fields = selector.into_iter().flatten();
        fields.filter_map(|(key, value)| Some((key.as_str(), value.as_str()?)))
    }

    /// Its ports.
    pub(crate) fn ports(self) -> impl Iterator<Item = ServicePort<'a>> {
        list(&self.0.value, "/spec/ports").iter().map(ServicePort)
    }

    /// The places of its load balancer, also of an Ingress or a Gateway: names or addresses.
    pub(crate) fn load_balancer_places(self) -> impl Iterator<Item = &'a str> {
        let places = list(&self.0.value, "/status/loadBalancer/ingress").iter();
        places.filter_map(|place| some_text(place, "/hostname").or_else(|| some_text(place, "/ip")))
    }
}

/// A port of a Service or of an EndpointSlice.
#[derive(Clone, Copy)]
pub(crate) struct ServicePort<'a>(&'a Value);

impl<'a> ServicePort<'a> {
    /// Its name; empty if it has none.
    pub(crate) fn name(self) -> &'a str {
        text(self.0, "/name")
    }

    /// Its number.
    pub(crate) fn number(self) -> Option<i64> {
        self.0.get("port").and_then(Value::as_i64)
    }
}

/// Some endpoints of a Service.
#[derive(Clone, Copy)]
pub(crate) struct EndpointSlice<'a>(pub(crate) &'a Object);

impl<'a> EndpointSlice<'a> {
    /// The label with the name of the Service
    /// (`kubernetes/api:discovery/v1/well_known_labels.go` LabelServiceName).
    pub(crate) const SERVICE: &'static str = "kubernetes.io/service-name";

    /// The name of the Service.
    pub(crate) fn service(self) -> &'a str {
        self.0.text("/metadata/labels/kubernetes.io~1service-name")
    }

    /// The ports of its endpoints.
    pub(crate) fn ports(self) -> impl Iterator<Item = ServicePort<'a>> {
        list(&self.0.value, "/ports").iter().map(ServicePort)
    }

    /// Its endpoints.
    pub(crate) fn endpoints(self) -> impl Iterator<Item = Endpoint<'a>> {
        list(&self.0.value, "/endpoints").iter().map(Endpoint)
    }
}

/// An endpoint of a Service.
#[derive(Clone, Copy)]
pub(crate) struct Endpoint<'a>(&'a Value);

impl Endpoint<'_> {
    /// Whether it is ready, as far as its writer does not deny it.
    pub(crate) fn is_ready(self) -> bool {
        boolean(self.0, "/conditions/ready") != Some(false)
    }

    /// Whether it still serves while it ends.
    pub(crate) fn serves_while_ending(self) -> bool {
        boolean(self.0, "/conditions/serving") == Some(true)
            && boolean(self.0, "/conditions/terminating") == Some(true)
    }
}

#[cfg(all(test, feature = "client"))]
mod tests {
    use k8s_openapi::{
        api::{core::v1 as core, discovery::v1 as discovery},
        apimachinery::pkg::apis::meta::v1::ObjectMeta,
    };

    use super::*;
    use crate::diagnose::kinds::testing::reads;

    fn service(spec: core::ServiceSpec) -> core::Service {
        core::Service {
            spec: Some(spec),
            ..Default::default()
        }
    }

    #[test]
    fn services() {
        let mut balanced = service(core::ServiceSpec {
            type_: Some("LoadBalancer".into()),
            cluster_ip: Some("10.0.0.1".into()),
            selector: Some([("app".to_owned(), "web".to_owned())].into()),
            ports: Some(vec![core::ServicePort {
                name: Some("https".into()),
                port: 8443,
                ..Default::default()
            }]),
            ..Default::default()
        });
        balanced.status = Some(core::ServiceStatus {
            load_balancer: Some(core::LoadBalancerStatus {
                ingress: Some(vec![
                    core::LoadBalancerIngress {
                        hostname: Some("lb.example".into()),
                        ip: Some("192.0.2.1".into()),
                        ..Default::default()
                    },
                    core::LoadBalancerIngress {
                        ip: Some("192.0.2.2".into()),
                        ..Default::default()
                    },
                ]),
            }),
            ..Default::default()
        });
        reads!(balanced => Service;
            |service| service.has_load_balancer() => true, absent false;
            |service| service.cluster_ip() => "10.0.0.1", absent "";
            |service| service.selector().collect::<Vec<_>>() => [("app", "web")], absent [""; 0];
            |service| service.ports().next().map_or("", ServicePort::name) => "https", absent "";
            |service| service.ports().find_map(ServicePort::number) => Some(8443), absent None::<()>;
            |service| service.load_balancer_places().collect::<Vec<_>>()
                => ["lb.example", "192.0.2.2"], absent [""; 0];
        );
        let elsewhere = service(core::ServiceSpec {
            type_: Some("ExternalName".into()),
            external_name: Some("x.example".into()),
            ..Default::default()
        });
        reads!(elsewhere => Service;
            |service| service.external_host() => Some("x.example"), absent None::<()>;
        );
    }

    #[test]
    fn endpoints() {
        let endpoint = |conditions| discovery::Endpoint {
            conditions: Some(conditions),
            ..Default::default()
        };
        let slice = |endpoint| discovery::EndpointSlice {
            metadata: ObjectMeta {
                labels: Some([(EndpointSlice::SERVICE.to_owned(), "web".to_owned())].into()),
                ..Default::default()
            },
            ports: Some(vec![discovery::EndpointPort {
                name: Some("https".into()),
                port: Some(9443),
                ..Default::default()
            }]),
            endpoints: vec![endpoint],
            ..Default::default()
        };
        let unready = endpoint(discovery::EndpointConditions {
            ready: Some(false),
            ..Default::default()
        });
        reads!(slice(unready) => EndpointSlice;
            |slice| slice.service() => "web", absent "";
            |slice| slice.ports().next().map_or("", ServicePort::name) => "https", absent "";
            |slice| slice.ports().find_map(ServicePort::number) => Some(9443), absent None::<()>;
            |slice| slice.endpoints().any(|one| !one.is_ready()) => true, absent false;
        );
        let ending = endpoint(discovery::EndpointConditions {
            serving: Some(true),
            terminating: Some(true),
            ..Default::default()
        });
        reads!(slice(ending) => EndpointSlice;
            |slice| slice.endpoints().any(Endpoint::serves_while_ending) => true, absent false;
        );
    }
}
