//! Tests of the whole path: a kubeconfig file, flags, an environment, and a server that records its requests.

use std::fs;

use http::Request;

use super::{
    testing::{Authority, OK, Sandbox, Server, kubeconfig},
    *,
};

async fn connected(sandbox: &Sandbox, flags: &Connection) -> Result<Connected, Error> {
    sandbox
        .with_async(async |surroundings| connect_from(flags, surroundings).await)
        .await
}

async fn refused(sandbox: &Sandbox, flags: &Connection) -> (String, String) {
    let Err(error) = connected(sandbox, flags).await else {
        panic!("connected");
    };
    (error.to_string(), error.hint().unwrap_or_default().to_owned())
}

async fn ask(connected: &Connected) {
    let request = Request::get("/version").body(Vec::new()).expect("a request");
    let answer = connected.client.request_text(request).await;
    answer.unwrap_or_else(|error| panic!("{}", connected.unreachable(&error)));
}

/// A TLS server, and the fields of a kubeconfig's cluster for it.
fn tls_server(sandbox: &Sandbox) -> (Server, String) {
    let authority = Authority::new("ca");
    let server = Server::tls(
        authority.sign(&["127.0.0.1", "cluster.test"], 2060).server(None),
        OK,
    );
    sandbox.file("ca.crt", &authority.pem);
    let fields = format!(
        "server: 'https://127.0.0.1:{}/', certificate-authority: ca.crt",
        server.port
    );
    (server, fields)
}

fn default_config(sandbox: &Sandbox, text: &str) {
    let path = sandbox.file("kubeconfig", text);
    sandbox.set("KUBECONFIG", path.to_str().expect("UTF-8"));
}

