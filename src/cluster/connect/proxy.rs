//! Which proxy the requests go through.
//!
//! As in kubectl: `proxy-url` of the kubeconfig wins over everything, `NO_PROXY` included (client-go sets
//! `http.ProxyURL` then); else `HTTPS_PROXY`, or `HTTP_PROXY` for an `http://` server, upper case first, unless
//! `no_proxy` exempts the server. Go ignores an environment variable that it cannot read
//! and then connects directly; here that is an error, because a direct attempt ends in a time-out that
//! explains nothing.

use http::Uri;

use super::{config_error, no_proxy, surroundings::Surroundings};
use crate::error::Error;

/// A proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Proxy {
    /// Its address as kube takes it.
    pub(super) uri: Uri,
    /// Its address without credentials, and who asked for it.
    pub(super) shown: String,
}

/// The proxy for this server, if there is one.
pub(super) fn choose(
    proxy_url: Option<&str>,
    server: &Uri,
    around: &Surroundings<'_>,
) -> Result<Option<Proxy>, Error> {
    if let Some(address) = proxy_url.filter(|address| !address.is_empty()) {
        return parse(address, "proxy-url of the kubeconfig").map(Some);
    }
    let https = server.scheme_str() == Some("https");
    let names: &[&str] = match https {
        true => &["HTTPS_PROXY", "https_proxy"],
        // A CGI program gets the header `Proxy:` of its client as HTTP_PROXY (golang.org/s/cgihttpproxy).
        false if around.var("REQUEST_METHOD").is_some() => &[],
        false => &["HTTP_PROXY", "http_proxy"],
    };
    let Some((variable, address)) = around.any_var(names) else {
        return Ok(None);
    };
    let exemptions = around
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
    // kube's SOCKS connector always lets the proxy resolve names, which is what the h stands for in curl.
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
    let place = format!("{host}:{}", uri.port_u16().unwrap_or(port));
    let with_credentials = credentials.map_or(place.clone(), |credentials| format!("{credentials}@{place}"));
    let uri = format!("{scheme}://{with_credentials}")
        .parse()
        .map_err(|error: http::uri::InvalidUri| bad(&error.to_string()))?;
    Ok(Proxy {
        uri,
        shown: format!("{scheme}://{place} ({origin})"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::connect::testing::Place;

    fn shown(place: &Place, kubeconfig: Option<&str>, server: &'static str) -> Option<String> {
        place
            .with(|around| choose(kubeconfig, &Uri::from_static(server), around))
            .expect("a proxy or none")
            .map(|proxy| proxy.shown)
    }

    #[test]
    fn the_environment_is_asked_by_scheme_upper_case_first() {
        let place = Place::new();
        place.set("https_proxy", "http://lower:3128");
        assert_eq!(
            shown(&place, None, "https://cluster:6443").as_deref(),
            Some("http://lower:3128 (https_proxy)")
        );
        assert_eq!(shown(&place, None, "http://cluster:8080"), None);
        place.set("HTTPS_PROXY", "upper:3128");
        place.set("HTTP_PROXY", "http://plain");
        assert_eq!(
            shown(&place, None, "https://cluster:6443").as_deref(),
            Some("http://upper:3128 (HTTPS_PROXY)")
        );
        assert_eq!(
            shown(&place, None, "http://cluster:8080").as_deref(),
            Some("http://plain:80 (HTTP_PROXY)")
        );
        place.set("REQUEST_METHOD", "GET");
        assert_eq!(shown(&place, None, "http://cluster:8080"), None);
    }

    #[test]
    fn no_proxy_is_about_the_cluster() {
        let place = Place::new();
        place.set("HTTPS_PROXY", "http://proxy:3128");
        place.set("NO_PROXY", "proxy");
        assert!(shown(&place, None, "https://cluster:6443").is_some());
        place.set("NO_PROXY", ",cluster,");
        assert_eq!(shown(&place, None, "https://cluster:6443"), None);
        place.set("NO_PROXY", "");
        place.set("no_proxy", "fd00::/8");
        assert_eq!(shown(&place, None, "https://[fd00::1]:6443"), None);
        assert_eq!(shown(&place, None, "https://127.0.0.1:6443"), None);
    }

    #[test]
    fn the_kubeconfigs_proxy_wins_over_all_of_it() {
        let place = Place::new();
        place.set("HTTPS_PROXY", "http://proxy:3128");
        place.set("NO_PROXY", "*");
        assert_eq!(
            shown(&place, Some("socks5h://me"), "https://localhost:6443").as_deref(),
            Some("socks5://me:1080 (proxy-url of the kubeconfig)")
        );
    }

    #[test]
    fn credentials_reach_the_proxy_and_no_message() {
        let place = Place::new();
        place.set("HTTPS_PROXY", "http://me:secret@proxy:3128");
        let proxy = place
            .with(|around| choose(None, &Uri::from_static("https://cluster"), around))
            .expect("a proxy")
            .expect("one");
        assert_eq!(proxy.uri, "http://me:secret@proxy:3128");
        assert_eq!(proxy.shown, "http://proxy:3128 (HTTPS_PROXY)");
    }

    #[test]
    fn what_cannot_be_used_is_refused_by_name() {
        let place = Place::new();
        for (address, why) in [
            ("ftp://proxy", "the scheme \"ftp\" is not supported"),
            ("http://", ""),
            (
                "socks5://me:secret@proxy",
                "SOCKS with a user name is not supported",
            ),
        ] {
            let error = place
                .with(|around| choose(Some(address), &Uri::from_static("https://cluster"), around))
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
