//! The help fits one screen, its examples run, and each command accepts only flags that it uses.

use tempfile::TempDir;
use unicode_width::UnicodeWidthStr;

use crate::{
    harness::{Output, Plugin},
    scan::troubled::troubled,
    snapshot::STUCK,
};

const RECORDED: &str = "examples/stuck-cluster.snapshot";

/// The short help of a command on a terminal of 80 columns, or of all commands.
fn short(verb: &[&str]) -> String {
    let words = verb.iter().copied().chain(["-h"]);
    Plugin::new(words).env("COLUMNS", "80").run().success()
}

fn verbs() -> Vec<String> {
    let help = short(&[]);
    let list = help.split("Commands:\n").nth(1).unwrap().lines();
    // The text of a command can go on in the next line.
    let verbs: Vec<_> = list
        .take_while(|line| !line.is_empty())
        .filter(|line| !line.starts_with("   "))
        .map(|line| line.split_whitespace().next().unwrap().to_owned())
        .filter(|verb| verb != "help")
        .collect();
    assert!(verbs.len() >= 9, "{help}");
    verbs
}

/// The commands below "Examples:", without their comments.
fn examples(help: &str) -> Vec<Vec<String>> {
    let (_, rest) = help.split_once("Examples:\n").unwrap_or_else(|| panic!("{help}"));
    let text: String = rest
        .lines()
        .take_while(|line| line.starts_with("  "))
        .filter(|line| !line.trim_start().starts_with('#'))
        .flat_map(|line| [line, "\n"])
        .collect();
    text.replace("\\\n", " ")
        .lines()
        .map(|line| {
            let words = line
                .split_whitespace()
                .map(|word| word.trim_matches('\'').to_owned());
            let words: Vec<_> = words.collect();
            assert_eq!(words[..2], ["kubectl", "finalizers"], "{help}");
            words[2..].to_vec()
        })
        .collect()
}

#[test]
fn the_program_alone_prints_the_short_help() {
    let alone = Plugin::new([""; 0]).env("COLUMNS", "80").run();
    assert_eq!((alone.code, alone.stderr.as_str()), (0, ""), "{alone}");
    assert_eq!(alone.stdout, short(&[]));
    // Flags without a command are a mistake.
    assert_eq!(Plugin::new(["--context", "x"]).run().code, 2);
}

#[test]
fn the_short_help_of_each_command_fits_one_screen() {
    for verb in verbs().iter().map(|verb| vec![verb.as_str()]).chain([vec![]]) {
        let help = short(&verb);
        assert!(
            help.lines().count() <= 40,
            "{verb:?} has {} lines:\n{help}",
            help.lines().count()
        );
        assert!(help.lines().all(|line| line.width() <= 80), "{help}");
        if verb != ["options"] {
            assert!(examples(&help).len() >= 3, "{help}");
            assert!(help.contains("\"kubectl finalizers options\""), "{help}");
            assert!(!help.contains("--kubeconfig"), "{help}");
        }
    }
}

#[test]
fn the_page_of_options_has_the_flags_that_all_commands_accept() {
    let page = Plugin::new(["options"]).run().success();
    for flag in [
        "--kubeconfig",
        "--context",
        "-n, --namespace",
        "--as-uid",
        "--knowledge",
        "--color",
        "--shell",
    ] {
        assert!(page.contains(flag), "{flag}:\n{page}");
    }
    let through_kubectl = troubled().plugin(["options"]).through_kubectl().run().success();
    assert_eq!(through_kubectl, page);
}

#[test]
fn the_help_of_explain_says_which_namespace_is_the_default() {
    let help = Plugin::new(["explain", "--help"]).run().success();
    let text = help.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains("Without -n, an object is looked for in the namespace of the context"),
        "{help}"
    );
}

#[test]
fn the_examples_for_reading_run_on_a_recording() {
    for verb in ["scan", "explain", "catalog", "options"] {
        for mut words in examples(&short(&[verb])) {
            let of_object = words
                .iter()
                .any(|word| word.starts_with("pvc/") || word.starts_with("ns/"));
            if (verb == "scan" || of_object) && !words.contains(&"--from".to_owned()) {
                words.extend(["--from", RECORDED].map(str::to_owned));
            }
            let out = Plugin::new(words.clone()).run().success();
            assert!(out.lines().count() > 1, "{words:?}: {out}");
        }
    }
    for words in examples(&short(&[])) {
        assert!(
            examples(&short(&["scan"])).contains(&words) || examples(&short(&["explain"])).contains(&words)
        );
    }
}

/// Nobody is at a terminal here, so what would change something is refused at the question.
#[test]
fn the_other_examples_find_their_objects_in_a_cluster() {
    // Not the cluster whose audit log another test reads: a snapshot reads more than a scan.
    let cluster = &*STUCK;
    let folder = TempDir::new().unwrap();
    let run = |words: &[String]| -> Output {
        let words = words.iter().map(|word| {
            if word.ends_with(".snapshot") {
                folder.path().join(word).to_str().unwrap().to_owned()
            } else {
                word.clone()
            }
        });
        cluster.plugin(words).home(folder.path()).run()
    };
    for verb in ["snapshot", "version", "remove", "finalize", "nudge", "rescue"] {
        for words in examples(&short(&[verb])) {
            let out = run(&words);
            let expected: &[i32] = if ["snapshot", "version"].contains(&verb) {
                &[0]
            } else {
                &[0, 3]
            };
            assert!(expected.contains(&out.code), "{words:?}: {out}");
            assert!(!out.stderr.contains("not found"), "{words:?}: {out}");
        }
    }
}

#[test]
fn a_command_that_asks_no_cluster_refuses_the_flags_of_the_connection() {
    for words in [
        &["catalog", "--context", "x"][..],
        &["--context", "x", "catalog"],
        &["catalog", "-n", "db"],
        &["options", "--token", "x"],
        &["scan", "--from", RECORDED, "--context", "x"],
        &[
            "explain",
            "pvc/data-0",
            "-n",
            "db",
            "--from",
            RECORDED,
            "--as",
            "x",
        ],
    ] {
        let out = Plugin::new(words.iter().copied()).run();
        assert_eq!((out.code, out.stdout.as_str()), (2, ""), "{words:?}: {out}");
        assert!(out.stderr.contains("has no use here"), "{words:?}: {out}");
    }
    // A namespace selects among the objects of a file.
    Plugin::new(["scan", "-n", "db", "--from", RECORDED])
        .run()
        .success();
}
