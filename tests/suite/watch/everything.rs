//! `watch` without a target: everything in deletion, and what can happen to the watches of its types.

use super::{SOON, assert_shown, changes, delete, held, lines, names, release};
use crate::{
    faults::fake::{Fake, Fault, Kind, Rule, Running, object},
    harness::{Cluster, Output, Plugin, Signal},
};

const MAPS: &str = "/api/v1/namespaces/db/configmaps";
const SECRETS: &str = "/api/v1/namespaces/db/secrets";
const EXPIRED: &str = r#"{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old resource version","reason":"Expired","code":410}}"#;
const EMPTY: &str = r#"{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"9"},"items":[]}"#;

/// A namespace with one ConfigMap in deletion.
fn server() -> Fake {
    Fake::new()
        .with_type(Kind::new("", "v1", "configmaps").kind("ConfigMap").namespaced())
        .with_type(Kind::new("", "v1", "secrets").kind("Secret").namespaced())
        .object(
            "configmaps",
            object("db", "held")
                .finalizer("example.com/held")
                .deleting("2026-01-01T00:00:00Z"),
        )
}

pub(super) trait Where {
    /// Only for watches.
    fn in_watch(self) -> Rule;
    /// Only for lists.
    fn in_list(self) -> Rule;
}

impl<R: Into<Rule>> Where for R {
    fn in_watch(self) -> Rule {
        self.into().when_accept("as=PartialObjectMetadata;")
    }

    fn in_list(self) -> Rule {
        self.into().when_accept("as=PartialObjectMetadataList;")
    }
}

fn watch(server: &Running, more: &[&str]) -> Output {
    let words = ["watch", "-n", "db", "-o", "json"].iter().chain(more).copied();
    Plugin::new(words)
        .kubeconfig(server.kubeconfig())
        .within(SOON * 2)
        .run()
}

#[test]
fn a_watch_that_expires_lists_again_and_finds_what_went_meanwhile() {
    let server = server()
        .on(MAPS, Fault::json(EXPIRED).in_watch())
        .on(MAPS, Fault::json(EMPTY).after(1).in_list())
        .start();
    let out = watch(&server, &[]);
    assert_eq!(out.code, 0, "{out}");
    let changes = changes(&out.stdout);
    let mut names = names(&changes);
    // Whether it is explained before it is gone is a matter of time.
    names.retain(|name| *name != "held");
    assert_eq!(names, ["in-deletion", "gone", "nothing-left"], "{out}");
    assert!(changes[0]["finalizers"][0]["name"] == "example.com/held", "{out}");
    assert!(changes.last().unwrap()["notRead"].as_array().unwrap().is_empty());
}

#[test]
fn losing_rights_for_one_type_is_reported_and_the_others_continue() {
    let gone = r#"{"type":"DELETED","object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"held","namespace":"db","uid":"UID","resourceVersion":"9"}}}"#;
    let uid = uid_of_held();
    let server = server()
        .on(SECRETS, Fault::json(EXPIRED).in_watch())
        .on(SECRETS, Fault::forbidden("secrets").after(1).in_list())
        .on(MAPS, Fault::json(gone.replace("UID", &uid)).after(6).in_watch())
        .on(MAPS, Fault::json("").in_watch())
        .start();
    let out = watch(&server, &[]);
    assert_eq!(out.code, 5, "{out}");
    let changes = changes(&out.stdout);
    let mut names = names(&changes);
    names.retain(|name| *name != "held");
    assert_eq!(names, ["in-deletion", "lost", "gone", "nothing-left"], "{out}");
    let lost = changes.iter().find(|change| change["change"] == "lost").unwrap();
    assert_eq!(
        (&lost["what"], &lost["reason"]),
        (&"secrets".into(), &"Forbidden".into())
    );
    assert_eq!(changes.last().unwrap()["notRead"][0]["name"], "secrets");
}

/// The uid that the fake gives to the ConfigMap.
fn uid_of_held() -> String {
    let server = server().start();
    let out = watch(&server, &["--timeout", "0"]);
    let changes = changes(&out.stdout);
    changes[0]["target"]["uid"].as_str().unwrap().to_owned()
}

#[test]
fn an_unanswered_type_is_reported_and_hides_no_other() {
    let server = server()
        .on(SECRETS, Fault::HangBeforeHeaders)
        .on(MAPS, Fault::json(EMPTY).in_list())
        .start();
    let out = watch(&server, &["--request-timeout=1s"]);
    assert_eq!(out.code, 5, "{out}");
    let changes = changes(&out.stdout);
    assert_eq!(names(&changes), ["lost", "nothing-left"], "{out}");
    assert_eq!(changes[0]["reason"], "TimedOut");
    let text = Plugin::new(["watch", "-n", "db", "--request-timeout=1s"])
        .kubeconfig(server.kubeconfig())
        .run();
    assert!(
        text.stdout.contains("NOT READ: secrets: ")
            && text.stdout.contains(
                "In what could be read, nothing is in deletion in namespace db. NOT READ: secrets."
            ),
        "{text}"
    );
}

#[test]
fn a_type_that_cannot_be_watched_is_listed_and_named() {
    let server = server()
        .on(SECRETS, Fault::forbidden("secrets").in_watch())
        .start();
    let out = watch(&server, &["--timeout", "3s"]);
    assert_eq!(out.code, 4, "{out}");
    let changes = changes(&out.stdout);
    let named = changes.iter().find(|change| change["change"] == "not-watched");
    assert_eq!(named.unwrap()["types"], serde_json::json!(["secrets"]), "{out}");
    let last = changes.last().unwrap();
    assert_eq!(last["change"], "timed-out", "{out}");
    let finalizer = &last["explanation"]["waitsFor"][0]["finalizer"]["name"];
    assert_eq!(finalizer, "example.com/held");
}

