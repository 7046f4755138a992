//! Controllers that are to go, and the objects whose finalizers only they remove.
//!
//! Which finalizers that may be, the catalogue says of whoever has their names and labels, and RBAC of whoever may change
//! the objects of a custom type. Whether it is so, the search for the holder of each says, the same as for a stuck
//! object: who is taken for the holder there is taken for it here.

use std::collections::BTreeSet;

use crate::{
    diagnose::{
        holder,
        holder::Reach,
        impact::{Impact, snapshot_controller, waiting_objects::held},
        limits,
        model::{Fate, Safety},
        view::{Missing, View},
    },
    knowledge::{Entry, Filter, GroupKind, List},
    object::{ResourceType, is_product_group, join_group},
    snapshot::facts::{By, Object, Resource},
};

/// Some workloads of one namespace that go together.
pub(crate) struct Workloads<'a> {
    pub(crate) all: Vec<&'a Object>,
    /// The namespace, where all of it goes.
    pub(crate) home: Option<String>,
}

impl<'a> Workloads<'a> {
    /// This one alone.
    pub(crate) fn one(workload: &'a Object) -> Self {
        Workloads {
            all: vec![workload],
            home: None,
        }
    }

    /// All of a namespace.
    pub(crate) fn of(namespace: &str, view: &View<'a>) -> Result<Self, Missing> {
        let lists =
            ["deployments", "statefulsets", "daemonsets"].map(|plural| view.list("apps", plural, namespace));
        let mut all = Vec::new();
        for list in lists {
            all.extend(list?);
        }
        Ok(Workloads {
            all,
            home: Some(namespace.to_owned()),
        })
    }

    /// All entries that `is_one` picks for one of these.
    fn entries(&self, view: &View<'_>, is_one: fn(&Entry, &Object) -> bool) -> Vec<Entry> {
        let entries = view.once("all entries of the catalogue", || {
            view.knowledge.catalog(&Filter::default())
        });
        let ours =
            |entry: &&Entry| entry.list == List::Metadata && self.all.iter().any(|one| is_one(entry, one));
        entries.iter().filter(ours).cloned().collect()
    }

    /// What only these would let go, outside the namespace that goes with them.
    pub(crate) fn look(&self, impact: &mut Impact, view: &View<'_>) {
        if self.all.is_empty() {
            return;
        }
        self.sidecars(impact, view);
        let entries = self.entries(view, holder::may_be);
        let (everywhere, placed): (Vec<_>, Vec<_>) = entries
            .into_iter()
            .partition(|entry| entry.kinds.iter().any(|kind| kind.group() == "*"));
        for entry in everywhere {
            let name = entry.name;
            let says = format!(
                "which objects have {name} is not known, as it may stand on any type: see kubectl finalizers scan --finalizer \
                 '{name}'"
            );
            impact.say(Fate::Unknown, says, []);
        }
        let is_about = |ty: &&ResourceType| {
            let kind = GroupKind {
                group: &ty.group,
                kind: &ty.kind,
            };
            placed.iter().any(|entry| entry.is_about(kind))
        };
        let mut types: BTreeSet<_> = view
            .types()
            .iter()
            .filter(is_about)
            .map(|ty| Resource::new(&ty.group, &ty.plural))
            .collect();
        match holder::reach(&self.all, view) {
            Ok(reach) => types.extend(granted(reach, impact)),
            Err(missing) => impact.unknown(
                "whether finalizers that the catalogue does not know wait for it",
                &missing,
            ),
        }
        // Asked together, so that they are read together.
        let lists: Vec<_> = types
            .iter()
            .map(|ty| (ty.name(), view.search(&ty.group, &ty.plural, "", By::Held)))
            .collect();
        let mut stuck = Vec::new();
        for (type_name, list) in lists {
            match list {
                Ok(objects) => stuck.extend(held(self, objects, &placed, impact, view)),
                Err(missing) => impact.unknown(
                    &format!("which {type_name} wait for it when they are deleted"),
                    &missing,
                ),
            }
        }
        snapshot_controller::add_waiting_contents(&stuck, impact, view);
    }

    /// Sidecars of a driver, whose volumes and snapshots wait for them.
    fn sidecars(&self, impact: &mut Impact, view: &View<'_>) {
        let entries = self.entries(view, |entry, one| holder::sidecar(entry, one).is_some());
        let named: BTreeSet<_> = entries
            .iter()
            .flat_map(|entry| self.all.iter().filter_map(|one| holder::sidecar(entry, one)))
            .collect();
        if !named.is_empty() {
            let named: Vec<_> = named.into_iter().collect();
            let says = format!(
                "which volumes, attachments and snapshots wait for {} is not known: those of its driver, whose name no field \
                 of it tells",
                named.join(", ")
            );
            impact.say(Fate::Unknown, says, []);
        }
    }

    /// The types of its product, once nothing of them is left.
    pub(crate) fn types_last(&self, impact: &mut Impact, view: &View<'_>) {
        let entries = self.entries(view, holder::may_be);
        let groups: BTreeSet<_> = entries
            .iter()
            .flat_map(|entry| &entry.holder.api_groups)
            .collect();
        let types: Vec<_> = view
            .types()
            .iter()
            .filter(|ty| groups.contains(&ty.group) && is_product_group(&ty.group))
            .map(|ty| join_group(&ty.plural, &ty.group))
            .collect();
        if !types.is_empty() {
            impact.then(
                Safety::Destructive,
                "DATA LOSS: delete its types last, if nobody else uses them; whatever is left of them goes too",
                format!("kubectl delete crd {}", types.join(" ")),
            );
        }
    }
}

/// The types of which a controller may change the objects.
fn granted(reach: Reach, impact: &mut Impact) -> BTreeSet<Resource> {
    if let Some(role) = reach.everything {
        let says = format!("which finalizers wait for it is not known: by {role} it may change every object");
        impact.say(Fate::Unknown, says, []);
    }
    if reach.types.len() > limits::TYPES_OF_ONE_CONTROLLER {
        let says = "which finalizers wait for it is not known: it may change too many types to look at each";
        impact.say(Fate::Unknown, says, []);
        return BTreeSet::new();
    }
    reach.types
}
