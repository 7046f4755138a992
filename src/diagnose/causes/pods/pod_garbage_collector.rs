//! Only the Pod garbage collector of kube-controller-manager can remove a Pod without a node, or whose node is gone.
//!
//! **Why:** it syncs every 20 seconds, and waits another 40 seconds after it has missed a node
//! (`kubernetes/kubernetes:pkg/controller/podgc/gc_controller.go`). **Wants** the Lease of kube-controller-manager.

use jiff::Timestamp;

use crate::{
    command::Command,
    diagnose::{
        causes::api_machinery::controller_manager,
        model::{Finding, Liveness, Moment, Outlook, Safety, Said, Step, Verdict, When},
        timing,
        view::View,
    },
    snapshot::facts::Object,
};

/// The finding for such a Pod. Nothing shows since when the node is gone, and so whether the garbage collector is
/// late. So the finding only says until when it must act.
pub(crate) fn awaits_garbage_collector(says: &str, pod: &Object, view: &View<'_>) -> Finding {
    let mut finding = Finding::new(
        None,
        Verdict::Waiting,
        Said::removed_by("kube-controller-manager", Liveness::Unknown, Vec::new())
            .part("pod-garbage-collector")
            .now(says),
    );
    let until = view
        .now()
        .saturating_add(timing::POD_COLLECTION)
        .unwrap_or(Timestamp::MAX);
    finding.outlook.push(Outlook {
        when: Moment::NothingDone,
        then: match controller_manager::stale_lease(view) {
            Ok(Some(_)) => "it stays until kube-controller-manager runs again".into(),
            Ok(None) => format!(
                "the pod collector of kube-controller-manager removes it by {until:.0} at the latest: it looks every 20 \
                 seconds, and waits 40 after it has missed a node"
            ),
            Err(missing) => format!(
                "it stays until the pod collector looks, and whether kube-controller-manager runs is not known: {}",
                missing.in_words()
            ),
        },
    });
    finding.steps.push(Step {
        when: When::StillThere,
        text: format!(
            "after {until:.0} it is late: see whether kube-controller-manager runs, and whether something refuses its updates \
             of pods/status"
        ),
        command: Some(Command::of(
            "kubectl -n kube-system get lease kube-controller-manager -o yaml",
            [],
        )),
        safety: Safety::ReadOnly,
        lets_go: Vec::new(),
    });
    finding.steps.push(Step {
        when: When::StillThere,
        text: "see the events of the pod: they name what refuses an update".into(),
        command: Some(Command::describe("pod", pod.name(), pod.namespace())),
        safety: Safety::ReadOnly,
        lets_go: Vec::new(),
    });
    controller_manager::add_stale_lease(&mut finding, view);
    finding
}
