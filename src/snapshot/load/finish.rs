//! Makes the snapshot out of everything that was collected: names the types, settles the time, applies filters, and
//! adds gaps.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    path::PathBuf,
};

use super::{
    Wanted,
    collect::{Collector, Group},
    kinds::{self, NEEDED},
};
use crate::{
    error::Error,
    object::ResourceType,
    snapshot::{Gap, Item, Keep, Namespaces, Snapshot, Tally, TypeRead, What, Why, select::select},
};

/// The name of all files together.
pub fn source_name(paths: &[PathBuf]) -> String {
    let names: Vec<_> = paths
        .iter()
        .map(|path| match path.to_str() {
            Some("-") => "stdin".to_owned(),
            _ => path.display().to_string(),
        })
        .collect();
    names.join(", ")
}

/// The snapshot of a dump, after all files are read.
pub(super) fn snapshot(
    mut collector: Collector<'_>,
    paths: &[PathBuf],
    wanted: &Wanted<'_>,
) -> Result<Snapshot, Error> {
    let groups = types_of_groups(&collector);
    let present = merged(groups.iter().flatten());
    let (selected, notes) = selected(wanted, &present, &collector)?;
    let reads_namespaces = wanted.namespace.is_none()
        && wanted.filter.selector.is_none()
        && selected.iter().any(|ty| ty.is("", "namespaces"));
    let (namespaces, known_namespaces) = match all_namespaces(&collector, &groups) {
        _ if !reads_namespaces => (Namespaces::NotAsked, None),
        Some(names) => (Namespaces::Known, Some(names)),
        None => (Namespaces::Unknown(Why::NotInDump), None),
    };
    let (observed_at, when) = collector.time.observed_at(wanted.now);
    let keep = Keep {
        all: wanted.all,
        crowds: wanted.by_holder,
        filter: wanted.filter.clone(),
        now: observed_at,
        content_of: Some(terminating_namespaces(&collector, &groups)),
        known_namespaces,
    };

    let names: BTreeSet<_> = selected.iter().map(ResourceType::name).collect();
    let mut objects: BTreeMap<String, u64> = BTreeMap::new();
    let mut tally = Tally::default();
    let mut note = |ty: &ResourceType, item: Item<'_>| {
        let other = ty.is("", "namespaces") && wanted.namespace.is_some_and(|name| name != item.name);
        if names.contains(&ty.name()) && !other {
            *objects.entry(ty.name()).or_default() += 1;
            tally.note(ty, item, &keep);
        }
    };
    for (group, ty) in collector.groups.iter().zip(&groups) {
        let Some(ty) = ty else { continue };
        for (namespace, count) in &group.bare {
            for _ in 0..*count {
                let item = Item {
                    namespace: namespace.as_str().into(),
                    ..Item::default()
                };
                note(ty, item);
            }
        }
    }
    for stored in std::mem::take(&mut collector.stored) {
        if let Some(Some(ty)) = groups.get(stored.group) {
            note(ty, stored.item);
        }
    }

    let mut gaps = std::mem::take(&mut collector.gaps);
    gaps.extend(missing_types(wanted, &present, &selected));
    gaps.extend(missing_from_namespace(
        wanted, &collector, &present, &selected, &objects,
    ));
    gaps.sort();
    let mut notes: Vec<_> = std::mem::take(&mut collector.notes)
        .into_iter()
        .chain(notes)
        .collect();
    notes.push(when);
    notes.extend(completeness_notes(wanted, &collector, &present));

    let mut types: Vec<_> = present
        .into_iter()
        .filter(|ty| names.contains(&ty.name()))
        .map(|ty| TypeRead {
            objects: objects.get(&ty.name()).copied().unwrap_or_default(),
            ty,
        })
        .collect();
    types.sort_by_key(|read| read.ty.name());
    Ok(Snapshot {
        observed_at,
        source: source_name(paths),
        server_version: None,
        types,
        tally,
        namespaces,
        only_within: Vec::new(),
        gaps,
        notes,
        interrupted: false,
    })
}

