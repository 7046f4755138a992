//! `scan` says why each object is stuck, and which root causes they share.

use std::sync::LazyLock;

use serde_json::{Value, json as value};

use crate::{
    explain::told::SOON,
    harness::{Cluster, Output, wait},
    stuck,
};

/// The cluster of the examples: a claim in use with its volume, a Pod on a dead node, a namespace that waits
/// for a custom resource, and an API group that does not respond.
static STUCK: LazyLock<Cluster> = LazyLock::new(stuck::settled);

fn json(out: &Output) -> Value {
    serde_json::from_str(&out.stdout).unwrap_or_else(|error| panic!("{error}: {out}"))
}

fn row<'a>(report: &'a Value, name: &str) -> &'a Value {
    let rows = report["terminating"].as_array().unwrap();
    rows.iter().find(|row| row["name"] == name).unwrap()
}

fn cause<'a>(report: &'a Value, name: &str) -> &'a Value {
    let causes = report["rootCauses"].as_array().unwrap();
    let found = causes.iter().find(|cause| cause["object"]["name"] == name);
    found.unwrap_or_else(|| panic!("no cause {name} in {report:#}"))
}

fn names(objects: &Value) -> Vec<&str> {
    let mut names: Vec<_> = objects
        .as_array()
        .unwrap()
        .iter()
        .map(|object| object["name"].as_str().unwrap())
        .collect();
    names.sort_unstable();
    names
}

#[test]
fn objects_are_grouped_under_their_root_cause() {
    let out = STUCK.plugin(["scan", "--terminating"]).run();
    assert_eq!(out.code, 0, "{out}");
    let lines: Vec<_> = out.stdout.lines().collect();
    let heading = lines
        .iter()
        .position(|line| {
            line.contains(" IN USE    No fault: pod/db-0 -n db uses pvc/data-0: Running on node-7.")
        })
        .unwrap_or_else(|| panic!("{out}"));
    let below = &lines[heading + 1..];
    let objects: Vec<_> = below.iter().take_while(|line| !line.is_empty()).collect();
    for said in [
        "     pvc/data-0 -n db",
        "     pv/pvc-6791fdd4",
        "   kubectl finalizers explain pvc/data-0 -n db",
    ] {
        assert!(objects.iter().any(|line| line.starts_with(said)), "{said}: {out}");
    }
    assert!(
        out.stdout.starts_with("5 objects stuck, 4 causes, worst first."),
        "{out}"
    );
    assert!(out.stdout.contains("Start with cause 1."), "{out}");

    let report = json(&STUCK.plugin(["scan", "-o", "json"]).run());
    assert_eq!(row(&report, "data-0")["verdict"], "in-use");
    assert_eq!(row(&report, "pvc-6791fdd4")["verdict"], "in-use");
    assert_eq!(row(&report, "web-1")["verdict"], "waiting");
    let states: Vec<_> = report["rootCauses"]
        .as_array()
        .unwrap()
        .iter()
        .map(|cause| &cause["state"])
        .collect();
    assert!(states.contains(&&value!("down")), "{report:#}");
    assert_eq!(states.last(), Some(&&value!("in-use")), "{report:#}");
    assert_eq!(cause(&report, "node-3")["state"], "not-ready");
    let next = row(&report, "web-1")["next"]["argv"].as_array().unwrap();
    assert_eq!(next[..4], ["kubectl", "finalizers", "explain", "pod/web-1"]);
    let pod = cause(&report, "db-0");
    assert_eq!(
        (pod["frees"].as_u64(), names(&pod["objects"])),
        (Some(2), vec!["data-0", "pvc-6791fdd4"])
    );
    assert_eq!(names(&cause(&report, "node-3")["objects"]), ["web-1"]);
    // The namespace has two causes, and the removal of one is not enough.
    assert_eq!(names(&cause(&report, "api-cert")["objects"]), ["api-cert", "pay"]);
    assert_eq!(cause(&report, "api-cert")["frees"], 1);
    let causes = report["rootCauses"].as_array().unwrap();
    let dead: Vec<_> = causes
        .iter()
        .filter(|cause| cause["says"].as_str().unwrap().contains("metrics.k8s.io/v1beta1"))
        .collect();
    assert_eq!(dead.len(), 1, "{report:#}");
    assert_eq!(names(&dead[0]["objects"]), ["pay"]);
}

