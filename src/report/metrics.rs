//! The metrics of `exporter`: a scan report and the state of the exporter itself, as families of series.
//!
//! The number of series has limits, so that a cluster in trouble does not flood the one who stores them. Names of objects
//! are only in one family, which is left out unless it was asked for.

mod deletions;
mod fold;
mod health;
mod process;
mod reading;

use std::collections::BTreeMap;

use self::fold::Fold;
pub use self::{
    health::{Health, Look},
    process::{Process, began},
};
use super::{ScanReport, causes::Examined};
use crate::{knowledge::Knowledge, snapshot::facts::Resource};

/// The value of a label that stands for everything beyond a limit. No namespace, finalizer or type has this name.
pub const OTHER: &str = "(other)";

/// Series of the same name.
#[derive(Clone, Debug, PartialEq)]
pub struct Family {
    /// Its name, without the ending that belongs to its kind.
    pub name: &'static str,
    /// Its kind.
    pub kind: Kind,
    /// Its meaning, in one sentence.
    pub help: &'static str,
    /// The names of the labels.
    pub labels: &'static [&'static str],
    /// The series.
    pub series: Vec<Series>,
}

/// How the values of a family behave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// They go up and down.
    Gauge,
    /// They are seconds, and each second adds one.
    Age,
    /// They only grow while the process lives.
    Counter,
    /// They are always 1: the labels tell.
    Info,
}

/// One series.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The values of the labels, in the order of their names.
    pub labels: Vec<String>,
    /// The value.
    pub value: f64,
}

/// What a family is, beside its series.
struct About {
    name: &'static str,
    kind: Kind,
    help: &'static str,
    labels: &'static [&'static str],
}

impl About {
    fn with(&self, series: Vec<Series>) -> Family {
        Family {
            name: self.name,
            kind: self.kind,
            help: self.help,
            labels: self.labels,
            series,
        }
    }

    /// The family with one series without labels.
    #[allow(clippy::cast_precision_loss, reason = "every number up to 2^53 is exact")]
    fn number(&self, value: u64) -> Family {
        self.with(vec![Series {
            labels: Vec::new(),
            value: value as f64,
        }])
    }
}

/// What is counted, by the values of the labels.
type Counts = BTreeMap<Vec<String>, u64>;

/// The metrics of a report. `examined` is what it was made from. Objects are named only `with_names`.
pub fn of_scan(
    report: &ScanReport,
    examined: &[Examined<'_>],
    knowledge: &Knowledge,
    with_names: bool,
) -> Vec<Family> {
    let mut fold = Fold::new(report);
    let mut families = deletions::families(report, examined, knowledge, with_names, &mut fold);
    families.extend(reading::families(report, &mut fold));
    families.push(fold.family());
    families
}

/// A type as the values of the labels `resource` and `group`.
fn resource_and_group(type_name: &str) -> [String; 2] {
    let Resource { group, plural } = Resource::named(type_name);
    [plural, group]
}

#[cfg(test)]
mod tests;
