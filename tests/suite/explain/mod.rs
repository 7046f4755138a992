//! Stuck deletions, one a test: what is said of them, and that what is advised works.

mod crds;
mod namespaces;
mod pods;
pub mod replayed;
mod stopped;
mod storage;
mod storage_oracle;
pub mod told;
