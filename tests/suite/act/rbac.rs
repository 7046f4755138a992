//! The roles in `deploy/rbac/`, on the real server: each verb works with exactly these rights, and says what it misses
//! with less.

use serde_json::Value;

use super::{
    Case, HOLD,
    guards::refused,
    rescue_again::{csi_disk, static_volume},
};
use crate::{
    explain::told::{SOON, delete},
    harness::{Cluster, Plugin, wait},
};

/// A case whose user has exactly the rights of one file.
fn case<'a>(cluster: &'a Cluster, file: &str) -> Case<'a> {
    let path = format!("{}/deploy/rbac/{file}.yaml", env!("CARGO_MANIFEST_DIR"));
    cluster.kubectl(["apply", "-f", &path]).success();
    let case = Case {
        is_master: false,
        ..Case::empty(cluster, file)
    };
    let bind = [
        "create",
        "clusterrolebinding",
        &case.user,
        &format!("--clusterrole=finalizers-{file}"),
        &format!("--user={}", case.user),
    ];
    cluster.kubectl(bind).success();
    wait("the server knows the role", SOON, || {
        let user = format!("--as={}", case.user);
        cluster.kubectl(["auth", "can-i", "list", "pods", &user]).code == 0
    });
    case
}

/// A verb that reads, as the user of the case.
fn reading(case: &Case<'_>, words: &[&str]) -> Plugin {
    let user = format!("--as={}", case.user);
    case.cluster.plugin(words.iter().copied().chain([&*user]))
}

fn json(case: &Case<'_>, words: &[&str]) -> Value {
    let words = [words, &["-o=json"]].concat();
    serde_json::from_str(&reading(case, &words).run().success()).unwrap()
}

fn missed(report: &Value) -> Vec<&str> {
    let gaps = report["notRead"].as_array().unwrap();
    gaps.iter().map(|gap| gap["name"].as_str().unwrap()).collect()
}

#[test]
fn the_cron_job_of_the_documents_is_valid() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("cron");
    let page = include_str!("../../../docs/automation.md");
    let job = page
        .split("```yaml\n")
        .filter_map(|block| block.split("```").next())
        .find(|block| block.contains("kind: CronJob"))
        .unwrap();
    let here = job.replace("namespace: finalizers", &format!("namespace: {}", ns.name()));
    assert_ne!(job, here);
    ns.apply(&here);
    let stored = ns.get(["cronjob", "stuck-deletions"]).unwrap();
    let container = &stored["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"][0];
    let command = container["command"].as_array().unwrap();
    let words: Vec<_> = command.iter().map(|word| word.as_str().unwrap()).collect();
    assert_eq!(words[0], "kubectl-finalizers");
    let out = cluster.plugin(words[1..].iter().copied()).run();
    assert!([0, 4, 5].contains(&out.code), "{out}");
}

const WIDGETS: &str = r#"{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.rbac.example.com"}, "spec": {"group": "rbac.example.com", "scope": "Namespaced",
    "names": {"plural": "widgets", "kind": "Widget"}, "versions": [{"name": "v1", "served": true, "storage": true,
    "schema": {"openAPIV3Schema": {"type": "object"}}}]}}"#;

/// The actor makes a volume again, and may make a claim again.
#[track_caller]
fn makes_again(actor: &Case<'_>) {
    let volume = static_volume(actor, &serde_json::json!({}), &csi_disk());
    delete(actor.cluster, &format!("pv/{volume}"), "");
    let out = actor.confirm(&["rescue", &format!("pv/{volume}")]).run();
    assert_eq!(out.code, 0, "{out}");
    let hold = r#"[{"op": "add", "path": "/metadata/finalizers/-", "value": "example.com/hold"}]"#;
    actor
        .ns
        .kubectl(["patch", "pvc/data", "--type=json", "-p", hold])
        .success();
    delete(actor.cluster, "pvc/data", actor.ns.name());
    // The plan tries all requests out.
    actor.run(&["rescue", "pvc/data", "--plan"]).run().success();
}

fn without_secrets(cluster: &Cluster) {
    // Without Secrets: exactly these and the groups that the file does not list are named.
    let blind = case(cluster, "reader-without-secrets");
    blind.hold("held", &[HOLD]);
    let report = json(&blind, &["scan"]);
    assert_eq!(missed(&report), ["secrets", "widgets.rbac.example.com"]);
    assert_eq!(report["terminating"][0]["name"], "held");
    let secret = reading(&blind, &["scan", "secrets", "--exit-code"]).run();
    assert_eq!(secret.code, 5, "{secret}");
    let chosen = [
        "scan",
        "--exclude=secrets,widgets.rbac.example.com",
        "--older-than=9h",
    ];
    let chosen = reading(&blind, &[&chosen[..], &["--exit-code"]].concat()).run();
    assert_eq!(chosen.code, 0, "{chosen}");
    let told = json(&blind, &["explain", "cm/held", "-n", blind.ns.name()]);
    assert_eq!(told["waitsFor"][0]["verdict"], "unknown", "{told:#}");
    // A snapshot says later what it could not read, and a watch follows what may be seen.
    let file = blind.place.path().join("blind.snapshot").display().to_string();
    reading(&blind, &["snapshot", &file]).run().success();
    let saved = Plugin::new(["scan", "-o=json", "--from", &file]).run().success();
    let saved: Value = serde_json::from_str(&saved).unwrap();
    assert_eq!(missed(&saved), ["secrets", "widgets.rbac.example.com"]);
    let watch = ["watch", "cm/held", "-n", blind.ns.name(), "--timeout=3s"];
    let out = reading(&blind, &watch).run();
    assert_eq!(out.code, 4, "{out}");
    let watch = ["watch", "-n", blind.ns.name(), "--timeout=3s"];
    let out = reading(&blind, &watch).run();
    assert_eq!(out.code, 4, "{out}");
    assert!(
        out.stdout.contains("NOT READ") && out.stdout.contains("secrets"),
        "{out}"
    );
    refused(
        &blind,
        blind.remove(&["--plan"]),
        "you may not patch configmaps held",
    );
    let namespace = format!("ns/{}", blind.ns.name());
    delete(cluster, &namespace, "");
    let told = json(&blind, &["explain", &namespace]);
    assert!(missed(&told).contains(&"secrets"), "{told:#}");
}

