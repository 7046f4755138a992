//! JSON documents and their published schemas.

use serde_json::Value;
use testkit::jsonschema::Validator;

/// The validator for a schema of `docs/`. A published schema is open, since fields may be added to a document. Here it
/// is closed, so that every field is in it.
pub fn of(schema: &str) -> Validator {
    let mut schema = serde_json::from_str(schema).expect("the schema is JSON");
    close(&mut schema);
    testkit::jsonschema::draft202012::new(&schema).expect("the schema is a schema")
}

/// Refuses every field that an object of the schema does not name.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            fields.values_mut().for_each(close);
            if fields.contains_key("properties") && fields.get("type").is_some_and(|ty| ty == "object") {
                fields
                    .entry("unevaluatedProperties")
                    .or_insert(Value::Bool(false));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
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
