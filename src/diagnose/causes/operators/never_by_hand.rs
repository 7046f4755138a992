//! A finalizer that must not be removed by hand while what it protects may run.
//!
//! # Symptom
//!
//! `kubectl finalizers remove` refuses, whatever you accept. The finalizer is one such as
//! `kubevirt.io/foregroundDeleteVirtualMachine` of KubeVirt's guests.
//!
//! ```text
//! $ kubectl finalizers explain virtualmachineinstances.kubevirt.io/guest -n vms --from tests/causes/operators.yaml
//! ```
//!
//! # Why
//!
//! The finalizer keeps two programs from writing to one disk. Its controller may be gone while one of them still
//! writes. So no verdict on the controller and no accepted cost is enough. The catalogue marks such finalizers with
//! `never-by-hand`.
//!
//! # Before you act
//!
//! Find out whether the pod or guest still runs on its node. Ask the machine, not only the cluster.
//!
//! # If it was a mistake
//!
//! The guest may still run. Do not stop its node before you know.
//!
//! # If it was intended
//!
//! Bring the controller and its agent on the node back. If the machine is certainly off, say so with the taint
//! `node.kubernetes.io/out-of-service`.
//!
//! # Do not
//!
//! Do not remove the finalizer with other tools. A second guest on the same disk destroys its file system.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | (of the finalizer) | a veto, also where the pods or the node could not be read |
//!
//! # What it reads
//!
//! The pods of the object and its node.
//!
//! # Sources
//!
//! - `kubevirt/kubevirt:staging/src/kubevirt.io/api/core/v1/types.go`

use serde_json::Value;

use crate::{
    diagnose::{
        causes::cause::{Cause, On, Reads, Stage, Subject, Tells},
        kinds::{Node, Pod},
        model::{Finding, Page},
        removal::Veto,
        view::{Missing, View},
    },
    knowledge::While,
    snapshot::facts::Object,
};

pub(crate) const CAUSE: Cause = Cause {
    types: &[],
    finalizer: On::Any,
    reads: Reads::Whole,
    page: Page::of(module_path!()),
    tells: Tells::More(Stage::Vetoes, add_vetoes),
};

fn add_vetoes(subject: &Subject<'_>, findings: &mut [Finding], view: &View<'_>) {
    for finding in findings {
        add_veto(subject.object, finding, view);
    }
}

/// Forbids to remove the finalizer, if its entry says so and the condition holds or could not be read.
fn add_veto(object: &Object, finding: &mut Finding, view: &View<'_>) {
    let Some(finalizer) = &finding.wait.finalizer else {
        return;
    };
    let reference = object.reference();
    let entry = view
        .knowledge
        .lookup(&finalizer.name, finalizer.list, Some((&reference).into()));
    let Some(never) = entry.as_ref().and_then(|entry| entry.never_by_hand.as_ref()) else {
        return;
    };
    let is_so = match never.r#while {
        While::ItMayRun => may_run(object, view),
    };
    let is_so =
        is_so.unwrap_or_else(|missing| Some(format!("whether it runs is not known: {}", missing.in_words())));
    if let Some(is_so) = is_so {
        finding.forbid(Veto::MayStillRun {
            is_so,
            because: never.because.clone(),
        });
    }
}

/// Why the object may still run: it has a Pod that has not ended, or its node does not report. A Pod that was deleted by
/// force still runs on such a node.
fn may_run(object: &Object, view: &View<'_>) -> Result<Option<String>, Missing> {
    let is_its = |pod: &&Object| {
        let owners = pod.list("/metadata/ownerReferences");
        let is_owner = |owner: &Value| owner.get("uid").and_then(Value::as_str) == Some(object.uid());
        owners.iter().any(is_owner) && !Pod(pod).is_finished()
    };
    let pods = view.list("", "pods", object.namespace())?;
    if let Some(pod) = pods.iter().find(is_its) {
        return Ok(Some(format!("its pod {} has not ended", pod.name())));
    }
    let node = match object.text("/status/nodeName") {
        "" => object.text("/spec/nodeName"),
        node => node,
    };
    if node.is_empty() {
        return Ok(None);
    }
    let found = view.object("", "nodes", "", node)?;
    Ok(found
        .filter(|node| {
            let is_ready = matches!(node.condition("Ready"), Some(("True", _, _)));
            !is_ready && !Node(node).is_out_of_service()
        })
        .map(|node| format!("its node {} does not report", node.name())))
}
