//! The report of the `catalog` command.

use serde::Serialize;

use super::{API_VERSION, TOOL_VERSION};
use crate::knowledge::{Entry, Filter, Knowledge};

/// Entries of the catalogue.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CatalogReport {
    /// Version of this schema.
    pub api_version: &'static str,
    /// `Catalog`.
    pub kind: &'static str,
    /// Version of this program.
    pub tool_version: &'static str,
    /// Number of entries in the whole catalogue.
    pub total: usize,
    /// The requested entries, sorted by project and then by name.
    pub entries: Vec<Entry>,
}

impl CatalogReport {
    /// The entries that pass the filter.
    pub fn new(filter: &Filter, knowledge: &Knowledge) -> Self {
        CatalogReport {
            api_version: API_VERSION,
            kind: "Catalog",
            tool_version: TOOL_VERSION,
            total: knowledge.len(),
            entries: knowledge.catalog(filter),
        }
    }
}
