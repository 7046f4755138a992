//! `watch`: objects that go while they are watched, and what can happen to the watch meanwhile.

mod compacted;
mod everything;
mod many;

use std::time::Duration;

use serde_json::{Value, json};

use crate::{
    faults::fake::{Fake, Fault, Kind, object},
    harness::{Cluster, Namespace, Plugin, Session, Signal, wait},
    schema,
};

const SOON: Duration = Duration::from_secs(30);

/// A claim that a running Pod uses.
fn used_claim(ns: &Namespace<'_>, node: &str) {
    ns.apply(&format!(
        "
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {{name: data}}
spec: {{accessModes: [ReadWriteOnce], storageClassName: none, resources: {{requests: {{storage: 1Gi}}}}}}
---
apiVersion: v1
kind: Pod
metadata: {{name: db}}
spec:
  nodeName: {node}
  containers: [{{name: c, image: i}}]
  volumes: [{{name: v, persistentVolumeClaim: {{claimName: data}}}}]
"
    ));
    wait("the claim is protected", SOON, || {
        let claim = ns.get(["pvc", "data"]);
        claim.is_some_and(|claim| claim["metadata"]["finalizers"] == json!(["kubernetes.io/pvc-protection"]))
    });
}

/// A ConfigMap with a finalizer that nothing removes.
fn held(ns: &Namespace<'_>) {
    ns.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: held, finalizers: [example.com/held]}}");
}

fn delete(ns: &Namespace<'_>, object: &str) {
    ns.kubectl(["delete", object, "--wait=false"]).success();
}

/// Deletes the Pod once it is watched: what goes before that is not seen to go.
fn stop_pod(cluster: &Cluster, ns: &Namespace<'_>) {
    wait("the pods are watched", SOON, || {
        let asked = cluster.asked(ns.name());
        asked
            .iter()
            .any(|one| one.verb == "watch" && one.type_name == "pods")
    });
    ns.kubectl(["delete", "pod/db", "--force", "--grace-period=0"])
        .success();
}

fn release(ns: &Namespace<'_>) {
    let patch = r#"{"metadata":{"finalizers":null}}"#;
    ns.kubectl(["patch", "cm/held", "--type=merge", "-p", patch])
        .success();
}

/// The lines of a pipe, on a terminal that cannot draw, so that the test sees them as they come.
fn lines(plugin: Plugin) -> Session {
    plugin.env("TERM", "dumb").at_terminal()
}

/// The changes in JSON, each checked against the schema.
fn changes(text: &str) -> Vec<Value> {
    let schema = schema::of(include_str!("../../docs/watch.schema.json"));
    text.lines().map(|line| schema::checked(&schema, line)).collect()
}

/// Each line of a block of docs/watch.md has the form of a line that was printed: `...` stands for any words, and words with
/// digits differ. `named` gives the objects of the block the names that they have here.
#[track_caller]
fn assert_shown(block: usize, printed: &str, named: &dyn Fn(&str) -> String) {
    let page = include_str!("../../docs/watch.md");
    let block = page.split("```text\n").nth(block + 1).unwrap();
    let form = |text: &str| -> String {
        let words = text.split_whitespace().map(|word| {
            if word.contains(|c: char| c.is_ascii_digit()) {
                "#"
            } else {
                word
            }
        });
        words.collect::<Vec<_>>().join(" ")
    };
    for line in block.split("```").next().unwrap().lines() {
        let named = named(line);
        let parts: Vec<_> = named.split("...").map(form).collect();
        let fits = |found: &str| {
            let found = form(found);
            let mut rest = found.as_str();
            parts.iter().all(|part| {
                let at = rest.find(part.trim());
                at.is_some_and(|at| {
                    rest = &rest[at + part.trim().len()..];
                    true
                })
            })
        };
        assert!(
            printed.lines().any(fits),
            "docs/watch.md shows {named:?}, which was not printed:\n{printed}"
        );
    }
}

fn names(changes: &[Value]) -> Vec<&str> {
    changes
        .iter()
        .map(|change| change["change"].as_str().unwrap())
        .collect()
}

