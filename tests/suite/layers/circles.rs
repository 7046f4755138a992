//! Circles of imports: in a circle, each file leads to all others.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
};

use super::modules::Crate;

/// Each circle, with the imports that make it, one a line.
pub fn circles(of: &Crate) -> Vec<String> {
    let imports = of.imports();
    let reached: BTreeMap<_, _> = imports
        .keys()
        .map(|name| (*name, reached(&imports, name)))
        .collect();
    let mut met = BTreeSet::new();
    let mut circles = Vec::new();
    for (name, others) in &reached {
        if !others.contains(name) || !met.insert(*name) {
            continue;
        }
        let circle: BTreeSet<_> = others
            .iter()
            .filter(|other| reached[*other].contains(name))
            .collect();
        let mut text = format!("a circle of {} files:", circle.len());
        for file in &circle {
            for (goal, path) in imports[**file].iter().filter(|(goal, _)| circle.contains(goal)) {
                let _ = write!(text, "\n  {file} imports {path} of {goal}");
            }
        }
        met.extend(circle.into_iter().copied());
        circles.push(text);
    }
    circles
}

/// All files that imports lead to from this one.
fn reached<'a>(imports: &BTreeMap<&'a str, BTreeMap<&'a str, String>>, from: &str) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut open = vec![from];
    while let Some(name) = open.pop() {
        for goal in imports.get(name).into_iter().flat_map(BTreeMap::keys) {
            if found.insert(*goal) {
                open.push(goal);
            }
        }
    }
    found
}
