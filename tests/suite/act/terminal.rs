//! A user at a terminal: what is shown, what confirms, and what does not.

use super::{
    Case, HOLD,
    gate::{Fate, Gate},
};
use crate::harness::{Cluster, Session, Signal};

fn at_terminal<'a>(name: &str) -> (Case<'a>, Session) {
    let case = Case::held(Cluster::shared(), name, &[HOLD]);
    let session = case.remove(&[]).at_terminal();
    session.asked();
    (case, session)
}

#[test]
fn the_plan_is_on_the_screen_and_the_name_of_the_cost_confirms() {
    let (case, session) = at_terminal("typed");
    let shown = session.shown();
    for text in [
        "removes",
        HOLD,
        "The ConfigMap is then deleted.",
        "this finalizer is unknown, so it may protect data",
        "digest",
        "Enter to cancel:",
    ] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
    session.types("data-loss\n");
    let out = session.finish();
    assert_eq!(out.code, 0, "{out}");
    assert_eq!(case.get(), None);
    assert_eq!(case.writes().len(), 1);
}

#[test]
fn nothing_else_confirms() {
    for (name, typed) in [
        ("yes", "y\n"),
        ("yes-in-full", "yes\n"),
        ("name", "held\n"),
        ("case", "Data-Loss\n"),
        ("space", " data-loss\n"),
        ("nothing", "\n"),
        ("end", "\u{4}"),
        ("paste", "\u{1b}[200~data-loss\n\u{1b}[201~"),
    ] {
        let (case, session) = at_terminal(&format!("not-{name}"));
        session.types(typed);
        let out = session.finish();
        assert_eq!(out.code, 3, "{typed:?}: {out}");
        assert!(out.stdout.contains("not confirmed"), "{typed:?}: {out}");
        assert_eq!(case.finalizers().unwrap(), [HOLD], "{typed:?}");
        assert!(case.writes().is_empty(), "{typed:?}");
        assert_eq!(case.noted(), ["not-confirmed"], "{typed:?}");
    }
}

#[test]
fn input_typed_before_the_question_is_no_answer() {
    let case = Case::held(Cluster::shared(), "ahead", &[HOLD]);
    let session = case.remove(&[]).at_terminal();
    session.types("data-loss\n");
    session.asked().types("\n");
    let out = session.finish();
    assert_eq!(out.code, 3, "{out}");
    assert_eq!(case.finalizers().unwrap(), [HOLD]);
}

#[test]
fn a_paste_counts_when_enter_is_pressed_after_it() {
    let (case, session) = at_terminal("pasted");
    assert!(session.shown().contains("\u{1b}[?2004h"), "{}", session.shown());
    session.types("\u{1b}[200~data-loss\u{1b}[201~\n");
    let out = session.finish();
    assert_eq!(out.code, 0, "{out}");
    assert_eq!(case.get(), None);
}

#[test]
fn where_no_data_is_lost_the_object_name_confirms() {
    let case = Case::held(Cluster::shared(), "nudged", &[HOLD]);
    let session = case.run(&["nudge", "configmap/held"]).at_terminal();
    session.asked().see("Type held to confirm").types("Held\n");
    let out = session.finish();
    assert_eq!(out.code, 3, "{out}");
    assert!(case.writes().is_empty());
}

#[test]
fn ctrl_c_and_a_closed_window_send_nothing() {
    for (signal, code) in [(Signal::INT, 130), (Signal::HUP, 129)] {
        let (case, session) = at_terminal("ended");
        session.signal(signal);
        let out = session.finish();
        assert_eq!(out.code, code, "{out}");
        assert_eq!(case.finalizers().unwrap(), [HOLD]);
        assert!(case.writes().is_empty());
        let noted = if code == 130 {
            vec!["not-confirmed"]
        } else {
            vec![]
        };
        assert_eq!(case.noted(), noted, "{out}");
    }
}

#[test]
fn ctrl_c_and_a_closed_window_before_the_plan_send_nothing() {
    for (signal, code) in [(Signal::INT, 130), (Signal::HUP, 129), (Signal::TERM, 143)] {
        let case = Case::held(Cluster::shared(), "ended-early", &[HOLD]);
        let gate = Gate::before(case.cluster, Fate::TrialHeld);
        let session = case.remove(&[gate.flag()]).at_terminal();
        gate.arrived(1);
        session.signal(signal);
        let out = session.finish();
        assert_eq!(out.code, code, "{out}");
        assert_eq!(case.finalizers().unwrap(), [HOLD]);
        assert!(case.writes().is_empty());
        assert_eq!(case.noted(), Vec::<String>::new(), "{out}");
    }
}

#[test]
fn a_window_closed_during_the_write_leaves_a_true_receipt() {
    for signal in [Signal::HUP, Signal::TERM, Signal::INT] {
        let case = Case::held(Cluster::shared(), "ended-late", &[HOLD]);
        let gate = Gate::before(case.cluster, Fate::Held);
        let session = case.remove(&[gate.flag()]).at_terminal();
        session.asked().types("data-loss\n");
        gate.arrived(1);
        session.signal(signal);
        std::thread::sleep(std::time::Duration::from_millis(300));
        gate.open();
        let out = session.finish();
        assert_eq!(case.get(), None, "{out}");
        assert_eq!(case.noted(), ["sending", "done"], "{out}");
    }
}
