//! The schema of the catalogue's files, and the checks on them.
//!
//! This folder is compiled twice. The program uses it to read users' files, and `build.rs` uses it to read
//! `knowledge/`. So the same code checks a contributor's file and a user's file, and reports mistakes in the
//! same words. Therefore this folder must not use any other part of the crate.

mod check;
mod datastores;
mod entry;
mod file;
mod glob;
mod kinds;
mod located;
mod mistake;
mod order;
mod orders;
mod placeholder;
mod right;
mod steps;
mod surroundings;
mod vocabulary;
mod words;

pub use check::conflicts;
pub use datastores::{Credential, Datastore, Pods, datastores};
pub use entry::{
    Entry, FixStep, HolderDescription, IfRemoved, Lease, NeverByHand, OF_OBJECT, SameAs, VerifiedIn,
    WaitsFor, WorkloadDescription, usual_judgement,
};
#[cfg(test)]
pub use file::json_schema;
pub use file::read;
pub use glob::{glob, literals};
pub use kinds::{GroupKind, KindPattern};
pub use located::Located;
pub use mistake::Mistake;
pub use order::gentle_first;
pub use placeholder::{PLACEHOLDERS, fill, placeholders};
pub use right::{Right, is_set};
pub use surroundings::{
    Applies, DefaultReference, Deployer, Fate, Installed, Loss, Lost, Mark, MarkPlace, Meaning, Platform,
    StandsFor, TopicWords, defaults, deployers, fates, losses, marks, platforms, topics,
};
pub use vocabulary::{
    Area, Consequence, FoundBy, IfHolder, Judged, Label, Left, List, Match, Runs, Topic, Wait, While,
    WorkloadKind,
};
use words::is_telling;
pub use words::{product_words, words};
