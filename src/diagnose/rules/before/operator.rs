//! A controller that is to be deleted, and what only it can let go.
//!
//! **Recognises** Deployments, StatefulSets and DaemonSets, one or all of a namespace, that the catalogue takes for
//! whoever removes a finalizer. **Why:** most stuck deletions are of custom resources whose controller was uninstalled
//! first. **Wants** the metadata of the types that may have its finalizers, and for each finalizer that is found its
//! holder, looked for as for a stuck object: who is taken for the holder there is taken for it here. **Concludes** `stuck`
//! for what nobody else that runs would remove. **Advises** the order: the objects while it runs, then what the API server
//! calls, then the controller, its types last.

use std::collections::BTreeSet;

use super::{
    Before, backends,
    holders::{self, count},
    references,
};
use crate::{
    diagnose::{
        holder::{self, Tells, Trace},
        model::{Fate, Safety},
        view::{Missing, View},
    },
    knowledge::{Entry, GroupKind, List},
    object::{ObjectRef, ResourceType, join_group},
    snapshot::{
        facts::{By, Object},
        selector::Selector,
    },
};

/// Some workloads of one namespace that go together.
pub(super) struct Workloads<'a> {
    all: Vec<&'a Object>,
    /// The namespace, where all of it goes.
    home: Option<String>,
}

pub(super) fn look(workload: &Object, before: &mut Before, view: &View<'_>) {
    let found = Workloads {
        all: vec![workload],
        home: None,
    };
    // Asked together, so that they are read together.
    let services = view.list("", "services", workload.namespace());
    found.look(before, view);
    match services {
        Ok(services) => {
            let answers: BTreeSet<_> = services
                .iter()
                .filter(|service| selects(service, workload))
                .map(Object::name)
                .collect();
            let is_ours =
                |namespace: &str, name: &str| namespace == workload.namespace() && answers.contains(name);
            backends::look(&is_ours, before, view);
        }
        Err(missing) => before.unknown("which Services lead to it, and who calls them", &missing),
    }
    let installed = match holder::installer(workload) {
        Some(installer) => format!(", better with what installed it: {installer}"),
        None => String::new(),
    };
    if !before.effects.is_empty() {
        before.then(
            Safety::Reversible,
            format!("then delete it{installed}"),
            format!(
                "kubectl -n {} delete {} {}",
                workload.namespace(),
                workload.resource.name(),
                workload.name()
            ),
        );
    }
    found.types_last(before, view);
}

/// Whether a Service leads to the pods of a workload.
fn selects(service: &Object, workload: &Object) -> bool {
    let selector = service.value.pointer("/spec/selector");
    let pairs: Vec<_> = selector
        .and_then(serde_json::Value::as_object)
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| Some(format!("{key}={}", value.as_str()?)))
        .collect();
    let labels = holder::labels(workload, "/spec/template/metadata/labels");
    !pairs.is_empty() && Selector::parse(&pairs.join(",")).is_ok_and(|selector| selector.matches(&labels))
}

