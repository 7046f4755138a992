use std::fs;

use super::*;
use crate::cluster::connect::testing::Sandbox;

/// Runs a plugin with the script `body`. `more` are additional fields of `exec` in JSON.
async fn run(sandbox: &Sandbox, body: &str, more: Value) -> Result<Credential, Error> {
    let script = sandbox.script("login", body);
    let mut exec = json!({
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": script,
    });
    for (key, value) in more.as_object().expect("an object") {
        exec[key] = value.clone();
    }
    let plugin: ExecConfig = serde_json::from_value(exec).expect("a plugin");
    let cluster = Cluster {
        server: Some("https://c:6443".to_owned()),
        tls_server_name: Some("kubernetes".to_owned()),
        ..Cluster::default()
    };
    let request = Request {
        plugin: &plugin,
        user: Some("u"),
        cluster: &cluster,
        authority: Some(b"PEM"),
    };
    sandbox
        .with_async(async |surroundings| request.run(surroundings).await)
        .await
}

fn answer(version: &str, status: &str) -> String {
    format!(
        r#"echo '{{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/{version}"{status}}}'"#
    )
}

async fn refusal(body: &str, more: Value) -> (String, String) {
    let sandbox = Sandbox::new();
    let error = run(&sandbox, body, more).await.expect_err("refused");
    let hint = error.hint().unwrap_or_default().to_owned();
    let (_, what) = error
        .to_string()
        .split_once("login\" of user \"u\" ")
        .map_or_else(
            || panic!("does not name the plugin: {error}"),
            |(before, after)| (before.to_owned(), after.to_owned()),
        );
    (what, hint)
}

#[tokio::test]
async fn passes_arguments_variables_and_the_cluster_to_the_plugin() {
    let sandbox = Sandbox::new();
    let seen = sandbox.path("seen");
    let body = format!(
        "printf '%s|' \"$@\" \"$EXTRA\" > {0}\nprintf %s \"$KUBERNETES_EXEC_INFO\" >> {0}\n{1}",
        seen.display(),
        answer(
            "v1beta1",
            r#","status":{"token":"t","expirationTimestamp":"2030-01-01T00:00:00Z"}"#
        )
    );
    let more = json!({
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "args": ["get token", "--cluster"],
        "env": [{"name": "EXTRA", "value": "x=y"}],
        "provideClusterInfo": true,
    });
    let credential = run(&sandbox, &body, more).await.expect("a token");
    assert_eq!(credential.token.as_deref(), Some("t"));
    assert_eq!(
        credential
            .expiration_timestamp
            .map(|end| end.to_string())
            .as_deref(),
        Some("2030-01-01T00:00:00Z")
    );
    let seen = fs::read_to_string(seen).expect("written");
    let (words, info) = seen.split_once("|{").expect("words and JSON");
    assert_eq!(words, "get token|--cluster|x=y");
    let info: Value = serde_json::from_str(&format!("{{{info}")).expect("JSON");
    assert_eq!(
        info,
        json!({
            "kind": "ExecCredential",
            "apiVersion": "client.authentication.k8s.io/v1beta1",
            "spec": {
                "interactive": false,
                "cluster": {
                    "server": "https://c:6443",
                    "tls-server-name": "kubernetes",
                    "certificate-authority-data": "UEVN",
                },
            },
        })
    );
}

#[tokio::test]
async fn accepts_yaml_and_a_certificate() {
    let body = "cat <<END\nkind: ExecCredential\napiVersion: client.authentication.k8s.io/v1\nstatus:\n  clientCertificateData: C\n  clientKeyData: K\nEND";
    let credential = run(&Sandbox::new(), body, json!({}))
        .await
        .expect("a certificate");
    assert_eq!(credential.client_certificate_data.as_deref(), Some("C"));
    assert_eq!(credential.client_key_data.as_deref(), Some("K"));
}

#[tokio::test]
async fn a_plugin_cannot_ask_without_a_terminal() {
    // stdin is empty, so a plugin that asks a question ends instead of waiting for ever.
    let body = format!(
        "read line && exit 9\n{}",
        answer("v1", r#","status":{"token":"t"}"#)
    );
    assert!(
        run(&Sandbox::new(), &body, json!({"interactiveMode": "IfAvailable"}))
            .await
            .is_ok()
    );
    let (what, hint) = refusal(&body, json!({"interactiveMode": "Always"})).await;
    assert!(what.contains("standard input is not a terminal"), "{what}");
    assert_eq!(hint, "run this in a terminal");
}

#[tokio::test]
async fn a_plugin_with_mode_never_is_not_interactive_on_a_terminal() {
    let mut sandbox = Sandbox::new();
    sandbox.terminal = true;
    let body = format!(
        "case $KUBERNETES_EXEC_INFO in *'\"interactive\":false'*) ;; *) exit 9 ;; esac\n{}",
        answer("v1", r#","status":{"token":"t"}"#)
    );
    assert!(
        run(&sandbox, &body, json!({"interactiveMode": "Never"}))
            .await
            .is_ok()
    );
}

#[tokio::test]
async fn each_failure_has_its_own_message() {
    let (what, _) = refusal("exit 3", json!({})).await;
    assert_eq!(what, "failed with exit code 3");
    let (what, _) = refusal("kill -9 $$", json!({})).await;
    assert_eq!(what, "was ended by a signal");
    // The output is a secret, whatever it is.
    for output in [
        "echo eyJhbGciOi.secret",
        "echo '{broken: [secret'",
        "echo '[secret]'",
        "true",
    ] {
        let (what, _) = refusal(output, json!({})).await;
        assert_eq!(
            what, "printed something that is not an ExecCredential",
            "{output}"
        );
    }
    let (what, _) = refusal(&answer("v1beta1", ""), json!({})).await;
    assert!(
        what.starts_with("answered with apiVersion \"client.authentication.k8s.io/v1beta1\", but"),
        "{what}"
    );
    let (what, _) = refusal(&answer("v1", ""), json!({})).await;
    assert_eq!(what, "returned an ExecCredential without a status");
    let (what, _) = refusal(&answer("v1", r#","status":{}"#), json!({})).await;
    assert_eq!(what, "returned neither a token nor a client certificate");
    let (what, _) = refusal(&answer("v1", r#","status":{"clientKeyData":"K"}"#), json!({})).await;
    assert_eq!(what, "returned a client certificate or a key, but not both");
    let (what, _) = refusal(&answer("v1", r#","status":{"token":["secret"]}"#), json!({})).await;
    assert_eq!(what, "returned a status that cannot be read");
    let old = json!({"apiVersion": "client.authentication.k8s.io/v1alpha1"});
    let (what, hint) = refusal("exit 1", old).await;
    assert!(
        what.contains("v1alpha1") && hint.starts_with("update the plugin"),
        "{what}; {hint}"
    );
}

#[tokio::test]
async fn shows_the_install_hint_for_a_missing_command() {
    let plugin = ExecConfig {
        api_version: Some("client.authentication.k8s.io/v1".to_owned()),
        command: Some("no-such-command-anywhere".to_owned()),
        install_hint: Some("\u{1b}[31mbrew install it\n".to_owned()),
        ..ExecConfig::default()
    };
    let request = Request {
        plugin: &plugin,
        user: None,
        cluster: &Cluster::default(),
        authority: None,
    };
    let error = Sandbox::new()
        .with_async(async |surroundings| request.run(surroundings).await)
        .await;
    let error = error.expect_err("missing");
    assert_eq!(
        error.to_string(),
        "the credential plugin \"no-such-command-anywhere\" is not installed"
    );
    assert_eq!(error.hint(), Some("[31mbrew install it"));
}
