//! Stuck deletions, one a test: what is said of them, and that what is advised works.

mod admission;
mod admission_oracle;
mod crds;
mod namespaces;
mod oracle;
mod pods;
pub mod reads;
mod stopped;
mod storage;
mod taken_away;
mod told;
mod weaker;