#[tokio::test]
async fn connects_to_the_server_of_the_kubeconfig() {
    let sandbox = Sandbox::new();
    let (server, fields) = tls_server(&sandbox);
    default_config(&sandbox, &kubeconfig(&fields, "token: t0ken"));
    let connected = connected(&sandbox, &Connection::default())
        .await
        .expect("a client");
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
async fn sends_the_flags() {
    let sandbox = Sandbox::new();
    let (server, fields) = tls_server(&sandbox);
    default_config(&sandbox, &kubeconfig(&fields, "token: t0ken"));
    let flags = Connection {
        token: Some("other".to_owned()),
        as_user: Some("jane".to_owned()),
        as_groups: vec!["g1".to_owned(), "g2".to_owned()],
        as_uid: Some("7".to_owned()),
        as_user_extra: vec![("example.com/scopes".to_owned(), "view".to_owned())],
        disable_compression: true,
        ..Connection::default()
    };
    ask(&connected(&sandbox, &flags).await.expect("a client")).await;
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
async fn sends_no_credentials_over_plain_http() {
    // As in kubectl (`IsConfigTransportTLS`): nobody may read a token on the network.
    let sandbox = Sandbox::new();
    let server = Server::plain(OK);
    let address = format!("server: 'http://127.0.0.1:{}'", server.port);
    default_config(&sandbox, &kubeconfig(&address, "token: t0ken"));
    let connected = connected(&sandbox, &Connection::default())
        .await
        .expect("a client");
    ask(&connected).await;
    let request = server.requests().concat();
    assert!(!request.contains("t0ken"), "{request}");
    assert!(connected.unauthorized().to_string().contains("over http://"));
}

#[cfg(unix)]
#[tokio::test]
async fn runs_a_credential_plugin_once_and_uses_its_answer() {
    let sandbox = Sandbox::new();
    let (server, fields) = tls_server(&sandbox);
    // The command is relative to the kubeconfig, as in kubectl.
    let calls = sandbox.path("calls");
    let body = format!(
        "echo called >> {}\necho '{}'",
        calls.display(),
        r#"{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"from-plugin"}}"#
    );
    sandbox.script("bin/login", &body);
    let user =
        "exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: ./bin/login}";
    default_config(&sandbox, &kubeconfig(&fields, user));
    let connected = connected(&sandbox, &Connection::default())
        .await
        .expect("a client");
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
async fn sends_the_certificate_of_a_plugin() {
    let sandbox = Sandbox::new();
    let authority = Authority::new("ca");
    let server = Server::tls(authority.sign(&["127.0.0.1"], 2060).server(Some(&authority)), OK);
    sandbox.file("ca.crt", &authority.pem);
    let pair = authority.sign(&["me"], 2060);
    let status = serde_json::json!({
        "kind": "ExecCredential",
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "status": {"clientCertificateData": pair.certificate, "clientKeyData": pair.key},
    });
    let answer = sandbox.file("answer.json", status.to_string());
    let script = sandbox.script("login", &format!("cat {}", answer.display()));
    let fields = format!(
        "server: 'https://127.0.0.1:{}', certificate-authority: ca.crt",
        server.port
    );
    let user = format!(
        "exec: {{apiVersion: client.authentication.k8s.io/v1beta1, command: '{}'}}",
        script.display()
    );
    default_config(&sandbox, &kubeconfig(&fields, &user));
    ask(&connected(&sandbox, &Connection::default())
        .await
        .expect("a client"))
    .await;
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn uses_the_proxy_unless_the_cluster_is_exempt() {
    let sandbox = Sandbox::new();
    let (server, fields) = tls_server(&sandbox);
    let proxy = Server::proxy_to(server.port);
    sandbox.set(
        "HTTPS_PROXY",
        &format!("http://me:s3cret@127.0.0.1:{}", proxy.port),
    );
    let fields = fields.replace("127.0.0.1", "cluster.test");
    default_config(&sandbox, &kubeconfig(&fields, "token: t"));
    let connected = connected(&sandbox, &Connection::default())
        .await
        .expect("a client");
    ask(&connected).await;
    let tunnels = proxy.requests().concat();
    assert!(
        tunnels.starts_with(&format!("CONNECT cluster.test:{} ", server.port)),
        "{tunnels}"
    );
    assert!(tunnels.contains("Basic bWU6czNjcmV0"), "{tunnels}");
    assert!(connected.proxy.is_some_and(|shown| !shown.contains("s3cret")));

    // The loopback never uses the proxy. By kube's own rule, NO_PROXY would have to name the proxy.
    let direct = fields.replace("cluster.test", "127.0.0.1");
    default_config(&sandbox, &kubeconfig(&direct, "token: t"));
    let direct = self::connected(&sandbox, &Connection::default())
        .await
        .expect("a client");
    ask(&direct).await;
    assert_eq!((proxy.requests().len(), direct.proxy), (1, None));
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn no_proxy_with_the_cluster_bypasses_the_proxy() {
    let sandbox = Sandbox::new();
    sandbox.set("HTTPS_PROXY", "http://127.0.0.1:1");
    sandbox.set("NO_PROXY", ",, .other,cluster.test:6443,");
    let flags = |server: &str| Connection {
        server: Some(server.to_owned()),
        insecure_skip_tls_verify: true,
        ..Connection::default()
    };
    let exempt = connected(&sandbox, &flags("https://cluster.test:6443"))
        .await
        .expect("a client");
    assert_eq!(exempt.proxy, None);
    let other = connected(&sandbox, &flags("https://cluster.test:443"))
        .await
        .expect("a client");
    assert_eq!(other.proxy.as_deref(), Some("http://127.0.0.1:1 (HTTPS_PROXY)"));
}

#[tokio::test]
async fn a_proxy_url_in_the_kubeconfig_wins_over_no_proxy() {
    let sandbox = Sandbox::new();
    let (server, fields) = tls_server(&sandbox);
    let proxy = Server::proxy_to(server.port);
    sandbox.set("NO_PROXY", "*");
    let fields = format!("{fields}, proxy-url: 'http://127.0.0.1:{}'", proxy.port);
    default_config(&sandbox, &kubeconfig(&fields, "token: t"));
    ask(&connected(&sandbox, &Connection::default())
        .await
        .expect("a client"))
    .await;
    assert_eq!(proxy.requests().len(), 1);
}

#[tokio::test]
async fn without_a_cluster_the_error_names_the_missing_files() {
    let sandbox = Sandbox::new();
    let (message, hint) = refused(&sandbox, &Connection::default()).await;
    let looked = sandbox.path("home/.kube/config");
    assert_eq!(
        message,
        format!("no cluster to talk to: there is no {}", looked.display())
    );
    assert!(hint.contains("--kubeconfig"), "{hint}");

    default_config(
        &sandbox,
        &kubeconfig("server: x", "").replace("current-context: here", ""),
    );
    let (message, hint) = refused(&sandbox, &Connection::default()).await;
    assert!(message.starts_with("no context is chosen in "), "{message}");
    assert_eq!(hint, "choose one with --context; its contexts: here");
}

#[tokio::test]
async fn a_pod_uses_its_own_cluster_unless_a_flag_names_another() {
    let sandbox = Sandbox::new();
    let (server, _) = tls_server(&sandbox);
    let authority = fs::read(sandbox.path("ca.crt")).expect("written");
    sandbox.file("serviceaccount/ca.crt", authority);
    sandbox.file("serviceaccount/token", "pod-token");
    sandbox.file("serviceaccount/namespace", "team");
    sandbox.set("KUBERNETES_SERVICE_HOST", "127.0.0.1");
    sandbox.set("KUBERNETES_SERVICE_PORT", &server.port.to_string());
    let flags = Connection {
        as_user: Some("jane".to_owned()),
        ..Connection::default()
    };
    let connected = connected(&sandbox, &flags).await.expect("a client");
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
        let (message, _) = refused(&sandbox, &flags).await;
        assert!(message.starts_with("no cluster to talk to: "), "{message}");
    }
}

#[tokio::test]
async fn names_files_that_cannot_be_used() {
    let sandbox = Sandbox::new();
    default_config(
        &sandbox,
        &kubeconfig("server: 'https://c', certificate-authority: gone.crt", ""),
    );
    let (message, _) = refused(&sandbox, &Connection::default()).await;
    let gone = sandbox.path("gone.crt");
    assert!(
        message.starts_with(&format!(
            "cannot read the certificate authority {}: ",
            gone.display()
        )),
        "{message}"
    );

    let rubbish = sandbox.file("rubbish", "not PEM");
    let flags = Connection {
        certificate_authority: Some(rubbish.clone()),
        ..Connection::default()
    };
    let (message, _) = refused(&sandbox, &flags).await;
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
        client_certificate: Some(sandbox.file("one.crt", &one.certificate)),
        client_key: Some(sandbox.file("other.key", &other.key)),
        ..Connection::default()
    };
    let (message, hint) = refused(&sandbox, &flags).await;
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
    let (message, _) = refused(&sandbox, &flags).await;
    assert_eq!(
        message,
        "the name to expect in the server's certificate is not a host name"
    );
}

#[tokio::test]
async fn the_connect_timeout_is_never_longer_than_the_request_timeout() {
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
