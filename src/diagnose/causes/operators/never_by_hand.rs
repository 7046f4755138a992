//! A finalizer that must not be removed by hand while what it protects is there.
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
//! Upstream forbids it. The finalizer of a guest keeps two programs from writing to one disk. Its controller may be gone
//! while one of them still writes. Others protect the keys of a store that runs, or a volume that has a claim. So no verdict
//! on the controller and no accepted cost is enough. The catalogue marks such finalizers with `never-by-hand`.
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
//! | (of the finalizer) | a veto, also where what the catalogue names could not be read |
//!
//! # What it reads
//!
//! What the catalogue names: the pods of the object and its node, or other objects.
//!
//! # Sources
//!
//! - `kubevirt/kubevirt:staging/src/kubevirt.io/api/core/v1/types.go`

use crate::{
    diagnose::{
        causes::cause::{Cause, On, Reads, Stage, Subject, Tells},
        kinds::{Node, Pod},
        model::{Finding, Page},
        removal::Veto,
        view::{Missing, View},
    },
    knowledge::{Left, While},
    object::is_custom_group,
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
    let entry = view.entry(object, finalizer);
    let Some(never) = entry.as_ref().and_then(|entry| entry.never_by_hand.as_ref()) else {
        return;
    };
    let (is_so, until) = match &never.r#while {
        While::ItMayRun => (may_run(object, view), ENDED),
        While::NodeIsSilent => (silent_node(object, view), REPORTS),
        While::Exists(all) => (
            first_left(object, all, view),
            "none of these objects is left, and their types can be listed",
        ),
        While::ItsCauseForbids => return,
    };
    let is_so = is_so.unwrap_or_else(|missing| {
        Some(format!(
            "whether that is safe is not known: {}",
            missing.in_words()
        ))
    });
    if let Some(is_so) = is_so {
        finding.forbid(Veto::ForbiddenWhile {
            is_so,
            because: never.because.clone(),
            until,
        });
    }
}

const ENDED: &str =
    "its pods have ended, and its node reports, is gone, or has the taint node.kubernetes.io/out-of-service";
const REPORTS: &str = "its node reports, is gone, or has the taint node.kubernetes.io/out-of-service";

/// Why the object may still run: it has a Pod that has not ended, or its node does not report. A Pod that was deleted by
/// force still runs on such a node.
fn may_run(object: &Object, view: &View<'_>) -> Result<Option<String>, Missing> {
    let is_its = |pod: &&Object| pod.is_owned_by(object.uid()) && !Pod(pod).is_finished();
    let pods = view.list("", "pods", object.namespace())?;
    if let Some(pod) = pods.iter().find(is_its) {
        return Ok(Some(format!("its pod {} has not ended", pod.name())));
    }
    silent_node(object, view)
}

/// The node of the object, if it does not report.
fn silent_node(object: &Object, view: &View<'_>) -> Result<Option<String>, Missing> {
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

/// The first of the objects that must be gone.
fn first_left(object: &Object, all: &[Left], view: &View<'_>) -> Result<Option<String>, Missing> {
    let mut unread = None;
    for left in all {
        match left_of(object, left, view) {
            Ok(None) => {}
            // One that is there outweighs what could not be read.
            Ok(found) => return Ok(found),
            Err(missing) => unread = Some(missing),
        }
    }
    unread.map_or(Ok(None), Err)
}

/// An object of this kind that must be gone.
fn left_of(object: &Object, left: &Left, view: &View<'_>) -> Result<Option<String>, Missing> {
    let (kind, group) = (left.kind.kind(), left.kind.group());
    let (plural, is_namespaced) = match view.kind(group, kind) {
        Some(ty) => (ty.plural.clone(), ty.namespaced),
        // Every API server has the types of Kubernetes.
        None if !is_custom_group(group) => (kind.to_lowercase() + "s", false),
        None => {
            let name = format!("{}.{group}", kind.to_lowercase());
            // A group that did not answer may have such objects.
            return Ok(view
                .may_have_type(&name)
                .then(|| format!("whether a {} is left is not known", left.kind)));
        }
    };
    let wanted: Vec<_> = left
        .is
        .iter()
        .map(|pointer| object.text(pointer))
        .filter(|text| !text.is_empty())
        .collect();
    if !left.is.is_empty() && wanted.is_empty() && !object.was_read() {
        return Ok(Some(format!(
            "which {kind} it names is not known: only its metadata was read"
        )));
    }
    let namespace = match &left.namespace {
        Some(fixed) => fixed,
        None if is_namespaced => object.namespace(),
        None => "",
    };
    let is_apart = |one: &Object| {
        left.namespace.is_none()
            && ![one.namespace(), ""].contains(&object.namespace())
            && !one.namespace().is_empty()
    };
    let is_itself = |one: &Object| {
        one.resource == object.resource
            && (one.namespace(), one.name()) == (object.namespace(), object.name())
    };
    let is_meant = |one: &&Object| {
        let is_equal = left
            .field
            .as_ref()
            .is_none_or(|field| wanted.contains(&one.text(field)));
        let is_over = one.is("", "pods") && Pod(one).is_finished();
        is_equal && !is_apart(one) && !is_itself(one) && !is_over
    };
    let found = view.list(group, &plural, namespace)?;
    Ok(found
        .iter()
        .find(is_meant)
        .map(|one| format!("{} is left", one.reference().in_words())))
}
