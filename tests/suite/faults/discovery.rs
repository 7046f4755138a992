//! Discovery in its old format, of an unavailable group, and from servers that are no API server.

use std::time::Duration;

use serde_json::json;

use super::{
    PATIENCE, Report,
    fake::{Discovery, Fake, Fault, Kind, cluster_object, object},
    healthy, report, scan, timed,
};

/// The report without what depends on its time and place.
fn content(report: Report) -> serde_json::Value {
    let mut json = report.json;
    for field in ["observedAt", "source"] {
        json.as_object_mut().unwrap().remove(field);
    }
    json
}

fn many_groups() -> Fake {
    healthy()
        .with_type(
            Kind::new("apps", "v1", "deployments")
                .namespaced()
                .short("deploy")
                .category("all"),
        )
        .with_type(Kind::new("authorization.k8s.io", "v1", "subjectaccessreviews").verbs(&["create"]))
        .with_type(Kind::new("example.com", "v1beta1", "widgets").namespaced())
        .with_type(Kind::new("example.com", "v1beta1", "gadgets"))
        .object(
            "deployments.apps",
            object("db", "web")
                .finalizer("d/keep")
                .deleting("2026-01-01T00:00:00Z"),
        )
        .object("gadgets.example.com", cluster_object("one").finalizer("g/keep"))
        .clock_at("2026-01-02T00:00:00Z")
}

#[test]
fn old_discovery_gives_the_same_result_as_aggregated_discovery() {
    let expected = content(report(&many_groups().start(), &[]));
    assert_eq!(expected["complete"], true);
    for discovery in [
        Discovery::AggregatedBeta,
        Discovery::Legacy,
        Discovery::LegacyRefusing,
    ] {
        let server = many_groups().discovery(discovery).start();
        assert_eq!(content(report(&server, &[])), expected, "{discovery:?}");
    }
}

fn with_a_stale_group(fake: Fake) -> Fake {
    let condition = json!({
        "type": "Available", "status": "False", "reason": "MissingEndpoints",
        "message": "endpoints for service/metrics-server in \"kube-system\" have no addresses",
    });
    fake.with_type(Kind::new("metrics.k8s.io", "v1beta1", "nodes").kind("NodeMetrics"))
        .stale("metrics.k8s.io", "v1beta1")
        .with_type(Kind::new("apiregistration.k8s.io", "v1", "apiservices"))
        .object(
            "apiservices.apiregistration.k8s.io",
            cluster_object("v1beta1.metrics.k8s.io").status(json!({ "conditions": [condition] })),
        )
}

#[test]
fn a_stale_group_is_a_gap_with_the_reason_of_its_apiservice_and_is_not_read() {
    let server = with_a_stale_group(healthy()).start();
    let report = report(&server, &[]);
    let gap = report.gap("metrics.k8s.io/v1beta1");
    assert_eq!(gap["reason"], "Unavailable");
    assert_eq!(gap["hides"], json!(["nodes.metrics.k8s.io"]));
    let message = gap["message"].as_str().unwrap();
    assert!(
        message.starts_with("APIService v1beta1.metrics.k8s.io: MissingEndpoints: endpoints for"),
        "{message}"
    );
    assert_eq!(
        (report.carrying("pod/keep"), report.gaps().len(), report.code),
        (1_200, 1, 5)
    );
    assert!(
        server
            .requests_to("/apis/metrics.k8s.io/v1beta1/nodes")
            .is_empty()
    );
}

#[test]
fn an_unavailable_group_in_old_discovery_is_a_gap_with_the_reason_of_its_apiservice() {
    for discovery in [Discovery::Legacy, Discovery::LegacyRefusing] {
        let server = with_a_stale_group(healthy()).discovery(discovery).start();
        let report = report(&server, &[]);
        let gap = report.gap("metrics.k8s.io/v1beta1");
        assert_eq!(gap["reason"], "Unavailable");
        assert!(
            gap["message"].as_str().unwrap().contains("MissingEndpoints"),
            "{gap:#}"
        );
        assert_eq!(
            (report.carrying("pod/keep"), report.gaps().len(), report.code),
            (1_200, 1, 5)
        );
    }
}

#[test]
fn an_unavailable_group_without_a_readable_apiservice_keeps_the_servers_message() {
    let server = healthy()
        .legacy_discovery()
        .on("/apis/example.com/v1", Fault::unavailable())
        .start();
    let report = report(&server, &[]);
    assert_eq!(
        report.gap("example.com/v1")["message"],
        "503 Service Unavailable: service unavailable"
    );
    assert_eq!((report.carrying("pod/keep"), report.code), (1_200, 5));
}

#[test]
fn a_type_of_an_unavailable_group_is_not_called_unknown() {
    let server = with_a_stale_group(healthy()).start();
    let named = report(&server, &["nodes.metrics.k8s.io"]);
    assert_eq!(
        (named.gap("metrics.k8s.io/v1beta1")["reason"].as_str(), named.code),
        (Some("Unavailable"), 5)
    );
    let out = scan(&server, &["gizmos"]);
    assert_eq!(out.code, 2, "{out}");
    assert!(out.stderr.contains("metrics.k8s.io/v1beta1"), "{out}");
}

