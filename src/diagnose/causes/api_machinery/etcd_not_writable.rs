//! The API server answers but cannot write: etcd is full, or has lost its quorum.
//!
//! # Symptom
//!
//! Reads work and every write fails, with `etcdserver: mvcc: database space exceeded`, `etcdserver: request timed out`
//! or `etcdserver: no leader`. Nothing in the cluster changes any more.
//!
//! ```text
//! $ kubectl finalizers explain pvc/data -n shop --from tests/causes/etcd_not_writable.snapshot
//! ```
//!
//! # Why
//!
//! Each API server renews its own Lease in `kube-system` every ten seconds, and stores it in the same etcd. An API
//! server that answers is alive. If even its own Lease is old, it cannot write. Then no controller can write either,
//! even if it runs.
//!
//! # Before you act
//!
//! Look at etcd: alarms, size, leader. On a managed cluster, ask the provider.
//!
//! # If it was a mistake
//!
//! Nothing is deleted while etcd takes no writes. Take a snapshot of etcd before you repair it.
//!
//! # If it was intended
//!
//! Repair etcd: compact, defragment and disarm the alarm, or bring the missing members back. All deletions then go on.
//!
//! # Do not
//!
//! Do not force anything. Without writes nothing can be deleted at all.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | (of the finalizer) | nothing is concluded about finalizers; etcd is named as the root cause |
//!
//! # What it reads
//!
//! The Leases of kube-controller-manager and of the API servers. If the latter do not exist, that proves nothing: API
//! servers before 1.26 had none.
//!
//! # Sources
//!
//! - `kubernetes/kubernetes:pkg/controlplane/apiserver/server.go` IdentityLeaseRenewIntervalPeriod
//! - `etcd-io/etcd:api/v3rpc/rpctypes/error.go` ErrGRPCNoSpace

use crate::{
    command::Command,
    diagnose::{
        kinds::Lease,
        model::{Blocker, Finding, Page, Safety, Step, When},
        timing,
        view::View,
    },
    object::Age,
    snapshot::facts::{By, Object},
};

const API_SERVER_LEASES: &str = "apiserver.kubernetes.io/identity=kube-apiserver";

/// The newest Lease of an API server, if no API server renews its Lease any more.
pub(crate) fn stale_api_server_lease(view: &View<'_>) -> Option<Blocker> {
    let leases = view
        .search(
            "coordination.k8s.io",
            "leases",
            "kube-system",
            By::Labels(API_SERVER_LEASES.into()),
        )
        .ok()?;
    let renewed = |lease: &&Object| Lease(lease).renewed();
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

/// Adds the steps that check and repair etcd, before all other steps.
pub(crate) fn add_steps(finding: &mut Finding) {
    finding.tell_of(Page::of(module_path!()));
    let step = |text: &str, command: &'static str, safety| Step {
        when: When::Now,
        text: text.into(),
        command: Some(Command::of(command, [])),
        safety,
        lets_go: Vec::new(),
    };
    let steps = [
        step(
            "see what the API server says of its store",
            "kubectl get --raw /readyz?verbose",
            Safety::ReadOnly,
        ),
        step(
            "ask etcd itself, on a control plane node, whether an alarm is raised (NOSPACE)",
            "etcdctl alarm list",
            Safety::ReadOnly,
        ),
        step(
            "see how large it is, who leads, and its REVISION",
            "etcdctl endpoint status --cluster -w json",
            Safety::ReadOnly,
        ),
        step(
            "with NOSPACE: delete what fills it if you know what, then compact up to that REVISION. Only the history goes",
            "etcdctl compact REVISION",
            Safety::Safe,
        ),
        step(
            "then defragment each member. Each one stops for as long as that takes",
            "etcdctl defrag",
            Safety::Safe,
        ),
        step("then lift the alarm", "etcdctl alarm disarm", Safety::Safe),
    ];
    finding.steps.splice(0..0, steps);
}
