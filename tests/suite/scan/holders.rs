//! `scan --by holder`: the controllers of the finalizers in use, what each holds, and whether it runs.

mod drivers;

use std::{collections::BTreeMap, sync::LazyLock};

use serde_json::{Value, json as value};
use tempfile::TempDir;

use super::{document, json, terminal::screen};
use crate::{
    explain::{
        holder::{Operator, WORLD, going, lease},
        replayed::{from, taken, timeless},
    },
    harness::{Cluster, End, Output},
    stuck::custom_type,
};

/// Creates an object with a finalizer, and its type.
struct Held {
    group: &'static str,
    plural: &'static str,
    kind: &'static str,
    finalizer: &'static str,
}

const SECRET: Held = Held {
    group: "external-secrets.io",
    plural: "externalsecrets",
    kind: "ExternalSecret",
    finalizer: "externalsecrets.external-secrets.io/externalsecret-cleanup",
};
const CANARY: Held = Held {
    group: "flagger.app",
    plural: "canaries",
    kind: "Canary",
    finalizer: "finalizer.flagger.app",
};
const KUSTOMIZATION: Held = Held {
    group: "kustomize.toolkit.fluxcd.io",
    plural: "kustomizations",
    kind: "Kustomization",
    finalizer: "finalizers.fluxcd.io",
};
const REALM: Held = Held {
    group: "keycloak.org",
    plural: "keycloakrealms",
    kind: "KeycloakRealm",
    finalizer: "realm.cleanup",
};
const OWN: Held = Held {
    group: "holders.acme-corp.example",
    plural: "sprockets",
    kind: "Sprocket",
    finalizer: "acme-corp.example/sprocket",
};

const CROWD: Held = Held {
    group: "crowd.acme-corp.example",
    plural: "cogs",
    kind: "Cog",
    finalizer: "acme-corp.example/cog",
};

impl Held {
    fn manifest(&self, name: &str) -> Value {
        value!({"apiVersion": format!("{}/v1", self.group), "kind": self.kind,
            "metadata": {"name": name, "namespace": "default", "finalizers": [self.finalizer]}})
    }

    fn make(&self, name: &str) {
        WORLD.apply(&self.manifest(name).to_string());
    }

    fn going(&self, name: &str) {
        going(self.plural, &self.manifest(name), 30);
    }

    fn operator<'a>(&self, namespace: &'a str, name: &'a str, labels: Value) -> Operator<'a> {
        let plural = self.plural;
        Operator {
            cluster: &WORLD,
            namespace,
            name,
            labels,
            group: self.group,
            resources: value!([plural, format!("{plural}/status"), format!("{plural}/finalizers")]),
            verbs: value!(["get", "list", "watch", "update", "patch"]),
        }
    }
}

/// A controller that runs, one that is scaled to zero, one that is gone, one that only seems gone, and one
/// outside the catalogue.
fn world() -> &'static Cluster {
    static WORLD_OF_HOLDERS: LazyLock<&Cluster> = LazyLock::new(|| {
        for held in [SECRET, CANARY, KUSTOMIZATION, REALM, OWN] {
            custom_type(&WORLD, held.group, held.plural, held.kind);
        }
        let name = "external-secrets";
        let labels = value!({"app.kubernetes.io/name": name});
        let runs = SECRET.operator(name, name, labels);
        runs.install();
        runs.runs();
        lease(name, "external-secrets-controller", name, 1);
        SECRET.make("one");
        SECRET.make("two");
        SECRET.going("three");

        let labels = value!({"app.kubernetes.io/name": "flagger"});
        let off = CANARY.operator("flagger-system", "flagger", labels);
        off.install();
        off.runs();
        let none = r#"{"spec":{"replicas":0}}"#;
        let place = "--namespace=flagger-system";
        WORLD
            .kubectl(["patch", "deployment", "flagger", place, "--patch", none])
            .success();
        off.has_ready(0);
        CANARY.make("shop");

        KUSTOMIZATION.going("apps");
        REALM.going("staff");
        // A Deployment of that name that is no such controller.
        WORLD.apply(
            "{apiVersion: apps/v1, kind: Deployment, metadata: {name: keycloak-operator, namespace: default}, spec: {selector: \
             {matchLabels: {app: other}}, template: {metadata: {labels: {app: other}}, spec: {containers: [{name: c, image: \
             i}]}}}}",
        );

        let own = OWN.operator("sprockets", "sprocket-operator", value!({"app": "sprockets"}));
        own.install();
        own.runs();
        OWN.going("one");
        &WORLD
    });
    &WORLD_OF_HOLDERS
}

