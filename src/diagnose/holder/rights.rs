//! Workloads that run with the rights to change the object.
//!
//! A controller needs these rights, whatever its name is. So before a controller counts as gone, everything that runs
//! with these rights is looked at, under any name and in any namespace. Whoever is granted this type by name may be the
//! controller. Whoever may change every object is a bystander only if it is another product ([`bystander`]). On built-in
//! types, such as Pods and Services, many controllers have these rights, and only a program that shares a word with the
//! product may be it.
//!
//! Not seen here: users of a cloud that its own access entries admit (EKS, GKE, Azure), and who uses the token of an
//! account outside the cluster.
//!
//! [`bystander`]: crate::diagnose::holder::bystander

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    diagnose::{
        holder::{
            bystander,
            bystander::Wanted,
            pod_template::{account_of, name_of},
            rbac::{Candidate, Changers},
            standing,
            trace::{Holder, Sign, Tells, Trace},
            writer,
        },
        kinds::{Pod, PodSpec, Workload},
        limits,
        model::{Liveness, Strength},
        view::View,
    },
    knowledge::schema::words,
    object::{is_custom_group, is_product_group},
    snapshot::facts::Object,
};

const BINDINGS: &str = "ClusterRoleBindings and RoleBindings";

/// The kinds of workload that run with an account.
const RUNNERS: [(&str, &str); 5] = [
    ("apps", "deployments"),
    ("apps", "statefulsets"),
    ("apps", "daemonsets"),
    ("batch", "cronjobs"),
    ("", "pods"),
];

/// How far to look.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    /// Until something is likely the controller.
    Found,
    /// At everybody.
    End,
}

/// Adds who runs with the rights to change the object, or that nobody does. `wanted` is the product that is looked for.
/// Without it, for a finalizer that nobody has described, everything that runs with these rights may be the controller.
pub(super) fn add_who_may_change(
    object: &Object,
    wanted: Option<&Wanted>,
    until: Until,
    holder: &mut Holder,
    view: &View<'_>,
) {
    let changers = match Changers::as_far_as_read(object, view) {
        Ok((changers, missing)) => {
            if let Some(missing) = missing {
                holder.add_missing(&missing);
            }
            changers
        }
        Err(missing) => return holder.add_missing(&missing),
    };
    let is_shared = is_shared(object, wanted);
    let is_over = |holder: &Holder| {
        until == Until::Found && !matches!(holder.liveness(), Liveness::Gone | Liveness::Unknown)
    };
    // There the rights only keep a controller from being gone, so nobody is looked for unless it seems to be.
    if is_shared && until == Until::Found && holder.liveness() != Liveness::Gone {
        return;
    }
    let search = Search {
        what: object.resource.name(),
        names: names_of_controller(object),
        is_shared,
        is_of_one_product: is_product_group(&object.resource.group),
        wanted,
        view,
    };
    let candidates = changers.candidates(object);
    let signs = holder.signs.len();
    let runners = runners(&places(&candidates, &changers), holder, view);
    if holder.pending {
        return;
    }
    let by_account = by_account(&runners);
    let (likely, others): (Vec<_>, Vec<_>) = candidates.iter().partition(|one| search.is_likely(one));
    for candidate in &likely {
        search.add_named(candidate, own(&by_account, candidate), holder);
    }
    // Rights alone are no sign of life. They only speak against its being gone.
    if !is_over(holder) {
        for candidate in likely {
            search.add_unnamed(candidate, own(&by_account, candidate), holder);
        }
    }
    // Who else may change the object only matters while nobody is found.
    if is_over(holder) {
        return;
    }
    search.add_subjects_that_run_anywhere(&changers, holder);
    let siblings = search.writers_of_siblings(object, holder);
    let mut passed_over = false;
    for candidate in others {
        passed_over |= search.add_unlikely(candidate, &siblings, own(&by_account, candidate), holder);
    }
    search.add_namespace_groups(&changers, &runners, holder);
    let is_anybody_there = holder
        .signs
        .iter()
        .skip(signs)
        .any(|sign| sign.tells != Tells::Nothing);
    // Kubernetes' own controllers may change the built-in types, so there the rights of others decide nothing.
    if !is_anybody_there && holder.unseen.is_empty() && !search.is_shared {
        let what = &search.what;
        let value = if changers.is_nobody(object) {
            format!("no ServiceAccount may change {what}")
        } else if passed_over {
            format!("what runs and may change {what} belongs to other products or instances")
        } else {
            format!("nothing runs that may change {what}")
        };
        holder.add(Sign::new(
            Trace::Rights,
            Tells::Gone,
            Strength::Strong,
            BINDINGS,
            value,
        ));
    }
}

