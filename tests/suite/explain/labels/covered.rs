//! Which causes have a scenario, and why the others have none.

use std::{collections::BTreeSet, fs};

use super::scenarios::{BROKEN, DAMAGED_OBJECT, Scenario, Stage, TOGETHER};

/// Causes without a scenario, each with the reason.
const WITHOUT: &[(&str, &str)] = &[
    (
        "api_machinery/etcd_not_writable",
        "no step can be tried where nothing can be written",
    ),
    (
        "impact/default_storage_class",
        "it would be the class of every other copy's claims",
    ),
    (
        "impact/snapshot_controller",
        "the cluster has one, and all snapshots of the other copies need it",
    ),
    (
        "leftovers/unreclaimed_volume",
        "scan tells it, and explain::leftovers checks what it says",
    ),
    (
        "leftovers/volume_attachment",
        "scan tells it, and explain::leftovers checks what it says",
    ),
];

fn scenarios() -> impl Iterator<Item = &'static Scenario> {
    let broken = BROKEN.iter().flat_map(Stage::all);
    TOGETHER.all().chain(DAMAGED_OBJECT.all()).chain(broken)
}

/// The pages below `docs/causes/`, such as `storage/pvc_protection`.
fn pages() -> BTreeSet<String> {
    let entries = |path: &str| {
        let entries = fs::read_dir(path).unwrap_or_else(|error| panic!("{path}: {error}"));
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap())
    };
    let families = entries("docs/causes").filter(|name| name != "README.md");
    families
        .flat_map(|family| {
            let pages = entries(&format!("docs/causes/{family}"));
            pages.map(move |page| format!("{family}/{}", page.trim_end_matches(".md")))
        })
        .collect()
}

#[test]
fn each_cause_has_a_scenario_or_a_reason() {
    let pages = pages();
    let told: BTreeSet<_> = scenarios().flat_map(Scenario::causes).collect();
    let excused: BTreeSet<_> = WITHOUT.iter().map(|(page, _)| *page).collect();
    for named in told.union(&excused) {
        assert!(pages.contains(*named), "docs/causes/ has no {named}");
    }
    let missing: Vec<_> = pages
        .iter()
        .filter(|page| !told.contains(page.as_str()) && !excused.contains(page.as_str()))
        .collect();
    assert!(
        missing.is_empty(),
        "a scenario in labels/scenarios/ must tell of these, or WITHOUT give the reason why none can: {missing:#?}"
    );
    let both: Vec<_> = told.intersection(&excused).collect();
    assert!(
        both.is_empty(),
        "these have a scenario, and need no reason: {both:#?}"
    );
}

/// Objects are told apart by the names of their copies, which must not end in one another.
#[test]
fn no_name_of_a_scenario_ends_in_another() {
    let names: Vec<_> = scenarios().map(|scenario| scenario.name).collect();
    for (n, name) in names.iter().enumerate() {
        let mut others = names.iter().enumerate().filter(|(other, _)| *other != n);
        let inner = others.find(|(_, other)| name.ends_with(*other));
        assert!(inner.is_none(), "{name} ends in {inner:?}");
    }
}
