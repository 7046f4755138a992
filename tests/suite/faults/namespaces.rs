//! No namespaces, a missing namespace, and one of three hundred.

use serde_json::json;

use super::{
    fake::{Fake, Fault, Kind, Object, cluster_object, object},
    healthy, report, scan,
};

const REVIEWS: &str = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";

fn going(name: &str) -> Object {
    cluster_object(name)
        .deleting("2026-01-01T00:00:00Z")
        .spec(json!({ "finalizers": ["kubernetes"] }))
}

#[test]
fn a_cluster_without_namespaces_is_no_fault() {
    let server = Fake::new()
        .with_type(Kind::new("", "v1", "namespaces"))
        .with_type(Kind::new("", "v1", "pods").namespaced())
        .start();
    assert_eq!(report(&server, &[]).complete().objects(), 0);
}

#[test]
fn a_missing_namespace_is_named_and_its_remaining_objects_are_shown() {
    let server = healthy().start();
    let out = scan(&server, &["-n", "gone"]).success();
    assert!(
        out.contains("there is no namespace gone, and nothing was found in it"),
        "{out}"
    );
    let left = healthy()
        .object(
            "widgets.example.com",
            object("gone", "left")
                .finalizer("a/b")
                .deleting("2026-01-01T00:00:00Z"),
        )
        .start();
    let out = scan(&left, &["-n", "gone"]).success();
    assert!(
        out.contains("widgets.example.com/left -n gone") && out.contains("ns/gone: does not exist"),
        "{out}"
    );
}

#[test]
fn a_namespace_shows_its_remaining_objects_whatever_its_conditions_say() {
    let lies = json!({ "conditions": [{
        "type": "NamespaceContentRemaining", "status": "False", "reason": "ContentRemoved",
        "message": "All content successfully removed",
    }] });
    let server = healthy()
        .object("namespaces", going("pay").status(lies))
        .object(
            "widgets.example.com",
            object("pay", "w")
                .finalizer("a/b")
                .deleting("2026-01-01T00:00:00Z"),
        )
        .start();
    let report = report(&server, &[]);
    let pay = &report.json["terminating"]
        .as_array()
        .unwrap()
        .iter()
        .find(|o| o["name"] == "pay")
        .unwrap();
    assert_eq!(pay["left"], json!({ "widgets.example.com": 1 }));
    assert!(
        pay["reason"].as_str().unwrap().contains("1 widgets.example.com"),
        "{pay:#}"
    );
    assert_eq!(report.code, 4);
}

/// The report on the namespace `pay`, which has one widget without a finalizer. Asserts that it never says that
/// the namespace controller has nothing left to delete.
fn reason(arguments: &[&str], fault: Option<Fault>) -> String {
    let mut fake = healthy()
        .object("namespaces", going("pay"))
        .object("widgets.example.com", object("pay", "w"));
    if let Some(fault) = fault {
        fake = fake.on("/apis/example.com/v1/*", fault);
    }
    let report = report(&fake.start(), arguments);
    let pay = &report.json["terminating"][0];
    assert_ne!(pay["verdict"], "stalled", "{pay:#}");
    pay["reason"].as_str().unwrap().to_owned()
}

#[test]
fn a_namespace_is_called_empty_only_after_its_content_was_listed() {
    assert_eq!(reason(&[], None), "left in it: 1 widgets.example.com");
    for arguments in [
        &["namespaces"][..],
        &["namespaces,pods"],
        &["--exclude", "widgets"],
        &["-l", "!blue", "ns"],
    ] {
        let reason = reason(arguments, None);
        assert!(!reason.starts_with("nothing is left"), "{arguments:?}: {reason}");
        assert!(!reason.contains("nothing was found"), "{arguments:?}: {reason}");
    }
    let unread = reason(&[], Some(Fault::internal("no")));
    assert!(!unread.starts_with("nothing is left"), "{unread}");
    assert!(
        unread.contains("could not be read") || unread.contains("not everything could be read"),
        "{unread}"
    );
}

#[test]
fn a_selector_also_applies_to_the_namespace_itself() {
    let server = healthy()
        .object("namespaces", going("pay").label("team", "a"))
        .start();
    assert_eq!(
        report(&server, &["-n", "pay", "-l", "team=a"]).terminating(),
        ["namespaces/pay"]
    );
    assert!(
        report(&server, &["-n", "pay", "-l", "team=b"])
            .terminating()
            .is_empty()
    );
}

fn three_hundred() -> Fake {
    let mut fake = Fake::new().with_type(Kind::new("", "v1", "namespaces"));
    for n in 0..40 {
        fake = fake.with_type(Kind::new("example.com", "v1", &format!("thing{n}s")).namespaced());
    }
    for n in 0..300 {
        fake = fake.object("namespaces", cluster_object(&format!("ns-{n}")));
    }
    fake.object("thing7s.example.com", object("ns-17", "mine").finalizer("a/b"))
        .object("thing7s.example.com", object("ns-18", "theirs").finalizer("a/b"))
}

#[test]
fn with_rights_in_three_of_three_hundred_namespaces_only_those_are_listed() {
    let server = three_hundred()
        .rights_only_in(&["ns-3", "ns-17", "ns-200"])
        .start();
    let report = report(&server, &[]);
    assert_eq!(report.carrying("a/b"), 1);
    assert_eq!(
        report.gap("thing7s.example.com")["readOnlyIn"],
        json!(["ns-17", "ns-200", "ns-3"])
    );
    assert_eq!((report.gaps().len(), report.code), (40, 5));
    // Discovery, the version, two lists of namespaces, each type cluster-wide, one review for each namespace, each type in
    // three namespaces.
    assert_eq!(server.requests().len(), 2 + 1 + 2 + 40 + 300 + 3 * 40);
    let out = scan(&server, &[]).success();
    assert!(out.contains("forbidden outside ns-17, ns-200, ns-3"), "{out}");
    let lines = out.lines().filter(|line| line.contains("forbidden")).count();
    assert_eq!(lines, 1, "{out}");
}

#[test]
fn without_access_reviews_the_rights_are_tried_but_not_for_every_type() {
    let server = three_hundred()
        .on(REVIEWS, Fault::forbidden("selfsubjectrulesreviews"))
        .rights_only_in(&["ns-17"])
        .start();
    let report = report(&server, &[]);
    assert_eq!(report.carrying("a/b"), 1);
    assert_eq!(report.code, 5);
    // A few rejections for each namespace, and the requests that were sent meanwhile.
    let requests = server.requests().len();
    assert!(requests < 44 + 300 + 300 * 16 + 40, "{requests}");
}

#[test]
fn a_namespace_is_not_called_empty_while_the_groups_are_unknown() {
    let server = healthy()
        .object("namespaces", going("pay"))
        .object("widgets.example.com", object("pay", "w"))
        .on("/apis", Fault::html(200))
        .start();
    let report = report(&server, &[]);
    let pay = &report.json["terminating"][0];
    assert_ne!(pay["verdict"], "stalled", "{pay:#}");
    let reason = pay["reason"].as_str().unwrap();
    assert!(!reason.starts_with("nothing is left"), "{reason}");
}
