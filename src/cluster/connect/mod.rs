//! Makes a client from the command line, as kubectl would.
//!
//! kube reads each kubeconfig file here. But its `Config::infer` differs from kubectl in ways that users notice: it
//! fails on a missing file in `KUBECONFIG`, runs credential plugins three times, compares `NO_PROXY` with the wrong
//! host, retries 503 for minutes, and knows no flags. So each step is its own file:
//!
//! * `kubeconfig` finds and merges the files.
//! * `choose` picks cluster and user, and applies the flags.
//! * `contexts` finds the clusters of several contexts.
//! * `in_cluster` applies if nothing names a cluster.
//! * `credentials` reads files and runs the `plugin`.
//! * `proxy` chooses the proxy.
//! * [`fault`] explains what goes wrong.
//!
//! What to send upstream, each with the test that shows it in the file that works round it (kube-client 5.0.0):
//!
//! | in kube-client | what it does | what client-go does | proposal |
//! |---|---|---|---|
//! | `config/file_config.rs` `from_env` | ends at the first file of `KUBECONFIG` that is missing | skips it (`tools/clientcmd/loader.go` Load) | skip `NotFound`, unless no file is left |
//! | `config/file_loader.rs` `proxy_url` | compares `NO_PROXY` with the host of the proxy, and refuses the kubeconfig over an entry that it cannot parse | compares it with the host of the cluster, and ignores such an entry (`golang.org/x/net/http/httpproxy`) | pass the URL of the cluster to `matches`, and skip the entry |
//! | `client/auth/mod.rs` `auth_exec` | runs once for the headers, once for the client certificate, once for the expiry | runs once and keeps the answer until it expires (`plugin/pkg/client/auth/exec/exec.go`) | one cache for each `ExecConfig` of a `Config` |
//! | `config/file_config.rs` `load_from_base64` | refuses line breaks in certificates | ignores them (`encoding/base64`) | remove `\r` and `\n` first |
//!
//! kube does the rest, which it does well: TLS, HTTP, the proxy protocols, headers, and the `OpenID` Connect provider.

use std::{
    path::Path,
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};

use http::{HeaderValue, header::USER_AGENT};
use kube::{
    Client, Config,
    client::{AuthError, RustlsTlsError},
    config::Cluster,
};

use self::{
    choose::{Choice, given},
    credentials::Credentials,
    proxy::Proxy,
    surroundings::Surroundings,
};
use crate::{error::Error, settings::Connection};

pub use self::{
    contexts::{FoundCluster, clusters},
    datastore::datastore,
};

mod choose;
mod client;
mod contexts;
mod credentials;
mod datastore;
pub mod fault;
pub mod identity;
mod in_cluster;
mod kubeconfig;
mod material;
mod names;
mod no_proxy;
mod plugin;
mod proxy;
mod server;
pub mod surroundings;
#[cfg(test)]
mod testing;
mod validity;

/// The time limit to reach a server, including the TLS handshake. kubectl's dialler waits 30 s; somebody who forgot the
/// VPN should not.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A client, and facts about it.
#[derive(Clone)]
pub struct Connected {
    /// The client. It does not retry: the caller knows whether a retry is safe.
    pub client: Client,
    /// The server's address, without credentials.
    pub server: String,
    /// The authorities that may sign the server's certificate, as PEM; none for those of the system.
    pub authority: Option<Vec<u8>>,
    /// The proxy, without credentials, and which setting names it.
    pub proxy: Option<String>,
    /// The namespace of the context, otherwise `default`.
    pub namespace: String,
    /// The time limit of one request; none for no limit. The client does not enforce it.
    pub request_timeout: Option<Duration>,
    /// The credentials that are sent.
    pub identity: identity::Identity,
    /// How many requests were sent.
    pub sent: Arc<AtomicU64>,
}

impl Connected {
    /// The error for a request without an answer.
    pub fn unreachable(&self, error: &kube::Error) -> Error {
        fault::unreachable(error, &self.server, self.proxy.as_deref())
    }

    /// The error for HTTP 401.
    pub fn unauthorized(&self) -> Error {
        self.identity.refused(&self.server, jiff::Timestamp::now())
    }

    /// The error for a request that took longer than [`Connected::request_timeout`].
    pub fn timed_out(&self) -> Error {
        fault::timed_out(&self.server, self.proxy.as_deref())
    }
}

