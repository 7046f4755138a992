//! A Pod is past its grace period, and its kubelet has not confirmed that it stopped.
//!
//! # Symptom
//!
//! A pod is `Terminating` for minutes or days. Its node is often `NotReady`. Events can say `FailedKillPod`, `error
//! killing pod` or `DeadlineExceeded`.
//!
//! ```text
//! $ kubectl get nodes
//! NAME     STATUS     ROLES    AGE   VERSION
//! node-3   NotReady   <none>   41d   v1.36.1
//! ```
//!
//! ```text
//! $ kubectl finalizers explain pod/web-1 -n web --from examples/stuck-cluster.snapshot
//! ```
//!
//! # Why
//!
//! Only the kubelet of the node can confirm that the containers stopped. The pod waits for ever by design, because a
//! silent node may still run them. kube-controller-manager removes the pod in two cases only. Either the Node object is
//! gone, or the node is not ready and has the taint `node.kubernetes.io/out-of-service`.
//!
//! # Before you act
//!
//! Find out whether the machine still runs. Ask the provider or the console of the machine, not the cluster.
//!
//! # If it was a mistake
//!
//! The deletion of a pod cannot be withdrawn. Its owner makes a new pod elsewhere, if the volumes allow that.
//!
//! # If it was intended
//!
//! Bring the node back, and its kubelet finishes the deletion. If the machine is certainly off, set the taint
//! `node.kubernetes.io/out-of-service=nodeshutdown:NoExecute`, or delete the Node.
//!
//! # Do not
//!
//! Do not force the deletion (`--force --grace-period=0`). The containers may run on, and a second pod may write to the
//! same volume.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | waiting | the node is silent or not ready |
//! | failing | the kubelet reports that it cannot stop the pod |
//! | stalled | the node is ready, and nothing happens |
//! | unknown | the node could not be read |
//!
//! # What it reads
//!
//! The node, its Lease in `kube-node-lease`, and the events of the pod. The CSI drivers of its volumes, and those of the
//! node (CSINode): without a driver the kubelet cannot unmount. The same holds for its devices (ResourceClaim and
//! ResourceSlice): without a driver the kubelet cannot give them back. Other components write the `Ready` condition of
//! a silent node. So a ready node with an old Lease counts as silent.
//!
//! # Sources
//!
//! - `kubernetes/kubernetes:pkg/controller/podgc/gc_controller.go`
//! - `kubernetes/kubernetes:pkg/kubelet/kubelet.go` SyncTerminatedPod

use crate::{
    diagnose::{
        causes::{
            api_machinery::controller_manager,
            pods::{
                grace_period::{
                    deadline, force_warning, in_grace_period, is_mirror_pod, mirror_pod, time_left,
                },
                kubelet::{kubelet_silent, not_finished_by_kubelet},
                pod_garbage_collector::awaits_garbage_collector,
            },
        },
        holder,
        holder::Life,
        kinds::{Condition, Node, Pod},
        model::{Evidence, Finding, Page, Strength, Verdict},
        view::{Missing, View},
    },
    object::Age,
    snapshot::facts::Object,
};

/// Its page, also for the findings about nodes and the Pod garbage collector.
pub(crate) const PAGE: Page = Page::of(module_path!());

pub(crate) fn not_confirmed(pod: &Object, view: &View<'_>) -> Finding {
    let overdue = pod
        .deletion()
        .map_or(Age(jiff::SignedDuration::ZERO), |deletion| {
            Age::between(deletion.timestamp, view.now())
        });
    let node = Pod(pod).node();
    let says = format!("its grace period ended {overdue} ago");
    if node.is_empty() {
        return awaits_garbage_collector(&format!("{says}, and it has no node"), pod, view);
    }
    match view.object("", "nodes", "", node) {
        Err(missing) => node_unknown(
            pod,
            &format!("{says}, and how its node {node} is, whose kubelet has to confirm that it stopped"),
            &missing,
        ),
        Ok(None) => {
            let mut finding =
                awaits_garbage_collector(&format!("{says}, and its node {node} does not exist"), pod, view);
            finding.evidence.push(Evidence {
                source: format!("Node {node}"),
                value: "not found".into(),
                strength: Strength::Proof,
            });
            finding
        }
        Ok(Some(node)) => node_exists(pod, node, &says, overdue, view),
    }
}

