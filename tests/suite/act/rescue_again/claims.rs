//! `rescue pvc/NAME`: the claim is there again, on the same volume and disk, once its Pods have ended.

use rustix::process::Signal;
use serde_json::{Value, json};

use super::{
    Case, Cluster, Disk, Fate, Gate, SOON, delete,
    interrupted::{self, Held, Interruption},
    says, wait,
};

/// A claim in deletion that a Pod on a node uses.
fn deleted<'a>(cluster: &'a Cluster, name: &str) -> Disk<'a> {
    let disk = Disk::made(cluster, name);
    super::pod(&disk.case, &cluster.node());
    delete(cluster, "pvc/data", disk.case.ns.name());
    disk
}

fn uid(disk: &Disk<'_>) -> Option<Value> {
    let claim = disk.case.ns.get(["pvc", "data"])?;
    Some(claim["metadata"]["uid"].clone())
}

fn stop_pod(case: &Case<'_>) {
    delete(case.cluster, "pod/user", case.ns.name());
}

/// Waits until nobody deletes the disk any more.
fn is_kept(disk: &Disk<'_>) {
    wait("the policy is Retain", SOON, || disk.policy() == "Retain");
}

/// Asserts that the claim is a new one, Bound to the old volume, and that the disk survives.
#[track_caller]
fn is_there_again(disk: &Disk<'_>, old: Option<&Value>) {
    let claim = disk.case.ns.get(["pvc", "data"]).expect("the claim exists");
    assert_ne!(Some(&claim["metadata"]["uid"]), old, "{claim:#}");
    assert!(claim["metadata"]["deletionTimestamp"].is_null(), "{claim:#}");
    assert_eq!(claim["spec"]["volumeName"], disk.volume, "{claim:#}");
    let volume = disk.object().expect("the volume exists");
    for object in [&claim, &volume] {
        assert_eq!(object["status"]["phase"], "Bound", "{object:#}");
    }
    assert_eq!(
        volume["spec"]["claimRef"]["uid"], claim["metadata"]["uid"],
        "{volume:#}"
    );
    disk.survives();
}

#[test]
fn a_claim_that_was_deleted_is_there_again_once_its_pod_has_ended() {
    let disk = deleted(Cluster::shared(), "claim-again");
    let case = &disk.case;
    let (claim, volume) = (uid(&disk), disk.object().unwrap()["metadata"]["uid"].clone());
    let plan = case.run(&["rescue", "pvc/data", "--plan"]).run();
    says(&plan, "its claim, for the same disk and the same volume");
    says(&plan, "pod/user");
    says(
        &plan,
        "Nothing here removes kubernetes.io/pvc-protection from it, or stops a pod.",
    );
    let run = case.confirm(&["rescue", "pvc/data"]).spawn();
    is_kept(&disk);
    stop_pod(case);
    let out = run.finish();
    assert_eq!(out.code, 0, "{out}");
    says(&out, "The claim is made again, for the same volume and disk.");
    assert!(!out.stdout.contains("differs"), "{out}");
    is_there_again(&disk, claim.as_ref());
    assert_eq!(disk.object().unwrap()["metadata"]["uid"], volume);
    assert_eq!(disk.policy(), "Retain");
    let mut noted = case.noted();
    noted.dedup();
    assert_eq!(noted, ["sending", "waiting", "sending", "done"]);
}

/// Starts a rescue behind a gate, and lets requests through until this state is reached. The Pod ends once the disk is
/// kept.
fn held_rescue(disk: &Disk<'_>, reached: &dyn Fn() -> bool) -> Held {
    let gate = Gate::before(disk.case.cluster, Fate::Held);
    let words = ["rescue", "pvc/data", "--restore-policy", gate.flag()];
    let run = disk.case.confirm(&words).spawn();
    for arrived in 1..10 {
        gate.arrived(arrived);
        if reached() {
            return (gate, run);
        }
        gate.open_once();
        is_kept(disk);
        end_pod(&disk.case);
    }
    panic!("that state is never reached");
}

fn end_pod(case: &Case<'_>) {
    if case.ns.get(["pod", "user"]).is_some() {
        stop_pod(case);
    }
}

