//! All entries of the catalogue, each on a cluster made for it.

use serde_json::json;

use super::*;
use crate::{
    diagnose::holder::node,
    knowledge::{FoundBy, OF_OBJECT, Workload},
};

/// An object with this finalizer, and in all the fields that tell whose it is something to tell by.
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

/// A ready Pod of this `DaemonSet` on the node.
fn pod_on(node: &str, daemons: &Object) -> Object {
    let name = format!("{}-{node}", daemons.name());
    object(
        "",
        "pods",
        "Pod",
        json!({"metadata": {"name": name, "namespace": daemons.namespace(), "uid": name, "ownerReferences": [{"uid": daemons.uid()}]},
            "spec": {"nodeName": node, "serviceAccountName": "a"}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}}),
    )
}

/// A cluster in which everything that the entry names is there and runs, also for this object alone.
fn with_all_of(entry: &Entry, finalizer: &Finalizer, target: &Object) -> Vec<Object> {
    let place = |one: &Workload| one.namespace.as_deref() == Some(OF_OBJECT);
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
        all.push(object(
            group,
            plural,
            kind,
            json!({"metadata": {"name": name, "namespace": namespace, "labels": labels, "uid": format!("w{at}")},
                "spec": {"replicas": 1, "serviceAccountName": "a",
                    "template": {"metadata": {"labels": labels}, "spec": {"serviceAccountName": "a"}}},
                "status": {"readyReplicas": 1, "desiredNumberScheduled": 1, "numberReady": 1, "active": 1,
                    "conditions": [{"type": "Ready", "status": "True"}]}}),
        ));
    }
    if let Some(node) = node::of(target, finalizer, entry) {
        let pods: Vec<_> = all
            .iter()
            .filter(|one| one.is("apps", "daemonsets"))
            .map(|daemons| pod_on(node, daemons))
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

/// Whether what the entry names is enough to find the holder by.
fn is_named(entry: &Entry) -> bool {
    let fixed = |name: &str| !name.contains('{');
    let by_lease = entry.holder.leases.iter().any(|lease| fixed(&lease.name));
    let by_workload = entry.holder.workloads.iter().any(|workload| {
        let at_home = !entry.holder.namespaces.is_empty() || workload.namespace.is_some();
        workload.selector.is_some() || workload.name.as_deref().is_some_and(fixed) && at_home
    });
    by_lease || by_workload
}

/// Every entry, on three clusters: its holder is there and runs; nothing is there; nothing can be seen.
#[test]
fn every_entry_is_understood() {
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
        let target = target_of(&entry, kind.group(), kind.kind());
        let state = |cluster: &World| {
            let view = |facts: &Facts| {
                let view = crate::diagnose::view(facts, &knowledge);
                let found = holder::described(&target, &finalizer, &entry, &view);
                (found, view.wanted())
            };
            cluster.answered(view)
        };
        tried += 1;
        let name = &entry.name;
        let there = state(&World::of(with_all_of(&entry, &finalizer, &target)));
        if entry.holder.runs == Runs::OtherCluster {
            // All of that is the other one's namesake, which cleans up for this cluster.
            assert_eq!(there.state(), State::Elsewhere, "{name}: {there:#?}");
        } else if is_named(&entry) {
            assert_eq!(there.state(), State::Running, "{name}: {there:#?}");
        } else {
            assert_ne!(there.state(), State::Gone, "{name}: {there:#?}");
        }
        let absent = state(&World::default());
        assert!(
            matches!(absent.state(), State::Gone | State::Unknown | State::Elsewhere),
            "{name}: {absent:#?}"
        );
        if entry.holder.runs != Runs::InCluster && entry.holder.runs != Runs::Nobody {
            assert_ne!(absent.state(), State::Gone, "{name}");
        }
        // Everywhere but where it must run.
        if node::of(&target, &finalizer, &entry).is_some() {
            let mut elsewhere = with_all_of(&entry, &finalizer, &target);
            for pod in elsewhere.iter_mut().filter(|one| one.is("", "pods")) {
                pod.value["spec"]["nodeName"] = json!("another");
            }
            let elsewhere = state(&World::of(elsewhere));
            assert_eq!(elsewhere.state(), State::Failing, "{name}: {elsewhere:#?}");
            for hidden in ["pods", "nodes"] {
                let all = with_all_of(&entry, &finalizer, &target);
                let there = all
                    .into_iter()
                    .filter(|one| hidden == "pods" || !one.is("", "pods"));
                let unseen = state(&World::of(there).hiding(hidden));
                assert_eq!(unseen.state(), State::Unknown, "{name}: {unseen:#?}");
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
            let of_another = state(&World::of(with_all_of(&entry, &finalizer, &another)));
            assert_ne!(of_another.state(), State::Running, "{name}: {of_another:#?}");
        }
        let hidden = state(&World::of(with_all_of(&entry, &finalizer, &target)).hiding_everything());
        assert!(
            matches!(hidden.state(), State::Unknown | State::Elsewhere),
            "{name}: {hidden:#?}"
        );
    }
    assert!(tried > 400, "only {tried} entries have a kind to try them on");
}
