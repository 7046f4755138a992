//! One renderer a format: each takes a report and a [`Style`] and writes. None of them decides anything.

pub mod catalog;
pub mod explain;
pub mod finalizer;
pub mod json;
pub mod name;
pub mod plan;
pub mod safe;
pub mod scan;
pub mod sheet;
pub mod style;
pub mod table;
pub mod yaml;

pub use style::Style;
