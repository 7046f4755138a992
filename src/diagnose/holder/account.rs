//! The account of a controller: the `ServiceAccounts` that the catalogue names, and those that may change the
//! object by RBAC.

use crate::{
    diagnose::{
        holder::{
            pod_template::account_of,
            rbac::{Account, Changers},
            standing,
            trace::{Holder, Sign, Tells, Trace},
        },
        limits,
        model::Strength,
        view::View,
    },
    knowledge::{Entry, schema::glob},
    snapshot::facts::{By, Object},
};

/// Adds whether a `ServiceAccount` with one of the entry's names exists.
pub(super) fn add_named_accounts(entry: &Entry, holder: &mut Holder, view: &View<'_>) {
    let names = &entry.holder.service_accounts;
    let mut found = Vec::new();
    for name in names {
        let accounts = if name.contains('*') {
            view.list("", "serviceaccounts", "")
        } else {
            view.search("", "serviceaccounts", "", By::Name(name.clone()))
        };
        match accounts {
            Ok(accounts) => found.extend(accounts.iter().filter(|account| glob(name, account.name()))),
            Err(missing) => return holder.add_missing(&missing),
        }
    }
    if names.is_empty() {
        return;
    }
    match found.first() {
        Some(account) => holder.add(Sign::new(
            Trace::Account,
            Tells::Nothing,
            Strength::Hint,
            format!("ServiceAccount {}/{}", account.namespace(), account.name()),
            "exists",
        )),
        None => holder.add(Sign::new(
            Trace::Account,
            Tells::Gone,
            Strength::Strong,
            "ServiceAccounts in all namespaces",
            format!("none is named {}", names.join(" or ")),
        )),
    }
}

/// Adds the accounts that may change the object by RBAC, and whether a workload runs with any of them.
pub(super) fn add_accounts_with_rights(object: &Object, holder: &mut Holder, view: &View<'_>) {
    let changers = match Changers::of(object, view) {
        Ok(changers) => changers,
        Err(missing) => return holder.add_missing(&missing),
    };
    let what = object.resource.name();
    let source = "ClusterRoleBindings and RoleBindings";
    if changers.is_empty() {
        let value = format!("no ServiceAccount may change {what}");
        return holder.add(Sign::new(
            Trace::Account,
            Tells::Gone,
            Strength::Strong,
            source,
            value,
        ));
    }
    let candidates = changers.candidates(object);
    if candidates.is_empty() {
        let everybody = changers
            .all
            .iter()
            .map(name)
            .chain(changers.groups.iter().cloned());
        let outside = changers
            .outside
            .iter()
            .map(|who| format!("{who}, which is no ServiceAccount,"));
        let who: Vec<_> = outside.chain(everybody).take(limits::ACCOUNTS).collect();
        let value = format!(
            "no ServiceAccount is granted {what} by name; {} may change it",
            who.join(", ")
        );
        return holder.add(Sign::new(
            Trace::Account,
            Tells::Nothing,
            Strength::Hint,
            source,
            value,
        ));
    }
    for (account, role) in candidates.into_iter().take(limits::ACCOUNTS) {
        add_account(account, role, &what, holder, view);
    }
}

fn name(account: &Account) -> String {
    format!("{}/{}", account.0, account.1)
}

/// Adds whether a workload runs with this account.
fn add_account(account: &Account, role: &str, what: &str, holder: &mut Holder, view: &View<'_>) {
    let (namespace, account_name) = account;
    let source = format!("ServiceAccount {}", name(account));
    let mut running = Vec::new();
    for (group, plural) in [
        ("apps", "deployments"),
        ("apps", "statefulsets"),
        ("apps", "daemonsets"),
    ] {
        match view.list(group, plural, namespace) {
            Ok(all) => running.extend(
                all.iter()
                    .filter(|workload| account_of(workload, "/spec/template/spec") == account_name.as_str()),
            ),
            Err(missing) => holder.add_missing(&missing),
        }
    }
    holder.add(Sign::new(
        Trace::Account,
        Tells::Nothing,
        Strength::Moderate,
        &source,
        format!("may change {what}, by {role}"),
    ));
    // A workload with the rights is likely the controller, but this is not certain.
    for workload in &running {
        standing::add_standing(workload, Strength::Moderate, holder, view);
    }
    // A workload that could not be read may run with this account.
    if !running.is_empty() || holder.pending || !holder.unseen.is_empty() {
        return;
    }
    match view.list("", "pods", namespace) {
        Ok(pods) => {
            let own: Vec<_> = pods
                .iter()
                .filter(|pod| account_of(pod, "/spec") == account_name.as_str())
                .collect();
            for pod in own.iter().take(1) {
                standing::add_standing(pod, Strength::Moderate, holder, view);
            }
            if own.is_empty() {
                holder.add(Sign::new(
                    Trace::Workload,
                    Tells::Gone,
                    Strength::Strong,
                    source,
                    "nothing runs as it",
                ));
            }
        }
        Err(missing) => holder.add_missing(&missing),
    }
}

/// Adds that a running workload lacks the rights for its work, if it does. That explains why nothing happens.
pub(super) fn add_missing_rights(workload: &Object, object: &Object, holder: &mut Holder, view: &View<'_>) {
    let spec = if workload.is("", "pods") {
        "/spec"
    } else {
        "/spec/template/spec"
    };
    let account = account_of(workload, spec);
    match Changers::of(object, view) {
        Ok(changers) if !changers.may(workload.namespace(), account, object) => holder.add(
            Sign::new(
                Trace::Account,
                Tells::Failing,
                Strength::Strong,
                format!("ServiceAccount {}/{account}", workload.namespace()),
                format!(
                    "may neither update nor patch {}, by the cluster's roles and bindings",
                    object.resource.name()
                ),
            )
            .about(workload.reference()),
        ),
        Ok(_) => {}
        // The workload runs, with or without the rights.
        Err(missing) => holder.wait_for(&missing),
    }
}
