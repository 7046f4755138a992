//! The API server's own record of what is asked for: reads, of types that are in a list with a reason, and never the
//! data of a Secret or ConfigMap. Each scenario of `explain` is held against the same list.

use super::{json, troubled::troubled};
use crate::{
    explain::reads::{is_looked_at, only_what_it_may, reads},
    harness::{Asked, Cluster, wait},
};

/// All requests of the plugin that also hold this text.
fn ours(cluster: &Cluster, text: &str) -> Vec<Asked> {
    let mut asked = cluster.asked("\"userAgent\":\"kubectl-finalizers/");
    asked.retain(|asked| asked.event.to_string().contains(text));
    asked
}

#[test]
fn a_scan_only_gets_lists_and_asks_what_it_may_do() {
    let cluster = troubled();
    let ns = cluster.namespace("audited");
    ns.apply("{apiVersion: v1, kind: Secret, metadata: {name: a, finalizers: [example.com/hold]}, stringData: {k: v}}");
    ns.kubectl(["delete", "secret", "a", "--wait=false"]).success();
    // Runs that take every way there is: all, one namespace, few rights, a version read instead of another.
    let few = cluster
        .user("audited")
        .may("list", "namespaces")
        .may_in(&ns, "list", "configmaps")
        .create();
    json(cluster.plugin(["scan", "--all", "-o", "json"]));
    json(cluster.plugin(["scan", "-n", ns.name(), "--all", "-o", "json"]));
    json(cluster.plugin(["scan", "-o", "json"]).as_user(&few));

    let ours = ours(cluster, "");
    assert!(
        ours.len() > 100,
        "only {} requests of ours are in the audit log",
        ours.len()
    );
    for asked in &ours {
        if asked.verb == "create" {
            // What the user may list is asked so, and nothing is stored.
            assert_eq!(
                asked.type_name, "selfsubjectrulesreviews.authorization.k8s.io",
                "{asked:#?}"
            );
            continue;
        }
        reads(asked);
        // One object by its name: because a rule looks into its type, or because it is left in a namespace that is
        // going, or explained by the test below, as the challenge in `pay` and what is in `confidential` are.
        let left =
            ["challenges.acme.cert-manager.io", "secrets", "configmaps"].contains(&asked.type_name.as_str());
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
fn the_data_of_a_secret_is_not_asked_for_to_explain_it_or_its_namespace() {
    let cluster = troubled();
    let ns = cluster.namespace("confidential");
    for kind in ["Secret", "ConfigMap"] {
        let data = if kind == "Secret" { "stringData" } else { "data" };
        ns.apply(&format!(
            "{{apiVersion: v1, kind: {kind}, metadata: {{name: a, finalizers: [example.com/hold]}}, {data}: {{k: hidden}}}}"
        ));
    }
    // Each by itself: here the namespace controller waits for dead webhooks before it comes to them.
    ns.kubectl(["delete", "secret/a", "configmap/a", "--wait=false"])
        .success();
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
        only_what_it_may(&asked, &resource.into());
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
