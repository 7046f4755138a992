//! A pod's own end, which only the kubelet of its node confirms, whatever finalizers say.
//!
//! **Recognises** any pod that is being deleted. **Why:** the kubelet stops the containers within the grace period
//! and then deletes the object with grace period 0
//! (`kubernetes/kubernetes:pkg/kubelet/status/status_manager.go` canBeDeleted); until then a pod stays, with or
//! without finalizers. `deletionTimestamp` is the moment when the grace period ends. **Wants** the node.
//! **Concludes**: in the grace period slow, not stuck; after it, what [`crate::diagnose::causes::pods::kubelet_confirmation`] sees; with grace period 0 the
//! kubelet is done, or was passed over by force, and only finalizers count. **Advises** to mend the node.

use crate::{
    diagnose::{
        causes::advice,
        model::{Evidence, Finding, Outlook, Safety, Step, Strength, Verdict},
        view::View,
    },
    object::Age,
    snapshot::facts::Object,
};

/// Slow by agreement.
pub(crate) fn in_grace(object: &Object, view: &View<'_>) -> Finding {
    let Some(deletion) = object.deletion() else {
        return Finding::new(None, Verdict::Unknown, "it is not being deleted");
    };
    let rest = Age::between(view.now(), deletion.timestamp);
    let until = deletion.timestamp;
    let mut finding = Finding::new(
        None,
        Verdict::Waiting,
        format!("its grace period runs for another {rest}, until {until}; slow, not stuck"),
    );
    finding.evidence.push(Evidence {
        source: format!("{} {} metadata.deletionTimestamp", object.kind, object.name()),
        value: format!("{until}, with a grace period of {} s", deletion.grace_seconds),
        strength: Strength::Proof,
    });
    finding.outlook.push(Outlook {
        when: "if nothing is done".into(),
        then: format!("its containers are stopped by {until} at the latest, and then it goes"),
    });
    finding
}

/// Why a pod must not be forced.
pub(crate) fn no_force(pod: &Object) -> String {
    let claims: Vec<_> = pod
        .list("/spec/volumes")
        .iter()
        .filter_map(|volume| volume.pointer("/persistentVolumeClaim/claimName")?.as_str())
        .collect();
    let writers = match pod.controller() {
        Some(("StatefulSet", name)) => format!(
            "StatefulSet {name} starts {} again elsewhere at once, and if the old one still runs, two of the same identity \
             write at the same time (DATA LOSS)",
            pod.name()
        ),
        _ => "its containers may go on running, and nobody would know".to_owned(),
    };
    let volumes = if claims.is_empty() {
        String::new()
    } else {
        format!(
            "; its volumes ({}) may still be mounted on {}",
            claims.join(", "),
            pod.text("/spec/nodeName")
        )
    };
    format!("force it (--force --grace-period=0): only the object goes; {writers}{volumes}")
}

/// The mirror of a static pod comes back as long as its manifest is on the node.
pub(crate) fn is_static(pod: &Object) -> bool {
    !pod.annotation("kubernetes.io/config.mirror").is_empty()
}

pub(crate) fn mirror(pod: &Object) -> Finding {
    let node = pod.text("/spec/nodeName");
    let mut finding = Finding::new(
        None,
        Verdict::InUse,
        format!(
            "it mirrors a static pod: the kubelet of {node} makes it again as long as its manifest is on that node"
        ),
    );
    finding.evidence.push(Evidence {
        source: format!("Pod {} annotation kubernetes.io/config.mirror", pod.name()),
        value: pod.annotation("kubernetes.io/config.mirror").to_owned(),
        strength: Strength::Proof,
    });
    finding.outlook.push(Outlook {
        when: "if nothing is done".into(),
        then: "the static pod goes on running; deleting its mirror does not stop it".into(),
    });
    finding.steps.push(Step {
        when: advice::INTENDED,
        text: format!("remove the manifest on {node} (usually below /etc/kubernetes/manifests)"),
        command: None,
        safety: Safety::Reversible,
    });
    finding
}
