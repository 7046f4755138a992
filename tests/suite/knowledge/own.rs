//! Users' own entries, and mistakes in them.

use std::{fs, path::Path};

use serde_json::Value;
use tempfile::TempDir;

use super::{PV, editor, json};
use crate::harness::{Output, Plugin};

pub(super) fn file(project: &str, name: &str, kind: &str) -> String {
    format!(
        "project: {project}\nfinalizers:\n  - name: {name}\n    kinds: ['{kind}']\n    protects: a widget\n    \
         waits-for: {{ text: the widget must stop }}\n    removed-by: widget-operator\n    \
         if-removed: {{ consequence: none, text: nothing happens }}\n    fix: [{{ label: reversible, text: restart it }}]\n    \
         sources: [example/widgets:main.go]\n    verified: true\n"
    )
}

fn config(home: &Path, name: &str, text: &str) {
    let directory = home.join("kubectl-finalizers");
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join(name), text).unwrap();
}

fn explain(directory: &Path, words: &[&str]) -> Output {
    Plugin::new([&["explain"], words].concat())
        .env("XDG_CONFIG_HOME", directory)
        .run()
}

fn project(report: &Value) -> &str {
    report["finalizers"][0]["entries"][0]["project"]
        .as_str()
        .unwrap_or("nobody's")
}

#[test]
fn entries_of_the_config_directory_replace_built_in_ones() {
    let home = TempDir::new().unwrap();
    config(
        home.path(),
        "a.yaml",
        &file("Ours", "example.com/widget", "Widget.example.com"),
    );
    config(home.path(), "b.yml", &file("Theirs", PV, "PersistentVolume"));
    config(home.path(), "notes.txt", "not for the program");
    let asked = |name: &str| json(explain(home.path(), &[name, "-o", "json"]));
    assert_eq!(project(&asked("example.com/widget")), "Ours");
    let replaced = asked(PV);
    assert_eq!(project(&replaced), "Theirs");
    assert_eq!(replaced["finalizers"][0]["entries"].as_array().unwrap().len(), 1);

    // The same in ~/.config, which is used if XDG_CONFIG_HOME is not an absolute path.
    let other = TempDir::new().unwrap();
    config(
        &other.path().join(".config"),
        "a.yaml",
        &file("Home", "example.com/widget", "*"),
    );
    let output = Plugin::new(["explain", "example.com/widget", "-o", "json"])
        .env("XDG_CONFIG_HOME", "")
        .home(other.path())
        .run();
    assert_eq!(project(&json(output)), "Home");
}

#[test]
fn flags_name_files_and_directories() {
    let dir = TempDir::new().unwrap();
    let one = dir.path().join("one.yaml");
    fs::write(&one, file("One", "example.com/one", "*")).unwrap();
    fs::write(dir.path().join("two.yaml"), file("Two", "example.com/two", "*")).unwrap();
    let (one, all) = (one.to_str().unwrap(), dir.path().to_str().unwrap());
    for words in [
        &["--knowledge", one, "explain", "example.com/one"] as &[&str],
        &["explain", "example.com/one", "--knowledge", one],
        &["explain", "example.com/two", "--knowledge", all],
        // The same file twice counts once.
        &[
            "explain",
            "example.com/two",
            "--knowledge",
            all,
            "--knowledge",
            one,
        ],
    ] {
        let report = json(Plugin::new([words, &["-o", "json"]].concat()).run());
        assert_eq!(report["finalizers"][0]["inCatalogue"], true, "{words:?}");
    }
    let listed = Plugin::new(["catalog", "example.com", "--knowledge", all, "-o", "name"]).run();
    assert_eq!(listed.success(), "example.com/one\nexample.com/two\n");
}

