//! A rescue that is killed between two steps, and controllers that restart while the volume is away.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::{Before, Case, Cluster, Disk, Fate, Gate, SOON, delete, goes, outcome, says, wait};
use crate::harness::{Component, RunningPlugin};

/// `rescue pv/NAME --resume RECEIPTS`.
pub(super) fn resume(disk: &Disk<'_>) -> [String; 4] {
    let receipts = disk.case.place.path().join("receipts.jsonl");
    [
        "rescue".into(),
        disk.pv(),
        "--resume".into(),
        receipts.display().to_string(),
    ]
}

/// `rescue pv/NAME --restore-policy`.
pub(super) fn begin(disk: &Disk<'_>) -> [String; 3] {
    ["rescue".into(), disk.pv(), "--restore-policy".into()]
}

/// A rescue that waits behind a gate, about to send a request.
pub(super) type Held = (Gate, RunningPlugin);

/// Interrupts a rescue. Once all programs run again, it lets the Pods of the claim end. Returns whether the rescue carried
/// out everything.
pub(super) type Interruption = fn(Held, &dyn Fn(), &Disk<'_>) -> bool;

/// Lets requests through until this state is reached, and the next request waits at the gate. A request for a volume that
/// the provisioner changed meanwhile is refused, so their number differs.
fn held_when(gate: &Gate, reached: impl Fn() -> bool) {
    for arrived in 1..10 {
        gate.arrived(arrived);
        if reached() {
            return;
        }
        gate.open_once();
    }
    panic!("that state is never reached");
}

/// Starts a rescue behind a gate, and holds it when it is about to send the first request in this state.
fn held_rescue(words: &[String], reached: &dyn Fn() -> bool, disk: &Disk<'_>) -> Held {
    let gate = Gate::before(disk.case.cluster, Fate::Held);
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    words.push(gate.flag());
    let run = disk.case.confirm(&words).spawn();
    held_when(&gate, reached);
    (gate, run)
}

/// Kills the rescue.
pub(super) fn killed((_gate, run): Held, _: &dyn Fn(), _: &Disk<'_>) -> bool {
    run.signal(Signal::KILL);
    let out = run.finish();
    assert_ne!(out.code, 0, "{out}");
    false
}

/// Kills the API server. The server comes back, and the rescue ends as it can.
pub(super) fn cut_off((gate, run): Held, end_pods: &dyn Fn(), disk: &Disk<'_>) -> bool {
    let cluster = disk.case.cluster;
    cluster.api_server().kill();
    gate.open();
    // Long enough for a refused connection.
    std::thread::sleep(Duration::from_secs(3));
    cluster.api_server().start();
    // They end where they could not renew their Leases in time.
    cluster.controller_manager().replace();
    disk.driver.sidecars().for_each(Component::replace);
    end_pods();
    let out = run.finish();
    says(
        &out,
        if out.code == 0 {
            "is made again"
        } else {
            "--resume"
        },
    );
    out.code == 0
}

/// Kills kube-controller-manager, and lets the rescue go on without it. It comes back while the rescue waits for the claim.
pub(super) fn uncontrolled((gate, run): Held, end_pods: &dyn Fn(), disk: &Disk<'_>) -> bool {
    let manager = disk.case.cluster.controller_manager();
    manager.kill();
    gate.open();
    // Long enough for every step that needs no controller.
    std::thread::sleep(Duration::from_secs(2));
    manager.start();
    end_pods();
    let out = run.finish();
    assert_eq!(out.code, 0, "{out}");
    true
}

/// Kills provisioner and attacher, and lets the rescue go on without them.
pub(super) fn unserved((gate, run): Held, end_pods: &dyn Fn(), disk: &Disk<'_>) -> bool {
    disk.driver.sidecars().for_each(Component::kill);
    gate.open();
    // Long enough for every step.
    std::thread::sleep(Duration::from_secs(2));
    disk.driver.sidecars().for_each(Component::start);
    end_pods();
    let out = run.finish();
    assert_eq!(out.code, 0, "{out}");
    true
}

#[test]
#[ignore = "restarts programs for minutes: scripts/long rescue"]
fn a_rescue_goes_on_after_kube_controller_manager_was_killed_before_any_step() {
    let cluster = Cluster::start();
    let disk = Disk::made(&cluster, "uncontrolled");
    goes_on_after("uncontrolled", uncontrolled, &disk);
}

#[test]
#[ignore = "restarts programs for minutes: scripts/long rescue"]
fn a_rescue_goes_on_after_the_api_server_was_killed_before_any_step() {
    let cluster = Cluster::start();
    let disk = Disk::made(&cluster, "cut-off");
    goes_on_after("cut-off", cut_off, &disk);
}

#[test]
#[ignore = "restarts programs for minutes: scripts/long rescue"]
fn a_rescue_that_is_killed_before_any_step_goes_on() {
    let disk = Disk::made(Cluster::shared(), "killed");
    goes_on_after("killed", killed, &disk);
}

/// The states in which a rescue has something to send, in their order.
pub(super) const STATES: [&str; 4] = [
    "before it sets Retain",
    "before it lets the volume go",
    "before it makes the volume again",
    "before it brings the old policy back",
];

fn is_in(state: usize, disk: &Disk<'_>) -> bool {
    match state {
        0 => true,
        1 => disk.policy() == "Retain",
        2 => disk.object().is_none(),
        _ => disk
            .object()
            .is_some_and(|volume| volume["metadata"]["deletionTimestamp"].is_null()),
    }
}

/// Interrupts the rescue of one disk before each step.
fn goes_on_after(how: &str, interrupt: Interruption, disk: &Disk<'_>) {
    for (state, when) in STATES.into_iter().enumerate() {
        survives(&[(state, interrupt)], &format!("{how} {when}"), disk);
    }
}

/// Deletes the volume, interrupts its rescue in each of these states, and carries it out at last.
pub(super) fn survives(interruptions: &[(usize, Interruption)], how: &str, disk: &Disk<'_>) {
    let before = Before::of(disk);
    delete(disk.case.cluster, &disk.pv(), "");
    let mut words = begin(disk).to_vec();
    let is_over = interruptions.iter().any(|(state, interrupt)| {
        let held = held_rescue(&words, &|| is_in(*state, disk), disk);
        let is_over = interrupt(held, &|| (), disk);
        words = resume(disk).to_vec();
        is_over
    });
    if !is_over {
        let outcome = outcome(&disk.case, &resume(disk).each_ref().map(String::as_str));
        assert_eq!(outcome["result"], "rescued", "{how}: {outcome:#}");
    }
    before.is_there_again(disk);
    assert_eq!(disk.policy(), "Delete", "{how}");
    is_protected(disk);
}

/// Waits until the provisioner protects the disk again, as it does with the old policy.
pub(super) fn is_protected(disk: &Disk<'_>) {
    wait("the provisioner protects the disk again", SOON, || {
        let volume = disk.object().expect("the volume exists");
        volume["metadata"]["finalizers"]
            .to_string()
            .contains("external-provisioner")
    });
}

/// Each answer is lost, so what was stored is only seen by reading again.
#[test]
fn a_rescue_whose_answers_are_lost_ends_well() {
    let disk = Disk::made(Cluster::shared(), "answers-lost");
    let before = Before::of(&disk);
    delete(disk.case.cluster, &disk.pv(), "");
    let gate = Gate::before(disk.case.cluster, Fate::LostAfter);
    let words = begin(&disk);
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    words.push(gate.flag());
    let out = disk.case.confirm(&words).run();
    assert_eq!(out.code, 0, "{out}");
    before.is_there_again(&disk);
    assert_eq!(disk.policy(), "Delete");
}

/// Two people go on with the same rescue. The second makes what the first has made already.
#[test]
fn a_volume_that_another_run_has_made_already_is_no_obstacle() {
    let disk = Disk::made(Cluster::shared(), "made-twice");
    let before = Before::of(&disk);
    delete(disk.case.cluster, &disk.pv(), "");
    let (gate, first) = held_rescue(&begin(&disk), &|| disk.object().is_none(), &disk);
    let second = outcome(&disk.case, &resume(&disk).each_ref().map(String::as_str));
    assert_eq!(second["result"], "rescued", "{second:#}");
    let made = disk.object().expect("the volume exists")["metadata"]["uid"].clone();
    gate.open();
    let out = first.finish();
    assert_eq!(out.code, 0, "{out}");
    assert_eq!(disk.object().unwrap()["metadata"]["uid"], made);
    before.is_there_again(&disk);
}

/// The new volume exists, and nobody has bound it yet.
fn is_unbound(disk: &Disk<'_>, before: &Before) -> bool {
    disk.object().is_some_and(|volume| {
        volume["metadata"]["uid"] != before.volume_uid && volume["status"]["phase"] != "Bound"
    })
}

#[test]
#[ignore = "takes minutes: scripts/long slow"]
fn a_rescue_that_is_interrupted_before_the_volume_is_bound_goes_on() {
    let cluster = Cluster::start();
    let disk = Disk::made(&cluster, "unbound");
    for kills_server in [false, true] {
        let before = Before::of(&disk);
        delete(&cluster, &disk.pv(), "");
        let confirmed = disk.case.confirm(&begin(&disk).each_ref().map(String::as_str));
        cluster.controller_manager().kill();
        let run = confirmed.spawn();
        wait("the new volume is not bound yet", SOON, || {
            is_unbound(&disk, &before)
        });
        let is_over = if kills_server {
            cluster.api_server().kill();
            std::thread::sleep(Duration::from_secs(3));
            cluster.api_server().start();
            cluster.controller_manager().start();
            disk.driver.sidecars().for_each(Component::replace);
            run.finish().code == 0
        } else {
            run.signal(Signal::KILL);
            assert_ne!(run.finish().code, 0);
            cluster.controller_manager().start();
            false
        };
        if !is_over {
            let outcome = outcome(&disk.case, &resume(&disk).each_ref().map(String::as_str));
            assert_eq!(outcome["result"], "rescued", "{outcome:#}");
        }
        before.is_there_again(&disk);
        is_protected(&disk);
    }
}

/// Longer than the rescue waits for a controller.
#[test]
#[ignore = "takes minutes: scripts/long slow"]
fn a_controller_manager_that_is_away_for_long_leaves_a_rescue_to_go_on_with() {
    let cluster = Cluster::start();
    let disk = Disk::made(&cluster, "away");
    let before = Before::of(&disk);
    delete(&cluster, &disk.pv(), "");
    let confirmed = disk.case.confirm(&begin(&disk).each_ref().map(String::as_str));
    cluster.controller_manager().kill();
    let out = confirmed.within(Duration::from_secs(150)).run();
    assert_eq!(out.code, 1, "{out}");
    for text in [
        "UNFINISHED",
        "Waited 60s until volume and claim are Bound.",
        "The volume exists again.",
        "--resume",
    ] {
        says(&out, text);
    }
    assert!(is_unbound(&disk, &before));
    disk.survives();
    cluster.controller_manager().start();
    let outcome = outcome(&disk.case, &resume(&disk).each_ref().map(String::as_str));
    assert_eq!(outcome["result"], "rescued", "{outcome:#}");
    before.is_there_again(&disk);
}

/// The volume is gone, and nobody knows whether its policy was Retain before that: no new volume for a disk that is gone.
#[test]
fn a_volume_that_went_with_its_disk_is_not_made_again() {
    let disk = Disk::made(Cluster::shared(), "too-late-again");
    delete(disk.case.cluster, &disk.pv(), "");
    let held = held_rescue(&begin(&disk), &|| true, &disk);
    killed(held, &|| (), &disk);
    delete(disk.case.cluster, "pvc/data", disk.case.ns.name());
    goes(disk.case.cluster, &disk.pv(), "");
    let out = disk.case.run(&resume(&disk).each_ref().map(String::as_str)).run();
    assert_eq!(out.code, 3, "{out}");
    says(&out, "so its disk may be deleted");
    assert!(disk.object().is_none());
}

#[test]
fn a_claim_that_goes_while_its_volume_is_away_leaves_the_disk() {
    let disk = Disk::made(Cluster::shared(), "claim-away");
    let case = &disk.case;
    delete(case.cluster, &disk.pv(), "");
    let held = held_rescue(&begin(&disk), &|| disk.object().is_none(), &disk);
    killed(held, &|| (), &disk);
    delete(case.cluster, "pvc/data", case.ns.name());
    goes(case.cluster, "pvc/data", case.ns.name());
    let outcome = outcome(&disk.case, &resume(&disk).each_ref().map(String::as_str));
    assert!(
        outcome["differences"]
            .to_string()
            .contains("the claim is gone; the volume keeps the disk"),
        "{outcome:#}"
    );
    disk.is_released();
    assert_eq!(disk.policy(), "Retain");
    disk.survives();
}

/// A disk that is attached to a node, for the Pod `user`. Returns the attachment, too.
pub(super) fn attached<'a>(cluster: &'a Cluster, name: &str) -> (Disk<'a>, Value) {
    let driver_name = format!("{name}.example.test");
    let driver = cluster.csi_driver(&driver_name).with_attacher().start();
    let disk = Disk::of(cluster, name, driver);
    let (volume, node) = (&disk.volume, cluster.node());
    cluster.apply(&format!(
        "{{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {{name: {node}}}, spec: {{drivers: [{{name: \
         {driver_name}, nodeID: n1}}]}}}}"
    ));
    // As its kubelet does: kube-controller-manager attaches what its pods use.
    let managed = "volumes.kubernetes.io/controller-managed-attach-detach=true";
    cluster.kubectl(["annotate", "node", &node, managed]).success();
    super::pod(&disk.case, &node);
    let is_attached = || attachment(&disk).is_some_and(|attachment| attachment["status"]["attached"] == true);
    wait("the volume is attached", SOON, is_attached);
    // As its kubelet does, too. A kube-controller-manager that starts while the claim is Lost detaches what no node uses.
    let in_use = json!({"volumesInUse": [format!("kubernetes.io/csi/{driver_name}^{volume}")]});
    cluster.patch_status(["node", &node], &in_use);
    let attachment = attachment(&disk).expect("it is attached");
    (disk, attachment)
}

