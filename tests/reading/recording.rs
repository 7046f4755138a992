//! What a cluster itself says in a recording: messages of conditions and events, which an explanation quotes. They are not
//! our words.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

/// Fewer words are a name or a value.
const WORDS: usize = 3;

/// Every text of some words in a recording, the longest first. A snapshot lies beside a folder with the same objects.
pub fn texts(from: &str) -> Vec<String> {
    let mut found = Vec::new();
    for path in &files(from) {
        read(path, &mut found);
    }
    found.sort_by_key(|text| std::cmp::Reverse(text.len()));
    found.dedup();
    found
}

fn read(path: &Path, found: &mut Vec<String>) {
    for value in &documents(path) {
        collect(value, found);
    }
}

fn documents(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    let documents = text.split("\n---\n");
    documents
        .map(|document| serde_saphyr::from_str(document).unwrap())
        .collect()
}

/// An object of a recording.
#[derive(Debug, PartialEq, Eq)]
pub struct Recorded {
    pub kind: String,
    pub namespace: Option<String>,
    pub name: String,
}

/// All objects of a recording.
pub fn objects(from: &str) -> Vec<Recorded> {
    let mut found = Vec::new();
    for value in files(from).iter().flat_map(|path| documents(path)) {
        let items = value["items"]
            .as_array()
            .cloned()
            .unwrap_or_else(|| vec![value.clone()]);
        let text = |item: &Value, field: &str| item.pointer(field).and_then(Value::as_str).map(str::to_owned);
        found.extend(items.iter().filter_map(|item| {
            Some(Recorded {
                kind: text(item, "/kind")?.to_lowercase(),
                namespace: text(item, "/metadata/namespace"),
                name: text(item, "/metadata/name")?,
            })
        }));
    }
    found
}

/// The files with the objects of a recording. Beside a snapshot there is a folder with what kubectl said of that cluster.
fn files(from: &str) -> Vec<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(from);
    if path.extension().is_some_and(|extension| extension == "snapshot") {
        let folder = fs::read_dir(path.with_extension("")).unwrap();
        folder.map(|entry| entry.unwrap().path()).collect()
    } else {
        vec![path]
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
