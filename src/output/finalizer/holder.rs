//! How to find the controller, in words.

use crate::knowledge::{
    FoundBy, HolderDescription, OF_OBJECT, Runs, SameAs, WorkloadDescription, WorkloadKind,
};

/// What to look for, one per line, the most certain first. `all` adds the traces that only an investigation
/// needs.
pub(super) fn lines(holder: &HolderDescription, all: bool) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    lines.extend(where_it_runs(holder));
    lines.extend(holder.found_by.iter().map(|way| found_by(*way).to_owned()));
    for lease in &holder.leases {
        lines.push(format!(
            "Lease {}{}",
            lease.name,
            in_namespace(lease.namespace.as_deref())
        ));
    }
    lines.extend(
        holder
            .workloads
            .iter()
            .filter(|work| !is_pods(work))
            .map(workload),
    );
    let pods: Vec<String> = (holder.workloads.iter().filter(|work| is_pods(work)))
        .map(|pods| {
            format!(
                "{}{}{}",
                pods.selector.as_deref().unwrap_or_default(),
                in_namespace(pods.namespace.as_deref()),
                of_instance(pods)
            )
        })
        .collect();
    if !pods.is_empty() {
        lines.push(format!("Pods with {}", joined_with_or(&pods)));
    }
    if !holder.namespaces.is_empty() {
        lines.push(format!(
            "usually in namespace {}",
            joined_with_or(&holder.namespaces)
        ));
    }
    if all {
        for (what, names) in [
            ("acts as ServiceAccount", &holder.service_accounts),
            ("in managedFields as", &holder.managers),
            ("the source of events as", &holder.reporters),
            ("its webhook configurations:", &holder.webhooks),
            ("its APIServices:", &holder.api_services),
            ("its API groups:", &holder.api_groups),
        ] {
            if !names.is_empty() {
                lines.push(format!("{what} {}", names.join(", ")));
            }
        }
    }
    if all && holder.needs_types {
        lines.push("acts only where the API server has these types".to_owned());
    }
    lines.extend(holder.note.clone());
    lines
}

fn where_it_runs(holder: &HolderDescription) -> Option<String> {
    let hidden = match holder.hidden_on.as_slice() {
        [] => String::new(),
        platforms => format!("; on {} it cannot be seen", platforms.join(", ")),
    };
    let place = match holder.runs {
        Runs::InCluster if hidden.is_empty() => return None,
        Runs::InCluster => "runs in this cluster",
        Runs::ControlPlane => "runs in the control plane",
        Runs::HiddenControlPlane => "runs in a control plane that users cannot see",
        Runs::OtherCluster => "runs in another cluster",
        Runs::Outside => "runs outside the cluster: nothing in the cluster removes this finalizer",
        Runs::Nobody => "no released program removes this finalizer",
    };
    Some(format!("{place}{hidden}"))
}

fn found_by(way: FoundBy) -> &'static str {
    match way {
        FoundBy::CsiDriver => "depends on the CSI driver that the object names",
        FoundBy::StorageClass => "depends on the provisioner of the StorageClass",
        FoundBy::ControllerName => "depends on spec.controllerName of the object or of its GatewayClass",
        FoundBy::CrossplaneProvider => "the Crossplane provider that serves the object's API group",
        FoundBy::RbacOnKind => "the workload whose ServiceAccount may patch objects of this kind",
        FoundBy::GroupInName => "depends on the API group in the finalizer's name",
        FoundBy::HandlerInName => "depends on the handler in the finalizer's name",
        FoundBy::NodeInName => "runs on the node in the finalizer's name",
        FoundBy::NodeOfObject => "runs on the node of the object",
    }
}

/// Whether only labels are known. Such Pods share one line.
fn is_pods(workload: &WorkloadDescription) -> bool {
    workload.kind == WorkloadKind::Pod && workload.name.is_none() && workload.container.is_none()
}

/// `Deployment rook-ceph-operator (app=rook-ceph-operator) in rook-ceph`.
fn workload(workload: &WorkloadDescription) -> String {
    let kind = format!("{:?}", workload.kind);
    let mut text = match (&workload.name, &workload.selector) {
        (Some(name), Some(selector)) => format!("{kind} {name} ({selector})"),
        (Some(name), None) => format!("{kind} {name}"),
        (None, Some(selector)) => format!("{kind} with {selector}"),
        (None, None) => kind,
    };
    if let Some(container) = &workload.container {
        text.extend([", container ", container]);
    }
    text + &in_namespace(workload.namespace.as_deref()) + &of_instance(workload)
}

fn in_namespace(namespace: Option<&str>) -> String {
    match namespace {
        Some(OF_OBJECT) => " in the namespace of the object".to_owned(),
        Some(name) => format!(" in namespace {name}"),
        None => String::new(),
    }
}

/// `, cnpg.io/cluster=<spec.cluster.name>`, with fields of the object in brackets.
fn of_instance(workload: &WorkloadDescription) -> String {
    let told = |same: &SameAs| {
        let keys: Vec<_> = same.field.split('/').skip(1).collect();
        format!(", {}=<{}>", same.label, keys.join(".").replace("~1", "/"))
    };
    workload.instance.iter().map(told).collect::<Vec<_>>().concat()
}

/// `a`, `a or b`, `a, b or c`.
fn joined_with_or(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} or {last}", rest.join(", ")),
    }
}
