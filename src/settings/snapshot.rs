//! The settings of `snapshot`.

use std::path::PathBuf;

use super::{Connection, Scan, Scope, Show, Source, targets::objects};
use crate::{
    cli::{ConnectionArgs, Format, SnapshotArgs},
    command::RunFlags,
    error::Error,
    report::scan::{GroupBy, ScanView, SortBy},
    snapshot::Filter,
};

/// The settings of `snapshot`.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The file to write.
    pub file: PathBuf,
    /// Objects to include besides the terminating ones: type and name, as given.
    pub targets: Vec<(String, String)>,
    /// Whether to hide names.
    pub redact: bool,
    /// `-n`.
    pub namespace: Option<String>,
    /// The connection to the cluster.
    pub connection: Box<Connection>,
    /// The widest scan that can be requested later: every type, every object with a finalizer.
    pub scan: Scan,
}

impl Snapshot {
    /// Interprets the arguments of `snapshot`.
    pub fn new(words: SnapshotArgs, connection: ConnectionArgs) -> Result<Self, Error> {
        let namespace = connection.namespace.clone().filter(|name| !name.is_empty());
        let connection = Box::new(Connection::new(connection)?);
        let targets = objects(&words.targets).map_err(|word| Error::Usage {
            message: format!("{word:?} names no object"),
            hint: Some("write TYPE/NAME, as for kubectl finalizers explain".into()),
        })?;
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
                view: ScanView {
                    all: true,
                    terminating: false,
                    // This also reads what distinguishes one controller from another.
                    by: GroupBy::Holder,
                    narrowed: false,
                    namespace: namespace.clone(),
                    sort_by: SortBy::Age,
                    is_recorded: false,
                    there: RunFlags::default(),
                },
                show: Show {
                    format: Format::Table,
                    no_headers: false,
                },
                exit_code: false,
                accepted_gaps: Vec::new(),
            },
            namespace,
            connection,
        })
    }
}
