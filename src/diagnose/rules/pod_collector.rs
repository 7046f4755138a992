//! A pod that nobody but the pod collector of kube-controller-manager has to remove: its node is gone, or it never had
//! one.
//!
//! **Why:** it looks every 20 seconds, and waits another 40 after it has missed a node
//! (`kubernetes/kubernetes:pkg/controller/podgc/gc_controller.go`). **Wants** the Lease of kube-controller-manager.

use crate::{
    diagnose::{
        model::{Finding, Outlook, Safety, Step, Verdict},
        view::View,
    },
    object::Age,
};

/// The pod collector looks every 20 seconds and waits 40 after a node has vanished.
const COLLECTOR: i64 = 180;

/// Nobody but the pod collector has to act.
pub(super) fn collected(says: &str, overdue: Age, view: &View<'_>) -> Finding {
    let mut finding = Finding::new(
        None,
        if overdue.0.as_secs() > COLLECTOR {
            Verdict::Stalled
        } else {
            Verdict::Waiting
        },
        format!("{says}; removed by kube-controller-manager (pod-garbage-collector)"),
    );
    finding.outlook.push(Outlook {
        when: "if nothing is done".into(),
        then: match super::controller_manager::stale(view) {
            Ok(Some(_)) => "it stays until kube-controller-manager runs again".into(),
            Ok(None) => {
                "the pod collector of kube-controller-manager removes it within a minute or two".into()
            }
            Err(missing) => format!(
                "it stays until the pod collector looks, and whether kube-controller-manager runs is not known: {}",
                missing.in_words()
            ),
        },
    });
    if finding.wait.verdict == Verdict::Stalled {
        finding.steps.push(Step {
            when: "what to do",
            text:
                "see whether kube-controller-manager runs, and whether something refuses its updates of pods"
                    .into(),
            command: Some("kubectl -n kube-system get lease kube-controller-manager -o yaml".into()),
            safety: Safety::Safe,
        });
    }
    super::controller_manager::blame(&mut finding, view);
    finding
}
