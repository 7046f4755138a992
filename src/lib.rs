//! Why a Kubernetes object will not go away, what it really waits for, and what forcing it would cost.
//!
//! The modules are layers, and a layer never looks up:
//! object ← snapshot ← knowledge ← diagnose ← plan ← report ← output. Those are pure: no API client, no runtime, no
//! clock. [`cluster`] is the only place that talks to an API server, [`act`] the only one that changes anything, and
//! [`run`] the only one that knows them all.
//! `tests/suite/layers.rs` reads the imports and fails when a layer reaches up.

pub mod act;
pub mod cli;
pub mod cluster;
pub mod diagnose;
pub mod error;
pub mod exit;
pub mod knowledge;
pub mod object;
pub mod output;
pub mod plan;
pub mod report;
pub mod run;
pub mod settings;
pub mod snapshot;
