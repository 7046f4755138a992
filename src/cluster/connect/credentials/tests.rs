use super::*;
use crate::cluster::connect::testing::{Authority, Sandbox};

/// Resolves a user with these fields (YAML).
async fn resolved(sandbox: &Sandbox, user: &str) -> Result<Credentials, Error> {
    let text = format!("users: [{{name: u, user: {{{user}}}}}]");
    let config = kube::config::Kubeconfig::from_yaml(&text).expect("a kubeconfig");
    let choice = Choice {
        user: config.auth_infos[0].auth_info.clone().unwrap_or_default(),
        user_name: Some("u".to_owned()),
        ..Choice::default()
    };
    sandbox
        .with_async(async |surroundings| resolve(choice, true, None, surroundings).await)
        .await
        .map(|(credentials, _)| credentials)
}

async fn refused(sandbox: &Sandbox, user: &str) -> (String, String) {
    let error = resolved(sandbox, user).await.expect_err(user);
    (error.to_string(), error.hint().unwrap_or_default().to_owned())
}

fn token_of(credentials: &Credentials) -> Option<&str> {
    secret(credentials.auth.token.as_ref())
}

fn refusal(credentials: &Credentials) -> String {
    credentials
        .identity
        .refused("S", jiff::Timestamp::now())
        .to_string()
}

#[tokio::test]
async fn a_token_file_wins_over_a_token_and_is_trimmed() {
    let sandbox = Sandbox::new();
    let file = sandbox.file("token", "fresh\n");
    let user = format!("token: stale, tokenFile: '{}'", file.display());
    let credentials = resolved(&sandbox, &user).await.expect("a token");
    assert_eq!(token_of(&credentials), Some("fresh"));
    // A file that needs no trimming is left to kube, which reads it again when it changes.
    sandbox.file("token", "fresh");
    let credentials = resolved(&sandbox, &user).await.expect("a token");
    assert_eq!(
        (token_of(&credentials), credentials.auth.token_file.as_deref()),
        (None, file.to_str())
    );
    // A missing file only matters if there are no other credentials.
    let credentials = resolved(&sandbox, "token: stale, tokenFile: /nowhere/t")
        .await
        .expect("a token");
    assert_eq!(token_of(&credentials), Some("stale"));
    let (error, _) = refused(&sandbox, "tokenFile: /nowhere/t").await;
    assert!(
        error.starts_with("cannot read the token file /nowhere/t: "),
        "{error}"
    );
}

#[tokio::test]
async fn reads_certificates_and_their_expiry() {
    let sandbox = Sandbox::new();
    let pair = Authority::new("ca").sign(&["me"], 2022);
    let certificate = sandbox.file("user.crt", &pair.certificate);
    let key = sandbox.file("user.key", &pair.key);
    let user = format!(
        "client-certificate: '{}', client-key: '{}'",
        certificate.display(),
        key.display()
    );
    let credentials = resolved(&sandbox, &user).await.expect("a certificate");
    assert!(credentials.auth.client_certificate_data.is_some());
    assert!(credentials.auth.client_certificate.is_none());
    let text = refusal(&credentials);
    let file = certificate.display();
    assert_eq!(
        text,
        format!(
            "S does not accept the client certificate {file} (401 Unauthorized); it expired on 2022-01-01 00:00 UTC"
        )
    );

    let (error, hint) = refused(&sandbox, "client-certificate-data: Q0VSVA==").await;
    assert_eq!(error, "the client certificate of user \"u\" has no key");
    assert!(hint.contains("--client-key"), "{hint}");
    let (error, _) = refused(
        &sandbox,
        "client-certificate: /nowhere/u.crt, client-key: /nowhere/u.key",
    )
    .await;
    assert!(
        error.starts_with("cannot read the client certificate /nowhere/u.crt: "),
        "{error}"
    );
}

#[tokio::test]
async fn rejects_removed_providers_and_names_their_successor() {
    let sandbox = Sandbox::new();
    let (error, hint) = refused(&sandbox, "auth-provider: {name: gcp}").await;
    assert_eq!(
        error,
        "the auth-provider \"gcp\" of user \"u\" no longer exists, in kubectl neither"
    );
    assert!(hint.contains("gke-gcloud-auth-plugin"), "{hint}");
    assert!(
        refused(&sandbox, "auth-provider: {name: azure}")
            .await
            .1
            .contains("kubelogin")
    );
    assert!(
        refused(&sandbox, "auth-provider: {name: other}")
            .await
            .1
            .contains("plugin")
    );
    let oidc = resolved(&sandbox, "auth-provider: {name: oidc, config: {id-token: x}}").await;
    assert!(oidc.expect("kube's own").auth.auth_provider.is_some());
}

#[tokio::test]
async fn rejects_a_token_together_with_a_password() {
    let (error, _) = refused(&Sandbox::new(), "token: t, username: me, password: p").await;
    assert_eq!(
        error,
        "there are two ways to log in of user \"u\", a token and a password; only one is allowed"
    );
    let only = resolved(&Sandbox::new(), "username: me, password: p")
        .await
        .expect("a password");
    assert_eq!(only.auth.username.as_deref(), Some("me"));
}

#[tokio::test]
async fn explains_a_user_without_credentials() {
    let credentials = resolved(&Sandbox::new(), "").await.expect("none");
    assert_eq!(
        refusal(&credentials),
        "S does not accept a request without credentials: user \"u\" has none (401 Unauthorized)"
    );
}

#[cfg(unix)]
#[tokio::test]
async fn a_plugin_runs_only_without_other_credentials() {
    let sandbox = Sandbox::new();
    let script = sandbox.script("login", "exit 7");
    let exec = format!(
        "exec: {{apiVersion: client.authentication.k8s.io/v1, command: '{}'}}",
        script.display()
    );
    let (error, _) = refused(&sandbox, &exec).await;
    assert!(
        error.ends_with("login\" of user \"u\" failed with exit code 7"),
        "{error}"
    );
    assert!(resolved(&sandbox, &format!("token: t, {exec}")).await.is_ok());
    let certificate = "client-certificate-data: Q0VSVA==, client-key-data: S0VZ";
    assert!(
        resolved(&sandbox, &format!("{certificate}, {exec}"))
            .await
            .is_ok()
    );
}
