//! The `ServiceAccounts` that may change objects of a type, from the cluster's RBAC objects.
//!
//! A controller that removes a finalizer needs the right to `update` or `patch` the object. So every controller
//! shows in RBAC, whatever its name is. RBAC does not prove which account acts: a backup tool may change every
//! object. RBAC may also not be the only authorizer, so a right that it does not grant is strong evidence and
//! no proof. Rules: `kubernetes/kubernetes:plugin/pkg/auth/authorizer/rbac/rbac.go`,
//! `pkg/apis/rbac/v1/evaluation_helpers.go`.

use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use crate::{
    diagnose::{
        kinds::{Role, RoleBinding, Subject},
        view::{Missing, View},
    },
    knowledge::Right,
    object::is_custom_group,
    snapshot::facts::Object,
};

const GROUP: &str = "rbac.authorization.k8s.io";

/// The namespace and name of a `ServiceAccount`.
pub type Account = (String, String);

/// The subjects that may change the objects of a type in one namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changers {
    /// Accounts that have a right on this type by name.
    named: BTreeMap<Account, Grant>,
    /// Accounts that may change objects of every type, or that have a role for people.
    general: BTreeMap<Account, Grant>,
    /// Kubernetes' own controllers. They remove other finalizers than these.
    system: BTreeSet<Account>,
    /// Groups of `ServiceAccounts` that have the right, and the role that grants it: `system:serviceaccounts`,
    /// `system:serviceaccounts:NAMESPACE` or `system:authenticated`.
    pub groups: BTreeMap<String, String>,
    /// Other users and groups that are granted this type by name, and the role. The controller may run outside
    /// the cluster.
    pub outside: BTreeMap<String, String>,
}

/// An account that may change an object.
pub struct Candidate<'a> {
    /// The namespace of the account.
    pub namespace: &'a str,
    /// The name of the account.
    pub name: &'a str,
    /// The role that grants the right.
    pub role: &'a str,
    /// Whether the account has the rights of a controller on this type by name. If nobody has those, whether it has
    /// any right on this type by name.
    pub is_likely: bool,
    /// Whether the account is granted this type by name, and not with all types or with a role for people.
    pub is_named: bool,
}

/// The rights on a type from one role, or from several roles together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Grant {
    /// The role, or the last of them.
    role: String,
    /// Whether the role grants every type.
    everything: bool,
    /// Whether the role is for people: a part of `admin` or `edit`, or one of these.
    for_people: bool,
    /// Whether the role also grants the status or `finalizers` of the objects. Controllers have these rights,
    /// people mostly not.
    as_controller: bool,
    /// The names of the objects that the right is limited to; empty for all objects.
    only: BTreeSet<String>,
}

impl Changers {
    /// Reads the subjects for objects like this one. This needs four lists, which all callers share.
    pub fn of(object: &Object, view: &View<'_>) -> Result<Rc<Self>, Missing> {
        match Self::as_far_as_read(object, view)? {
            (all, None) => Ok(all),
            (_, Some(missing)) => Err(missing),
        }
    }

    /// The subjects that are known, and what could not be read of the object's own namespace. There may be others then, and
    /// those who have the right in the whole cluster have it all the same.
    pub fn as_far_as_read(object: &Object, view: &View<'_>) -> Result<(Rc<Self>, Option<Missing>), Missing> {
        let namespace = object.namespace();
        let [cluster_roles, cluster_bindings, roles, bindings] = lists(namespace, view);
        let (cluster_roles, cluster_bindings) = (cluster_roles?, cluster_bindings?);
        let (roles, bindings, missing) = match (roles, bindings) {
            (Ok(roles), Ok(bindings)) => (roles, bindings, None),
            (Err(Missing::NotYet), _) | (_, Err(Missing::NotYet)) => return Err(Missing::NotYet),
            (Err(missing), _) | (_, Err(missing)) => (&[][..], &[][..], Some(missing)),
        };
        // A cluster may have thousands of bindings, and a scan hundreds of objects of one type.
        let known = view.once(
            &format!("changers of {} in {namespace}", object.resource.name()),
            || {
                let (of_cluster, of_namespace) = (grants(cluster_roles, object), grants(roles, object));
                let mut changers = Changers::default();
                for binding in cluster_bindings.iter().chain(bindings) {
                    let name = RoleBinding(binding).role();
                    let granted = if RoleBinding(binding).is_of_cluster_role() {
                        of_cluster.get(name)
                    } else {
                        of_namespace.get(name)
                    };
                    if let Some(granted) = granted {
                        changers.add(binding, granted, is_custom_group(&object.resource.group));
                    }
                }
                changers
            },
        );
        Ok((known, missing))
    }

