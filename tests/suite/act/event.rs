//! `--event` leaves an Event on the object for later readers.

use super::{Case, HOLD, documents, guards::refused};
use crate::{
    explain::told::{SOON, delete},
    harness::{Cluster, wait},
};

#[test]
fn an_event_tells_who_did_what() {
    let cluster = Cluster::shared();
    let case = Case::held(cluster, "event", &[HOLD]);
    let uid = case.get().unwrap()["metadata"]["uid"].clone();
    let digest = case.digest();
    let out = case.remove(&["--confirm", &digest, "--event", "-o=json"]).run();
    assert_eq!(out.code, 0, "{out}");
    let name = documents(&out)[1]["outcomes"][0]["event"].clone();
    let event = case.ns.get(["event", name.as_str().unwrap()]).unwrap();
    assert_eq!(event["reason"], "FinalizerRemoved");
    assert_eq!(event["involvedObject"]["uid"], uid);
    let says = event["message"].as_str().unwrap();
    assert!(
        says.contains(&case.user) && says.contains(HOLD) && says.contains("data-loss"),
        "{says}"
    );
    assert_eq!(case.writes().len(), 2, "{:#?}", case.writes());
}

#[test]
fn an_event_on_a_cluster_scoped_object() {
    let cluster = Cluster::shared();
    let case = Case::empty(cluster, "event-of-volume");
    let name = cluster.unique("held");
    cluster.apply(&format!(
        "{{apiVersion: v1, kind: PersistentVolume, metadata: {{name: {name}, finalizers: [{HOLD}]}}, \
         spec: {{capacity: {{storage: 1Gi}}, accessModes: [ReadWriteOnce], hostPath: {{path: /tmp}}}}}}"
    ));
    delete(cluster, &format!("pv/{name}"), "");
    wait("only the lasting finalizer is left", SOON, || {
        cluster.get(["pv", &name]).unwrap()["metadata"]["finalizers"] == serde_json::json!([HOLD])
    });
    case.deleted_earlier(&format!("persistentvolumes/{name}"));
    let target = format!("pv/{name}");
    let words = [
        "remove",
        &target,
        "--finalizer",
        HOLD,
        "--accept=data-loss",
        "--event",
    ];
    let out = case.confirm(&words).run();
    assert_eq!(out.code, 0, "{out}");
    let field = format!("--field-selector=involvedObject.name={name}");
    let events = cluster.get(["events", "--namespace=default", &field]).unwrap();
    assert_eq!(events["items"][0]["reason"], "FinalizerRemoved", "{events:#}");
}

#[test]
fn an_event_that_cannot_be_created_is_known_before() {
    let cluster = Cluster::shared();
    // Without the right to create Events.
    let case = Case::held(cluster, "no-event", &[HOLD]);
    let user = cluster
        .user("no-events")
        .may("get,list", "*")
        .may("patch", "configmaps")
        .create();
    let place = |name: &str| case.place.path().join(name).display().to_string();
    let words = [
        "remove".to_owned(),
        "configmap/held".into(),
        format!("--namespace={}", case.ns.name()),
        format!("--finalizer={HOLD}"),
        "--accept=data-loss".into(),
        format!("--backup-dir={}", place("backups")),
        format!("--audit-file={}", place("receipts.jsonl")),
        "--plan".into(),
        "--event".into(),
    ];
    let out = refused(&case, cluster.plugin(words).as_user(&user), "Leave out --event.");
    super::says(&out, "cannot create resource \"events\"");

    // No object can be created in a namespace in deletion.
    let case = Case::held(cluster, "going-event", &[HOLD]);
    delete(cluster, &format!("ns/{}", case.ns.name()), "");
    refused(
        &case,
        case.remove(&["--plan", "--event"]),
        "because it is being terminated",
    );
    crate::explain::told::release(cluster, "configmap/held", case.ns.name());
}
