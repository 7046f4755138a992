//! What was read and what was not, the finalizers in use, and what was left behind, as metrics.

use super::{About, Counts, Family, Fold, Kind, resource_and_group};
use crate::report::{ScanReport, leftovers::LeftoverKind};

const IN_USE: About = About {
    name: "finalizers_in_use_objects",
    kind: Kind::Gauge,
    help: "Objects that have the finalizer, whether they are being deleted or not.",
    labels: &["finalizer", "resource", "group"],
};
const GAPS: About = About {
    name: "finalizers_gaps",
    kind: Kind::Gauge,
    help: "What could not be read, which may hide stuck objects. The stage is scan or diagnosis.",
    labels: &["stage", "what", "name", "reason"],
};
const LEFT_BEHIND: About = About {
    name: "finalizers_left_behind_objects",
    kind: Kind::Gauge,
    help: "Objects that should be gone and that nobody deletes. A kind that is not known has no series.",
    labels: &["kind"],
};
const LEFT_BEHIND_GAPS: About = About {
    name: "finalizers_left_behind_gaps",
    kind: Kind::Gauge,
    help: "Kinds of objects left behind that are not known, or not all of them.",
    labels: &["kind", "reason"],
};
const READ: About = About {
    name: "finalizers_read_objects",
    kind: Kind::Gauge,
    help: "Objects that the last look knew.",
    labels: &[],
};
const TYPES: About = About {
    name: "finalizers_read_types",
    kind: Kind::Gauge,
    help: "Types that the last look knew.",
    labels: &[],
};
const NOT_LOOKED_AT: About = About {
    name: "finalizers_not_looked_at_objects",
    kind: Kind::Gauge,
    help: "Objects in deletion that were not diagnosed, because there are too many.",
    labels: &[],
};

pub(super) fn families(report: &ScanReport, fold: &mut Fold) -> Vec<Family> {
    vec![
        fold.counted(&IN_USE, in_use(report, fold)),
        fold.counted(&GAPS, gaps(report)),
        fold.counted(&LEFT_BEHIND, left_behind(report)),
        fold.counted(&LEFT_BEHIND_GAPS, left_behind_gaps(report)),
        READ.number(report.totals.objects),
        TYPES.number(report.totals.types as u64),
        NOT_LOOKED_AT.number(report.not_looked_at as u64),
    ]
}

fn in_use(report: &ScanReport, fold: &Fold) -> Counts {
    let mut counts = Counts::new();
    for row in report.finalizers.iter().flatten() {
        for (type_name, objects) in &row.objects_on {
            let [resource, group] = resource_and_group(type_name);
            let labels = vec![fold.finalizer(&row.name), resource, group];
            *counts.entry(labels).or_default() += objects;
        }
    }
    counts
}

fn gaps(report: &ScanReport) -> Counts {
    let mut counts = Counts::new();
    for (stage, gaps) in [("scan", &report.not_read), ("diagnosis", &report.weaker_for)] {
        for gap in gaps {
            let name = gap.name.clone().unwrap_or_default();
            let labels = vec![stage.to_owned(), gap.what.to_owned(), name, gap.reason.to_owned()];
            *counts.entry(labels).or_default() += 1;
        }
    }
    counts
}

fn left_behind(report: &ScanReport) -> Counts {
    let Some(left) = &report.leftovers else {
        return Counts::new();
    };
    let in_namespaces = left.namespaces.as_ref();
    let in_namespaces = in_namespaces.map(|all| all.iter().map(|one| one.objects).sum());
    [
        (LeftoverKind::Namespaces, in_namespaces),
        (LeftoverKind::Volumes, left.volumes.as_ref().map(|all| all.count)),
        (
            LeftoverKind::Attachments,
            left.attachments.as_ref().map(|all| all.count),
        ),
    ]
    .into_iter()
    .filter_map(|(kind, count)| Some((vec![word(kind)], count?)))
    .collect()
}

fn left_behind_gaps(report: &ScanReport) -> Counts {
    let mut counts = Counts::new();
    for gap in report.leftovers.iter().flat_map(|left| &left.gaps) {
        let labels = vec![word(gap.kind), gap.reason.to_owned()];
        *counts.entry(labels).or_default() += 1;
    }
    counts
}

/// The word of the JSON.
fn word(kind: LeftoverKind) -> String {
    match kind {
        LeftoverKind::Namespaces => "namespaces",
        LeftoverKind::Volumes => "volumes",
        LeftoverKind::Attachments => "attachments",
    }
    .to_owned()
}
