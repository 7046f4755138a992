use std::path::PathBuf;

use kube::config::Kubeconfig;
use secrecy::ExposeSecret;

use super::*;

const TWO: &str = r"
apiVersion: v1
kind: Config
current-context: production
contexts:
- {name: production, context: {cluster: prod, user: admin, namespace: shop}}
- {name: staging, context: {cluster: stage, user: nobody, namespace: ''}}
- {name: halfway, context: {cluster: '', user: ''}}
- {name: dangling, context: {cluster: gone, user: admin}}
clusters:
- name: prod
  cluster: {server: 'https://prod:6443', certificate-authority-data: Q0E=, tls-server-name: kubernetes}
- {name: stage, cluster: {server: 'https://stage:6443', insecure-skip-tls-verify: true}}
- {name: nowhere, cluster: {}}
users:
- name: admin
  user: {client-certificate-data: Q0VSVA==, client-key-data: S0VZ, token: from-file, as: deputy}
";

fn loaded(text: &str) -> LoadedKubeconfig {
    LoadedKubeconfig {
        config: Kubeconfig::from_yaml(text).expect("a kubeconfig"),
        read: vec![PathBuf::from("config")],
        missing: Vec::new(),
    }
}

fn chosen(flags: &Connection) -> Choice {
    choose(&loaded(TWO), flags).expect("a choice").expect("one")
}

fn refused(flags: &Connection) -> (String, String) {
    let error = choose(&loaded(TWO), flags).expect_err("refused");
    (error.to_string(), error.hint().unwrap_or_default().to_owned())
}

#[test]
fn uses_the_current_context_unless_a_flag_names_another() {
    let choice = chosen(&Connection::default());
    assert_eq!(choice.cluster.server.as_deref(), Some("https://prod:6443"));
    assert_eq!(choice.namespace.as_deref(), Some("shop"));
    assert_eq!(choice.user_name.as_deref(), Some("admin"));
    // An empty flag is no flag.
    let empty = Connection {
        context: Some(String::new()),
        server: Some(String::new()),
        token: Some(String::new()),
        ..Connection::default()
    };
    assert_eq!(
        chosen(&empty).cluster.server.as_deref(),
        Some("https://prod:6443")
    );

    let choice = chosen(&Connection {
        context: Some("staging".to_owned()),
        ..Connection::default()
    });
    assert_eq!(choice.cluster.server.as_deref(), Some("https://stage:6443"));
    assert_eq!(choice.namespace, None);
    // kubectl continues without credentials if the context names a missing user.
    assert!(choice.user_missing);
}

#[test]
fn flags_can_name_cluster_and_user_separately() {
    let flags = Connection {
        cluster: Some("stage".to_owned()),
        user: Some("admin".to_owned()),
        ..Connection::default()
    };
    let choice = chosen(&flags);
    assert_eq!(choice.cluster.server.as_deref(), Some("https://stage:6443"));
    assert_eq!(choice.user.token.expect("a token").expose_secret(), "from-file");
    // It works without a context too.
    let text = TWO.replace("current-context: production", "");
    let choice = choose(&loaded(&text), &flags).expect("a choice").expect("one");
    assert_eq!(choice.cluster.server.as_deref(), Some("https://stage:6443"));
}

#[test]
fn reports_a_missing_name_with_the_existing_names() {
    let (error, hint) = refused(&Connection {
        context: Some("productoin".to_owned()),
        ..Connection::default()
    });
    assert_eq!(error, "context \"productoin\" does not exist in config");
    assert_eq!(hint, "did you mean \"production\"?");
    let (_, hint) = refused(&Connection {
        context: Some("x".to_owned()),
        ..Connection::default()
    });
    assert_eq!(hint, "its contexts: production, staging, halfway, dangling");
    let (error, hint) = refused(&Connection {
        cluster: Some("x".to_owned()),
        ..Connection::default()
    });
    assert_eq!(error, "cluster \"x\" does not exist in config");
    assert_eq!(hint, "its clusters: prod, stage, nowhere");
    let (error, hint) = refused(&Connection {
        user: Some("x".to_owned()),
        ..Connection::default()
    });
    assert_eq!(error, "user \"x\" does not exist in config");
    assert_eq!(hint, "its users: admin");
    let (error, _) = refused(&Connection {
        context: Some("halfway".to_owned()),
        ..Connection::default()
    });
    assert_eq!(error, "context \"halfway\" of config names no cluster");
    let (error, _) = refused(&Connection {
        context: Some("dangling".to_owned()),
        ..Connection::default()
    });
    assert_eq!(
        error,
        "context \"dangling\" names the cluster \"gone\", which does not exist in config"
    );
    let (error, _) = refused(&Connection {
        cluster: Some("nowhere".to_owned()),
        ..Connection::default()
    });
    assert_eq!(error, "cluster \"nowhere\" of config has no server address");
}

