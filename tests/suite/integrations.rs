//! The files in `integrations/`: each is YAML, the program accepts each of our commands in it, and each runbook exists.

use std::{
    fs,
    path::{Path, PathBuf},
};

use kubectl_finalizers::cli;
use serde_json::Value;

use crate::harness::Plugin;

const PAGES: &str = "https://github.com/kubectl-finalizers/kubectl-finalizers/blob/main/";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every file below the folder with this extension, and its text.
fn files(extension: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root().join("integrations")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                let text = fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    found.sort();
    found
}

/// Every text in a document, and each list of texts as one command line.
fn texts(value: &Value, into: &mut Vec<String>) {
    match value {
        Value::String(text) => into.push(text.clone()),
        Value::Array(values) => {
            let words: Option<Vec<_>> = values.iter().map(Value::as_str).collect();
            match words {
                Some(words) => into.push(words.join(" ")),
                None => {
                    for value in values {
                        texts(value, into);
                    }
                }
            }
        }
        Value::Object(fields) => fields.values().for_each(|value| texts(value, into)),
        _ => {}
    }
}

/// Our commands in a text, as words. A variable of k9s or of a shell stays a word.
fn commands(text: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut words = text.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let is_ours = word == "kubectl-finalizers"
            || word.ends_with("/kubectl-finalizers")
            || word == "kubectl" && words.next_if(|next| *next == "finalizers").is_some();
        if !is_ours {
            continue;
        }
        let mut command = Vec::new();
        while let Some(word) = words.next_if(|word| !["|", ">", "2>&1"].contains(word)) {
            let bare = word.trim_end_matches([';', ',', '.']);
            command.push(bare.trim_matches(['"', '\'']).to_owned());
            // The end of a command in a script, or of a sentence.
            if bare.len() < word.len() {
                break;
            }
        }
        found.push(command);
    }
    found
}

fn assert_accepted(words: Vec<String>, path: &Path) {
    let line = words.join(" ");
    let all = ["kubectl-finalizers".to_owned()].into_iter().chain(words);
    let parsed = cli::parse(all.map(Into::into));
    assert!(parsed.is_ok(), "{}: {line}: {parsed:?}", path.display());
}

#[test]
fn every_file_is_yaml_and_every_command_in_it_is_accepted() {
    let mut accepted = 0;
    for (path, text) in files("yaml") {
        let parsed: Vec<Value> =
            serde_saphyr::from_multiple(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut found = Vec::new();
        for document in &parsed {
            texts(document, &mut found);
        }
        for words in found.iter().flat_map(|text| commands(text)) {
            assert_accepted(words, &path);
            accepted += 1;
        }
    }
    assert!(accepted > 8, "only {accepted} commands were found");
}

#[test]
fn every_command_of_the_page_is_accepted() {
    let mut accepted = 0;
    for (path, text) in files("md") {
        let blocks = text.split("```sh\n").skip(1);
        for line in blocks.flat_map(|block| block.split("```").next().unwrap().lines()) {
            for words in commands(line) {
                assert_accepted(words, &path);
                accepted += 1;
            }
        }
    }
    assert!(accepted > 6, "only {accepted} commands were found");
}

/// The arguments of a plugin of k9s as it runs them (`derailed/k9s:internal/view/env.go`): what is left of a `$` would
/// be an error.
#[test]
fn the_plugins_of_k9s_explain_objects_of_every_type() {
    let objects = [
        ("persistentvolumeclaims", "v1", "", "data-0", "db"),
        // k9s writes a dash where there is no namespace.
        ("persistentvolumes", "v1", "", "pvc-6791fdd4", "-"),
        ("challenges", "v1", "acme.cert-manager.io", "api-cert", "pay"),
    ];
    let text = fs::read_to_string(root().join("integrations/k9s/plugins.yaml")).unwrap();
    let parsed: Value = serde_saphyr::from_str(&text).unwrap();
    let script = parsed["plugins"]["finalizers-explain"]["args"][1]
        .as_str()
        .unwrap();
    for (resource, version, group, name, namespace) in objects {
        let script = script
            .replace("$RESOURCE_NAME", resource)
            .replace("$RESOURCE_VERSION", version)
            .replace("$RESOURCE_GROUP", group)
            .replace("$NAMESPACE", namespace)
            .replace("$CONTEXT", "")
            .replace("$NAME", name);
        assert!(!script.contains('$'), "{script}");
        let words = commands(&script).remove(0);
        let there = words.iter().position(|word| word == "--context").unwrap();
        // A recording has no context.
        let words = words[..there].iter().map(String::as_str);
        let from = ["--from", "examples/stuck-cluster.snapshot"];
        let out = Plugin::new(words.chain(from)).run();
        assert!(out.code == 0 && out.stdout.contains(name), "{out}");
    }
}

#[test]
fn every_runbook_exists() {
    let mut found = 0;
    for (path, text) in files("yaml") {
        for link in text.split(PAGES).skip(1) {
            let page = link.split_whitespace().next().unwrap();
            assert!(root().join(page).exists(), "{}: {page}", path.display());
            found += 1;
        }
    }
    assert!(found >= 2, "only {found} runbooks were found");
}
