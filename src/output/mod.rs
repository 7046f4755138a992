//! One renderer for each format. Each takes a report and a [`Style`] and writes text. No renderer decides
//! anything.

pub mod catalog;
pub mod explain;
pub mod finalizer;
pub mod flow;
pub mod json;
pub mod metrics;
pub mod name;
mod number;
mod paste;
pub mod picture;
pub mod plan;
pub mod reach;
pub mod safe;
mod said;
pub mod scan;
pub mod sheet;
pub mod style;
#[allow(
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "its indexes are the numbers of its own columns, and it cuts where it found a character"
)]
pub mod table;
mod together;
pub mod version;
pub mod watch;
pub mod when;
pub mod yaml;

pub use style::Style;
