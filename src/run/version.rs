//! `version`: ask the server, print what is known, then fail if the server did not answer.

use std::{io, slice};

use super::{
    block_on,
    print::{Out, Printable, print},
};
use crate::{
    cluster::{self, Server, connect::connect},
    error::Error,
    exit::Exit,
    knowledge::Knowledge,
    output::{self, Style},
    report::{VersionReport, version::ServerVersion},
    settings::{Connection, Version},
};

pub(super) fn run(wanted: &Version, knowledge: &Knowledge) -> Result<Exit, Error> {
    let server = wanted.server.as_deref().map(|server| block_on(ask(server)));
    let (server, fault) = match server.transpose() {
        Ok(server) => (server, None),
        Err(fault) => (None, Some(fault)),
    };
    let report = VersionReport::new(knowledge, server);
    print(&report, wanted.format)?;
    // As kubectl version does.
    fault.map_or(Ok(Exit::Done), Err)
}

impl Printable for VersionReport {
    type Document = Self;

    fn documents(&self) -> &[Self] {
        slice::from_ref(self)
    }

    fn write_table(&self, _: bool, _: &Style, out: &mut Out) -> io::Result<()> {
        output::version::write(self, out)
    }
}

async fn ask(connection: &Connection) -> Result<ServerVersion, Error> {
    let connected = connect(connection).await?;
    cluster::version(&Server { connected })
        .await
        .map(ServerVersion::new)
}
