//! What a pod knows about its own cluster, as client-go's `rest.InClusterConfig` reads it.
//!
//! kube has the same, but with paths and variables that a test cannot move, and it fails where client-go goes
//! on: without a namespace file or a CA (the system's own is used then).

use kube::config::{AuthInfo, Cluster};

use super::{choose::Choice, surroundings::Surroundings};

/// The pod's cluster and service account, if this is a pod (`inClusterClientConfig.Possible`).
pub(super) fn choice(around: &Surroundings<'_>) -> Option<Choice> {
    let (host, port) = (
        around.var("KUBERNETES_SERVICE_HOST")?,
        around.var("KUBERNETES_SERVICE_PORT")?,
    );
    let token = around.service_account.join("token");
    if !token.is_file() {
        return None;
    }
    let host = if host.contains(':') {
        format!("[{host}]")
    } else {
        host
    };
    let authority = around.service_account.join("ca.crt");
    let namespace = around.var("POD_NAMESPACE").or_else(|| {
        let text = std::fs::read_to_string(around.service_account.join("namespace")).ok()?;
        Some(text.trim().to_owned()).filter(|name| !name.is_empty())
    });
    let path = |path: std::path::PathBuf| path.to_string_lossy().into_owned();
    Some(Choice {
        cluster: Cluster {
            server: Some(format!("https://{host}:{port}")),
            certificate_authority: authority.is_file().then(|| path(authority)),
            ..Cluster::default()
        },
        user: AuthInfo {
            token_file: Some(path(token)),
            ..AuthInfo::default()
        },
        namespace,
        ..Choice::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::connect::testing::Place;

    #[test]
    fn a_pod_is_known_by_its_variables_and_its_token() {
        let place = Place::new();
        assert!(place.with(choice).is_none());
        place.set("KUBERNETES_SERVICE_HOST", "fd00::1");
        place.set("KUBERNETES_SERVICE_PORT", "443");
        assert!(place.with(choice).is_none());
        place.file("serviceaccount/token", "t");
        let found = place.with(choice).expect("a pod");
        assert_eq!(found.cluster.server.as_deref(), Some("https://[fd00::1]:443"));
        assert_eq!(
            (found.cluster.certificate_authority, found.namespace),
            (None, None)
        );
        place.file("serviceaccount/ca.crt", "");
        place.file("serviceaccount/namespace", "web\n");
        let found = place.with(choice).expect("a pod");
        assert!(found.cluster.certificate_authority.is_some());
        assert_eq!(found.namespace.as_deref(), Some("web"));
        place.set("POD_NAMESPACE", "other");
        assert_eq!(
            place.with(choice).and_then(|found| found.namespace).as_deref(),
            Some("other")
        );
    }
}
