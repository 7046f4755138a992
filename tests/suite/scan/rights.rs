//! Users with few rights see what they may read, and are told what they may not. For them, an empty result
//! never means that nothing exists.

use serde_json::{Value, json};

use super::{document, gap, held, json, names};
use crate::harness::{Cluster, Output, Plugin};

#[track_caller]
fn never_says_that_nothing_is_there(output: &Output) {
    assert!(!output.stdout.contains("Nothing"), "{output}");
    assert!(
        output.stdout.contains("Not everything could be read."),
        "{output}"
    );
    assert!(output.stdout.contains("NOT READ"), "{output}");
}

fn reasons(report: &Value) -> Vec<&str> {
    let gaps = report["notRead"].as_array().unwrap();
    gaps.iter().map(|gap| gap["reason"].as_str().unwrap()).collect()
}

#[test]
fn explains_that_a_user_has_no_rights() {
    let cluster = Cluster::shared();
    let nobody = cluster.user("nobody").create();
    let scan = |words: &[&str]| cluster.plugin(words.iter().copied()).as_user(&nobody);
    let out = scan(&["scan"]).run();
    assert_eq!(out.code, 0, "{out}");
    never_says_that_nothing_is_there(&out);
    assert!(out.stdout.contains("0 objects"), "{out}");
    assert!(out.stdout.contains("kubectl auth can-i --list"), "{out}");
    let text = out.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains("only in default, the namespace of the context; name another with -n"),
        "{out}"
    );

    let out = scan(&["scan", "--exit-code"]).run();
    assert_eq!(out.code, 5, "{out}");
    let report = json(scan(&["scan", "-o", "json"]));
    assert_eq!(report["complete"], false);
    assert_eq!(gap(&report, "configmaps")["readOnlyIn"], json!([]));
    assert!(
        reasons(&report).iter().all(|reason| *reason == "Forbidden"),
        "{report:#}"
    );
}

#[test]
fn names_and_tables_report_on_stderr_what_was_not_read() {
    let cluster = Cluster::shared();
    let nobody = cluster.user("silent").create();
    for words in [["-o", "name"], ["pods", "--no-headers"]] {
        let out = cluster
            .plugin(["scan"].into_iter().chain(words))
            .as_user(&nobody)
            .run();
        assert_eq!(out.code, 0, "{out}");
        assert!(out.stdout.is_empty(), "{out}");
        assert!(out.stderr.contains("NOT READ"), "{out}");
        let hidden = if words[0] == "pods" { "pods" } else { "configmaps" };
        assert!(out.stderr.contains(hidden), "{out}");
    }
}

#[test]
fn rights_in_one_namespace_are_enough_to_scan_it() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("mine");
    held(&ns, "kept", "example.com/hold");
    let user = cluster.user("tenant").may_in(ns.name(), "get,list", "*").create();

    // With `--namespace` it can be read completely, and its Namespace object too.
    let out = cluster
        .plugin(["scan", "-n", ns.name(), "--exit-code"])
        .as_user(&user)
        .run();
    assert_eq!(out.code, 4, "{out}");
    assert!(out.stdout.contains("cm/kept"), "{out}");
    assert!(!out.stdout.contains("NOT READ"), "{out}");
    let all = cluster
        .plugin(["scan", "-n", ns.name(), "--all"])
        .as_user(&user)
        .run();
    assert!(all.stdout.contains("spec: kubernetes"), "{all}");

    // Without it nothing says where to look, and the user is told that.
    let out = cluster.plugin(["scan"]).as_user(&user).run();
    never_says_that_nothing_is_there(&out);
    assert!(out.stdout.contains("name another with -n"), "{out}");

    // The context's own namespace is tried.
    let text = std::fs::read_to_string(user.kubeconfig()).unwrap();
    let here = text.replace("user: test}", &format!("user: test, namespace: {}}}", ns.name()));
    assert_ne!(text, here, "the kubeconfig's context has another form now");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config");
    std::fs::write(&path, here).unwrap();
    let report = json(cluster.plugin(["scan", "-o", "json"]).kubeconfig(&path));
    assert_eq!(names(&report, "terminating"), ["configmaps/kept"]);
    assert_eq!(gap(&report, "configmaps")["readOnlyIn"], json!([ns.name()]));
    assert_eq!(gap(&report, "nodes")["reason"], "Forbidden");
}

