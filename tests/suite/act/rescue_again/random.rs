//! Rescues of a volume and of its claim, interrupted at random: the tool, the API server, kube-controller-manager,
//! provisioner and attacher are killed between any steps, and no data are lost.

use std::env;

use super::{
    Cluster, Disk, claims, delete,
    interrupted::{self, Interruption, cut_off, killed, uncontrolled, unserved},
};
use crate::explain::dice::Dice;

const WAYS: [Interruption; 4] = [killed, cut_off, uncontrolled, unserved];

#[test]
#[ignore = "restarts programs for minutes: scripts/long rescue"]
fn a_rescue_survives_random_interruptions() {
    let number = |name: &str, or| env::var(name).map_or(or, |text| text.parse().expect("a number"));
    rounds(number("SEED", 1), number("ROUNDS", 3));
}

fn rounds(first: u64, rounds: u64) {
    let cluster = Cluster::start();
    let (disk, _) = interrupted::attached(&cluster, "random");
    for seed in first..first + rounds {
        round(seed, &disk);
    }
}

/// Deletes the volume or the claim, and rescues it. The Pod runs again at the end.
fn round(seed: u64, disk: &Disk<'_>) {
    let mut dice = Dice::new(seed);
    let is_claim = dice.percent(50);
    let count = if is_claim {
        claims::STATES.len()
    } else {
        interrupted::STATES.len()
    };
    let mut states: Vec<_> = (0..=dice.below(3)).map(|_| dice.below(count)).collect();
    // What was done stays done, so a later run is interrupted in a later state.
    states.sort_unstable();
    let which: Vec<_> = states.iter().map(|_| dice.below(WAYS.len())).collect();
    let what = if is_claim { "claim" } else { "volume" };
    let how = format!("SEED={seed} ROUNDS=1: {what}, states {states:?}, ways {which:?}");
    eprintln!("{how}");
    let chosen: Vec<_> = states
        .into_iter()
        .zip(which.iter().map(|&way| WAYS[way]))
        .collect();
    if is_claim {
        let case = &disk.case;
        delete(case.cluster, "pvc/data", case.ns.name());
        claims::survives(&chosen, &how, disk);
        interrupted::is_protected(disk);
        super::pod(case, &case.cluster.node());
    } else {
        interrupted::survives(&chosen, &how, disk);
    }
}
