//! What the world's finalizers mean: who removes each, what it waits for, what is lost if it is cut.
//!
//! Pure: no cluster, no clock, no files. The data is written by people in `knowledge/*.yaml`, checked by `build.rs`
//! and embedded; a user's own files are handed over as text and checked by the same code.

mod builtin;
pub mod schema;
