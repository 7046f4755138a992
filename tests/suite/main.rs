//! All tests that run the whole program. They are one binary so that they can share a cluster.

// A test may panic and print, and its helpers are no public API.
#![allow(clippy::unwrap_used, clippy::print_stderr, missing_docs, unreachable_pub)]

#[path = "../harness/mod.rs"]
mod harness;

// What build.rs compiles, too: the reader of knowledge files says what their JSON Schema is.
#[allow(
    dead_code,
    unused_imports,
    reason = "the program's own module; it uses more of it than this"
)]
#[path = "../../src/characters.rs"]
mod characters;
#[allow(
    dead_code,
    unused_imports,
    reason = "the program's own module; it uses more of it than this"
)]
#[path = "../../src/command/mod.rs"]
mod command;

mod act;
mod causes;
mod completion;
mod connect;
mod controlplane;
mod documents;
mod examples;
mod explain;
mod exporter;
mod faults;
mod help;
mod integrations;
mod knowledge;
mod layers;
mod man;
mod operators;
mod packaging;
mod pictures;
mod playground;
mod readme_pictures;
mod scan;
mod scan_causes;
mod schema;
mod slow;
mod snapshot;
mod stories;
mod stuck;
mod version;
mod watch;
