//! Connections to a real API server as kubectl makes them, and the messages when the server rejects them.

use std::fs;

use crate::harness::{Cluster, Output};

fn scan(cluster: &Cluster, flags: &[&str]) -> Output {
    cluster.plugin([&["scan", "nodes"], flags].concat()).run()
}

/// Standard error of a run that must fail with code 1: one sentence and one hint, nothing else.
fn refused(output: &Output) -> (String, String) {
    assert_eq!(output.code, 1, "{}", output.stderr);
    let lines: Vec<_> = output.stderr.lines().collect();
    let [error, hint] = lines.as_slice() else {
        panic!("not two lines: {}", output.stderr);
    };
    (
        error.strip_prefix("error: ").expect("an error").to_owned(),
        hint.strip_prefix("hint: ").expect("a hint").to_owned(),
    )
}

#[test]
fn flags_connect_to_the_same_server_as_kubectl() {
    let cluster = Cluster::shared();
    let foreign = cluster.directory().join("foreign.crt");
    fs::write(&foreign, foreign_authority()).unwrap();
    let foreign = foreign.display().to_string();
    let known = cluster.certificate_authority().display().to_string();
    let url = cluster.url();
    for flags in [
        &[] as &[&str],
        &["--context", "test"],
        &["--context", ""],
        &["--context", "nope"],
        &["--cluster", "test", "--user", "test"],
        &["--cluster", "nope"],
        &["--user", "nope"],
        &["--kubeconfig", "/nowhere/config"],
        &["--server", url],
        &["--server", url, "--certificate-authority", &known],
        &["--certificate-authority", &foreign],
        &["--certificate-authority", "/nowhere/ca.crt"],
        &["--insecure-skip-tls-verify"],
        &["--insecure-skip-tls-verify=false"],
        &["--insecure-skip-tls-verify", "--certificate-authority", &known],
        &["--tls-server-name", "wrong.example"],
        &["--as", "someone", "--as-group", "system:masters"],
        &["--as-group", "system:masters"],
        &["--as", "someone"],
        &["--client-certificate", "/nowhere/user.crt"],
        &["--disable-compression"],
    ] {
        let theirs = cluster.kubectl([&["get", "nodes"], flags].concat());
        let ours = scan(cluster, flags);
        // A type that may not be listed is a gap, not an error.
        let read = ours.code == 0 && !ours.stdout.contains("NOT READ") && !ours.stderr.contains("NOT READ");
        assert_eq!(
            read,
            theirs.code == 0,
            "{flags:?}\n{}{}\n{}",
            ours.stdout,
            ours.stderr,
            theirs.stderr
        );
        assert!(!ours.stderr.contains("panicked"), "{flags:?}: {}", ours.stderr);
    }
}

fn foreign_authority() -> String {
    let key = testkit::rcgen::KeyPair::generate().unwrap();
    let mut request = testkit::rcgen::CertificateParams::default();
    request.is_ca = testkit::rcgen::IsCa::Ca(testkit::rcgen::BasicConstraints::Unconstrained);
    request.self_signed(&key).unwrap().pem()
}

#[test]
fn an_expired_client_certificate_is_named_with_its_date() {
    let cluster = Cluster::shared();
    let user = cluster.user(&cluster.unique("late")).expired().create();
    let output = cluster.plugin(["scan"]).as_user(&user).run();
    let (error, hint) = refused(&output);
    let start = format!("{} does not accept the client certificate ", cluster.url());
    assert!(error.starts_with(&start), "{error}");
    assert!(error.contains("(401 Unauthorized); it expired on "), "{error}");
    assert!(hint.contains("get a new client certificate"), "{hint}");
}

#[test]
fn a_rejected_token_is_not_hidden_by_the_certificate() {
    // kubectl sends both. The API server checks the certificate first, so the token is never used.
    let cluster = Cluster::shared();
    let (error, hint) = refused(&scan(cluster, &["--token", "wrong"]));
    assert_eq!(
        error,
        format!(
            "{} does not accept the token of user \"test\" (401 Unauthorized)",
            cluster.url()
        )
    );
    assert!(hint.contains("kubectl create token"), "{hint}");
}

#[test]
fn a_service_account_token_connects() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("token");
    ns.apply("{apiVersion: v1, kind: ServiceAccount, metadata: {name: reader}}");
    let token = cluster
        .kubectl(["create", "token", "reader", "-n", ns.name()])
        .success();
    let output = scan(cluster, &["--token", token.trim(), "-n", ns.name()]);
    assert_eq!(output.code, 0, "{}", output.stderr);
}

#[test]
fn the_servers_certificate_is_verified() {
    let cluster = Cluster::shared();
    let foreign = cluster.directory().join("other.crt");
    fs::write(&foreign, foreign_authority()).unwrap();
    let (error, hint) = refused(&scan(
        cluster,
        &["--certificate-authority", &foreign.display().to_string()],
    ));
    assert!(
        error.ends_with("is not from an authority that we were told to trust"),
        "{error}"
    );
    assert!(hint.contains("--certificate-authority"), "{hint}");
    let plain = cluster.url().replace("https://", "http://");
    let (error, hint) = refused(&scan(cluster, &["--server", &plain]));
    assert_eq!(error, format!("{plain} does not answer in plain HTTP"));
    assert!(hint.contains(cluster.url()), "{hint}");
}
