use jiff::Timestamp;
use proptest::prelude::*;

use super::*;
use crate::object::List;

fn object(name: &str) -> ObjectRef {
    let (type_name, name) = name.split_once('/').unwrap_or(("things", name));
    ObjectRef {
        type_name: type_name.to_owned(),
        name: name.to_owned(),
        ..ObjectRef::default()
    }
}

fn finalizer(name: &str) -> Finalizer {
    Finalizer {
        list: List::Metadata,
        name: name.to_owned(),
    }
}

fn wait(verdict: Verdict, says: &str, on: Vec<Blocker>) -> Wait {
    Wait {
        page: None,
        finalizer: Some(finalizer("a/b")),
        verdict,
        said: says.into(),
        known: None,
        on,
        may_be: BTreeSet::new(),
        unable: None,
        trial: None,
        vetoes: Vec::new(),
    }
}

fn on(name: &str) -> Blocker {
    Blocker::new(Some(object(name)), "is in the way")
}

fn diagnosis(waits: Vec<Wait>) -> Diagnosis {
    Diagnosis {
        target: ObjectRef::default(),
        deletion: None,
        observed_at: Timestamp::UNIX_EPOCH,
        headline: String::new(),
        risk: None,
        fault: None,
        lets_go: Vec::new(),
        waits,
        outlook: Vec::new(),
        effects: Vec::new(),
        steps: Vec::new(),
        steps_for: Vec::new(),
        do_not: Vec::new(),
        evidence: Vec::new(),
        gaps: Vec::new(),
    }
}

/// The root causes of objects with these waits, as `cause (objects, frees)`.
fn roots(objects: &[(&str, Option<Vec<Wait>>)]) -> (Vec<String>, Vec<RootCause>) {
    let held: Vec<_> = objects
        .iter()
        .map(|(name, waits)| (object(name), waits.clone().map(diagnosis)))
        .collect();
    let finalizers = [finalizer("a/b")];
    let waiting: Vec<_> = held
        .iter()
        .map(|(object, diagnosis)| Waiting {
            object,
            finalizers: &finalizers,
            diagnosis: diagnosis.as_ref(),
            content: Vec::new(),
        })
        .collect();
    let found = causes(&waiting);
    let shown = found.iter().map(|cause| {
        let name = cause
            .object
            .as_ref()
            .map_or(cause.says.to_string(), |object| object.name.clone());
        format!("{name} {:?} {}", cause.objects, cause.frees)
    });
    (shown.collect(), found)
}

#[test]
fn a_chain_has_one_root_that_frees_all_of_it() {
    let (shown, found) = roots(&[
        ("pv", Some(vec![wait(Verdict::InUse, "", vec![on("pvc")])])),
        ("pvc", Some(vec![wait(Verdict::InUse, "", vec![on("pod")])])),
    ]);
    assert_eq!(shown, ["pod [0, 1] 2"]);
    assert_eq!(found[0].says, Said::from("is in the way"));
    assert_eq!(found[0].state, CauseState::InUse);
    // The volume waits through the claim, the claim for the pod itself.
    let through: Vec<_> = found[0]
        .through
        .iter()
        .map(|(at, object)| (*at, object.name.as_str()))
        .collect();
    assert_eq!(through, [(0, "pvc")]);
}

#[test]
fn a_wait_whose_turn_has_not_come_is_no_cause() {
    let (shown, _) = roots(&[(
        "pv",
        Some(vec![
            wait(Verdict::InUse, "", vec![on("pvc")]),
            wait(Verdict::Waiting, "acts once it is Released", Vec::new()),
        ]),
    )]);
    assert_eq!(shown, ["pvc [0] 1"]);
}

#[test]
fn an_unremoved_finalizer_is_a_second_cause_and_neither_frees_alone() {
    let (shown, found) = roots(&[(
        "pvc",
        Some(vec![
            wait(Verdict::InUse, "", vec![on("pod")]),
            wait(Verdict::Unknown, "nobody knows", Vec::new()),
        ]),
    )]);
    assert_eq!(shown, ["pod [0] 0", "pvc [0] 0"]);
    let states: Vec<_> = found.iter().map(|cause| (cause.state, cause.is_own)).collect();
    assert_eq!(states, [(CauseState::InUse, false), (CauseState::Unknown, true)]);
}

