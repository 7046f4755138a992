//! Causes that any operator's custom resource can have, shown with products that have them.

pub mod finalizer_re_added;
mod missing_reference;
pub mod renamed_finalizer;
mod waits_for;
