//! A Pod.

use serde_json::Value;

use crate::{
    diagnose::kinds::{
        pod_spec::PodSpec,
        read::{boolean, list, number, some_text, text},
        volume::Volume,
    },
    snapshot::facts::Object,
};

/// A container that ended, was started again, and is not ready. It may end again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Crash<'a> {
    /// Its name.
    pub(crate) container: &'a str,
    restarts: i64,
    exit_code: Option<i64>,
    reason: &'a str,
}

impl Crash<'_> {
    /// What happened, without the name of the Pod.
    fn in_words(self) -> String {
        let Crash {
            container,
            restarts,
            exit_code,
            reason,
        } = self;
        // The kubelet writes these two for every exit code.
        let reason = Some(reason).filter(|reason| !matches!(*reason, "" | "Error" | "Completed"));
        let code = exit_code.map(|code| format!("last exit code {code}"));
        let ends: Vec<_> = code.into_iter().chain(reason.map(str::to_owned)).collect();
        let ends = match ends.as_slice() {
            [] => String::new(),
            ends => format!(" ({})", ends.join(", ")),
        };
        let times = if restarts == 1 {
            "once"
        } else {
            &format!("{restarts} times")
        };
        format!("container {container} was restarted {times}{ends}")
    }
}

/// Why a Pod is not ready.
pub(crate) struct NotReady<'a> {
    /// In words.
    pub(crate) says: String,
    /// How the container ended before that it is about.
    pub(crate) crash: Option<Crash<'a>>,
    /// Whether it stays so by itself. A container that runs again may become ready.
    pub(crate) lasts: bool,
}

/// A Pod.
#[derive(Clone, Copy)]
pub(crate) struct Pod<'a>(pub(crate) &'a Object);

