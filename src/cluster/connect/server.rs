//! Parses the address of the API server.

use http::Uri;

use super::config_error;
use crate::error::Error;

/// Parses an address as client-go does (`rest/url_utils.go`). Without a scheme it is plain HTTP.
pub(super) fn parse(address: &str) -> Result<Uri, Error> {
    let address = address.trim();
    let bad = |why: &str| {
        config_error(
            format!(
                "the server address {:?} cannot be used: {why}",
                without_credentials(address)
            ),
            Some("write it as https://HOST:PORT"),
        )
    };
    let full = if address.contains("://") {
        address.to_owned()
    } else {
        format!("http://{address}")
    };
    let uri: Uri = full
        .parse()
        .map_err(|error: http::uri::InvalidUri| bad(&error.to_string()))?;
    match uri.scheme_str() {
        Some("http" | "https") => {}
        other => {
            return Err(bad(&format!(
                "the scheme {:?} is not http or https",
                other.unwrap_or_default()
            )));
        }
    }
    if uri
        .authority()
        .is_some_and(|authority| authority.as_str().contains('@'))
    {
        return Err(bad(
            "it holds credentials; those belong to a user of the kubeconfig",
        ));
    }
    if uri.host().is_none_or(str::is_empty) {
        return Err(bad("it has no host"));
    }
    // hyper's proxy tunnel assumes port 443, whatever the scheme.
    match (uri.scheme_str(), uri.port_u16(), uri.host()) {
        (Some("http"), None, Some(host)) => {
            let path = uri.path();
            format!("http://{host}:80{path}")
                .parse()
                .map_err(|error: http::uri::InvalidUri| bad(&error.to_string()))
        }
        _ => Ok(uri),
    }
}

/// The address for messages.
pub(super) fn shown(uri: &Uri) -> String {
    uri.to_string().trim_end_matches('/').to_owned()
}

fn without_credentials(address: &str) -> String {
    let (scheme, rest) = address
        .split_once("://")
        .map_or(("", address), |(scheme, rest)| (scheme, rest));
    let (host, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let separator = if scheme.is_empty() { "" } else { "://" };
    format!("{scheme}{separator}{host}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_addresses_as_client_go_does() {
        for (typed, meant) in [
            ("https://10.0.0.1:6443", "https://10.0.0.1:6443"),
            (
                "https://rancher.example/k8s/clusters/c-1/",
                "https://rancher.example/k8s/clusters/c-1",
            ),
            ("localhost:8080", "http://localhost:8080"),
            ("cluster.example", "http://cluster.example:80"),
            ("https://[fd00::1]:6443", "https://[fd00::1]:6443"),
        ] {
            assert_eq!(shown(&parse(typed).expect(typed)), meant);
        }
    }

    #[test]
    fn rejects_bad_addresses_without_showing_credentials() {
        for address in [
            "ftp://x",
            "https://me:secret@cluster:6443",
            "https://",
            "https://a b",
            "me:secret@:x y",
        ] {
            let text = parse(address).expect_err(address).to_string();
            assert!(text.starts_with("the server address "), "{text}");
            assert!(!text.contains("secret"), "{text}");
        }
    }
}
