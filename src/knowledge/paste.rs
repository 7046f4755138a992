//! Finds finalizer names in pasted text: a bare or quoted name, a JSON or YAML list, Go's `[a b]`, a whole
//! `"finalizers": […]`, a line of an error message.

use serde_json::Value;

use super::builtin;

/// Words that appear around finalizers and never are one.
const CONTEXT_WORDS: [&str; 6] = [
    "finalizers",
    "metadata",
    "metadata.finalizers",
    "spec",
    "spec.finalizers",
    "null",
];

/// The names in a pasted text, in order, each once, in the given case.
pub fn names(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    match serde_json::from_str(text) {
        Ok(value @ (Value::Array(_) | Value::Object(_))) => from_json(&value, true, &mut found),
        _ => found = from_text(text),
    }
    let mut names: Vec<String> = Vec::new();
    for name in found {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The strings of an array. In an object, only those under `finalizers`, at any depth.
fn from_json(value: &Value, is_list: bool, found: &mut Vec<String>) {
    match value {
        Value::String(name) if is_list => found.extend(trim_word(name)),
        Value::Array(items) => items.iter().for_each(|item| from_json(item, is_list, found)),
        Value::Object(fields) => {
            fields
                .iter()
                .for_each(|(key, value)| from_json(value, key == "finalizers", found));
        }
        _ => {}
    }
}

fn from_text(text: &str) -> Vec<String> {
    let lists = finalizer_lists(text);
    if !lists.is_empty() {
        return words(&lists).collect();
    }
    let words: Vec<String> = words(text).collect();
    let is_list =
        words.len() == 1 || text.trim_start().starts_with(['[', '"', '\'', '-', '{']) || text.contains(',');
    let some_qualified = words.iter().any(|word| is_qualified(word));
    // Among other words, a name has a dot or slash, or is known. If no word looks like a name, the result
    // depends on the form of the text: a list or a sentence.
    let in_sentence = some_qualified || !is_list;
    words
        .into_iter()
        .filter(|word| !in_sentence || is_qualified(word) || builtin::is_name(word))
        .collect()
}

/// The lines of lists named `finalizers`, as in a manifest; empty if there is no such list.
fn finalizer_lists(text: &str) -> String {
    let mut kept = String::new();
    let mut inside = false;
    let mut bracket = false;
    for line in text.lines() {
        let after_key = after_key(line);
        if let Some(rest) = after_key {
            (inside, bracket) = (true, rest.trim_start().starts_with('['));
        } else if !bracket && !line.trim_start().starts_with('-') {
            inside = false;
        }
        if inside {
            let piece = after_key.unwrap_or(line);
            let ends = bracket && piece.contains(']');
            let piece = if bracket {
                piece.split(']').next().unwrap_or(piece)
            } else {
                piece
            };
            kept.extend([piece, "\n"]);
            if ends {
                (inside, bracket) = (false, false);
            }
        }
    }
    kept
}

/// The text after `finalizers:` in a line, if the line has that key.
fn after_key(line: &str) -> Option<&str> {
    let (before, after) = line.split_once("finalizers")?;
    let after = after
        .trim_start_matches(['"', '\''])
        .trim_start()
        .strip_prefix(':')?;
    // Only the path to the key and markup may stand before it.
    let path = before.replace(|c: char| !c.is_alphanumeric(), "");
    ["", "metadata", "spec"].contains(&path.as_str()).then_some(after)
}

fn words(text: &str) -> impl Iterator<Item = String> {
    let separates = |c: char| c.is_whitespace() || c.is_control() || ",;[]{}()\"'`“”‘’=".contains(c);
    text.split(separates).filter_map(trim_word)
}

/// A word without surrounding punctuation; none if the rest cannot be a name.
fn trim_word(word: &str) -> Option<String> {
    let word = word
        .trim()
        .trim_end_matches([',', ';', ':', '.', '!', '?'])
        .trim_start_matches(':');
    let word = word.strip_prefix("- ").unwrap_or(word).trim();
    // The text after a key without a space: `finalizers:x`.
    let word = CONTEXT_WORDS
        .iter()
        .find_map(|key| word.strip_prefix(key)?.strip_prefix(':'))
        .unwrap_or(word);
    let is_name =
        word.chars().any(char::is_alphabetic) && !CONTEXT_WORDS.contains(&word.to_ascii_lowercase().as_str());
    is_name.then(|| word.to_owned())
}

/// Whether a word has the form `domain/path` or `some.domain`.
fn is_qualified(word: &str) -> bool {
    let inner = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    inner.contains(['.', '/'])
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn finds_names_in_every_pasted_form() {
        let pv = "kubernetes.io/pv-protection";
        let pvc = "kubernetes.io/pvc-protection";
        for (pasted, expected) in [
            ("kubernetes.io/pv-protection", vec![pv]),
            ("  'kubernetes.io/pv-protection',\n", vec![pv]),
            ("\"kubernetes.io/pv-protection\"", vec![pv]),
            ("[kubernetes.io/pv-protection]", vec![pv]),
            ("[\"kubernetes.io/pv-protection\"]", vec![pv]),
            (
                "[kubernetes.io/pv-protection kubernetes.io/pvc-protection]",
                vec![pv, pvc],
            ),
            (
                "[\"kubernetes.io/pv-protection\", \"kubernetes.io/pvc-protection\"]",
                vec![pv, pvc],
            ),
            (
                "[\"kubernetes.io/pv-protection\", \"kubernetes.io/pvc-protection\",]",
                vec![pv, pvc],
            ),
            ("metadata.finalizers: - kubernetes.io/pv-protection", vec![pv]),
            (
                "finalizers:\n  - kubernetes.io/pv-protection\n  - kubernetes.io/pvc-protection\n",
                vec![pv, pvc],
            ),
            ("\"finalizers\": [\"kubernetes.io/pv-protection\"],", vec![pv]),
            (
                "{\"metadata\":{\"name\":\"a.b/c\",\"finalizers\":[\"kubernetes.io/pv-protection\"]}}",
                vec![pv],
            ),
            ("finalizers:kubernetes.io/pv-protection", vec![pv]),
            (
                "kubernetes.io/pv-protection, kubernetes.io/pv-protection",
                vec![pv],
            ),
            ("orphan", vec!["orphan"]),
            ("orphan foregroundDeletion", vec!["orphan", "foregroundDeletion"]),
            ("- orphan\n- kubernetes.io/pv-protection", vec!["orphan", pv]),
            ("longhorn.io", vec!["longhorn.io"]),
            ("\"spec\": {\"finalizers\": [\"kubernetes\"]}", vec!["kubernetes"]),
            (
                "has finalizers remaining: kubernetes.io/pv-protection in 3 resource instances.",
                vec![pv],
            ),
            (
                "external-attacher/ebs-csi-aws-com",
                vec!["external-attacher/ebs-csi-aws-com"],
            ),
            (
                "kind: Namespace\nmetadata:\n  name: foo.bar\n  finalizers:\n  - kubernetes.io/pv-protection\nspec:\n  \
                 finalizers:\n  - kubernetes\nstatus:\n  phase: a.b/c\n",
                vec![pv, "kubernetes"],
            ),
            (
                "\"finalizers\": [\n  \"kubernetes.io/pv-protection\",\n  \"orphan\"\n],\n\"name\": \"a.b\"",
                vec![pv, "orphan"],
            ),
            ("first, second", vec!["first", "second"]),
            ("Error from server (Forbidden): nothing here", vec![]),
            ("finalizers: null", vec![]),
            ("[]", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(names(pasted), expected, "{pasted}");
        }
    }
}
