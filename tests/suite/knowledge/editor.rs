//! The JSON Schema of knowledge files, with which an editor completes and checks them. It comes from the types that
//! read the files, so it cannot say anything else.

use std::fs;

use serde_json::Value;
use testkit::jsonschema::Validator;

#[allow(
    dead_code,
    unused_imports,
    reason = "the program's own module; it uses more of it than this"
)]
#[path = "../../../src/knowledge/schema/mod.rs"]
mod reader;

/// Where the schema is published.
pub const FILE: &str = "docs/knowledge.schema.json";

/// The schema as it is published.
pub fn schema() -> String {
    let mut schema = serde_json::to_value(reader::json_schema()).unwrap();
    schema["title"] = "Knowledge file of kubectl-finalizers".into();
    format!("{}\n", serde_json::to_string_pretty(&schema).unwrap())
}

fn validator() -> Validator {
    crate::schema::of(&schema())
}

/// The first reason against a file.
fn fault(schema: &Validator, text: &str) -> Option<String> {
    let value: Value = serde_saphyr::from_str(text).unwrap();
    let fault = schema.iter_errors(&value).next()?;
    Some(format!("{}: {fault}", fault.instance_path()))
}

#[test]
fn the_schema_accepts_every_file_of_the_catalogue() {
    let schema = validator();
    let mut read = 0;
    for item in fs::read_dir("knowledge").unwrap() {
        let path = item.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let is_yaml = path.extension().is_some_and(|extension| extension == "yaml");
        if !is_yaml || !text.lines().any(|line| line.starts_with("finalizers:")) {
            continue; // the guide, the list of names, the tables
        }
        assert_eq!(fault(&schema, &text), None, "{}", path.display());
        read += 1;
    }
    assert!(read > 400, "only {read} files of finalizers were found");
}

/// The example of the guide, so that it is a whole file.
pub fn example() -> String {
    let guide = fs::read_to_string("knowledge/README.md").unwrap();
    let (_, rest) = guide.split_once("```yaml\n").unwrap();
    rest.split_once("```").unwrap().0.to_owned()
}

#[test]
fn the_schema_refuses_what_the_reader_refuses() {
    let (schema, right) = (validator(), example());
    assert_eq!(fault(&schema, &right), None);
    assert_eq!(reader::read("widget.yaml", &right).map(|all| all.len()), Ok(1));
    for (from, to) in [
        ("protects:", "protect:"),
        ("kinds: [Widget.widgets.example.com]", "kinds: [widgets]"),
        ("kinds: [Widget.widgets.example.com]", "kinds: []"),
        ("consequence: leaked infrastructure", "consequence: leaked"),
        ("label: safe", "label: harmless"),
        ("- label: read-only\n        text:", "- text:"),
        ("used-by: [", "used: ["),
        (
            "- used-by: [WidgetUser.widgets.example.com]",
            "- condition: { type: Deleted, status: \"yes\" }",
        ),
        ("judgement: [if-removed]", "judgement: [waits]"),
        (
            "the disk behind a widget",
            "the disk behind a widget, wherever it is and whoever uses it in the end",
        ),
        (
            "example/widget-operator:internal",
            "https://example.com/widget-operator:internal",
        ),
        ("verified: true", "verified: perhaps"),
        ("area: platform-operators", "area: operators"),
        ("workloads:\n    - {", "workloads:\n    - { kind: ReplicaSet,"),
    ] {
        assert!(right.contains(from), "the example has no {from:?}");
        let wrong = right.replace(from, to);
        assert!(fault(&schema, &wrong).is_some(), "the schema accepts {to:?}");
        assert!(
            reader::read("widget.yaml", &wrong).is_err(),
            "the reader accepts {to:?}"
        );
    }
}
