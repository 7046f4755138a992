//! One renderer for each format. Each takes a report and a [`Style`] and writes text. No renderer decides
//! anything.

pub mod catalog;
pub mod explain;
pub mod finalizer;
pub mod flow;
pub mod json;
pub mod name;
mod paste;
pub mod plan;
pub mod reach;
pub mod safe;
pub mod scan;
pub mod sheet;
pub mod style;
pub mod table;
pub mod version;
pub mod watch;
pub mod yaml;

pub use style::Style;
