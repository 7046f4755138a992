//! The settings of `explain`.

use std::path::PathBuf;

use super::{Connection, without_server};
use crate::{
    cli::{ConnectionArgs, ExplainArgs, Format},
    command::RunFlags,
    error::Error,
};

/// The settings of `explain`.
#[derive(Clone, Debug)]
pub struct Explain {
    /// What to explain.
    pub asked: Asked,
    /// The namespace of the objects.
    pub place: NamespaceChoice,
    /// Files to read instead of the cluster; none for the cluster.
    pub from: Vec<PathBuf>,
    /// The connection to the cluster, for objects.
    pub connection: Box<Connection>,
    /// The format.
    pub format: Format,
    /// Whether the exit code depends on the result.
    pub exit_code: bool,
    /// The API groups that need not answer for the exit code.
    pub accepted_gaps: Vec<String>,
}

/// The namespace in which to look for an object of a namespaced type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NamespaceChoice {
    /// The namespace of the kubeconfig's context.
    OfContext,
    /// `-n`.
    In(String),
    /// `-A`: every namespace that has an object of that name.
    Anywhere,
}

impl NamespaceChoice {
    /// Interprets `-n` and `-A`. kubectl also takes an empty name as none.
    pub(crate) fn of(connection: &ConnectionArgs) -> Self {
        match connection.namespace.clone().filter(|name| !name.is_empty()) {
            Some(namespace) => NamespaceChoice::In(namespace),
            None if connection.all_namespaces => NamespaceChoice::Anywhere,
            None => NamespaceChoice::OfContext,
        }
    }
}

/// Where the names come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Standard input.
    Stdin,
    /// The command line.
    Words(Vec<String>),
}

impl Explain {
    /// The flags that printed commands need to read where this run reads.
    pub fn run_flags(&self) -> RunFlags {
        let connection = &self.connection;
        RunFlags::of(
            &self.from,
            connection.kubeconfig.as_deref(),
            connection.context.as_deref(),
        )
    }

    /// Whether the names come from the command line.
    pub fn is_typed(&self) -> bool {
        matches!(self.asked, Asked::Words(_))
    }

    /// Interprets the arguments of `explain`.
    pub fn new(words: ExplainArgs, connection: ConnectionArgs) -> Result<Self, Error> {
        let asked = if words.words == ["-"] {
            Asked::Stdin
        } else {
            Asked::Words(words.words)
        };
        let place = NamespaceChoice::of(&connection);
        if !words.from.is_empty() {
            without_server(&connection)?;
        }
        Ok(Explain {
            asked,
            from: words.from,
            place,
            connection: Box::new(Connection::new(connection)?),
            format: words.output,
            exit_code: words.exit_code,
            accepted_gaps: words.accept_gap,
        })
    }
}