#[test]
fn a_claim_is_deleted_once_its_pod_is_gone() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("watched-claim");
    used_claim(&ns, &cluster.node());
    let watch = lines(cluster.plugin(["watch", "pvc/data", "--for=delete", "-n", ns.name()]));
    watch.see("not being deleted. Waiting for its deletion.");
    delete(&ns, "pvc/data");
    watch.see("IN USE.").see("pod/db").see("Next: kubectl");
    stop_pod(cluster, &ns);
    let out = watch.finish();
    assert_eq!(out.code, 0, "{out}");
    assert!(
        out.stdout
            .trim_end()
            .contains(&format!("pvc/data -n {}: gone after ", ns.name())),
        "{out}"
    );
    // A look can come before the event.
    let as_seen_by_event = out.stdout.replace("no longer holds it.", "is gone.");
    assert_shown(0, &as_seen_by_event, &|line| {
        line.replace("-n db", &format!("-n {}", ns.name()))
            .replace("pvc/data-0", "pvc/data")
            .replace("pod/db-0", "pod/db")
    });
    let pod = format!("pvc/data -n {0}: pod/db -n {0} ", ns.name());
    let ends = ["is gone.", "no longer holds it."].map(|end| format!("{pod}{end}"));
    assert!(ends.iter().any(|end| out.stdout.contains(end)), "{out}");
}

#[test]
#[ignore = "takes minutes: scripts/long slow"]
fn a_restart_of_the_api_server_is_survived() {
    let cluster = Cluster::start();
    let ns = cluster.namespace("watched-restart");
    held(&ns);
    delete(&ns, "cm/held");
    let watch = lines(
        cluster
            .plugin(["watch", "cm/held", "-n", ns.name()])
            .within(SOON * 4),
    );
    watch.see("cm/held");
    cluster.api_server().kill();
    watch.see("NOT READ: ");
    cluster.api_server().start();
    watch.see("READ AGAIN: ");
    release(&ns);
    let out = watch.finish();
    assert_eq!(out.code, 0, "{out}");
    assert!(
        out.stdout.lines().last().unwrap().contains(": gone after "),
        "{out}"
    );
}

#[test]
fn a_terminal_shows_the_present_state_and_the_last_changes() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("watched-screen");
    used_claim(&ns, &cluster.node());
    // So the claim cannot go before the end of its pod is seen.
    let hold = r#"--patch={"metadata":{"finalizers":["kubernetes.io/pvc-protection","example.com/hold"]}}"#;
    ns.kubectl(["patch", "pvc/data", "--type=merge", hold]).success();
    delete(&ns, "pvc/data");
    let watch = cluster
        .plugin(["watch", "pvc/data", "-n", ns.name(), "--color=never"])
        .env("TERM", "xterm")
        .at_terminal();
    watch.see("IN USE  pvc/data").see("in deletion.");
    stop_pod(cluster, &ns);
    watch.see("kubernetes.io/pvc-protection was removed.");
    let none = r#"--patch={"metadata":{"finalizers":null}}"#;
    ns.kubectl(["patch", "pvc/data", "--type=merge", none]).success();
    let out = watch.finish();
    assert_eq!(out.code, 0, "{out}");
    let last = out.stdout.rsplit("\x1b[J").next().unwrap();
    assert!(last.contains(": gone after "), "{out}");
    let ends = ["is gone.", "no longer holds it."];
    assert!(ends.iter().any(|end| last.contains(end)), "{out}");
    assert!(!last.contains("IN USE"), "{out}");
}

#[test]
fn a_time_limit_ends_with_the_cause_and_ctrl_c_says_where_it_stands() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("watched-long");
    held(&ns);
    delete(&ns, "cm/held");
    let words = ["watch", "cm/held", "-n", ns.name(), "-o", "json", "--timeout"];
    for limit in ["0", "1s"] {
        let out = cluster.plugin(words.iter().copied().chain([limit])).run();
        assert_eq!(out.code, 4, "{out}");
        let changes = changes(&out.stdout);
        assert_eq!(names(&changes), ["held", "timed-out"], "{out}");
        let finalizer = &changes[1]["explanation"]["waitsFor"][0]["finalizer"]["name"];
        assert_eq!(finalizer, "example.com/held");
    }
    let watch = lines(cluster.plugin(["watch", "cm/held", "-n", ns.name()]));
    watch.see("example.com/held").signal(Signal::INT);
    let out = watch.finish();
    assert_eq!(out.code, 130, "{out}");
    let last = out.stdout.lines().last().unwrap();
    assert!(
        last.contains("STOPPED. ") && last.contains("example.com/held"),
        "{out}"
    );
    release(&ns);
}

