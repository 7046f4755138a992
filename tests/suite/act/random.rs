//! Random changes between the confirmation and the write. Others act while the request waits at the gate. All
//! later revisions in etcd are the plugin's.

use serde_json::json;

use super::{
    Case, HOLD, OTHER,
    gate::{Fate, Gate},
};
use crate::{
    explain::{
        dice::Dice,
        told::{delete, goes, release},
    },
    harness::Cluster,
};

const THIRD: &str = "example.com/third";

/// The fields of a stored object that matter here.
#[derive(Clone, Debug, PartialEq)]
struct Stored {
    uid: String,
    finalizers: Vec<String>,
}

/// What others do meanwhile.
#[derive(Clone, Copy, Debug)]
enum Move {
    Annotate,
    TakeOther,
    TakeHold,
    Turn,
    ReplaceLiving,
    ReplaceDying,
}

const MOVES: [Move; 6] = [
    Move::Annotate,
    Move::TakeOther,
    Move::TakeHold,
    Move::Turn,
    Move::ReplaceLiving,
    Move::ReplaceDying,
];

#[test]
fn at_most_the_confirmed_string_is_removed() {
    rounds(1, 6);
}

#[test]
#[ignore = "as long as you like: ROUNDS=1000"]
fn at_most_the_confirmed_string_is_removed_in_many_rounds() {
    let number =
        |name: &str, otherwise| std::env::var(name).map_or(otherwise, |text| text.parse().expect("a number"));
    rounds(number("SEED", 1), number("ROUNDS", 100));
}

fn rounds(seed: u64, rounds: u64) {
    for seed in seed..seed + rounds {
        eprintln!("SEED={seed} ROUNDS=1");
        round(seed);
    }
}

fn round(seed: u64) {
    let mut dice = Dice::new(seed);
    let cluster = Cluster::shared();
    let lists: [&[&str]; 4] = [&[HOLD], &[OTHER, HOLD], &[HOLD, OTHER], &[OTHER, HOLD, THIRD]];
    let case = Case::held(cluster, "random", lists[dice.below(lists.len())]);
    let from = cluster.revision();
    let confirmed = stored(&case).unwrap();
    let fate = [
        Fate::Held,
        Fate::Held,
        Fate::Held,
        Fate::LostBefore,
        Fate::LostAfter,
    ][dice.below(5)];
    let gate = Gate::before(cluster, fate);
    let digest = case.digest();
    let run = || case.remove(&["--confirm", &digest, gate.flag()]).spawn();
    let now = || (cluster.revision(), stored(&case));
    // Unless a request is held, all revisions from here on are the plugin's.
    let (mut boundary, mut before) = now();
    let (mut did, mut runs) = (Vec::new(), vec![run()]);
    if fate == Fate::Held {
        if dice.below(3) == 0 {
            runs.push(run());
        }
        gate.arrived(runs.len());
        for _ in 0..dice.below(3) {
            did.push(MOVES[dice.below(MOVES.len())]);
            interfere(&case, did[did.len() - 1]);
        }
        (boundary, before) = now();
    }
    gate.open();
    let outs: Vec<_> = runs
        .into_iter()
        .map(crate::harness::RunningPlugin::finish)
        .collect();

    let place = format!("/registry/configmaps/{}/", case.ns.name());
    case.make("the-end", &[]);
    let history = cluster.history(&place, from, &format!("{place}the-end"));
    let told = format!(
        "seed {seed}: {did:?} {}\nconfirmed {confirmed:?}, before {before:?}\n{outs:?}",
        case.noted().join(" ")
    );
    let after: Vec<_> = history
        .iter()
        .filter(|event| event.key.ends_with("/held") && event.revision > boundary)
        .collect();
    assert!(after.len() <= 1, "{} writes: {told}", after.len());

    // Whether the confirmed plan was still valid when the request was let through.
    let still = before.as_ref().is_some_and(|now| {
        let others = |all: &Stored| -> Vec<_> {
            all.finalizers
                .iter()
                .filter(|name| *name != HOLD)
                .cloned()
                .collect()
        };
        now.uid == confirmed.uid
            && now.finalizers.iter().any(|name| name == HOLD)
            && others(now) == others(&confirmed)
    });
    if let [event] = after.as_slice() {
        assert!(still, "nobody confirmed that: {told}");
        let mut expected = confirmed.clone();
        expected.finalizers.retain(|name| name != HOLD);
        match &event.value {
            Some(value) => assert_eq!(decoded(value), in_order(expected, before.as_ref()), "{told}"),
            None => assert!(expected.finalizers.is_empty(), "{told}"),
        }
    }
    let noted = case.noted();
    let count = |what: &str| noted.iter().filter(|one| *one == what).count();
    let done = count("done") + count("done-answer-lost");
    // If several runs remove the last finalizer at once, the server tells each of them that it was the one. It
    // deletes the object after the update, and ignores that the object is already gone
    // (`kubernetes/apiserver:pkg/registry/generic/registry/store.go` deleteWithoutFinalizers).
    let most = match after.as_slice() {
        [event] if event.value.is_none() => outs.len(),
        all => all.len(),
    };
    assert!(
        (after.len()..=most).contains(&done),
        "the receipts are not true: {told}"
    );
    assert_eq!(still && fate != Fate::LostBefore, after.len() == 1, "{told}");
    release_rest(&case);
}

