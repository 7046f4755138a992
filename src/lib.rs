//! Finds out why a Kubernetes object is stuck in Terminating, what it waits for, and what a forced removal would cost.
//!
//! The modules are layers, and a layer never uses a layer above it: characters ← command ← object ← snapshot ←
//! knowledge ← diagnose ← plan ← report ← output. These layers are pure: no API client, no async runtime, no clock.
//! Only [`cluster`] talks to an API server, only [`act`] changes something, and only [`run`] uses all of them.
//! `tests/suite/layers.rs` reads the imports and fails if a layer uses one above it. Without the feature `client` only
//! the pure layers are compiled.

#![cfg_attr(
    not(test),
    warn(
        clippy::arithmetic_side_effects,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::string_slice,
        reason = "what comes from a server or a file can be anything, and a panic ends the program in the middle of its work"
    )
)]

#[cfg(feature = "client")]
pub mod act;
pub mod characters;
#[cfg(feature = "client")]
pub mod cli;
#[cfg(feature = "client")]
pub mod cluster;
pub mod command;
pub mod diagnose;
pub mod error;
pub mod exit;
pub mod knowledge;
pub mod object;
pub mod output;
pub mod plan;
pub mod report;
#[cfg(feature = "client")]
pub mod run;
#[cfg(feature = "client")]
pub mod settings;
pub mod snapshot;
pub mod stored;
