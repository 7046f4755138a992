//! An attachment that no controller has deleted yet, and why.
//!
//! # Symptom
//!
//! A VolumeAttachment is not being deleted, alone or as what its volume waits for. Pods elsewhere wait with
//! `Multi-Attach error for volume`.
//!
//! ```text
//! $ kubectl finalizers explain volumeattachment/csi-7f3c --from tests/causes/storage.yaml
//! ```
//!
//! # Why
//!
//! The attach/detach controller deletes an attachment when no pod on the node uses the disk and the kubelet has
//! unmounted it. If the node is gone or not ready, it waits for the kubelet no longer than six minutes after the last
//! pod. With `--disable-force-detach-on-timeout` it waits on. With the taint `node.kubernetes.io/out-of-service` it
//! deletes the attachment at once.
//!
//! # Before you act
//!
//! See whether a pod on that node still uses the claim, and whether the node is ready.
//!
//! # If it was a mistake
//!
//! Nothing is being deleted, so nothing has to be taken back.
//!
//! # If it was intended
//!
//! Stop the pod, or wait for the six minutes. If the machine is certainly off, say so with the taint
//! `node.kubernetes.io/out-of-service`. If the Node object is gone, delete the attachment.
//!
//! # Do not
//!
//! Do not delete the attachment while the node may still run. Two nodes would write to one disk.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | in-use | a pod on that node uses the disk |
//! | waiting | the node is silent or gone, and the six minutes are not over |
//! | stalled | nothing uses the disk, and the attachment is not deleted |
//!
//! # What it reads
//!
//! The volume, the pods of the claim's namespace, the node, and the Lease of kube-controller-manager.
//!
//! # Sources
//!
//! - `kubernetes/kubernetes:pkg/controller/volume/attachdetach/reconciler/reconciler.go` reconcile

use crate::{
    command::Command,
    diagnose::{
        causes::{
            api_machinery::controller_manager,
            storage::{csi_errors::ago, pvc_protection},
            verdicts::unknown,
        },
        kinds::{Condition, Node, PersistentVolume, Pod, VolumeAttachment},
        model::{Blocker, CauseState, Finding, Moment, Outlook, Page, Safety, Said, Step, Verdict, When},
        view::{Missing, View},
    },
    object::Finalizer,
    snapshot::facts::Object,
};

const OUT_OF_SERVICE: &str = "node.kubernetes.io/out-of-service";

/// Answers for the finalizer on an attachment that is not being deleted.
pub(crate) fn still_attached(
    attachment: &Object,
    finalizer: &Finalizer,
    says: Said,
    view: &View<'_>,
) -> Finding {
    let mut finding = Finding::new(Some(finalizer.clone()), Verdict::Waiting, says);
    finding.tell_of(Page::of(module_path!()));
    match reasons(attachment, view) {
        Ok(reasons) => {
            if reasons.iter().any(is_about_pod) {
                finding.wait.verdict = Verdict::InUse;
            }
            finding.wait.on = reasons;
        }
        Err(missing) => {
            return unknown(finalizer, &finding.wait.said, "what uses it there", &missing);
        }
    }
    finding.steps = steps(attachment, view);
    finding.outlook.push(Outlook {
        when: Moment::DeletedNow,
        then: format!(
            "the disk would be detached from node {} while it may be in use there; the attach/detach controller deletes \
             it by itself when no pod needs it",
            VolumeAttachment(attachment).node()
        ),
    });
    finding
}

fn is_about_pod(blocker: &Blocker) -> bool {
    blocker.object.as_ref().is_some_and(|object| object.kind == "Pod")
}

/// The attachment as a blocker of another object.
pub(crate) fn blocker(attachment: &Object, view: &View<'_>) -> Blocker {
    let node = VolumeAttachment(attachment).node();
    let error = VolumeAttachment(attachment).detach_error().message();
    if attachment.deletion().is_some() {
        let says = if error.is_empty() {
            format!("still attached to node {node}, being detached")
        } else {
            format!("cannot be detached from node {node}: {error}")
        };
        return view.blocker(attachment, says);
    }
    let mut blocker = Blocker::new(
        Some(attachment.reference()),
        format!("still attached to node {node}"),
    );
    match reasons(attachment, view) {
        Ok(reasons) => blocker.on = reasons,
        Err(missing) => {
            blocker.says = format!(
                "{}; what uses it there is not known: {}",
                blocker.says,
                missing.in_words()
            )
            .into();
        }
    }
    blocker
}

/// Why the attach/detach controller has not deleted the attachment: the pods that use the disk, the controller
/// itself, or the node.
fn reasons(attachment: &Object, view: &View<'_>) -> Result<Vec<Blocker>, Missing> {
    let node = VolumeAttachment(attachment).node();
    let volume = VolumeAttachment(attachment).volume();
    if volume.is_empty() {
        return Ok(vec![Blocker::new(
            None,
            "the disk is named by a pod itself, not by a volume",
        )]);
    }
    let Some(volume) = view.object("", "persistentvolumes", "", volume)? else {
        return Ok(vec![Blocker::new(
            None,
            format!(
                "volume {volume} does not exist any more, so the attach/detach controller does not know this attachment \
                 after a restart, and may never delete it"
            ),
        )]);
    };
    let users = users_on_node(volume, node, view)?;
    if !users.is_empty() {
        return Ok(pvc_protection::blockers(&users, view));
    }
    if let Some(stopped) = controller_manager::blocker(view)? {
        return Ok(vec![stopped]);
    }
    let blocker = match view.object("", "nodes", "", node)? {
        None => Blocker::new(
            None,
            format!(
                "node {node} does not exist any more; its kubelet cannot say that the disk is unmounted, and it is \
                 detached without that six minutes after its last pod"
            ),
        ),
        Some(found) => Blocker {
            state: not_ready_since(found, view).map(|_| CauseState::NotReady),
            ..Blocker::new(Some(found.reference()), why_node_keeps_it(found, volume, view))
        },
    };
    Ok(vec![blocker])
}

