//! One look: read the cluster and investigate it as `scan` does, and keep only the metrics.

use crate::{
    cluster::{self, Reading, Server},
    knowledge::Knowledge,
    report::{
        ScanReport,
        metrics::{self, Family},
    },
    run::{
        look::{Investigation, Limits},
        witness::Witness,
    },
    settings::Exporter,
    snapshot::Why,
};

/// The metrics of the cluster, or why the look failed. A server that stops answering fails the whole look: half a cluster
/// would look like one with fewer stuck objects.
pub(super) async fn look(
    server: &Server,
    settings: &Exporter,
    knowledge: &Knowledge,
) -> Result<Vec<Family>, String> {
    let scan = &settings.scan;
    let reading = Reading::default();
    cluster::scan(server, scan, &reading)
        .await
        .map_err(|error| error.to_string())?;
    let snapshot = reading.finish(&server.connected.server);
    let lost = snapshot
        .gaps
        .iter()
        .find(|gap| matches!(gap.why, Why::Connection(_)));
    if let Some(gap) = lost {
        return Err(gap.why.message());
    }
    let mut investigation = Investigation::new(&snapshot, scan, Limits::default(), knowledge);
    investigation.run(&Witness::Server(server), knowledge).await;
    let found = investigation.finish(&snapshot, knowledge, false);
    let mut report = ScanReport::new(&snapshot, knowledge, &scan.view);
    report.add_causes(&found.examined, knowledge, &scan.view.there);
    report.add_leftovers(found.leftovers, &scan.view.there);
    Ok(metrics::of_scan(
        &report,
        &found.examined,
        knowledge,
        settings.names,
    ))
}
