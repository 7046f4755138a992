//! Ways to connect to a cluster, and what can fail: one sentence, one hint, exit code 1, at once.

use std::{
    fs,
    net::TcpListener,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use super::{complaint, held, json, names};
use crate::harness::{Cluster, Namespace, Plugin};

/// The plugin without any kubeconfig, and with a home directory that has none.
fn without_kubeconfig(home: &Path, words: &[&str]) -> Plugin {
    Plugin::new(words.iter().copied()).env("HOME", home)
}

/// The sentence and the hint of a run that must fail soon.
#[track_caller]
fn fails(plugin: Plugin) -> (String, String) {
    let began = Instant::now();
    let out = plugin.run();
    assert_eq!(out.code, 1, "{out}");
    assert!(
        began.elapsed() < Duration::from_secs(5),
        "it took {:?}: {out}",
        began.elapsed()
    );
    complaint(&out)
}

#[track_caller]
fn scans_the_namespace(plugin: Plugin) {
    assert_eq!(names(&json(plugin), "terminating"), ["configmaps/kept"]);
}

/// A namespace with an object in deletion.
fn place(name: &str) -> Namespace<'static> {
    let ns = Cluster::shared().namespace(name);
    held(&ns, "kept", "example.com/hold");
    ns
}

fn file(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    path
}

fn shown(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// The token of a new ServiceAccount that may read this namespace.
fn token(ns: &Namespace) -> String {
    ns.kubectl(["create", "serviceaccount", "reader"]).success();
    let account = format!("--serviceaccount={}:reader", ns.name());
    ns.kubectl(["create", "role", "reader", "--verb=get,list", "--resource=*.*"])
        .success();
    ns.kubectl(["create", "rolebinding", "reader", "--role=reader", &account])
        .success();
    let allowed = || {
        let user = format!("--as=system:serviceaccount:{}:reader", ns.name());
        ns.kubectl(["auth", "can-i", "list", "configmaps", &user]).code == 0
    };
    crate::harness::wait("the service account may read", Duration::from_secs(10), allowed);
    ns.kubectl(["create", "token", "reader"])
        .success()
        .trim()
        .to_owned()
}

#[test]
fn a_kubeconfig_is_found_through_flag_list_and_home() {
    let cluster = Cluster::shared();
    let ns = place("kubeconfigs");
    let folder = tempfile::tempdir().unwrap();
    let real = shown(cluster.kubeconfig());
    let words = ["scan", "cm", "-n", ns.name(), "-o", "json"];
    scans_the_namespace(without_kubeconfig(
        folder.path(),
        &[&words[..], &["--kubeconfig", real]].concat(),
    ));

    // A missing file in KUBECONFIG is skipped. The context comes from one file, the cluster from another.
    let other = file(
        folder.path(),
        "other",
        "{apiVersion: v1, kind: Config, current-context: nowhere, contexts: [{name: nowhere, context: {cluster: nowhere, user: nobody}}],
          clusters: [{name: nowhere, cluster: {server: 'https://127.0.0.1:1'}}], users: [{name: nobody, user: {}}]}",
    );
    let list = format!(
        "{}:{}:{real}",
        folder.path().join("missing").display(),
        shown(&other)
    );
    let through_list = [&words[..], &["--context", "test"]].concat();
    scans_the_namespace(without_kubeconfig(folder.path(), &through_list).env("KUBECONFIG", &list));
    // The first file with a current context wins.
    let (error, _) = fails(without_kubeconfig(folder.path(), &words).env("KUBECONFIG", &list));
    assert!(error.contains("https://127.0.0.1:1"), "{error}");
    // Flags replace single parts of the context.
    let parts = [&words[..], &["--cluster", "test", "--user", "test"]].concat();
    scans_the_namespace(without_kubeconfig(folder.path(), &parts).env("KUBECONFIG", &list));

    fs::create_dir(folder.path().join(".kube")).unwrap();
    fs::copy(cluster.kubeconfig(), folder.path().join(".kube/config")).unwrap();
    scans_the_namespace(without_kubeconfig(folder.path(), &words));
}