/// The row with this finalizer on these objects. Other tests can have objects of other types with it.
#[track_caller]
fn holder<'a>(report: &'a Value, held: &Held) -> &'a Value {
    let on = value!(format!("{}.{}", held.plural, held.group));
    row(report, |one| {
        one["name"] == held.finalizer && one["on"].as_array().is_some_and(|types| types.contains(&on))
    })
}

/// The first row with this finalizer.
#[track_caller]
fn first_holder<'a>(report: &'a Value, finalizer: &str) -> &'a Value {
    row(report, |one| one["name"] == finalizer)
}

#[track_caller]
fn row(report: &Value, is_it: impl Fn(&Value) -> bool) -> &Value {
    let has_it = |row: &&Value| {
        row["finalizers"]
            .as_array()
            .expect("finalizers")
            .iter()
            .any(&is_it)
    };
    let rows = report["holders"].as_array().expect("holders");
    rows.iter()
        .find(has_it)
        .unwrap_or_else(|| panic!("nobody has it: {report:#}"))
}

fn text<'a>(row: &'a Value, field: &str) -> &'a str {
    row[field].as_str().expect(field)
}

fn scan(words: &[&str]) -> Output {
    let all = ["scan", "--by", "holder"].iter().chain(words);
    world().plugin(all.copied()).run()
}

#[test]
fn each_holder_has_its_objects_and_its_evidence() {
    let report = document(&scan(&["-o", "json"]).success());
    let runs = holder(&report, &SECRET);
    assert_eq!(
        (&runs["name"], &runs["project"], &runs["state"], &runs["likely"]),
        (
            &value!("external-secrets"),
            &value!("External Secrets Operator"),
            &value!("running"),
            &value!(false)
        ),
    );
    assert_eq!(
        (&runs["objects"], &runs["terminating"], &runs["on"]),
        (
            &value!(3),
            &value!(1),
            &value!(["externalsecrets.external-secrets.io"])
        ),
    );
    assert!(
        text(runs, "says").starts_with("Deployment external-secrets/external-secrets: 1 of 1 ready for "),
        "{runs:#}"
    );
    let sources: Vec<_> = runs["evidence"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| text(one, "source"))
        .collect();
    assert!(
        sources.contains(&"Lease external-secrets/external-secrets-controller spec.renewTime"),
        "{runs:#}"
    );

    let off = holder(&report, &CANARY);
    assert_eq!(
        (text(off, "state"), &off["terminating"]),
        ("scaled-to-zero", &value!(0))
    );
    assert!(
        text(off, "says").starts_with("Deployment flagger-system/flagger: is scaled to 0 replicas"),
        "{off:#}"
    );

    let gone = holder(&report, &KUSTOMIZATION);
    assert_eq!(text(gone, "state"), "gone", "{gone:#}");
    for sign in [
        "none is Deployment kustomize-controller",
        "none is named kustomize-controller",
        "no ServiceAccount may change kustomizations.kustomize.toolkit.fluxcd.io",
    ] {
        assert!(text(gone, "says").contains(sign), "{gone:#}");
    }

    // Its account does not exist, and nothing runs with its rights. A workload of its name might be it, so its names
    // are not absent.
    let unsure = holder(&report, &REALM);
    assert_eq!(text(unsure, "state"), "unknown", "{unsure:#}");
    assert!(
        text(unsure, "says").ends_with("(suggestive only: not two independent signs)"),
        "{unsure:#}"
    );

    let own = holder(&report, &OWN);
    assert_eq!(
        (
            text(own, "name"),
            &own["project"],
            text(own, "state"),
            &own["likely"]
        ),
        (
            "Deployment sprockets/sprocket-operator",
            &Value::Null,
            "running",
            &value!(true)
        ),
    );

    let core = first_holder(&report, "kubernetes");
    assert_eq!(
        (text(core, "name"), text(core, "state")),
        ("kube-controller-manager", "running")
    );
    assert!(
        text(core, "says").starts_with("Lease kube-system/kube-controller-manager spec.renewTime"),
        "{core:#}"
    );
}

#[test]
fn explain_says_the_same_of_each_holder() {
    let report = document(&scan(&["-o", "json"]).success());
    for (held, name, words) in [
        (
            SECRET,
            "three",
            "It runs. Deployment external-secrets/external-secrets: 1 of 1 ready",
        ),
        (KUSTOMIZATION, "apps", "It is gone."),
        (REALM, "staff", "(suggestive only: not two independent signs)"),
        (
            OWN,
            "one",
            "This runs, and is probably it: Deployment sprockets/sprocket-operator: 1 of 1 ready",
        ),
    ] {
        let target = format!("{}.{}/{name}", held.plural, held.group);
        let told = world()
            .plugin(["explain", &target, "-n", "default", "-o", "json"])
            .run()
            .success();
        let told: Value = serde_json::from_str(&told).unwrap();
        let says = text(&told["waitsFor"][0], "says");
        assert!(says.contains(words), "{says}");
        let (row, whole) = (holder(&report, &held), &told["evidence"]);
        let whole = timeless(&whole.to_string());
        for one in row["evidence"].as_array().unwrap() {
            let value = timeless(&one["value"].to_string());
            assert!(whole.contains(&value), "{one} is not in {whole}");
        }
    }
}

