//! Typed questions to an object of a known kind, for causes that share them.

use serde_json::Value;

use crate::snapshot::facts::Object;

/// A Pod.
#[derive(Clone, Copy)]
pub(crate) struct Pod<'a>(pub(crate) &'a Object);

impl Pod<'_> {
    /// Whether all its containers have ended for good. The object may outlive them for a long time.
    pub(crate) fn is_finished(self) -> bool {
        matches!(self.0.text("/status/phase"), "Succeeded" | "Failed")
    }

    /// What keeps the Pod from running, in the literal words, because people search for them.
    pub(crate) fn problem(self) -> Option<String> {
        let pod = self.0;
        let waiting = pod
            .list("/status/initContainerStatuses")
            .iter()
            .chain(pod.list("/status/containerStatuses"))
            .filter_map(|container| container.pointer("/state/waiting"))
            .find_map(|waiting| {
                let field = |name: &str| waiting.get(name).and_then(Value::as_str).unwrap_or_default();
                let reason = field("reason");
                // Every Pod passes through these states, so they are no problem.
                (!matches!(reason, "" | "ContainerCreating" | "PodInitializing")).then(|| {
                    match field("message") {
                        "" => reason.to_owned(),
                        message => format!("{reason}: {message}"),
                    }
                })
            });
        waiting.or_else(|| {
            let (status, reason, message) = pod.condition("PodScheduled")?;
            (status == "False").then(|| format!("{reason}: {message}"))
        })
    }

    /// Whether a volume names this claim, directly or as a generic ephemeral volume of the Pod.
    pub(crate) fn names_claim(self, claim: &str) -> bool {
        let volumes = self.0.list("/spec/volumes");
        volumes
            .iter()
            .any(|volume| claim_of_volume(volume) == Some(claim) || self.has_ephemeral_claim(volume, claim))
    }

    /// Whether this claim has the name that a generic ephemeral volume of the Pod gives it.
    pub(crate) fn has_ephemeral_claim(self, volume: &Value, claim: &str) -> bool {
        volume.get("ephemeral").is_some_and(Value::is_object)
            && volume
                .get("name")
                .and_then(Value::as_str)
                .is_some_and(|name| format!("{}-{name}", self.0.name()) == claim)
    }
}

/// The claim that a volume of a Pod names directly.
pub(crate) fn claim_of_volume(volume: &Value) -> Option<&str> {
    volume
        .pointer("/persistentVolumeClaim/claimName")
        .and_then(Value::as_str)
}
