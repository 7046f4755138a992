//! Asks the questions of a view about an object that the types of Kubernetes wrote, and about damaged copies of it.

use serde_json::{Value, json};

use crate::snapshot::facts::{Object, Resource};

/// What is in metadata of an object of which a scan read only the metadata.
const LISTED: [&str; 3] = ["name", "namespace", "uid"];

/// Asks questions of a view: what they answer about this object, and what they answer where the field is absent.
macro_rules! reads {
    ($object:expr => $view:expr; $(|$it:ident| $question:expr => $answer:expr, absent $absent:expr;)+) => {{
        let whole = serde_json::to_value(&$object).expect("an object as JSON");
        $($crate::diagnose::kinds::testing::check(
            &whole,
            stringify!($question),
            &|object| {
                let $it = $view(object);
                format!("{:?}", $question)
            },
            &format!("{:?}", $answer),
            &format!("{:?}", $absent),
        );)+
    }};
}
pub(super) use reads;

/// Checks one question. `answer` and `absent` are answers in the form of `Debug`.
pub(super) fn check(
    whole: &Value,
    question: &str,
    ask: &dyn Fn(&Object) -> String,
    answer: &str,
    absent: &str,
) {
    let ask = |value: Value| ask(&object_of(value));
    assert_ne!(
        answer, absent,
        "{question}: a misspelt path would give this answer too"
    );
    assert_eq!(ask(whole.clone()), answer, "{question}");
    assert_eq!(
        ask(listed(whole)),
        absent,
        "{question} of an object of which metadata was read"
    );
    for wrong in wrong_values() {
        for depth in [1, 2, usize::MAX] {
            let mut damaged = whole.clone();
            damage(&mut damaged, depth, &wrong);
            let found = ask(damaged);
            assert_eq!(found, absent, "{question} with {wrong} at depth {depth}");
        }
    }
    // One field at a time: the answer may be a part of the right one, so nothing but a panic is a fault.
    let mut paths = Vec::new();
    collect_paths(whole, "", &mut paths);
    for path in paths {
        for wrong in wrong_values() {
            let mut damaged = whole.clone();
            *damaged.pointer_mut(&path).expect("a path of this object") = wrong;
            ask(damaged);
        }
    }
}

/// The object with this JSON. Its type is as its `kind` names it.
fn object_of(value: Value) -> Object {
    let text = |field: &str| value.get(field).and_then(Value::as_str).unwrap_or_default();
    let (kind, api_version) = (text("kind").to_owned(), text("apiVersion").to_owned());
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    Object {
        resource: Resource::new(group, &format!("{}s", kind.to_lowercase())),
        kind,
        api_version,
        value,
    }
}

fn listed(whole: &Value) -> Value {
    let mut listed = json!({"kind": whole["kind"], "apiVersion": whole["apiVersion"], "metadata": {}});
    for field in LISTED {
        if let Some(value) = whole["metadata"].get(field) {
            listed["metadata"][field] = value.clone();
        }
    }
    listed
}

fn wrong_values() -> [Value; 6] {
    [
        json!(null),
        json!(7),
        json!("wrong"),
        json!(true),
        json!([7]),
        json!({"wrong": 7}),
    ]
}

/// Replaces every field at a depth, or every field without parts, by a value of another JSON type. A field that has the
/// type of that value becomes a number, and a number becomes a list. The fields that name the object stay.
fn damage(value: &mut Value, depth: usize, wrong: &Value) {
    fn inner(value: &mut Value, depth: usize, wrong: &Value) {
        let mut parts: Vec<_> = match value {
            Value::Object(fields) => fields.values_mut().collect(),
            Value::Array(elements) => elements.iter_mut().collect(),
            _ => Vec::new(),
        };
        if depth == 0 || parts.is_empty() {
            let is_same = std::mem::discriminant(value) == std::mem::discriminant(wrong);
            *value = match (is_same, wrong.is_number()) {
                (false, _) => wrong.clone(),
                (true, false) => json!(7),
                (true, true) => json!([]),
            };
            return;
        }
        for part in &mut parts {
            inner(part, depth - 1, wrong);
        }
    }
    for (field, value) in value.as_object_mut().into_iter().flatten() {
        match field.as_str() {
            "kind" | "apiVersion" => {}
            "metadata" => {
                for (field, value) in value.as_object_mut().into_iter().flatten() {
                    if !LISTED.contains(&field.as_str()) {
                        inner(value, depth.saturating_sub(2), wrong);
                    }
                }
            }
            _ => inner(value, depth - 1, wrong),
        }
    }
}

fn collect_paths(value: &Value, path: &str, paths: &mut Vec<String>) {
    let mut add = |key: &str, value: &Value| {
        let path = format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"));
        collect_paths(value, &path, paths);
        paths.push(path);
    };
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, value)| add(key, value)),
        Value::Array(elements) => elements
            .iter()
            .enumerate()
            .for_each(|(index, value)| add(&index.to_string(), value)),
        _ => {}
    }
}
