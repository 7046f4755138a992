//! `rescue --etcd`: the API server shows the same object, alive, after one transaction that changed nothing else.

mod lost;
mod prefix;
mod printed;
mod random;
mod refused;

use std::{fs, os::unix::fs::PermissionsExt as _, thread, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::{Case, HOLD, OTHER, rescue_again, says};
use crate::{
    act::rescue::Disk,
    explain::told::{SOON, delete, goes},
    harness::{Cluster, Options, Plugin, wait},
    stuck::custom_type,
};

/// The words that name the etcd of the cluster added.
fn words(case: &Case<'_>, target: &str, more: &[&str]) -> Vec<String> {
    let mut all = vec!["rescue".to_owned(), target.to_owned()];
    all.extend(case.cluster.etcd_words());
    all.extend(more.iter().map(|word| (*word).to_owned()));
    all
}

fn run(case: &Case<'_>, target: &str, more: &[&str]) -> Plugin {
    let words = words(case, target, more);
    case.run(&words.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The outcome of a rescue, planned and confirmed.
#[track_caller]
fn outcome(case: &Case<'_>, target: &str) -> Value {
    let words = words(case, target, &[]);
    rescue_again::outcome(case, &words.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The object without its deletion, its version and its history of writers.
fn undeleted(mut object: Value) -> Value {
    let metadata = object["metadata"].as_object_mut().expect("an object");
    for field in [
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "resourceVersion",
    ] {
        metadata.remove(field);
    }
    object
}

#[test]
fn an_object_that_was_deleted_is_the_same_and_alive() {
    let case = Case::held(Cluster::shared(), "unmarked", &[HOLD, OTHER]);
    let key = format!("configmaps/{}/held", case.ns.name());
    let (before, stored) = (case.get().unwrap(), case.cluster.stored(&key).unwrap());

    let shown = run(&case, "configmap/held", &["--plan"]).run();
    assert_eq!(shown.code, 0, "{shown}");
    for text in [
        &*format!("/registry/{key}"),
        "(protobuf)",
        "-metadata.deletionTimestamp: ",
        "-metadata.deletionGracePeriodSeconds: 0",
        // The rest of the metadata is the same before and after.
        "both have name: held",
        "finalizers: example.com/hold, example.com/other",
        "DESTROYED",
        "The garbage collector may ignore it until kube-controller-manager restarts.",
    ] {
        says(&shown, text);
    }
    assert_eq!(case.get().unwrap(), before, "a plan changes nothing");
    let plan = run(&case, "configmap/held", &["--plan", "-o=json"]).run();
    let plan: Value = serde_json::from_str(&plan.success()).unwrap();
    let [old, new] = ["beforeValue", "afterValue"].map(|field| {
        let text = plan["plans"][0]["stored"][field].as_str().expect("a value");
        STANDARD.decode(text).expect("base64")
    });
    assert_eq!(old, stored);

    let outcome = outcome(&case, "configmap/held");
    assert_eq!(outcome["result"], "rescued", "{outcome:#}");
    assert_eq!(outcome["differences"], json!([]), "{outcome:#}");
    let after = case.get().unwrap();
    assert!(after["metadata"]["deletionTimestamp"].is_null(), "{after:#}");
    assert_eq!(undeleted(after), undeleted(before));
    assert_eq!(case.cluster.stored(&key).unwrap(), new, "what the plan showed");
    assert!(case.writes().is_empty(), "{:#?}", case.writes());
    assert_eq!(case.noted(), ["sending", "done"]);

    // The old value is saved for its owner only.
    let copy = outcome["storedBackup"].as_str().expect("a copy of the value");
    assert_eq!(fs::read(copy).unwrap(), stored);
    assert_eq!(fs::metadata(copy).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(case.receipts()[1]["storedBackup"], copy);

    // The old value can be put back.
    let etcdctl = case.cluster.etcdctl_line();
    let put_back = format!("{etcdctl} put /registry/{key} < '{copy}'");
    let done = std::process::Command::new("sh").args(["-c", &put_back]).status();
    assert!(done.expect("sh starts").success(), "{put_back}");
    assert_eq!(case.cluster.stored(&key).unwrap(), stored);
    let words = words(&case, "configmap/held", &[]);
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    assert_eq!(rescue_again::outcome(&case, &words)["result"], "rescued");

    // It lives like any other object, and nothing is left to take back.
    case.ns
        .kubectl(["annotate", "configmap", "held", "alive=yes"])
        .success();
    let out = run(&case, "configmap/held", &[]).run();
    assert_eq!(out.code, 3, "{out}");
    says(&out, "it is not being deleted");
}

#[test]
fn a_custom_resource_is_json_and_stays_as_it_was_written() {
    let cluster = Cluster::shared();
    custom_type(cluster, "unmark.example.test", "relics", "Relic");
    let case = Case::empty(cluster, "unmarked-custom");
    case.ns.apply(
        &json!({"apiVersion": "unmark.example.test/v1", "kind": "Relic",
            "metadata": {"name": "held", "finalizers": [HOLD], "labels": {"size": "1"}, "annotations": {"note": "名\"}],🦀"}},
            "spec": {"deletionTimestamp": "kept", "metadata": [1.50, null]}})
        .to_string(),
    );
    let relic = "relics.unmark.example.test/held";
    delete(cluster, relic, case.ns.name());
    let get = || case.ns.get(["relics.unmark.example.test", "held"]).unwrap();
    let before = get();
    let key = format!("unmark.example.test/relics/{}/held", case.ns.name());
    let stored = String::from_utf8(cluster.stored(&key).unwrap()).expect("JSON");

    let outcome = outcome(&case, relic);
    assert_eq!(outcome["result"], "rescued", "{outcome:#}");
    let after = get();
    assert!(after["metadata"]["deletionTimestamp"].is_null(), "{after:#}");
    assert_eq!(undeleted(after), undeleted(before.clone()));
    let now = String::from_utf8(cluster.stored(&key).unwrap()).expect("JSON");
    let time = before["metadata"]["deletionTimestamp"].as_str().unwrap();
    let expected = stored
        .replacen("\"deletionGracePeriodSeconds\":0,", "", 1)
        .replacen(&format!("\"deletionTimestamp\":\"{time}\","), "", 1);
    assert!(now.contains("\"deletionTimestamp\":\"kept\""), "{now}");
    assert_eq!(now, expected);
    case.ns.kubectl(["label", relic, "alive=yes"]).success();
}

/// With the real provisioner and kube-controller-manager.
#[test]
fn a_volume_and_its_claim_are_alive_again_with_their_uids() {
    let disk = Disk::made(Cluster::shared(), "unmarked-disk");
    let (case, cluster) = (&disk.case, disk.case.cluster);
    let node = cluster.node();
    case.ns.apply(&format!(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: user}}, spec: {{nodeName: {node}, terminationGracePeriodSeconds: 0, \
         containers: [{{name: c, image: example.com/c}}], volumes: [{{name: v, persistentVolumeClaim: {{claimName: data}}}}]}}}}"
    ));
    let claim = || case.ns.get(["pvc", "data"]).expect("the claim exists");
    let uids = || {
        (
            claim()["metadata"]["uid"].clone(),
            disk.object().unwrap()["metadata"]["uid"].clone(),
        )
    };
    let before = uids();
    delete(cluster, &disk.pv(), "");
    delete(cluster, "pvc/data", case.ns.name());
    // The provisioner and the controllers react to the deletions before anything is planned.
    wait("nobody changes volume and claim", SOON, || {
        let before = (claim(), disk.object());
        thread::sleep(Duration::from_secs(1));
        before == (claim(), disk.object())
    });

    for target in [disk.pv(), "pvc/data".into()] {
        let outcome = outcome(case, &target);
        assert_eq!(outcome["result"], "rescued", "{outcome:#}");
    }
    assert_eq!(uids(), before);
    for object in [claim(), disk.object().unwrap()] {
        assert!(object["metadata"]["deletionTimestamp"].is_null(), "{object:#}");
        assert_eq!(object["status"]["phase"], "Bound", "{object:#}");
    }
    // Without its pod the claim would have gone, and the disk with it.
    delete(cluster, "pod/user", case.ns.name());
    goes(cluster, "pod/user", case.ns.name());
    // The controller that would have let the claim go acts on a later one.
    case.ns.apply(
        "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: later}, spec: {storageClassName: none, \
         accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Mi}}}}",
    );
    delete(cluster, "pvc/later", case.ns.name());
    goes(cluster, "pvc/later", case.ns.name());
    assert_eq!(uids(), before);
    assert_eq!(disk.policy(), "Delete");
    disk.survives();
}

/// Each type has its own key, and some have another name there. No controller changes an object after its plan.
#[test]
fn objects_of_every_kind_of_key_are_found() {
    let cluster = Cluster::with(&Options {
        controller_manager: false,
        ..Options::default()
    });
    let case = Case::empty(&cluster, "unmarked-kinds");
    let node = case.cluster.unique("unmarked-node");
    let role = case.cluster.unique("unmarked-role");
    let pods =
        json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "x"}]}});
    for (version, kind, name, spec) in [
        ("v1", "Service", "held", json!({"ports": [{"port": 80}]})),
        ("v1", "Endpoints", "held", json!(null)),
        ("v1", "Node", &*node, json!(null)),
        (
            "v1",
            "ReplicationController",
            "held",
            json!({"replicas": 0, "selector": {"a": "b"}, "template": pods}),
        ),
        (
            "apps/v1",
            "Deployment",
            "held",
            json!({"replicas": 0, "selector": {"matchLabels": {"a": "b"}}, "template": pods}),
        ),
        (
            "networking.k8s.io/v1",
            "Ingress",
            "held",
            json!({"defaultBackend": {"service": {"name": "s", "port": {"number": 80}}}}),
        ),
        (
            "coordination.k8s.io/v1",
            "Lease",
            "held",
            json!({"holderIdentity": "nobody"}),
        ),
        ("rbac.authorization.k8s.io/v1", "ClusterRole", &*role, json!(null)),
    ] {
        let mut object =
            json!({"apiVersion": version, "kind": kind, "metadata": {"name": name, "finalizers": [HOLD]}});
        if !spec.is_null() {
            object["spec"] = spec;
        }
        case.ns.apply(&object.to_string());
        let target = format!("{}/{name}", kind.to_lowercase());
        case.ns.kubectl(["delete", &target, "--wait=false"]).success();
        let get = || {
            case.ns
                .get([kind.to_lowercase().as_str(), name])
                .expect("the object exists")
        };
        assert!(get()["metadata"]["deletionTimestamp"].is_string(), "{target}");
        let outcome = outcome(&case, &target);
        assert_eq!(outcome["result"], "rescued", "{target}: {outcome:#}");
        assert!(get()["metadata"]["deletionTimestamp"].is_null(), "{target}");
        let free = r#"{"metadata": {"finalizers": null}}"#;
        case.ns
            .kubectl(["patch", &target, "--type=merge", "-p", free])
            .success();
        case.ns.kubectl(["delete", &target, "--wait=false"]).success();
    }
}

