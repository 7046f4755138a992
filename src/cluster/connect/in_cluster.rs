//! Reads the configuration of a Pod for its own cluster, as client-go's `rest.InClusterConfig` does.
//!
//! kube can do this too, but a test cannot change its paths and variables. It also fails where client-go continues:
//! without a namespace file or a CA (client-go then uses the system's CAs).

use kube::config::{AuthInfo, Cluster};

use super::{choose::Choice, surroundings::Surroundings};

/// The cluster and the service account, if this runs in a Pod (`inClusterClientConfig.Possible`).
pub(super) fn choice(surroundings: &Surroundings<'_>) -> Option<Choice> {
    let (host, port) = (
        surroundings.var("KUBERNETES_SERVICE_HOST")?,
        surroundings.var("KUBERNETES_SERVICE_PORT")?,
    );
    let token = surroundings.service_account.join("token");
    if !token.is_file() {
        return None;
    }
    let host = if host.contains(':') {
        format!("[{host}]")
    } else {
        host
    };
    let authority = surroundings.service_account.join("ca.crt");
    let namespace = surroundings.var("POD_NAMESPACE").or_else(|| {
        let text = std::fs::read_to_string(surroundings.service_account.join("namespace")).ok()?;
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
    use crate::cluster::connect::testing::Sandbox;

    #[test]
    fn detects_a_pod_by_its_variables_and_its_token() {
        let sandbox = Sandbox::new();
        assert!(sandbox.with(choice).is_none());
        sandbox.set("KUBERNETES_SERVICE_HOST", "fd00::1");
        sandbox.set("KUBERNETES_SERVICE_PORT", "443");
        assert!(sandbox.with(choice).is_none());
        sandbox.file("serviceaccount/token", "t");
        let pod = sandbox.with(choice).expect("a pod");
        assert_eq!(pod.cluster.server.as_deref(), Some("https://[fd00::1]:443"));
        assert_eq!((pod.cluster.certificate_authority, pod.namespace), (None, None));
        sandbox.file("serviceaccount/ca.crt", "");
        sandbox.file("serviceaccount/namespace", "web\n");
        let pod = sandbox.with(choice).expect("a pod");
        assert!(pod.cluster.certificate_authority.is_some());
        assert_eq!(pod.namespace.as_deref(), Some("web"));
        sandbox.set("POD_NAMESPACE", "other");
        assert_eq!(
            sandbox.with(choice).and_then(|pod| pod.namespace).as_deref(),
            Some("other")
        );
    }
}