#[test]
fn a_server_a_token_and_a_ca_are_enough() {
    let cluster = Cluster::shared();
    let ns = place("token");
    let token = token(&ns);
    let folder = tempfile::tempdir().unwrap();
    let ca = cluster.certificate_authority();
    let scan = |more: &[&str]| {
        let words = [
            "scan",
            "cm",
            "-n",
            ns.name(),
            "-o",
            "json",
            "--server",
            cluster.url(),
            "--token",
            &token,
        ];
        without_kubeconfig(folder.path(), &[&words[..], more].concat())
    };
    scans_the_namespace(scan(&["--certificate-authority", shown(&ca)]));
    scans_the_namespace(scan(&["--insecure-skip-tls-verify"]));
    scans_the_namespace(scan(&[
        "--certificate-authority",
        shown(&ca),
        "--tls-server-name",
        "kubernetes.default.svc",
    ]));
    scans_the_namespace(scan(&["--insecure-skip-tls-verify", "--disable-compression"]));

    let (error, hint) = fails(scan(&[
        "--certificate-authority",
        shown(&ca),
        "--tls-server-name",
        "wrong.example.com",
    ]));
    assert!(error.contains("is not for \"wrong.example.com\""), "{error}");
    assert!(hint.contains("--tls-server-name"), "{hint}");
    let (error, hint) = fails(scan(&[]));
    assert!(
        error.contains("not from an authority that we were told to trust"),
        "{error}"
    );
    assert!(hint.contains("--certificate-authority"), "{hint}");
    // The token is a secret, so no output contains it.
    let wrong = without_kubeconfig(
        folder.path(),
        &[
            "scan",
            "--server",
            cluster.url(),
            "--token",
            "s3cr3t-t0k3n",
            "--insecure-skip-tls-verify",
        ],
    );
    let (error, hint) = fails(wrong);
    assert!(error.contains("401 Unauthorized"), "{error}");
    assert!(
        !error.contains("s3cr3t") && !hint.contains("s3cr3t"),
        "{error} {hint}"
    );
}

#[test]
fn a_client_certificate_can_be_given_by_flags() {
    let cluster = Cluster::shared();
    let ns = place("certificate");
    let folder = tempfile::tempdir().unwrap();
    let user = cluster
        .user("by-flags")
        .may_in(ns.name(), "get,list", "*")
        .create();
    let pki = cluster.certificate_authority();
    let pki = pki.parent().unwrap();
    let (certificate, key) = (
        pki.join(format!("{}.crt", user.name())),
        pki.join(format!("{}.key", user.name())),
    );
    let ca = pki.join("ca.crt");
    let scan = |more: &[&str]| {
        let words = [
            "scan",
            "cm",
            "-n",
            ns.name(),
            "-o",
            "json",
            "--server",
            cluster.url(),
            "--certificate-authority",
            shown(&ca),
        ];
        without_kubeconfig(folder.path(), &[&words[..], more].concat())
    };
    scans_the_namespace(scan(&[
        "--client-certificate",
        shown(&certificate),
        "--client-key",
        shown(&key),
    ]));
    let (error, _) = fails(scan(&["--client-certificate", shown(&certificate)]));
    assert!(error.contains("key"), "{error}");
    let (error, _) = fails(scan(&[
        "--client-certificate",
        "/no/such/file",
        "--client-key",
        shown(&key),
    ]));
    assert!(error.contains("/no/such/file"), "{error}");
}

#[test]
fn a_credential_plugin_is_called_once() {
    let cluster = Cluster::shared();
    let ns = place("plugin");
    let token = token(&ns);
    let folder = tempfile::tempdir().unwrap();
    let calls = folder.path().join("calls");
    let script = file(
        folder.path(),
        "login",
        &format!(
            "#!/bin/sh\necho called >> {}\necho '{{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\",\"status\":{{\"token\":\"{token}\"}}}}'\n",
            calls.display()
        ),
    );
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let config = |command: &str| {
        file(
            folder.path(),
            "config",
            &format!(
                "
apiVersion: v1
kind: Config
current-context: a
contexts: [{{name: a, context: {{cluster: a, user: a}}}}]
clusters: [{{name: a, cluster: {{server: '{}', certificate-authority: {}}}}}]
users: [{{name: a, user: {{exec: {{apiVersion: client.authentication.k8s.io/v1, command: {command}, interactiveMode: Never, installHint: ask your administrator}}}}}}]
",
                cluster.url(),
                cluster.certificate_authority().display()
            ),
        )
    };
    let words = ["scan", "-n", ns.name(), "-o", "json"];
    let path = config(shown(&script));
    let report = json(without_kubeconfig(folder.path(), &words).kubeconfig(&path));
    assert!(
        report["totals"]["types"].as_u64().unwrap() > 10,
        "many requests were sent: {report:#}"
    );
    assert_eq!(fs::read_to_string(&calls).unwrap().lines().count(), 1);

    let path = config("no-such-login");
    let (error, hint) = fails(without_kubeconfig(folder.path(), &words).kubeconfig(&path));
    assert!(
        error.contains("the credential plugin \"no-such-login\" of user \"a\" is not installed"),
        "{error}"
    );
    assert_eq!(hint, "ask your administrator");
}