/// The type of each group; none for items whose list never named their kind.
pub(super) fn types_of_groups(collector: &Collector<'_>) -> Vec<Option<ResourceType>> {
    let name = |group: &Group| match group.same_as {
        Some(same) => collector.groups.get(same).and_then(|same| same.name.clone()),
        None => group.name.clone(),
    };
    // All objects of a kind, from whatever list, decide whether it is namespaced.
    let mut in_namespaces = BTreeSet::new();
    for group in &collector.groups {
        if group.in_namespaces {
            in_namespaces.extend(name(group));
        }
    }
    collector
        .groups
        .iter()
        .map(|group| {
            let name = name(group)?;
            let (api_version, kind) = &name;
            let within = in_namespaces.contains(&name);
            Some(kinds::resource_type(
                api_version,
                kind,
                &collector.customs,
                within,
            ))
        })
        .collect()
}

/// Each type once: first the built-in types in the server's order, then the others.
pub(super) fn merged<'a>(types: impl Iterator<Item = &'a ResourceType>) -> Vec<ResourceType> {
    let mut merged: Vec<ResourceType> = Vec::new();
    for ty in types {
        match merged.iter_mut().find(|known| known.is(&ty.group, &ty.plural)) {
            None => merged.push(ty.clone()),
            Some(known) => {
                known.namespaced |= ty.namespaced;
                if known.version != ty.version && !known.other_versions.contains(&ty.version) {
                    known.other_versions.push(ty.version.clone());
                }
            }
        }
    }
    let order: Vec<_> = kinds::built_in().map(|ty| ty.name()).collect();
    merged.sort_by_key(|ty| {
        let name = ty.name();
        (
            order
                .iter()
                .position(|known| *known == name)
                .unwrap_or(usize::MAX),
            name,
        )
    });
    merged
}

/// The selected types, whether the dump has them or not, and notes on the selection.
///
/// Words may name any type that the dump has or defines, or that every cluster has. `scan sc` on a dump without
/// StorageClasses is no mistake of the user: the dump has a gap.
fn selected(
    wanted: &Wanted<'_>,
    present: &[ResourceType],
    collector: &Collector<'_>,
) -> Result<(Vec<ResourceType>, Vec<String>), Error> {
    let defined: Vec<_> = collector
        .customs
        .values()
        .map(|custom| custom.resource_type(""))
        .collect();
    let built_in: Vec<_> = kinds::built_in().collect();
    let all = merged(present.iter().chain(&built_in).chain(&defined));
    let resolve = |words: &[String]| select(words, &all).map_err(|unknown| unknown.error(&[]));
    let excluded = resolve(wanted.exclude)?.types;
    let (mut types, notes) = if wanted.types.is_empty() {
        // For one namespace, cluster-scoped types are left out, except the Namespace itself.
        let in_scope =
            |ty: &ResourceType| wanted.namespace.is_none() || ty.namespaced || ty.is("", "namespaces");
        (all.into_iter().filter(in_scope).collect(), Vec::new())
    } else {
        let selection = resolve(wanted.types)?;
        (selection.types, selection.notes)
    };
    types.retain(|ty| !excluded.iter().any(|excluded| excluded.name() == ty.name()));
    Ok((types, notes))
}

/// Whether the objects of a group are of this type of the core group.
fn is_of(groups: &[Option<ResourceType>], group: usize, plural: &str) -> bool {
    matches!(groups.get(group), Some(Some(ty)) if ty.is("", plural))
}

/// The namespaces that are being deleted.
fn terminating_namespaces(collector: &Collector<'_>, groups: &[Option<ResourceType>]) -> BTreeSet<String> {
    let namespaces = collector
        .stored
        .iter()
        .filter(|stored| stored.item.deletion.is_some() && is_of(groups, stored.group, "namespaces"));
    namespaces
        .map(|stored| stored.item.name.clone().into_owned())
        .collect()
}

