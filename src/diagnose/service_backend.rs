//! Whether a Service that the API server calls can answer. Admission webhooks, conversions and aggregated APIs name one.
//!
//! The API server connects to the cluster IP of the Service and leaves the rest to the network. With
//! `--enable-aggregator-routing` it connects to a ready endpoint itself. Which of the two it does is unknown, so only a
//! Service that fails in both cases is called dead. With endpoints that serve, the call may still fail, because of a
//! certificate or the network. Source: `kubernetes/apiserver:pkg/util/proxy/proxy.go` ResolveCluster and
//! ResolveEndpoint, `kubernetes/kubernetes:cmd/kube-apiserver/app/server.go` buildServiceResolver.
//!
//! Whether an `APIService` is available is in its own condition, which the API server writes. That condition decides,
//! and what it says is not judged again here.

use crate::{
    command::Command,
    diagnose::{
        kinds::{Endpoint, EndpointSlice, Pod, Service, ServicePort, ServiceReference},
        model::{Blocker, CauseState, Evidence, Strength},
        view::View,
    },
    object::{ObjectRef, capitalized},
    snapshot::facts::{By, Object},
};

/// A Service that the API server calls, and whether it serves.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::diagnose) struct ServiceBackend {
    pub(in crate::diagnose) namespace: String,
    pub(in crate::diagnose) name: String,
    serves: Serves,
    /// The command that shows more.
    pub(in crate::diagnose) command: Command,
}

/// Whether a Service serves.
#[derive(Clone, Debug, PartialEq)]
enum Serves {
    /// An endpoint may answer.
    Yes,
    /// The Service does not exist. Holds what is wrong with its namespace.
    Missing(Home),
    /// The Service does not have this port.
    NoPort(i64),
    /// No endpoint serves the port. Holds why a Pod of it is not ready, if one says so.
    NoEndpoint(Option<String>),
    /// Endpoints are ready, and none has the port of this name.
    OtherPorts(String),
    /// The Service stands for this host. Objects tell nothing about a host outside the cluster.
    Host(String),
    /// The Service could not be read.
    Unseen(String),
    /// The Service exists, and its endpoints could not be read.
    UnseenEndpoints(String),
}

/// The namespace of a Service that does not exist.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Home {
    /// It exists, or it could not be read.
    Other,
    Missing,
    Terminating,
}

impl ServiceReference<'_> {
    fn judge(self, service: &Object, view: &View<'_>) -> (Serves, Command) {
        if let Some(host) = Service(service).external_host() {
            return (Serves::Host(host.to_owned()), self.show());
        }
        let mut ports = Service(service).ports();
        let Some(port) = ports.find(|port| port.number() == Some(self.port)) else {
            let command = Command::get_yaml("service", self.name, self.namespace);
            return (Serves::NoPort(self.port), command);
        };
        match view.list("discovery.k8s.io", "endpointslices", self.namespace) {
            Ok(slices) if slices.iter().any(|slice| serves(slice, service, port)) => {
                (Serves::Yes, self.show())
            }
            Ok(slices) => {
                let mut of_it = slices
                    .iter()
                    .map(EndpointSlice)
                    .filter(|slice| slice.service() == service.name())
                    .peekable();
                let has_none = of_it.peek().is_none();
                if of_it.any(|slice| slice.endpoints().any(Endpoint::is_ready)) {
                    return (Serves::OtherPorts(port.name().to_owned()), self.show());
                }
                let serves = match ready_pod(service, view).filter(|_| has_none) {
                    Some(pod) => Serves::UnseenEndpoints(format!(
                        "pod {} is ready, and no EndpointSlice of the Service was found",
                        pod.name()
                    )),
                    None => Serves::NoEndpoint(why_no_pod_is_ready(service, view)),
                };
                (serves, list_pods(service))
            }
            Err(missing) => (Serves::UnseenEndpoints(missing.in_words()), self.show()),
        }
    }

    fn missing(self, view: &View<'_>) -> (Serves, Command) {
        let namespace = self.namespace;
        let (home, command) = match view.object("", "namespaces", "", namespace) {
            Ok(None) => (
                Home::Missing,
                Command::of("kubectl get namespace {}", [namespace]),
            ),
            Ok(Some(found)) if found.deletion().is_some() => {
                (Home::Terminating, Command::explain("namespace", namespace, ""))
            }
            _ => (
                Home::Other,
                Command::of("kubectl -n {} get services,deployments,pods", [namespace]),
            ),
        };
        (Serves::Missing(home), command)
    }

    /// The command that shows the Service, its endpoints and its Pods.
    fn show(self) -> Command {
        Command::of("kubectl -n {} get service,endpointslices,pods", [self.namespace])
    }
}

/// Whether a slice has an endpoint for this port of the Service. If no endpoint is ready, the network also uses
/// endpoints that are terminating and still serve (`kubernetes/kubernetes:pkg/proxy/topology.go`).
fn serves(slice: &Object, service: &Object, port: ServicePort<'_>) -> bool {
    let slice = EndpointSlice(slice);
    slice.service() == service.name()
        && slice
            .ports()
            .any(|each| each.name() == port.name() && each.number().is_some())
        && slice
            .endpoints()
            .any(|endpoint| endpoint.is_ready() || endpoint.serves_while_ending())
}