#[test]
fn an_expired_client_certificate_is_named_with_its_date() {
    let cluster = Cluster::shared();
    let late = cluster.user("late").expired().create();
    let (error, hint) = fails(cluster.plugin(["scan"]).as_user(&late));
    assert!(
        error.contains("does not accept the client certificate"),
        "{error}"
    );
    assert!(error.contains("expired on 2020-01-01"), "{error}");
    assert!(!hint.is_empty());
}

#[test]
fn a_missing_context_is_named_with_the_contexts_that_exist() {
    let cluster = Cluster::shared();
    let (error, hint) = fails(cluster.plugin(["scan", "--context", "tset"]));
    assert!(error.contains("\"tset\""), "{error}");
    assert!(hint.contains("test"), "{hint}");
    let (error, _) = fails(cluster.plugin(["scan", "--user", "nobody"]));
    assert!(error.contains("\"nobody\""), "{error}");
    let (error, _) = fails(cluster.plugin(["scan", "--cluster", "nowhere"]));
    assert!(error.contains("\"nowhere\""), "{error}");
}

#[test]
fn an_unreadable_kubeconfig_is_named() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("torn", "apiVersion: v1\nkind: Config\nclusters:\n- name: [a\n"),
        ("binary", "\u{0}\u{1}\u{2}"),
        ("wrong", "clusters: 7\n"),
        ("empty", ""),
    ] {
        let path = file(folder.path(), name, text);
        let (error, hint) = fails(without_kubeconfig(
            folder.path(),
            &["scan", "--kubeconfig", shown(&path)],
        ));
        assert!(error.contains(shown(&path)), "{name}: {error}");
        assert!(!hint.is_empty(), "{name}");
    }
    let missing = folder.path().join("missing");
    let (error, _) = fails(without_kubeconfig(
        folder.path(),
        &["scan", "--kubeconfig", shown(&missing)],
    ));
    assert!(error.contains(shown(&missing)), "{error}");
}

#[test]
fn a_refused_connection_is_reported_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let port = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    let server = format!("https://127.0.0.1:{port}");
    let (error, hint) = fails(without_kubeconfig(folder.path(), &["scan", "--server", &server]));
    assert_eq!(error, format!("cannot reach {server}: connection refused"));
    assert!(hint.contains("is the cluster running"), "{hint}");
    let (error, _) = fails(without_kubeconfig(
        folder.path(),
        &["scan", "--server", "https://no-such-host.invalid"],
    ));
    assert!(error.contains("no such host"), "{error}");
}

#[test]
fn a_run_without_any_cluster_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let (error, hint) = fails(without_kubeconfig(folder.path(), &["scan"]));
    assert!(error.starts_with("no cluster to talk to"), "{error}");
    assert!(hint.contains("--kubeconfig"), "{hint}");
    // The environment variables of a pod are not enough: it also has a token.
    let variables = without_kubeconfig(folder.path(), &["scan"])
        .env("KUBERNETES_SERVICE_HOST", "127.0.0.1")
        .env("KUBERNETES_SERVICE_PORT", "1");
    let (error, _) = fails(variables);
    assert!(error.starts_with("no cluster to talk to"), "{error}");
}

#[test]
fn a_kubeconfig_wins_over_the_cluster_of_the_pod() {
    let cluster = Cluster::shared();
    let ns = place("pod");
    scans_the_namespace(
        cluster
            .plugin(["scan", "cm", "-n", ns.name(), "-o", "json"])
            .env("KUBERNETES_SERVICE_HOST", "127.0.0.1")
            .env("KUBERNETES_SERVICE_PORT", "1"),
    );
}