#[test]
fn without_rights_a_holder_is_unknown_and_never_gone() {
    let types =
        [SECRET, CANARY, KUSTOMIZATION, REALM, OWN].map(|held| format!("{}.{}", held.plural, held.group));
    let cluster = world();
    let reader = cluster
        .user("looks-at-objects")
        .may("get,list", &format!("{},namespaces", types.join(",")))
        .create();
    let words = ["scan", "namespaces", "--by", "holder", "-o", "json"];
    let types = types.join(",");
    let mut words: Vec<_> = words.to_vec();
    words.insert(2, &types);
    let report = json(cluster.plugin(words.iter().copied()).as_user(&reader));
    for finalizer in [SECRET, CANARY, KUSTOMIZATION, REALM, OWN]
        .map(|held| held.finalizer)
        .iter()
        .chain(&["kubernetes"])
    {
        let row = first_holder(&report, finalizer);
        assert_eq!(text(row, "state"), "unknown", "{row:#}");
        assert!(text(row, "says").contains("could not be read"), "{row:#}");
    }
    let gaps: Vec<_> = report["weakerFor"]
        .as_array()
        .unwrap()
        .iter()
        .map(|gap| text(gap, "name"))
        .collect();
    for missing in [
        "deployments.apps",
        "leases.coordination.k8s.io",
        "serviceaccounts",
    ] {
        assert!(gaps.contains(&missing), "{gaps:?}");
    }
    words.truncate(5);
    let table = cluster.plugin(words).as_user(&reader).run().success();
    assert!(
        table.contains("Not seen, which could change the answers above"),
        "{table}"
    );
}

#[test]
fn a_snapshot_gives_the_same_result() {
    let folder = TempDir::new().unwrap();
    let file = taken(world(), &folder, "", "");
    let words = || {
        ["scan", "--by", "holder", "-o", "json"]
            .map(str::to_owned)
            .to_vec()
    };
    let saved = document(&from(&file, words()));
    let live = document(&scan(&["-o", "json"]).success());
    for finalizer in [SECRET, CANARY, KUSTOMIZATION, REALM, OWN]
        .map(|held| held.finalizer)
        .iter()
        .chain(&["kubernetes"])
    {
        let [mut saved, mut live] = [&saved, &live].map(|report| first_holder(report, finalizer).clone());
        if *finalizer == "kubernetes" {
            // Other tests create and delete namespaces and claims meanwhile.
            for row in [&mut saved, &mut live] {
                for field in ["objects", "terminating", "on", "finalizers", "evidence"] {
                    row[field].take();
                }
            }
        }
        assert_eq!(timeless(&saved.to_string()), timeless(&live.to_string()));
    }
}

#[test]
fn stuck_and_other_filters_select_holders() {
    let held = scan(&["--terminating", "-o", "json"]).success();
    let report = document(&held);
    assert!(!held.contains(CANARY.finalizer), "{held}");
    holder(&report, &KUSTOMIZATION);
    assert!(report["leftBehind"].is_null() && report["rootCauses"] == value!([]));

    let one = document(&scan(&["--finalizer", "*flagger*", "-o", "json"]).success());
    assert_eq!(one["holders"].as_array().unwrap().len(), 1, "{one:#}");
    let none = scan(&["--finalizer", "nobody.example/*"]).success();
    assert!(
        none.starts_with("Nothing that matches has a finalizer."),
        "{none}"
    );
}

