//! One look: count what is followed, read the rest, investigate it as `scan` does, and keep only the metrics.

use tokio::time::timeout;

use super::follow::Following;
use crate::{
    cluster::{self, Reading, initial_facts},
    knowledge::Knowledge,
    report::{
        ScanReport,
        metrics::{self, Family},
    },
    run::{
        look::{Investigation, Limits},
        timing,
        witness::Witness,
    },
    settings::{Exporter, Scope},
    snapshot::{Why, select::Choice},
};

/// Looks at the cluster.
pub(super) struct Looker<'a> {
    following: &'a Following<'a>,
    settings: &'a Exporter,
    knowledge: &'a Knowledge,
    /// Whether the next look is the first, for which the process has connected.
    is_first: bool,
    /// Whether types are followed.
    is_following: bool,
}

impl<'a> Looker<'a> {
    pub(super) fn new(
        following: &'a Following<'a>,
        settings: &'a Exporter,
        knowledge: &'a Knowledge,
    ) -> Self {
        Looker {
            following,
            settings,
            knowledge,
            is_first: true,
            is_following: false,
        }
    }

    /// The metrics of the cluster, or why the look failed. A server that stops answering fails the whole look: half a
    /// cluster would look like one with fewer stuck objects.
    pub(super) async fn metrics(&mut self) -> Result<Vec<Family>, String> {
        if !std::mem::take(&mut self.is_first) {
            let connected = self.following.connect_again().await;
            connected.map_err(|error| error.to_string())?;
        }
        let server = self.following.server();
        if !self.is_following {
            let facts = initial_facts(&server).await.map_err(|error| error.to_string())?;
            let all = Choice {
                types: &[],
                exclude: &[],
                in_one_namespace: self.settings.scan.scope != Scope::All,
            };
            let chosen = all.of(&facts.types, &facts.gaps, |word| word);
            self.following
                .set_types(chosen.map_err(|error| error.to_string())?.types);
            self.is_following = true;
            timeout(timing::FIRST_LISTS, self.following.followed.settled())
                .await
                .ok();
        }
        let (scan, knowledge) = (&self.settings.scan, self.knowledge);
        let reading = Reading::default();
        cluster::scan(&server, scan, Some(&self.following.followed), &reading)
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
        investigation.run(&Witness::Server(&server), knowledge).await;
        let found = investigation.finish(&snapshot, knowledge, false);
        let mut report = ScanReport::new(&snapshot, knowledge, &scan.view);
        report.add_causes(&found.examined, knowledge, &scan.view.there);
        report.add_leftovers(found.leftovers, &scan.view.there);
        let families = metrics::of_scan(&report, &found.examined, knowledge, self.settings.names);
        self.following
            .set_types(snapshot.types.into_iter().map(|read| read.ty));
        Ok(families)
    }
}