/// The groups cannot be read. The core group is scanned, and the rest is a gap.
fn only_the_core_group(fault: Fault, reason: &str, message: &str) {
    let server = healthy().on("/apis", fault).start();
    let report = report(&server, &[PATIENCE]);
    assert_eq!(report.gaps().len(), 1, "{:#}", report.json);
    let gap = &report.gaps()[0];
    assert_eq!(
        (gap["what"].as_str(), gap["reason"].as_str()),
        (Some("types"), Some(reason)),
        "{gap:#}"
    );
    assert!(gap["message"].as_str().unwrap().contains(message), "{gap:#}");
    assert_eq!(
        (
            report.carrying("pod/keep"),
            report.carrying("widget/keep"),
            report.code
        ),
        (1_200, 0, 5)
    );
    let out = scan(&server, &[PATIENCE]).success();
    assert!(out.contains("NOT READ"), "{out}");
    assert!(
        out.contains("all types outside of the core group (/apis)"),
        "{out}"
    );
}

#[test]
fn groups_that_cannot_be_read_are_a_gap_and_the_core_group_is_scanned() {
    only_the_core_group(Fault::forbidden("/apis"), "Forbidden", "is forbidden");
    only_the_core_group(Fault::html(200), "Undecodable", "got <html>");
    only_the_core_group(Fault::html(502), "Unavailable", "502 Bad Gateway");
    only_the_core_group(Fault::HangBeforeHeaders, "TimedOut", "no answer within 2 s");
    only_the_core_group(Fault::TruncateBody, "Undecodable", "broke off");
    only_the_core_group(
        Fault::json("[]"),
        "Undecodable",
        "expected the list of API groups, got []",
    );
    only_the_core_group(
        Fault::json(r#"{"kind":"Status","status":"Failure"}"#),
        "Undecodable",
        "\"Status\"",
    );
}

#[test]
fn a_group_that_cannot_be_read_hides_only_its_own_types() {
    let odd = json!({
        "kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {},
        "items": [
            { "metadata": { "name": "odd.example" }, "versions": [{ "version": 7 }] },
            { "metadata": { "name": "null.example" }, "versions": [
                { "version": "v1", "freshness": null, "resources": [
                    { "resource": "reviews", "responseKind": null, "verbs": null, "shortNames": null },
                ] },
                { "version": "v2", "resources": null },
            ] },
            { "metadata": { "name": "empty.example" }, "versions": null },
            { "metadata": { "name": "example.com" }, "versions": [
                { "version": "v1", "resources": [
                    { "resource": "widgets", "scope": "Namespaced", "verbs": ["list"], "categories": null,
                      "responseKind": { "group": "", "version": "", "kind": "Widget" } },
                ] },
            ] },
        ],
    });
    let server = healthy().on("/apis", Fault::json(odd.to_string())).start();
    let report = report(&server, &[]);
    assert_eq!(report.carrying("widget/keep"), 3, "{:#}", report.json);
    let gap = &report.gap("odd.example");
    assert_eq!(
        (gap["what"].as_str(), gap["reason"].as_str()),
        (Some("group"), Some("Undecodable"))
    );
    assert_eq!((report.gaps().len(), report.code), (1, 5));
}

#[test]
fn empty_documents_of_old_discovery_are_empty_lists() {
    let server = healthy()
        .legacy_discovery()
        .on("/apis", Fault::json(r#"{"kind":"APIGroupList","groups":null}"#))
        .start();
    assert_eq!(report(&server, &[]).complete().carrying("pod/keep"), 1_200);
    let server = healthy()
        .legacy_discovery()
        .on(
            "/apis/example.com/v1",
            Fault::json(r#"{"kind":"APIResourceList","groupVersion":"example.com/v1","resources":null}"#),
        )
        .start();
    report(&server, &[]).complete();
}

#[test]
fn without_any_discovery_the_scan_fails_with_one_sentence_at_once() {
    for (fault, words) in [
        (Fault::HangBeforeHeaders, "did not answer in time"),
        (Fault::html(200), "<html>"),
        (Fault::forbidden("discovery"), "forbidden"),
        (Fault::unauthorized(), "401"),
        (Fault::unavailable(), "service unavailable"),
        (Fault::ResetBeforeHeaders, "Connection reset"),
        (Fault::TruncateBody, "broke off"),
    ] {
        let server = healthy().on("/api*", fault.clone()).start();
        let (out, took) = timed(|| scan(&server, &[PATIENCE]));
        assert_eq!((out.code, out.stdout.as_str()), (1, ""), "{fault:?}: {out}");
        assert!(
            out.stderr.starts_with("error: ") && out.stderr.contains(words),
            "{fault:?}: {out}"
        );
        assert!(out.stderr.lines().count() <= 2, "{fault:?}: {out}");
        assert!(took < Duration::from_secs(8), "{fault:?}: {took:?}");
    }
}

#[test]
fn an_absent_server_fails_the_scan_with_one_sentence_at_once() {
    let server = healthy().start();
    let kubeconfig = std::fs::read_to_string(server.kubeconfig()).unwrap();
    drop(server);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kubeconfig");
    std::fs::write(&path, kubeconfig).unwrap();
    let (out, took) = timed(|| crate::harness::Plugin::new(["scan"]).kubeconfig(&path).run());
    assert_eq!((out.code, out.stdout.as_str()), (1, ""), "{out}");
    assert!(
        out.stderr.contains("refused") && out.stderr.contains("hint: "),
        "{out}"
    );
    assert!(took < Duration::from_secs(3), "{took:?}");
}
