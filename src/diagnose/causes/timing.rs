//! How long a controller may take, and what counts as lately.

use crate::{diagnose::view::View, object::Age, snapshot::facts::Object};

/// In seconds, how long a controller may take before its silence means something. The protection controllers act
/// within seconds; the namespace controller waits five before it begins.
pub(crate) const SOON: i64 = 60;

/// Whether deletion was asked for so recently that nobody can be called late.
pub(crate) fn is_recent(object: &Object, view: &View<'_>) -> bool {
    object
        .deletion()
        .is_none_or(|deletion| Age::between(deletion.requested_at(), view.now()).0.as_secs() < SOON)
}

/// Whether a sign of life is of the last hour.
pub(crate) fn is_lately(time: jiff::Timestamp, view: &View<'_>) -> bool {
    Age::between(time, view.now()).0.as_secs() < 3600
}
