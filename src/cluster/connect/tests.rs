//! The whole way: a kubeconfig in a file, flags, an environment, a server that remembers what it was asked.

use std::fs;

use http::Request;

use super::{
    testing::{Authority, OK, Place, Server, kubeconfig},
    *,
};

async fn connected(place: &Place, flags: &Connection) -> Result<Connected, Error> {
    place
        .with_async(async |around| connect_from(flags, around).await)
        .await
}

async fn refused(place: &Place, flags: &Connection) -> (String, String) {
    let Err(error) = connected(place, flags).await else {
        panic!("connected");
    };
    (error.to_string(), error.hint().unwrap_or_default().to_owned())
}

async fn ask(connected: &Connected) {
    let request = Request::get("/version").body(Vec::new()).expect("a request");
    let answer = connected.client.request_text(request).await;
    answer.unwrap_or_else(|error| panic!("{}", connected.unreachable(&error)));
}

/// A TLS server and the fields of a kubeconfig's cluster that lead to it.
fn tls_server(place: &Place) -> (Server, String) {
    let authority = Authority::new("ca");
    let server = Server::tls(
        authority.sign(&["127.0.0.1", "cluster.test"], 2060).server(None),
        OK,
    );
    place.file("ca.crt", &authority.pem);
    let fields = format!(
        "server: 'https://127.0.0.1:{}/', certificate-authority: ca.crt",
        server.port
    );
    (server, fields)
}

fn default_config(place: &Place, text: &str) {
    let path = place.file("kubeconfig", text);
    place.set("KUBECONFIG", path.to_str().expect("UTF-8"));
}

#[tokio::test]
async fn a_kubeconfig_leads_to_its_server() {
    let place = Place::new();
    let (server, fields) = tls_server(&place);
    default_config(&place, &kubeconfig(&fields, "token: t0ken"));
    let connected = connected(&place, &Connection::default()).await.expect("a client");
    assert_eq!(connected.server, format!("https://127.0.0.1:{}", server.port));
    assert_eq!(connected.namespace, "web");
    ask(&connected).await;
    let requests = server.requests();
    let [request] = requests.as_slice() else {
        panic!("{requests:?}")
    };
    let request = request.to_lowercase();
    assert!(request.starts_with("get /version "), "{request}");
    assert!(request.contains("authorization: bearer t0ken\r\n"), "{request}");
    assert!(request.contains("accept-encoding: gzip\r\n"), "{request}");
    let agent = format!("user-agent: kubectl-finalizers/{} (", env!("CARGO_PKG_VERSION"));
    assert!(request.contains(&agent), "{request}");
}

#[tokio::test]
async fn flags_reach_the_wire() {
    let place = Place::new();
    let (server, fields) = tls_server(&place);
    default_config(&place, &kubeconfig(&fields, "token: t0ken"));
    let flags = Connection {
        token: Some("other".to_owned()),
        as_user: Some("jane".to_owned()),
        as_groups: vec!["g1".to_owned(), "g2".to_owned()],
        as_uid: Some("7".to_owned()),
        as_user_extra: vec![("example.com/scopes".to_owned(), "view".to_owned())],
        disable_compression: true,
        ..Connection::default()
    };
    ask(&connected(&place, &flags).await.expect("a client")).await;
    let request = server.requests().concat().to_lowercase();
    for line in [
        "authorization: bearer other\r\n",
        "impersonate-user: jane\r\n",
        "impersonate-group: g1\r\n",
        "impersonate-group: g2\r\n",
        "impersonate-uid: 7\r\n",
        "impersonate-extra-example.com%2fscopes: view\r\n",
    ] {
        assert!(request.contains(line), "{line} in {request}");
    }
    assert!(!request.contains("accept-encoding"), "{request}");
}

#[tokio::test]
async fn over_plain_http_no_credentials_are_sent() {
    // As kubectl (`IsConfigTransportTLS`): a token must not be readable on the way.
    let place = Place::new();
    let server = Server::plain(OK);
    let address = format!("server: 'http://127.0.0.1:{}'", server.port);
    default_config(&place, &kubeconfig(&address, "token: t0ken"));
    let connected = connected(&place, &Connection::default()).await.expect("a client");
    ask(&connected).await;
    let request = server.requests().concat();
    assert!(!request.contains("t0ken"), "{request}");
    assert!(connected.unauthorized().to_string().contains("over http://"));
}

