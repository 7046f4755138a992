//! Stuck deletions, one a test: what is said of them, and that what is advised works.

mod admission;
mod admission_oracle;
mod crds;
mod namespaces;
mod pods;
mod stopped;
mod storage;
mod storage_oracle;
mod told;
