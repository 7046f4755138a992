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

/// The published schemas of what is printed.
const PUBLISHED: [(&str, &str); 8] = [
    ("catalog", include_str!("../../docs/catalog.schema.json")),
    ("clusters", include_str!("../../docs/clusters.schema.json")),
    ("explain", include_str!("../../docs/explain.schema.json")),
    (
        "explain-finalizer",
        include_str!("../../docs/explain-finalizer.schema.json"),
    ),
    ("plan", include_str!("../../docs/plan.schema.json")),
    ("scan", include_str!("../../docs/scan.schema.json")),
    ("version", include_str!("../../docs/version.schema.json")),
    ("watch", include_str!("../../docs/watch.schema.json")),
];

#[test]
fn every_schema_has_an_id_is_open_and_describes_each_field() {
    let mut kinds = Vec::new();
    for (name, text) in PUBLISHED {
        let schema: Value = serde_json::from_str(text).expect("JSON");
        let id = schema["$id"].as_str().expect("an id");
        assert!(id.ends_with(&format!("/docs/{name}.schema.json")), "{id}");
        assert!(
            !text.contains("\"additionalProperties\": false"),
            "{name} is closed"
        );
        describes_fields(&schema, name);
        kinds.extend(schema["properties"]["kind"]["const"].as_str().map(str::to_owned));
    }
    let documents = kinds.len();
    kinds.sort();
    kinds.dedup();
    assert_eq!(kinds.len(), documents, "two documents have one kind: {kinds:?}");
}

/// Fails at the first field of an object without a description. A condition repeats fields that are described elsewhere.
fn describes_fields(schema: &Value, path: &str) {
    match schema {
        Value::Object(fields) => {
            if let Some(properties) = fields.get("properties").and_then(Value::as_object)
                && fields.get("type").is_some_and(|ty| ty == "object")
            {
                for (name, field) in properties {
                    assert!(
                        field["description"].is_string(),
                        "{path}: {name} is not described"
                    );
                }
            }
            for (name, value) in fields {
                describes_fields(value, &format!("{path}/{name}"));
            }
        }
        Value::Array(items) => items.iter().for_each(|item| describes_fields(item, path)),
        _ => {}
    }
}