#[test]
fn filters_and_output_formats_work_with_causes() {
    let scan = |words: &[&str]| {
        let out = STUCK.plugin([&["scan"], words].concat().iter().copied()).run();
        assert_eq!(out.code, 0, "{out}");
        out.stdout
    };
    let in_db = scan(&["-n", "db", "--terminating"]);
    assert!(
        in_db.contains("1. IN USE    No fault: pod/db-0 -n db uses pvc/data-0"),
        "{in_db}"
    );
    assert_eq!(
        scan(&["-n", "db", "-o", "name"]),
        "persistentvolumeclaims/data-0\n"
    );
    let wide = scan(&["pv", "-o", "wide", "--terminating"]);
    assert!(
        wide.contains("No fault: pod/db-0 -n db") && wide.contains("used by pvc/data-0 -n db"),
        "{wide}"
    );
    let bare = scan(&["pv,pvc", "--no-headers", "--terminating"]);
    assert_eq!(bare.lines().count(), 2, "{bare}");
    assert!(scan(&["pv", "-o", "yaml"]).contains("rootCauses:"));
    // The content of a namespace is listed even if the scan did not include it.
    let namespaces: Value = serde_json::from_str(&scan(&["namespaces", "-o", "json"])).unwrap();
    assert_eq!(names(&cause(&namespaces, "api-cert")["objects"]), ["pay"]);
}

#[test]
fn without_rights_the_causes_are_weaker_and_say_so_once() {
    let user = STUCK
        .user("lists-claims-and-volumes")
        .may("get,list", "persistentvolumeclaims,persistentvolumes,namespaces")
        .create();
    let out = STUCK
        .plugin(["scan", "pvc,pv", "-o", "json"])
        .as_user(&user)
        .run();
    let report = json(&out);
    assert_eq!(row(&report, "data-0")["verdict"], "unknown", "{out}");
    // The claim is known to exist, and the volume waits for it.
    assert_eq!(row(&report, "pvc-6791fdd4")["verdict"], "waiting", "{out}");
    // All requested types were listed; only the causes are incomplete.
    assert_eq!(report["complete"], true, "{out}");
    let gaps = report["weakerFor"].as_array().unwrap();
    let pods: Vec<_> = gaps.iter().filter(|gap| gap["name"] == "pods").collect();
    assert_eq!(pods.len(), 1, "{out}");
    assert!(
        report["rootCauses"]
            .as_array()
            .unwrap()
            .iter()
            .all(|cause| cause["object"]["kind"] != "Pod")
    );
    let table = STUCK.plugin(["scan", "pvc,pv"]).as_user(&user).run();
    let said = table
        .stdout
        .matches("Not seen, which could change the answers above")
        .count();
    assert!(said >= 1 && table.stdout.contains("pods"), "{table}");
}

#[test]
fn many_objects_cost_few_requests_and_none_if_nothing_is_in_deletion() {
    let cluster = Cluster::start();
    let requests = |words: &[&str], agent: &str| {
        let user = cluster.user(agent).may("get,list", "*").create();
        let out = cluster.plugin(words.iter().copied()).as_user(&user).run();
        assert_eq!(out.code, 0, "{out}");
        let asked = cluster.asked(&format!("\"username\":\"{}\"", user.name()));
        let asked: Vec<_> = asked
            .iter()
            .map(|one| one.event["requestURI"].to_string())
            .collect();
        (asked, out)
    };
    let (none, _) = requests(&["scan", "services"], "nothing-is-going");
    let ns = cluster.namespace("crowd");
    let crowd = |from: usize, to: usize| {
        let manifest: Vec<_> = (from..to)
            .map(|at| {
                format!(
                    "{{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {{name: c{at}, finalizers: [example.com/held]}}, \
                     spec: {{accessModes: [ReadWriteOnce], storageClassName: none, resources: {{requests: {{storage: 1Gi}}}}}}}}"
                )
            })
            .collect();
        ns.apply(&manifest.join("\n---\n"));
        ns.kubectl(["delete", "pvc", "--all", "--wait=false"]).success();
        // An object with another finalizer needs a search of its own.
        wait("only the finalizers without a controller are left", SOON, || {
            let claims = ns.get(["pvc"]).unwrap();
            let mut claims = claims["items"].as_array().unwrap().iter();
            claims.all(|claim| claim["metadata"]["finalizers"] == value!(["example.com/held"]))
        });
    };
    let look = |agent: &str| requests(&["scan", "pvc", "-n", ns.name(), "-o", "json"], agent);
    crowd(0, 40);
    let (some, out) = look("a-crowd-is-going");
    let report = json(&out);
    assert_eq!(report["notLookedAt"], 0, "{out}");
    assert_eq!(names(&report["terminating"]).len(), 40);
    assert!(row(&report, "c7")["verdict"].is_string(), "{out}");
    // One list of the claims, one of the Pods and one of the Events, instead of a request for each object. The
    // controller of their common finalizer is searched once: rights, Leases, and workloads with these rights.
    assert!(some.len() <= none.len() + 14, "{some:#?}\nwithout: {none:#?}");
    crowd(40, 120);
    let (more, out) = look("a-larger-crowd-is-going");
    assert_eq!(names(&json(&out)["terminating"]).len(), 120);
    // Three times as many objects cost no more requests.
    assert_eq!(more.len(), some.len(), "{more:#?}\nbefore: {some:#?}");
}