#[test]
fn more_types_than_can_be_watched_are_listed_and_named() {
    let mut many = server();
    for at in 0..170 {
        let plural = format!("gadgets{at}");
        many = many.with_type(
            Kind::new("example.com", "v1", &plural)
                .kind("Gadget")
                .namespaced(),
        );
    }
    let server = many.start();
    let out = watch(&server, &["--timeout", "3s"]);
    assert_eq!(out.code, 4, "{out}");
    let changes = changes(&out.stdout);
    let named = changes.iter().find(|change| change["change"] == "not-watched");
    let named = named.unwrap_or_else(|| panic!("{out}"));
    assert_eq!(named["reason"], "Limit", "{out}");
    // The types of the API server are watched before those of others.
    let types = named["types"].as_array().unwrap();
    assert_eq!(types.len(), 12, "{out}");
    assert!(
        types
            .iter()
            .all(|name| name.as_str().unwrap().starts_with("gadgets"))
    );
}

#[test]
fn a_terminal_shows_what_is_in_deletion_with_its_cause() {
    let server = server().on(SECRETS, Fault::forbidden("secrets")).start();
    let watch = Plugin::new(["watch", "-n", "db", "--color=never"])
        .kubeconfig(server.kubeconfig())
        .env("TERM", "xterm")
        .at_terminal();
    watch
        .see("1 object in deletion in namespace db, 0 gone. NOT READ: secrets.")
        .see("REJECTED  cm/held -n db, Terminating for ")
        .see("kubectl create namespace db")
        .signal(Signal::INT);
    let out = watch.finish();
    assert_eq!(out.code, 130, "{out}");
    // It is drawn over what was there.
    let last = out.stdout.rsplit("\x1b[J").next().unwrap();
    assert!(
        last.contains("1 object in deletion") && last.contains("STOPPED."),
        "{out}"
    );
    assert_eq!(last.matches("in deletion in namespace").count(), 1, "{out}");
}

#[test]
fn a_namespace_that_is_deleted_while_it_is_watched() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("watched-whole");
    held(&ns);
    ns.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: later, finalizers: [example.com/held]}}");
    delete(&ns, "cm/held");
    let words = ["watch", "-n", ns.name(), "-o", "json", "--timeout", "0"];
    let out = cluster.plugin(words).run();
    assert_eq!(out.code, 4, "{out}");
    let seen = changes(&out.stdout);
    assert_eq!(seen.last().unwrap()["change"], "timed-out", "{out}");
    assert_eq!(seen.last().unwrap()["target"]["name"], "held", "{out}");

    // The cluster has objects of other tests, too.
    let out = cluster
        .plugin(["watch", "-A", "-o", "json", "--timeout", "0"])
        .run();
    assert_eq!(out.code, 4, "{out}");
    let is_held = |change: &&serde_json::Value| {
        let target = &change["target"];
        change["change"] == "in-deletion" && target["name"] == "held" && target["namespace"] == ns.name()
    };
    assert_eq!(changes(&out.stdout).iter().filter(is_held).count(), 1, "{out}");

    let watch = lines(cluster.plugin(["watch", "-n", ns.name()]).within(SOON * 4));
    watch.see("cm/held");
    let stopped = lines(cluster.plugin(["watch", "-n", ns.name()]));
    stopped.see("cm/held").signal(Signal::INT);
    let out = stopped.finish();
    assert_eq!(out.code, 130, "{out}");
    assert!(
        out.stdout.contains(": STOPPED. ") || out.stdout.contains("1 more object is in deletion."),
        "{out}"
    );

    // What the namespace controller deletes joins.
    cluster
        .kubectl(["delete", "ns", ns.name(), "--wait=false"])
        .success();
    watch.see(&format!("ns/{}: ", ns.name()));
    watch.see(&format!("cm/later -n {}: Terminating", ns.name()));
    // It stays, so its cause and the next command follow.
    watch.see("Next: kubectl");
    release(&ns);
    ns.kubectl([
        "patch",
        "cm/later",
        "--type=merge",
        "-p",
        r#"{"metadata":{"finalizers":null}}"#,
    ])
    .success();
    let out = watch.finish();
    assert_eq!(out.code, 0, "{out}");
    assert!(
        out.stdout
            .contains(&format!("cm/held -n {}: gone after ", ns.name())),
        "{out}"
    );
    assert!(
        out.stdout.contains(&format!("ns/{}: gone after ", ns.name())),
        "{out}"
    );
    assert_shown(1, &out.stdout, &|line| {
        // Here the other one is explained first.
        line.replace(
            "challenges.acme.cert-manager.io/api-cert -n pay: ORPHANED. ...",
            "cm/held -n pay: ...",
        )
        .replace("-n pay", &format!("-n {}", ns.name()))
        .replace("ns/pay", &format!("ns/{}", ns.name()))
        .replace("namespace pay", &format!("namespace {}", ns.name()))
        .replace("challenges.acme.cert-manager.io/api-cert", "cm/later")
        .replace("finalizer.acme.cert-manager.io", "example.com/held")
        .replace("pod/api-0", "cm/held")
    });
    let last = format!("Nothing is in deletion in namespace {}.", ns.name());
    assert!(out.stdout.trim_end().ends_with(&last), "{out}");
}
