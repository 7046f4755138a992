//! The Service behind a webhook, and whether it answers.
//!
//! **Why:** the API server cannot call the webhook at all without the Service, or (with
//! `--enable-aggregator-routing`) without a ready endpoint. Otherwise it calls the cluster IP and gets no answer.
//! Source: `kubernetes/apiserver:pkg/util/proxy/proxy.go`, `kubernetes/kubernetes:cmd/kube-apiserver/app/server.go`
//! buildServiceResolver. **Wants** the Service and its EndpointSlices. **Concludes** no more than these objects show:
//! with ready endpoints the call may still fail, because of a certificate or the network.

use serde_json::Value;

use crate::{
    command::Command,
    diagnose::{
        model::{Blocker, CauseState, Evidence, Strength},
        view::View,
    },
    object::ObjectRef,
    snapshot::facts::Object,
};

/// A Service that a webhook calls.
pub(crate) struct Backend<'a> {
    pub(crate) namespace: &'a str,
    pub(crate) name: &'a str,
    /// Its state, in words.
    pub(crate) state: String,
    /// Whether its state alone explains that calls fail.
    is_dead: bool,
}

/// The Service that this `clientConfig` calls. None if the `clientConfig` has a URL.
pub(crate) fn of<'a>(client_config: &'a Value, view: &View<'_>) -> Option<Backend<'a>> {
    let service = client_config.get("service")?;
    let field = |name: &str| service.get(name).and_then(Value::as_str).unwrap_or_default();
    let (namespace, name) = (field("namespace"), field("name"));
    let port = service.get("port").and_then(Value::as_i64).unwrap_or(443);
    let (state, is_dead) = match view.object("", "services", namespace, name) {
        Ok(None) => ("does not exist".to_owned(), true),
        Err(missing) => (format!("could not be looked at: {}", missing.in_words()), false),
        Ok(Some(service)) => state_of_service(service, port, view),
    };
    Some(Backend {
        namespace,
        name,
        state,
        is_dead,
    })
}

fn state_of_service(service: &Object, port: i64, view: &View<'_>) -> (String, bool) {
    if service.text("/spec/type") == "ExternalName" {
        let host = service.text("/spec/externalName");
        return (format!("exists, and stands for the host {host}"), false);
    }
    let has_port = service
        .list("/spec/ports")
        .iter()
        .any(|each| each.get("port").and_then(Value::as_i64) == Some(port));
    if !has_port {
        return (format!("exists, and has no port {port}"), true);
    }
    match view.list("discovery.k8s.io", "endpointslices", service.namespace()) {
        Err(missing) => {
            let why = missing.in_words();
            (
                format!("exists, and whether it has ready endpoints is not known: {why}"),
                false,
            )
        }
        Ok(slices) if slices.iter().any(|slice| has_ready_endpoint(slice, service.name())) => (
            "exists and has ready endpoints, so see its certificate (caBundle), and whether the API server reaches it"
                .to_owned(),
            false,
        ),
        Ok(_) => ("exists, and has no ready endpoint".to_owned(), true),
    }
}

/// Whether the slice belongs to this Service and has an endpoint that is ready, or that does not say.
fn has_ready_endpoint(slice: &Object, service: &str) -> bool {
    slice.text("/metadata/labels/kubernetes.io~1service-name") == service
        && slice
            .list("/endpoints")
            .iter()
            .any(|endpoint| endpoint.pointer("/conditions/ready") != Some(&Value::Bool(false)))
}

impl Backend<'_> {
    /// The Service as a blocker.
    pub(crate) fn blocker(&self) -> Blocker {
        let blocker = Blocker::new(
            Some(ObjectRef {
                type_name: "services".into(),
                kind: "Service".into(),
                api_version: "v1".into(),
                namespace: Some(self.namespace.to_owned()),
                name: self.name.to_owned(),
                ..ObjectRef::default()
            }),
            self.state.clone(),
        );
        Blocker {
            state: self.is_dead.then_some(CauseState::Down),
            ..blocker
        }
    }

    pub(crate) fn evidence(&self) -> Evidence {
        Evidence {
            source: format!("Service {}/{}", self.namespace, self.name),
            value: self.state.clone(),
            strength: if self.is_dead {
                Strength::Strong
            } else {
                Strength::Hint
            },
        }
    }

    /// The command that shows the Service, its endpoints and its Pods.
    pub(crate) fn command(&self) -> Command {
        Command::of("kubectl -n {} get service,endpointslices,pods", [self.namespace])
    }
}
