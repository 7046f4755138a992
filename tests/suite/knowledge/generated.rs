//! Files that are written from `knowledge/` and its schema: the JSON Schema for editors, and some whole explanations to
//! be read as documents. After a change to the schema or to the output:
//!
//! `cargo test --test suite -- --ignored write_what_is_generated`

use std::{fs, path::PathBuf};

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
    let mut files = vec![(root.join(editor::FILE), editor::schema())];
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