#[test]
fn every_mistake_in_a_given_file_is_reported_with_its_place() {
    let dir = TempDir::new().unwrap();
    let (a, b) = (dir.path().join("a.yaml"), dir.path().join("b.yaml"));
    let wrong = file("Ours", "example.com/widget", "Widget.example.com")
        .replace("restart it", "'restart {what}'")
        .replace("a widget\n", "''\n");
    fs::write(&a, wrong).unwrap();
    fs::write(
        &b,
        format!("{}    verifyed: true\n", file("Ours", "example.com/other", "*")),
    )
    .unwrap();
    for verb in [&["explain", PV] as &[&str], &["catalog"], &["scan"]] {
        let output = Plugin::new(
            verb.iter()
                .copied()
                .chain(["--knowledge", dir.path().to_str().unwrap()]),
        )
        .run();
        assert_eq!((output.code, &*output.stdout), (1, ""), "{output}");
        let lines: Vec<_> = output.stderr.lines().collect();
        assert_eq!(lines.len(), 5, "{output}");
        assert_eq!(
            lines[0],
            "error: 3 mistakes in what --knowledge names; nothing was done"
        );
        assert!(
            lines[1].starts_with(&format!("{}:5:5: ", a.display())),
            "{output}"
        );
        assert!(lines[1].contains("`protects` is empty"), "{output}");
        assert!(
            lines[2].starts_with(&format!("{}:9:47: ", a.display())),
            "{output}"
        );
        assert!(
            lines[3].starts_with(&format!("{}:12:5: ", b.display())),
            "{output}"
        );
        assert!(lines[4].starts_with("hint: "), "{output}");
    }
    let missing = Plugin::new(["explain", PV, "--knowledge", "/nowhere/x.yaml"]).run();
    assert_eq!(missing.code, 1, "{missing}");
    assert!(
        missing.stderr.contains("cannot read /nowhere/x.yaml"),
        "{missing}"
    );
    let empty = TempDir::new().unwrap();
    let empty = Plugin::new(["explain", PV, "--knowledge", empty.path().to_str().unwrap()]).run();
    assert_eq!(empty.code, 1, "{empty}");
}

#[test]
fn a_broken_file_in_the_config_directory_is_skipped_and_reported() {
    let home = TempDir::new().unwrap();
    config(home.path(), "broken.yaml", "project: [");
    config(home.path(), "latin.yaml", "project: x");
    fs::write(
        home.path().join("kubectl-finalizers/latin.yaml"),
        b"project: \xff",
    )
    .unwrap();
    config(home.path(), "good.yaml", &file("Ours", "example.com/widget", "*"));
    config(
        home.path(),
        "good2.yaml",
        &file("RunFlags", "example.com/widget", "*"),
    );
    fs::create_dir(home.path().join("kubectl-finalizers/folder.yaml")).unwrap();
    let output = explain(home.path(), &["example.com/widget", "-o", "json"]);
    let said = output.stderr.clone();
    assert_eq!(project(&json(output)), "Ours");
    let broken = home.path().join("kubectl-finalizers/broken.yaml");
    assert!(
        said.contains(&format!(
            "warning: {} has mistakes; going on without it",
            broken.display()
        )),
        "{said}"
    );
    assert!(said.contains(&format!("{}:1:10: ", broken.display())), "{said}");
    assert!(said.contains("latin.yaml:1:10: this is not UTF-8"), "{said}");
    assert!(
        said.contains("is described a second time; the first is"),
        "{said}"
    );
}

/// What is said about the example of the guide, with one line of it changed.
fn example_with(from: &str, to: &str) -> (Value, String) {
    let home = TempDir::new().unwrap();
    let text = editor::example();
    assert!(text.contains(from), "the example has no {from:?}");
    config(home.path(), "widget.yaml", &text.replace(from, to));
    let name = "widgets.example.com/disk";
    let report = json(explain(home.path(), &[name, "-o", "json"]));
    let entry = report["finalizers"][0]["entries"][0].clone();
    (entry, explain(home.path(), &[name]).success())
}

#[test]
fn an_entry_that_lacks_what_a_person_needs_says_so() {
    let little = "Little is known about this finalizer.";
    let (entry, text) = example_with("verified: true", "verified: true");
    assert_eq!(entry["thin"], Value::Null);
    assert!(!text.contains(little), "{text}");
    let done = "    done-when: the condition Deleted is True, and the widget is gone within seconds\n";
    for (from, to) in [
        (done, ""),
        (
            "      on:\n        - used-by: [WidgetUser.widgets.example.com]\n        - external: { what: the disk in the storage service, id: [status.diskID] }\n",
            "",
        ),
    ] {
        let (entry, text) = example_with(from, to);
        assert_eq!(entry["thin"], true);
        assert!(text.contains(little), "{text}");
    }
}