/// The finding for a Pod in its grace period. Without its kubelet it stays after that too, so a silent kubelet is named at
/// once.
pub(crate) fn not_yet_due(pod: &Object, view: &View<'_>) -> Finding {
    let name = Pod(pod).node();
    let mut finding = match view.object("", "nodes", "", name) {
        _ if name.is_empty() => return in_grace_period(pod, view),
        Ok(Some(node)) if is_silent(node, view) => {
            let overdue = Age(jiff::SignedDuration::ZERO);
            let says = format!("{}; its node does not answer", time_left(pod, view));
            node_exists(pod, node, &says, overdue, view)
        }
        Ok(_) => return in_grace_period(pod, view),
        Err(missing) => {
            let mut finding = Finding::new(None, Verdict::Waiting, time_left(pod, view));
            finding.say(format!(
                "Whether its node {name} can confirm that it stopped is not known: {}",
                missing.in_words()
            ));
            finding
        }
    };
    finding.evidence.extend(deadline(pod));
    finding
}

/// Whether the kubelet of this node is known not to answer.
fn is_silent(node: &Object, view: &View<'_>) -> bool {
    // A Node that just joined has no condition yet.
    let is_not_ready = node
        .condition("Ready")
        .is_some_and(|(status, _, _)| status != "True");
    is_not_ready || matches!(node_lease(node, view), Ok(Some(Life::Stale { .. })))
}

/// The finding if the node or its Lease could not be read. Then nobody knows who must act.
fn node_unknown(pod: &Object, what: &str, missing: &Missing) -> Finding {
    let says = format!("{what}, is not known: {}", missing.in_words());
    let mut finding = Finding::new(None, Verdict::Unknown, says);
    finding.do_not.push(force_warning(pod));
    finding
}

/// The finding for a Pod whose node exists.
fn node_exists(pod: &Object, node: &Object, says: &str, overdue: Age, view: &View<'_>) -> Finding {
    let (status, reason, message) = node.condition("Ready").unwrap_or(("Unknown", "", ""));
    let lease = node_lease(node, view);
    let evidence = Evidence {
        source: format!("Node {} condition Ready", node.name()),
        value: format!("{status} {reason} {message}").trim().to_owned(),
        strength: if status == "True" {
            Strength::Moderate
        } else {
            Strength::Proof
        },
    };
    let mut finding = match (state_if_silent(node, &lease, view), &lease) {
        (Some(state), _) => {
            let declared_off = status != "True" && Node(node).is_out_of_service();
            kubelet_silent(pod, node, says, &state, declared_off)
        }
        (None, Err(missing)) => node_unknown(
            pod,
            &format!(
                "{says}, and whether the kubelet of its node {}, which is Ready by its status, is alive",
                node.name()
            ),
            missing,
        ),
        (None, _) if is_mirror_pod(pod) => mirror_pod(pod),
        (None, _) => not_finished_by_kubelet(pod, node, says, overdue, view),
    };
    if status != "True" && Node(node).is_out_of_service() {
        controller_manager::add_stale_lease(&mut finding, view);
    }
    finding.evidence.push(evidence);
    let life = lease.ok().flatten();
    finding.evidence.extend(life.as_ref().and_then(Life::evidence));
    finding
}

/// The state of a node whose kubelet is silent; none if it reports, or if that is not known.
pub(crate) fn silence(node: &Object, view: &View<'_>) -> Option<String> {
    if !is_silent(node, view) {
        return None;
    }
    state_if_silent(node, &node_lease(node, view), view)
}

