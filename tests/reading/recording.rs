//! What a cluster itself says in a recording: messages of conditions and events, which an explanation quotes. They are not
//! our words.

use std::{fs, path::Path};

use serde_json::Value;

/// Fewer words are a name or a value.
const WORDS: usize = 3;

/// Every text of some words in a recording, the longest first. A snapshot lies beside a folder with the same objects.
pub fn texts(from: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(from);
    let mut found = Vec::new();
    if path.extension().is_some_and(|extension| extension == "snapshot") {
        for entry in fs::read_dir(path.with_extension("")).unwrap() {
            read(&entry.unwrap().path(), &mut found);
        }
    } else {
        read(&path, &mut found);
    }
    found.sort_by_key(|text| std::cmp::Reverse(text.len()));
    found.dedup();
    found
}

fn read(path: &Path, found: &mut Vec<String>) {
    for document in fs::read_to_string(path).unwrap().split("\n---\n") {
        let value: Value = serde_saphyr::from_str(document).unwrap();
        collect(&value, found);
    }
}

fn collect(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => {
            let text = text.split_whitespace().collect::<Vec<_>>();
            if text.len() >= WORDS {
                found.push(text.join(" ").trim_end_matches('.').to_owned());
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        Value::Object(fields) => fields.values().for_each(|field| collect(field, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
