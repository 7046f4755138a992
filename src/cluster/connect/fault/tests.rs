//! Faults of real connections: each test makes one and reads what is said about it.

use std::{net::TcpListener, time::Duration};

use http::Request;

use super::*;
use crate::{
    cluster::connect::{
        Connected, connect_from,
        testing::{Authority, OK, Pair, Place, Server},
    },
    settings::Connection,
};

/// A connection to this address with these flags; nothing is read from anywhere else.
async fn connected(place: &Place, server: &str, flags: Connection) -> Connected {
    let flags = Connection {
        server: Some(server.to_owned()),
        ..flags
    };
    place
        .with_async(async |around| connect_from(&flags, around).await)
        .await
        .expect("a client")
}

/// What is said about a request there: message and hint.
async fn said(place: &Place, server: &str, flags: Connection) -> (String, String) {
    let connected = connected(place, server, flags).await;
    let request = Request::get("/version").body(Vec::new()).expect("a request");
    let error = connected
        .client
        .request_text(request)
        .await
        .expect_err("no answer");
    assert!(is_transport(&error), "{error:?}");
    let error = connected.unreachable(&error);
    (error.to_string(), error.hint().unwrap_or_default().to_owned())
}

fn trusting(place: &Place, authority: &Authority) -> Connection {
    Connection {
        certificate_authority: Some(place.file("ca.crt", &authority.pem)),
        ..Connection::default()
    }
}

fn with_pair(place: &Place, flags: Connection, pair: &Pair) -> Connection {
    Connection {
        client_certificate: Some(place.file("user.crt", &pair.certificate)),
        client_key: Some(place.file("user.key", &pair.key)),
        ..flags
    }
}

#[tokio::test]
async fn connection_refused() {
    let port = {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        listener.local_addr().expect("an address").port()
    };
    let insecure = Connection {
        insecure_skip_tls_verify: true,
        ..Connection::default()
    };
    let (message, hint) = said(&Place::new(), &format!("https://127.0.0.1:{port}"), insecure).await;
    assert_eq!(
        message,
        format!("cannot reach https://127.0.0.1:{port}: connection refused")
    );
    assert!(hint.starts_with("nothing listens on that port"), "{hint}");
}

#[tokio::test]
async fn no_such_host() {
    let (message, hint) = said(
        &Place::new(),
        "http://no-such-host.invalid:6443",
        Connection::default(),
    )
    .await;
    assert_eq!(
        message,
        "cannot reach http://no-such-host.invalid:6443: no such host"
    );
    assert!(hint.contains("DNS"), "{hint}");
}

#[tokio::test]
async fn timed_out_while_connecting() {
    // The connection is accepted by the system and nobody ever speaks.
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let server = format!("https://{}", listener.local_addr().expect("an address"));
    let flags = Connection {
        insecure_skip_tls_verify: true,
        request_timeout: Some(Duration::from_millis(200)),
        ..Connection::default()
    };
    let (message, hint) = said(&Place::new(), &server, flags).await;
    assert_eq!(message, format!("cannot reach {server}: timed out"));
    assert!(hint.contains("VPN"), "{hint}");
}

#[tokio::test]
async fn certificates_of_the_server() {
    let (place, ours, theirs) = (Place::new(), Authority::new("ours"), Authority::new("theirs"));
    let flags = || trusting(&place, &ours);

    let server = Server::tls(ours.sign(&["127.0.0.1"], 2022).server(None), OK);
    let address = format!("https://127.0.0.1:{}", server.port);
    let (message, hint) = said(&place, &address, flags()).await;
    assert_eq!(
        message,
        format!("the certificate of {address} expired on 2022-01-01 00:00 UTC")
    );
    assert!(hint.contains("clock"), "{hint}");

    let server = Server::tls(theirs.sign(&["127.0.0.1"], 2060).server(None), OK);
    let address = format!("https://127.0.0.1:{}", server.port);
    let (message, hint) = said(&place, &address, flags()).await;
    assert_eq!(
        message,
        format!("the certificate of {address} is not from an authority that we were told to trust")
    );
    assert!(hint.contains("--certificate-authority"), "{hint}");

    let names = ["kubernetes", "10.0.0.1", "a", "b", "c", "d"];
    let server = Server::tls(ours.sign(&names, 2060).server(None), OK);
    let address = format!("https://127.0.0.1:{}", server.port);
    let (message, hint) = said(&place, &address, flags()).await;
    assert_eq!(
        message,
        format!(
            "the certificate of {address} is not for \"127.0.0.1\" but for kubernetes, 10.0.0.1, a, b, c and 1 more"
        )
    );
    assert!(hint.ends_with("--tls-server-name kubernetes"), "{hint}");

    // The hint works, and so does not to check at all.
    for flags in [
        Connection {
            tls_server_name: Some("kubernetes".to_owned()),
            ..flags()
        },
        Connection {
            insecure_skip_tls_verify: true,
            ..Connection::default()
        },
    ] {
        let connected = connected(&place, &address, flags).await;
        let request = Request::get("/version").body(Vec::new()).expect("a request");
        assert_eq!(
            connected.client.request_text(request).await.expect("an answer"),
            "{}"
        );
    }
}

