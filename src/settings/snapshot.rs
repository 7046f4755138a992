//! The settings of `snapshot`.

use std::path::PathBuf;

use super::{Clusters, Connection, Scan, targets::objects, usage};
use crate::{
    cli::{ConnectionArgs, SnapshotArgs},
    error::Error,
    report::scan::GroupBy,
};

/// The settings of `snapshot`.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The file to write, or the directory for those of several clusters.
    pub file: PathBuf,
    /// Objects to include besides the terminating ones: type and name, as given.
    pub targets: Vec<(String, String)>,
    /// Whether to hide names.
    pub redact: bool,
    /// `-n`.
    pub namespace: Option<String>,
    /// The connection to the cluster.
    pub connection: Box<Connection>,
    /// Several clusters to save instead; the file is then a directory.
    pub clusters: Option<Clusters>,
    /// The widest scan that can be requested later: every type, every object with a finalizer.
    pub scan: Scan,
}

impl Snapshot {
    /// Interprets the arguments of `snapshot`.
    pub fn new(words: SnapshotArgs, connection: ConnectionArgs) -> Result<Self, Error> {
        let namespace = connection.namespace.clone().filter(|name| !name.is_empty());
        let clusters = Clusters::of(words.all_contexts, &connection)?;
        let connection = Box::new(Connection::new(connection)?);
        let targets = objects(&words.targets).map_err(|word| Error::Usage {
            message: format!("{word:?} names no object"),
            hint: Some("write TYPE/NAME, as for kubectl finalizers explain".into()),
        })?;
        if clusters.is_some() && !targets.is_empty() {
            return Err(usage(
                "more objects can be saved of one cluster, and several contexts are to be saved".into(),
                Some("name one context for them"),
            ));
        }
        let mut scan = Scan::of_cluster(&connection, namespace.as_deref());
        scan.every_namespace = true;
        scan.view.all = true;
        // This also reads what distinguishes one controller from another.
        scan.view.by = GroupBy::Holder;
        Ok(Snapshot {
            clusters,
            file: words.file,
            targets,
            redact: words.redact,
            scan,
            namespace,
            connection,
        })
    }
}
