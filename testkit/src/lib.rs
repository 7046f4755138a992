//! Checks that the unit tests of causes share with the tests on a real cluster, and the crates that only tests of the
//! whole program need. A crate here costs the unit tests of one cause nothing: they build without the feature `suite`.

pub mod dice;
pub mod stored_objects;
pub mod weaker;

#[cfg(feature = "suite")]
pub use {clap_mangen, jaq_core, jaq_json, jsonschema, rcgen, rustix, syn, tokio, trycmd};