    fn add(&mut self, binding: &Object, grant: &Grant, is_custom: bool) {
        for subject in RoleBinding(binding).subjects() {
            let account = account(subject, binding);
            match account.map(|(namespace, name)| (namespace.to_owned(), name.to_owned())) {
                Some(account) if is_of_kubernetes(&account, &grant.role) => {
                    self.system.insert(account);
                }
                Some(account) if grant.everything || grant.for_people => {
                    self.general.entry(account).or_default().extend(grant);
                }
                Some(account) => self.named.entry(account).or_default().extend(grant),
                None => self.add_other_subject(subject.kind(), subject.name(), grant, is_custom),
            }
        }
    }

    /// Adds a user or a group. Who has all rights or a role for people is a person, as far as a cluster tells.
    /// Kubernetes' own users change the built-in types.
    fn add_other_subject(&mut self, kind: &str, name: &str, grant: &Grant, is_custom: bool) {
        if name.starts_with("system:serviceaccounts") || name == "system:authenticated" {
            self.groups.insert(name.to_owned(), grant.role.clone());
        } else if !grant.everything && !grant.for_people && (is_custom || !name.starts_with("system:")) {
            self.outside.insert(format!("{kind} {name}"), grant.role.clone());
        }
    }

    /// Whether this account may change the object in any of these ways.
    pub fn may(&self, namespace: &str, name: &str, object: &Object) -> bool {
        let account = (namespace.to_owned(), name.to_owned());
        self.named.get(&account).is_some_and(|grant| grant.covers(object))
            || self
                .general
                .get(&account)
                .is_some_and(|grant| grant.covers(object))
            || self.system.contains(&account)
            || self.groups.keys().any(|group| has_accounts_of(group, namespace))
    }

    /// Whether only Kubernetes' own controllers may change the object.
    pub fn is_nobody(&self, object: &Object) -> bool {
        self.candidates(object).is_empty() && self.groups.is_empty() && self.outside.is_empty()
    }

    /// Every account that may change the object. A pipeline that applies such objects is less likely their
    /// controller than an account that may also write their status.
    pub fn candidates<'a>(&'a self, object: &Object) -> Vec<Candidate<'a>> {
        let covering = || self.named.iter().filter(|(_, grant)| grant.covers(object));
        let as_controller = covering().any(|(_, grant)| grant.as_controller);
        // An account that is granted only other objects by name can still have wildcard rights.
        let is_named = |account: &Account| self.named.get(account).is_some_and(|grant| grant.covers(object));
        let named = covering().map(|(account, grant)| (account, grant, true));
        let general = self
            .general
            .iter()
            .filter(|(account, grant)| grant.covers(object) && !is_named(account))
            .map(|(account, grant)| (account, grant, false));
        named
            .chain(general)
            .map(|((namespace, name), grant, is_named)| Candidate {
                namespace,
                name,
                role: &grant.role,
                is_likely: is_named && grant.as_controller == as_controller,
                is_named,
            })
            .collect()
    }
}

/// The roles and the bindings of the cluster, and those of a namespace. Queried together, so that they are read together.
fn lists<'a>(namespace: &str, view: &View<'a>) -> [Result<&'a [Object], Missing>; 4] {
    let local = |plural: &str| {
        if namespace.is_empty() {
            Ok(&[][..])
        } else {
            view.list(GROUP, plural, namespace)
        }
    };
    [
        view.list(GROUP, "clusterroles", ""),
        view.list(GROUP, "clusterrolebindings", ""),
        local("roles"),
        local("rolebindings"),
    ]
}

/// Whether a group contains the accounts of this namespace.
fn has_accounts_of(group: &str, namespace: &str) -> bool {
    matches!(group, "system:serviceaccounts" | "system:authenticated")
        || group.strip_prefix("system:serviceaccounts:") == Some(namespace)
}

/// Whether an account has this right on objects of the type in a namespace, or in the cluster if that is empty.
pub fn is_granted(
    (namespace, name): (&str, &str),
    right: &Right,
    place: &str,
    view: &View<'_>,
) -> Result<bool, Missing> {
    let [cluster_roles, cluster_bindings, roles, bindings] = lists(place, view);
    let (cluster_roles, roles) = (cluster_roles?, roles?);
    let is_bound = |binding: &&Object| {
        RoleBinding(binding).subjects().any(|subject| {
            account(subject, binding) == Some((namespace, name))
                || subject.kind() == "Group" && has_accounts_of(subject.name(), namespace)
        })
    };
    let mut bindings = cluster_bindings?.iter().chain(bindings?).filter(is_bound);
    Ok(bindings.any(|binding| {
        let all = if RoleBinding(binding).is_of_cluster_role() {
            cluster_roles
        } else {
            roles
        };
        let role = all.iter().find(|role| role.name() == RoleBinding(binding).role());
        role.is_some_and(|role| has_right(role, all, right))
    }))
}

