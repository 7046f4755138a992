//! Finalizers of controllers that are not part of Kubernetes. Their causes use what the catalogue, the object and the
//! cluster tell about the controller.

pub(crate) mod external_resource;
pub(crate) mod finalizer_re_added;
pub(crate) mod holder_report;
pub(crate) mod known_finalizer;
pub(crate) mod missing_reference;
pub(crate) mod never_by_hand;
mod pruned;
pub(crate) mod referenced_by;
pub(crate) mod renamed_finalizer;
pub(crate) mod resumed;
pub(crate) mod surroundings;
#[cfg(test)]
mod tests;
mod trouble;
pub(crate) mod unknown_finalizer;
pub(crate) mod waits_for;
