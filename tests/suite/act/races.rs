//! Changes by others between the confirmation and the write. After each, at most the one confirmed string is
//! removed from the one confirmed object, and the receipt is true.

use super::{
    Case, HOLD, OTHER,
    gate::{Fate, Gate},
};
use crate::{
    explain::told::{delete, goes, release},
    harness::{Cluster, Output, RunningPlugin, Signal},
};

/// A confirmed plan whose request waits at the gate.
struct Race<'a> {
    case: Case<'a>,
    gate: Gate,
    run: RunningPlugin,
}

impl<'a> Race<'a> {
    fn begin(case: Case<'a>) -> Self {
        let gate = Gate::before(case.cluster, Fate::Held);
        let digest = case.digest();
        let run = case.remove(&["--confirm", &digest, gate.flag()]).spawn();
        gate.arrived(1);
        Race { case, gate, run }
    }

    fn held(name: &str, finalizers: &[&str]) -> Self {
        Race::begin(Case::held(Cluster::shared(), name, finalizers))
    }

    /// Lets the request through.
    fn end(self) -> (Case<'a>, Output) {
        self.gate.open();
        (self.case, self.run.finish())
    }
}

#[test]
fn an_object_that_changed_but_still_fits_the_plan_is_written() {
    let race = Race::held("race-changed", &[OTHER, HOLD]);
    let annotate = ["annotate", "configmap", "held", "changed=yes"];
    race.case.ns.kubectl(annotate).success();
    let (case, out) = race.end();
    assert_eq!(out.code, 0, "{out}");
    assert_eq!(case.finalizers().unwrap(), [OTHER]);
    // The first request fails for its resource version; the second has the new one.
    assert_eq!(case.noted(), ["sending", "sending", "done"]);
    let codes: Vec<_> = case
        .writes()
        .iter()
        .map(|one| one.event["responseStatus"]["code"].as_u64().unwrap())
        .collect();
    assert_eq!(codes, [422, 200]);
}

#[test]
fn an_object_that_disappears_meanwhile_is_reported_gone() {
    let race = Race::held("race-gone", &[HOLD]);
    release(race.case.cluster, "configmap/held", race.case.ns.name());
    goes(race.case.cluster, "configmap/held", race.case.ns.name());
    let (case, out) = race.end();
    assert_eq!(out.code, 0, "{out}");
    super::says(&out, "Deleted before this run changed anything.");
    assert_eq!(case.noted(), ["sending", "done-by-others"]);
}

#[test]
fn another_object_with_the_same_name_keeps_its_finalizer() {
    for dying in [false, true] {
        let race = Race::held("race-new", &[HOLD]);
        release(race.case.cluster, "configmap/held", race.case.ns.name());
        goes(race.case.cluster, "configmap/held", race.case.ns.name());
        race.case.make("held", &[HOLD]);
        if dying {
            delete(race.case.cluster, "configmap/held", race.case.ns.name());
        }
        let (case, out) = race.end();
        assert_eq!(out.code, 3, "{out}");
        super::says(&out, "A new object has its name");
        assert_eq!(case.finalizers().unwrap(), [HOLD]);
        assert_eq!(case.noted(), ["sending", "refused"]);
    }
}

#[test]
fn a_finalizer_that_another_user_removed_is_not_claimed() {
    let race = Race::held("race-out", &[OTHER, HOLD]);
    let patch = r#"[{"op": "remove", "path": "/metadata/finalizers/1"}]"#;
    let words = ["patch", "configmap", "held", "--type=json", "-p", patch];
    race.case.ns.kubectl(words).success();
    let (case, out) = race.end();
    assert_eq!(out.code, 0, "{out}");
    assert_eq!(case.finalizers().unwrap(), [OTHER]);
    assert_eq!(case.noted(), ["sending", "done-by-others"]);
}

