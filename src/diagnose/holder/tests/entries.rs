//! Tests every entry of the catalogue on a cluster made for it.

use serde_json::json;

use super::*;
use crate::{
    diagnose::holder::node,
    knowledge::{FoundBy, OF_OBJECT, WorkloadDescription},
};

/// An object with this finalizer. All fields that name its instance or node have a value.
fn target_of(entry: &Entry, group: &str, kind: &str) -> Object {
    let mut value = json!({"metadata": {"name": "o", "namespace": "n", "finalizers": [entry.example],
        "deletionTimestamp": "2026-01-01T09:00:00Z"}});
    for same in entry.holder.workloads.iter().flat_map(|one| &one.instance) {
        let mut place = &mut value;
        for key in same.field.split('/').skip(1) {
            place = &mut place[key.replace("~1", "/")];
        }
        if place.is_null() {
            *place = json!("one-of-many");
        }
    }
    if entry.holder.found_by.contains(&FoundBy::NodeOfObject) {
        value["spec"]["nodeName"] = json!("n1");
    }
    object(group, "somethings", kind, value)
}

/// A ready Pod of this `DaemonSet` on this node.
fn pod_on(node: &str, daemon_set: &Object) -> Object {
    let name = format!("{}-{node}", daemon_set.name());
    object(
        "",
        "pods",
        "Pod",
        json!({"metadata": {"name": name, "namespace": daemon_set.namespace(), "uid": name, "ownerReferences": [{"uid": daemon_set.uid()}]},
            "spec": {"nodeName": node, "serviceAccountName": "a"}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}}),
    )
}

/// A cluster in which everything that the entry names exists and runs, for this object.
fn installation(entry: &Entry, finalizer: &Finalizer, target: &Object) -> Vec<Object> {
    let place = |one: &WorkloadDescription| one.namespace.as_deref() == Some(OF_OBJECT);
    let home = match entry.holder.namespaces.first() {
        _ if entry.holder.workloads.iter().any(place) => target.namespace(),
        Some(usual) => usual,
        None => "home",
    };
    let home = home.replace('*', "x");
    let plain = |name: &str| name.replace('*', "x");
    let mut all = Vec::new();
    for (at, workload) in entry.holder.workloads.iter().enumerate() {
        let labels: serde_json::Map<_, _> = workload
            .selector
            .iter()
            .flat_map(|selector| selector.split(','))
            .map(|one| one.split_once('=').unwrap_or((one, "any")))
            .map(|(key, value)| (key.to_owned(), json!(value)))
            .chain(
                workload
                    .instance
                    .iter()
                    .map(|same| (same.label.clone(), json!(target.text(&same.field)))),
            )
            .collect();
        let (group, plural, kind) = match workload.kind {
            WorkloadKind::Deployment => ("apps", "deployments", "Deployment"),
            WorkloadKind::StatefulSet => ("apps", "statefulsets", "StatefulSet"),
            WorkloadKind::DaemonSet => ("apps", "daemonsets", "DaemonSet"),
            WorkloadKind::Job => ("batch", "jobs", "Job"),
            WorkloadKind::Pod => ("", "pods", "Pod"),
        };
        let name = workload.name.as_deref().map_or_else(|| format!("w{at}"), plain);
        let namespace = workload.namespace.clone().unwrap_or_else(|| home.clone());
        let namespace = namespace.replace(OF_OBJECT, target.namespace());
        let images = workload.images.iter().take(1);
        let containers: Vec<_> = images.map(|image| json!({"image": plain(image)})).collect();
        all.push(object(
            group,
            plural,
            kind,
            json!({"metadata": {"name": name, "namespace": namespace, "labels": labels, "uid": format!("w{at}")},
                "spec": {"replicas": 1, "serviceAccountName": "a",
                    "template": {"metadata": {"labels": labels}, "spec":
                        {"serviceAccountName": "a", "containers": containers}}},
                "status": {"readyReplicas": 1, "desiredNumberScheduled": 1, "numberReady": 1, "active": 1,
                    "conditions": [{"type": "Ready", "status": "True"}]}}),
        ));
    }
    if let Some(node) = node::node_of_holder(target, finalizer, entry) {
        let pods: Vec<_> = all
            .iter()
            .filter(|one| one.is("apps", "daemonsets"))
            .map(|daemon_set| pod_on(node, daemon_set))
            .collect();
        all.extend(pods);
    }
    for lease in &entry.holder.leases {
        let namespace = lease.namespace.clone().unwrap_or_else(|| home.clone());
        all.push(object(
            "coordination.k8s.io",
            "leases",
            "Lease",
            json!({"metadata": {"name": plain(&lease.name), "namespace": namespace},
                "spec": {"renewTime": "2026-01-01T11:59:58Z", "leaseDurationSeconds": 15}}),
        ));
    }
    all.extend(
        entry
            .holder
            .service_accounts
            .iter()
            .map(|name| account(&home, &plain(name))),
    );
    let mut everything = rights(&home, "a");
    everything[0].value["rules"][0]["apiGroups"] = json!(["*"]);
    everything[0].value["rules"][0]["resources"] = json!(["*"]);
    all.extend(everything);
    all
}

