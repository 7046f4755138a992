//! The limits of the number of series, and what falls under them.

use std::collections::{BTreeMap, BTreeSet};

use super::{About, Counts, Family, Kind, OTHER, Series};
use crate::report::ScanReport;

/// Namespaces with series of their own. A deletion that gets stuck in more of them has one cause.
const NAMESPACES: usize = 200;
/// Finalizers with series of their own. A cluster with all usual operators has some 50. More come from a controller that
/// makes a name for each object.
const FINALIZERS: usize = 200;
/// Series of one family. Prometheus advises to stay below some hundreds, and 10 000 are its example of too many.
const SERIES: usize = 1_000;

/// Decides which values are folded into [`OTHER`], and remembers how many.
pub(super) struct Fold {
    namespaces: BTreeSet<String>,
    finalizers: BTreeSet<String>,
    folded: BTreeMap<&'static str, u64>,
}

const FOLDED: About = About {
    name: "finalizers_folded",
    kind: Kind::Gauge,
    help: "Namespaces, finalizers, or series of a metric that a limit folded into \"(other)\".",
    labels: &["what"],
};

impl Fold {
    pub(super) fn new(report: &ScanReport) -> Self {
        let mut stuck_in: BTreeMap<&str, u64> = BTreeMap::new();
        let mut deleted: BTreeMap<&str, u64> = BTreeMap::new();
        for row in &report.terminating {
            if let Some(namespace) = &row.object.namespace {
                *stuck_in.entry(namespace).or_default() += 1;
            }
            for finalizer in &row.finalizers {
                *deleted.entry(&finalizer.name).or_default() += 1;
            }
        }
        // Finalizers of objects in deletion are worth more than all others.
        let mut used: BTreeMap<&str, (u64, u64)> = deleted
            .into_iter()
            .map(|(name, count)| (name, (count, 0)))
            .collect();
        for row in report.finalizers.iter().flatten() {
            used.entry(&row.name).or_default().1 += row.objects;
        }
        let mut folded = BTreeMap::new();
        let mut keep = |what, all, limit| {
            let (kept, rest) = largest(all, limit);
            folded.insert(what, rest);
            kept
        };
        let namespaces = stuck_in.into_iter().map(|(name, count)| (name, (count, 0)));
        Fold {
            namespaces: keep("namespaces", namespaces.collect(), NAMESPACES),
            finalizers: keep("finalizers", used.into_iter().collect(), FINALIZERS),
            folded,
        }
    }

    /// The namespace, or what it is folded into. Cluster-scoped objects have none.
    pub(super) fn namespace(&self, name: &str) -> String {
        within(&self.namespaces, name)
    }

    /// The finalizer, or what it is folded into. A Pod can be stuck without one.
    pub(super) fn finalizer(&self, name: &str) -> String {
        within(&self.finalizers, name)
    }

    /// The family with these counts. The smallest beyond the limit become one series.
    pub(super) fn counted(&mut self, about: &About, counts: Counts) -> Family {
        self.limited(about, counts, |rest| rest.iter().sum())
    }

    /// The same for numbers of which the largest tells of all.
    pub(super) fn largest(&mut self, about: &About, counts: Counts) -> Family {
        self.limited(about, counts, |rest| rest.iter().copied().max().unwrap_or(0))
    }

    #[allow(clippy::cast_precision_loss, reason = "every number up to 2^53 is exact")]
    fn limited(&mut self, about: &About, counts: Counts, together: fn(&[u64]) -> u64) -> Family {
        let mut all: Vec<_> = counts.into_iter().collect();
        let rest = if all.len() > SERIES {
            all.sort_by(|(a, most), (b, more)| more.cmp(most).then(a.cmp(b)));
            all.split_off(SERIES)
        } else {
            Vec::new()
        };
        if !rest.is_empty() {
            self.folded.insert(about.name, rest.len() as u64);
            let values: Vec<_> = rest.into_iter().map(|(_, value)| value).collect();
            all.push((vec![OTHER.to_owned(); about.labels.len()], together(&values)));
        }
        let mut series: Vec<_> = all
            .into_iter()
            .map(|(labels, value)| Series {
                labels,
                value: value as f64,
            })
            .collect();
        series.sort_by(|a, b| a.labels.cmp(&b.labels));
        about.with(series)
    }

    /// Remembers what a limit left out of a family.
    pub(super) fn left_out(&mut self, about: &About, series: usize) {
        if series > 0 {
            self.folded.insert(about.name, series as u64);
        }
    }

    /// How much was folded.
    pub(super) fn family(self) -> Family {
        let counts = self
            .folded
            .iter()
            .map(|(what, &count)| (vec![(*what).to_owned()], count));
        let counts = counts.collect();
        Fold {
            folded: BTreeMap::new(),
            ..self
        }
        .counted(&FOLDED, counts)
    }
}

fn within(kept: &BTreeSet<String>, name: &str) -> String {
    if name.is_empty() || kept.contains(name) {
        name.to_owned()
    } else {
        OTHER.to_owned()
    }
}

/// The names with the largest counts, and how many others there are.
fn largest(mut all: Vec<(&str, (u64, u64))>, limit: usize) -> (BTreeSet<String>, u64) {
    all.sort_by(|(a, most), (b, more)| more.cmp(most).then(a.cmp(b)));
    let rest = all.len().saturating_sub(limit) as u64;
    let kept = all.into_iter().take(limit).map(|(name, _)| name.to_owned());
    (kept.collect(), rest)
}
