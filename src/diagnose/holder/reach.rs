//! RBAC from the account's side: of which types it may change the objects, and so may remove their finalizers.
//!
//! Groups of accounts are left out: what all of them may is nobody's work. Rules as in [`crate::diagnose::holder::rbac`].

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::{
    diagnose::{
        holder::{account::acts_as, rbac::account},
        view::{Missing, View},
    },
    object::ResourceType,
    snapshot::facts::{Object, Resource},
};

const GROUP: &str = "rbac.authorization.k8s.io";

/// What some accounts may change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// Types that they are granted by name.
    pub types: BTreeSet<Resource>,
    /// A role by which they may change everything.
    pub everything: Option<String>,
}

/// What the accounts of these workloads may change. Four lists, which any number of them share.
pub fn reach(workloads: &[&Object], view: &View<'_>) -> Result<Reach, Missing> {
    let accounts: BTreeSet<_> = workloads
        .iter()
        .map(|workload| (workload.namespace(), acts_as(workload, "/spec/template/spec")))
        .collect();
    // Asked together, so that they are read together.
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
        let is_one = |subject| account(subject, binding).is_some_and(|one| accounts.contains(&one));
        if !binding.list("/subjects").iter().any(is_one) {
            continue;
        }
        let place = match binding.text("/roleRef/kind") {
            "ClusterRole" => "",
            _ => binding.namespace(),
        };
        if let Some(role) = roles.get(&(place.to_owned(), binding.text("/roleRef/name").to_owned())) {
            reach.add(role, view);
        }
    }
    Ok(reach)
}

impl Reach {
    fn add(&mut self, role: &Object, view: &View<'_>) {
        for rule in role.list("/rules") {
            let values = |field: &str| {
                let values = rule.get(field).and_then(Value::as_array);
                values
                    .into_iter()
                    .flatten()
                    .filter_map(Value::as_str)
                    .collect::<Vec<_>>()
            };
            let (verbs, groups, plurals) = (values("verbs"), values("apiGroups"), values("resources"));
            if !["update", "patch", "*"].iter().any(|verb| verbs.contains(verb)) {
                continue;
            }
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

/// What nearly every controller writes and none holds with a finalizer.
fn is_noise(ty: &ResourceType) -> bool {
    matches!(&*ty.group, "coordination.k8s.io" | "events.k8s.io")
        || ty.group.is_empty() && matches!(&*ty.plural, "events" | "endpoints" | "configmaps" | "secrets")
}
