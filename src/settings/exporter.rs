//! The settings of `exporter`.

use std::{net::SocketAddr, time::Duration};

use super::{Connection, Scan, duration, usage};
use crate::{
    cli::{ConnectionArgs, ExporterArgs},
    command::RunFlags,
    error::Error,
};

/// A look can cost hundreds of requests. More often than this is load without use: deletions get stuck for minutes.
const SHORTEST: Duration = Duration::from_secs(1);

/// The settings of `exporter`.
#[derive(Clone, Debug)]
pub struct Exporter {
    /// The connection to the cluster.
    pub connection: Box<Connection>,
    /// What each look reads: every type.
    pub scan: Scan,
    /// Where to listen.
    pub listen: SocketAddr,
    /// The shortest time from the begin of one look to that of the next.
    pub interval: Duration,
    /// Whether to name objects.
    pub names: bool,
}

impl Exporter {
    /// Interprets the arguments of `exporter`.
    pub fn new(words: &ExporterArgs, connection: ConnectionArgs) -> Result<Self, Error> {
        let interval = duration("--interval", &words.interval)?.unsigned_abs();
        if interval < SHORTEST {
            return Err(usage(
                "--interval: the shortest is 1s".into(),
                Some("a minute is soon enough for deletions that get stuck"),
            ));
        }
        let namespace = connection.namespace.clone().filter(|name| !name.is_empty());
        let there = RunFlags::of(
            &[],
            connection.kubeconfig.as_deref(),
            connection.context.as_deref(),
        );
        let connection = Box::new(Connection::new(connection)?);
        let mut scan = Scan::of_cluster(&connection, namespace.as_deref());
        scan.view.there = there;
        Ok(Exporter {
            scan,
            connection,
            listen: words.listen,
            interval,
            names: words.names,
        })
    }
}