fn state_if_silent(node: &Object, lease: &Result<Option<Life>, Missing>, view: &View<'_>) -> Option<String> {
    let (status, reason, _) = node.condition("Ready").unwrap_or(("Unknown", "", ""));
    match (status, lease) {
        ("True", Ok(Some(Life::Stale { ago, .. }))) => Some(format!(
            "Ready by its status, but its kubelet has not renewed its Lease for {ago}, so that is old"
        )),
        ("True", _) => None,
        _ => {
            let because = if reason.is_empty() {
                String::new()
            } else {
                format!(", {reason}")
            };
            let shut_down = if Node(node).is_shut_down() {
                ". Its cloud provider reports that the machine is shut down"
            } else {
                ""
            };
            Some(format!(
                "not ready ({status}{because}){}{shut_down}",
                last_sign_of_life(node, lease, view)
            ))
        }
    }
}

/// The Lease of the kubelet. Not every cluster has one, so a missing Lease proves nothing.
fn node_lease(node: &Object, view: &View<'_>) -> Result<Option<Life>, Missing> {
    let lease = view.object("coordination.k8s.io", "leases", "kube-node-lease", node.name())?;
    Ok(lease
        .and_then(|lease| holder::life_of_lease(lease, view.now()))
        .map(|(_, life)| life))
}

