//! Explains in one sentence why a request got no answer.
//!
//! The cause is nested deeply: `kube::Error` → hyper-util → hyper-timeout → hyper-rustls → `io::Error` → rustls. It is
//! found by its type if the type is public. Three errors have private types, and are recognised by their text:
//! hyper-util's DNS error, its CONNECT tunnel, its SOCKS connector. The tests below pin that text.

use std::{error::Error as StdError, io};

use kube::client::AuthError;
use rustls::{
    AlertDescription,
    CertificateError::{
        self, BadSignature, Expired, ExpiredContext, NotValidForName, NotValidForNameContext, NotValidYet,
        NotValidYetContext, UnknownIssuer,
    },
    pki_types::UnixTime,
};

use super::validity;
use crate::error::Error;

/// Whether the request got no answer of the API at all. The 400 that Go's servers give to plain HTTP on their TLS port
/// counts too.
pub fn is_transport(error: &kube::Error) -> bool {
    match error {
        kube::Error::Service(_) | kube::Error::HyperError(_) | kube::Error::ReadEvents(_) => true,
        kube::Error::Api(status) => is_plain_http_refused(&status.message),
        _ => false,
    }
}

/// The error for a request without an answer. `proxy` is as in [`Connected`](super::Connected).
pub fn unreachable(error: &kube::Error, server: &str, proxy: Option<&str>) -> Error {
    let chain = chain(error);
    if is_not_http(error, &chain) {
        return plain_http(server);
    }
    let endpoint = Endpoint { server, proxy };
    let (message, hint) = endpoint
        .proxy(&chain)
        .or_else(|| endpoint.tls(&chain))
        .or_else(|| endpoint.login(&chain))
        .or_else(|| endpoint.network(&chain))
        .or_else(|| endpoint.closed(&chain))
        .unwrap_or_else(|| {
            let deepest = chain.last().map(ToString::to_string).unwrap_or_default();
            (format!("no answer from {server}: {deepest}"), endpoint.check())
        });
    Error::Server {
        message,
        hint: Some(hint),
    }
}

/// The error if a TLS server answers plain HTTP.
pub fn plain_http(server: &str) -> Error {
    let hint = match server.strip_prefix("http://") {
        Some(rest) => format!("if it speaks TLS, write https://{rest}"),
        None => "check that this address is the API server".to_owned(),
    };
    Error::Server {
        message: format!("{server} does not answer in plain HTTP"),
        hint: Some(hint),
    }
}

/// The error if our own time limit ended the request. It is otherwise like [`unreachable()`].
pub fn timed_out(server: &str, proxy: Option<&str>) -> Error {
    let endpoint = Endpoint { server, proxy };
    Error::TimedOut {
        message: format!("{server} did not answer in time{}", endpoint.via()),
        hint: Some("give it longer with --request-timeout, or check the server's load".to_owned()),
    }
}