/// Interrupts the rescue of one claim before each step.
fn goes_on_after(how: &str, interrupt: Interruption, disk: &Disk<'_>) {
    let case = &disk.case;
    let receipts = case.place.path().join("receipts.jsonl").display().to_string();
    let first = uid(disk);
    let is_new = || uid(disk).is_some_and(|now| Some(now) != first);
    let states: [(&str, &dyn Fn() -> bool); 4] = [
        ("before it sets Retain", &|| true),
        ("before it makes the claim", &|| uid(disk).is_none()),
        ("before the volume names the claim", &|| {
            is_new() && disk.object().unwrap()["spec"]["claimRef"]["uid"] != uid(disk).unwrap()
        }),
        ("before it brings the old policy back", &|| {
            is_new() && case.ns.get(["pvc", "data"]).unwrap()["status"]["phase"] == "Bound"
        }),
    ];
    // Without Retain the disk would go with the claim.
    let end_pod_if_kept = || {
        if disk.policy() == "Retain" {
            end_pod(case);
        }
    };
    for (when, reached) in states {
        let old = uid(disk);
        let is_over = interrupt(held_rescue(disk, reached), &end_pod_if_kept, disk);
        if !is_over {
            let run = case
                .confirm(&["rescue", &disk.pv(), "--resume", &receipts])
                .spawn();
            if case.ns.get(["pod", "user"]).is_some() {
                is_kept(disk);
                stop_pod(case);
            }
            let out = run.finish();
            assert_eq!(out.code, 0, "{how} {when}: {out}");
        }
        is_there_again(disk, old.as_ref());
        assert_eq!(disk.policy(), "Delete", "{how} {when}");
        super::pod(case, &case.cluster.node());
        delete(case.cluster, "pvc/data", case.ns.name());
    }
    let retain = r#"{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}"#;
    case.cluster
        .kubectl(["patch", &disk.pv(), "-p", retain])
        .success();
    stop_pod(case);
}

#[test]
fn a_rescue_of_a_claim_that_is_killed_before_any_step_goes_on() {
    let disk = deleted(Cluster::shared(), "claim-killed");
    goes_on_after("killed", interrupted::killed, &disk);
}

#[test]
fn a_rescue_of_a_claim_goes_on_after_the_api_server_was_killed_before_any_step() {
    let cluster = Cluster::start();
    let disk = deleted(&cluster, "claim-cut-off");
    goes_on_after("cut off", interrupted::cut_off, &disk);
}

#[test]
fn a_rescue_of_a_claim_goes_on_after_kube_controller_manager_was_killed_before_any_step() {
    let cluster = Cluster::start();
    let disk = deleted(&cluster, "claim-uncontrolled");
    goes_on_after("uncontrolled", interrupted::uncontrolled, &disk);
}

/// What a StatefulSet does as soon as the claim of its Pod is gone.
#[test]
fn a_claim_that_somebody_else_made_first_gets_the_volume() {
    let cluster = Cluster::shared();
    let disk = deleted(cluster, "claim-of-set");
    let old = uid(&disk);
    // It would make a disk for the claim.
    disk.driver.provisioner().stop();
    let (gate, run) = held_rescue(&disk, &|| uid(&disk).is_none());
    disk.case.ns.apply(&format!(
        "{{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {{name: data}}, spec: {{storageClassName: {}, \
         accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Mi}}}}}}}}",
        "claim-of-set.example.test"
    ));
    gate.open();
    let out = run.finish();
    assert_eq!(out.code, 0, "{out}");
    is_there_again(&disk, old.as_ref());
}

/// The quota counts the old claim until it is gone.
#[test]
fn a_full_quota_does_not_stop_it() {
    let cluster = Cluster::shared();
    let disk = deleted(cluster, "claim-quota");
    let case = &disk.case;
    case.ns.apply(
        "{apiVersion: v1, kind: ResourceQuota, metadata: {name: one}, spec: {hard: {persistentvolumeclaims: '1'}}}",
    );
    wait("the quota counts the claim", SOON, || {
        case.ns.get(["quota", "one"]).unwrap()["status"]["used"]["persistentvolumeclaims"] == "1"
    });
    let old = uid(&disk);
    let run = case.confirm(&["rescue", "pvc/data"]).spawn();
    is_kept(&disk);
    stop_pod(case);
    let out = run.finish();
    assert_eq!(out.code, 0, "{out}");
    is_there_again(&disk, old.as_ref());
}

#[test]
fn ctrl_c_while_it_waits_for_pods_names_the_way_to_go_on() {
    let disk = deleted(Cluster::shared(), "claim-stopped");
    let run = disk.case.confirm(&["rescue", "pvc/data"]).spawn();
    is_kept(&disk);
    wait("it waits", SOON, || {
        disk.case.noted().contains(&"waiting".to_owned())
    });
    run.signal(Signal::INT);
    let out = run.finish();
    assert_eq!(out.code, 130, "{out}");
    says(&out, "while waiting until no pod uses the claim, and it is gone");
    says(&out, "--resume");
    disk.survives();
}

#[test]
fn a_claim_that_its_owner_may_delete_again_is_refused() {
    let disk = deleted(Cluster::shared(), "claim-owned");
    let uid = uid(&disk).unwrap();
    let owner = json!([{"op": "add", "path": "/metadata/ownerReferences", "value": [
        {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "uid": uid}]}]);
    disk.case
        .ns
        .kubectl(["patch", "pvc/data", "--type=json", "-p", &owner.to_string()])
        .success();
    let out = disk.case.run(&["rescue", "pvc/data"]).run();
    assert_eq!(out.code, 3, "{out}");
    says(&out, "StatefulSet db, may delete it again");
    says(&out, "--only-retain");
    assert!(disk.case.writes().is_empty());
}
