//! The health and the cost of the exporter itself, as metrics.

use std::time::Duration;

use jiff::Timestamp;

use super::{About, Family, Kind, Series};

/// What an exporter did so far.
#[derive(Clone, Debug, Default)]
pub struct Health {
    /// Looks that ended.
    pub looks: u64,
    /// Those that failed.
    pub failures: u64,
    /// Requests of all looks.
    pub requests: u64,
    /// The last look; none before the first one ended.
    pub last: Option<Look>,
    /// When a look ended well for the last time.
    pub last_success: Option<Timestamp>,
}

/// One look at the cluster.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// When it ended.
    pub ended: Timestamp,
    /// How long it took.
    pub took: Duration,
    /// How many requests were sent meanwhile, without watches.
    pub requests: u64,
    /// How many types were known without a request.
    pub watched: usize,
    /// Whether it ended well.
    pub succeeded: bool,
}

impl Health {
    /// Adds a look that ended.
    pub fn add(&mut self, look: Look) {
        self.looks = self.looks.saturating_add(1);
        self.requests = self.requests.saturating_add(look.requests);
        if look.succeeded {
            self.last_success = Some(look.ended);
        } else {
            self.failures = self.failures.saturating_add(1);
        }
        self.last = Some(look);
    }

    /// Whether a look succeeded, so that there are metrics of the cluster.
    pub fn is_ready(&self) -> bool {
        self.last_success.is_some()
    }

    /// The metrics.
    pub fn families(&self) -> Vec<Family> {
        let mut families = vec![
            BUILD.with(vec![Series {
                labels: vec![env!("CARGO_PKG_VERSION").to_owned()],
                value: 1.0,
            }]),
            LOOKS.number(self.looks),
            FAILURES.number(self.failures),
            REQUESTS.number(self.requests),
        ];
        if let Some(last) = &self.last {
            families.push(SUCCEEDED.number(last.succeeded.into()));
            families.push(at(&ENDED, last.ended));
            families.push(value(&TOOK, last.took.as_secs_f64()));
            families.push(LOOK_REQUESTS.number(last.requests));
            families.push(WATCHED.number(last.watched as u64));
        }
        families.extend(self.last_success.map(|time| at(&LAST_SUCCESS, time)));
        families
    }
}

/// A time in seconds, to the millisecond.
#[allow(
    clippy::cast_precision_loss,
    reason = "milliseconds of the next thousands of years are exact"
)]
pub(super) fn at(about: &About, time: Timestamp) -> Family {
    value(about, time.as_millisecond() as f64 / 1000.0)
}

pub(super) fn value(about: &About, value: f64) -> Family {
    about.with(vec![Series {
        labels: Vec::new(),
        value,
    }])
}

pub(super) const fn about(name: &'static str, kind: Kind, help: &'static str) -> About {
    About {
        name,
        kind,
        help,
        labels: &[],
    }
}

const BUILD: About = About {
    labels: &["version"],
    ..about("finalizers_build", Kind::Info, "The version of the exporter.")
};
const LOOKS: About = about(
    "finalizers_looks",
    Kind::Counter,
    "Looks at the cluster that ended.",
);
const FAILURES: About = about(
    "finalizers_look_failures",
    Kind::Counter,
    "Looks that failed. The metrics of the cluster then keep their values.",
);
const REQUESTS: About = about(
    "finalizers_requests",
    Kind::Counter,
    "Requests that were sent to the API server.",
);
const SUCCEEDED: About = about(
    "finalizers_look_succeeded",
    Kind::Gauge,
    "Whether the last look succeeded: 1 or 0.",
);
const ENDED: About = about(
    "finalizers_look_timestamp_seconds",
    Kind::Gauge,
    "When the last look ended, in Unix time.",
);
const TOOK: About = about(
    "finalizers_look_duration_seconds",
    Kind::Gauge,
    "How long the last look took.",
);
const LOOK_REQUESTS: About = about(
    "finalizers_look_requests",
    Kind::Gauge,
    "Requests that the last look sent to the API server.",
);
const WATCHED: About = about(
    "finalizers_watched_types",
    Kind::Gauge,
    "Types that the last look knew from watches, without a request.",
);
const LAST_SUCCESS: About = about(
    "finalizers_look_success_timestamp_seconds",
    Kind::Gauge,
    "When a look succeeded for the last time, in Unix time.",
);