/// The pods on the node that use the volume through its claim.
pub(crate) fn users_on_node<'a>(
    volume: &Object,
    node: &str,
    view: &View<'a>,
) -> Result<Vec<&'a Object>, Missing> {
    let (namespace, claim) = (
        PersistentVolume(volume).claim_namespace(),
        PersistentVolume(volume).claim_name(),
    );
    if claim.is_empty() {
        return Ok(Vec::new());
    }
    Ok(view
        .list("", "pods", namespace)?
        .iter()
        .filter(|pod| Pod(pod).node() == node && !Pod(pod).is_finished())
        .filter(|pod| Pod(pod).names_claim(claim))
        .collect())
}

/// Why the disk is still attached to a node where no pod uses it.
fn why_node_keeps_it(node: &Object, volume: &Object, view: &View<'_>) -> String {
    let mounted = is_mounted(node, volume);
    if Node(node).is_out_of_service() {
        return format!(
            "has the taint {OUT_OF_SERVICE}, so the disk is detached at once, whatever is mounted; the attach/detach controller has \
             not asked for it yet"
        );
    }
    match (not_ready_since(node, view), mounted) {
        (Some(since), false) => format!(
            "is not Ready{since}, and has not the disk among what it has mounted (status.volumesInUse); the attach/detach \
             controller has not asked to detach it yet"
        ),
        (Some(since), true) => format!(
            "is not Ready{since}, and its kubelet has not unmounted the disk (status.volumesInUse); it is detached by \
             force six minutes after its last pod there is gone, or at once if the node has the taint {OUT_OF_SERVICE}"
        ),
        (None, true) => "its kubelet has not unmounted the disk yet (status.volumesInUse)".to_owned(),
        (None, false) => {
            "no pod on it uses the disk; the attach/detach controller has not asked to detach it yet"
                .to_owned()
        }
    }
}

/// For how long a node is not Ready, in words; none if it is Ready.
fn not_ready_since(node: &Object, view: &View<'_>) -> Option<String> {
    let ready = Condition::of_type(node, "Ready");
    (ready.map_or("", Condition::status) != "True").then(|| {
        let since = ago(ready.and_then(Condition::changed), view);
        since.replace(" ago", "").replacen(' ', " for ", 1)
    })
}

fn is_mounted(node: &Object, volume: &Object) -> bool {
    let handle = PersistentVolume(volume).disk();
    Node(node)
        .volumes_in_use()
        .any(|name| !handle.is_empty() && name.ends_with(&format!("^{handle}")))
}

/// The steps that get the disk detached.
pub(crate) fn steps(attachment: &Object, view: &View<'_>) -> Vec<Step> {
    if attachment.deletion().is_some() {
        return vec![explain_step(attachment)];
    }
    let name = VolumeAttachment(attachment).node();
    let volume = VolumeAttachment(attachment).volume();
    let (Ok(node), Ok(Some(volume))) = (
        view.object("", "nodes", "", name),
        view.object("", "persistentvolumes", "", volume),
    ) else {
        return Vec::new();
    };
    let used = users_on_node(volume, name, view).map_or(true, |users| !users.is_empty());
    // The controller that detaches disks comes first.
    if used || !matches!(controller_manager::blocker(view), Ok(None)) {
        return Vec::new();
    }
    let Some(node) = node else {
        return steps_without_node(attachment, name);
    };
    let is_stuck =
        not_ready_since(node, view).is_some() && is_mounted(node, volume) && !Node(node).is_out_of_service();
    if !is_stuck {
        return Vec::new();
    }
    vec![
        Step {
            when: When::NodeBack,
            text: format!(
                "see whether node {name} comes back. After six minutes without it, the disk is detached by force"
            ),
            command: Some(Command::of("kubectl get node {} -o wide", [name])),
            safety: Safety::ReadOnly,
            lets_go: Vec::new(),
        },
        Step {
            when: When::MachineOff,
            text: format!(
                "DATA LOSS if node {name} still runs and writes: only if its machine is certainly off, say so. The disk is \
                 then detached at once"
            ),
            command: Some(Command::of(
                "kubectl taint node {} {}=nodeshutdown:NoExecute",
                [name, OUT_OF_SERVICE],
            )),
            safety: Safety::Destructive,
            lets_go: Vec::new(),
        },
    ]
}

/// The step that explains an attachment that is being deleted.
fn explain_step(attachment: &Object) -> Step {
    Step {
        when: When::Now,
        text: "see why the disk is not detached, and what to do about it".into(),
        command: Some(Command::explain("volumeattachment", attachment.name(), "")),
        safety: Safety::ReadOnly,
        lets_go: Vec::new(),
    }
}

/// The steps for a node that is gone. No kubelet can confirm that the disk is unmounted.
fn steps_without_node(attachment: &Object, node: &str) -> Vec<Step> {
    vec![
        Step {
            when: When::CanWait,
            text: "wait: six minutes after its last pod the attach/detach controller asks for it itself"
                .into(),
            command: None,
            safety: Safety::Safe,
            lets_go: Vec::new(),
        },
        Step {
            when: When::MachineGone,
            text: format!(
                "DATA LOSS if the machine that was node {node} still runs and writes: only if it is certainly off or gone, \
                 delete the attachment. Its attacher then detaches the disk"
            ),
            command: Some(Command::of(
                "kubectl delete volumeattachment {} --wait=false",
                [attachment.name()],
            )),
            safety: Safety::Destructive,
            lets_go: Vec::new(),
        },
    ]
}
