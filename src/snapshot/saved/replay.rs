//! Scans a snapshot. It selects types, namespace and objects as a scan of the cluster does.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::{Counted, Saved};
use crate::{
    error::Error,
    object::ResourceType,
    snapshot::{
        Gap, Item, Keep, NamespaceLeftovers, NamespaceOnly, Namespaces, Seen, Snapshot, Tally, TypeRead,
        Wanted, What, Why,
        leftovers::missing_namespace_note,
        select::{Choice, mentions},
    },
};

impl Saved {
    /// What a scan would have found when the snapshot was taken.
    pub fn snapshot(&self, wanted: &Wanted<'_>) -> Result<Snapshot, Error> {
        if wanted.filter.selector.is_some() {
            return Err(Error::Usage {
                message: "--selector: a snapshot does not hold the labels of objects".into(),
                hint: Some(
                    "use it on the cluster, or on what kubectl get --all-namespaces -o yaml printed".into(),
                ),
            });
        }
        let namespace = wanted.namespace.or(self.head.namespace.as_deref());
        let choice = Choice {
            types: wanted.types,
            exclude: wanted.exclude,
            in_one_namespace: namespace.is_some(),
        };
        let chosen = choice.of(&self.types, &self.type_gaps, |word| word)?;
        let (mut gaps, mut notes) = (self.gaps_of(wanted, &chosen.types, namespace), chosen.notes);
        let terminating = self.kept.iter().filter(|seen| {
            seen.deletion.is_some()
                && seen.object.type_name == "namespaces"
                && namespace.is_none_or(|name| name == seen.object.name)
        });
        let keep = Keep {
            all: wanted.all,
            crowds: wanted.by_holder,
            filter: wanted.filter.clone(),
            now: self.head.observed_at,
            content_of: Some(terminating.map(|seen| seen.object.name.clone()).collect()),
            known_namespaces: self.known_namespaces(),
        };
        let mut kept: BTreeMap<&str, Vec<&Seen>> = BTreeMap::new();
        for seen in &self.kept {
            kept.entry(&seen.object.type_name).or_default().push(seen);
        }
        let mut tally = Tally::default();
        let mut types = Vec::new();
        let chosen = chosen.types;
        for ty in &chosen {
            let name = ty.name();
            let Some(counted) = self.counts.iter().find(|counted| counted.ty.name() == name) else {
                let known = |gap: &Gap| matches!(&gap.what, What::Type { name: of, .. } if *of == name);
                if gaps.iter().any(known) {
                    continue;
                }
                gaps.push(Gap {
                    what: What::Type { name, read: 0 },
                    why: Why::NotInDump,
                });
                continue;
            };
            let kept = kept.get(&*name).map_or(&[][..], Vec::as_slice);
            let before = tally.objects;
            note(counted, kept, namespace, &keep, &mut tally);
            types.push(TypeRead {
                ty: ty.clone(),
                objects: tally.objects - before,
            });
        }
        if wanted.filter.finalizers.is_empty() && wanted.filter.older_than.is_none() {
            self.name_leftovers(&mut tally.leftovers);
        }
        gaps.sort();
        gaps.dedup();
        types.sort_by_key(|read| read.ty.name());
        notes.extend(self.notes.iter().cloned());
        if let Some(name) = namespace
            && self.is_missing(name)
        {
            notes.push(missing_namespace_note(name, tally.objects));
        }
        Ok(Snapshot {
            observed_at: self.head.observed_at,
            source: self.head.source.clone(),
            server_version: self.server_version(),
            namespaces: self.namespaces(&chosen, namespace),
            only_within: self.only_within(&chosen, namespace),
            types,
            tally,
            gaps,
            notes,
            interrupted: self.head.interrupted,
        })
    }

    /// The namespaces that existed, out of all namespaces that had objects.
    fn known_namespaces(&self) -> Option<HashSet<Box<str>>> {
        let leftovers = self.leftovers.as_ref()?;
        let names = self
            .counts
            .iter()
            .flat_map(|counted| counted.in_namespaces.keys());
        (leftovers.namespaces == Namespaces::Known).then(|| {
            names
                .filter(|name| !leftovers.in_namespaces.0.contains_key(*name))
                .map(|name| name.as_str().into())
                .collect()
        })
    }

    /// Whether every Namespace is known to a scan of these types.
    fn namespaces(&self, chosen: &[ResourceType], namespace: Option<&str>) -> Namespaces {
        if !chosen.iter().any(|ty| ty.is("", "namespaces")) {
            return Namespaces::NotAsked;
        }
        let elsewhere = self.is_elsewhere(namespace);
        match &self.leftovers {
            Some(leftovers) if !elsewhere => leftovers.namespaces.clone(),
            _ => Namespaces::Unknown(Why::NotInDump),
        }
    }

    /// Whether the namespace did not exist. A file of one namespace says so itself, in a note.
    fn is_missing(&self, name: &str) -> bool {
        let Some(leftovers) = &self.leftovers else {
            return false;
        };
        let named = || {
            let namespaces = self.kept.iter().map(|seen| &seen.object);
            namespaces.filter(|object| object.type_name == "namespaces")
        };
        let read = self.counts.iter().find(|counted| counted.ty.is("", "namespaces"));
        // A Namespace without finalizers is not in the file. If some are missing, the name may be one of them.
        let all_named = read.is_some_and(|counted| counted.objects == named().count() as u64);
        self.head.namespace.is_none()
            && leftovers.namespaces == Namespaces::Known
            && (leftovers.in_namespaces.0.contains_key(name)
                || all_named && !named().any(|object| object.name == name))
    }