impl<'a> Pod<'a> {
    /// The node that it is bound to; empty if no scheduler has chosen one.
    pub(crate) fn node(self) -> &'a str {
        self.0.text("/spec/nodeName")
    }

    /// Its phase.
    pub(crate) fn phase(self) -> &'a str {
        self.0.text("/status/phase")
    }

    /// Whether all its containers have ended for good. The object may outlive them for a long time.
    pub(crate) fn is_finished(self) -> bool {
        matches!(self.phase(), "Succeeded" | "Failed")
    }

    /// What keeps the Pod from running, in the literal words, because people search for them.
    pub(crate) fn problem(self) -> Option<String> {
        let why = self.why_not_ready().filter(|why| why.lasts);
        why.map(|why| why.says)
    }

    /// Why the Pod is not ready, as far as it tells.
    pub(crate) fn why_not_ready(self) -> Option<NotReady<'a>> {
        let waiting = self.container_statuses().find_map(|status| {
            let waiting = status.pointer("/state/waiting")?;
            let reason = text(waiting, "/reason");
            let crash = crash(status);
            // The kubelet repeats its own back-off there, with the uid of the Pod.
            let message = crash.map_or_else(|| text(waiting, "/message").to_owned(), Crash::in_words);
            // Every Pod passes through these states, so they are no problem.
            (!matches!(reason, "" | "ContainerCreating" | "PodInitializing")).then(|| NotReady {
                says: match &*message {
                    "" => reason.to_owned(),
                    message => format!("{reason}: {message}"),
                },
                crash,
                lasts: true,
            })
        });
        let crashed = || {
            let crash = self.container_statuses().find_map(crash)?;
            Some(NotReady {
                says: crash.in_words(),
                crash: Some(crash),
                lasts: false,
            })
        };
        waiting.or_else(|| self.unscheduled()).or_else(crashed)
    }

    /// Why no scheduler has bound the Pod.
    fn unscheduled(self) -> Option<NotReady<'a>> {
        let (status, reason, message) = self.0.condition("PodScheduled")?;
        let gates: Vec<_> = self.scheduling_gates().collect();
        let gates = match gates.as_slice() {
            [] => String::new(),
            gates => format!(" ({})", gates.join(", ")),
        };
        (status == "False").then(|| NotReady {
            says: format!("{reason}: {message}{gates}"),
            crash: None,
            lasts: true,
        })
    }

    fn container_statuses(self) -> impl Iterator<Item = &'a Value> {
        let init = self.0.list("/status/initContainerStatuses");
        init.iter().chain(self.0.list("/status/containerStatuses"))
    }

    /// The gates that keep it from being scheduled. Whoever set one takes it away.
    fn scheduling_gates(self) -> impl Iterator<Item = &'a str> {
        let gates = list(&self.0.value, "/spec/schedulingGates").iter();
        gates
            .map(|gate| text(gate, "/name"))
            .filter(|name| !name.is_empty())
    }

    /// The condition that a readiness gate demands and that is not True. While the Pod does not run, it tells nothing.
    pub(crate) fn unmet_readiness_gate(self) -> Option<&'a str> {
        let gates = list(&self.0.value, "/spec/readinessGates").iter();
        let mut demanded = gates.map(|gate| text(gate, "/conditionType"));
        let is_met = |kind: &str| {
            self.0
                .condition(kind)
                .is_some_and(|(status, _, _)| status == "True")
        };
        demanded.find(|kind| self.phase() == "Running" && !kind.is_empty() && !is_met(kind))
    }

    /// Whether one of its containers was ever made.
    pub(crate) fn has_started(self) -> bool {
        let is_made = |status: &Value| !text(status, "/containerID").is_empty();
        self.phase() != "Pending" || self.container_statuses().any(is_made)
    }

    /// The names of the containers that run.
    pub(crate) fn running_containers(self) -> impl Iterator<Item = &'a str> {
        let containers = list(&self.0.value, "/status/containerStatuses").iter();
        containers
            .filter(|container| container.pointer("/state/running").is_some())
            .filter_map(|container| some_text(container, "/name"))
    }

    /// The containers that have not ended, each with its state, and what is recorded of how it ended before.
    pub(crate) fn containers_left(self) -> impl Iterator<Item = String> {
        let containers = self.0.list("/status/containerStatuses").iter();
        let left = containers.filter(|status| status.pointer("/state/terminated").is_none());
        left.map(|status| {
            let state = match status.pointer("/state/waiting") {
                Some(waiting) => format!("waits ({})", text(waiting, "/reason")),
                None => "runs".to_owned(),
            };
            let name = text(status, "/name");
            let (reason, message) = (
                text(status, "/lastState/terminated/reason"),
                text(status, "/lastState/terminated/message"),
            );
            match (reason, message) {
                ("", _) => format!("{name} {state}"),
                (reason, "") => format!("{name} {state}, and ended before: {reason}"),
                (reason, message) => format!("{name} {state}, and ended before: {reason}: {message}"),
            }
        })
    }

    /// Whether the status of each container says that it has ended. The phase may still be an older one.
    pub(crate) fn has_only_ended_containers(self) -> bool {
        let containers = list(&self.0.value, "/status/containerStatuses");
        let exit_code = |container: &'a Value| container.pointer("/state/terminated/exitCode");
        let has_ended = |container: &'a Value| exit_code(container).is_some_and(Value::is_number);
        !containers.is_empty() && containers.iter().all(has_ended)
    }

    /// The ResourceClaims that it has devices of: those that it names, and those that were made for it.
    pub(crate) fn resource_claims(self) -> impl Iterator<Item = &'a str> {
        let named = list(&self.0.value, "/spec/resourceClaims").iter();
        let made = list(&self.0.value, "/status/resourceClaimStatuses").iter();
        named
            .chain(made)
            .filter_map(|claim| some_text(claim, "/resourceClaimName"))
    }

    /// Its volumes.
    pub(crate) fn volumes(self) -> impl Iterator<Item = Volume<'a>> {
        PodSpec::of(self.0).volumes()
    }

    /// Whether a volume names this claim, directly or as a generic ephemeral volume of the Pod.
    pub(crate) fn names_claim(self, claim: &str) -> bool {
        self.volumes()
            .any(|volume| volume.claim() == Some(claim) || self.has_ephemeral_claim(volume, claim))
    }

    /// Whether this claim has the name that a generic ephemeral volume of the Pod gives it.
    pub(crate) fn has_ephemeral_claim(self, volume: Volume<'_>, claim: &str) -> bool {
        self.ephemeral_claim(volume).is_some_and(|name| name == claim)
    }

    /// The name of the claim that is made for a generic ephemeral volume of the Pod.
    pub(crate) fn ephemeral_claim(self, volume: Volume<'_>) -> Option<String> {
        let name = volume.name().filter(|_| volume.is_ephemeral())?;
        Some(format!("{}-{name}", self.0.name()))
    }

    /// Whether it tolerates that a taint with this key and without a value keeps Pods from being scheduled.
    pub(crate) fn tolerates(self, taint: &str) -> bool {
        self.0.list("/spec/tolerations").iter().any(|toleration| {
            let (key, operator) = (text(toleration, "/key"), text(toleration, "/operator"));
            let every_key = key.is_empty() && operator == "Exists";
            let this_key = key == taint && (operator == "Exists" || text(toleration, "/value").is_empty());
            (every_key || this_key) && matches!(text(toleration, "/effect"), "" | "NoSchedule")
        })
    }
}

