//! The response to the write is lost. The plugin reads the object again and reports what is known.

use super::{
    Case, HOLD, OTHER,
    gate::{Fate, Gate},
};
use crate::harness::{Cluster, Output};

fn removed_through_gate(case: &Case<'_>, fate: Fate) -> Output {
    let gate = Gate::before(case.cluster, fate);
    let digest = case.digest();
    case.remove(&["--confirm", &digest, gate.flag()]).run()
}

#[test]
fn a_write_whose_response_was_lost_is_found_by_reading_again() {
    let case = Case::held(Cluster::shared(), "lost-after", &[HOLD]);
    let out = removed_through_gate(&case, Fate::LostAfter);
    assert_eq!(out.code, 0, "{out}");
    super::says(&out, "was lost");
    assert_eq!(case.get(), None);
    assert_eq!(case.noted(), ["sending", "done-answer-lost"]);
    assert_eq!(case.writes().len(), 1, "it is not sent again");

    let case = Case::held(Cluster::shared(), "lost-held", &[OTHER, HOLD]);
    let out = removed_through_gate(&case, Fate::LostAfter);
    assert_eq!(out.code, 0, "{out}");
    assert_eq!(case.finalizers().unwrap(), [OTHER]);
    assert_eq!(case.noted(), ["sending", "done-answer-lost"]);
}

#[test]
fn a_write_that_the_server_never_got_is_found_by_reading_again() {
    let case = Case::held(Cluster::shared(), "lost-before", &[HOLD]);
    let out = removed_through_gate(&case, Fate::LostBefore);
    assert_eq!(out.code, 1, "{out}");
    super::says(&out, "unknown");
    assert_eq!(case.finalizers().unwrap(), [HOLD]);
    assert_eq!(case.noted(), ["sending", "unknown"]);
    assert!(case.writes().is_empty());
}

#[test]
#[ignore = "takes minutes: scripts/long slow"]
fn a_server_that_dies_with_the_request_or_before_it() {
    let cluster = Cluster::start();
    let case = Case::held(&cluster, "killed-before", &[HOLD]);
    let gate = Gate::before(&cluster, Fate::Held);
    let digest = case.digest();
    let run = case.remove(&["--confirm", &digest, gate.flag()]).spawn();
    gate.arrived(1);
    cluster.api_server().kill();
    gate.open();
    std::thread::sleep(std::time::Duration::from_secs(1));
    cluster.api_server().start();
    let out = run.finish();
    assert_eq!(out.code, 1, "{out}");
    super::says(&out, "was lost");
    assert_eq!(case.finalizers().unwrap(), [HOLD]);
    assert_eq!(case.noted(), ["sending", "unknown"]);

    // While etcd is paused, the server has the request and can neither store it nor respond in time.
    let case = Case::held(&cluster, "paused", &[HOLD]);
    let gate = Gate::before(&cluster, Fate::Held);
    let digest = case.digest();
    let run = case
        .remove(&["--confirm", &digest, gate.flag(), "--request-timeout=2s"])
        .spawn();
    gate.arrived(1);
    cluster.etcd().pause();
    gate.open();
    std::thread::sleep(std::time::Duration::from_secs(4));
    cluster.etcd().resume();
    let out = run.finish();
    super::says(&out, "was lost");
    says_what_happened(&case, &out);

    // The server is killed while it has the request.
    let case = Case::held(&cluster, "killed-during", &[HOLD]);
    let gate = Gate::before(&cluster, Fate::Held);
    let digest = case.digest();
    let run = case.remove(&["--confirm", &digest, gate.flag()]).spawn();
    gate.arrived(1);
    cluster.etcd().pause();
    gate.open();
    std::thread::sleep(std::time::Duration::from_millis(500));
    cluster.api_server().kill();
    cluster.etcd().resume();
    cluster.api_server().start();
    let out = run.finish();
    says_what_happened(&case, &out);
}

/// Asserts that the report is what happened.
#[track_caller]
fn says_what_happened(case: &Case, out: &Output) {
    let last = case.noted().pop().unwrap();
    match case.finalizers() {
        None => assert_eq!((out.code, &*last), (0, "done-answer-lost"), "{out}"),
        Some(left) => {
            assert_eq!(left, [HOLD]);
            assert_eq!((out.code, &*last), (1, "unknown"), "{out}");
        }
    }
}
