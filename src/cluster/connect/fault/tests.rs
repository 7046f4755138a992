//! Tests with faults of real connections: each test makes one and checks its message.

use std::{net::TcpListener, time::Duration};

use http::Request;

use super::*;
use crate::{
    cluster::connect::{
        Connected, connect_from,
        testing::{Authority, OK, Pair, Sandbox, Server},
    },
    settings::Connection,
};

/// A connection to this address with these flags, and with no other settings.
async fn connected(sandbox: &Sandbox, server: &str, flags: Connection) -> Connected {
    let flags = Connection {
        server: Some(server.to_owned()),
        ..flags
    };
    sandbox
        .with_async(async |surroundings| connect_from(&flags, surroundings).await)
        .await
        .expect("a client")
}

/// The message and the hint for a request to this address.
async fn fault_of(sandbox: &Sandbox, server: &str, flags: Connection) -> (String, String) {
    let connected = connected(sandbox, server, flags).await;
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

fn trusting(sandbox: &Sandbox, authority: &Authority) -> Connection {
    Connection {
        certificate_authority: Some(sandbox.file("ca.crt", &authority.pem)),
        ..Connection::default()
    }
}

fn with_pair(sandbox: &Sandbox, flags: Connection, pair: &Pair) -> Connection {
    Connection {
        client_certificate: Some(sandbox.file("user.crt", &pair.certificate)),
        client_key: Some(sandbox.file("user.key", &pair.key)),
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
    let (message, hint) = fault_of(&Sandbox::new(), &format!("https://127.0.0.1:{port}"), insecure).await;
    assert_eq!(
        message,
        format!("cannot reach https://127.0.0.1:{port}: connection refused")
    );
    assert!(hint.starts_with("nothing listens on that port"), "{hint}");
}

#[tokio::test]
async fn no_such_host() {
    let (message, hint) = fault_of(
        &Sandbox::new(),
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
    // The system accepts the connection, but nobody answers.
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let server = format!("https://{}", listener.local_addr().expect("an address"));
    let flags = Connection {
        insecure_skip_tls_verify: true,
        request_timeout: Some(Duration::from_millis(200)),
        ..Connection::default()
    };
    let (message, hint) = fault_of(&Sandbox::new(), &server, flags).await;
    assert_eq!(message, format!("cannot reach {server}: timed out"));
    assert!(hint.contains("VPN"), "{hint}");
}

#[tokio::test]
async fn certificates_of_the_server() {
    let (sandbox, ours, theirs) = (Sandbox::new(), Authority::new("ours"), Authority::new("theirs"));
    let flags = || trusting(&sandbox, &ours);

    let server = Server::tls(ours.sign(&["127.0.0.1"], 2022).server(None), OK);
    let address = format!("https://127.0.0.1:{}", server.port);
    let (message, hint) = fault_of(&sandbox, &address, flags()).await;
    assert_eq!(
        message,
        format!("the certificate of {address} expired on 2022-01-01 00:00 UTC")
    );
    assert!(hint.contains("clock"), "{hint}");

    let server = Server::tls(theirs.sign(&["127.0.0.1"], 2060).server(None), OK);
    let address = format!("https://127.0.0.1:{}", server.port);
    let (message, hint) = fault_of(&sandbox, &address, flags()).await;
    assert_eq!(
        message,
        format!("the certificate of {address} is not from an authority that we were told to trust")
    );
    assert!(hint.contains("--certificate-authority"), "{hint}");

    let names = ["kubernetes", "10.0.0.1", "a", "b", "c", "d"];
    let server = Server::tls(ours.sign(&names, 2060).server(None), OK);
    let address = format!("https://127.0.0.1:{}", server.port);
    let (message, hint) = fault_of(&sandbox, &address, flags()).await;
    assert_eq!(
        message,
        format!(
            "the certificate of {address} is not for \"127.0.0.1\" but for kubernetes, 10.0.0.1, a, b, c and 1 more"
        )
    );
    assert!(hint.ends_with("--tls-server-name kubernetes"), "{hint}");

    // The hint works, and so does skipping the check.
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
        let connected = connected(&sandbox, &address, flags).await;
        let request = Request::get("/version").body(Vec::new()).expect("a request");
        assert_eq!(
            connected.client.request_text(request).await.expect("an answer"),
            "{}"
        );
    }
}

#[tokio::test]
async fn certificates_of_the_client() {
    let (sandbox, ours, theirs) = (Sandbox::new(), Authority::new("ours"), Authority::new("theirs"));
    let server = Server::tls(ours.sign(&["127.0.0.1"], 2060).server(Some(&ours)), OK);
    let address = format!("https://127.0.0.1:{}", server.port);

    let (message, hint) = fault_of(&sandbox, &address, trusting(&sandbox, &ours)).await;
    assert_eq!(
        message,
        format!("{address} wants a client certificate and we have none")
    );
    assert!(hint.contains("--client-certificate"), "{hint}");

    let expired = with_pair(&sandbox, trusting(&sandbox, &ours), &ours.sign(&["me"], 2022));
    let (message, _) = fault_of(&sandbox, &address, expired).await;
    assert_eq!(
        message,
        format!("{address} refuses our client certificate: it has expired")
    );

    let foreign = with_pair(&sandbox, trusting(&sandbox, &ours), &theirs.sign(&["me"], 2060));
    let (message, hint) = fault_of(&sandbox, &address, foreign).await;
    assert!(
        message.starts_with(&format!("{address} refuses our client certificate (TLS alert ")),
        "{message}"
    );
    assert!(hint.contains("made anew"), "{hint}");

    let good = with_pair(&sandbox, trusting(&sandbox, &ours), &ours.sign(&["me"], 2060));
    let connected = connected(&sandbox, &address, good).await;
    let request = Request::get("/version").body(Vec::new()).expect("a request");
    assert!(connected.client.request_text(request).await.is_ok());
}

#[tokio::test]
async fn the_wrong_protocol_on_the_port() {
    let sandbox = Sandbox::new();
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
    let (message, hint) = fault_of(&sandbox, &address, insecure()).await;
    assert_eq!(message, format!("{address} does not speak TLS on that port"));
    assert!(hint.contains("http:// instead"), "{hint}");

    // Plain HTTP to a server of Go, which recognises it …
    let go =
        Server::plain("HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n");
    let address = format!("http://127.0.0.1:{}", go.port);
    let (message, hint) = fault_of(&sandbox, &address, Connection::default()).await;
    assert_eq!(message, format!("{address} does not answer in plain HTTP"));
    assert_eq!(
        hint,
        format!("if it speaks TLS, write https://127.0.0.1:{}", go.port)
    );

    // … and to one that answers with a TLS alert.
    let alert = Server::plain("\u{15}\u{3}\u{1}\u{0}\u{2}\u{2}\u{46}");
    let address = format!("http://127.0.0.1:{}", alert.port);
    let (message, _) = fault_of(&sandbox, &address, Connection::default()).await;
    assert_eq!(message, format!("{address} does not answer in plain HTTP"));

    // A server that hangs up.
    let mute = Server::plain("");
    let address = format!("http://127.0.0.1:{}", mute.port);
    let (message, _) = fault_of(&sandbox, &address, Connection::default()).await;
    assert_eq!(
        message,
        format!("{address} closed the connection without an answer")
    );
}

#[tokio::test]
async fn reports_a_proxy_that_refuses() {
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
        let sandbox = Sandbox::new();
        let proxy = Server::plain(answer);
        let address = format!("http://127.0.0.1:{}", proxy.port);
        sandbox.set("HTTPS_PROXY", &address);
        let insecure = Connection {
            insecure_skip_tls_verify: true,
            ..Connection::default()
        };
        let (message, _) = fault_of(&sandbox, "https://cluster.test:6443", insecure).await;
        assert_eq!(
            message,
            expected.replace("{}", &format!("{address} (HTTPS_PROXY)"))
        );
    }
}

#[tokio::test]
async fn reports_a_proxy_that_is_unreachable() {
    let sandbox = Sandbox::new();
    let insecure = || Connection {
        insecure_skip_tls_verify: true,
        ..Connection::default()
    };
    sandbox.set("HTTPS_PROXY", "http://127.0.0.1:1");
    let (message, hint) = fault_of(&sandbox, "https://cluster.test:6443", insecure()).await;
    assert_eq!(
        message,
        "the proxy http://127.0.0.1:1 (HTTPS_PROXY) cannot be reached: connection refused"
    );
    assert!(hint.contains("NO_PROXY"), "{hint}");
    sandbox.set("HTTPS_PROXY", "socks5://127.0.0.1:1");
    let (message, _) = fault_of(&sandbox, "https://cluster.test:6443", insecure()).await;
    assert_eq!(
        message,
        "the proxy socks5://127.0.0.1:1 (HTTPS_PROXY) cannot be reached"
    );
}

#[tokio::test]
async fn an_answer_of_the_api_is_no_transport_fault() {
    let sandbox = Sandbox::new();
    let server = Server::plain("HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n");
    let connected = connected(
        &sandbox,
        &format!("http://127.0.0.1:{}", server.port),
        Connection::default(),
    )
    .await;
    let request = Request::get("/apis/x/v1").body(Vec::new()).expect("a request");
    let error = connected.client.request_text(request).await.expect_err("503");
    assert!(!is_transport(&error));
    // The request was sent once; kube would have retried for minutes.
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn reports_our_own_time_limit() {
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
