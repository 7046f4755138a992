//! Whether a printed command can be typed: as words of a shell, and as a command of kubectl or of ours.

use std::{collections::BTreeMap, sync::LazyLock};

use kubectl_finalizers::{cli, object::one_of};
use serde::Deserialize;
use serde_json::Value;

use crate::recording::Recorded;

/// `kubectl.yaml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Kubectl {
    global: Vec<String>,
    verbs: BTreeMap<String, Verb>,
    plugins: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Verb {
    /// The fewest words behind it.
    words: usize,
    flags: Vec<String>,
}

static KUBECTL: LazyLock<Kubectl> =
    LazyLock::new(|| serde_saphyr::from_str(include_str!("kubectl.yaml")).unwrap());

/// Why the command of a step of the JSON cannot be typed; none if it can, or if there is none.
pub fn fault(step: &Value) -> Option<String> {
    let line = step["command"].as_str()?;
    let why = fault_of(line, step)?;
    Some(format!("{why}: {line}"))
}

fn fault_of(line: &str, step: &Value) -> Option<String> {
    let list = |field: &str| -> Vec<String> {
        let words = step[field].as_array().into_iter().flatten();
        words.map(|word| word.as_str().unwrap().to_owned()).collect()
    };
    let argv = list("argv");
    let mut expected = Vec::new();
    if let Some(input) = step["input"].as_str() {
        expected.extend(["printf", "%s", input, "|"].map(str::to_owned));
    }
    expected.extend(argv.clone());
    let filter = list("filter");
    if !filter.is_empty() {
        expected.push("|".to_owned());
        expected.extend(filter);
    }
    if let Some(file) = step["output"].as_str() {
        expected.extend([">", file].map(str::to_owned));
    }
    if shlex::split(line).as_ref() != Some(&expected) {
        return Some(format!("a shell does not read {expected:?}"));
    }
    kubectl_fault(&argv.iter().map(String::as_str).collect::<Vec<_>>())
}

fn kubectl_fault(argv: &[&str]) -> Option<String> {
    let Some(("kubectl", mut rest)) = argv.split_first().map(|(first, rest)| (*first, rest)) else {
        return Some("not a command of kubectl".to_owned());
    };
    while let [flag, ..] = rest
        && flag.starts_with('-')
    {
        let taken = match takes_value(flag, &KUBECTL.global) {
            None => return Some(format!("no flag {flag}")),
            Some(true) if !flag.contains('=') => 2,
            Some(_) => 1,
        };
        rest = rest.get(taken..)?;
    }
    match rest {
        ["finalizers", words @ ..] => {
            let words = ["kubectl-finalizers"].iter().chain(words);
            let parsed = cli::parse(words.map(|word| (*word).into()));
            parsed.err().map(|error| error.to_string())
        }
        [plugin, ..] if KUBECTL.plugins.iter().any(|known| known == plugin) => None,
        [first, second, words @ ..] if KUBECTL.verbs.contains_key(&format!("{first} {second}")) => {
            verb_fault(&KUBECTL.verbs[&format!("{first} {second}")], words)
        }
        [verb, words @ ..] => match KUBECTL.verbs.get(*verb) {
            Some(verb) => verb_fault(verb, words),
            None => Some(format!("no verb {verb}")),
        },
        [] => Some("no verb".to_owned()),
    }
}

/// Verbs behind which an object must exist.
const OF_OBJECTS: [&str; 8] = [
    "annotate", "delete", "describe", "edit", "get", "label", "patch", "scale",
];

/// The object that the command of a step names and that the recording lacks, although it has others of that kind.
pub fn missing(step: &Value, recorded: &[Recorded]) -> Option<String> {
    let argv: Vec<_> = step["argv"]
        .as_array()?
        .iter()
        .map(|word| word.as_str().unwrap())
        .collect();
    let (verb, words) = match &*argv {
        ["kubectl", "finalizers", verb, words @ ..] | ["kubectl", verb, words @ ..] => (*verb, words),
        _ => return None,
    };
    let (ty, name) = words.iter().find_map(|word| word.split_once('/'))?;
    let is_about_one = OF_OBJECTS.contains(&verb) || ["explain", "nudge", "remove", "rescue"].contains(&verb);
    if !is_about_one || name.contains(|c: char| c.is_uppercase() || c == '/') {
        return None;
    }
    let namespace = words
        .iter()
        .position(|word| *word == "-n")
        .map(|at| words[at + 1]);
    let (one, _) = one_of(ty);
    let of_kind = |object: &&Recorded| is_named(&object.kind, one);
    let mut all = recorded.iter().filter(of_kind).peekable();
    all.peek()?;
    let is_it = |object: &Recorded| object.name == name && object.namespace.as_deref() == namespace;
    (!all.any(is_it)).then(|| format!("there is no {ty}/{name}: {}", step["command"]))
}

