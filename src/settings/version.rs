//! The settings of `version`.

use super::{Connection, without_cluster};
use crate::{
    cli::{ConnectionArgs, Format, VersionArgs},
    error::Error,
};

/// The settings of `version`.
#[derive(Clone, Debug)]
pub struct Version {
    /// The server to ask; none for `--client`.
    pub server: Option<Box<Connection>>,
    /// The form of the output.
    pub format: Format,
}

impl Version {
    /// Interprets the arguments of `version`.
    pub fn new(words: &VersionArgs, connection: ConnectionArgs) -> Result<Self, Error> {
        let server = if words.client {
            without_cluster(&connection)?;
            None
        } else {
            Some(Box::new(Connection::new(connection)?))
        };
        Ok(Version {
            server,
            format: words.output.into(),
        })
    }
}
