//! What the words of `snapshot` mean.

use std::path::PathBuf;

use super::{Connection, Scan, Scope, Show, Source, Target};
use crate::{
    cli::{ConnectionArgs, Format, SnapshotArgs},
    error::Error,
    knowledge::Knowledge,
    report::scan::{By, SortBy, View},
    snapshot::Filter,
};

/// What `snapshot` was asked to do.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The file to write.
    pub file: PathBuf,
    /// Objects to look at besides those that are being deleted: type and name, as given.
    pub targets: Vec<(String, String)>,
    /// Whether names are hidden.
    pub redact: bool,
    /// `-n`.
    pub namespace: Option<String>,
    /// The cluster.
    pub connection: Box<Connection>,
    /// The widest scan that can be asked for later: every type, every object with a finalizer.
    pub scan: Scan,
}

impl Snapshot {
    /// The meaning of `snapshot`'s words.
    pub fn new(
        words: SnapshotArgs,
        connection: ConnectionArgs,
        knowledge: &Knowledge,
    ) -> Result<Self, Error> {
        let namespace = connection.namespace.clone().filter(|name| !name.is_empty());
        let connection = Box::new(Connection::new(connection)?);
        // Only objects can be looked at, so whatever has a group in front is one.
        let targets = Target::of_words(&words.targets, knowledge, true)
            .into_iter()
            .map(|target| match target {
                Target::Object {
                    resource,
                    name: Some(name),
                } => Ok((resource, name)),
                Target::Object { resource: word, .. } | Target::Finalizer(word) => Err(Error::Usage {
                    message: format!("{word:?} names no object"),
                    hint: Some("write TYPE/NAME, as for kubectl finalizers explain".into()),
                }),
            })
            .collect::<Result<_, _>>()?;
        Ok(Snapshot {
            file: words.file,
            targets,
            redact: words.redact,
            scan: Scan {
                source: Source::Server(connection.clone()),
                scope: namespace.clone().map_or(Scope::All, Scope::Namespace),
                types: Vec::new(),
                exclude: Vec::new(),
                every_namespace: true,
                filter: Filter::default(),
                view: View {
                    all: true,
                    terminating: false,
                    // Then it is read too what tells one holder from another.
                    by: By::Holder,
                    narrowed: false,
                    namespace: namespace.clone(),
                    sort_by: SortBy::Age,
                },
                show: Show {
                    format: Format::Table,
                    no_headers: false,
                },
                exit_code: false,
            },
            namespace,
            connection,
        })
    }
}