/// The other finalizers keep their order.
fn in_order(mut expected: Stored, before: Option<&Stored>) -> Stored {
    if let Some(before) = before {
        expected.finalizers.clone_from(&before.finalizers);
        expected.finalizers.retain(|name| name != HOLD);
    }
    expected
}

fn stored(case: &Case<'_>) -> Option<Stored> {
    let object = case.get()?;
    let names = object["metadata"]["finalizers"].as_array();
    Some(Stored {
        uid: object["metadata"]["uid"].as_str().unwrap().to_owned(),
        finalizers: names
            .into_iter()
            .flatten()
            .map(|name| name.as_str().unwrap().to_owned())
            .collect(),
    })
}

/// The uid and the finalizers in the stored bytes: fields 5 and 14 of ObjectMeta, each a tag, a length and a
/// text (`kubernetes/apimachinery:pkg/apis/meta/v1/generated.proto`).
fn decoded(bytes: &[u8]) -> Stored {
    let texts = |tag: u8, fits: &dyn Fn(&str) -> bool| -> Vec<String> {
        let at = |start: usize| {
            let length = usize::from(*bytes.get(start + 1)?);
            let text = std::str::from_utf8(bytes.get(start + 2..start + 2 + length)?).ok()?;
            (bytes[start] == tag && fits(text)).then(|| text.to_owned())
        };
        (0..bytes.len()).filter_map(at).collect()
    };
    Stored {
        uid: texts(0x2a, &|text| text.len() == 36 && text.matches('-').count() == 4).remove(0),
        finalizers: texts(0x72, &|text| [HOLD, OTHER, THIRD].contains(&text)),
    }
}

fn interfere(case: &Case<'_>, what: Move) {
    let Some(now) = stored(case) else {
        return;
    };
    let without = |name: &str| {
        now.finalizers
            .iter()
            .filter(|one| *one != name)
            .cloned()
            .collect::<Vec<_>>()
    };
    let set = |finalizers: Vec<String>| {
        let patch = json!({"metadata": {"finalizers": finalizers}}).to_string();
        case.ns
            .kubectl(["patch", "configmap", "held", "--type=merge", "-p", &patch])
            .success();
    };
    match what {
        Move::Annotate => drop(
            case.ns
                .kubectl(["annotate", "configmap", "held", "a=b", "--overwrite"])
                .success(),
        ),
        Move::TakeOther => set(without(OTHER)),
        Move::TakeHold => set(without(HOLD)),
        Move::Turn => set(now.finalizers.iter().rev().cloned().collect()),
        Move::ReplaceLiving | Move::ReplaceDying => {
            delete(case.cluster, "configmap/held", case.ns.name());
            if case.get().is_some() {
                release(case.cluster, "configmap/held", case.ns.name());
            }
            goes(case.cluster, "configmap/held", case.ns.name());
            case.make("held", &[HOLD]);
            if matches!(what, Move::ReplaceDying) {
                delete(case.cluster, "configmap/held", case.ns.name());
            }
        }
    }
}

/// So that the namespace can be deleted.
fn release_rest(case: &Case<'_>) {
    if case.get().is_some() {
        release(case.cluster, "configmap/held", case.ns.name());
    }
}