/// Adds workloads that may change the object, and after which annotations or labels of the object are named. A framework
/// gives every program that is made with it the same finalizer, and the program signs in the domain of its annotations:
/// `my-operator.kopf.dev/last-handled` (`nolar/kopf:kopf/_cogs/configs/conventions.py`).
pub(super) fn add_namesakes(object: &Object, holder: &mut Holder, view: &View<'_>) {
    let domains = object.marks().filter_map(|key| Some(key.split_once('/')?.0));
    let names: BTreeSet<_> = domains.filter_map(|domain| domain.split('.').next()).collect();
    if names.is_empty() {
        return;
    }
    let changers = match Changers::of(object, view) {
        Ok(changers) => changers,
        Err(missing) => return holder.wait_for(&missing),
    };
    let mut candidates = changers.candidates(object);
    candidates.retain(|candidate| candidate.is_named);
    let runners = runners(&places(&candidates, &changers), holder, view);
    let by_account = by_account(&runners);
    for candidate in &candidates {
        for object in without_own_pods(own(&by_account, candidate)) {
            if names.contains(object.name()) {
                standing::add_standing(object, Strength::Moderate, holder, view);
            }
        }
    }
}

/// The Pods in the namespaces of accounts that may change the object, without those of a workload that is there, too.
pub(super) fn lone_pods<'a>(object: &Object, holder: &mut Holder, view: &View<'a>) -> Vec<&'a Object> {
    let changers = match Changers::of(object, view) {
        Ok(changers) => changers,
        Err(missing) => {
            holder.add_missing(&missing);
            return Vec::new();
        }
    };
    let candidates = changers.candidates(object);
    let is_everywhere = changers.groups.keys().any(|group| namespace_of(group).is_none());
    let places = if is_everywhere {
        BTreeSet::from([""])
    } else {
        places(&candidates, &changers)
    };
    let runners = runners(&places, holder, view);
    let all: Vec<_> = runners.iter().collect();
    let mut lone = without_own_pods(&all);
    lone.retain(|object| object.is("", "pods"));
    lone
}

/// Whether many controllers change objects of this type: the types that Kubernetes has, and those of all CSI drivers.
pub(super) fn is_shared(object: &Object, wanted: Option<&Wanted>) -> bool {
    !is_custom_group(&object.resource.group) || wanted.is_some_and(Wanted::is_driver)
}

/// Words of the group and the kind of an object, and of the programs that put its finalizers on or write its status.
fn names_of_controller(object: &Object) -> BTreeSet<String> {
    // The last label of a group is a public domain.
    let (group, _) = object.resource.group.rsplit_once('.').unwrap_or_default();
    let writers = writer::controllers(object);
    let names = [group, &object.kind]
        .into_iter()
        .chain(writers.iter().map(String::as_str));
    names.flat_map(words).collect()
}

/// The namespaces of the accounts.
fn places<'a>(candidates: &[Candidate<'a>], changers: &'a Changers) -> BTreeSet<&'a str> {
    let groups = changers.groups.keys().filter_map(|group| namespace_of(group));
    candidates
        .iter()
        .map(|candidate| candidate.namespace)
        .chain(groups)
        .collect()
}

/// The namespace whose accounts a group contains.
fn namespace_of(group: &str) -> Option<&str> {
    group.strip_prefix("system:serviceaccounts:")
}

/// A workload or Pod.
struct Runner<'a> {
    object: &'a Object,
}

/// The workloads of each account, by its namespace and name.
type ByAccount<'r, 'a> = BTreeMap<(&'a str, &'a str), Vec<&'r Runner<'a>>>;

fn by_account<'r, 'a>(runners: &'r [Runner<'a>]) -> ByAccount<'r, 'a> {
    let mut found = ByAccount::new();
    for runner in runners {
        let account = (runner.object.namespace(), account_of(runner.object));
        found.entry(account).or_default().push(runner);
    }
    found
}

/// The workloads of this account.
fn own<'m, 'r, 'a>(all: &'m ByAccount<'r, 'a>, candidate: &'m Candidate<'_>) -> &'m [&'r Runner<'a>] {
    all.get(&(candidate.namespace, candidate.name))
        .map_or(&[], Vec::as_slice)
}