/// When its kubelet last renewed its Lease or wrote its status, whichever is later. It writes the status less often.
fn last_sign_of_life(node: &Object, lease: &Result<Option<Life>, Missing>, view: &View<'_>) -> String {
    let of_lease = match lease {
        Ok(Some(Life::Stale { ago, .. } | Life::Renewing { ago, .. })) => Some(*ago),
        _ => None,
    };
    let heartbeat = Condition::of_type(node, "Ready").and_then(Condition::heartbeat);
    let of_status = heartbeat.map(|time| Age::between(time, view.now()));
    let last = of_lease.into_iter().chain(of_status).min_by_key(|ago| ago.0);
    last.map(|ago| format!(", last heartbeat {ago} ago"))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        diagnose::testing::{
            fixtures::controller_manager_lease,
            told::{commands, said, verdict},
            world::{World, bare as object},
        },
        snapshot::facts::{Answer, Query},
    };

    fn pod() -> Object {
        object(
            "",
            "pods",
            "Pod",
            json!({
                "metadata": {
                    "name": "p", "namespace": "n", "deletionTimestamp": "2026-01-01T11:00:00Z", "deletionGracePeriodSeconds": 30,
                },
                "spec": {"nodeName": "a"},
                "status": {"phase": "Running", "containerStatuses": [{"name": "c", "state": {"running": {}}}]},
            }),
        )
    }

    fn node(ready: &str) -> Object {
        let conditions = json!([{"type": "Ready", "status": ready, "reason": "R", "message": ""}]);
        object(
            "",
            "nodes",
            "Node",
            json!({"metadata": {"name": "a"}, "status": {"conditions": conditions}}),
        )
    }

    #[test]
    fn quotes_a_kubelet_that_cannot_kill_a_container() {
        let event = object(
            "",
            "events",
            "Event",
            json!({"reason": "FailedKillPod", "message": "error killing pod: context deadline exceeded"}),
        );
        let events = Query::Events {
            kind: "Pod".into(),
            namespace: Some("n".into()),
            name: "p".into(),
        };
        let diagnosis = World::closed()
            .object("", "nodes", "", "a", Some(node("True")))
            .object("coordination.k8s.io", "leases", "kube-node-lease", "a", None)
            .answer(events, Ok(Answer::List(vec![event])))
            .explain(&pod());
        assert_eq!(verdict(&diagnosis, ""), Some(Verdict::Failing));
        let said = said(&diagnosis);
        assert!(
            said.contains("still run: c") && said.contains("error killing pod: context deadline exceeded"),
            "{said}"
        );
    }

    #[test]
    fn quotes_what_the_kubelet_failed_in_since_the_deletion() {
        let mut made = pod();
        made.value["status"]["containerStatuses"][0]["containerID"] = "containerd://c".into();
        let mut never_made = pod();
        never_made.value["status"] = json!({"phase": "Pending", "containerStatuses": [{"name": "c",
            "state": {"waiting": {"reason": "ContainerCreating"}}}]});
        let of = |pod: &Object, component: &str, time: &str| {
            let event = object(
                "",
                "events",
                "Event",
                json!({"type": "Warning", "reason": "FailedPrepare", "message": "claim not created yet",
                    "source": {"component": component}, "lastTimestamp": time}),
            );
            let events = Query::Events {
                kind: "Pod".into(),
                namespace: Some("n".into()),
                name: "p".into(),
            };
            let world = World::closed()
                .object("", "nodes", "", "a", Some(node("True")))
                .object("coordination.k8s.io", "leases", "kube-node-lease", "a", None)
                .answer(events, Ok(Answer::List(vec![event])));
            said(&world.explain(pod))
        };
        let with = |component: &str, time: &str| of(&made, component, time);
        let quoted = with("kubelet", "2026-01-01T11:10:00Z");
        assert!(
            quoted.contains("FailedPrepare: claim not created yet"),
            "{quoted}"
        );
        for (component, time) in [
            ("kubelet", "2026-01-01T10:00:00Z"),
            ("default-scheduler", "2026-01-01T11:10:00Z"),
        ] {
            assert!(!with(component, time).contains("not created yet"));
        }
        // What failed before is the reason where no container was ever made.
        let quoted = of(&never_made, "kubelet", "2026-01-01T10:00:00Z");
        assert!(
            quoted.contains("FailedPrepare: claim not created yet"),
            "{quoted}"
        );
    }

    #[test]
    fn a_pod_in_its_grace_period_is_at_risk_on_a_silent_node_and_slow_on_a_ready_one() {
        let mut pod = pod();
        pod.value["metadata"]["deletionTimestamp"] = "2026-01-01T12:00:20Z".into();
        let on = |answer: Option<Object>| {
            World::closed()
                .object("", "nodes", "", "a", answer)
                .object("coordination.k8s.io", "leases", "kube-node-lease", "a", None)
                .explain(&pod)
        };
        let silent = on(Some(node("Unknown")));
        assert_eq!(verdict(&silent, ""), Some(Verdict::Waiting));
        assert!(
            silent.headline.ends_with("At risk: stuck soon."),
            "{}",
            silent.headline
        );
        let risk = silent.risk.clone().unwrap_or_default();
        assert!(risk.starts_with("node/a: not ready"), "{risk}");
        // The pod collector removes it from a node that somebody declared to be off.
        let mut off = node("Unknown");
        off.value["spec"]["taints"] =
            json!([{"key": "node.kubernetes.io/out-of-service", "effect": "NoExecute"}]);
        assert_eq!(on(Some(off)).risk, None);
        let text = said(&silent);
        assert!(
            text.contains("; its node does not answer, and only the kubelet of a"),
            "{text}"
        );
        assert!(
            text.contains("not ready (Unknown, R)") && !text.contains("not stuck"),
            "{text}"
        );
        for answer in [Some(node("True")), None] {
            let diagnosis = on(answer);
            let text = said(&diagnosis);
            assert!(text.contains("slow, not stuck"), "{text}");
            assert_eq!(diagnosis.risk, None);
        }
        let unread = said(&World::closed().explain(&pod));
        assert!(
            unread.contains("Whether its node a can confirm that it stopped is not known"),
            "{unread}"
        );
    }

    #[test]
    fn a_ready_node_is_silent_with_an_old_lease_and_unknown_with_an_unread_lease() {
        let lease = object(
            "coordination.k8s.io",
            "leases",
            "Lease",
            json!({"metadata": {"name": "a", "namespace": "kube-node-lease"},
                "spec": {"renewTime": "2026-01-01T11:50:00.000000Z", "leaseDurationSeconds": 40}}),
        );
        let with_node = || World::closed().object("", "nodes", "", "a", Some(node("True")));
        let diagnosis = with_node()
            .object(
                "coordination.k8s.io",
                "leases",
                "kube-node-lease",
                "a",
                Some(lease),
            )
            .explain(&pod());
        assert_eq!(verdict(&diagnosis, ""), Some(Verdict::Waiting));
        let diagnosis = with_node().explain(&pod());
        assert_eq!(verdict(&diagnosis, ""), Some(Verdict::Unknown));
        assert_eq!(commands(&diagnosis), "");
    }

    #[test]
    fn the_garbage_collector_removes_a_pod_whose_node_is_gone() {
        let lease = controller_manager_lease("2026-01-01T11:59:58.000000Z");
        let gone = || World::closed().object("", "nodes", "", "a", None);
        // Without the Lease of kube-controller-manager, it is unknown whether the garbage collector runs.
        let diagnosis = gone().explain(&pod());
        assert!(!diagnosis.outlook[0].then.contains("at the latest"));
        let (group, name) = ("coordination.k8s.io", "kube-controller-manager");
        let diagnosis = gone()
            .object(group, "leases", "kube-system", name, Some(lease))
            .explain(&pod());
        // The node may be gone for a second only, however long the Pod has waited.
        assert_eq!(verdict(&diagnosis, ""), Some(Verdict::Waiting));
        assert!(said(&diagnosis).contains("pod-garbage-collector"));
        assert!(
            diagnosis.outlook[0]
                .then
                .contains("by 2026-01-01T12:01:20Z at the latest")
        );
        assert!(!commands(&diagnosis).contains("--force"));
    }

    #[test]
    fn a_node_that_cannot_be_read_is_unknown() {
        let diagnosis = World::closed().explain(&pod());
        assert_eq!(verdict(&diagnosis, ""), Some(Verdict::Unknown));
        assert!(!diagnosis.gaps.is_empty());
        assert_eq!(commands(&diagnosis), "");
    }

    #[test]
    fn a_node_without_a_driver_of_the_volumes_is_named() {
        let mut pod = pod();
        pod.value["spec"]["volumes"] = json!([
            {"name": "a", "csi": {"driver": "inline.test"}},
            {"name": "b", "persistentVolumeClaim": {"claimName": "data"}},
        ]);
        let claim = json!({"metadata": {"name": "data", "namespace": "n"}, "spec": {"volumeName": "v"}});
        let volume = json!({"metadata": {"name": "v"}, "spec": {"csi": {"driver": "disk.test"}}});
        let said_with = |drivers: &[&str]| {
            let drivers: Vec<_> = drivers.iter().map(|name| json!({"name": name})).collect();
            let csi_node = json!({"metadata": {"name": "a"}, "spec": {"drivers": drivers}});
            let get = |plural, kind, value: &serde_json::Value| Some(object("", plural, kind, value.clone()));
            let world = World::closed()
                .object("", "nodes", "", "a", Some(node("True")))
                .object("coordination.k8s.io", "leases", "kube-node-lease", "a", None)
                .object(
                    "",
                    "persistentvolumeclaims",
                    "n",
                    "data",
                    get("persistentvolumeclaims", "PersistentVolumeClaim", &claim),
                )
                .object(
                    "",
                    "persistentvolumes",
                    "",
                    "v",
                    get("persistentvolumes", "PersistentVolume", &volume),
                )
                .object(
                    "storage.k8s.io",
                    "csinodes",
                    "",
                    "a",
                    Some(object("storage.k8s.io", "csinodes", "CSINode", csi_node)),
                );
            let diagnosis = world.explain(&pod);
            assert_eq!(verdict(&diagnosis, ""), Some(Verdict::Failing));
            format!("{:?}", crate::diagnose::testing::told::waits_for(&diagnosis))
        };
        for (there, lacks) in [("inline.test", "disk.test"), ("disk.test", "inline.test")] {
            let text = said_with(&[there]);
            assert!(
                text.contains(&format!("lacks driver {lacks} of its volumes")),
                "{text}"
            );
            assert!(!text.contains(&format!("lacks driver {there}")), "{text}");
        }
        assert!(!said_with(&["inline.test", "disk.test"]).contains("lacks"));
    }

    #[test]
    fn a_silent_node_is_told_with_its_last_sign_of_life_and_that_its_machine_is_off() {
        let mut node = node("Unknown");
        node.value["status"]["conditions"][0]["lastHeartbeatTime"] = "2026-01-01T11:09:00Z".into();
        let lease = |renewed: &str| {
            let value = json!({"metadata": {"name": "a", "namespace": "kube-node-lease"},
                "spec": {"renewTime": renewed, "leaseDurationSeconds": 40}});
            object("coordination.k8s.io", "leases", "Lease", value)
        };
        let told = |node: &Object, renewed: &str| {
            let lease = Some(lease(renewed));
            let world = World::closed()
                .object("", "nodes", "", "a", Some(node.clone()))
                .object("coordination.k8s.io", "leases", "kube-node-lease", "a", lease);
            said(&world.explain(&pod()))
        };
        // The Lease is renewed more often than the status.
        let text = told(&node, "2026-01-01T11:11:00.000000Z");
        assert!(text.contains("last heartbeat 49m ago"), "{text}");
        let text = told(&node, "2026-01-01T11:00:00.000000Z");
        assert!(text.contains("last heartbeat 51m ago"), "{text}");
        assert!(!text.contains("shut down"), "{text}");
        node.value["spec"]["taints"] =
            json!([{"key": "node.cloudprovider.kubernetes.io/shutdown", "effect": "NoSchedule"}]);
        let text = told(&node, "2026-01-01T11:11:00.000000Z");
        assert!(
            text.contains("Its cloud provider reports that the machine is shut down"),
            "{text}"
        );
    }

    #[test]
    fn a_node_without_the_driver_of_a_device_is_named() {
        let mut pod = pod();
        pod.value["status"]["resourceClaimStatuses"] =
            json!([{"name": "gpu", "resourceClaimName": "p-gpu-x1"}]);
        let group = "resource.k8s.io";
        let said_with = |slices: &[(&str, &str)]| {
            let claim = json!({"metadata": {"name": "p-gpu-x1", "namespace": "n"}, "status": {"allocation": {"devices":
                {"results": [{"driver": "gpu.test", "pool": "a", "device": "gpu-0"}]}}}});
            let slices = slices.iter().map(|(driver, node)| {
                let value = json!({"metadata": {"name": format!("{node}-{driver}")},
                    "spec": {"driver": driver, "nodeName": node}});
                object(group, "resourceslices", "ResourceSlice", value)
            });
            let claim = object(group, "resourceclaims", "ResourceClaim", claim);
            let world = World::closed()
                .object("", "nodes", "", "a", Some(node("True")))
                .object("coordination.k8s.io", "leases", "kube-node-lease", "a", None)
                .object(group, "resourceclaims", "n", "p-gpu-x1", Some(claim))
                .list(group, "resourceslices", "", slices.collect());
            said(&world.explain(&pod))
        };
        for elsewhere in [&[][..], &[("gpu.test", "b")], &[("net.test", "a")]] {
            let text = said_with(elsewhere);
            assert!(
                text.contains("driver gpu.test, which the kubelet needs"),
                "{text}"
            );
        }
        for there in [("gpu.test", "a"), ("gpu.test", "")] {
            let text = said_with(&[there]);
            assert!(!text.contains("gpu.test"), "{text}");
        }
    }
}
