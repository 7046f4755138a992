//! Every type is read once, whatever names discovery has for it.

use super::{
    fake::{Fake, Kind, object},
    report, scan,
};

fn kept(name: &str) -> super::fake::Object {
    object("db", name).finalizer("x/keep")
}

#[test]
fn a_type_with_several_versions_is_read_only_in_the_preferred_one() {
    let server = Fake::new()
        .with_type(Kind::new("autoscaling", "v2", "horizontalpodautoscalers").namespaced())
        .with_type(Kind::new("autoscaling", "v1", "horizontalpodautoscalers").namespaced())
        .object("horizontalpodautoscalers.autoscaling", kept("web"))
        .start();
    let report = report(&server, &["--all"]).complete();
    assert_eq!((report.objects(), report.carrying("x/keep")), (1, 1));
    assert_eq!(report.json["objects"][0]["apiVersion"], "autoscaling/v2");
    assert!(
        server
            .requests()
            .iter()
            .all(|request| !request.path().contains("/v1/"))
    );
}

#[test]
fn a_type_that_only_an_older_version_has_is_read_there() {
    let server = Fake::new()
        .with_type(Kind::new("example.com", "v2", "widgets").namespaced())
        .with_type(Kind::new("example.com", "v1alpha1", "gadgets").namespaced())
        .object("gadgets.example.com", kept("old"))
        .start();
    assert_eq!(report(&server, &[]).complete().carrying("x/keep"), 1);
}

#[test]
fn groups_that_share_their_storage_are_read_once() {
    let pairs = [
        ("networking.k8s.io", "v1", "ingresses"),
        ("apps", "v1", "deployments"),
        ("apps", "v1", "daemonsets"),
        ("apps", "v1", "replicasets"),
        ("networking.k8s.io", "v1", "networkpolicies"),
    ];
    let mut fake = Fake::new()
        .with_type(Kind::new("", "v1", "events").namespaced())
        .with_type(Kind::new("events.k8s.io", "v1", "events").namespaced());
    for (group, version, plural) in pairs {
        fake = fake
            .with_type(Kind::new("extensions", "v1beta1", plural).namespaced())
            .with_type(Kind::new(group, version, plural).namespaced())
            .object(&format!("{plural}.{group}"), kept("one"));
    }
    let server = fake.object("events", kept("event")).start();
    let report = report(&server, &[]).complete();
    assert_eq!(report.carrying("x/keep"), 6);
    assert_eq!(report.json["totals"]["types"], 6);
    assert!(server.requests().iter().all(|request| {
        !request.path().contains("extensions") && !request.path().contains("events.k8s.io")
    }));
}

#[test]
fn an_old_group_is_read_if_the_new_one_is_missing() {
    let server = Fake::new()
        .with_type(Kind::new("extensions", "v1beta1", "ingresses").namespaced())
        .object("ingresses.extensions", kept("one"))
        .start();
    assert_eq!(report(&server, &[]).complete().carrying("x/keep"), 1);
}

fn two_groups(uid_in_the_second: &str) -> Fake {
    Fake::new()
        .with_type(Kind::new("old.example.com", "v1", "widgets").namespaced())
        .with_type(Kind::new("new.example.com", "v1", "widgets").namespaced())
        .object(
            "widgets.old.example.com",
            kept("one").uid("0001").deleting("2026-01-01T00:00:00Z"),
        )
        .object(
            "widgets.new.example.com",
            kept("one")
                .uid(uid_in_the_second)
                .deleting("2026-01-01T00:00:00Z"),
        )
}

#[test]
fn two_groups_with_the_same_objects_are_counted_once_and_with_other_objects_twice() {
    let same = report(&two_groups("0001").start(), &[]);
    assert_eq!((same.objects(), same.carrying("x/keep")), (1, 1));
    assert_eq!(same.terminating(), ["widgets.old.example.com/one"]);
    let other = report(&two_groups("0002").start(), &[]);
    assert_eq!((other.objects(), other.carrying("x/keep")), (2, 2));
    assert_eq!(
        other.terminating(),
        ["widgets.new.example.com/one", "widgets.old.example.com/one"]
    );
}

#[test]
fn a_type_without_the_verb_list_is_not_read() {
    for fake in [Fake::new(), Fake::new().legacy_discovery()] {
        let server = fake
            .with_type(
                Kind::new("", "v1", "pods")
                    .namespaced()
                    .subresources(&["log", "exec", "status"]),
            )
            .with_type(Kind::new("", "v1", "bindings").namespaced().verbs(&["create"]))
            .with_type(Kind::new("authorization.k8s.io", "v1", "selfsubjectaccessreviews").verbs(&["create"]))
            .start();
        let report = report(&server, &[]).complete();
        assert_eq!(report.json["totals"]["types"], 1);
        let asked = server.requests();
        assert!(
            asked
                .iter()
                .all(|request| !["binding", "review", "log", "exec", "status"]
                    .iter()
                    .any(|word| request.path().contains(word))),
            "{asked:#?}"
        );
    }
}

#[test]
fn computed_objects_are_not_counted() {
    let server = Fake::new()
        .with_type(Kind::new("metrics.k8s.io", "v1beta1", "nodes").kind("NodeMetrics"))
        .object(
            "nodes.metrics.k8s.io",
            object("", "node-1").without_uid().finalizer("x/keep"),
        )
        .start();
    let report = report(&server, &[]).complete();
    assert_eq!((report.objects(), report.carrying("x/keep")), (0, 0));
}

#[test]
fn a_server_without_types_has_an_empty_report() {
    let server = Fake::new().start();
    let out = scan(&server, &["--exit-code"]).success();
    assert!(
        out.starts_with("Nothing is stuck: no object is being deleted.\n\n0 types, 0 objects read"),
        "{out}"
    );
}

#[test]
fn two_thousand_custom_types_cost_one_request_each() {
    let mut fake = Fake::new();
    for n in 0..2_000 {
        fake = fake.with_type(Kind::new(
            &format!("g{}.example.com", n / 20),
            "v1",
            &format!("thing{n}s"),
        ));
    }
    let server = fake.start();
    let report = report(&server, &[]).complete();
    assert_eq!(report.json["totals"]["types"], 2_000);
    assert_eq!(server.requests().len(), 2_000 + 3);
    assert!(server.peak_connections() <= 8, "{}", server.peak_connections());
}
