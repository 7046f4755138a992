//! Chooses the proxy for the requests.
//!
//! The rules are kubectl's. `proxy-url` of the kubeconfig wins over everything, including `NO_PROXY` (client-go then
//! sets `http.ProxyURL`). Otherwise it is `HTTPS_PROXY`, or `HTTP_PROXY` for an `http://` server, upper case first,
//! unless `no_proxy` exempts the server. Go ignores an invalid variable and then connects directly. Here that is an
//! error, because a direct attempt ends in a time-out that explains nothing.

use http::Uri;

use super::{config_error, no_proxy, surroundings::Surroundings};
use crate::error::Error;

/// A proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Proxy {
    /// The address for kube.
    pub(super) uri: Uri,
    /// The address without credentials, and which setting names it.
    pub(super) shown: String,
}

/// The proxy for this server, if there is one.
pub(super) fn choose(
    proxy_url: Option<&str>,
    server: &Uri,
    surroundings: &Surroundings<'_>,
) -> Result<Option<Proxy>, Error> {
    if let Some(address) = proxy_url.filter(|address| !address.is_empty()) {
        return parse(address, "proxy-url of the kubeconfig").map(Some);
    }
    let https = server.scheme_str() == Some("https");
    let names: &[&str] = match https {
        true => &["HTTPS_PROXY", "https_proxy"],
        // A CGI program gets its client's `Proxy:` header as HTTP_PROXY (golang.org/s/cgihttpproxy).
        false if surroundings.var("REQUEST_METHOD").is_some() => &[],
        false => &["HTTP_PROXY", "http_proxy"],
    };
    let Some((variable, address)) = surroundings.any_var(names) else {
        return Ok(None);
    };
    let exemptions = surroundings
        .any_var(&["NO_PROXY", "no_proxy"])
        .map(|(_, list)| list)
        .unwrap_or_default();
    let host = server.host().unwrap_or_default().trim_matches(['[', ']']);
    let port = server.port_u16().unwrap_or(if https { 443 } else { 80 });
    if no_proxy::exempts(&exemptions, host, port) {
        return Ok(None);
    }
    parse(&address, variable).map(Some)
}

fn parse(address: &str, origin: &str) -> Result<Proxy, Error> {
    let address = address.trim();
    let bad = |why: &str| {
        config_error(
            format!("{origin} is not the address of a usable proxy: {why}"),
            Some("write it as http://HOST:PORT, https://HOST:PORT or socks5://HOST:PORT"),
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
    let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
        return Err(bad("it has no host"));
    };
    // kube's SOCKS connector always lets the proxy resolve names, which is the meaning of `h` in curl.
    let (scheme, port) = match scheme {
        "http" => ("http", 80),
        "https" => ("https", 443),
        "socks5" | "socks5h" => ("socks5", 1080),
        other => return Err(bad(&format!("the scheme {other:?} is not supported"))),
    };
    let credentials = authority
        .as_str()
        .rsplit_once('@')
        .map(|(credentials, _)| credentials);
    if scheme == "socks5" && credentials.is_some() {
        return Err(bad("SOCKS with a user name is not supported"));
    }
    let host = uri.host().unwrap_or_default();
    if host.is_empty() {
        return Err(bad("it has no host"));
    }
    let host_and_port = format!("{host}:{}", uri.port_u16().unwrap_or(port));
    let with_credentials = credentials.map_or(host_and_port.clone(), |credentials| {
        format!("{credentials}@{host_and_port}")
    });
    let uri = format!("{scheme}://{with_credentials}")
        .parse()
        .map_err(|error: http::uri::InvalidUri| bad(&error.to_string()))?;
    Ok(Proxy {
        uri,
        shown: format!("{scheme}://{host_and_port} ({origin})"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::connect::testing::Sandbox;

    fn shown(sandbox: &Sandbox, kubeconfig: Option<&str>, server: &'static str) -> Option<String> {
        sandbox
            .with(|surroundings| choose(kubeconfig, &Uri::from_static(server), surroundings))
            .expect("a proxy or none")
            .map(|proxy| proxy.shown)
    }

    #[test]
    fn reads_the_variable_for_the_scheme_upper_case_first() {
        let sandbox = Sandbox::new();
        sandbox.set("https_proxy", "http://lower:3128");
        assert_eq!(
            shown(&sandbox, None, "https://cluster:6443").as_deref(),
            Some("http://lower:3128 (https_proxy)")
        );
        assert_eq!(shown(&sandbox, None, "http://cluster:8080"), None);
        sandbox.set("HTTPS_PROXY", "upper:3128");
        sandbox.set("HTTP_PROXY", "http://plain");
        assert_eq!(
            shown(&sandbox, None, "https://cluster:6443").as_deref(),
            Some("http://upper:3128 (HTTPS_PROXY)")
        );
        assert_eq!(
            shown(&sandbox, None, "http://cluster:8080").as_deref(),
            Some("http://plain:80 (HTTP_PROXY)")
        );
        sandbox.set("REQUEST_METHOD", "GET");
        assert_eq!(shown(&sandbox, None, "http://cluster:8080"), None);
    }

    #[test]
    fn no_proxy_names_the_cluster_not_the_proxy() {
        let sandbox = Sandbox::new();
        sandbox.set("HTTPS_PROXY", "http://proxy:3128");
        sandbox.set("NO_PROXY", "proxy");
        assert!(shown(&sandbox, None, "https://cluster:6443").is_some());
        sandbox.set("NO_PROXY", ",cluster,");
        assert_eq!(shown(&sandbox, None, "https://cluster:6443"), None);
        sandbox.set("NO_PROXY", "");
        sandbox.set("no_proxy", "fd00::/8");
        assert_eq!(shown(&sandbox, None, "https://[fd00::1]:6443"), None);
        assert_eq!(shown(&sandbox, None, "https://127.0.0.1:6443"), None);
    }

    #[test]
    fn the_proxy_of_the_kubeconfig_wins_over_the_environment() {
        let sandbox = Sandbox::new();
        sandbox.set("HTTPS_PROXY", "http://proxy:3128");
        sandbox.set("NO_PROXY", "*");
        assert_eq!(
            shown(&sandbox, Some("socks5h://me"), "https://localhost:6443").as_deref(),
            Some("socks5://me:1080 (proxy-url of the kubeconfig)")
        );
    }

    #[test]
    fn sends_credentials_to_the_proxy_but_shows_them_nowhere() {
        let sandbox = Sandbox::new();
        sandbox.set("HTTPS_PROXY", "http://me:secret@proxy:3128");
        let proxy = sandbox
            .with(|surroundings| choose(None, &Uri::from_static("https://cluster"), surroundings))
            .expect("a proxy")
            .expect("one");
        assert_eq!(proxy.uri, "http://me:secret@proxy:3128");
        assert_eq!(proxy.shown, "http://proxy:3128 (HTTPS_PROXY)");
    }

    #[test]
    fn rejects_an_unusable_proxy_by_name() {
        let sandbox = Sandbox::new();
        for (address, why) in [
            ("ftp://proxy", "the scheme \"ftp\" is not supported"),
            ("http://", ""),
            (
                "socks5://me:secret@proxy",
                "SOCKS with a user name is not supported",
            ),
        ] {
            let error = sandbox
                .with(|surroundings| {
                    choose(Some(address), &Uri::from_static("https://cluster"), surroundings)
                })
                .expect_err(address);
            let text = error.to_string();
            assert!(
                text.starts_with("proxy-url of the kubeconfig is not") && text.contains(why),
                "{text}"
            );
            assert!(!text.contains("secret"), "{text}");
        }
    }
}