/// Whether the names in the entry are enough to find the controller.
fn is_named(entry: &Entry) -> bool {
    let fixed = |name: &str| !name.contains('{');
    let by_lease = entry.holder.leases.iter().any(|lease| fixed(&lease.name));
    let by_workload = entry.holder.workloads.iter().any(|workload| {
        let at_home = !entry.holder.namespaces.is_empty() || workload.namespace.is_some();
        workload.selector.is_some() || workload.name.as_deref().is_some_and(fixed) && at_home
    });
    by_lease || by_workload
}

/// Tries every entry on three clusters: the controller runs, nothing exists, and nothing can be read.
#[test]
fn finds_the_controller_of_every_entry() {
    let knowledge = Knowledge::builtin();
    let mut tried = 0;
    for entry in knowledge.all() {
        let Some(kind) = entry
            .kinds
            .iter()
            .find(|kind| !kind.kind().contains('*') && !kind.group().contains('*'))
        else {
            continue;
        };
        let spec = entry.list == crate::knowledge::List::NamespaceSpec;
        let finalizer = Finalizer {
            list: if spec { List::Spec } else { List::Metadata },
            name: entry.example.clone(),
        };
        let target = target_of(entry, kind.group(), kind.kind());
        let search = |cluster: &World| {
            let view = |facts: &Facts| {
                let view = crate::diagnose::view(facts, &knowledge);
                let found = holder::described(&target, &finalizer, entry, &view);
                (found, view.wanted())
            };
            cluster.answered(view)
        };
        tried += 1;
        let name = &entry.name;
        let there = search(&World::of(installation(entry, &finalizer, &target)));
        if entry.holder.runs == Runs::OtherCluster {
            // All of this belongs to the controller of the same name that cleans up for this cluster.
            assert_eq!(there.liveness(), Liveness::Elsewhere, "{name}: {there:#?}");
        } else if is_named(entry) {
            assert_eq!(there.liveness(), Liveness::Running, "{name}: {there:#?}");
        } else {
            assert_ne!(there.liveness(), Liveness::Gone, "{name}: {there:#?}");
        }
        let absent = search(&World::default());
        assert!(
            matches!(
                absent.liveness(),
                Liveness::Gone | Liveness::Unknown | Liveness::Elsewhere
            ),
            "{name}: {absent:#?}"
        );
        if entry.holder.runs != Runs::InCluster && entry.holder.runs != Runs::Nobody {
            assert_ne!(absent.liveness(), Liveness::Gone, "{name}");
        }
        // The controller runs on every node but the one where it must run.
        if let Some(node) = node::node_of_holder(&target, &finalizer, entry) {
            let mut elsewhere = installation(entry, &finalizer, &target);
            for pod in elsewhere.iter_mut().filter(|one| one.is("", "pods")) {
                pod.value["spec"]["nodeName"] = json!("another");
            }
            let there = object("", "nodes", "Node", json!({"metadata": {"name": node}}));
            let without_node = search(&World::of(elsewhere.clone()));
            assert_eq!(
                without_node.liveness(),
                Liveness::Off,
                "{name}: {without_node:#?}"
            );
            let elsewhere = search(&World::of(elsewhere).with(there));
            assert_eq!(elsewhere.liveness(), Liveness::Failing, "{name}: {elsewhere:#?}");
            for hidden in ["pods", "nodes"] {
                let all = installation(entry, &finalizer, &target);
                let there = all
                    .into_iter()
                    .filter(|one| hidden == "pods" || !one.is("", "pods"));
                let unseen = search(&World::of(there).hiding(hidden));
                assert_eq!(unseen.liveness(), Liveness::Unknown, "{name}: {unseen:#?}");
                assert_eq!(unseen.with(Tells::Gone).count(), 0, "{name}: {unseen:#?}");
            }
        }
        if entry
            .holder
            .workloads
            .iter()
            .any(|one| one.is_of_instance() && one.kind == WorkloadKind::Pod)
        {
            let mut another = target.clone();
            another.value["spec"]["cluster"]["name"] = json!("another");
            let of_another = search(&World::of(installation(entry, &finalizer, &another)));
            assert_ne!(
                of_another.liveness(),
                Liveness::Running,
                "{name}: {of_another:#?}"
            );
        }
        let hidden = search(&World::of(installation(entry, &finalizer, &target)).hiding_everything());
        assert!(
            matches!(hidden.liveness(), Liveness::Unknown | Liveness::Elsewhere),
            "{name}: {hidden:#?}"
        );
    }
    assert!(tried > 400, "only {tried} entries have a kind to try them on");
}
