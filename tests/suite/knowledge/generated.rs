//! Files that are written from `knowledge/` and its schema: the page of the whole catalogue, the JSON Schema for
//! editors, and some whole explanations to be read as documents. After a change to `knowledge/` or to the output:
//!
//! `cargo test --test suite -- --ignored write_what_is_generated`

use std::{collections::BTreeMap, fmt::Write, fs, path::PathBuf};

use kubectl_finalizers::knowledge::{Entry, Filter, Knowledge, List, Match};

use super::{editor, explain};

const AGAIN: &str = "write it anew: cargo test --test suite -- --ignored write_what_is_generated";

/// Explanations to read: a well-known name, a pattern with a placeholder, and a name outside the catalogue.
const ANSWERS: [(&str, &str); 3] = [
    ("pvc-protection", "kubernetes.io/pvc-protection"),
    (
        "clusterscoped",
        "clusterscoped.controller.cattle.io/user-controllers-controller_c-abc12",
    ),
    ("unknown", "widgets.factory.longhorn.io/finalizer"),
];

/// Every generated file with its text.
fn files() -> Vec<(PathBuf, String)> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let mut files = vec![
        (root.join("docs/catalogue.md"), page()),
        (root.join(editor::FILE), editor::schema()),
    ];
    for (file, name) in ANSWERS {
        let path = root.join(format!("tests/suite/knowledge/expected/{file}.txt"));
        files.push((path, explain(&[name]).success()));
    }
    files
}

#[test]
fn the_generated_files_are_up_to_date() {
    for (path, expected) in files() {
        let found = fs::read_to_string(&path).unwrap_or_default();
        let line = expected.lines().zip(found.lines()).position(|(a, b)| a != b);
        assert!(
            found == expected,
            "{} is stale (first in line {:?}); {AGAIN}",
            path.display(),
            line.map_or(expected.lines().count().min(found.lines().count()), |at| at) + 1
        );
    }
}

#[test]
#[ignore = "writes files"]
fn write_what_is_generated() {
    for (path, text) in files() {
        fs::write(path, text).unwrap();
    }
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
