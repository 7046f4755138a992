//! Layers never look up, and the pure ones can neither talk to a server nor ask for the time.
//!
//! The imports are read from the source text, so a new module is covered the moment it exists.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// Lowest first. A layer may use those before it.
const LAYERS: &[&str] = &[
    "object",
    "snapshot",
    "knowledge",
    "diagnose",
    "plan",
    "report",
    "output",
];
/// What reaches out of the process, or into its surroundings.
const OUTSIDE: &[&str] = &[
    "kube::",
    "kube_client",
    "k8s_openapi",
    "tokio::",
    "reqwest",
    "hyper::",
    "std::net",
    "std::process",
    "std::env",
    "Timestamp::now",
    "SystemTime::now",
    "Instant::now",
    "println!",
    "eprintln!",
    "crate::cluster",
    "crate::run",
    "crate::act",
    "crate::settings",
    "crate::cli",
];
/// Reads files, and nothing else of the outside: `--from` and a user's own knowledge are files.
const READS_FILES: &[&str] = &["src/snapshot/load"];

fn sources(layer: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found: Vec<PathBuf> = [root.join(format!("{layer}.rs"))]
        .into_iter()
        .filter(|path| path.exists())
        .collect();
    let mut folders = vec![root.join(layer)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    found
}

/// The code of a file: no comments, and nothing below its tests.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let text = text.split("#[cfg(test)]").next().unwrap_or_default();
    text.lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n")
}

/// The top-level modules of this crate that a file names, in `use crate::{…}` as in paths.
fn names_of_crate(code: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        let after = &code[at + "crate::".len()..];
        let Some(group) = after.strip_prefix('{') else {
            names.insert(word(after));
            continue;
        };
        let mut depth = 1;
        let mut start = true;
        for (at, c) in group.char_indices() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 1 => start = true,
                c if c.is_alphabetic() && start && depth == 1 => {
                    names.insert(word(&group[at..]));
                    start = false;
                }
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
    }
    names
}

fn word(text: &str) -> String {
    text.chars()
        .take_while(|c| c.is_alphanumeric() || *c == '_')
        .collect()
}

fn faults(layer: usize, path: &Path, code: &str) -> Vec<String> {
    let shown = path
        .strip_prefix(env!("CARGO_MANIFEST_DIR"))
        .unwrap()
        .display()
        .to_string();
    let mut faults = Vec::new();
    for word in OUTSIDE {
        if code.contains(word) {
            faults.push(format!("{shown} reaches outside: {word}"));
        }
    }
    let reads_files = READS_FILES.iter().any(|allowed| shown.starts_with(allowed));
    if code.contains("std::fs") && !reads_files {
        faults.push(format!("{shown} reads files"));
    }
    for name in names_of_crate(code) {
        if LAYERS
            .iter()
            .position(|known| *known == name)
            .is_some_and(|used| used > layer)
        {
            faults.push(format!("{shown} looks up to {name}"));
        }
    }
    faults
}

#[test]
fn pure_layers_stay_pure_and_never_look_up() {
    let mut found = Vec::new();
    let mut read = 0;
    for (layer, name) in LAYERS.iter().enumerate() {
        for path in sources(name) {
            read += 1;
            found.extend(faults(layer, &path, &code(&path)));
        }
    }
    assert!(
        read > 15,
        "only {read} files were found; the test looks in the wrong place"
    );
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_layer_that_reaches_out_or_up_is_caught() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/object.rs");
    let caught = |code: &str| !faults(0, &path, code).is_empty();
    assert!(caught("use crate::{error::Error, snapshot::{Gap, What}};"));
    assert!(caught("let now = jiff::Timestamp::now();"));
    assert!(caught("use kube::Client;"));
    assert!(caught("use std::fs;"));
    assert!(!caught("use crate::{object::Age, error::Error};"));
}

/// Every request that could store something goes through one function, and only `src/act` calls it.
#[test]
fn only_one_place_writes_to_the_server() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut folders = vec![root.clone()];
    let (mut callers, mut methods) = (BTreeSet::new(), BTreeSet::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let code = code(&path);
            let shown = path.strip_prefix(&root).unwrap().display().to_string();
            let joined: String = code.split_whitespace().collect();
            if joined.contains("server.write(") {
                callers.insert(shown.clone());
            }
            if ["Method::PATCH", "Method::PUT", "Method::DELETE"]
                .iter()
                .any(|method| code.contains(method))
            {
                methods.insert(shown);
            }
        }
    }
    assert_eq!(callers, BTreeSet::from(["act/send.rs".to_owned()]));
    assert_eq!(methods, BTreeSet::from(["cluster/write.rs".to_owned()]));
}