/// Makes a client. It sends no request yet, but a credential plugin runs.
pub async fn connect(connection: &Connection) -> Result<Connected, Error> {
    connect_from(connection, &Surroundings::of_this_process()).await
}

/// Makes a client from these surroundings.
pub async fn connect_from(flags: &Connection, surroundings: &Surroundings<'_>) -> Result<Connected, Error> {
    // The dependency tree has only one provider, but two would make rustls panic. The first one to be installed wins.
    let _ = rustls::crypto::ring::default_provider().install_default();

    let choice = find_cluster(flags, surroundings)?;
    let namespace = choice.namespace.clone().unwrap_or_else(|| "default".to_owned());
    let server = server::parse(choice.cluster.server.as_deref().unwrap_or_default())?;
    let https = server.scheme_str() == Some("https");
    let proxy = proxy::choose(choice.cluster.proxy_url.as_deref(), &server, surroundings)?;
    let authority = if https {
        material::load(
            "certificate authority",
            choice.cluster.certificate_authority_data.as_deref(),
            choice.cluster.certificate_authority.as_deref(),
        )?
    } else {
        None
    };
    let (credentials, cluster) =
        credentials::resolve(choice, https, authority.as_deref(), surroundings).await?;
    let Credentials { auth, identity } = credentials;

    let mut config = Config::new(server.clone());
    config.auth_info = auth;
    config.root_cert = root_certificates(&cluster, authority.as_deref(), https, proxy.as_ref())?;
    transport(&mut config, &cluster, flags);
    config.proxy_url = proxy.as_ref().map(|proxy| proxy.uri.clone());
    config.default_namespace.clone_from(&namespace);

    Ok(Connected {
        client: client::client(config).map_err(|error| not_built(&error))?,
        server: server::shown(&server),
        authority,
        proxy: proxy.map(|proxy| proxy.shown),
        namespace,
        request_timeout: flags.request_timeout,
        identity,
        sent: Arc::default(),
    })
}

/// The names in the kubeconfig.
#[derive(Debug, Default)]
pub struct Named {
    /// Its contexts.
    pub contexts: Vec<String>,
    /// Its clusters.
    pub clusters: Vec<String>,
    /// Its users.
    pub users: Vec<String>,
}

/// Reads the names in the kubeconfig, without a connection.
pub fn named(kubeconfig: Option<&Path>, surroundings: &Surroundings<'_>) -> Result<Named, Error> {
    let kubeconfig = kubeconfig.filter(|path| !path.as_os_str().is_empty());
    let config = kubeconfig::load(kubeconfig, surroundings)?.config;
    Ok(Named {
        contexts: config.contexts.into_iter().map(|one| one.name).collect(),
        clusters: config.clusters.into_iter().map(|one| one.name).collect(),
        users: config.auth_infos.into_iter().map(|one| one.name).collect(),
    })
}

/// Finds the cluster. A Pod's own cluster counts only if no flag names a cluster or gives credentials: these must never
/// go to a different server (kubert has the same rule).
fn find_cluster(flags: &Connection, surroundings: &Surroundings<'_>) -> Result<Choice, Error> {
    let path = flags
        .kubeconfig
        .as_deref()
        .filter(|path| !path.as_os_str().is_empty());
    let loaded = kubeconfig::load(path, surroundings)?;
    if let Some(choice) = choose::choose(&loaded, flags)? {
        return Ok(choice);
    }
    if !names_a_cluster(flags)
        && let Some(mut pod) = in_cluster::choice(surroundings)
    {
        choose::flag_cluster(&mut pod.cluster, flags)?;
        choose::flag_user(&mut pod.user, flags);
        choose::impersonation_is_complete(&pod.user, None)?;
        return Ok(pod);
    }
    if !loaded.config.contexts.is_empty() {
        let contexts = loaded.config.contexts.iter().map(|named| named.name.as_str());
        return Err(config_error(
            format!("no context is chosen in {}", loaded.file_names()),
            Some(format!(
                "choose one with --context; {}",
                names::hint("", contexts, "contexts")
            )),
        ));
    }
    let message = match (loaded.read.is_empty(), loaded.missing.is_empty()) {
        (false, _) => format!("{} names no cluster", loaded.file_names()),
        (true, false) => format!("no cluster to talk to: there is no {}", loaded.missing_names()),
        (true, true) => "no cluster to talk to: there is no kubeconfig".to_owned(),
    };
    Err(config_error(
        message,
        Some("give a kubeconfig with --kubeconfig or KUBECONFIG, or read files with --from"),
    ))
}

