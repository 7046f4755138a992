//! Causes that any operator's custom resource can have, shown with products that have them.

mod external_resource;
pub mod finalizer_re_added;
mod known_finalizer;
mod missing_reference;
mod never_by_hand;
pub mod renamed_finalizer;
mod surroundings;
mod unknown_finalizer;
mod waits_for;
