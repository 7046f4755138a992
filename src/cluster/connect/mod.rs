//! From the words of a command line to a client, as kubectl would make it.
//!
//! kube can read a kubeconfig by itself, and reads ours; but its `Config::infer` differs from kubectl in what
//! people notice: it fails on a missing file in `KUBECONFIG`, runs credential plugins three times, compares
//! `NO_PROXY` with the wrong host, retries 503 for minutes, and knows no flags. So each step is its own file:
//!
//! `kubeconfig` finds and merges the files, `choose` picks cluster and user and applies the flags, `in_cluster`
//! stands in when nothing names a cluster, `credentials` reads files and runs the `plugin`, `proxy` decides the
//! way. What is left for kube is what it does well: TLS, HTTP, the proxy protocols, headers, and the `OpenID`
//! Connect provider. [`fault`] turns what goes wrong on the way into a sentence.

use std::time::Duration;

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

mod choose;
mod client;
mod credentials;
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

/// How long it may take to reach a server, its TLS handshake included. kubectl's dialler waits 30 s; a person
/// who has forgotten the VPN should not.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A client, and what is worth telling about it.
#[derive(Clone)]
pub struct Connected {
    /// The client. It does not retry; whoever sends a request knows whether that is safe.
    pub client: Client,
    /// The server's address, without credentials.
    pub server: String,
    /// The proxy in between, without credentials, and who asked for it.
    pub proxy: Option<String>,
    /// The namespace of the context, `default` otherwise.
    pub namespace: String,
    /// How long one request may take; none for ever. The client does not enforce it.
    pub request_timeout: Option<Duration>,
    /// What we show the server to say who we are.
    pub identity: identity::Identity,
}

impl Connected {
    /// What to say about a request that got no answer.
    pub fn unreachable(&self, error: &kube::Error) -> Error {
        fault::unreachable(error, &self.server, self.proxy.as_deref())
    }

    /// What to say about HTTP 401.
    pub fn unauthorized(&self) -> Error {
        self.identity.refused(&self.server, jiff::Timestamp::now())
    }

    /// What to say about a request that took longer than [`Connected::request_timeout`].
    pub fn timed_out(&self) -> Error {
        fault::timed_out(&self.server, self.proxy.as_deref())
    }
}

/// Makes a client. Sends nothing to the server yet; a credential plugin does run.
pub async fn connect(connection: &Connection) -> Result<Connected, Error> {
    connect_from(connection, &Surroundings::of_this_process()).await
}

/// As [`connect`], from these surroundings.
pub async fn connect_from(flags: &Connection, around: &Surroundings<'_>) -> Result<Connected, Error> {
    // Only one provider is in our tree, but two would make rustls panic; the first to install one wins.
    let _ = rustls::crypto::ring::default_provider().install_default();

    let choice = find_cluster(flags, around)?;
    let namespace = choice.namespace.clone().unwrap_or_else(|| "default".to_owned());
    let server = server::parse(choice.cluster.server.as_deref().unwrap_or_default())?;
    let https = server.scheme_str() == Some("https");
    let proxy = proxy::choose(choice.cluster.proxy_url.as_deref(), &server, around)?;
    let authority = if https {
        material::load(
            "certificate authority",
            choice.cluster.certificate_authority_data.as_deref(),
            choice.cluster.certificate_authority.as_deref(),
        )?
    } else {
        None
    };
    let (credentials, cluster) = credentials::resolve(choice, https, authority.as_deref(), around).await?;
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
        proxy: proxy.map(|proxy| proxy.shown),
        namespace,
        request_timeout: flags.request_timeout,
        identity,
    })
}

/// The cluster that is meant. A pod's own cluster is only meant if nothing says otherwise: a flag that names a
/// cluster or proves who we are must never end up at a different server (kubert has the same rule).
fn find_cluster(flags: &Connection, around: &Surroundings<'_>) -> Result<Choice, Error> {
    let path = flags
        .kubeconfig
        .as_deref()
        .filter(|path| !path.as_os_str().is_empty());
    let found = kubeconfig::find(path, around)?;
    if let Some(choice) = choose::choose(&found, flags)? {
        return Ok(choice);
    }
    if !selects(flags)
        && let Some(mut pod) = in_cluster::choice(around)
    {
        choose::flag_cluster(&mut pod.cluster, flags)?;
        choose::flag_user(&mut pod.user, flags);
        choose::impersonation_is_complete(&pod.user, None)?;
        return Ok(pod);
    }
    if !found.config.contexts.is_empty() {
        let contexts = found.config.contexts.iter().map(|named| named.name.as_str());
        return Err(config_error(
            format!("no context is chosen in {}", found.names()),
            Some(format!(
                "choose one with --context; {}",
                names::hint("", contexts, "contexts")
            )),
        ));
    }
    let message = match (found.read.is_empty(), found.missing.is_empty()) {
        (false, _) => format!("{} names no cluster", found.names()),
        (true, false) => format!("no cluster to talk to: there is no {}", found.looked()),
        (true, true) => "no cluster to talk to: there is no kubeconfig".to_owned(),
    };
    Err(config_error(
        message,
        Some("give a kubeconfig with --kubeconfig or KUBECONFIG, or read files with --from"),
    ))
}

/// Whether a flag says which server, or proves who we are.
fn selects(flags: &Connection) -> bool {
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

/// Which authorities the server's certificate is checked against; none for those of the system. Where nothing
/// is checked the list is empty, because loading the system's costs time and fails on a machine without any.
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

/// The settings of the transport.
fn transport(config: &mut Config, cluster: &Cluster, flags: &Connection) {
    config.accept_invalid_certs = cluster.insecure_skip_tls_verify == Some(true);
    config.tls_server_name = cluster.tls_server_name.clone().filter(|name| !name.is_empty());
    config.disable_compression = cluster.disable_compression == Some(true);
    // 15 retries of 429, 503 and 504 for nearly three minutes, for every verb: a dead aggregated API answers
    // 503, and that is what we are here to report.
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

/// Who we are in a server's audit log.
fn agent() -> String {
    use std::env::consts::{ARCH, OS};
    format!("kubectl-finalizers/{} ({OS}/{ARCH})", env!("CARGO_PKG_VERSION"))
}

/// What kept kube from building a client out of what we gave it.
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