/// Everything that runs in these namespaces, and what could not be read. Many namespaces are read at once.
fn runners<'a>(places: &BTreeSet<&str>, holder: &mut Holder, view: &View<'a>) -> Vec<Runner<'a>> {
    let places: Vec<_> = if places.len() > limits::NAMESPACES_ONE_BY_ONE {
        vec![""]
    } else {
        places.iter().copied().collect()
    };
    let mut runners = Vec::new();
    for (group, plural) in RUNNERS {
        for place in &places {
            match view.list(group, plural, place) {
                Ok(all) => runners.extend(all.iter().map(|object| Runner { object })),
                Err(missing) => holder.add_missing(&missing),
            }
        }
    }
    runners
}

struct Search<'s, 'a> {
    /// The type that is changed, `plural.group`.
    what: String,
    /// Words that name the controller, beside those of the product.
    names: BTreeSet<String>,
    /// Whether many controllers change objects of this type.
    is_shared: bool,
    /// Whether the type belongs to one product. Gateways and volume snapshots have controllers of many.
    is_of_one_product: bool,
    wanted: Option<&'s Wanted>,
    view: &'s View<'a>,
}

impl<'a> Search<'_, 'a> {
    /// Adds users, and groups of all accounts. Nobody can say where they run.
    fn add_subjects_that_run_anywhere(&self, changers: &Changers, holder: &mut Holder) {
        if self.is_shared && self.wanted.is_some() {
            return;
        }
        let everywhere = changers
            .groups
            .iter()
            .filter(|(group, _)| namespace_of(group).is_none())
            .map(|(group, role)| (format!("Group {group}"), role));
        let outside = changers.outside.iter().map(|(who, role)| (who.clone(), role));
        for (who, role) in outside.chain(everywhere) {
            let value = format!("may change {}, by {role}; where it runs is not known", self.what);
            holder.add(Sign::new(
                Trace::Rights,
                Tells::Possible,
                Strength::Moderate,
                who,
                value,
            ));
        }
    }

    /// Words of the programs that put finalizers on objects of this type, or write their status. A controller under
    /// another name has written its own name to some of them, and perhaps not to this one.
    fn writers_of_siblings(&self, object: &Object, holder: &mut Holder) -> BTreeSet<String> {
        let resource = &object.resource;
        if self.is_shared || self.wanted.is_none() {
            return BTreeSet::new();
        }
        match self.view.list(&resource.group, &resource.plural, "") {
            Ok(all) => {
                let writers: BTreeSet<_> = all.iter().flat_map(writer::controllers).collect();
                writers.iter().flat_map(|name| words(name)).collect()
            }
            Err(missing) => {
                holder.add_missing(&missing);
                BTreeSet::new()
            }
        }
    }

    /// Whether what runs as this account is likely the controller. The controllers of all instances have the same rights,
    /// and so have those of all products that share a type.
    fn is_likely(&self, candidate: &Candidate<'_>) -> bool {
        let is_the_only_one =
            |wanted: &Wanted| self.is_of_one_product && wanted.owns_type() && !wanted.is_of_each_instance();
        candidate.is_likely && !self.is_shared && self.wanted.is_none_or(is_the_only_one)
    }

    /// Adds what runs with the rights of a controller on this type, and is named like it. It is likely the controller, but
    /// this is not certain.
    fn add_named(&self, candidate: &Candidate<'_>, runners: &[&Runner<'a>], holder: &mut Holder) {
        let by = format!("ServiceAccount {}/{}", candidate.namespace, candidate.name);
        let value = format!("may change {}, by {}", self.what, candidate.role);
        holder.add(Sign::new(
            Trace::Rights,
            Tells::Nothing,
            Strength::Moderate,
            by,
            value,
        ));
        for object in without_own_pods(runners) {
            if !object.is("batch", "cronjobs")
                && !is_finished(object)
                && self.is_named_like_controller(object)
            {
                standing::add_standing(object, Strength::Moderate, holder, self.view);
            }
        }
    }

    /// Adds what runs with these rights under any other name.
    fn add_unnamed(&self, candidate: &Candidate<'_>, runners: &[&Runner<'a>], holder: &mut Holder) {
        for object in without_own_pods(runners) {
            let is_named = !object.is("batch", "cronjobs") && self.is_named_like_controller(object);
            if !is_named && !is_finished(object) {
                self.add_possible(object, candidate.role, holder);
            }
        }
    }

    /// Whether the workload has a word of the product, of the type, or of those who write this object.
    fn is_named_like_controller(&self, object: &Object) -> bool {
        let shares = |wanted: &Wanted| wanted.shares_a_word(object);
        bystander::is_named_in_any(&self.names, object) || self.wanted.is_some_and(shares)
    }

    /// Adds what runs with other rights to change the object, and returns whether any of it is another product.
    fn add_unlikely(
        &self,
        candidate: &Candidate<'_>,
        siblings: &BTreeSet<String>,
        runners: &[&Runner<'a>],
        holder: &mut Holder,
    ) -> bool {
        let all = without_own_pods(runners);
        let (possible, others): (Vec<_>, Vec<_>) = all
            .into_iter()
            .filter(|object| !is_finished(object))
            .partition(|object| self.is_candidate(candidate, siblings, object));
        for object in possible {
            self.add_possible(object, candidate.role, holder);
        }
        !others.is_empty()
    }

    /// Whether this may be the controller. `siblings` are words of the programs that write to objects of the type.
    fn is_candidate(&self, candidate: &Candidate<'_>, siblings: &BTreeSet<String>, object: &Object) -> bool {
        match self.wanted {
            None => true,
            Some(wanted) if self.is_shared => wanted.shares_a_word(object),
            Some(wanted) if wanted.is_another_instance(object) => false,
            Some(_) if candidate.is_named || bystander::is_named_in_any(siblings, object) => true,
            Some(wanted) => !wanted.is_another(object, self.view),
        }
    }

    /// Adds what runs in a namespace all of whose accounts have the right.
    fn add_namespace_groups(&self, changers: &Changers, runners: &[Runner<'a>], holder: &mut Holder) {
        for (group, role) in &changers.groups {
            let Some(place) = namespace_of(group) else {
                continue;
            };
            for runner in runners.iter().filter(|one| one.object.namespace() == place) {
                let shares = |wanted: &Wanted| wanted.shares_a_word(runner.object);
                if !is_finished(runner.object) && (!self.is_shared || self.wanted.is_none_or(shares)) {
                    self.add_possible(runner.object, role, holder);
                }
            }
        }
    }

    fn add_possible(&self, object: &Object, role: &str, holder: &mut Holder) {
        // Somebody may switch it on again, as every morning.
        let state = if is_meant_to_run(object) {
            "runs"
        } else {
            "is switched off"
        };
        let value = format!("{state} and may change {}", self.what);
        let mut sign = Sign::new(
            Trace::Rights,
            Tells::Possible,
            Strength::Moderate,
            name_of(object),
            value,
        );
        sign.by_role = Some(role.to_owned());
        holder.add(sign.about(object.reference()));
    }
}

/// The running workloads, without the Pods of a listed workload that has replicas. They tell no more.
fn without_own_pods<'a>(runners: &[&Runner<'a>]) -> Vec<&'a Object> {
    let is_own = |object: &Object| runners.iter().any(|one| is_pod_of(object, one.object));
    let objects = runners.iter().map(|one| one.object);
    objects.filter(|object| !is_own(object)).collect()
}

/// Whether a Pod belongs to this workload, by the name that the workload's controller gives it, and runs the same
/// images.
fn is_pod_of(pod: &Object, workload: &Object) -> bool {
    let is_named = |name: &str| {
        pod.name()
            .strip_prefix(name)
            .is_some_and(|rest| rest.starts_with('-'))
    };
    pod.is("", "pods")
        && !workload.is("", "pods")
        && is_meant_to_run(workload)
        && pod.controller().is_some()
        && is_named(workload.name())
        && PodSpec::of(pod).images().eq(PodSpec::of(workload).images())
}

fn is_finished(object: &Object) -> bool {
    object.is("", "pods") && Pod(object).is_finished()
}

/// Whether a workload has replicas, or a Pod has not ended. What crashes may come back.
pub(super) fn is_meant_to_run(object: &Object) -> bool {
    match &*object.resource.plural {
        "pods" => !is_finished(object),
        "daemonsets" => Workload(object).wanted_nodes() != Some(0),
        "cronjobs" => !Workload(object).is_suspended(),
        _ => Workload(object).replicas() != Some(0),
    }
}
