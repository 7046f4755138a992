//! The account of a controller: whether the `ServiceAccounts` that the catalogue names exist, and whether the account
//! of a running workload has the rights for its work.

use crate::{
    command::Command,
    diagnose::{
        holder::{
            pod_template::account_of,
            rbac,
            rbac::Changers,
            trace::{Holder, Sign, Tells, Trace},
        },
        model::Strength,
        view::View,
    },
    knowledge::{Entry, Right, schema::glob},
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

/// Adds that a running workload lacks the rights for its work, if it does. That explains why nothing happens. None if its
/// rights are not known.
pub(super) fn add_missing_rights(
    workload: &Object,
    object: &Object,
    holder: &mut Holder,
    view: &View<'_>,
) -> Option<()> {
    let account = account_of(workload);
    match Changers::of(object, view) {
        Ok(changers) => {
            if !changers.may(workload.namespace(), account, object) {
                let resource = object.resource.name();
                let source = format!("ServiceAccount {}/{account}", workload.namespace());
                let value =
                    format!("may neither update nor patch {resource}, by the cluster's roles and bindings");
                let mut sign = Sign::new(Trace::Account, Tells::Failing, Strength::Strong, source, value);
                let who = (workload.namespace(), account);
                let check = Command::may("update", &resource, object.namespace(), who);
                sign.lacks = Some((format!("update {resource}"), check));
                holder.add(sign.about(workload.reference()));
            }
            Some(())
        }
        // The workload runs, with or without the rights.
        Err(missing) => {
            holder.wait_for(&missing);
            None
        }
    }
}

/// Adds that a running workload lacks a right on other objects without which it fails. It needs the right where the object is.
/// Of an object without a namespace nobody knows where that is, so only types without one are looked up then.
pub(super) fn add_lacking(
    right: &Right,
    workload: &Object,
    object: &Object,
    holder: &mut Holder,
    view: &View<'_>,
) {
    let Some(ty) = view.resource_type(right.group(), right.plural()) else {
        return;
    };
    let place = if ty.namespaced { object.namespace() } else { "" };
    if ty.namespaced && place.is_empty() {
        return;
    }
    let who = (workload.namespace(), account_of(workload));
    match rbac::is_granted(who, right, place, view) {
        Ok(true) => {}
        Ok(false) => {
            let source = format!("ServiceAccount {}/{}", who.0, who.1);
            let what = format!("{} {}", right.verb(), right.type_name());
            let value = format!("may not {what}, by the cluster's roles and bindings");
            let mut sign = Sign::new(Trace::Account, Tells::Failing, Strength::Strong, source, value);
            let check = Command::may(right.verb(), &right.type_name(), place, who);
            sign.lacks = Some((what, check));
            holder.add(sign.about(workload.reference()));
        }
        Err(missing) => holder.add_missing(&missing),
    }
}