#[tokio::test]
async fn certificates_of_the_client() {
    let (place, ours, theirs) = (Place::new(), Authority::new("ours"), Authority::new("theirs"));
    let server = Server::tls(ours.sign(&["127.0.0.1"], 2060).server(Some(&ours)), OK);
    let address = format!("https://127.0.0.1:{}", server.port);

    let (message, hint) = said(&place, &address, trusting(&place, &ours)).await;
    assert_eq!(
        message,
        format!("{address} wants a client certificate and we have none")
    );
    assert!(hint.contains("--client-certificate"), "{hint}");

    let expired = with_pair(&place, trusting(&place, &ours), &ours.sign(&["me"], 2022));
    let (message, _) = said(&place, &address, expired).await;
    assert_eq!(
        message,
        format!("{address} refuses our client certificate: it has expired")
    );

    let foreign = with_pair(&place, trusting(&place, &ours), &theirs.sign(&["me"], 2060));
    let (message, hint) = said(&place, &address, foreign).await;
    assert!(
        message.starts_with(&format!("{address} refuses our client certificate (TLS alert ")),
        "{message}"
    );
    assert!(hint.contains("made anew"), "{hint}");

    let good = with_pair(&place, trusting(&place, &ours), &ours.sign(&["me"], 2060));
    let connected = connected(&place, &address, good).await;
    let request = Request::get("/version").body(Vec::new()).expect("a request");
    assert!(connected.client.request_text(request).await.is_ok());
}

#[tokio::test]
async fn the_wrong_protocol_on_the_port() {
    let place = Place::new();
    let insecure = || Connection {
        insecure_skip_tls_verify: true,
        ..Connection::default()
    };
    // TLS to a server that answers in plain HTTP.
    let server = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let address = format!("https://{}", server.local_addr().expect("an address"));
    std::thread::spawn(move || {
        use std::io::Write;
        for mut stream in server.incoming().filter_map(Result::ok) {
            stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").ok();
        }
    });
    let (message, hint) = said(&place, &address, insecure()).await;
    assert_eq!(message, format!("{address} does not speak TLS on that port"));
    assert!(hint.contains("http:// instead"), "{hint}");

    // Plain HTTP to a server of Go, which recognises it …
    let go =
        Server::plain("HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n");
    let address = format!("http://127.0.0.1:{}", go.port);
    let (message, hint) = said(&place, &address, Connection::default()).await;
    assert_eq!(message, format!("{address} does not answer in plain HTTP"));
    assert_eq!(
        hint,
        format!("if it speaks TLS, write https://127.0.0.1:{}", go.port)
    );

    // … and to one that answers with a TLS alert.
    let alert = Server::plain("\u{15}\u{3}\u{1}\u{0}\u{2}\u{2}\u{46}");
    let address = format!("http://127.0.0.1:{}", alert.port);
    let (message, _) = said(&place, &address, Connection::default()).await;
    assert_eq!(message, format!("{address} does not answer in plain HTTP"));

    // A server that hangs up.
    let mute = Server::plain("");
    let address = format!("http://127.0.0.1:{}", mute.port);
    let (message, _) = said(&place, &address, Connection::default()).await;
    assert_eq!(
        message,
        format!("{address} closed the connection without an answer")
    );
}

#[tokio::test]
async fn a_proxy_that_does_not_help() {
    for (answer, expected) in [
        (
            "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n",
            "the proxy {} wants a user name and a password (407)",
        ),
        (
            "HTTP/1.1 403 Forbidden\r\n\r\n",
            "the proxy {} does not connect us to https://cluster.test:6443",
        ),
        (
            "",
            "the proxy {} does not connect us to https://cluster.test:6443",
        ),
    ] {
        let place = Place::new();
        let proxy = Server::plain(answer);
        let address = format!("http://127.0.0.1:{}", proxy.port);
        place.set("HTTPS_PROXY", &address);
        let insecure = Connection {
            insecure_skip_tls_verify: true,
            ..Connection::default()
        };
        let (message, _) = said(&place, "https://cluster.test:6443", insecure).await;
        assert_eq!(
            message,
            expected.replace("{}", &format!("{address} (HTTPS_PROXY)"))
        );
    }
}

#[tokio::test]
async fn a_proxy_that_is_not_there() {
    let place = Place::new();
    let insecure = || Connection {
        insecure_skip_tls_verify: true,
        ..Connection::default()
    };
    place.set("HTTPS_PROXY", "http://127.0.0.1:1");
    let (message, hint) = said(&place, "https://cluster.test:6443", insecure()).await;
    assert_eq!(
        message,
        "the proxy http://127.0.0.1:1 (HTTPS_PROXY) cannot be reached: connection refused"
    );
    assert!(hint.contains("NO_PROXY"), "{hint}");
    place.set("HTTPS_PROXY", "socks5://127.0.0.1:1");
    let (message, _) = said(&place, "https://cluster.test:6443", insecure()).await;
    assert_eq!(
        message,
        "the proxy socks5://127.0.0.1:1 (HTTPS_PROXY) cannot be reached"
    );
}

#[tokio::test]
async fn an_answer_of_the_api_is_no_fault_of_the_way() {
    let place = Place::new();
    let server = Server::plain("HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n");
    let connected = connected(
        &place,
        &format!("http://127.0.0.1:{}", server.port),
        Connection::default(),
    )
    .await;
    let request = Request::get("/apis/x/v1").body(Vec::new()).expect("a request");
    let error = connected.client.request_text(request).await.expect_err("503");
    assert!(!is_transport(&error));
    // And it was asked once: kube would have gone on for minutes.
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn our_own_limit_is_named() {
    let error = timed_out("https://c:6443", Some("http://p:3128 (HTTPS_PROXY)"));
    assert_eq!(
        error.to_string(),
        "https://c:6443 did not answer in time through the proxy http://p:3128 (HTTPS_PROXY)"
    );
    assert!(
        error
            .hint()
            .is_some_and(|hint| hint.contains("--request-timeout"))
    );
}