/// Whether a flag names a server or gives credentials.
fn names_a_cluster(flags: &Connection) -> bool {
    let paths = [
        &flags.kubeconfig,
        &flags.certificate_authority,
        &flags.client_certificate,
        &flags.client_key,
    ];
    let words = [
        &flags.context,
        &flags.cluster,
        &flags.user,
        &flags.server,
        &flags.token,
        &flags.tls_server_name,
    ];
    words.iter().any(|word| given(word.as_ref()).is_some())
        || paths
            .iter()
            .any(|path| path.as_ref().is_some_and(|path| !path.as_os_str().is_empty()))
        || flags.insecure_skip_tls_verify
}

/// The authorities for the server's certificate; none for those of the system. The list is empty if nothing is
/// verified, because loading the system's takes time and fails on a machine without any.
fn root_certificates(
    cluster: &Cluster,
    authority: Option<&[u8]>,
    https: bool,
    proxy: Option<&Proxy>,
) -> Result<Option<Vec<Vec<u8>>>, Error> {
    if let Some(pem) = authority {
        let origin = match given(cluster.certificate_authority.as_ref()) {
            Some(file) if given(cluster.certificate_authority_data.as_ref()).is_none() => file,
            _ => "in the kubeconfig",
        };
        return material::authorities(pem, origin).map(Some);
    }
    let proxy_over_tls = proxy.is_some_and(|proxy| proxy.uri.scheme_str() == Some("https"));
    let unchecked = cluster.insecure_skip_tls_verify == Some(true) || !(https || proxy_over_tls);
    Ok(unchecked.then(Vec::new))
}

/// Applies the settings of the transport.
fn transport(config: &mut Config, cluster: &Cluster, flags: &Connection) {
    config.accept_invalid_certs = cluster.insecure_skip_tls_verify == Some(true);
    config.tls_server_name = cluster.tls_server_name.clone().filter(|name| !name.is_empty());
    config.disable_compression = cluster.disable_compression == Some(true);
    // kube's default is 15 retries of 429, 503 and 504 in nearly three minutes, for every verb. A dead aggregated API
    // answers 503, which must be reported.
    config.default_retry = false;
    config.connect_timeout = Some(
        flags
            .request_timeout
            .map_or(CONNECT_TIMEOUT, |limit| limit.min(CONNECT_TIMEOUT)),
    );
    if let Ok(agent) = HeaderValue::try_from(agent()) {
        config.headers.push((USER_AGENT, agent));
    }
}

/// The user agent, for the server's audit log.
fn agent() -> String {
    use std::env::consts::{ARCH, OS};
    format!("kubectl-finalizers/{} ({OS}/{ARCH})", env!("CARGO_PKG_VERSION"))
}

/// Explains why kube could not build a client.
fn not_built(error: &kube::Error) -> Error {
    let (message, hint) = match error {
        kube::Error::RustlsTls(RustlsTlsError::InvalidServerName(_)) => (
            "the name to expect in the server's certificate is not a host name".to_owned(),
            Some("check --tls-server-name, or tls-server-name in the kubeconfig"),
        ),
        kube::Error::RustlsTls(RustlsTlsError::AddRootCertificate(cause)) => (
            format!("the system's certificate authorities cannot be used: {cause}"),
            Some("give the cluster's with --certificate-authority"),
        ),
        kube::Error::RustlsTls(cause) => (
            format!("the client certificate and key cannot be used: {cause}"),
            Some("both must be PEM, and belong together"),
        ),
        kube::Error::Auth(cause @ AuthError::Oidc(_)) => (
            format!("the OpenID Connect login cannot be used: {cause}"),
            Some("log in again with your identity provider"),
        ),
        kube::Error::Auth(cause) => (format!("the credentials cannot be used: {cause}"), None),
        kube::Error::HttpError(cause) => (
            format!("a name to impersonate cannot be sent in a header: {cause}"),
            Some("check --as, --as-group, --as-uid and --as-user-extra"),
        ),
        other => (
            format!("no client can be made of this configuration: {other}"),
            None,
        ),
    };
    config_error(message, hint)
}

fn config_error<H: Into<String>>(message: impl Into<String>, hint: Option<H>) -> Error {
    Error::Config {
        message: message.into(),
        hint: hint.map(Into::into),
    }
}

#[cfg(test)]
mod tests;