#[test]
fn objects_held_in_the_same_way_have_one_cause() {
    let held = || {
        Some(vec![wait(
            Verdict::Stalled,
            "the operator has not acted",
            Vec::new(),
        )])
    };
    let (_, found) = roots(&[("a", held()), ("b", held()), ("other/c", held())]);
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].says, Said::from("the operator has not acted"));
    assert_eq!(found[0].finalizer, Some(finalizer("a/b")));
    // It is no object, but the way in which two are held.
    assert_eq!(
        (found[0].objects.as_slice(), &found[0].object),
        ([0, 1].as_slice(), &None)
    );
    assert_eq!((found[0].frees, found[1].objects.as_slice()), (2, [2].as_slice()));
}

#[test]
fn two_unknown_waits_are_one_cause_whatever_their_text() {
    let unknown = |says| Some(vec![wait(Verdict::Unknown, says, Vec::new())]);
    let (_, found) = roots(&[("a", unknown("written 2m ago")), ("b", unknown("written 3m ago"))]);
    assert_eq!(found.len(), 1);
    // The words of one are not those of the other.
    assert_eq!(
        found[0].says,
        Said::from("each waits for something of its own, which explain tells")
    );
    let failing = |says| Some(vec![wait(Verdict::Failing, says, Vec::new())]);
    let (_, found) = roots(&[("a", failing("no route")), ("b", failing("no credentials"))]);
    assert_eq!(found.len(), 2);
}

#[test]
fn the_word_of_the_cause_wins_over_the_verdict_of_those_who_wait() {
    let waits_for = |state: Option<CauseState>| {
        let blocker = Blocker { state, ..on("node") };
        Some(vec![wait(Verdict::Waiting, "", vec![blocker])])
    };
    let (_, found) = roots(&[
        ("a", waits_for(None)),
        ("b", waits_for(Some(CauseState::NotReady))),
    ]);
    assert_eq!(found[0].state, CauseState::NotReady);
    let (_, found) = roots(&[("a", waits_for(None))]);
    assert_eq!(found[0].state, CauseState::Waiting);
}

#[test]
fn an_undiagnosed_object_is_an_unknown_cause() {
    let (shown, found) = roots(&[("a", None)]);
    assert_eq!(shown, ["a [0] 1"]);
    assert_eq!((found[0].state, found[0].is_known), (CauseState::Unknown, false));
    let (shown, _) = roots(&[
        ("a", None),
        ("other/b", Some(vec![wait(Verdict::Waiting, "", vec![on("a")])])),
    ]);
    assert_eq!(shown, ["a [0, 1] 2"]);
}

#[test]
fn objects_that_wait_for_each_other_are_one_cause() {
    let waits_for = |name| Some(vec![wait(Verdict::Waiting, "", vec![on(name)])]);
    let (shown, _) = roots(&[
        ("a", waits_for("b")),
        ("b", waits_for("a")),
        ("c", waits_for("a")),
        ("d", waits_for("d")),
    ]);
    assert_eq!(
        shown,
        [
            "these wait for each other: things a, things b [0, 1, 2] 3",
            "d [3] 1"
        ]
    );
}

#[test]
fn a_summary_is_no_cause() {
    let (shown, _) = roots(&[(
        "ns",
        Some(vec![wait(
            Verdict::Waiting,
            "",
            vec![on("pod"), Blocker::rest("7 others")],
        )]),
    )]);
    assert_eq!(shown, ["pod [0] 1"]);
}

#[test]
fn a_dead_backend_is_one_cause_of_all_objects_that_wait_for_it() {
    let dead_backend = || {
        Some(vec![wait(
            Verdict::Waiting,
            "",
            vec![Blocker::new(None, "metrics.k8s.io/v1beta1 does not answer")],
        )])
    };
    let (shown, _) = roots(&[("namespaces/a", dead_backend()), ("namespaces/b", dead_backend())]);
    assert_eq!(shown, ["metrics.k8s.io/v1beta1 does not answer [0, 1] 2"]);
}