#[test]
fn cluster_wide_rights_to_some_types_show_these_and_name_the_others() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("some-types");
    held(&ns, "kept", "example.com/hold");
    let user = cluster
        .user("some-types")
        .may("list", "configmaps,services")
        .create();
    let report = json(cluster.plugin(["scan", "-o", "json"]).as_user(&user));
    assert!(
        names(&report, "terminating").contains(&"configmaps/kept".to_owned()),
        "{report:#}"
    );
    let gaps = report["notRead"].as_array().unwrap();
    assert!(
        !gaps
            .iter()
            .any(|gap| gap["name"] == "configmaps" || gap["name"] == "services"),
        "{report:#}"
    );
    gap(&report, "secrets");
    gap(&report, "deployments.apps");
    assert_eq!(gap(&report, "namespaces")["what"], "namespaces");

    // A scan of only these types is complete.
    let out = cluster
        .plugin(["scan", "configmaps", "--finalizer", "no-such/*", "--exit-code"])
        .as_user(&user)
        .run();
    assert_eq!(out.code, 0, "{out}");
    assert!(
        out.stdout
            .starts_with("Nothing is stuck: no object that matches is being deleted."),
        "{out}"
    );
}

#[test]
fn a_user_who_may_list_namespaces_gets_each_of_them_tried() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("by-namespace");
    held(&ns, "kept", "example.com/hold");
    let user = cluster
        .user("by-namespace")
        .may("list", "namespaces")
        .may_in(ns.name(), "list", "configmaps")
        .create();
    let report = json(cluster.plugin(["scan", "-o", "json"]).as_user(&user));
    assert_eq!(
        names(&report, "terminating")
            .iter()
            .filter(|name| *name == "configmaps/kept")
            .count(),
        1
    );
    let configmaps = gap(&report, "configmaps");
    assert_eq!(configmaps["readOnlyIn"], json!([ns.name()]));
    assert_eq!(gap(&report, "secrets")["readOnlyIn"], json!([]));
    let out = cluster.plugin(["scan"]).as_user(&user).run();
    assert!(
        out.stdout
            .contains(&format!("configmaps: forbidden outside {}", ns.name())),
        "{out}"
    );
    assert!(!out.stdout.contains("the namespace of the context"), "{out}");
}

#[test]
fn impersonation_shows_what_another_user_would_see() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("impersonated");
    held(&ns, "kept", "example.com/hold");
    let user = cluster
        .user("other")
        .may_in(ns.name(), "get,list", "configmaps")
        .create();
    let scan = |more: &[&str]| -> Plugin {
        cluster.plugin(
            ["scan", "configmaps,secrets", "-n", ns.name(), "-o", "json"]
                .iter()
                .chain(more)
                .copied(),
        )
    };
    let theirs = json(scan(&["--as", user.name()]));
    assert_eq!(names(&theirs, "terminating"), ["configmaps/kept"]);
    assert_eq!(gap(&theirs, "secrets")["reason"], "Forbidden");
    assert!(
        gap(&theirs, "secrets")["message"]
            .as_str()
            .unwrap()
            .contains(user.name()),
        "{theirs:#}"
    );

    let grouped = json(scan(&["--as", user.name(), "--as-group", "system:masters"]));
    assert_eq!(grouped["complete"], true);

    // A user who may not impersonate is told that, and not that the types are forbidden.
    let out = scan(&["--as", "somebody"]).as_user(&user).run();
    assert_eq!(out.code, 1, "{out}");
    assert!(out.stderr.contains("cannot impersonate"), "{out}");
}

#[test]
fn json_without_rights_follows_the_schema() {
    let cluster = Cluster::shared();
    let nobody = cluster.user("schema").create();
    for words in [
        &["scan"][..],
        &["scan", "-n", "default"],
        &["scan", "--all", "-n", "no-such-namespace"],
    ] {
        let words = words.iter().copied().chain(["-o", "json"]);
        document(&cluster.plugin(words).as_user(&nobody).run().success());
    }
}
