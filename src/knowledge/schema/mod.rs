//! The form of what is known about finalizers, and the checks on it.
//!
//! This folder is compiled twice: into the program, where it reads users' own files, and into `build.rs`, where
//! it reads `knowledge/`. So a contributor's file and a user's file are judged by the very same code, and a
//! mistake that the build would report is reported at run time in the same words. The price is that nothing in
//! here may use another part of the crate.

mod check;
mod entry;
mod file;
mod glob;
mod kinds;
mod mistake;
mod placeholder;
mod vocabulary;

pub use check::conflicts;
pub use entry::{Entry, Holder, IfRemoved, Lease, OF_OBJECT, SameAs, Step, WaitsFor, Workload};
pub use file::{Located, read};
pub use glob::{glob, literals};
pub use kinds::{GroupKind, KindPattern};
pub use mistake::Mistake;
pub use placeholder::{PLACEHOLDERS, fill, placeholders};
pub use vocabulary::{Area, Consequence, FoundBy, IfHolder, Judged, List, Match, Runs, Wait, WorkloadKind};
