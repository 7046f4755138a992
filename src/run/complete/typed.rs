//! What was typed before the current word, as far as it can be understood.

use std::{ffi::OsString, path::PathBuf};

use clap::{ArgMatches, CommandFactory, FromArgMatches};

use crate::cli::{Cli, ConnectionArgs, SharedArgs};

/// The words before the current one.
#[derive(Debug, Default)]
pub(super) struct Typed {
    pub(super) verb: String,
    /// Objects, as typed.
    pub(super) targets: Vec<String>,
    /// Files to read instead of a cluster.
    pub(super) from: Vec<PathBuf>,
    /// Whether any type can be rescued.
    pub(super) etcd: bool,
    pub(super) connection: ConnectionArgs,
}

impl Typed {
    /// Reads the words. What does not parse is left out.
    pub(super) fn new(words: &[OsString]) -> Self {
        let matches = Cli::command().ignore_errors(true).try_get_matches_from(words);
        let Ok(matches) = matches else {
            return Typed::default();
        };
        let (verb, of_verb) = matches.subcommand().unwrap_or(("", &matches));
        let shared = SharedArgs::from_arg_matches(of_verb).unwrap_or_default();
        Typed {
            verb: verb.to_owned(),
            targets: ["words", "targets", "name"]
                .iter()
                .flat_map(|id| all::<String>(of_verb, id))
                .collect(),
            from: all(of_verb, "from"),
            etcd: !all::<String>(of_verb, "etcd").is_empty(),
            connection: shared.connection,
        }
    }
}

/// The values of an argument; none if the command does not have it.
fn all<T: Clone + Send + Sync + 'static>(matches: &ArgMatches, id: &str) -> Vec<T> {
    let values = matches.try_get_many::<T>(id).ok().flatten();
    values.into_iter().flatten().cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(line: &str) -> Typed {
        let words: Vec<_> = line.split(' ').map(OsString::from).collect();
        Typed::new(&words)
    }

    #[test]
    fn flags_before_and_after_the_verb_count() {
        for line in [
            "k -n db remove pvc/a",
            "k remove pvc/a -n db",
            "k remove -n db pvc/a --accept none",
        ] {
            let typed = typed(line);
            assert_eq!(typed.verb, "remove", "{line}");
            assert_eq!(typed.targets, ["pvc/a"], "{line}");
            assert_eq!(typed.connection.namespace.as_deref(), Some("db"), "{line}");
        }
    }

    #[test]
    fn an_unfinished_or_wrong_line_keeps_what_is_known() {
        assert_eq!(typed("k finalize").verb, "finalize");
        assert_eq!(typed("k finalize ns-1").targets, ["ns-1"]);
        assert!(typed("k rescue pod/a --etcd https://a:2379").etcd);
        assert_eq!(typed("k scan --from a --from b").from.len(), 2);
        assert_eq!(typed("k nonsense --what").verb, "");
        assert_eq!(typed("k").verb, "");
    }
}