fn attachment(disk: &Disk<'_>) -> Option<Value> {
    let all = disk.case.cluster.get(["volumeattachments"])?;
    let mut all = all["items"].as_array()?.iter();
    let found = all.find(|one| one["spec"]["source"]["persistentVolumeName"] == *disk.volume);
    found.cloned()
}

/// The volume is attached, and all controllers restart while it is away.
#[test]
#[ignore = "takes minutes: scripts/long slow"]
fn an_attached_volume_survives_restarts_while_it_is_away() {
    let cluster = Cluster::start();
    let (disk, attached) = attached(&cluster, "attached");
    let case: &Case<'_> = &disk.case;
    let before = Before::of(&disk);
    delete(&cluster, &disk.pv(), "");

    let gate = Gate::before(&cluster, Fate::Held);
    let pv = disk.pv();
    let run = case.confirm(&["rescue", &pv, gate.flag()]).spawn();
    held_when(&gate, || disk.object().is_none());
    let claim = || case.ns.get(["pvc", "data"]).expect("the claim exists");
    wait("the claim is Lost", SOON, || claim()["status"]["phase"] == "Lost");
    for component in [
        cluster.controller_manager(),
        disk.driver.provisioner(),
        disk.driver.attacher(),
    ] {
        component.kill();
        component.start();
    }
    gate.open();
    let out = run.finish();
    assert_eq!(out.code, 0, "{out}");
    before.is_there_again(&disk);
    let now = disk.object().expect("the volume exists");
    assert!(
        now["metadata"]["finalizers"]
            .to_string()
            .contains("external-attacher/attached-example-test"),
        "{now:#}"
    );
    let still = attachment(&disk).expect("it is attached");
    assert_eq!(still["metadata"]["uid"], attached["metadata"]["uid"]);
    assert_eq!(still["status"]["attached"], true, "{still:#}");
    let calls = disk.driver.calls();
    assert!(
        calls.iter().all(|call| !call.starts_with("ControllerUnpublish")),
        "{calls:?}"
    );
}
