//! What a CSI driver or its sidecar reports as an error, and where to start the repair.
//!
//! # Symptom
//!
//! An event, `status.detachError` or the `status.error` of a snapshot content has a message. Often it begins with `rpc
//! error: code = DeadlineExceeded desc = context deadline exceeded`. Other words in it are `Unavailable`, `Internal`,
//! `VolumeFailedDelete`, `VolumeInUse` and `is forbidden`.
//!
//! ```text
//! $ kubectl finalizers explain pv/pvc-slow --from tests/causes/storage.yaml
//! ```
//!
//! # Why
//!
//! A message of the driver is a gRPC status and names its code. `DeadlineExceeded` means that the driver does not
//! answer in time. `Unavailable` means that it cannot be reached. `is forbidden` comes from the API server: the sidecar
//! lacks a right.
//!
//! # Before you act
//!
//! Read the message as a whole. See whether the provider's own console agrees, for example that the disk is still
//! attached elsewhere.
//!
//! # If it was a mistake
//!
//! The disk or snapshot still exists while the driver fails. Keep it with `kubectl finalizers rescue pv/NAME
//! --only-retain` before you repair the driver.
//!
//! # If it was intended
//!
//! Repair what the code points at: the driver's container, its credentials, the network to the provider, or the role of
//! the sidecar. Then `kubectl finalizers nudge TYPE/NAME` makes it try at once, instead of after a long pause.
//!
//! # Do not
//!
//! Do not remove the finalizer because of an error. The error says that the clean-up has not happened.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | failing | the driver or its sidecar reported the error itself, recently |
//! | unknown | another program reported it; the message is only quoted |
//!
//! # What it reads
//!
//! Events about the object, `status.detachError` of an attachment, and `status.error` of a content. The Lease of the sidecar
//! names the Pod whose log tells more.
//!
//! # Sources
//!
//! - `grpc/grpc-go:codes/codes.go`
//! - `kubernetes/apiserver:pkg/endpoints/handlers/responsewriters/errors.go`

use jiff::Timestamp;

use crate::{
    command::Command,
    diagnose::{
        causes::{advice, controller::Controller},
        complaint::{DeniedRight, lost},
        events::is_of_sidecar,
        kinds::Event,
        model::{Evidence, Finding, Page, Safety, Step, Strength, Verdict, When},
        removal::Unable,
        view::View,
    },
    object::Age,
    snapshot::facts::Object,
};

/// Adds the verdict `failing`, and quotes the error. For an error in a field that only the sidecar writes.
pub(crate) fn add_error(
    finding: &mut Finding,
    what: (&str, String),
    message: &str,
    time: Option<Timestamp>,
    view: &View<'_>,
) {
    finding.tell_of(Page::of(module_path!()));
    finding.wait.verdict = Verdict::Failing;
    quote(finding, what, message, time, view);
}

/// Quotes the error of an event, and adds the verdict `failing` if the event is recent, of the sidecar of this driver,
/// and about this object. Anybody may write an event.
pub(crate) fn add_event(
    finding: &mut Finding,
    what: (&str, String),
    (event, object, reporters): (Event<'_>, &Object, &[&str]),
    view: &View<'_>,
) {
    let message = event.message();
    if reporters
        .iter()
        .any(|name| is_of_sidecar(event, object, name, view))
    {
        finding.tell_of(Page::of(module_path!()));
        finding.wait.verdict = Verdict::Failing;
        finding.wait.unable = lost(message).map(Unable::Without);
    }
    quote(finding, what, message, event.last_time(), view);
}

fn quote(
    finding: &mut Finding,
    (what, source): (&str, String),
    message: &str,
    time: Option<Timestamp>,
    view: &View<'_>,
) {
    finding.say(format!("{what}{}: {message}", ago(time, view)));
    finding.evidence.push(Evidence {
        source,
        value: message.to_owned(),
        strength: Strength::Strong,
    });
}

/// ` 3m ago`, if the time is known.
pub(crate) fn ago(time: Option<Timestamp>, view: &View<'_>) -> String {
    time.map(|time| format!(" {} ago", Age::between(time, view.now())))
        .unwrap_or_default()
}

/// The steps for an error: where to look, and how to trigger a retry.
pub(crate) fn steps(object: &Object, message: &str, controller: &Controller, view: &View<'_>) -> Vec<Step> {
    let log = controller.leader(view).map(log_command);
    let mut steps: Vec<_> = step_for_error(message).into_iter().collect();
    if let Some(log) = log {
        match steps.first_mut() {
            Some(first) if first.command.is_none() => first.command = Some(log),
            _ => steps.push(Step {
                when: When::Now,
                text: "read what the driver and its sidecars log".to_owned(),
                command: Some(log),
                safety: Safety::ReadOnly,
                lets_go: Vec::new(),
            }),
        }
    }
    steps.push(advice::nudge_saying(
        object,
        format!(
            "repair what the driver complains of: \"{message}\". It is tried again by itself, with longer and longer \
             pauses; touching the object makes that happen at once"
        ),
    ));
    steps
}

/// The log of the Pod of a sidecar. The driver's own container is in the same Pod. The sidecars try again every five minutes at
/// least (`kubernetes-csi/external-provisioner:cmd/csi-provisioner/csi-provisioner.go` retry-interval-max).
fn log_command(pod: &Object) -> Command {
    Command::of(
        "kubectl -n {} logs {} --all-containers --prefix --since=10m",
        [pod.namespace(), pod.name()],
    )
}

/// The step for an error whose meaning is known.
fn step_for_error(message: &str) -> Option<Step> {
    if let Some(right) = DeniedRight::in_words(message) {
        return Some(right.check());
    }
    let text = if message.contains("DeadlineExceeded") || message.contains("context deadline exceeded") {
        "the driver does not answer in time: the sidecar runs and asks again and again. Look at the driver's own \
         container beside it, and at what that calls: the provider's API, its network and its credentials"
    } else if message.contains("code = Unavailable") {
        "the driver's own process cannot be reached: see whether its container beside the sidecar runs"
    } else {
        return None;
    };
    Some(Step {
        when: When::Now,
        text: text.to_owned(),
        command: None,
        safety: Safety::ReadOnly,
        lets_go: Vec::new(),
    })
}
