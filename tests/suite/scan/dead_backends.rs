//! Unavailable backends are named with their own reason, and the scan goes on.

use serde_json::json;

use super::{gap, json, names, terminating, troubled::troubled};

#[test]
fn an_unavailable_api_group_is_named_with_the_reason_of_its_apiservice() {
    let report = json(troubled().plugin(["scan", "-o", "json"]));
    let gap = gap(&report, "metrics.k8s.io/v1beta1");
    assert_eq!(gap["what"], "group");
    assert_eq!(gap["reason"], "Unavailable");
    assert_eq!(
        gap["message"],
        "APIService v1beta1.metrics.k8s.io: ServiceNotFound: service/metrics-server in \"kube-system\" is not present"
    );
    assert_eq!(report["complete"], false);
    // All other types were read.
    assert!(
        names(&report, "terminating").contains(&"pods/web-1".to_owned()),
        "{report:#}"
    );
}

#[test]
fn a_namespace_that_waits_for_an_unavailable_api_group_names_it_first() {
    let report = json(troubled().plugin(["scan", "namespaces", "-o", "json"]));
    let namespace = terminating(&report, "namespaces/pay");
    let reason = namespace["reason"].as_str().unwrap();
    assert!(
        reason.starts_with("metrics.k8s.io/v1beta1 does not answer"),
        "{reason}"
    );
    assert!(
        reason.contains("NamespaceDeletionDiscoveryFailure: Discovery failed for some groups"),
        "{reason}"
    );
}

#[test]
fn a_scan_of_one_type_is_complete_whatever_else_is_unavailable() {
    let out = troubled().plugin(["scan", "services", "--exit-code"]).run();
    assert_eq!(out.code, 0, "{out}");
    assert!(!out.stdout.contains("metrics"), "{out}");
}

#[test]
fn a_group_that_is_known_to_be_unavailable_can_be_accepted_for_the_exit_code() {
    let nothing = ["--finalizer=no-such/*", "--exit-code"];
    let scan = |more: &[&str]| troubled().plugin([&["scan"], &nothing[..], more].concat());
    let report: serde_json::Value = serde_json::from_str(&scan(&["-o=json"]).run().stdout).unwrap();
    let gaps = report["notRead"].as_array().unwrap();
    let named = |what: &str| -> Vec<&str> {
        let gaps = gaps.iter().filter(|gap| gap["what"] == what);
        gaps.map(|gap| gap["name"].as_str().unwrap()).collect()
    };
    let without = format!("--exclude={}", named("type").join(","));
    let groups = named("group");
    assert!(groups.contains(&"metrics.k8s.io/v1beta1"), "{groups:?}");
    let accepted: Vec<_> = groups
        .iter()
        .map(|group| format!("--accept-gap={}", group.split('/').next().unwrap()))
        .collect();
    let mut words: Vec<&str> = accepted.iter().map(String::as_str).collect();
    words.push(&without);

    assert_eq!(scan(&[&without]).run().code, 5);
    let out = scan(&words).run();
    assert_eq!(out.code, 0, "{out}");
    assert!(out.stdout.contains("metrics.k8s.io/v1beta1: APIService"), "{out}");

    // Nothing else is accepted with it, and what is stuck is told first.
    let out = scan(&["--accept-gap=other.k8s.io", &without]).run();
    assert_eq!(out.code, 5, "{out}");
    if !without.ends_with('=') {
        assert_eq!(scan(&words[..words.len() - 1]).run().code, 5);
    }
    let out = troubled()
        .plugin(["scan", "--exit-code", "--accept-gap=metrics.k8s.io"])
        .run();
    assert_eq!(out.code, 4, "{out}");
    let out = troubled().plugin(["scan", "--accept-gap=metrics.k8s.io"]).run();
    assert_eq!(out.code, 2, "it has a meaning only for --exit-code: {out}");
}

