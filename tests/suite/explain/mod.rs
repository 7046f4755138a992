//! Stuck deletions, one a test: what is said of them, and that what is advised works.

mod admission;
mod admission_oracle;
mod crds;
mod dice;
mod namespaces;
mod oracle;
mod pods;
pub mod reads;
pub mod replayed;
mod stopped;
mod storage;
mod taken_away;
pub mod told;
mod unreadable;
mod weaker;
