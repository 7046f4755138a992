//! The report that every output format shows. Its serde form is the public JSON, which `docs/` describes.
//! Change it only together with [`API_VERSION`].

pub mod catalog;
pub mod causes;
pub mod changes;
pub mod clusters;
pub mod explain;
pub mod finalizer;
pub mod gaps;
pub mod holders;
pub mod leftovers;
pub mod metrics;
mod object;
pub mod outcome;
pub mod plan;
mod reason;
pub mod root_causes;
pub mod scan;
pub mod together;
pub mod version;
pub mod watch;
#[allow(
    clippy::indexing_slicing,
    reason = "its indexes are the numbers of its own rows and causes"
)]
mod worst_first;

pub use self::{
    catalog::CatalogReport,
    clusters::ClustersReport,
    explain::ExplainReport,
    finalizer::FinalizersReport,
    gaps::GapReport,
    object::{ConditionReport, DeletionReport, ObjectName, ObjectReport},
    outcome::OutcomeReport,
    plan::PlanReport,
    scan::ScanReport,
    version::VersionReport,
};

/// Version of the public JSON.
pub const API_VERSION: &str = "kubectl-finalizers/v2";

/// Version of this program.
pub const TOOL_VERSION: &str = env!("CARGO_PKG_VERSION");
