//! `slow.list` has the tests that take minutes. An attribute keeps each out of the test command, and the list brings it into
//! `.ci/run` and `scripts/long slow`.

use std::{collections::BTreeSet, env, fs, path::Path, process::Command};

/// The ends of the reasons for which such a test is ignored.
const REASONS: [&str; 3] = [
    "scripts/long slow\"]",
    "scripts/long rescue\"]",
    "scripts/long labels\"]",
];

#[test]
fn the_list_has_every_slow_test() {
    let listed: BTreeSet<_> = include_str!("slow.list").lines().collect();
    let all = Command::new(env::current_exe().unwrap())
        .args(["--list", "--ignored"])
        .output()
        .unwrap();
    let all = String::from_utf8(all.stdout).unwrap();
    let ignored: BTreeSet<_> = all
        .lines()
        .filter_map(|line| line.strip_suffix(": test"))
        .collect();
    let unknown: Vec<_> = listed.difference(&ignored).collect();
    assert!(unknown.is_empty(), "no ignored tests: {unknown:?}");
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite");
    assert_eq!(marked_below(&suite), listed.len(), "an ignored test is missing");
}

/// How many tests below a folder are ignored because they are slow.
fn marked_below(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .map(|path| {
            if path.is_dir() {
                return marked_below(&path);
            }
            let is_reason = |line: &str| {
                line.starts_with("#[ignore = ") && REASONS.iter().any(|reason| line.ends_with(reason))
            };
            let text = fs::read_to_string(&path).unwrap();
            text.lines().filter(|line| is_reason(line)).count()
        })
        .sum()
}