type Chain<'a> = [&'a (dyn StdError + 'static)];
type Sentence = Option<(String, String)>;

/// The error and its causes, outermost first. `io::Error::source` skips the error that it wraps, and rustls' errors are
/// wrapped like that.
fn chain(error: &kube::Error) -> Vec<&(dyn StdError + 'static)> {
    let mut chain: Vec<&(dyn StdError + 'static)> = Vec::new();
    let mut next: Option<&(dyn StdError + 'static)> = Some(error);
    while let Some(error) = next {
        chain.push(error);
        next = match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(held) => Some(held),
            None => error.source(),
        };
    }
    chain
}

fn find<'a, T: StdError + 'static>(chain: &Chain<'a>) -> Option<&'a T> {
    chain.iter().find_map(|error| error.downcast_ref())
}

/// Whether an error of the chain begins with these words, for errors with private types.
fn says(chain: &Chain<'_>, words: &str) -> bool {
    chain.iter().any(|error| error.to_string().starts_with(words))
}

/// The server and the proxy of the request.
struct Endpoint<'a> {
    server: &'a str,
    proxy: Option<&'a str>,
}

impl Endpoint<'_> {
    fn via(&self) -> String {
        self.proxy
            .map(|proxy| format!(" through the proxy {proxy}"))
            .unwrap_or_default()
    }

    fn check(&self) -> String {
        match self.proxy {
            Some(_) => "check the proxy, or exempt the server with NO_PROXY",
            None => "check the address (`kubectl config view --minify`), the network and the VPN",
        }
        .to_owned()
    }

    /// The proxy cannot be reached, or does not connect to the server.
    fn proxy(&self, chain: &Chain<'_>) -> Sentence {
        let proxy = self.proxy?;
        let server = self.server;
        if says(chain, "tunnel error: proxy authorization required") {
            return Some((
                format!("the proxy {proxy} wants a user name and a password (407)"),
                "write them into its address: http://USER:PASSWORD@HOST:PORT".to_owned(),
            ));
        }
        if says(chain, "tunnel error: failed to create") || says(chain, "SOCKS error: failed to create") {
            let why = reason(chain)
                .map(|(why, _)| format!(": {why}"))
                .unwrap_or_default();
            return Some((format!("the proxy {proxy} cannot be reached{why}"), self.check()));
        }
        if says(chain, "tunnel error") || says(chain, "SOCKS error") {
            return Some((
                format!("the proxy {proxy} does not connect us to {server}"),
                self.check(),
            ));
        }
        None
    }

    fn tls(&self, chain: &Chain<'_>) -> Sentence {
        let server = self.server;
        match find::<rustls::Error>(chain)? {
            rustls::Error::InvalidCertificate(problem) => Some(self.certificate(problem)),
            rustls::Error::AlertReceived(alert) => Some(self.alert(*alert)),
            rustls::Error::InvalidMessage(_) => Some((
                format!("{server} does not speak TLS on that port"),
                "if it is a plain HTTP server (such as `kubectl proxy`), write http:// instead of https://"
                    .to_owned(),
            )),
            rustls::Error::PeerIncompatible(why) => Some((
                format!("{server} offers no TLS that we can use: {why:?}"),
                "it needs TLS 1.2 or later; a load balancer in between may be older".to_owned(),
            )),
            other => Some((
                format!("the TLS connection to {server} failed: {other}"),
                self.check(),
            )),
        }
    }

    fn certificate(&self, problem: &CertificateError) -> (String, String) {
        let server = self.server;
        let clock =
            "renew it on the server (kubeadm: `kubeadm certs renew apiserver`), or set this machine's clock";
        match problem {
            ExpiredContext { not_after, .. } => {
                (format!("the certificate of {server} expired on {}", date(*not_after)), clock.to_owned())
            }
            Expired => (format!("the certificate of {server} has expired"), clock.to_owned()),
            NotValidYetContext { not_before, .. } => (
                format!("the certificate of {server} is not valid before {}", date(*not_before)),
                "set this machine's clock".to_owned(),
            ),
            NotValidYet => (
                format!("the certificate of {server} is not valid yet"),
                "set this machine's clock".to_owned(),
            ),
            UnknownIssuer | BadSignature => (
                format!("the certificate of {server} is not from an authority that we were told to trust"),
                "give the cluster's CA with --certificate-authority; if the cluster was made anew, get its new kubeconfig".to_owned(),
            ),
            NotValidForNameContext { expected, presented } => {
                let names: Vec<_> = presented.iter().map(|name| bare_name(name)).collect();
                let expected = expected.to_str();
                let hint = match names.first() {
                    Some(name) => format!("use one of its names in the address, or --tls-server-name {name}"),
                    None => "it names no host at all; it must be made again".to_owned(),
                };
                (
                    format!("the certificate of {server} is not for {expected:?} but for {}", listed_names(&names)),
                    hint,
                )
            }
            NotValidForName => (
                format!("the certificate of {server} is for another name"),
                "use a name in the certificate as the address, or give one with --tls-server-name".to_owned(),
            ),
            other => (
                format!("the certificate of {server} cannot be accepted: {other}"),
                "if kubectl accepts it, --insecure-skip-tls-verify goes on without a check".to_owned(),
            ),
        }
    }

    /// Explains a TLS alert of the server. Only a server or proxy that requires client certificates sends these; an API
    /// server continues without one and answers 401.
    fn alert(&self, alert: AlertDescription) -> (String, String) {
        let server = self.server;
        match alert {
            AlertDescription::CertificateExpired => (
                format!("{server} refuses our client certificate: it has expired"),
                "get a new one; on kubeadm clusters `kubeadm certs renew admin.conf`".to_owned(),
            ),
            AlertDescription::CertificateRequired => (
                format!("{server} wants a client certificate and we have none"),
                "give one with --client-certificate and --client-key".to_owned(),
            ),
            AlertDescription::BadCertificate
            | AlertDescription::UnsupportedCertificate
            | AlertDescription::CertificateRevoked
            | AlertDescription::CertificateUnknown
            | AlertDescription::UnknownCA
            | AlertDescription::AccessDenied
            | AlertDescription::DecryptError => (
                format!("{server} refuses our client certificate (TLS alert {alert:?})"),
                "is it from this cluster? If the cluster was made anew, get its new kubeconfig".to_owned(),
            ),
            AlertDescription::UnrecognisedName => (
                format!("{server} does not know the name we asked for"),
                "check --tls-server-name, or tls-server-name in the kubeconfig".to_owned(),
            ),
            other => (
                format!("{server} ended the TLS connection (alert {other:?})"),
                "check that this address is the API server".to_owned(),
            ),
        }
    }

    /// A token that is fetched during the request failed: a file, `OpenID` Connect.
    fn login(&self, chain: &Chain<'_>) -> Sentence {
        let cause = find::<AuthError>(chain)?;
        let hint = match cause {
            AuthError::Oidc(_) => "log in again with your identity provider",
            _ => "check the user in the kubeconfig",
        };
        Some((
            format!("could not log in to {}: {cause}", self.server),
            hint.to_owned(),
        ))
    }

    fn network(&self, chain: &Chain<'_>) -> Sentence {
        let (why, hint) = reason(chain)?;
        let message = format!("cannot reach {}{}: {why}", self.server, self.via());
        Some((message, hint.map_or_else(|| self.check(), str::to_owned)))
    }

    fn closed(&self, chain: &Chain<'_>) -> Sentence {
        let closed = find::<hyper::Error>(chain).is_some_and(hyper::Error::is_incomplete_message);
        closed.then(|| {
            (
                format!("{} closed the connection without an answer", self.server),
                self.check(),
            )
        })
    }
}

/// Whether the answer is not HTTP, or is the error of a TLS server about plain HTTP.
fn is_not_http(error: &kube::Error, chain: &Chain<'_>) -> bool {
    matches!(error, kube::Error::Api(status) if is_plain_http_refused(&status.message))
        || find::<hyper::Error>(chain).is_some_and(hyper::Error::is_parse)
}

/// The network error, and a hint if there is a specific one.
fn reason(chain: &Chain<'_>) -> Option<(String, Option<&'static str>)> {
    if says(chain, "dns error") || says(chain, "failed to lookup address") {
        return Some((
            "no such host".to_owned(),
            Some("check the host name, the DNS and the VPN"),
        ));
    }
    let error = chain
        .iter()
        .rev()
        .find_map(|error| error.downcast_ref::<io::Error>())?;
    Some(match error.kind() {
        io::ErrorKind::ConnectionRefused => (
            "connection refused".to_owned(),
            Some(
                "nothing listens on that port; is the cluster running, and is this its address (`kubectl config view --minify`)?",
            ),
        ),
        io::ErrorKind::TimedOut => (
            "timed out".to_owned(),
            Some("check the network, the VPN and firewalls; nothing came back at all"),
        ),
        io::ErrorKind::UnexpectedEof => ("it closed the connection".to_owned(), None),
        _ => (error.to_string(), None),
    })
}

/// Whether an answer is the error of a TLS server about plain HTTP: Go's `net/http`, and nginx.
pub fn is_plain_http_refused(message: &str) -> bool {
    message.contains("HTTP request to an HTTPS server")
        || message.contains("plain HTTP request was sent to HTTPS port")
}

fn date(time: UnixTime) -> String {
    let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    jiff::Timestamp::from_second(seconds).map_or_else(|_| format!("second {seconds}"), validity::shown)
}

/// The name without its type: webpki writes `DnsName("kubernetes")` and `IpAddress(10.0.0.1)`.
fn bare_name(name: &str) -> &str {
    let inner = name
        .split_once('(')
        .and_then(|(_, rest)| rest.strip_suffix(')'))
        .unwrap_or(name);
    inner.trim_matches('"')
}

/// Lists at most five names: the certificate of an API server has a dozen.
fn listed_names(names: &[&str]) -> String {
    match (names, names.split_at_checked(5)) {
        ([], _) => "no name".to_owned(),
        (_, Some((listed, rest))) if !rest.is_empty() => {
            format!("{} and {} more", listed.join(", "), rest.len())
        }
        (few, _) => few.join(", "),
    }
}

#[cfg(test)]
mod tests;
