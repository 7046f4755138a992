//! The API server answers, and nothing can be written: etcd is full, or has lost its quorum.
//!
//! **Recognises** that kube-controller-manager has not renewed its Lease, and neither has any API server its own. **Why:** each
//! API server renews a Lease of its own in `kube-system` every ten seconds, by itself and in the same store. One that answers
//! lives; if even its own Lease is old, it cannot write. Then no controller can either, however alive it is. Source:
//! `kubernetes/kubernetes:pkg/controlplane/apiserver/server.go` `IdentityLeaseRenewIntervalPeriod`;
//! `etcd-io/etcd:server/etcdserver/api/v3rpc/rpctypes/error.go` (`mvcc: database space exceeded`). **Wants** these Leases.
//! **Concludes** nothing about finalizers; none of these Leases proves nothing (before 1.26 there were none). **Advises** to
//! look at etcd first, and not to force anything: without writes nothing can be deleted at all.

use crate::{
    diagnose::{
        model::{Blocker, Finding, Safety, Step},
        timing,
        view::View,
    },
    object::Age,
    snapshot::facts::{By, Object},
};

const OWN: &str = "apiserver.kubernetes.io/identity=kube-apiserver";

/// The Lease of the API server itself, if none of them is renewed any more.
pub(crate) fn unwritten(view: &View<'_>) -> Option<Blocker> {
    let leases = view
        .search(
            "coordination.k8s.io",
            "leases",
            "kube-system",
            By::Labels(OWN.into()),
        )
        .ok()?;
    let renewed = |lease: &&Object| lease.time("/spec/renewTime");
    let newest = leases.iter().max_by_key(renewed)?;
    let ago = Age::between(renewed(&newest)?, view.now());
    (ago.0.as_secs() > timing::LEASES_UNWRITTEN).then(|| {
        Blocker::new(
            Some(newest.reference()),
            format!(
                "last renewed {ago} ago by the API server itself, which answers: it can read and cannot write. Its store, etcd, \
                 is full (`etcdserver: mvcc: database space exceeded`) or has lost its quorum"
            ),
        )
    })
}

/// What to look at, before anything else.
pub(crate) fn advise(finding: &mut Finding) {
    let step = |text: &str, command: &str, safety| Step {
        when: "what to do",
        text: text.into(),
        command: Some(command.into()),
        safety,
    };
    let steps = [
        step(
            "see what the API server says of its store",
            "kubectl get --raw '/readyz?verbose'",
            Safety::Safe,
        ),
        step(
            "ask etcd itself, on a control plane node: whether an alarm is raised (NOSPACE), how large it is, who leads",
            "etcdctl alarm list; etcdctl endpoint status --cluster -w table",
            Safety::Safe,
        ),
        step(
            "with NOSPACE: delete what fills it if you know what, compact up to the revision that endpoint status shows, \
             defragment each member, then lift the alarm. Each member stops for as long as it is defragmented",
            "etcdctl compact REVISION && etcdctl defrag && etcdctl alarm disarm",
            Safety::Reversible,
        ),
    ];
    finding.steps.splice(0..0, steps);
}