#[test]
fn an_object_that_does_not_exist_is_gone_as_for_kubectl_wait() {
    let cluster = Cluster::shared();
    let theirs = cluster.kubectl(["wait", "--for=delete", "cm/no-such", "--timeout=5s"]);
    let ours = cluster.plugin(["watch", "cm/no-such", "-o", "json"]).run();
    assert_eq!((theirs.code, ours.code), (0, 0), "{theirs}\n{ours}");
    assert_eq!(names(&changes(&ours.stdout)), ["not-found"]);
    // A type that does not exist is a mistake for both.
    let theirs = cluster.kubectl(["wait", "--for=delete", "nonsense/x", "--timeout=5s"]);
    let ours = cluster.plugin(["watch", "nonsense/x"]).run();
    assert!(theirs.code != 0 && ours.code == 2, "{theirs}\n{ours}");
}

#[test]
fn a_new_object_of_the_same_name_is_not_the_one_that_is_watched() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("watched-anew");
    held(&ns);
    let watch = lines(cluster.plugin(["watch", "cm/held", "-n", ns.name()]));
    watch.see("not being deleted");
    // Both happen while a look would follow the first.
    delete(&ns, "cm/held");
    release(&ns);
    held(&ns);
    let out = watch.finish();
    assert_eq!(out.code, 0, "{out}");
    assert!(out.stdout.lines().last().unwrap().contains(": gone"), "{out}");
    assert!(ns.get(["cm", "held"]).is_some());
    release(&ns);
}

#[test]
fn rights_that_are_withdrawn_prove_nothing() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("watched-rights");
    held(&ns);
    delete(&ns, "cm/held");
    let user = cluster
        .user("watcher")
        .may_in(ns.name(), "get,list,watch", "configmaps")
        .create();
    let watch = lines(Plugin::new(["watch", "cm/held", "-n", ns.name()]).as_user(&user));
    watch.see("example.com/held");
    ns.kubectl(["delete", "rolebindings", "--all"]).success();
    watch.see("NOT READ: cm/held").see("Trying again.");
    assert!(!watch.shown().contains(": gone"), "{}", watch.shown());
    watch.signal(Signal::INT);
    let out = watch.finish();
    assert_eq!(out.code, 130, "{out}");
    assert!(out.stdout.contains("STOPPED. It could not be read."), "{out}");
    release(&ns);
}

#[test]
fn an_expired_watch_restarts_and_misses_nothing() {
    const MAPS: &str = "/api/v1/namespaces/db/configmaps";
    let expired = r#"{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old resource version","reason":"Expired","code":410}}"#;
    let gone = Fault::not_found().after(4);
    let server = Fake::new()
        .with_type(Kind::new("", "v1", "configmaps").kind("ConfigMap").namespaced())
        .object(
            "configmaps",
            object("db", "held")
                .finalizer("example.com/held")
                .deleting("2026-01-01T00:00:00Z"),
        )
        .on(
            MAPS,
            Fault::json(expired).when_accept("as=PartialObjectMetadata;"),
        )
        .on(&format!("{MAPS}/held"), gone)
        .start();
    let out = Plugin::new(["watch", "configmaps/held", "-n", "db", "-o", "json"])
        .kubeconfig(server.kubeconfig())
        .run();
    assert_eq!(out.code, 0, "{out}");
    let changes = changes(&out.stdout);
    // An expired watch is no failure.
    assert_eq!(names(&changes), ["held", "gone"], "{out}");
    let last = changes.last().unwrap()["watchedSeconds"].as_u64().unwrap();
    assert!(last < 10, "the end was only seen by chance: {out}");
}
