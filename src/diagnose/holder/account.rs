//! Who the holder acts as: the `ServiceAccounts` that the catalogue names, and those that RBAC lets change the object.

use crate::{
    diagnose::{
        holder::{
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

/// Whether an account of the names that the entry gives is there at all.
pub(super) fn named(entry: &Entry, holder: &mut Holder, view: &View<'_>) {
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
            Err(missing) => return holder.miss(&missing),
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

/// Who may change the object by RBAC, and whether any of them runs.
pub(super) fn by_rights(object: &Object, holder: &mut Holder, view: &View<'_>) {
    let changers = match Changers::of(object, view) {
        Ok(changers) => changers,
        Err(missing) => return holder.miss(&missing),
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
        one(account, role, &what, holder, view);
    }
}

fn name(account: &Account) -> String {
    format!("{}/{}", account.0, account.1)
}

/// Whether something runs as this account.
fn one(account: &Account, role: &str, what: &str, holder: &mut Holder, view: &View<'_>) {
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
                    .filter(|workload| acts_as(workload, "/spec/template/spec") == account_name.as_str()),
            ),
            Err(missing) => holder.miss(&missing),
        }
    }
    holder.add(Sign::new(
        Trace::Account,
        Tells::Nothing,
        Strength::Moderate,
        &source,
        format!("may change {what}, by {role}"),
    ));
    // That it may is not that it does: what runs as it is likely the holder, not surely.
    for workload in &running {
        standing::state(workload, Strength::Moderate, holder, view);
    }
    // What was not seen may be what runs as it.
    if !running.is_empty() || holder.pending || !holder.unseen.is_empty() {
        return;
    }
    match view.list("", "pods", namespace) {
        Ok(pods) => {
            let own: Vec<_> = pods
                .iter()
                .filter(|pod| acts_as(pod, "/spec") == account_name.as_str())
                .collect();
            for pod in own.iter().take(1) {
                standing::state(pod, Strength::Moderate, holder, view);
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
        Err(missing) => holder.miss(&missing),
    }
}

/// The account of a Pod or of a template; `default` where none is named.
pub(super) fn acts_as<'a>(object: &'a Object, spec: &str) -> &'a str {
    match object.text(&format!("{spec}/serviceAccountName")) {
        "" => "default",
        account => account,
    }
}

/// Whether a workload that runs may do what it must: if not, that is why nothing happens.
pub(super) fn lacks_rights(workload: &Object, object: &Object, holder: &mut Holder, view: &View<'_>) {
    let spec = if workload.is("", "pods") {
        "/spec"
    } else {
        "/spec/template/spec"
    };
    let account = acts_as(workload, spec);
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
        // It runs, whether it may or not.
        Err(missing) => holder.wait_for(&missing),
    }
}
