//! The API server's audit log of the plugin: only reads, only types that a list allows with a reason, and never
//! the data of a Secret or ConfigMap. Each scenario of `explain` uses the same list.

use super::{json, troubled::troubled};
use crate::{
    explain::reads::{is_looked_at, only_what_it_may, reads},
    harness::{Asked, Cluster, wait},
};

/// All requests of the plugin that contain this text.
fn ours(cluster: &Cluster, text: &str) -> Vec<Asked> {
    let mut asked = cluster.asked("\"userAgent\":\"kubectl-finalizers/");
    asked.retain(|asked| asked.event.to_string().contains(text));
    asked
}

#[test]
fn a_scan_only_reads_and_asks_for_its_rights() {
    let cluster = troubled();
    // Runs that use every way: all namespaces, one namespace, few rights, another version of a type.
    let few = cluster
        .user("audited")
        .may("list", "namespaces")
        .may_in("db", "list", "configmaps")
        .create();
    json(cluster.plugin(["scan", "--all", "-o", "json"]));
    json(cluster.plugin(["scan", "-n", "db", "--all", "-o", "json"]));
    json(cluster.plugin(["scan", "-o", "json"]).as_user(&few));

    let ours = ours(cluster, "");
    assert!(
        ours.len() > 100,
        "only {} requests of ours are in the audit log",
        ours.len()
    );
    for asked in &ours {
        if asked.verb == "create" {
            // Access reviews are created, and nothing is stored.
            assert_eq!(
                asked.type_name, "selfsubjectrulesreviews.authorization.k8s.io",
                "{asked:#?}"
            );
            continue;
        }
        reads(asked);
        // Single objects are read by name for three reasons: a cause reads their type, they remain in a
        // namespace in deletion, or another test explains them (the challenge in `pay`, and a gadget whose API does not
        // answer, with the ConfigMaps that it may name).
        let explained = [
            "challenges.acme.cert-manager.io",
            "gadgets.dead.example.com",
            "secrets",
            "configmaps",
        ];
        let left = explained.contains(&asked.type_name.as_str());
        let single = asked.verb == "get" && !asked.type_name.is_empty();
        assert!(!single || left || is_looked_at(&asked.type_name), "{asked:#?}");
    }
    let listed = |resource: &str| {
        ours.iter()
            .any(|asked| asked.verb == "list" && asked.event["objectRef"]["resource"] == resource)
    };
    assert!(listed("secrets") && listed("configmaps") && listed("gadgets"));
}

#[test]
fn explaining_a_secret_or_its_namespace_does_not_read_its_data() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("confidential");
    for kind in ["Secret", "ConfigMap"] {
        let data = if kind == "Secret" { "stringData" } else { "data" };
        ns.apply(&format!(
            "{{apiVersion: v1, kind: {kind}, metadata: {{name: a, finalizers: [example.com/hold]}}, {data}: {{k: hidden}}}}"
        ));
    }
    ns.kubectl(["delete", "namespace", ns.name(), "--wait=false"])
        .success();
    wait(
        "both are being deleted",
        std::time::Duration::from_secs(90),
        || {
            let going = |kind: &str| {
                ns.get([kind, "a"])
                    .is_some_and(|one| one["metadata"]["deletionTimestamp"].is_string())
            };
            going("secret") && going("configmap")
        },
    );
    for (target, resource) in [
        ("secret/a", "secrets"),
        ("configmap/a", "configmaps"),
        (&format!("ns/{}", ns.name()), "namespaces"),
    ] {
        let name = cluster.unique("curious");
        let (user, namespace) = (format!("--as={name}"), format!("-n={}", ns.name()));
        cluster
            .plugin(["explain", target, &user, "--as-group=system:masters", &namespace])
            .run()
            .success();
        let asked = ours(cluster, &format!("\"username\":\"{name}\""));
        only_what_it_may(&asked, &serde_json::json!({"target": {"resource": resource}}));
        let single = |kind: &str| {
            asked
                .iter()
                .any(|asked| asked.verb == "get" && asked.type_name == kind)
        };
        assert!(single(resource), "{asked:#?}");
        assert!(
            resource != "namespaces" || single("secrets") && single("configmaps"),
            "{asked:#?}"
        );
    }
    for kind in ["secret", "configmap"] {
        ns.kubectl([
            "patch",
            kind,
            "a",
            "--type=merge",
            "-p",
            r#"{"metadata":{"finalizers":null}}"#,
        ])
        .success();
    }
}