/// etcd deletes a key with its lease. Otherwise an Event would stay for ever.
#[test]
fn a_key_keeps_its_lease_and_an_event_says_who_did_it() {
    let case = Case::held(Cluster::shared(), "unmarked-lease", &[HOLD]);
    let key = format!("configmaps/{}/held", case.ns.name());
    let lease = case.cluster.leased(&key, 3_600);
    let words = words(&case, "configmap/held", &["--event"]);
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    let outcome = rescue_again::outcome(&case, &words);
    assert_eq!(outcome["result"], "rescued", "{outcome:#}");
    assert_eq!(case.cluster.lease(&key), lease);
    let event = outcome["event"].as_str().expect("an Event");
    let event = case.ns.get(["event", event]).expect("the Event exists");
    assert_eq!(event["reason"], "DeletionTakenBack", "{event:#}");
}

/// `--storage-media-type=application/json`: the API server stores its own types as JSON, too.
#[test]
#[ignore = "takes minutes: scripts/long slow"]
fn a_cluster_that_stores_json_is_edited_as_json() {
    let cluster = Cluster::with(&Options {
        apiserver_args: &["--storage-media-type=application/json"],
        controller_manager: false,
        ..Options::default()
    });
    let case = Case::held(&cluster, "unmarked-json", &[HOLD]);
    let before = case.get().unwrap();
    let shown = run(&case, "configmap/held", &["--plan"]).run();
    says(&shown, "(JSON)");
    let outcome = outcome(&case, "configmap/held");
    assert_eq!(outcome["result"], "rescued", "{outcome:#}");
    assert_eq!(undeleted(case.get().unwrap()), undeleted(before));
}
