//! What the kubelet of a node does about a Pod whose grace period is over: it tries and fails, or it is silent.
//!
//! **Why:** the kubelet deletes the object only when all containers have stopped and all volumes are unmounted
//! (`kubernetes/kubernetes:pkg/kubelet/kubelet.go` SyncTerminatedPod). It writes no event for a failing unmount. A
//! silent kubelet may still run the containers, so the Pod waits forever by design. **Wants** events of the Pod.
//! **Advises** to bring the node back, or to declare that its machine is off.

use crate::{
    command::Command,
    diagnose::{
        causes::pods::{grace_period::force_warning, missing_device_driver, missing_node_plugin},
        events::{last_event, newest_event},
        kinds::{Event, Pod},
        model::{
            Blocker, CauseState, Evidence, Finding, Moment, Outlook, Safety, Said, Step, Strength, Verdict,
            When,
        },
        timing,
        view::View,
    },
    object::Age,
    snapshot::facts::Object,
};

/// The finding for a Pod on a Ready node: its kubelet runs and does not finish the Pod.
pub(crate) fn not_finished_by_kubelet(
    pod: &Object,
    node: &Object,
    says: &str,
    overdue: Age,
    view: &View<'_>,
) -> Finding {
    let name = node.name();
    if overdue.0.as_secs() < timing::SOON {
        let mut finding = Finding::new(
            None,
            Verdict::Waiting,
            format!("{says}; its node {name} is Ready, and its kubelet cleans up"),
        );
        finding.outlook.push(Outlook {
            when: Moment::NothingDone,
            then:
                "it goes within a minute, unless a container cannot be killed or a volume cannot be unmounted"
                    .into(),
        });
        return finding;
    }
    let running: Vec<_> = Pod(pod).running_containers().collect();
    let why = if !running.is_empty() {
        format!("it says that these containers still run: {}", running.join(", "))
    } else if Pod(pod).is_finished() || Pod(pod).has_only_ended_containers() {
        "its containers have ended, so the clean-up on the node is left, as a rule a volume to unmount"
            .to_owned()
    } else {
        "a container cannot be killed, or a volume cannot be unmounted".to_owned()
    };
    let mut finding = Finding::new(None, Verdict::Failing, Said::default());
    if let Some(event) = last_failure(pod, view) {
        let (reason, message) = (event.reason(), event.message());
        finding.say(format!("{reason}: {message}"));
        finding.evidence.push(Evidence {
            source: format!("Event {reason} of Pod {}", pod.name()),
            value: message.to_owned(),
            strength: Strength::Strong,
        });
    }
    finding.say(why);
    finding.say(says);
    let lacks = missing_device_driver::add_missing_drivers(pod, node, &mut finding, view)
        .map_or_else(String::new, |lacks| format!(", and {lacks}"));
    let state = format!("Ready, but its kubelet does not finish the pod{lacks}");
    finding.wait.on.push(view.blocker(node, state));
    finding.steps.push(Step {
        when: When::Now,
        text: format!("see what the kubelet says. Its own log tells more (journalctl -u kubelet on {name})"),
        command: Some(Command::of(
            "kubectl -n {} describe pod {}",
            [pod.namespace(), pod.name()],
        )),
        safety: Safety::ReadOnly,
        lets_go: Vec::new(),
    });
    missing_node_plugin::add_missing_plugins(pod, node, &mut finding, view);
    finding.do_not.push(force_warning(pod));
    finding
}

/// What the kubelet last failed in since the deletion. A container that cannot be killed tells most. Of a Pod whose containers
/// never ran, an older failure counts too: what was half set up is what cannot be taken down.
fn last_failure<'a>(pod: &Object, view: &View<'a>) -> Option<Event<'a>> {
    let since = pod.deletion()?.requested_at();
    let has_started = Pod(pod).has_started();
    let is_failure = |event: Event<'_>| {
        event.is_warning()
            && event.reporters().contains(&"kubelet")
            && (!has_started || event.last_time().is_some_and(|time| time >= since))
    };
    let killing = last_event(pod, &["FailedKillPod"], view).ok()?;
    killing.or_else(|| newest_event(pod, view, is_failure).ok().flatten())
}

/// The finding for a Pod whose kubelet is silent.
pub(crate) fn kubelet_silent(
    pod: &Object,
    node: &Object,
    says: &str,
    state: &str,
    declared_off: bool,
) -> Finding {
    let name = node.name();
    let mut finding = Finding::new(
        None,
        Verdict::Waiting,
        format!("{says}, and only the kubelet of {name} can confirm that it stopped"),
    );
    finding.wait.on.push(silent_node(node, state));
    if declared_off {
        finding.say("the node is declared out of service, so the pod collector removes the pod");
        finding.outlook.push(Outlook {
            when: Moment::NothingDone,
            then:
                "kube-controller-manager removes it within a minute (taint node.kubernetes.io/out-of-service)"
                    .into(),
        });
        finding.do_not.push(force_warning(pod));
        return finding;
    }
    finding.outlook.push(Outlook {
        when: Moment::NothingDone,
        then: "it stays until the node comes back, or until somebody says that the machine is off".into(),
    });
    finding.steps.extend(steps_for_silent_node(name));
    finding.do_not.push(force_warning(pod));
    finding
}

/// A node whose kubelet is silent, as a blocker.
pub(crate) fn silent_node(node: &Object, state: &str) -> Blocker {
    let deletion_state = if node.deletion().is_some() {
        ", being deleted itself"
    } else {
        ""
    };
    let blocker = Blocker::new(Some(node.reference()), format!("{state}{deletion_state}"));
    blocker.in_state(CauseState::NotReady)
}

/// What to do about a node whose kubelet is silent.
pub(crate) fn steps_for_silent_node(name: &str) -> [Step; 2] {
    [
        Step {
            when: When::NodeBack,
            text: "see what stops it. Once it is back, its kubelet finishes the deletion".into(),
            command: Some(Command::of("kubectl describe node {}", [name])),
            safety: Safety::ReadOnly,
            lets_go: Vec::new(),
        },
        Step {
            when: When::MachineOff,
            text: format!(
                "DATA LOSS if the machine of {name} still runs: two pods may then write to one volume. ONLY when it is \
                 certainly off, say so. The pods on it are then removed and their volumes detached. Take the taint off \
                 once the node is back: nobody else does"
            ),
            command: Some(Command::of(
                "kubectl taint node {} node.kubernetes.io/out-of-service=nodeshutdown:NoExecute",
                [name],
            )),
            safety: Safety::Destructive,
            lets_go: Vec::new(),
        },
    ]
}
