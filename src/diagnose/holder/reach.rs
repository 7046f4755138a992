//! RBAC from the side of the account: the types whose objects it may change, and whose finalizers it may so
//! remove.
//!
//! Groups of accounts are left out: rights that all accounts have point to no controller. Rules as in
//! [`crate::diagnose::holder::rbac`].

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    diagnose::{
        holder::{pod_template::account_of, rbac::account},
        kinds::{Role, RoleBinding},
        view::{Missing, View},
    },
    object::ResourceType,
    snapshot::facts::{Object, Resource},
};

const GROUP: &str = "rbac.authorization.k8s.io";

/// The types that some accounts may change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// Types that a role names.
    pub types: BTreeSet<Resource>,
    /// A role that allows them to change every object.
    pub everything: Option<String>,
}

/// The types that the accounts of these workloads may change. This needs four lists, which all callers share.
pub fn reach(workloads: &[&Object], view: &View<'_>) -> Result<Reach, Missing> {
    let accounts: BTreeSet<_> = workloads
        .iter()
        .map(|workload| (workload.namespace(), account_of(workload)))
        .collect();
    // Queried together, so that they are read together.
    let lists = ["clusterroles", "clusterrolebindings", "roles", "rolebindings"]
        .map(|plural| view.list(GROUP, plural, ""));
    let [cluster_roles, cluster_bindings, roles, bindings] = lists;
    let named = |role: &Object| (role.namespace().to_owned(), role.name().to_owned());
    let roles: BTreeMap<_, _> = cluster_roles?
        .iter()
        .chain(roles?)
        .map(|role| (named(role), role))
        .collect();
    let mut reach = Reach::default();
    for binding in cluster_bindings?.iter().chain(bindings?) {
        let is_one_of_them = |subject| account(subject, binding).is_some_and(|one| accounts.contains(&one));
        if !RoleBinding(binding).subjects().any(is_one_of_them) {
            continue;
        }
        let place = if RoleBinding(binding).is_of_cluster_role() {
            ""
        } else {
            binding.namespace()
        };
        if let Some(role) = roles.get(&(place.to_owned(), RoleBinding(binding).role().to_owned())) {
            reach.add(role, view);
        }
    }
    Ok(reach)
}

impl Reach {
    fn add(&mut self, role: &Object, view: &View<'_>) {
        for rule in Role(role).rules() {
            if !rule.may_change() {
                continue;
            }
            let groups: Vec<_> = rule.groups().collect();
            let plurals: Vec<_> = rule.resources().collect();
            if groups.contains(&"*") {
                if plurals.contains(&"*") {
                    self.everything = Some(role.name().to_owned());
                }
                continue;
            }
            let granted = |ty: &&ResourceType| {
                !is_noise(ty)
                    && groups.contains(&&*ty.group)
                    && (plurals.contains(&"*") || plurals.contains(&&*ty.plural))
            };
            let types = view.types().iter().filter(granted);
            self.types
                .extend(types.map(|ty| Resource::new(&ty.group, &ty.plural)));
        }
    }
}

/// Whether nearly every controller writes objects of this type and none holds them with a finalizer.
fn is_noise(ty: &ResourceType) -> bool {
    matches!(&*ty.group, "coordination.k8s.io" | "events.k8s.io")
        || ty.group.is_empty() && matches!(&*ty.plural, "events" | "endpoints" | "configmaps" | "secrets")
}
