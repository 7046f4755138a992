//! From a diagnosis and what the user wants to the one request that would do it, or to why it is not to be done. Pure.
//!
//! A [`Plan`] is what a person reads, confirms and gets: its digest covers the object as it was seen and the very
//! request. [`crate::act`] carries a plan out and decides nothing about it.

mod cost;
mod digest;
mod event;
mod finalize;
mod model;
mod nudge;
mod remove;
mod request;
#[cfg(test)]
mod tests;
mod veto;

pub use self::{
    cost::{Cost, Outside, unaccepted},
    digest::digest,
    event::event,
    finalize::finalize,
    model::{Action, Plan, Refusal, Seen},
    nudge::nudge,
    remove::remove,
    request::{FIELD_MANAGER, Request},
    veto::veto,
};
