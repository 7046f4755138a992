//! Stuck deletions, one a test: what is said of them, and that what is advised works.

mod crds;
mod namespaces;
mod pods;
mod stopped;
mod storage;
mod storage_oracle;
mod told;
mod unreadable;