/// The Pods of the Service; none if it selects none, or they could not be listed.
fn pods_of<'a>(service: &Object, view: &View<'a>) -> &'a [Object] {
    let labels: Vec<_> = Service(service).selector().collect();
    if labels.is_empty() {
        return &[];
    }
    let labels = labels.iter().map(|(key, value)| format!("{key}={value}"));
    let of_it = By::Labels(labels.collect::<Vec<_>>().join(","));
    view.search("", "pods", service.namespace(), of_it)
        .unwrap_or_default()
}

/// A Pod of the Service that is ready. It contradicts a list of EndpointSlices that has none of the Service.
pub(in crate::diagnose) fn ready_pod<'a>(service: &Object, view: &View<'a>) -> Option<&'a Object> {
    let is_ready = |pod: &&Object| {
        pod.condition("Ready")
            .is_some_and(|(status, ..)| status == "True")
    };
    pods_of(service, view).iter().find(is_ready)
}

/// Why the Pods of the Service are not ready, in the words of the first Pod that says it.
fn why_no_pod_is_ready(service: &Object, view: &View<'_>) -> Option<String> {
    pods_of(service, view)
        .iter()
        .find_map(|pod| Some(format!("pod {}: {}", pod.name(), Pod(pod).why_not_ready()?.says)))
}

/// The command that shows the Pods of the Service.
fn list_pods(service: &Object) -> Command {
    let namespace = service.namespace();
    let labels: Vec<_> = Service(service).selector().collect();
    if labels.is_empty() {
        Command::of("kubectl -n {} get endpointslices,pods", [namespace])
    } else {
        Command::of("kubectl -n {} get pods", [namespace]).selecting(labels)
    }
}

impl ServiceBackend {
    /// The Service, and whether it serves.
    pub(in crate::diagnose) fn of(service: ServiceReference<'_>, view: &View<'_>) -> Self {
        let (serves, command) = match view.object("", "services", service.namespace, service.name) {
            Ok(Some(found)) => service.judge(found, view),
            Ok(None) => service.missing(view),
            Err(missing) => (Serves::Unseen(missing.in_words()), service.show()),
        };
        ServiceBackend {
            namespace: service.namespace.to_owned(),
            name: service.name.to_owned(),
            serves,
            command,
        }
    }

    /// Whether no call can succeed.
    pub(in crate::diagnose) fn is_dead(&self) -> bool {
        matches!(
            self.serves,
            Serves::Missing(_) | Serves::NoPort(_) | Serves::NoEndpoint(_) | Serves::OtherPorts(_)
        )
    }

    /// Its state. The text follows the name of the Service.
    pub(in crate::diagnose) fn in_words(&self) -> String {
        let namespace = &self.namespace;
        match &self.serves {
            Serves::Yes => {
                "has endpoints that serve, so see its certificate (caBundle), and whether the API server \
                            reaches it"
                    .to_owned()
            }
            Serves::Missing(Home::Missing) => {
                format!("does not exist, and neither does the namespace {namespace}")
            }
            Serves::Missing(Home::Terminating) => {
                format!("does not exist, and the namespace {namespace} is being deleted")
            }
            Serves::Missing(Home::Other) => "does not exist".to_owned(),
            Serves::NoPort(port) => format!("has no port {port}"),
            Serves::NoEndpoint(None) => "has no endpoint that is ready".to_owned(),
            Serves::NoEndpoint(Some(why)) => format!("has no endpoint that is ready. {}", capitalized(why)),
            Serves::OtherPorts(port) => format!("has endpoints that are ready, and none has its port {port}"),
            Serves::Host(host) => format!("stands for the host {host}"),
            Serves::Unseen(why) => format!("could not be read: {why}"),
            Serves::UnseenEndpoints(why) => {
                format!("exists, and whether it has ready endpoints is not known: {why}")
            }
        }
    }

    /// Its state as evidence.
    pub(in crate::diagnose) fn evidence(&self) -> Evidence {
        Evidence {
            source: format!("Service {}/{}", self.namespace, self.name),
            value: self.in_words(),
            strength: match self.serves {
                // The API server refuses to call it.
                Serves::Missing(_) | Serves::NoPort(_) => Strength::Proof,
                Serves::NoEndpoint(_) | Serves::OtherPorts(_) => Strength::Strong,
                _ => Strength::Hint,
            },
        }
    }