/// Whether a type as people type it is of this kind.
fn is_named(kind: &str, ty: &str) -> bool {
    let (ty, _) = ty.split_once('.').unwrap_or((ty, ""));
    let plurals = [kind.to_owned(), format!("{kind}s"), format!("{kind}es")];
    let ies = kind.strip_suffix('y').map(|stem| format!("{stem}ies"));
    plurals.iter().chain(&ies).any(|plural| plural == ty)
}

fn verb_fault(verb: &Verb, words: &[&str]) -> Option<String> {
    let flags: Vec<_> = verb.flags.iter().chain(&KUBECTL.global).cloned().collect();
    let (mut given, mut words) = (0, words.iter());
    while let Some(word) = words.next() {
        if !word.starts_with('-') || *word == "-" {
            given += 1;
            continue;
        }
        match takes_value(word, &flags) {
            None => return Some(format!("no flag {word}")),
            Some(true) if !word.contains('=') && words.next().is_none() => {
                return Some(format!("{word} lacks its value"));
            }
            Some(_) => {}
        }
    }
    (given < verb.words).then(|| format!("{given} words, {} are needed", verb.words))
}

/// Whether the flag takes a value; none if it is not in the list.
fn takes_value(flag: &str, known: &[String]) -> Option<bool> {
    let (name, _) = flag.split_once('=').unwrap_or((flag, ""));
    let known = known.iter().find(|known| known.trim_end_matches('=') == name)?;
    Some(known.ends_with('='))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(line: &str) -> Option<String> {
        fault(&json!({"command": line, "argv": shlex::split(line).unwrap()}))
    }

    #[test]
    fn a_command_that_can_be_typed_has_no_fault() {
        for line in [
            "kubectl get pods -A",
            "kubectl -n db patch pvc data-0 --type=merge -p '{}'",
            "kubectl auth can-i update pods --as=jane",
            "kubectl finalizers explain pvc/data-0 -n db --from 'my dump'",
            "kubectl -n kube-system logs deploy/x --tail=50",
        ] {
            assert_eq!(of(line), None);
        }
    }

    #[test]
    fn an_object_that_the_recording_lacks_is_found() {
        let object = |kind: &str, namespace: Option<&str>, name: &str| Recorded {
            kind: kind.to_owned(),
            namespace: namespace.map(str::to_owned),
            name: name.to_owned(),
        };
        let recorded = [
            object("pod", Some("db"), "db-0"),
            object("databaseclass", None, "fast"),
        ];
        let lacks = |line: &str| {
            let step = json!({"command": line, "argv": shlex::split(line).unwrap()});
            missing(&step, &recorded).is_some()
        };
        for line in [
            "kubectl get pod/db-0 -n db",
            "kubectl describe databaseclasses.example.com/fast",
            "kubectl get pods -n db",
            "kubectl get node/a",
            "kubectl get pod/NAME -n db",
        ] {
            assert!(!lacks(line), "{line}");
        }
        for line in [
            "kubectl delete pod/db-1 -n db",
            "kubectl get pod/db-0 -n other",
            "kubectl finalizers explain databaseclasses.example.com/slow",
        ] {
            assert!(lacks(line), "{line}");
        }
    }

    #[test]
    fn a_wrong_verb_flag_or_quote_is_a_fault() {
        for line in [
            "kubectl gett pods",
            "kubectl get",
            "kubectl get pods --ouput=yaml",
            "kubectl get pods -n",
            "kubectl finalizers remove x/y --finaliser z",
            "helm list",
        ] {
            assert!(of(line).is_some(), "{line}");
        }
        let other = json!({"command": "kubectl get a b", "argv": ["kubectl", "get", "a b"]});
        assert!(fault(&other).is_some());
    }
}
