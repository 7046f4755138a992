//! `version`: ask the server, print what is known, then fail if the server did not answer.

use std::io::{Write, stdout};

use super::block_on;
use crate::{
    cli::VersionFormat,
    cluster::{self, Server, connect::connect},
    error::Error,
    exit::Exit,
    knowledge::Knowledge,
    output,
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
    let mut out = stdout().lock();
    match wanted.format {
        VersionFormat::Table => output::version::write(&report, &mut out)?,
        VersionFormat::Json => output::json::write(&report, &mut out)?,
        VersionFormat::Yaml => output::yaml::write(&report, &mut out)?,
    }
    out.flush()?;
    // As kubectl version does.
    fault.map_or(Ok(Exit::Done), Err)
}

async fn ask(connection: &Connection) -> Result<ServerVersion, Error> {
    let connected = connect(connection).await?;
    cluster::version(&Server { connected })
        .await
        .map(ServerVersion::new)
}