    /// The Service as a blocker.
    pub(in crate::diagnose) fn blocker(&self) -> Blocker {
        let service = ObjectRef {
            type_name: "services".into(),
            kind: "Service".into(),
            api_version: "v1".into(),
            namespace: Some(self.namespace.clone()),
            name: self.name.clone(),
            ..ObjectRef::default()
        };
        let blocker = Blocker::new(Some(service), self.in_words());
        if self.is_dead() {
            blocker.in_state(CauseState::Down)
        } else {
            blocker
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        diagnose::{
            testing::world::{World, object},
            view,
        },
        knowledge::Knowledge,
    };

    fn service(spec: &Value) -> Object {
        let metadata = json!({"name": "hook", "namespace": "sys"});
        object(
            "",
            "services",
            "Service",
            json!({"metadata": metadata, "spec": spec}),
        )
    }

    fn slice(port: &str, conditions: &Value) -> Object {
        let labels = json!({"kubernetes.io/service-name": "hook"});
        object(
            "discovery.k8s.io",
            "endpointslices",
            "EndpointSlice",
            json!({
                "metadata": {"name": "hook-1", "namespace": "sys", "labels": labels},
                "ports": [{"name": port, "port": 9443}],
                "endpoints": [{"addresses": ["10.0.0.1"], "conditions": conditions}],
            }),
        )
    }

    fn state(world: &World) -> (bool, String) {
        let service = ServiceReference {
            namespace: "sys",
            name: "hook",
            port: 443,
        };
        let knowledge = Knowledge::builtin();
        let backend = world.answered(|facts| {
            let view = view(facts, &knowledge);
            (ServiceBackend::of(service, &view), view.wanted())
        });
        (backend.is_dead(), backend.in_words())
    }

    fn https() -> Object {
        service(&json!({"ports": [{"name": "https", "port": 443}]}))
    }

    #[test]
    fn an_endpoint_that_is_ready_or_still_serves_may_answer() {
        for conditions in [
            json!({"ready": true}),
            json!({}),
            json!({"ready": false, "serving": true, "terminating": true}),
        ] {
            let (is_dead, says) = state(&World::of([https(), slice("https", &conditions)]));
            assert!(!is_dead, "{conditions}: {says}");
        }
    }

    #[test]
    fn a_service_without_an_endpoint_for_the_port_is_dead() {
        let ready = json!({"ready": true});
        let mut of_another = slice("https", &ready);
        of_another.value["metadata"]["labels"] = json!({"kubernetes.io/service-name": "other"});
        for slices in [
            vec![],
            vec![slice("https", &json!({"ready": false}))],
            vec![slice(
                "https",
                &json!({"ready": false, "serving": false, "terminating": true}),
            )],
            vec![of_another],
        ] {
            let mut world = World::of([https()]);
            world.objects.extend(slices);
            assert_eq!(state(&world), (true, "has no endpoint that is ready".into()));
        }
        let other = World::of([https(), slice("metrics", &ready)]);
        let says = "has endpoints that are ready, and none has its port https";
        assert_eq!(state(&other), (true, says.into()));
    }

    #[test]
    fn a_pod_of_the_service_says_why_it_is_not_ready() {
        let labels = json!({"app": "hook"});
        let pod = |state: &Value| {
            let value = json!({"metadata": {"name": "hook-1", "namespace": "sys", "labels": labels},
                "status": {"phase": "Pending", "containerStatuses": [{"name": "c", "state": state}]}});
            object("", "pods", "Pod", value)
        };
        let selecting = service(&json!({"selector": labels, "ports": [{"name": "https", "port": 443}]}));
        let waiting = json!({"waiting": {"reason": "ImagePullBackOff", "message": "not found"}});
        let (is_dead, says) = state(&World::of([selecting.clone(), pod(&waiting)]));
        assert!(is_dead, "{says}");
        assert!(
            says.starts_with("has no endpoint that is ready. Pod hook-1: ")
                && says.contains("ImagePullBackOff"),
            "{says}"
        );
        // Without such a Pod, nothing is said of one.
        let (_, says) = state(&World::of([selecting.clone()]));
        assert_eq!(says, "has no endpoint that is ready");
        // One that is ready contradicts that no slice was found, and not a slice without it.
        let mut ready = pod(&json!({"running": {}}));
        ready.value["status"]["conditions"] = json!([{"type": "Ready", "status": "True"}]);
        let world = World::of([selecting.clone(), ready.clone()]);
        let (is_dead, says) = state(&world);
        assert!(!is_dead && says.contains("pod hook-1 is ready"), "{says}");
        let empty = slice("https", &json!({"ready": false}));
        assert!(state(&World::of([selecting, ready, empty])).0);
    }

    #[test]
    fn a_service_that_is_missing_or_lacks_the_port_is_dead() {
        assert_eq!(state(&World::default()), (true, "does not exist".into()));
        let other_port = service(&json!({"ports": [{"name": "https", "port": 8443}]}));
        let world = World::of([other_port, slice("https", &json!({}))]);
        assert_eq!(state(&world), (true, "has no port 443".into()));
    }

    #[test]
    fn a_service_that_cannot_be_read_is_unknown() {
        for hidden in ["services", "endpointslices"] {
            let (is_dead, says) = state(&World::of([https()]).hiding(hidden));
            assert!(!is_dead && says.contains(hidden), "{says}");
        }
        let outside = service(&json!({"type": "ExternalName", "externalName": "x.test"}));
        assert_eq!(
            state(&World::of([outside])),
            (false, "stands for the host x.test".into())
        );
    }
}
