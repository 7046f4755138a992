//! Stuck deletions, one a test: what is said of them, and that what is advised works.
//!
//! Every JSON document that a test here reads is checked against `docs/explain.schema.json` on the way.

mod api_machinery;
mod asked;
mod changing;
mod custom_resources;
pub mod dice;
mod garbage_collector;
pub mod holder;
mod impact;
mod less_is_weaker;
mod malformed;
mod namespaces;
mod network;
mod operators;
mod oracle;
mod output;
mod patience;
mod pods;
mod products;
pub mod reads;
pub mod replayed;
mod several;
mod storage;
pub mod told;

use std::sync::LazyLock;

use serde_json::Value;

use crate::{
    harness::{Output, Plugin},
    schema,
};

/// A JSON document of `explain TARGET`, which must follow the schema.
#[track_caller]
pub fn document(text: &str) -> Value {
    static SCHEMA: LazyLock<jsonschema::Validator> =
        LazyLock::new(|| schema::of(include_str!("../../../docs/explain.schema.json")));
    schema::checked(&SCHEMA, text)
}

/// All documents of one run; they follow each other.
#[track_caller]
fn documents(text: &str) -> Vec<Value> {
    serde_json::Deserializer::from_str(text)
        .into_iter::<Value>()
        .map(|value| document(&value.unwrap().to_string()))
        .collect()
}

/// `TYPE/NAME` of what was explained, in order.
#[track_caller]
fn explained(output: &Output) -> Vec<String> {
    let name = |document: &Value| {
        let text = |field: &str| document["target"][field].as_str().unwrap().to_owned();
        format!("{}/{}", text("resource"), text("name"))
    };
    documents(&output.stdout).iter().map(name).collect()
}

/// That it failed like this, with these words and this hint, and printed nothing else.
#[track_caller]
fn refused(plugin: Plugin, code: i32, error: &str, hint: &str) {
    let output = plugin.run();
    assert_eq!(output.code, code, "{output}");
    assert!(output.stdout.is_empty(), "{output}");
    let lines: Vec<_> = output.stderr.lines().collect();
    assert_eq!(
        lines,
        [format!("error: {error}"), format!("hint: {hint}")],
        "{output}"
    );
}