#[test]
fn the_exit_code_of_an_explanation_tells_what_was_found() {
    let explain = |words: &[&str]| {
        let out = troubled()
            .plugin([&["explain", "--exit-code"], words].concat())
            .run();
        (out.code, out)
    };
    let (code, out) = explain(&["ns/pay"]);
    assert_eq!(code, 4, "{out}");
    let (code, out) = explain(&["kubernetes.io/pvc-protection"]);
    assert_eq!(code, 0, "{out}");
    let (code, out) = explain(&["cm/kube-root-ca.crt", "-n", "default"]);
    assert_eq!(code, 0, "{out}");
    // A namespace would wait for the group that does not answer.
    let (code, out) = explain(&["ns/default"]);
    assert_eq!(code, 5, "{out}");
    // It is known, and stays in the output.
    let (code, out) = explain(&["ns/kube-public"]);
    assert_eq!(code, 5, "{out}");
    let (code, out) = explain(&["ns/kube-public", "--accept-gap=metrics.k8s.io/v1beta1"]);
    assert_eq!(code, 0, "{out}");
    assert!(out.stdout.contains("metrics.k8s.io/v1beta1"), "{out}");
    let (code, out) = explain(&["ns/kube-public", "--accept-gap=other.k8s.io"]);
    assert_eq!(code, 5, "{out}");
    let (code, out) = explain(&["ns/pay", "--accept-gap=metrics.k8s.io"]);
    assert_eq!(code, 4, "{out}");
    let (code, out) = explain(&["ns/default", "ns/pay"]);
    assert_eq!(code, 4, "{out}");
    // What failed is told before what was found.
    let (code, out) = explain(&["ns/pay", "cm/not-there"]);
    assert_eq!(code, 1, "{out}");
    let out = troubled().plugin(["explain", "ns/pay"]).run();
    assert_eq!(out.code, 0, "{out}");
}

#[test]
fn an_unknown_type_may_belong_to_the_unavailable_group() {
    let out = troubled().plugin(["scan", "podmetrics"]).run();
    assert_eq!(out.code, 2, "{out}");
    assert!(
        out.stderr
            .contains("unless it belongs to what did not answer: metrics.k8s.io/v1beta1"),
        "{out}"
    );
}

#[test]
fn an_unavailable_conversion_webhook_is_avoided_through_the_stored_version() {
    let report = json(troubled().plugin(["scan", "gadgets.dead.example.com", "--all", "-o", "json"]));
    assert_eq!(names(&report, "objects"), ["gadgets.dead.example.com/old"]);
    assert_eq!(
        report["objects"][0]["finalizers"],
        json!([{"list": "metadata", "name": "dead.example.com/hold"}])
    );
    let note = report["notes"][0].as_str().unwrap();
    assert!(
        note.starts_with("gadgets.dead.example.com was read as v1, because reading it as v2 fails"),
        "{note}"
    );
    assert!(
        note.contains("conversion webhook for dead.example.com/v1, Kind=Gadget failed"),
        "{note}"
    );
    assert!(note.contains("service \"converter\" not found"), "{note}");
    assert_eq!(report["complete"], true);
    // The object is named in the version that kubectl can read.
    assert_eq!(report["objects"][0]["apiVersion"], "dead.example.com/v1");
    let scan = ["scan", "gadgets.dead.example.com", "--all", "-o", "name"];
    let out = troubled().plugin(scan).run().success();
    assert_eq!(out, "gadgets.v1.dead.example.com/old -n default\n");
}

#[test]
fn a_type_without_a_readable_version_is_a_gap_with_the_servers_message() {
    let report = json(troubled().plugin(["scan", "-o", "json"]));
    let gap = gap(&report, "gizmos.dead.example.com");
    assert_eq!(gap["reason"], "ServerError");
    let message = gap["message"].as_str().unwrap();
    assert!(
        message.contains("conversion webhook for dead.example.com/"),
        "{message}"
    );
    assert!(message.contains("service \"converter\" not found"), "{message}");
}