#[test]
fn holders_fit_a_narrow_terminal_and_a_pipe() {
    let pipe = scan(&[]).success();
    let rows: Vec<_> = pipe.lines().collect();
    assert!(rows[0].starts_with("CONTROLLERS ("), "{pipe}");
    let row = rows
        .iter()
        .find(|row| row.trim_start().starts_with("flagger "))
        .expect("a row");
    assert!(row.contains("scaled to zero"), "{row}");
    // The controller is only probably this one. Its state was seen.
    let probable = rows.iter().find(|row| row.contains("sprocket-operator"));
    let probable = probable.expect("a row");
    assert!(
        probable.contains("sprocket-operator (probably)") && probable.contains(" running "),
        "{probable}"
    );
    // A pipe has 100 columns, too few for the last one.
    let wide = scan(&["-o", "wide"]).success();
    assert!(
        wide.contains("canaries.flagger.app") && wide.contains("External Secrets Operator"),
        "{wide}"
    );
    let bare = scan(&["--no-headers"]).success();
    assert!(
        !bare.contains("CONTROLLERS") && !bare.contains("what shows it"),
        "{bare}"
    );

    let narrow = world()
        .plugin(["scan", "--by", "holder", "--finalizer", "*flagger*"])
        .stdout_to(End::Terminal(60))
        .run()
        .success();
    let lines = screen(&narrow);
    assert!(lines.iter().all(|line| line.chars().count() <= 60), "{narrow}");
    let text = lines.join(" ");
    assert!(
        text.contains("scaled to zero") && text.contains("flagger-system/flagger"),
        "{narrow}"
    );
}

#[test]
fn the_number_of_requests_does_not_grow_with_the_objects() {
    let cluster = world();
    custom_type(cluster, CROWD.group, CROWD.plural, CROWD.kind);
    let requests = |user: &str, made: std::ops::Range<usize>| {
        let items: Vec<_> = made.map(|at| CROWD.manifest(&format!("cog-{at}"))).collect();
        cluster.apply(&value!({"apiVersion": "v1", "kind": "List", "items": items}).to_string());
        let reader = cluster.user(user).may("get,list", "*").create();
        let before = cluster.asked(user).len();
        let plugin = cluster.plugin(["scan", "cogs", "--by", "holder", "-o", "json"]);
        let report = json(plugin.as_user(&reader));
        (
            holder(&report, &CROWD)["objects"].as_u64(),
            cluster.asked(user).len() - before,
        )
    };
    let (few, asked_of_few) = requests("asks-of-few", 0..1);
    let (many, asked_of_many) = requests("asks-of-many", 1..60);
    assert_eq!((few, many), (Some(1), Some(60)));
    assert_eq!(asked_of_few, asked_of_many);
}

/// Each driver has its own sidecar, which says nothing about another driver's.
#[test]
fn the_sidecar_of_one_driver_says_nothing_about_others() {
    let volume = |name: &str, mut spec: Value| {
        spec["capacity"] = value!({"storage": "1Mi"});
        spec["accessModes"] = value!(["ReadWriteOnce"]);
        let finalizers = ["external-provisioner.volume.kubernetes.io/finalizer"];
        world().apply(
            &value!({"apiVersion": "v1", "kind": "PersistentVolume", "spec": spec,
                "metadata": {"name": name, "finalizers": finalizers}})
            .to_string(),
        );
    };
    let of = |driver: &str| value!({"csi": {"driver": driver, "volumeHandle": driver}});
    volume("holders-a", of("a.holders.example"));
    volume("holders-b", of("b.holders.example"));
    volume("holders-c", value!({"hostPath": {"path": "/tmp"}}));
    lease("default", "a-holders-example", "a", 1);
    let words = [
        "scan",
        "pv",
        "--by",
        "holder",
        "--finalizer",
        "external-provisioner*",
        "-o",
        "json",
    ];
    let report = json(world().plugin(words));
    let rows: BTreeMap<_, _> = report["holders"]
        .as_array()
        .expect("holders")
        .iter()
        .map(|row| (text(row, "name"), row))
        .collect();
    let names: Vec<_> = rows.keys().copied().collect();
    assert_eq!(
        names,
        [
            "csi-provisioner of a.holders.example",
            "csi-provisioner of b.holders.example",
            "csi-provisioner of each CSI driver"
        ],
        "{report:#}"
    );
    let [a, b, c] = [rows[names[0]], rows[names[1]], rows[names[2]]];
    assert_eq!(
        (text(a, "state"), &a["likely"]),
        ("running", &value!(false)),
        "{a:#}"
    );
    // A cluster without Nodes does not prove a driver gone.
    assert_eq!(text(b, "state"), "unknown", "{b:#}");
    assert!(
        text(b, "says").ends_with("does not exist (suggestive only)"),
        "{b:#}"
    );
    assert_eq!(text(c, "state"), "unknown", "{c:#}");
    assert!(text(c, "says").contains("each CSI driver has its own"), "{c:#}");
}

#[test]
fn flags_that_exclude_each_other_are_refused() {
    for words in [&["-o", "name"][..], &["--all"]] {
        let out = scan(words);
        assert_eq!(out.code, 2, "{out}");
        super::complaint(&out);
    }
    let out = world().plugin(["scan", "--by", "colour"]).run();
    assert_eq!(out.code, 2, "{out}");
    assert!(out.stderr.contains("[possible values: cause, holder]"), "{out}");
}
