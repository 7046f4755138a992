//! Controllers that are to be deleted.
//!
//! The catalogue names the entries whose controller a workload may be, by its name and labels.

use std::collections::BTreeSet;

use crate::{
    command::Command,
    diagnose::{
        holder,
        impact::Impact,
        model::Safety,
        view::{Missing, View},
    },
    knowledge::{Entry, Filter, List},
    object::{is_product_group, join_group},
    snapshot::facts::Object,
};

/// Workloads of one namespace that are deleted together.
pub(crate) struct Workloads<'a> {
    pub(crate) all: Vec<&'a Object>,
    /// The namespace, if it is deleted with everything in it.
    pub(crate) home: Option<String>,
}

impl<'a> Workloads<'a> {
    /// This workload alone.
    pub(crate) fn one(workload: &'a Object) -> Self {
        Workloads {
            all: vec![workload],
            home: None,
        }
    }

    /// All workloads of a namespace.
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

    /// All entries that `is_one` selects for one of these workloads.
    pub(crate) fn entries(&self, view: &View<'_>, is_one: fn(&Entry, &Object) -> bool) -> Vec<Entry> {
        let entries = view.once("all entries of the catalogue", || {
            view.knowledge.catalog(&Filter::default())
        });
        let ours =
            |entry: &&Entry| entry.list == List::Metadata && self.all.iter().any(|one| is_one(entry, one));
        entries.iter().filter(ours).cloned().collect()
    }

    /// Adds the last step: to delete the types of the product, once none of their objects is left.
    pub(crate) fn add_type_deletion(&self, impact: &mut Impact, view: &View<'_>) {
        let entries = self.entries(view, holder::could_be_holder);
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
            impact.add_step(
                Safety::Destructive,
                "DATA LOSS: delete its types last, if nobody else uses them; whatever is left of them goes too",
                Command::of("kubectl delete crd", []).arguments(types),
            );
        }
    }
}