    /// The types that were listed only in the namespaces that existed, out of `chosen`.
    fn only_within(&self, chosen: &[ResourceType], namespace: Option<&str>) -> Vec<String> {
        let names: BTreeSet<_> = chosen.iter().map(ResourceType::name).collect();
        let all = self.leftovers.iter().flat_map(|leftovers| &leftovers.only_within);
        all.filter(|name| namespace.is_none() && names.contains(*name))
            .cloned()
            .collect()
    }

    /// Adds the names that the file saved: the other objects are counted without names.
    fn name_leftovers(&self, counted: &mut NamespaceLeftovers) {
        let Some(leftovers) = &self.leftovers else { return };
        for (namespace, types) in &mut counted.0 {
            for (name, objects) in types {
                if let Some(saved) = leftovers
                    .in_namespaces
                    .0
                    .get(namespace)
                    .and_then(|types| types.get(name))
                {
                    objects.first.clone_from(&saved.first);
                    objects.held.clone_from(&saved.held);
                }
            }
        }
    }

    /// Whether the file is about another namespace, and so knows nothing about this one.
    fn is_elsewhere(&self, namespace: Option<&str>) -> bool {
        matches!((&self.head.namespace, namespace), (Some(read), Some(wanted)) if read != wanted)
    }

    /// The gaps of the scan that concern what is asked for now.
    fn gaps_of(&self, wanted: &Wanted<'_>, chosen: &[ResourceType], namespace: Option<&str>) -> Vec<Gap> {
        let chosen: BTreeSet<_> = chosen.iter().map(ResourceType::name).collect();
        if self.is_elsewhere(namespace) {
            let types = chosen.into_iter().map(|name| What::TypeIn {
                name,
                namespace: namespace.unwrap_or_default().to_owned(),
                read: 0,
            });
            return types
                .map(|what| Gap {
                    what,
                    why: Why::NotInDump,
                })
                .collect();
        }
        let inside = |name: &str| namespace.is_none_or(|wanted| wanted == name);
        let concerns = |gap: &&Gap| match &gap.what {
            What::Type { name, .. } => chosen.contains(name),
            What::TypeIn {
                name, namespace: of, ..
            } => chosen.contains(name) && inside(of),
            What::TypeOutside { name, read_in } => {
                chosen.contains(name)
                    && !namespace.is_some_and(|wanted| read_in.iter().any(|read| read == wanted))
            }
            What::Namespaces => chosen.contains("namespaces"),
            What::Namespace(name) => inside(name),
            What::GroupVersion { types, .. } => {
                wanted.types.is_empty() || types.iter().any(|name| mentions(wanted.types, name))
            }
            What::Discovery
            | What::CoreGroup
            | What::Groups
            | What::File { .. }
            | What::Controller(_)
            | What::Version => true,
        };
        self.gaps.iter().filter(concerns).cloned().collect()
    }
}

/// Counts the objects of one type again: the kept ones, and as many others as there were.
fn note(counted: &Counted, kept: &[&Seen], namespace: Option<&str>, keep: &Keep, tally: &mut Tally) {
    let ty = &counted.ty;
    let mut rest = counted.in_namespaces.clone();
    let mut outside = counted
        .objects
        .saturating_sub(rest.values().copied().sum::<u64>());
    for seen in kept {
        let count = match &seen.object.namespace {
            Some(namespace) => rest.get_mut(namespace),
            None => Some(&mut outside),
        };
        if let Some(count) = count {
            *count = count.saturating_sub(1);
        }
        if is_in(seen, namespace) {
            tally.note(ty, item(seen), keep);
        }
    }
    let bare = rest
        .iter()
        .filter(|(name, _)| namespace.is_none_or(|wanted| wanted == *name))
        .map(|(name, count)| (&**name, *count))
        .chain((namespace.is_none() || !ty.namespaced && !ty.is("", "namespaces")).then_some(("", outside)));
    for (namespace, count) in bare {
        tally.note_bare(ty, namespace, count, keep);
    }
}

fn is_in(seen: &Seen, namespace: Option<&str>) -> bool {
    let Some(wanted) = namespace else { return true };
    match &seen.object.namespace {
        Some(namespace) => namespace == wanted,
        None => seen.object.type_name != "namespaces" || seen.object.name == wanted,
    }
}

fn item(seen: &Seen) -> Item<'_> {
    let names = |list| seen.in_list(list);
    let object = &seen.object;
    Item {
        namespace: object.namespace.as_deref().unwrap_or_default().into(),
        name: object.name.as_str().into(),
        uid: object.uid.as_str().into(),
        created: seen.created,
        deletion: seen.deletion.map(|deletion| deletion.timestamp),
        grace_seconds: seen.deletion.map(|deletion| deletion.grace_seconds),
        finalizers: names(crate::object::List::Metadata).map(Into::into).collect(),
        namespace_only: (object.type_name == "namespaces").then(|| {
            Box::new(NamespaceOnly {
                finalizers: names(crate::object::List::Spec).map(str::to_owned).collect(),
                conditions: seen.conditions.clone(),
            })
        }),
        driver: seen.driver.clone(),
    }
}