#[test]
fn a_missing_current_context_is_an_error() {
    let text = TWO.replace("current-context: production", "current-context: old");
    let error = choose(&loaded(&text), &Connection::default()).expect_err("refused");
    assert_eq!(
        error.to_string(),
        "the current context \"old\" does not exist in config"
    );
}

#[test]
fn chooses_nothing_without_input_and_needs_only_a_server() {
    let none = LoadedKubeconfig::default();
    assert!(choose(&none, &Connection::default()).expect("nothing").is_none());
    let flags = Connection {
        server: Some("https://there".to_owned()),
        token: Some("t".to_owned()),
        ..Connection::default()
    };
    let choice = choose(&none, &flags).expect("a choice").expect("one");
    assert_eq!(choice.cluster.server.as_deref(), Some("https://there"));
    assert_eq!(choice.user.token.expect("a token").expose_secret(), "t");
    // A server flag also replaces the missing cluster of a context.
    let flags = Connection {
        context: Some("dangling".to_owned()),
        server: Some("https://there".to_owned()),
        ..Connection::default()
    };
    assert_eq!(chosen(&flags).cluster.server.as_deref(), Some("https://there"));
}

#[test]
fn flags_replace_contradicting_fields() {
    let choice = chosen(&Connection {
        server: Some("https://other".to_owned()),
        ..Connection::default()
    });
    assert_eq!(choice.cluster.server.as_deref(), Some("https://other"));
    assert_eq!(choice.cluster.tls_server_name, None);
    assert!(choice.cluster.certificate_authority_data.is_some());

    let named = Connection {
        server: Some("https://other".to_owned()),
        tls_server_name: Some("k".to_owned()),
        ..Connection::default()
    };
    assert_eq!(chosen(&named).cluster.tls_server_name.as_deref(), Some("k"));

    let choice = chosen(&Connection {
        insecure_skip_tls_verify: true,
        ..Connection::default()
    });
    assert_eq!(choice.cluster.insecure_skip_tls_verify, Some(true));
    assert_eq!(choice.cluster.certificate_authority_data, None);

    let ca = Some(PathBuf::from("ca.crt"));
    let flags = Connection {
        context: Some("staging".to_owned()),
        certificate_authority: ca.clone(),
        ..Connection::default()
    };
    let choice = chosen(&flags);
    assert_eq!(choice.cluster.insecure_skip_tls_verify, Some(false));
    assert_eq!(choice.cluster.certificate_authority.as_deref(), Some("ca.crt"));

    let both = Connection {
        insecure_skip_tls_verify: true,
        certificate_authority: ca,
        ..Connection::default()
    };
    assert!(refused(&both).0.contains("exclude each other"));

    assert_eq!(
        chosen(&Connection {
            disable_compression: true,
            ..Connection::default()
        })
        .cluster
        .disable_compression,
        Some(true)
    );
}

#[test]
fn a_token_replaces_other_credentials_but_not_impersonation() {
    let user = chosen(&Connection {
        token: Some("flag".to_owned()),
        ..Connection::default()
    })
    .user;
    assert_eq!(user.token.expect("a token").expose_secret(), "flag");
    assert_eq!(user.client_certificate_data, None);
    assert_eq!(user.impersonate.as_deref(), Some("deputy"));
}

#[test]
fn a_client_certificate_flag_replaces_the_data_of_the_file() {
    let user = chosen(&Connection {
        client_certificate: Some("my.crt".into()),
        client_key: Some("my.key".into()),
        ..Connection::default()
    })
    .user;
    assert_eq!(
        (user.client_certificate.as_deref(), user.client_certificate_data),
        (Some("my.crt"), None)
    );
    assert_eq!(user.client_key.as_deref(), Some("my.key"));
    assert!(user.client_key_data.is_none());
}

#[test]
fn impersonation_needs_a_user() {
    let extra = vec![
        ("scopes".to_owned(), "a".to_owned()),
        ("scopes".to_owned(), "b".to_owned()),
    ];
    let flags = Connection {
        as_groups: vec!["g1".to_owned(), "g2".to_owned()],
        as_uid: Some("7".to_owned()),
        as_user_extra: extra,
        ..Connection::default()
    };
    let user = chosen(&flags).user; // the file has `as`
    assert_eq!(user.impersonate.as_deref(), Some("deputy"));
    assert_eq!(
        user.impersonate_groups,
        Some(vec!["g1".to_owned(), "g2".to_owned()])
    );
    let extra = user.impersonate_user_extra.expect("extras");
    assert_eq!(extra["scopes"], ["a", "b"]);
    let (error, hint) = refused(&Connection {
        context: Some("staging".to_owned()),
        ..flags
    });
    assert_eq!(
        error,
        "groups, a UID or extras to impersonate, but no user (user \"nobody\")"
    );
    assert_eq!(hint, "add --as USER");
}
