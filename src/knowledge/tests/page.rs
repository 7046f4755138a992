//! `docs/catalogue.md`, the page of the whole catalogue. It is written here, among the tests of the pure layers, so that
//! an entry needs neither the API client nor a control plane:
//!
//! `cargo unit write_the_catalogue -- --ignored`

use std::{collections::BTreeMap, fmt::Write, fs};

use super::*;

const AGAIN: &str = "write it anew: cargo unit write_the_catalogue -- --ignored";

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/catalogue.md");

#[test]
fn the_page_of_the_catalogue_is_up_to_date() {
    let (expected, found) = (page(), fs::read_to_string(PAGE).unwrap_or_default());
    let line = expected.lines().zip(found.lines()).position(|(a, b)| a != b);
    assert!(
        found == expected,
        "{PAGE} is stale (first in line {:?}); {AGAIN}",
        line.map(|at| at + 1)
    );
}

#[test]
#[ignore = "writes a file"]
fn write_the_catalogue() {
    fs::write(PAGE, page()).unwrap();
}

fn page() -> String {
    let knowledge = Knowledge::builtin();
    let mut areas: BTreeMap<String, BTreeMap<String, Vec<Entry>>> = BTreeMap::new();
    for entry in knowledge.catalog(&Filter::default()) {
        let area = serde_json::to_value(entry.area).unwrap();
        let area = area.as_str().unwrap().replace('-', " ");
        areas
            .entry(area)
            .or_default()
            .entry(entry.project.clone())
            .or_default()
            .push(entry);
    }
    let mut page = format!(
        "# The catalogue\n\n<!-- Written from knowledge/*.yaml; {AGAIN} -->\n\n\
         {} finalizers and families of finalizers. `*` stands for the part that is generated. All about one of them: \
         `kubectl finalizers explain NAME`, with no cluster. To add one: [knowledge/README.md](../knowledge/README.md).\n\n\
         † not verified: nobody has read the source of its owner for this entry.\n",
        knowledge.len()
    );
    for (area, projects) in &areas {
        let _ = write!(page, "\n## {}{}\n", area[..1].to_uppercase(), &area[1..]);
        for (project, entries) in projects {
            let heading = match entries.iter().find_map(|entry| entry.page.as_ref()) {
                Some(address) => format!("[{project}]({address})"),
                None => project.clone(),
            };
            let _ = write!(
                page,
                "\n### {heading}\n\n| finalizer | on | protects | removed by hand |\n|---|---|---|---|\n"
            );
            page.extend(entries.iter().map(row));
        }
    }
    page
}

fn row(entry: &Entry) -> String {
    let name = match entry.r#match {
        Match::Exact | Match::Glob => entry.name.clone(),
        Match::Prefix => format!("{}*", entry.name),
        Match::Suffix => format!("*{}", entry.name),
    };
    let list = match entry.list {
        List::Metadata => "",
        List::NamespaceSpec => " in spec.finalizers",
    };
    let mark = if entry.verified { "" } else { " †" };
    let kinds: Vec<_> = entry.kinds.iter().map(|kind| format!("`{kind}`")).collect();
    let on = if kinds == ["`*`"] {
        "any object".to_owned()
    } else {
        kinds.join(", ")
    };
    let cells = [
        format!("`{name}`{list}{mark}"),
        on,
        entry.protects.clone(),
        entry.if_removed.consequence.typed(),
    ];
    format!("| {} |\n", cells.map(|cell| cell.replace('|', "\\|")).join(" | "))
}
