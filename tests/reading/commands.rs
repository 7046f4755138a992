//! Whether a printed command can be typed: as words of a shell, and as a command of kubectl or of ours.

use std::{collections::BTreeMap, sync::LazyLock};

use kubectl_finalizers::cli;
use serde::Deserialize;
use serde_json::Value;

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
