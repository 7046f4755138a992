//! What `explain` says of objects that are stuck for real, and whether what it advises helps.

mod storage;
mod storage_oracle;
