//! Makes a plan from a diagnosis and the user's request: the one write that does it, or the reason for a
//! refusal. Pure.
//!
//! A [`Plan`] is what a user reads, confirms and gets. Its digest covers the object as it was read and the
//! exact request. [`crate::act`] carries out a plan and decides nothing about it.

mod acceptance;
mod cost;
mod digest;
mod finalize;
mod hash;
mod model;
mod nudge;
mod reach;
mod refusal;
mod remove;
mod request;
mod rescue;
mod retain;
mod retention;
mod stored_change;
#[cfg(test)]
mod tests;
mod trial;
mod unmark;
mod veto;

pub use self::{
    acceptance::unaccepted,
    cost::{Cost, Outside},
    digest::digest,
    finalize::finalize,
    model::{Action, Plan, Seen},
    nudge::nudge,
    reach::{Reach, possible, reach},
    refusal::{Instead, Refusal},
    remove::remove,
    request::{FIELD_MANAGER, Request},
    rescue::{Next, Rescue, Users},
    retain::{retain, then},
    retention::{Claim, Lost, RETAIN, Retention},
    stored_change::{Entry, StoredChange},
    trial::backend_query,
    unmark::{cannot_unmark, unmark, unmarked, without_etcd},
    veto::{Need, veto, waits_for_the_old_one},
};