/// Whether a role has the right, or collects it from another. A right on some names may cover what the controller deletes.
fn has_right(role: &Object, all: &[Object], right: &Right) -> bool {
    let has = |role: &Object| {
        Role(role).rules().any(|rule| {
            rule.verbs().any(|verb| [right.verb(), "*"].contains(&verb))
                && rule.groups().any(|group| [right.group(), "*"].contains(&group))
                && rule.resources().any(|one| [right.plural(), "*"].contains(&one))
        })
    };
    has(role) || all.iter().any(|other| Role(role).collects(other) && has(other))
}

/// Whether this is a controller in kube-controller-manager: each has an account and a role of its name
/// (`kubernetes/kubernetes:plugin/pkg/auth/authorizer/rbac/bootstrappolicy/controller_policy.go`). Another account
/// with such a role has borrowed it.
fn is_of_kubernetes((namespace, name): &Account, role: &str) -> bool {
    namespace == "kube-system" && role.strip_prefix("system:controller:") == Some(name)
}

impl Grant {
    fn extend(&mut self, more: &Grant) {
        let all = !self.role.is_empty() && self.only.is_empty() || more.only.is_empty();
        self.only.extend(more.only.iter().cloned());
        if all {
            self.only.clear();
        }
        self.as_controller |= more.as_controller;
        self.everything |= more.everything;
        self.for_people |= more.for_people;
        self.role.clone_from(&more.role);
    }

    fn covers(&self, object: &Object) -> bool {
        self.only.is_empty() || self.only.contains(object.name())
    }
}

/// The namespace and name of the ServiceAccount that a subject of this binding stands for. A subject may name
/// it in two ways.
pub(super) fn account<'a>(subject: Subject<'a>, binding: &'a Object) -> Option<(&'a str, &'a str)> {
    match (subject.kind(), subject.name(), subject.namespace()) {
        ("ServiceAccount", name, "") => Some((binding.namespace(), name)),
        ("ServiceAccount", name, namespace) => Some((namespace, name)),
        ("User", name, _) => name
            .strip_prefix("system:serviceaccount:")
            .and_then(|rest| rest.split_once(':')),
        _ => None,
    }
}

/// The roles with any right on objects like this one.
fn grants(roles: &[Object], object: &Object) -> BTreeMap<String, Grant> {
    let mut all: BTreeMap<_, _> = roles
        .iter()
        .filter_map(|role| Some((role.name().to_owned(), grant(role, object)?)))
        .collect();
    // A role that collects those of others has no rules in a manifest, or until kube-controller-manager has written them.
    let is_empty = |role: &&Object| Role(role).rules().next().is_none();
    for role in roles.iter().filter(is_empty) {
        let mut collected = Grant::default();
        for part in roles.iter().filter(|other| Role(role).collects(other)) {
            if let Some(grant) = all.get(part.name()) {
                collected.extend(grant);
            }
        }
        if !collected.role.is_empty() {
            role.name().clone_into(&mut collected.role);
            all.insert(role.name().to_owned(), collected);
        }
    }
    all
}

/// The right of a role to `update` or `patch` objects of this type.
fn grant(role: &Object, object: &Object) -> Option<Grant> {
    let (group, plural) = (&*object.resource.group, &*object.resource.plural);
    let [status, finalizers] = ["status", "finalizers"].map(|sub| format!("{plural}/{sub}"));
    // Some built-in objects can also be changed through their status. On custom objects that changes the status
    // alone.
    let through_status = !is_custom_group(group);
    let (mut granted, mut as_controller, mut everything) = (None::<Grant>, false, false);
    for rule in Role(role).rules() {
        let of_group = |wanted: &[&str]| rule.groups().any(|group| wanted.contains(&group));
        let of_type = |wanted: &[&str]| rule.resources().any(|resource| wanted.contains(&resource));
        if !rule.may_change() || !of_group(&[group, "*"]) {
            continue;
        }
        let all = of_type(&["*"]);
        everything |= all && of_group(&["*"]);
        as_controller |= all || of_type(&[&status, &finalizers, "*/status", "*/finalizers"]);
        if all || of_type(&[plural]) || through_status && of_type(&[&status]) {
            let this = Grant {
                role: role.name().to_owned(),
                only: rule.names().map(str::to_owned).collect(),
                ..Grant::default()
            };
            granted.get_or_insert_with(|| this.clone()).extend(&this);
        }
    }
    let mut granted = granted?;
    granted.as_controller = as_controller;
    granted.everything = everything && granted.only.is_empty();
    granted.for_people = is_for_people(role);
    Some(granted)
}

/// Whether the role is `admin` or `edit`, or is aggregated into one of them.
fn is_for_people(role: &Object) -> bool {
    let labels = role.labels();
    role.is(GROUP, "clusterroles") && matches!(role.name(), "admin" | "edit")
        || ["admin", "edit"].iter().any(|into| {
            let label = format!("rbac.authorization.k8s.io/aggregate-to-{into}");
            labels.get(&label).is_some_and(|value| value == "true")
        })
}
