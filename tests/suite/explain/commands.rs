//! Every command that an explanation prints works on the cluster that it was printed for. What reads is run; what changes is
//! run with `--dry-run=server`, and our own verbs with `--plan`. An object that is not found is no fault: some steps look
//! whether it exists.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::told::{changes, run, told};
use crate::{
    harness::{Cluster, program},
    stuck,
};

/// What kubectl or an API server says of a command that can never work here.
const CANNOT_WORK: [&str; 7] = [
    "the server doesn't have a resource type",
    "could not find the requested resource",
    "(Forbidden)",
    "unknown flag",
    "unknown shorthand flag",
    "unknown command",
    "(BadRequest)",
];
/// Verbs of kubectl whose change the server can try.
const WITH_DRY_RUN: [&str; 7] = ["annotate", "apply", "delete", "label", "patch", "scale", "taint"];

/// The object and its namespace of everything that is stuck.
fn stuck_objects(cluster: &Cluster) -> Vec<[String; 2]> {
    let scanned = cluster.plugin(["scan", "-o", "json", "--terminating"]).run();
    let scanned: Value = serde_json::from_str(&scanned.stdout).unwrap();
    let objects = scanned["terminating"].as_array().unwrap();
    let text = |object: &Value, field: &str| object[field].as_str().unwrap_or_default().to_owned();
    objects
        .iter()
        .map(|object| {
            [
                format!("{}/{}", text(object, "resource"), text(object, "name")),
                text(object, "namespace"),
            ]
        })
        .collect()
}

/// Why a command fails for what it is, and not for the state of the cluster; none if it does not.
fn fault(cluster: &Cluster, command: &str) -> Option<String> {
    let has = |verb: &&str| command.split(' ').any(|word| word == *verb);
    let tried = if changes(command) {
        format!("{command} --plan")
    } else if WITH_DRY_RUN.iter().any(has) && !command.contains("--dry-run") {
        format!("{command} --dry-run=server")
    } else {
        command.to_owned()
    };
    let output = run(cluster, &tried);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let cannot = CANNOT_WORK.iter().any(|words| said.contains(words));
    // A usage error of ours.
    let is_usage = command.starts_with("kubectl finalizers ") && output.status.code() == Some(2);
    (cannot || is_usage).then(|| format!("{tried}\n  {said}"))
}

/// Whether something must be filled in first: `kubectl -n HOLDER-NAMESPACE logs …`.
fn is_open(command: &str) -> bool {
    let is_capital = |word: &str| {
        word.len() > 3 && word.chars().all(|c| c.is_ascii_uppercase() || c == '-') && !word.starts_with('-')
    };
    command.split([' ', '/', '=', '.']).any(is_capital)
}

#[test]
#[ignore = "takes minutes: scripts/long slow"]
fn every_printed_command_works_on_its_cluster() {
    let cluster = Cluster::start();
    stuck::example_cluster(&cluster);
    let mut commands = BTreeMap::new();
    for [target, namespace] in stuck_objects(&cluster) {
        for command in told(&cluster, &target, &namespace).commands() {
            commands
                .entry(command.to_owned())
                .or_insert_with(|| target.clone());
        }
    }
    commands.retain(|command, _| !is_open(command));
    assert!(commands.len() >= 20, "{commands:#?}");
    let faults: Vec<_> = commands
        .iter()
        .filter_map(|(command, target)| Some(format!("{target}: {}", fault(&cluster, command)?)))
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    // The test itself notices what cannot work.
    assert!(fault(&cluster, "kubectl get nothings.example.com").is_some());
    assert!(fault(&cluster, "kubectl delete namespace default").is_some());
}

/// `tests/reading/kubectl.yaml`.
#[derive(Deserialize)]
struct Kubectl {
    global: Vec<String>,
    verbs: BTreeMap<String, Verb>,
}

#[derive(Deserialize)]
struct Verb {
    flags: Vec<String>,
}

#[test]
fn the_verbs_and_flags_of_the_reading_test_are_those_of_kubectl() {
    let help = |words: &str| {
        let output = std::process::Command::new(program("kubectl"))
            .args(words.split(' '))
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let kubectl: Kubectl = serde_saphyr::from_str(include_str!("../../reading/kubectl.yaml")).unwrap();
    let check = |whose: &str, flags: &[String], help: &str| {
        for flag in flags {
            let (name, takes_value) = match flag.strip_suffix('=') {
                Some(name) => (name, true),
                None => (flag.as_str(), false),
            };
            // `    -A, --all-namespaces=false:`; only switches have a default that is true or false.
            let line = help.lines().map(str::trim_start).find(|line| {
                let (names, _) = line.split_once(['=', ':']).unwrap_or((line, ""));
                line.starts_with('-') && names.split(", ").any(|one| one == name)
            });
            let line = line.unwrap_or_else(|| panic!("{whose}: no flag {name}"));
            let is_switch = line.contains("=false:") || line.contains("=true:");
            assert_ne!(takes_value, is_switch, "{whose}: {line}");
        }
    };
    check("kubectl", &kubectl.global, &help("options"));
    for (verb, Verb { flags }) in &kubectl.verbs {
        check(verb, flags, &help(&format!("{verb} --help")));
    }
}