#[test]
fn a_namespace_waits_for_all_objects_in_deletion_in_it() {
    let (ns, one, two) = (object("namespaces/n"), object("a"), object("b"));
    let (blocked, spec) = (
        diagnosis(vec![wait(Verdict::InUse, "", vec![on("pod")])]),
        [finalizer("kubernetes")],
    );
    let waiting = |object, diagnosis, content| Waiting {
        object,
        finalizers: &spec,
        diagnosis,
        content,
    };
    let found = causes(&[
        waiting(&ns, None, vec![&one, &two]),
        waiting(&one, Some(&blocked), Vec::new()),
        waiting(&two, Some(&blocked), Vec::new()),
    ]);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].frees, 3);
}

/// The sinks that a node reaches, by a slow search.
fn reached_slowly(edges: &[Vec<usize>], from: usize) -> BTreeSet<usize> {
    let reach = |from: usize| {
        let (mut met, mut next) = (BTreeSet::from([from]), vec![from]);
        while let Some(node) = next.pop() {
            next.extend(edges[node].iter().copied().filter(|&to| met.insert(to)));
        }
        met
    };
    let ends = |node: &usize| reach(*node).iter().all(|other| reach(*other).contains(node));
    reach(from).into_iter().filter(ends).collect()
}

proptest! {
    #[test]
    fn sinks_equal_those_of_a_slow_search(
        edges in (1..14_usize).prop_flat_map(|n| proptest::collection::vec(proptest::collection::vec(0..n, 0..4), n))
    ) {
        let sinks = sinks(&edges);
        for node in 0..edges.len() {
            let found: BTreeSet<usize> =
                sinks.of(node).iter().flat_map(|&component| sinks.members[component].iter().copied()).collect();
            prop_assert_eq!(found, reached_slowly(&edges, node));
        }
    }

    #[test]
    fn each_object_has_a_cause(
        world in proptest::collection::vec(
            proptest::option::of(proptest::collection::vec((0..3_u8, proptest::collection::vec(0..16_u8, 0..4)), 0..3)),
            1..12,
        )
    ) {
        let names: Vec<_> = (0..world.len()).map(|at| at.to_string()).collect();
        let objects: Vec<_> = world
            .iter()
            .zip(&names)
            .map(|(waits, name)| {
                let waits = waits.as_ref().map(|waits| {
                    let verdicts = [Verdict::InUse, Verdict::Failing, Verdict::Unknown];
                    let made = waits.iter().map(|(verdict, on_names)| {
                        let blockers = on_names.iter().map(|name| on(&name.to_string())).collect();
                        wait(verdicts[usize::from(*verdict)], "", blockers)
                    });
                    made.collect::<Vec<_>>()
                });
                (name.as_str(), waits)
            })
            .collect();
        let (_, found) = roots(&objects);
        for at in 0..objects.len() {
            prop_assert!(found.iter().any(|cause| cause.objects.contains(&at)));
        }
        // At most one cause alone frees each object, and only a cause that the object waits for.
        prop_assert!(found.iter().map(|cause| cause.frees).sum::<usize>() <= objects.len());
        for cause in &found {
            prop_assert!(cause.frees <= cause.objects.len() && !cause.objects.is_empty());
            prop_assert!(cause.through.keys().all(|at| cause.objects.contains(at)));
        }
    }
}

#[test]
fn a_blocker_in_deletion_has_the_same_cause_as_the_object_itself() {
    let stalled = || vec![wait(Verdict::Stalled, "nobody has acted", Vec::new())];
    let mut claim = on("pvc");
    claim.waits = stalled();
    let pv = || Some(vec![wait(Verdict::Waiting, "", vec![claim.clone()])]);
    let (alone, found) = roots(&[("pv", pv())]);
    assert_eq!(alone, ["pvc [0] 1"]);
    assert_eq!((found[0].state, found[0].is_own), (CauseState::Stalled, true));
    let (both, found) = roots(&[("pv", pv()), ("pvc", Some(stalled()))]);
    assert_eq!(both, ["pvc [0, 1] 2"]);
    assert_eq!((found[0].state, found[0].is_own), (CauseState::Stalled, true));
}
