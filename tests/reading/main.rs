//! How well an explanation reads, counted: recorded situations, and limits on what a tired reader meets before the cause and
//! before the first command. No server takes part.
//!
//! `cargo test --test reading -- --ignored --nocapture` prints the table and each sentence, clause or command that is over a
//! limit. `tests/reading/README.md` keeps
//! the tables, with their dates.

// A test may panic and print, and its helpers are no public API.
#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs, unreachable_pub)]

mod commands;
mod counts;
mod printed;
mod recording;
mod situation;

use counts::{Count, Counts};
use situation::{Situation, situations};

/// The fewest situations that tell anything, of this many families.
const SITUATIONS: usize = 28;
const FAMILIES: usize = 8;

#[test]
fn every_explanation_reads_within_the_limits() {
    let mut broken = Vec::new();
    for situation in situations() {
        let counts = counts(&situation);
        for count in Count::ALL {
            let (found, limit) = (counts.of(count), situation.limit(count));
            if found > limit {
                broken.push(format!(
                    "{}: {count:?} is {found}, the limit is {limit}",
                    situation.id
                ));
            } else if limit > count.limit() && found <= count.limit() {
                broken.push(format!("{}: {count:?} needs no exception any more", situation.id));
            }
        }
        broken.extend(counts.wrong_commands);
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn the_situations_are_of_all_families() {
    let situations = situations();
    assert!(situations.len() >= SITUATIONS);
    let mut families: Vec<_> = situations.iter().map(|situation| &situation.family).collect();
    families.sort();
    families.dedup();
    assert_eq!(families.len(), FAMILIES, "{families:?}");
    for situation in &situations {
        for exception in situation.exceptions.values() {
            assert!(
                exception.why.ends_with('.'),
                "{}: {}",
                situation.id,
                exception.why
            );
        }
    }
}

#[test]
#[ignore = "prints the table of all counts, and what is over a limit"]
fn the_table_of_all_counts() {
    println!("| situation | {} |", Count::ALL.map(Count::heading).join(" | "));
    println!("|---|{}", "--:|".repeat(Count::ALL.len()));
    let mut details = Vec::new();
    for situation in situations() {
        let counts = counts(&situation);
        let cells = Count::ALL.map(|count| {
            let found = counts.of(count);
            let mark = if found > count.limit() { " !" } else { "" };
            format!("{found}{mark}")
        });
        println!("| {} | {} |", situation.id, cells.join(" | "));
        details.extend(
            counts
                .over_limit()
                .map(|detail| format!("{}: {detail}", situation.id)),
        );
    }
    println!("\n{}", details.join("\n"));
}

fn counts(situation: &Situation) -> Counts {
    let (text, json) = situation.explained();
    let (quoted, recorded) = (
        recording::texts(&situation.from),
        recording::objects(&situation.from),
    );
    Counts::new(&text, &json, &situation.cause, &quoted, &recorded)
        .unwrap_or_else(|why| panic!("{}: {why}\n{text}", situation.id))
}
