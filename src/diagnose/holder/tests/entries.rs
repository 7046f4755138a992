//! All entries of the catalogue, each on a cluster made for it.

use serde_json::json;

use super::*;

/// A cluster in which everything that the entry names is there and runs.
fn with_all_of(entry: &Entry) -> Vec<Object> {
    let home = entry
        .holder
        .namespaces
        .first()
        .map_or("home", String::as_str)
        .replace('*', "x");
    let plain = |name: &str| name.replace('*', "x");
    let mut all = Vec::new();
    for (at, workload) in entry.holder.workloads.iter().enumerate() {
        let labels: serde_json::Map<_, _> = workload
            .selector
            .iter()
            .flat_map(|selector| selector.split(','))
            .map(|one| one.split_once('=').unwrap_or((one, "any")))
            .map(|(key, value)| (key.to_owned(), json!(value)))
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
        let target = object(
            kind.group(),
            "somethings",
            kind.kind(),
            json!({"metadata": {"name": "o", "namespace": "n", "finalizers": [entry.example],
                "deletionTimestamp": "2026-01-01T09:00:00Z"}}),
        );
        let state = |cluster: &Cluster| {
            let view = |facts: &Facts| {
                let view = View::new(facts, &knowledge);
                let found = holder::described(&target, &finalizer, &entry, &view);
                (found, view.wanted())
            };
            cluster.answered(view)
        };
        tried += 1;
        let name = &entry.name;
        let there = state(&Cluster::of(with_all_of(&entry)));
        if entry.holder.runs == Runs::OtherCluster {
            // All of that is the other one's namesake, which cleans up for this cluster.
            assert_eq!(there.state(), State::Elsewhere, "{name}: {there:#?}");
        } else if is_named(&entry) {
            assert_eq!(there.state(), State::Running, "{name}: {there:#?}");
        } else {
            assert_ne!(there.state(), State::Gone, "{name}: {there:#?}");
        }
        let absent = state(&Cluster::default());
        assert!(
            matches!(absent.state(), State::Gone | State::Unknown | State::Elsewhere),
            "{name}: {absent:#?}"
        );
        if entry.holder.runs != Runs::InCluster && entry.holder.runs != Runs::Nobody {
            assert_ne!(absent.state(), State::Gone, "{name}");
        }
        let hidden = state(&Cluster::of(with_all_of(&entry)).hiding_everything());
        assert!(
            matches!(hidden.state(), State::Unknown | State::Elsewhere),
            "{name}: {hidden:#?}"
        );
    }
    assert!(tried > 400, "only {tried} entries have a kind to try them on");
}
