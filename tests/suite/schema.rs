//! JSON documents and their published schemas.

use serde_json::Value;
use testkit::jsonschema::Validator;

/// The validator for a schema of `docs/`.
pub fn of(schema: &str) -> Validator {
    let schema = serde_json::from_str(schema).expect("the schema is JSON");
    testkit::jsonschema::draft202012::new(&schema).expect("the schema is a schema")
}

/// Parses a document and checks it against the schema.
#[track_caller]
pub fn checked(schema: &Validator, text: &str) -> Value {
    let value: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}:\n{text}"));
    let faults: Vec<_> = schema
        .iter_errors(&value)
        .map(|fault| format!("{}: {fault}", fault.instance_path()))
        .collect();
    assert!(
        faults.is_empty(),
        "the schema forbids:\n{}\n{text}",
        faults.join("\n")
    );
    value
}
