//! Every entry fits the width in every output format.

use std::collections::BTreeSet;

use kubectl_finalizers::knowledge::{Entry, Knowledge};
use serde_json::Value;
use unicode_width::UnicodeWidthStr;

use super::{explain, json, names};
use crate::{harness::Plugin, schema};

fn all() -> Vec<Entry> {
    Knowledge::builtin().all().cloned().collect()
}

/// One run for all entries, with each name once in a JSON list.
fn explain_all(format: &str) -> String {
    let examples: BTreeSet<String> = all().into_iter().map(|entry| entry.example).collect();
    let list = serde_json::to_string(&examples).unwrap();
    Plugin::new(["explain", "-", "-o", format])
        .stdin(&list)
        .run()
        .success()
}

/// A value that no command contains.
const VALUE: &str = "x0value0x";

#[test]
fn every_entry_fits_100_columns() {
    let commands: Vec<Vec<String>> = all()
        .iter()
        .flat_map(|entry| &entry.fix)
        .filter_map(|step| step.command.as_ref())
        .map(|template| {
            // The text between the placeholders, whatever their values.
            let line = template.fill(|_| Some(VALUE.to_owned())).to_string();
            line.split(VALUE).map(str::to_owned).collect()
        })
        .collect();
    let is_command = |line: &str| {
        commands.iter().any(|pieces| {
            let mut rest = line;
            pieces.iter().all(|piece| match rest.find(piece.as_str()) {
                Some(at) => {
                    rest = &rest[at + piece.len()..];
                    true
                }
                None => false,
            })
        })
    };
    for format in ["table", "wide"] {
        let text = explain_all(format);
        for line in text.lines().filter(|line| line.width() > 100) {
            // Names, paths and addresses: a single word, perhaps after a label.
            let hanging = line.get(18..).unwrap_or_default().trim_start();
            let one_word = !hanging.trim_start_matches("- ").contains(' ');
            assert!(
                one_word || is_command(line.trim()) || line.contains("kubectl"),
                "{line}"
            );
        }
        assert!(
            !text.lines().any(|line| line != line.trim_end()),
            "spaces at the end of a line"
        );
        for (at, entry) in all().iter().enumerate() {
            assert!(text.contains(&entry.example), "entry {at}, {}", entry.name);
            let consequence = format!("{}: ", entry.if_removed.consequence.typed());
            assert!(text.contains(&consequence), "{}", entry.name);
        }
        let unverified = all().iter().filter(|entry| !entry.verified).count();
        assert_eq!(text.matches("NOT VERIFIED: nobody has read").count(), unverified);
    }
}

#[test]
fn every_entry_is_in_json_and_yaml() {
    let schema = schema::of(include_str!("../../../docs/explain-finalizer.schema.json"));
    let report = schema::checked(&schema, &explain_all("json"));
    assert_eq!(report["apiVersion"], "kubectl-finalizers/v2");
    assert_eq!(report["kind"], "FinalizerExplanation");
    for unknown in [
        "corp.example/x",
        "kubernetes.io/pvc-protectio",
        "cert-manager.io/other",
    ] {
        schema::checked(&schema, &explain(&[unknown, "-o", "json"]).success());
    }
    let shown: Vec<Entry> = report["finalizers"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|one| one["entries"].as_array().unwrap())
        .map(|entry| serde_json::from_value(entry.clone()).unwrap())
        .collect();
    for entry in all() {
        assert!(shown.contains(&entry), "{}", entry.name);
    }
    assert!(names(&report).contains(&"kubernetes"));
    // All entries together have more nodes than the reader takes from a stranger.
    let options = serde_saphyr::options! { budget: serde_saphyr::budget! { max_nodes: 1_000_000 } };
    let yaml: Value = serde_saphyr::from_str_with_options(&explain_all("yaml"), options).unwrap();
    assert_eq!(yaml, report);
}

/// The document describes all flags of the two verbs.
#[test]
fn every_flag_is_documented() {
    let document = concat!(
        include_str!("../../../docs/explain-finalizer.md"),
        include_str!("../../../docs/explain.md")
    );
    for verb in ["explain", "catalog"] {
        let help = Plugin::new([verb, "--help"]).run().success();
        let own = help.split("Options:\n").nth(1).unwrap();
        let flags = own
            .split_whitespace()
            .filter(|word| word.starts_with("--") && word.len() > 2);
        for flag in flags.filter(|flag| !["--help", "--output"].contains(flag)) {
            assert!(document.contains(&format!("`{flag}")), "{flag} of {verb}");
        }
    }
}

/// The document describes every key of the output.
#[test]
fn every_key_is_documented() {
    fn keys(value: &Value, found: &mut BTreeSet<String>) {
        match value {
            Value::Object(fields) => {
                for (key, value) in fields {
                    found.insert(key.clone());
                    keys(value, found);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| keys(item, found)),
            _ => {}
        }
    }
    let document = include_str!("../../../docs/explain-finalizer.md");
    let mut found = BTreeSet::new();
    keys(&serde_json::from_str(&explain_all("json")).unwrap(), &mut found);
    for words in [
        &[
            "explain",
            "kubernetes.io/pv-protecton",
            "foreground.finalizer.longhorn.io",
        ] as &[&str],
        &["explain", "widgets.example.com/finalizer", "worker-1-deleted"],
        &["catalog"],
    ] {
        keys(
            &json(Plugin::new([words, &["-o", "json"]].concat()).run()),
            &mut found,
        );
    }
    // Evidence has the keys of the knowledge files, which their README describes.
    let readme = include_str!("../../../knowledge/README.md");
    let missing: Vec<_> = found
        .iter()
        .filter(|key| !document.contains(&format!("`{key}`")) && !readme.contains(&format!("`{key}`")))
        .collect();
    assert!(
        missing.is_empty(),
        "not in docs/explain-finalizer.md: {missing:?}"
    );
}
