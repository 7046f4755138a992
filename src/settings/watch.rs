//! The settings of `watch`.

use std::time::Duration;

use super::{Connection, NamespaceChoice, duration, targets::objects};
use crate::{
    cli::{ConnectionArgs, WatchArgs, WatchFormat},
    command::RunFlags,
    error::Error,
};

/// The settings of `watch`.
#[derive(Clone, Debug)]
pub struct Watch {
    /// The objects, each by its type and name; none for everything in deletion.
    pub targets: Vec<(String, String)>,
    /// The namespace of the objects.
    pub place: NamespaceChoice,
    /// The connection to the cluster.
    pub connection: Box<Connection>,
    /// How long to wait; none for no limit.
    pub timeout: Option<Duration>,
    /// Whether to print JSON.
    pub json: bool,
}

impl Watch {
    /// Interprets the arguments of `watch`.
    pub fn new(words: &WatchArgs, connection: ConnectionArgs) -> Result<Self, Error> {
        let targets = objects(&words.targets).map_err(|word| Error::Usage {
            message: format!("{word:?} names no object"),
            hint: Some("write TYPE/NAME, or no object for everything in deletion".into()),
        })?;
        Ok(Watch {
            targets,
            place: NamespaceChoice::of(&connection),
            timeout: words
                .timeout
                .as_deref()
                .map(|text| duration("--timeout", text).map(jiff::SignedDuration::unsigned_abs))
                .transpose()?,
            connection: Box::new(Connection::new(connection)?),
            json: words.output == WatchFormat::Json,
        })
    }

    /// The flags that printed commands need to read where this run reads.
    pub fn run_flags(&self) -> RunFlags {
        let connection = &self.connection;
        RunFlags::of(
            &[],
            connection.kubeconfig.as_deref(),
            connection.context.as_deref(),
        )
    }
}
