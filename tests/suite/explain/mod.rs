//! Stuck deletions, one for each test: the explanation names the cause, and its steps work. The tests of a cause have the
//! path of its page in `docs/causes/`.
//!
//! Every JSON document that these tests read is checked against `docs/explain.schema.json`.

mod api_machinery;
mod asked;
mod changing;
mod commands;
mod custom_resources;
mod garbage_collector;
pub mod holder;
mod impact;
mod labels;
mod leftovers;
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
mod withheld;

pub use testkit::dice;

use std::sync::LazyLock;

use serde_json::Value;

use crate::{
    harness::{Output, Plugin},
    schema,
};

/// Parses a JSON document of `explain TARGET` and checks it against the schema.
#[track_caller]
pub fn document(text: &str) -> Value {
    static SCHEMA: LazyLock<testkit::jsonschema::Validator> =
        LazyLock::new(|| schema::of(include_str!("../../../docs/explain.schema.json")));
    schema::checked(&SCHEMA, text)
}

/// Parses all documents of one run, in order.
#[track_caller]
fn documents(text: &str) -> Vec<Value> {
    serde_json::Deserializer::from_str(text)
        .into_iter::<Value>()
        .map(|value| document(&value.unwrap().to_string()))
        .collect()
}

/// The explained objects as `TYPE/NAME`, in order.
#[track_caller]
fn explained(output: &Output) -> Vec<String> {
    let name = |document: &Value| {
        let text = |field: &str| document["target"][field].as_str().unwrap().to_owned();
        format!("{}/{}", text("resource"), text("name"))
    };
    documents(&output.stdout).iter().map(name).collect()
}

/// Asserts that the plugin fails with this exit code, error and hint, and prints nothing else.
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
