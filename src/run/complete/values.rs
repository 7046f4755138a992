//! What the values of each argument are.

use std::{collections::BTreeSet, ffi::OsStr, sync::Arc};

use clap::{Command, CommandFactory};
use clap_complete::{ArgValueCompleter, CompletionCandidate};

use super::{found, typed::Typed};
use crate::{
    cli::Cli,
    knowledge::{Knowledge, Match},
};

/// The values of an argument, other than fixed words and files, which clap knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Values {
    /// `TYPE/NAME`, or `TYPE NAME`.
    Targets,
    /// The same, and finalizers.
    TargetsOrFinalizers,
    Types,
    Namespaces,
    /// Those of the typed object, otherwise those of the catalogue.
    FinalizersOfTarget,
    Finalizers,
    /// Kinds of the catalogue.
    Kinds,
    Projects,
    Consequences,
    /// Consequences that a plan asks to accept.
    Costs,
    Contexts,
    Clusters,
    Users,
}

/// The values of an argument of a command; the command is empty for the flags that all accept.
fn values(verb: &str, argument: &str) -> Option<Values> {
    Some(match (verb, argument) {
        ("explain", "words") => Values::TargetsOrFinalizers,
        (_, "targets") => Values::Targets,
        ("finalize", "name") | (_, "namespace") => Values::Namespaces,
        ("scan", "types" | "exclude") => Values::Types,
        ("remove" | "finalize", "finalizer") => Values::FinalizersOfTarget,
        ("scan", "finalizer") | ("catalog", "pattern") => Values::Finalizers,
        ("catalog", "kinds") => Values::Kinds,
        ("catalog", "project") => Values::Projects,
        ("catalog", "consequence") => Values::Consequences,
        (_, "accept") => Values::Costs,
        (_, "context") => Values::Contexts,
        (_, "cluster") => Values::Clusters,
        (_, "user") => Values::Users,
        _ => return None,
    })
}

/// The commands with the values of their arguments. Flags are listed only if the current word begins as one.
pub(super) fn command(typed: Typed, current: &OsStr) -> Command {
    let typed = Arc::new(typed);
    let flags = current.to_string_lossy().starts_with('-');
    let with_values = |verb: &str, command: Command| {
        let command = command.disable_help_flag(!flags).disable_version_flag(!flags);
        command.mut_args(|arg| {
            let values = values(verb, arg.get_id().as_str());
            let positional = arg.is_positional();
            let arg = arg.hide(!flags && !positional);
            let Some(values) = values else { return arg };
            let typed = Arc::clone(&typed);
            arg.add(ArgValueCompleter::new(move |current: &OsStr| {
                candidates(values, current, &typed)
            }))
        })
    };
    with_values("", Cli::command()).mut_subcommands(|command| {
        let verb = command.get_name().to_owned();
        with_values(&verb, command)
    })
}

fn candidates(values: Values, current: &OsStr, typed: &Typed) -> Vec<CompletionCandidate> {
    let Some(current) = current.to_str() else {
        return Vec::new();
    };
    let mut candidates = match values {
        Values::Targets => found::targets(typed, current),
        Values::TargetsOrFinalizers => {
            let mut both = found::targets(typed, current);
            if !current.is_empty() {
                both.extend(plain(finalizers()));
            }
            both
        }
        Values::Types => found::types(typed),
        Values::Namespaces => found::namespaces(typed),
        Values::FinalizersOfTarget => match found::finalizers(typed) {
            none if none.is_empty() => plain(finalizers()),
            known => plain(known),
        },
        Values::Finalizers => plain(finalizers()),
        Values::Kinds => plain(kinds()),
        Values::Projects => plain(projects()),
        Values::Consequences => plain(consequences(0)),
        // Nobody is asked to accept the first two.
        Values::Costs => plain(consequences(2)),
        Values::Contexts => plain(found::kubeconfig(typed).contexts),
        Values::Clusters => plain(found::kubeconfig(typed).clusters),
        Values::Users => plain(found::kubeconfig(typed).users),
    };
    candidates.retain(|candidate| candidate.get_value().to_string_lossy().starts_with(current));
    candidates
}

fn plain(words: Vec<String>) -> Vec<CompletionCandidate> {
    words.into_iter().map(CompletionCandidate::new).collect()
}