/// The namespaces that exist, if the dump has all of them. It does not say so, but every cluster has these two.
fn all_namespaces(collector: &Collector<'_>, groups: &[Option<ResourceType>]) -> Option<HashSet<Box<str>>> {
    let stored = collector
        .stored
        .iter()
        .filter(|stored| is_of(groups, stored.group, "namespaces"));
    let names: HashSet<Box<str>> = stored.map(|stored| stored.item.name.as_ref().into()).collect();
    let is_full = ["default", "kube-system"]
        .iter()
        .all(|name| names.contains(*name));
    is_full.then_some(names)
}

/// The types that the dump has no objects of: all of them if the user named types, otherwise those that a diagnosis
/// needs. Other missing types are no gap: most clusters have no objects of most types, and a dump does not say which
/// types it was made for.
fn missing_types<'a>(
    wanted: &'a Wanted<'_>,
    present: &'a [ResourceType],
    selected: &'a [ResourceType],
) -> impl Iterator<Item = Gap> + 'a {
    let needed = |ty: &ResourceType| NEEDED.iter().any(|(group, plural)| ty.is(group, plural));
    selected
        .iter()
        .filter(move |ty| !wanted.types.is_empty() || needed(ty))
        .filter(move |ty| wanted.namespace.is_none() || !ty.is("", "namespaces"))
        .filter(|ty| !present.iter().any(|known| known.name() == ty.name()))
        .map(|ty| Gap {
            what: What::Type {
                name: ty.name(),
                read: 0,
            },
            why: Why::NotInDump,
        })
}

/// The gaps of the selected namespace: the dump lacks its content, or its Namespace object.
fn missing_from_namespace(
    wanted: &Wanted<'_>,
    collector: &Collector<'_>,
    present: &[ResourceType],
    selected: &[ResourceType],
    objects: &BTreeMap<String, u64>,
) -> Vec<Gap> {
    let Some(namespace) = wanted.namespace else {
        return Vec::new();
    };
    let gap = |what| Gap {
        what,
        why: Why::NotInDump,
    };
    let mut gaps = Vec::new();
    if selected.iter().any(|ty| ty.is("", "namespaces")) && !objects.contains_key("namespaces") {
        gaps.push(gap(What::Namespace(namespace.to_owned())));
    }
    if !collector.namespaces.contains(namespace) {
        // A type without any object in the dump already has its gap.
        let within = selected
            .iter()
            .filter(|ty| ty.namespaced && present.iter().any(|known| known.name() == ty.name()));
        gaps.extend(within.map(|ty| {
            gap(What::TypeIn {
                name: ty.name(),
                namespace: namespace.to_owned(),
                read: 0,
            })
        }));
    }
    gaps
}

/// Notes on what the dump may lack, where that cannot be known.
fn completeness_notes(
    wanted: &Wanted<'_>,
    collector: &Collector<'_>,
    present: &[ResourceType],
) -> Vec<String> {
    let mut notes = Vec::new();
    if collector.repeated > 0 {
        notes.push(format!(
            "{} objects are in the dump more than once and count once; of two copies the one further along in its deletion is used",
            collector.repeated
        ));
    }
    // Every cluster has objects in kube-system and in default, so one namespace alone is rarely all of it.
    if let (None, Some(only), 1) = (
        wanted.namespace,
        collector.namespaces.first(),
        collector.namespaces.len(),
    ) {
        notes.push(format!(
            "everything in this dump that is in a namespace is in {only}: other namespaces were probably not saved"
        ));
    }
    let empty: Vec<_> = collector
        .customs
        .values()
        .map(|custom| custom.resource_type("").name())
        .filter(|name| !present.iter().any(|ty| ty.name() == *name))
        .collect();
    if wanted.types.is_empty() && !empty.is_empty() {
        notes.push(format!(
            "the dump defines {} custom types of which it holds no object: either there are none or they were not saved: {}",
            empty.len(),
            empty.join(", ")
        ));
    }
    notes
}
