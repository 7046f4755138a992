//! `rescue pvc/NAME`: the claim is there again, on the same volume and disk, once its Pods have ended.

use rustix::process::Signal;
use serde_json::{Value, json};

use super::{
    Case, Cluster, Disk, Fate, Gate, SOON, delete, goes,
    interrupted::{self, Held, Interruption},
    says, wait,
};
use crate::act::guards::refused;

/// A claim in deletion that a Pod on a node uses.
pub(super) fn deleted<'a>(cluster: &'a Cluster, name: &str) -> Disk<'a> {
    let disk = Disk::made(cluster, name);
    super::pod(&disk.case, &cluster.node());
    delete(cluster, "pvc/data", disk.case.ns.name());
    disk
}

pub(super) fn uid(disk: &Disk<'_>) -> Option<Value> {
    let claim = disk.case.ns.get(["pvc", "data"])?;
    Some(claim["metadata"]["uid"].clone())
}

pub(super) fn stop_pod(case: &Case<'_>) {
    delete(case.cluster, "pod/user", case.ns.name());
}

/// Waits until nobody deletes the disk any more.
pub(super) fn is_kept(disk: &Disk<'_>) {
    wait("the policy is Retain", SOON, || disk.policy() == "Retain");
}

/// Asserts that the claim is a new one, Bound to the old volume, and that the disk survives.
#[track_caller]
pub(super) fn is_there_again(disk: &Disk<'_>, old: Option<&Value>) {
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
fn held_rescue(words: &[&str], reached: &dyn Fn() -> bool, disk: &Disk<'_>) -> Held {
    let gate = Gate::before(disk.case.cluster, Fate::Held);
    let run = disk.case.confirm(&[words, &[gate.flag()]].concat()).spawn();
    end_pod_if_kept(disk);
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

/// Without Retain the disk would go with the claim.
fn end_pod_if_kept(disk: &Disk<'_>) {
    if disk.policy() == "Retain" {
        end_pod(&disk.case);
    }
}

/// The states in which a rescue has something to send, in their order.
pub(super) const STATES: [&str; 4] = [
    "before it sets Retain",
    "before it makes the claim",
    "before the volume names the claim",
    "before it brings the old policy back",
];

/// Whether the rescue of the claim with this uid is in this state.
fn is_in(state: usize, old: Option<&Value>, disk: &Disk<'_>) -> bool {
    let new = || uid(disk).filter(|now| Some(now) != old);
    let named = || disk.object().expect("the volume exists")["spec"]["claimRef"]["uid"].clone();
    match state {
        0 => true,
        1 => uid(disk).is_none(),
        2 => new().is_some_and(|uid| named() != uid),
        _ => new().is_some_and(|uid| named() == uid),
    }
}

/// Interrupts the rescue of a claim in deletion in each of these states, and carries it out at last.
pub(super) fn survives(interruptions: &[(usize, Interruption)], how: &str, disk: &Disk<'_>) {
    let case = &disk.case;
    let old = uid(disk);
    let resume = interrupted::resume(disk);
    let resume = resume.each_ref().map(String::as_str);
    let mut words = vec!["rescue", "pvc/data", "--restore-policy"];
    let is_over = interruptions.iter().any(|(state, interrupt)| {
        let held = held_rescue(&words, &|| is_in(*state, old.as_ref(), disk), disk);
        words = resume.to_vec();
        interrupt(held, &|| end_pod_if_kept(disk), disk)
    });
    if !is_over {
        let run = case.confirm(&resume).spawn();
        if case.ns.get(["pod", "user"]).is_some() {
            is_kept(disk);
            stop_pod(case);
        }
        let out = run.finish();
        assert_eq!(out.code, 0, "{how}: {out}");
    }
    is_there_again(disk, old.as_ref());
    assert_eq!(disk.policy(), "Delete", "{how}");
}

/// Interrupts the rescue of one claim before each step.
fn goes_on_after(how: &str, interrupt: Interruption, disk: &Disk<'_>) {
    let case = &disk.case;
    for (state, when) in STATES.into_iter().enumerate() {
        survives(&[(state, interrupt)], &format!("{how} {when}"), disk);
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
#[ignore = "restarts programs for minutes: scripts/long rescue"]
fn a_rescue_of_a_claim_that_is_killed_before_any_step_goes_on() {
    let disk = deleted(Cluster::shared(), "claim-killed");
    goes_on_after("killed", interrupted::killed, &disk);
}

#[test]
#[ignore = "restarts programs for minutes: scripts/long rescue"]
fn a_rescue_of_a_claim_goes_on_after_the_api_server_was_killed_before_any_step() {
    let cluster = Cluster::start();
    let disk = deleted(&cluster, "claim-cut-off");
    goes_on_after("cut off", interrupted::cut_off, &disk);
}

#[test]
#[ignore = "restarts programs for minutes: scripts/long rescue"]
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
    let words = ["rescue", "pvc/data", "--restore-policy"];
    let (gate, run) = held_rescue(&words, &|| uid(&disk).is_none(), &disk);
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

/// A quota of the namespace, once it counts the claim.
fn quota(disk: &Disk<'_>, hard: &Value) {
    let ns = &disk.case.ns;
    ns.apply(
        &json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "one"}, "spec": {"hard": hard}})
            .to_string(),
    );
    let is_counted = |status: &Value| {
        let used = status["used"].as_object();
        status["hard"] == *hard && used.is_some_and(|used| used.values().all(|amount| amount != "0"))
    };
    wait("the quota counts the claim", SOON, || {
        is_counted(&ns.get(["quota", "one"]).expect("the quota exists")["status"])
    });
}

/// The quota counts the old claim until it is gone.
#[test]
fn a_full_quota_does_not_stop_it() {
    let cluster = Cluster::shared();
    for (name, hard) in [
        ("claim-quota", json!({"persistentvolumeclaims": "1"})),
        (
            "claim-class-quota",
            json!({
                "claim-class-quota.example.test.storageclass.storage.k8s.io/requests.storage": "1Mi",
                "claim-class-quota.example.test.storageclass.storage.k8s.io/persistentvolumeclaims": "1",
            }),
        ),
    ] {
        let disk = deleted(cluster, name);
        quota(&disk, &hard);
        let old = uid(&disk);
        let run = disk.case.confirm(&["rescue", "pvc/data"]).spawn();
        is_kept(&disk);
        stop_pod(&disk.case);
        let out = run.finish();
        assert_eq!(out.code, 0, "{out}");
        is_there_again(&disk, old.as_ref());
    }
}

/// The claim was made when the quota was larger. A new one would never be accepted.
#[test]
fn a_quota_that_was_lowered_stops_it_before_anything_is_sent() {
    let disk = deleted(Cluster::shared(), "claim-small-quota");
    let of_class = "claim-small-quota.example.test.storageclass.storage.k8s.io/requests.storage";
    for hard in [
        json!({of_class: "512Ki"}),
        json!({"requests.storage": "512Ki"}),
        json!({"persistentvolumeclaims": "0"}),
    ] {
        quota(&disk, &hard);
        let out = refused(
            &disk.case,
            disk.case.run(&["rescue", "pvc/data"]),
            "exceeded quota: one",
        );
        says(&out, "the quota that it names has room");
    }
    assert_eq!(disk.policy(), "Delete");
}

/// When the Pod of a claim ends: before, during or after the plan of the run that goes on.
#[derive(PartialEq)]
enum Ends {
    Before,
    During,
    After,
}

#[test]
#[ignore = "takes minutes: scripts/long slow"]
fn a_rescue_that_is_killed_while_it_waits_for_pods_goes_on() {
    let cluster = Cluster::shared();
    for (name, end) in [
        ("claim-waits", Ends::After),
        ("claim-went", Ends::Before),
        ("claim-goes", Ends::During),
    ] {
        let disk = deleted(cluster, name);
        let case = &disk.case;
        let old = uid(&disk);
        let waits = |noted: usize| {
            wait("it waits", SOON, || {
                case.noted()[noted..].contains(&"waiting".to_owned())
            });
        };
        let ends = || {
            stop_pod(case);
            goes(cluster, "pvc/data", case.ns.name());
            disk.is_released();
        };
        let run = case.confirm(&["rescue", "pvc/data", "--restore-policy"]).spawn();
        waits(0);
        run.signal(Signal::KILL);
        assert_ne!(run.finish().code, 0);
        if end == Ends::Before {
            ends();
        }
        let resume = interrupted::resume(&disk);
        let resume = resume.each_ref().map(String::as_str);
        if end == Ends::During {
            let gate = Gate::before(cluster, Fate::TrialHeld);
            let words = [&resume, &["--plan", gate.flag()][..]].concat();
            let plan = case.run(&words).spawn();
            gate.arrived(1);
            ends();
            gate.open();
            let out = plan.finish();
            assert_eq!(out.code, 0, "{out}");
            says(&out, "The claim is gone");
        }
        let noted = case.noted().len();
        let run = case.confirm(&resume).spawn();
        if end == Ends::After {
            waits(noted);
            stop_pod(case);
        }
        let out = run.finish();
        assert_eq!(out.code, 0, "{out}");
        is_there_again(&disk, old.as_ref());
        assert_eq!(disk.policy(), "Delete");
    }
}

/// The server carries out the request for Retain, and then the claim goes at once. The run was killed before it read that.
#[test]
fn a_claim_that_goes_before_retain_was_read_back_is_made_again() {
    let disk = deleted(Cluster::shared(), "claim-unread");
    let case = &disk.case;
    let old = uid(&disk);
    let gate = Gate::before(case.cluster, Fate::Held);
    let run = case.confirm(&["rescue", "pvc/data", gate.flag()]).spawn();
    gate.arrived(1);
    run.signal(Signal::KILL);
    assert_ne!(run.finish().code, 0);
    // What its request would have stored.
    let retain = r#"{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}"#;
    let by_it = [
        "patch",
        &disk.pv(),
        "--field-manager=kubectl-finalizers",
        "-p",
        retain,
    ];
    case.cluster.kubectl(by_it).success();
    stop_pod(case);
    goes(case.cluster, "pvc/data", case.ns.name());
    disk.is_released();
    assert_eq!(case.noted(), ["sending"]);
    let resume = interrupted::resume(&disk);
    let out = case.confirm(&resume.each_ref().map(String::as_str)).run();
    assert_eq!(out.code, 0, "{out}");
    is_there_again(&disk, old.as_ref());
    assert_eq!(disk.policy(), "Retain");
}

/// Each answer is lost, so what was stored is only seen by reading again.
#[test]
fn a_rescue_of_a_claim_whose_answers_are_lost_ends_well() {
    let disk = deleted(Cluster::shared(), "claim-answers");
    let old = uid(&disk);
    let gate = Gate::before(disk.case.cluster, Fate::LostAfter);
    let words = ["rescue", "pvc/data", "--restore-policy", gate.flag()];
    let run = disk.case.confirm(&words).spawn();
    // Before it has read that the policy is Retain, the claim must not go.
    wait("it waits", SOON, || {
        disk.case.noted().contains(&"waiting".to_owned())
    });
    stop_pod(&disk.case);
    let out = run.finish();
    assert_eq!(out.code, 0, "{out}");
    is_there_again(&disk, old.as_ref());
    assert_eq!(disk.policy(), "Delete");
}

#[test]
fn each_right_is_asked_for_before() {
    let cluster = Cluster::shared();
    let mut disk = deleted(cluster, "unrightful-claim");
    for (name, claims, volumes, told) in [
        (
            "no-new-claim",
            "get,list",
            "get,list,patch",
            "you may not create persistentvolumeclaims",
        ),
        (
            "no-patched-volume",
            "get,list,create",
            "get,list",
            "you may not patch persistentvolumes",
        ),
    ] {
        let user = cluster
            .user(name)
            .may(claims, "persistentvolumeclaims")
            .may(volumes, "persistentvolumes")
            .create();
        user.name().clone_into(&mut disk.case.user);
        disk.case.is_master = false;
        refused(&disk.case, disk.case.run(&["rescue", "pvc/data"]), told);
    }
    // Whoever may do all of it, but not list pods and StatefulSets, is told what is not known.
    let user = cluster
        .user("no-pods")
        .may("get,list,create", "persistentvolumeclaims")
        .may("get,list,patch", "persistentvolumes")
        .create();
    user.name().clone_into(&mut disk.case.user);
    let plan = disk.case.run(&["rescue", "pvc/data", "--plan"]).run();
    assert_eq!(plan.code, 0, "{plan}");
    says(&plan, "Which pods use it could not be read");
    says(
        &plan,
        "Whether a StatefulSet deletes the claim again is not known",
    );
    assert_eq!(disk.policy(), "Delete");
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
