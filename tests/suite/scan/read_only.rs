//! The API server's own record of what a scan asks for.

use serde_json::Value;

use super::{json, troubled::troubled};

#[test]
fn a_scan_only_gets_lists_and_asks_what_it_may_do() {
    let troubled = troubled();
    let cluster = &troubled.cluster;
    let ns = cluster.namespace("audited");
    ns.apply("{apiVersion: v1, kind: Secret, metadata: {name: a, finalizers: [example.com/hold]}, stringData: {k: v}}");
    // Runs that take every way there is: all, one namespace, few rights, a version read instead of another.
    let few = cluster
        .user("audited")
        .may("list", "namespaces")
        .may_in(&ns, "list", "configmaps")
        .create();
    json(cluster.plugin(["scan", "--all", "-o", "json"]));
    json(cluster.plugin(["scan", "-n", ns.name(), "--all", "-o", "json"]));
    json(cluster.plugin(["scan", "-o", "json"]).as_user(&few));

    let log = troubled.audit_log();
    let ours: Vec<Value> = log
        .lines()
        // The last line may be in the middle of being written.
        .filter_map(|line| serde_json::from_str(line).ok())
        .filter(|event: &Value| {
            event["userAgent"]
                .as_str()
                .is_some_and(|agent| agent.starts_with("kubectl-finalizers/"))
        })
        .collect();
    assert!(
        ours.len() > 100,
        "only {} requests of ours are in the audit log",
        ours.len()
    );
    for event in &ours {
        let what = &event["objectRef"];
        let resource = what["resource"].as_str().unwrap_or_default();
        let fine = match event["verb"].as_str().unwrap() {
            "list" => what["name"].is_null(),
            // Discovery has no object; the others are looked at to say why something is still there. Nothing of a
            // ConfigMap or Secret but its metadata is asked for, of which the log knows nothing.
            "get" => true,
            "create" => resource == "selfsubjectrulesreviews",
            _ => false,
        };
        assert!(fine, "{event:#}");
        assert!(what["subresource"].is_null(), "{event:#}");
    }
    let listed = |resource: &str| {
        ours.iter()
            .any(|event| event["verb"] == "list" && event["objectRef"]["resource"] == resource)
    };
    assert!(listed("secrets") && listed("configmaps") && listed("gadgets"));
}
