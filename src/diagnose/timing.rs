//! Time limits: how long a controller may take before its silence means something, and which signs are recent.

use jiff::SignedDuration;

use crate::{diagnose::view::View, object::Age, snapshot::facts::Object};

/// In seconds: how long a controller may take before its silence means something. The protection controllers act
/// within seconds; the namespace controller waits five before it begins.
pub(crate) const SOON: i64 = 60;
/// In seconds: how long deleting or detaching a disk may take. A driver that fails retries within minutes, and the
/// force-detach from a node that is gone comes after six.
pub(crate) const CLEAN_UP: i64 = 10 * 60;
/// How long after the deletion the diagnosis checks whether a running controller has the right to do its work.
pub(crate) const RIGHTS_CHECK: SignedDuration = SignedDuration::from_mins(3);
/// A controller that wrote the status this recently, and after the deletion, runs.
pub(crate) const STATUS_WRITTEN: SignedDuration = SignedDuration::from_mins(10);
/// How long a report of an error counts as recent. Controllers retry at least every 1000 seconds
/// (`kubernetes/client-go:util/workqueue/default_rate_limiters.go`), so one that still tries reports twice in this time.
pub const COMPLAINT: SignedDuration = SignedDuration::from_mins(35);
/// How long after the deletion an unknown controller may still be about to act. The kubelet starts a container that
/// crashes at least every five minutes (`kubernetes/kubernetes:pkg/kubelet/kubelet.go` `MaxCrashLoopBackOff`); a change of
/// leaders, and the first attempts of a controller that fails, take less.
pub const UNSEEN_CONTROLLER: SignedDuration = SignedDuration::from_mins(5);
/// How long after its duration a Lease counts as renewed: clocks differ, and API servers pause.
pub(crate) const LEASE_LATE: SignedDuration = SignedDuration::from_secs(30);
/// After this time without a renewal, no controller is starting or changing leaders.
pub(crate) const LEASE_LONG_STALE: SignedDuration = SignedDuration::from_mins(10);
/// After this time without a write, a controller for which several objects wait is silent. Those that fail try again at
/// least every 1000 seconds, and most record it in the object.
pub(crate) const SILENCE: SignedDuration = SignedDuration::from_hours(1);
/// After this time a report is quoted with its age: what it complains of may have come back since.
pub(crate) const LONG_AGO: SignedDuration = SignedDuration::from_hours(1);
/// A controller that left an object alone this long, although nothing blocks it, has not acted. One that fails tries again at
/// least every 1000 seconds, so it had two turns.
pub(crate) const NOT_ACTED: SignedDuration = COMPLAINT;
/// In seconds: how long a controller may work on one object.
pub(crate) const WORKING_CONTROLLER: i64 = 180;
/// In seconds: a finalizer that was added this long after the creation was not created with the object.
pub(crate) const ADDED_LATER: i64 = 60;
/// In seconds: Karpenter does not wait for a Pod that is this long over its grace period.
pub(crate) const KARPENTER_GIVES_UP: i64 = 60;
/// In seconds: the time of six missed renewals.
pub(crate) const LEASES_UNWRITTEN: i64 = 60;
/// The Pod garbage collector needs a round of 20 seconds to notice the missing node. It waits 40 seconds, and checks
/// again a round later.
pub(crate) const POD_COLLECTION: SignedDuration = SignedDuration::from_secs(80);
/// An error that a CSI sidecar recorded this recently is of now. Sidecars try again at least every five minutes
/// (`--retry-interval-max`, `kubernetes-csi/external-attacher:cmd/csi-attacher/main.go`).
pub(crate) const SIDECAR_ERROR: SignedDuration = SignedDuration::from_hours(1);

/// Whether the deletion is so recent that no controller is late yet.
pub(crate) fn is_deletion_recent(object: &Object, view: &View<'_>) -> bool {
    object
        .deletion()
        .is_none_or(|deletion| Age::between(deletion.requested_at(), view.now()).0.as_secs() < SOON)
}

/// Whether the object is in deletion and its grace period still runs.
pub(crate) fn is_in_grace_period(object: &Object, view: &View<'_>) -> bool {
    object
        .deletion()
        .is_some_and(|deletion| deletion.in_grace(view.now()))
}

/// Whether a report of this time is recent. Clocks differ, but a time in the far future is made up.
pub(crate) fn is_recent_complaint(time: jiff::Timestamp, now: jiff::Timestamp) -> bool {
    now.duration_since(time).abs() <= COMPLAINT
}

/// Whether a time lies within the last hour.
pub(crate) fn is_within_last_hour(time: jiff::Timestamp, view: &View<'_>) -> bool {
    Age::between(time, view.now()).0 < SIDECAR_ERROR
}