fn consequences(from: usize) -> Vec<String> {
    let words = [
        "none",
        "metadata",
        "orphaned-objects",
        "leaked-infrastructure",
        "data-loss",
    ];
    words.into_iter().skip(from).map(str::to_owned).collect()
}

/// The names in the catalogue; a pattern is no name.
fn finalizers() -> Vec<String> {
    let catalogue = Knowledge::builtin();
    let exact = catalogue.all().filter(|entry| entry.r#match == Match::Exact);
    sorted(exact.map(|entry| entry.name.clone()))
}

fn kinds() -> Vec<String> {
    let knowledge = Knowledge::builtin();
    let kinds = knowledge.all().flat_map(|entry| &entry.kinds);
    sorted(
        kinds
            .map(|kind| kind.kind().to_lowercase())
            .filter(|kind| is_word(kind)),
    )
}

/// In small letters, which `--project` takes for capitals, too.
fn projects() -> Vec<String> {
    let catalogue = Knowledge::builtin();
    let names = catalogue.all().map(|entry| entry.project.to_lowercase());
    sorted(names.filter(|name| is_word(name)))
}

/// Whether it is one word to every shell, without quotes.
fn is_word(text: &str) -> bool {
    !text.is_empty()
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c))
}

fn sorted(words: impl Iterator<Item = String>) -> Vec<String> {
    let words: BTreeSet<_> = words.collect();
    words.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;
    use clap_complete::engine::complete;

    fn completed(words: &[&str]) -> Vec<String> {
        let words: Vec<OsString> = ["k"].iter().chain(words).map(OsString::from).collect();
        let index = words.len() - 1;
        let mut command = command(Typed::new(&words[..index]), &words[index]);
        let found = complete(&mut command, words, index, None).expect("the last word can be completed");
        let text = |candidate: &CompletionCandidate| candidate.get_value().to_string_lossy().into_owned();
        found.iter().map(text).collect()
    }

    #[test]
    fn every_argument_that_has_values_exists() {
        let command = Cli::command();
        let has = |verb: &str, id: &str| {
            let of_verb = command.find_subcommand(verb).expect("the verb exists");
            of_verb.get_arguments().any(|arg| arg.get_id() == id)
        };
        for (verb, id) in [
            ("explain", "words"),
            ("watch", "targets"),
            ("remove", "targets"),
            ("remove", "finalizer"),
            ("remove", "accept"),
            ("nudge", "targets"),
            ("rescue", "targets"),
            ("snapshot", "targets"),
            ("finalize", "name"),
            ("finalize", "finalizer"),
            ("scan", "types"),
            ("scan", "exclude"),
            ("scan", "finalizer"),
            ("catalog", "pattern"),
            ("catalog", "kinds"),
            ("catalog", "project"),
            ("catalog", "consequence"),
        ] {
            assert!(has(verb, id), "{verb} {id}");
            assert!(values(verb, id).is_some(), "{verb} {id}");
        }
    }

    #[test]
    fn verbs_flags_and_fixed_values() {
        assert_eq!(completed(&["ex"]), ["explain", "exporter"]);
        assert!(!completed(&[""]).iter().any(|word| word.starts_with("__")));
        assert!(completed(&["scan", "--sort"]).contains(&"--sort-by".to_owned()));
        assert!(completed(&["scan", "--conte"]).contains(&"--context".to_owned()));
        assert_eq!(completed(&["scan", "-o", "j"]), ["json"]);
        assert_eq!(completed(&["scan", "--output=y"]), ["--output=yaml"]);
        assert_eq!(completed(&["completion", "p"]), ["powershell"]);
        assert_eq!(
            completed(&["remove", "pv/a", "--accept", ""]),
            ["orphaned-objects", "leaked-infrastructure", "data-loss"]
        );
    }

    #[test]
    fn words_of_the_catalogue() {
        assert!(
            completed(&["explain", "kubernetes.io/pvc"]).contains(&"kubernetes.io/pvc-protection".to_owned())
        );
        assert_eq!(completed(&["catalog", "--project", "longh"]), ["longhorn"]);
        assert!(
            completed(&["catalog", "--kinds", "pod,persistentvolumec"])
                .contains(&"pod,persistentvolumeclaim".to_owned())
        );
        assert!(completed(&["catalog", "--consequence", "data"]).contains(&"data-loss".to_owned()));
    }
}
