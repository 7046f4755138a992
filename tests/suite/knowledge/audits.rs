//! `knowledge/audits.yaml`: which entries were audited, and with which first result.

use std::{collections::BTreeSet, fs};

use serde_json::Value;

#[test]
fn each_entry_is_audited_once_and_the_counts_are_right() {
    let text = fs::read_to_string("knowledge/audits.yaml").unwrap();
    let rounds: Vec<Value> = serde_saphyr::from_str(&text).unwrap();
    let names = fs::read_to_string("knowledge/NAMES").unwrap();
    let known: BTreeSet<&str> = names.lines().collect();
    let mut audited = BTreeSet::new();
    for round in &rounds {
        let entries = round["entries"].as_array().unwrap();
        for entry in entries {
            let name = entry["name"].as_str().unwrap();
            assert!(known.contains(name), "no entry is called {name}");
            assert!(audited.insert(name), "{name} was audited twice");
        }
        // The given audit counts rows about several names.
        if round["seed"].is_u64() {
            let count = |severity: &[&str]| {
                let faulty = entries.iter().filter(|entry| {
                    let found = entry["severity"].as_str();
                    found.is_some_and(|found| severity.contains(&found) && entry["fault"].is_string())
                });
                faulty.count()
            };
            let counted = [entries.len(), count(&["minor", "serious"]), count(&["serious"])];
            let said = ["rows", "faulty", "serious"].map(|key| round[key].as_u64().unwrap());
            assert_eq!(
                counted.map(|count| count as u64),
                said,
                "round {}",
                round["round"]
            );
        }
    }
    assert!(rounds.len() > 1, "no round was random");
}