impl<'a> Workloads<'a> {
    /// All of a namespace.
    pub(super) fn of(namespace: &str, view: &View<'a>) -> Result<Self, Missing> {
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

    /// The entries of finalizers that one of these may remove.
    fn entries(&self, view: &View<'_>) -> Vec<Entry> {
        if self.all.is_empty() {
            return Vec::new();
        }
        let entries = view.once("all entries of the catalogue", || {
            view.knowledge.catalog(&crate::knowledge::Filter::default())
        });
        let ours = |entry: &&Entry| {
            entry.list == List::Metadata && self.all.iter().any(|one| holder::may_be(entry, one))
        };
        entries.iter().filter(ours).cloned().collect()
    }

    /// What only these would let go, outside the namespace that goes with them.
    pub(super) fn look(&self, before: &mut Before, view: &View<'_>) {
        let entries = self.entries(view);
        let mut types = BTreeSet::new();
        for entry in &entries {
            // Of any type at all: that many lists are a scan.
            if entry.kinds.iter().any(|kind| kind.group() == "*") {
                before.say(
                    Fate::Unknown,
                    format!(
                        "which objects have {} is not known: it may stand on any type; kubectl finalizers scan --finalizer '{}'",
                        entry.name, entry.name
                    ),
                    [],
                );
                continue;
            }
            types.extend(
                view.types()
                    .iter()
                    .filter(|ty| is_about(entry, ty))
                    .map(|ty| (&ty.group, &ty.plural)),
            );
        }
        // Asked together, so that they are read together.
        let lists: Vec<_> = types
            .into_iter()
            .map(|(group, plural)| {
                (
                    join_group(plural, group),
                    view.search(group, plural, "", By::Held),
                )
            })
            .collect();
        for (type_name, list) in lists {
            match list {
                Ok(objects) => self.held(objects, &entries, before, view),
                Err(missing) => {
                    before.unknown(
                        &format!("which {type_name} wait for it when they are deleted"),
                        &missing,
                    );
                }
            }
        }
    }

    fn held(&self, objects: &[Object], entries: &[Entry], before: &mut Before, view: &View<'_>) {
        let elsewhere = objects
            .iter()
            .filter(|object| self.home.as_deref() != Some(object.namespace()));
        for ((type_name, finalizer), objects) in holders::groups(elsewhere) {
            let Some(first) = objects.first() else { continue };
            let reference = first.reference();
            let entry = view
                .knowledge
                .lookup(&finalizer.name, finalizer.list, Some((&reference).into()));
            if !entry.is_some_and(|entry| entries.contains(&entry)) {
                continue;
            }
            let holder = holders::of(first, &finalizer, view);
            if holder.pending {
                continue;
            }
            let is_one = |workload: &ObjectRef| self.all.iter().any(|one| one.reference() == *workload);
            let found = holder
                .signs
                .iter()
                .filter(|sign| sign.trace == Trace::Workload && sign.tells != Tells::Nothing)
                .filter_map(|sign| sign.object.as_ref())
                .any(is_one);
            let others: Vec<_> = holders::running(&holder)
                .into_iter()
                .filter(|workload| !is_one(workload))
                .map(|other| {
                    format!(
                        "{} {}/{}",
                        other.kind,
                        other.namespace.as_deref().unwrap_or_default(),
                        other.name
                    )
                })
                .collect();
            let says = count(&objects, &type_name, &finalizer);
            let (fate, more) = match (found, others.is_empty(), holder.unseen.is_empty()) {
                (_, false, _) => (
                    Fate::Kept,
                    format!("{} runs too and may remove that", others.join(", ")),
                ),
                (true, true, true) => (Fate::Stuck, "Nobody else that was found removes that".to_owned()),
                (_, true, false) => (
                    Fate::Unknown,
                    format!(
                        "Whether anybody else removes that is not known: {}",
                        holder.unseen.join("; ")
                    ),
                ),
                (false, true, true) => continue,
            };
            before.say(
                fate,
                format!("{says}. {more}"),
                references(objects.iter().copied()),
            );
            if fate == Fate::Stuck {
                before.then(
                    Safety::Destructive,
                    format!(
                        "DATA LOSS: delete the {type_name}, with what they stand for, while their controller runs; this waits \
                         until they are gone"
                    ),
                    format!("kubectl delete {type_name} --all{}", if first.namespace().is_empty() { "" } else { " --all-namespaces" }),
                );
            }
        }
    }

    /// The types of its product, once nothing of them is left.
    fn types_last(&self, before: &mut Before, view: &View<'_>) {
        let entries = self.entries(view);
        let groups: BTreeSet<_> = entries
            .iter()
            .flat_map(|entry| &entry.holder.api_groups)
            .collect();
        let types: Vec<_> = view
            .types()
            .iter()
            .filter(|ty| groups.contains(&ty.group))
            .map(ResourceType::name)
            .collect();
        if !types.is_empty() && !before.steps.is_empty() {
            before.then(
                Safety::Destructive,
                "DATA LOSS: delete its types last, if nobody else uses them; whatever is left of them goes too",
                format!("kubectl delete crd {}", types.join(" ")),
            );
        }
    }
}

fn is_about(entry: &Entry, ty: &ResourceType) -> bool {
    entry.is_about(GroupKind {
        group: &ty.group,
        kind: &ty.kind,
    })
}