#[cfg(unix)]
#[tokio::test]
async fn a_credential_plugin_runs_once_and_its_answer_is_used() {
    let place = Place::new();
    let (server, fields) = tls_server(&place);
    // The command is relative to the kubeconfig, as for kubectl.
    let calls = place.path("calls");
    let body = format!(
        "echo called >> {}\necho '{}'",
        calls.display(),
        r#"{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"from-plugin"}}"#
    );
    place.script("bin/login", &body);
    let user =
        "exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: ./bin/login}";
    default_config(&place, &kubeconfig(&fields, user));
    let connected = connected(&place, &Connection::default()).await.expect("a client");
    ask(&connected).await;
    ask(&connected).await;
    assert_eq!(fs::read_to_string(calls).expect("called"), "called\n");
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    assert!(
        requests
            .iter()
            .all(|request| request.contains("Bearer from-plugin")),
        "{requests:?}"
    );
    let text = connected.unauthorized().to_string();
    assert!(
        text.contains("what the credential plugin") && text.contains("bin/login"),
        "{text}"
    );
}

#[cfg(unix)]
#[tokio::test]
async fn a_plugins_certificate_is_shown_to_the_server() {
    let place = Place::new();
    let authority = Authority::new("ca");
    let server = Server::tls(authority.sign(&["127.0.0.1"], 2060).server(Some(&authority)), OK);
    place.file("ca.crt", &authority.pem);
    let pair = authority.sign(&["me"], 2060);
    let status = serde_json::json!({
        "kind": "ExecCredential",
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "status": {"clientCertificateData": pair.certificate, "clientKeyData": pair.key},
    });
    let answer = place.file("answer.json", status.to_string());
    let script = place.script("login", &format!("cat {}", answer.display()));
    let fields = format!(
        "server: 'https://127.0.0.1:{}', certificate-authority: ca.crt",
        server.port
    );
    let user = format!(
        "exec: {{apiVersion: client.authentication.k8s.io/v1beta1, command: '{}'}}",
        script.display()
    );
    default_config(&place, &kubeconfig(&fields, &user));
    ask(&connected(&place, &Connection::default()).await.expect("a client")).await;
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn the_proxy_is_used_unless_the_cluster_is_exempt() {
    let place = Place::new();
    let (server, fields) = tls_server(&place);
    let proxy = Server::proxy_to(server.port);
    place.set(
        "HTTPS_PROXY",
        &format!("http://me:s3cret@127.0.0.1:{}", proxy.port),
    );
    let fields = fields.replace("127.0.0.1", "cluster.test");
    default_config(&place, &kubeconfig(&fields, "token: t"));
    let connected = connected(&place, &Connection::default()).await.expect("a client");
    ask(&connected).await;
    let tunnels = proxy.requests().concat();
    assert!(
        tunnels.starts_with(&format!("CONNECT cluster.test:{} ", server.port)),
        "{tunnels}"
    );
    assert!(tunnels.contains("Basic bWU6czNjcmV0"), "{tunnels}");
    assert!(connected.proxy.is_some_and(|shown| !shown.contains("s3cret")));

    // The loopback goes direct by itself, and by kube's own rule NO_PROXY would have to name the proxy.
    let direct = fields.replace("cluster.test", "127.0.0.1");
    default_config(&place, &kubeconfig(&direct, "token: t"));
    let direct = self::connected(&place, &Connection::default())
        .await
        .expect("a client");
    ask(&direct).await;
    assert_eq!((proxy.requests().len(), direct.proxy), (1, None));
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn an_entry_of_no_proxy_for_the_cluster_goes_around_the_proxy() {
    let place = Place::new();
    place.set("HTTPS_PROXY", "http://127.0.0.1:1");
    place.set("NO_PROXY", ",, .other,cluster.test:6443,");
    let flags = |server: &str| Connection {
        server: Some(server.to_owned()),
        insecure_skip_tls_verify: true,
        ..Connection::default()
    };
    let exempt = connected(&place, &flags("https://cluster.test:6443"))
        .await
        .expect("a client");
    assert_eq!(exempt.proxy, None);
    let other = connected(&place, &flags("https://cluster.test:443"))
        .await
        .expect("a client");
    assert_eq!(other.proxy.as_deref(), Some("http://127.0.0.1:1 (HTTPS_PROXY)"));
}

#[tokio::test]
async fn a_proxy_url_in_the_kubeconfig_wins_over_no_proxy() {
    let place = Place::new();
    let (server, fields) = tls_server(&place);
    let proxy = Server::proxy_to(server.port);
    place.set("NO_PROXY", "*");
    let fields = format!("{fields}, proxy-url: 'http://127.0.0.1:{}'", proxy.port);
    default_config(&place, &kubeconfig(&fields, "token: t"));
    ask(&connected(&place, &Connection::default()).await.expect("a client")).await;
    assert_eq!(proxy.requests().len(), 1);
}

#[tokio::test]
async fn no_cluster_at_all_says_where_was_looked() {
    let place = Place::new();
    let (message, hint) = refused(&place, &Connection::default()).await;
    let looked = place.path("home/.kube/config");
    assert_eq!(
        message,
        format!("no cluster to talk to: there is no {}", looked.display())
    );
    assert!(hint.contains("--kubeconfig"), "{hint}");

    default_config(
        &place,
        &kubeconfig("server: x", "").replace("current-context: here", ""),
    );
    let (message, hint) = refused(&place, &Connection::default()).await;
    assert!(message.starts_with("no context is chosen in "), "{message}");
    assert_eq!(hint, "choose one with --context; its contexts: here");
}

#[tokio::test]
async fn a_pod_uses_its_own_cluster_unless_a_flag_says_otherwise() {
    let place = Place::new();
    let (server, _) = tls_server(&place);
    let authority = fs::read(place.path("ca.crt")).expect("written");
    place.file("serviceaccount/ca.crt", authority);
    place.file("serviceaccount/token", "pod-token");
    place.file("serviceaccount/namespace", "team");
    place.set("KUBERNETES_SERVICE_HOST", "127.0.0.1");
    place.set("KUBERNETES_SERVICE_PORT", &server.port.to_string());
    let flags = Connection {
        as_user: Some("jane".to_owned()),
        ..Connection::default()
    };
    let connected = connected(&place, &flags).await.expect("a client");
    assert_eq!(connected.namespace, "team");
    ask(&connected).await;
    let request = server.requests().concat();
    assert!(
        request.contains("Bearer pod-token") && request.contains("jane"),
        "{request}"
    );

    for flags in [
        Connection {
            user: Some("u".to_owned()),
            ..Connection::default()
        },
        Connection {
            token: Some("t".to_owned()),
            ..Connection::default()
        },
        Connection {
            certificate_authority: Some("ca.crt".into()),
            ..Connection::default()
        },
    ] {
        let (message, _) = refused(&place, &flags).await;
        assert!(message.starts_with("no cluster to talk to: "), "{message}");
    }
}

#[tokio::test]
async fn files_that_cannot_be_used_are_named() {
    let place = Place::new();
    default_config(
        &place,
        &kubeconfig("server: 'https://c', certificate-authority: gone.crt", ""),
    );
    let (message, _) = refused(&place, &Connection::default()).await;
    let gone = place.path("gone.crt");
    assert!(
        message.starts_with(&format!(
            "cannot read the certificate authority {}: ",
            gone.display()
        )),
        "{message}"
    );

    let rubbish = place.file("rubbish", "not PEM");
    let flags = Connection {
        certificate_authority: Some(rubbish.clone()),
        ..Connection::default()
    };
    let (message, _) = refused(&place, &flags).await;
    assert_eq!(
        message,
        format!(
            "the certificate authority {} holds no usable certificate",
            rubbish.display()
        )
    );

    let (one, other) = (
        Authority::new("a").sign(&["me"], 2060),
        Authority::new("b").sign(&["me"], 2060),
    );
    let flags = Connection {
        insecure_skip_tls_verify: true,
        client_certificate: Some(place.file("one.crt", &one.certificate)),
        client_key: Some(place.file("other.key", &other.key)),
        ..Connection::default()
    };
    let (message, hint) = refused(&place, &flags).await;
    assert!(
        message.starts_with("the client certificate and key cannot be used: "),
        "{message}"
    );
    assert_eq!(hint, "both must be PEM, and belong together");

    let flags = Connection {
        insecure_skip_tls_verify: true,
        tls_server_name: Some("not a name".to_owned()),
        ..Connection::default()
    };
    let (message, _) = refused(&place, &flags).await;
    assert_eq!(
        message,
        "the name to expect in the server's certificate is not a host name"
    );
}

#[tokio::test]
async fn the_limit_for_connecting_is_never_longer_than_for_a_request() {
    let limit = |request: Option<u64>| {
        let flags = Connection {
            request_timeout: request.map(Duration::from_secs),
            ..Connection::default()
        };
        let mut config = Config::new(http::Uri::from_static("https://c"));
        transport(&mut config, &Cluster::default(), &flags);
        config.connect_timeout.map(|limit| limit.as_secs())
    };
    assert_eq!(
        [limit(None), limit(Some(3)), limit(Some(60))],
        [Some(10), Some(3), Some(10)]
    );
}