/// How the container of this status ended before, if it is not ready now.
fn crash(status: &Value) -> Option<Crash<'_>> {
    let ended = status.pointer("/lastState/terminated")?;
    let restarts = number(status, "/restartCount").filter(|count| *count > 0)?;
    (boolean(status, "/ready") != Some(true)).then(|| Crash {
        container: text(status, "/name"),
        restarts,
        exit_code: number(ended, "/exitCode"),
        reason: text(ended, "/reason"),
    })
}

#[cfg(all(test, feature = "client"))]
mod tests {
    use k8s_openapi::{
        api::core::v1 as core,
        apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time},
    };

    use super::*;
    use crate::diagnose::{kinds::testing::reads, testing::world::bare};

    fn status(name: &str, state: core::ContainerState) -> core::ContainerStatus {
        core::ContainerStatus {
            name: name.into(),
            state: Some(state),
            ..Default::default()
        }
    }

    fn waiting(reason: &str, message: Option<&str>) -> core::ContainerState {
        core::ContainerState {
            waiting: Some(core::ContainerStateWaiting {
                reason: Some(reason.into()),
                message: message.map(Into::into),
            }),
            ..Default::default()
        }
    }

    fn pod(spec: core::PodSpec, status: core::PodStatus) -> core::Pod {
        core::Pod {
            metadata: ObjectMeta {
                name: Some("web".into()),
                ..Default::default()
            },
            spec: Some(spec),
            status: Some(status),
        }
    }

    #[test]
    fn where_it_is_and_how_far() {
        let running = core::ContainerState {
            running: Some(core::ContainerStateRunning {
                started_at: Some(Time("2026-01-01T00:00:00Z".parse().expect("a time"))),
            }),
            ..Default::default()
        };
        let spec = core::PodSpec {
            node_name: Some("node-1".into()),
            ..Default::default()
        };
        let pod = pod(
            spec,
            core::PodStatus {
                phase: Some("Failed".into()),
                container_statuses: Some(vec![status("a", running), status("b", waiting("x", None))]),
                ..Default::default()
            },
        );
        reads!(pod => Pod;
            |pod| pod.node() => "node-1", absent "";
            |pod| pod.phase() => "Failed", absent "";
            |pod| pod.is_finished() => true, absent false;
            |pod| pod.running_containers().collect::<Vec<_>>() => ["a"], absent [""; 0];
        );
    }

    #[test]
    fn all_containers_ended_and_devices() {
        let ended = core::ContainerState {
            terminated: Some(core::ContainerStateTerminated::default()),
            ..Default::default()
        };
        let spec = core::PodSpec {
            resource_claims: Some(vec![core::PodResourceClaim {
                name: "shared".into(),
                resource_claim_name: Some("gpus".into()),
                ..Default::default()
            }]),
            ..Default::default()
        };
        let one = core::PodStatus {
            container_statuses: Some(vec![status("a", ended.clone())]),
            resource_claim_statuses: Some(vec![core::PodResourceClaimStatus {
                name: "own".into(),
                resource_claim_name: Some("web-own-x1".into()),
            }]),
            ..Default::default()
        };
        reads!(pod(spec, one) => Pod;
            |pod| pod.has_only_ended_containers() => true, absent false;
            |pod| pod.resource_claims().collect::<Vec<_>>() => ["gpus", "web-own-x1"], absent [""; 0];
        );
        let both = core::PodStatus {
            container_statuses: Some(vec![status("a", ended), status("b", waiting("x", None))]),
            ..Default::default()
        };
        let both = serde_json::to_value(pod(core::PodSpec::default(), both)).expect("an object as JSON");
        assert!(!Pod(&bare("", "pods", "Pod", both)).has_only_ended_containers());
    }

    #[test]
    fn a_container_that_waits_is_a_problem() {
        for field in ["init", "main"] {
            let states = Some(vec![
                status("a", waiting("ContainerCreating", None)),
                status("b", waiting("ErrImagePull", Some("no such image"))),
            ]);
            let (init_container_statuses, container_statuses) = if field == "init" {
                (states, None)
            } else {
                (None, states)
            };
            let pod = pod(
                core::PodSpec::default(),
                core::PodStatus {
                    init_container_statuses,
                    container_statuses,
                    ..Default::default()
                },
            );
            reads!(pod => Pod;
                |pod| pod.problem() => Some("ErrImagePull: no such image"), absent None::<()>;
            );
        }
    }

    #[test]
    fn a_container_that_ends_again_and_again_is_a_problem() {
        let ended = |exit_code, reason: &str| {
            Some(core::ContainerState {
                terminated: Some(core::ContainerStateTerminated {
                    exit_code,
                    reason: Some(reason.into()),
                    ..Default::default()
                }),
                ..Default::default()
            })
        };
        let back_off = waiting(
            "CrashLoopBackOff",
            Some("back-off 5m0s restarting failed container"),
        );
        for (state, exit_code, reason, restarts, problem) in [
            (
                back_off,
                2,
                "Error",
                13,
                "CrashLoopBackOff: container a was restarted 13 times (last exit code 2)",
            ),
            // Between two crashes it runs, and may become ready.
            (
                core::ContainerState::default(),
                137,
                "OOMKilled",
                1,
                "container a was restarted once (last exit code 137, OOMKilled)",
            ),
        ] {
            let lasts = state.waiting.is_some();
            let crashed = core::ContainerStatus {
                last_state: ended(exit_code, reason),
                restart_count: restarts,
                ..status("a", state)
            };
            let ready = core::ContainerStatus {
                ready: true,
                ..crashed.clone()
            };
            let of = |status: core::ContainerStatus| {
                let status = core::PodStatus {
                    container_statuses: Some(vec![status]),
                    ..Default::default()
                };
                let pod =
                    serde_json::to_value(pod(core::PodSpec::default(), status)).expect("an object as JSON");
                bare("", "pods", "Pod", pod)
            };
            let crashed = of(crashed);
            let why = Pod(&crashed).why_not_ready().expect("it is not ready");
            assert_eq!((&*why.says, why.lasts), (problem, lasts));
            assert!(why.crash.is_some());
            assert_eq!(Pod(&crashed).problem().is_some(), lasts);
            let came_back = of(ready);
            let why = Pod(&came_back).why_not_ready();
            assert!(why.is_none_or(|why| why.crash.is_none()));
        }
    }

    #[test]
    fn a_pod_without_a_node_is_a_problem() {
        let condition = core::PodCondition {
            type_: "PodScheduled".into(),
            status: "False".into(),
            reason: Some("Unschedulable".into()),
            message: Some("0/3 nodes are available".into()),
            ..Default::default()
        };
        let pod = pod(
            core::PodSpec::default(),
            core::PodStatus {
                conditions: Some(vec![condition]),
                ..Default::default()
            },
        );
        reads!(pod => Pod;
            |pod| pod.problem() => Some("Unschedulable: 0/3 nodes are available"), absent None::<()>;
        );
    }

    #[test]
    fn gates_are_named() {
        let spec = core::PodSpec {
            scheduling_gates: Some(vec![core::PodSchedulingGate {
                name: "queue.test/admit".into(),
            }]),
            readiness_gates: Some(vec![core::PodReadinessGate {
                condition_type: "lb.test/attached".into(),
            }]),
            ..Default::default()
        };
        let running = core::PodStatus {
            phase: Some("Running".into()),
            ..Default::default()
        };
        reads!(pod(spec, running) => Pod;
            |pod| pod.scheduling_gates().collect::<Vec<_>>() => ["queue.test/admit"], absent [""; 0];
            |pod| pod.unmet_readiness_gate() => Some("lb.test/attached"), absent None::<()>;
        );
    }

    #[test]
    fn claims_of_its_volumes() {
        let named = core::Volume {
            name: "data".into(),
            persistent_volume_claim: Some(core::PersistentVolumeClaimVolumeSource {
                claim_name: "web-data".into(),
                ..Default::default()
            }),
            ..Default::default()
        };
        let ephemeral = core::Volume {
            name: "scratch".into(),
            ephemeral: Some(core::EphemeralVolumeSource {
                volume_claim_template: Some(core::PersistentVolumeClaimTemplate::default()),
            }),
            ..Default::default()
        };
        let spec = core::PodSpec {
            volumes: Some(vec![named, ephemeral]),
            ..Default::default()
        };
        reads!(pod(spec, core::PodStatus::default()) => Pod;
            |pod| pod.names_claim("web-data") => true, absent false;
            |pod| pod.names_claim("web-scratch") => true, absent false;
            |pod| pod.volumes().filter_map(|volume| pod.ephemeral_claim(volume)).collect::<Vec<_>>()
                => ["web-scratch"], absent [""; 0];
            |pod| pod.volumes().any(|volume| pod.has_ephemeral_claim(volume, "web-scratch")) => true, absent false;
        );
    }

    #[test]
    fn tolerations() {
        let toleration = |key: Option<&str>, operator: &str, effect: Option<&str>| core::Toleration {
            key: key.map(Into::into),
            operator: Some(operator.into()),
            effect: effect.map(Into::into),
            ..Default::default()
        };
        for (toleration, expected) in [
            (toleration(Some("x"), "Exists", Some("NoSchedule")), true),
            (toleration(Some("x"), "Equal", Some("NoSchedule")), true),
            (toleration(None, "Exists", None), true),
            (toleration(Some("x"), "Exists", Some("NoExecute")), false),
            (toleration(Some("y"), "Exists", None), false),
            (
                core::Toleration {
                    value: Some("v".into()),
                    ..toleration(Some("x"), "Equal", None)
                },
                false,
            ),
        ] {
            let spec = core::PodSpec {
                tolerations: Some(vec![toleration]),
                ..Default::default()
            };
            let pod = pod(spec, core::PodStatus::default());
            let whole = serde_json::to_value(&pod).expect("JSON");
            assert_eq!(Pod(&bare("", "pods", "Pod", whole)).tolerates("x"), expected);
            if expected {
                reads!(pod => Pod; |pod| pod.tolerates("x") => true, absent false;);
            }
        }
    }
}