#[test]
fn the_remaining_finalizers_are_part_of_the_confirmation() {
    let race = Race::held("race-other", &[OTHER, HOLD]);
    // The server itself prevents that a finalizer is added to an object in deletion.
    let add = r#"[{"op": "add", "path": "/metadata/finalizers/-", "value": "example.com/third"}]"#;
    let words = ["patch", "configmap", "held", "--type=json", "-p", add];
    let refused = race.case.ns.kubectl(words);
    assert!(
        refused.stderr.contains("no new finalizers can be added"),
        "{refused}"
    );
    // Without the other finalizer the object would be deleted, which was not confirmed.
    let take = r#"[{"op": "remove", "path": "/metadata/finalizers/0"}]"#;
    let words = ["patch", "configmap", "held", "--type=json", "-p", take];
    race.case.ns.kubectl(words).success();
    let (case, out) = race.end();
    assert_eq!(out.code, 3, "{out}");
    super::says(&out, "no longer as it was confirmed");
    assert_eq!(case.finalizers().unwrap(), [HOLD]);
    assert_eq!(case.noted(), ["sending", "refused"]);
}

#[test]
fn a_right_that_is_withdrawn_meanwhile_is_reported() {
    let cluster = Cluster::shared();
    let mut case = Case::held(cluster, "race-rights", &[HOLD]);
    let user = cluster
        .user("withdrawn")
        .may("get,list", "*")
        .may("patch", "configmaps")
        .create();
    user.name().clone_into(&mut case.user);
    case.is_master = false;
    let race = Race::begin(case);
    let binding = format!("{}-1", user.name());
    cluster
        .kubectl(["delete", "clusterrolebinding", &binding])
        .success();
    crate::harness::wait("the right is gone", crate::explain::told::SOON, || {
        let may = ["auth", "can-i", "patch", "configmaps", "--all-namespaces"];
        user.kubectl(may).code != 0
    });
    let (case, out) = race.end();
    assert_eq!(out.code, 1, "{out}");
    super::says(&out, "The server refused it");
    assert_eq!(case.finalizers().unwrap(), [HOLD]);
    assert_eq!(case.noted(), ["sending", "failed"]);
}

#[test]
fn two_runs_at_once_remove_one_string() {
    let case = Case::held(Cluster::shared(), "race-two", &[OTHER, HOLD]);
    let gate = Gate::before(case.cluster, Fate::Held);
    let digest = case.digest();
    let run = || case.remove(&["--confirm", &digest, gate.flag()]).spawn();
    let both = [run(), run()];
    gate.arrived(2);
    gate.open();
    for run in both {
        let out = run.finish();
        assert_eq!(out.code, 0, "{out}");
    }
    assert_eq!(case.finalizers().unwrap(), [OTHER]);
    let mut noted = case.noted();
    noted.sort();
    assert_eq!(noted, ["done", "done-by-others", "sending", "sending"]);
}

#[test]
fn ctrl_c_does_not_hide_a_request_that_was_sent() {
    let race = Race::held("race-int", &[HOLD]);
    race.run.signal(Signal::INT);
    std::thread::sleep(std::time::Duration::from_millis(300));
    let (case, out) = race.end();
    assert_ne!(out.code, 130, "{out}");
    assert_eq!(case.get(), None);
    let last = case.noted().pop().unwrap();
    assert!(["done", "unknown"].contains(&&*last), "{last}");
}

#[test]
fn changes_while_the_question_waits_are_checked() {
    // An update without effect on the plan.
    let case = Case::held(Cluster::shared(), "asked-changed", &[HOLD]);
    let session = case.remove(&[]).at_terminal();
    session.asked();
    case.ns
        .kubectl(["annotate", "configmap", "held", "changed=yes"])
        .success();
    session.types("data-loss\n");
    let out = session.finish();
    assert_eq!(out.code, 0, "{out}");
    assert_eq!(case.get(), None);

    // Another object takes its place, which nobody confirmed.
    let case = Case::held(Cluster::shared(), "asked-new", &[HOLD]);
    let session = case.remove(&[]).at_terminal();
    session.asked();
    release(case.cluster, "configmap/held", case.ns.name());
    goes(case.cluster, "configmap/held", case.ns.name());
    case.hold("held", &[HOLD]);
    session.types("data-loss\n");
    let out = session.finish();
    assert_eq!(out.code, 3, "{out}");
    assert_eq!(case.finalizers().unwrap(), [HOLD]);
}
