//! How long the verbs wait for others, and why.

use std::time::Duration;

/// `watch`: a type that cannot be read for this long does not hold up the end of the watch.
pub(super) const UNREADABLE_TYPE: Duration = Duration::from_secs(30);
/// `rescue`: a controller that restarts acts within this time, and a server that became unreachable is back. Otherwise a
/// person has to look.
pub(super) const RESCUE_STEP: Duration = Duration::from_secs(60);
/// `exporter`: a client that does not finish its request in this time is disconnected, and so is one that stays silent.
pub(super) const CLIENT: Duration = Duration::from_secs(10);
/// `exporter`: the first read of the cluster waits this long for the first lists of all types. It reads the types itself
/// that are not listed by then.
pub(super) const FIRST_LISTS: Duration = Duration::from_secs(120);
