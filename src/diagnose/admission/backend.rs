//! Whether the backend of a webhook can answer.
//!
//! The API server connects to the Service's cluster IP and leaves the rest to the network. With
//! `--enable-aggregator-routing` it connects to a ready endpoint itself. Which of the two it does is unknown,
//! so only a backend that fails in both cases is called dead. An address outside the cluster cannot be judged
//! from objects. Source: `kubernetes/apiserver:pkg/util/proxy/proxy.go` ResolveCluster and ResolveEndpoint.

use serde_json::Value;

use crate::{
    command::Command,
    diagnose::{
        model::Strength,
        view::{Missing, View},
    },
    snapshot::facts::Object,
};

/// The state of a backend.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::diagnose) enum Backend {
    /// No call can succeed.
    Dead(Dead),
    /// At least one endpoint may answer.
    Answers,
    /// The state is unknown, for this reason.
    NotKnown(String),
}

/// A Service without a working backend.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::diagnose) struct Dead {
    /// The namespace of the Service.
    pub(in crate::diagnose) namespace: String,
    /// The name of the Service.
    pub(in crate::diagnose) service: String,
    /// The fault, which follows the name in a sentence.
    pub(in crate::diagnose) why: String,
    /// The command that shows more.
    pub(in crate::diagnose) command: Command,
    /// How much the fault proves.
    pub(in crate::diagnose) strength: Strength,
}

/// The backend of a `clientConfig`.
pub(super) fn backend_of(config: &Value, view: &View<'_>) -> Backend {
    let text = |pointer: &str| {
        config
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let (namespace, name) = (text("/service/namespace"), text("/service/name"));
    if name.is_empty() {
        return Backend::NotKnown(format!(
            "it is called at {}, which objects tell nothing about",
            text("/url")
        ));
    }
    let dead = |why: String, command: Command, strength| {
        Backend::Dead(Dead {
            namespace: namespace.to_owned(),
            service: name.to_owned(),
            why,
            command,
            strength,
        })
    };
    let service = match view.object("", "services", namespace, name) {
        Ok(Some(service)) => service,
        Ok(None) => {
            let (why, command) = missing_service(namespace, view);
            return dead(why, command, Strength::Proof);
        }
        Err(missing) => return not_seen(&missing),
    };
    if service.text("/spec/type") == "ExternalName" {
        return Backend::NotKnown("its Service only stands for a name outside the cluster".into());
    }
    let number = config
        .pointer("/service/port")
        .and_then(Value::as_i64)
        .unwrap_or(443);
    let port = service
        .list("/spec/ports")
        .iter()
        .find(|port| port.get("port").and_then(Value::as_i64) == Some(number));
    let Some(port) = port else {
        return dead(
            format!("has no port {number}"),
            Command::get_yaml("service", name, namespace),
            Strength::Proof,
        );
    };
    match view.list("discovery.k8s.io", "endpointslices", namespace) {
        Ok(slices) if slices.iter().any(|slice| answers(slice, service, port)) => Backend::Answers,
        Ok(_) => dead(
            "has no endpoint that is ready".into(),
            list_pods_command(namespace, service),
            Strength::Strong,
        ),
        Err(missing) => not_seen(&missing),
    }
}

fn not_seen(missing: &Missing) -> Backend {
    Backend::NotKnown(format!(
        "whether anybody answers it is not known: {}",
        missing.in_words()
    ))
}

fn missing_service(namespace: &str, view: &View<'_>) -> (String, Command) {
    let found = view.object("", "namespaces", "", namespace);
    let going = |found: &Object| found.deletion().is_some();
    match found {
        Ok(None) => (
            format!("does not exist, and neither does the namespace {namespace}"),
            Command::of("kubectl get namespace {}", [namespace]),
        ),
        Ok(Some(found)) if going(found) => (
            format!("does not exist, and the namespace {namespace} is being deleted"),
            Command::of("kubectl finalizers explain namespace/{}", [namespace]),
        ),
        _ => (
            "does not exist".into(),
            Command::of("kubectl -n {} get services,deployments,pods", [namespace]),
        ),
    }
}

/// Whether a slice has an endpoint for this port of the Service. If no endpoint is ready, the network also uses
/// endpoints that are terminating and still serve (`kubernetes/kubernetes:pkg/proxy/topology.go`).
fn answers(slice: &Object, service: &Object, port: &Value) -> bool {
    let name = |port: &Value| {
        port.get("name")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let label = slice
        .value
        .pointer("/metadata/labels/kubernetes.io~1service-name");
    label.and_then(Value::as_str) == Some(service.name())
        && slice
            .list("/ports")
            .iter()
            .any(|each| name(each) == name(port) && each.get("port").is_some_and(Value::is_number))
        && slice.list("/endpoints").iter().any(|endpoint| {
            let condition = |name: &str| {
                endpoint
                    .pointer(&format!("/conditions/{name}"))
                    .and_then(Value::as_bool)
            };
            condition("ready") != Some(false)
                || condition("serving") == Some(true) && condition("terminating") == Some(true)
        })
}

/// The command that shows the pods of the Service.
fn list_pods_command(namespace: &str, service: &Object) -> Command {
    let selector = service.value.pointer("/spec/selector").and_then(Value::as_object);
    let labels: Vec<_> = selector
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| Some((key.as_str(), value.as_str()?)))
        .collect();
    if labels.is_empty() {
        Command::of("kubectl -n {} get endpointslices,pods", [namespace])
    } else {
        Command::of("kubectl -n {} get pods", [namespace]).selecting(labels)
    }
}