fn as_reader(cluster: &Cluster) -> Case<'_> {
    // The reader sees everything, and changes nothing.
    let reader = case(cluster, "reader");
    reader.hold("held", &[HOLD]);
    assert_eq!(missed(&json(&reader, &["scan"])), [""; 0]);
    let told = json(&reader, &["explain", "cm/held", "-n", reader.ns.name()]);
    assert_eq!(missed(&told), [""; 0], "{told:#}");
    let file = reader.place.path().join("all.snapshot").display().to_string();
    reading(&reader, &["snapshot", &file]).run().success();
    let watch = ["watch", "cm/held", "-n", reader.ns.name(), "--timeout=3s"];
    let out = reading(&reader, &watch).run();
    assert_eq!(out.code, 4, "{out}");
    assert!(!out.stdout.contains("cannot read"), "{out}");
    refused(
        &reader,
        reader.remove(&["--plan"]),
        "you may not patch configmaps held",
    );
    refused(
        &reader,
        reader.run(&["nudge", "cm/held", "--plan"]),
        "you may not patch",
    );
    reader
}

fn with_events(cluster: &Cluster) {
    // With the right to create Events, --event works too, and so does all that the actor does.
    let all = case(cluster, "actor-with-events");
    all.hold("held", &[HOLD]);
    assert_eq!(missed(&json(&all, &["scan"])), [""; 0]);
    let file = all.place.path().join("all.snapshot").display().to_string();
    reading(&all, &["snapshot", &file]).run().success();
    let watch = ["watch", "cm/held", "-n", all.ns.name(), "--timeout=3s"];
    assert_eq!(reading(&all, &watch).run().code, 4);
    all.run(&["nudge", "cm/held", "--plan"]).run().success();
    let rescue = ["rescue", "pv/kept", "--only-retain", "--plan"];
    all.run(&rescue).run().success();
    let out = all.confirm(&[
        "remove",
        "cm/held",
        "--finalizer",
        HOLD,
        "--accept=data-loss",
        "--event",
    ]);
    let out = out.run();
    assert_eq!(out.code, 0, "{out}");
    let events = cluster.get(["events", "-n", all.ns.name()]).unwrap();
    assert_eq!(events["items"][0]["reason"], "FinalizerRemoved", "{events:#}");
}

#[test]
fn each_verb_works_with_the_roles_for_it_and_says_what_it_misses_with_less() {
    let cluster = Cluster::start();
    cluster.apply(WIDGETS);
    wait("the type is served", SOON, || {
        cluster.kubectl(["get", "widgets.rbac.example.com", "-A"]).code == 0
    });

    without_secrets(&cluster);
    let reader = as_reader(&cluster);

    // The actor changes what it is told to, and leaves no Event.
    let actor = case(&cluster, "actor");
    actor.hold("held", &[HOLD]);
    actor.run(&["nudge", "cm/held", "--plan"]).run().success();
    refused(
        &actor,
        actor.remove(&["--plan", "--event"]),
        "cannot create resource \"events\"",
    );
    let out = actor.confirmed();
    assert_eq!(out.code, 0, "{out}");
    assert_eq!(actor.get(), None);
    cluster.apply(
        r#"{"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "kept"}, "spec": {"capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"], "persistentVolumeReclaimPolicy": "Delete",
        "csi": {"driver": "none.example.test", "volumeHandle": "a"}}}"#,
    );
    // The plan holds for one version of the volume, and its controller writes the phase.
    wait("the controller has seen the volume", SOON, || {
        cluster.get(["pv", "kept"]).unwrap()["status"]["phase"] == "Available"
    });
    let rescue = ["rescue", "pv/kept", "--only-retain"];
    let out = actor.confirm(&rescue).run();
    assert_eq!(out.code, 0, "{out}");
    let volume = cluster.get(["pv", "kept"]).unwrap();
    assert_eq!(volume["spec"]["persistentVolumeReclaimPolicy"], "Retain");
    makes_again(&actor);

    let name = cluster.unique("own");
    cluster.apply(&format!(
        r#"{{"apiVersion": "v1", "kind": "Namespace", "metadata": {{"name": "{name}"}}, "spec": {{"finalizers": ["{HOLD}"]}}}}"#
    ));
    delete(&cluster, &format!("ns/{name}"), "");
    wait("only the own entry is left", SOON, || {
        cluster.get(["ns", &name]).unwrap()["spec"]["finalizers"] == serde_json::json!([HOLD])
    });
    actor.deleted_earlier(&format!("namespaces/{name}"));
    let finalize = ["finalize", &name, "--finalizer", HOLD, "--accept=data-loss"];
    refused(&reader, reader.run(&finalize), "you may not update");
    let out = actor.confirm(&finalize).run();
    assert_eq!(out.code, 0, "{out}");
    assert!(cluster.get(["ns", &name]).is_none());

    with_events(&cluster);
}
