//! Every patience: how long somebody may take before silence means something, and what counts as lately.

use jiff::SignedDuration;

use crate::{diagnose::view::View, object::Age, snapshot::facts::Object};

/// In seconds, how long a controller may take before its silence means something. The protection controllers act
/// within seconds; the namespace controller waits five before it begins.
pub(crate) const SOON: i64 = 60;
/// In seconds, how long it may take to delete a disk or to detach it. A driver that fails tries again within minutes, and
/// the force-detach of a node that is gone comes after six.
pub(crate) const CLEAN_UP: i64 = 10 * 60;
/// After this, it is checked whether a controller that runs has the right to do its work.
pub(crate) const MAY_IT: SignedDuration = SignedDuration::from_mins(3);
/// Whoever wrote a status this recently, and after the deletion, runs.
pub(crate) const STATUS_WRITTEN: SignedDuration = SignedDuration::from_mins(10);
/// How much longer than its duration a Lease may go without renewal: clocks differ, and API servers pause.
pub(crate) const LEASE_LATE: SignedDuration = SignedDuration::from_secs(30);
/// After this without a renewal, no controller is starting up or changing leaders any more.
pub(crate) const LEASE_LONG_STALE: SignedDuration = SignedDuration::from_mins(10);
/// In seconds, how long a controller that works may take.
pub(crate) const WORKING_CONTROLLER: i64 = 180;
/// In seconds. A finalizer that was added later than this after the creation was not created with the object.
pub(crate) const ADDED_LATER: i64 = 60;
/// In seconds. Karpenter does not wait for a Pod that is this long over its grace period.
pub(crate) const KARPENTER_GIVES_UP: i64 = 60;
/// In seconds: six renewals missed.
pub(crate) const LEASES_UNWRITTEN: i64 = 60;
/// The garbage collector of Pods takes a round of 20 seconds to miss the node, waits 40, and looks again a round later.
pub(crate) const POD_COLLECTION: SignedDuration = SignedDuration::from_secs(80);

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
