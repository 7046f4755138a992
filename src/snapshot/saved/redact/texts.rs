//! Finds every text of a snapshot that may tell something about a cluster.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::super::{Leftovers, Saved};
use crate::{
    object::{ObjectRef, is_product_group},
    snapshot::{
        Gap, Namespaces, Seen, What, Why,
        facts::{Answer, By, Content, Object, Query, Where},
        storage_leftovers::{LeftoverList, Unread},
    },
};

/// A field that Kubernetes defines, and whose value stays whole: a number.
pub(super) const KEPT: &str = "resourceVersion";
/// A field whose values are finalizers. They stay, but for the names of drivers in them.
pub(super) const FINALIZERS: &str = "finalizers";
/// Fields that Kubernetes defines, and that name a driver. A custom resource may give such a field any meaning.
pub(super) const OF_DRIVERS: &[&str] = &["attacher", "driver", "provisioner"];
/// A field with all that is in it: the schema of a type.
const SCHEMA: &str = "openAPIV3Schema";
/// Which fields a program wrote. Of these names, only finalizers and the types of conditions are saved.
const WRITTEN: &str = "fieldsV1";
/// Maps whose keys the author of the object chooses.
pub(super) const FREE: &[&str] = &[
    "annotations",
    "labels",
    "matchLabels",
    "nodeSelector",
    "parameters",
    "selector",
    "volumeAttributes",
];
/// Annotations that name a driver.
const DRIVERS: &[&str] = &[
    "pv.kubernetes.io/migrated-to",
    "pv.kubernetes.io/provisioned-by",
    "volume.beta.kubernetes.io/storage-provisioner",
    "volume.kubernetes.io/storage-provisioner",
];
/// Fields that hold names. Fields whose own name ends in `name` count too.
const NAMING: &[&str] = &[
    "holderIdentity",
    "host",
    "hostIP",
    "hostname",
    "kubernetes.io/hostname",
    "loadBalancerClass",
    "machineID",
    "namespace",
    "nodeID",
    "podIP",
    "providerID",
    "systemUUID",
    "uid",
    "volume.beta.kubernetes.io/storage-class",
    "volumeHandle",
];

/// What a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A name: hidden unless it is public.
    Name,
    /// A value or a message: unknown words are hidden.
    Text,
    /// The name of a field or label: hidden if it is unknown.
    Key,
    /// The name of a driver: hidden unless it is public.
    Driver,
    /// A finalizer: the driver in it is hidden, unless that is public.
    Finalizer,
}

type See<'f> = &'f mut dyn FnMut(Role, &mut String);

/// Calls `see` for each text.
pub(super) fn texts(saved: &mut Saved, see: See<'_>) {
    saved
        .head
        .namespace
        .iter_mut()
        .for_each(|name| see(Role::Name, name));
    see(Role::Name, &mut saved.head.default_namespace);
    for a_gap in saved.type_gaps.iter_mut().chain(&mut saved.gaps) {
        gap(a_gap, see);
    }
    for counted in &mut saved.counts {
        names_in_keys(&mut counted.in_namespaces, see);
    }
    saved.notes.iter_mut().for_each(|note| see(Role::Text, note));
    saved.kept.iter_mut().for_each(|one| seen(one, see));
    saved.leftovers.iter_mut().for_each(|all| leftovers(all, see));
    saved.answers = std::mem::take(&mut saved.answers)
        .into_iter()
        .map(|(mut question, mut answer)| {
            query(&mut question, see);
            match &mut answer {
                Ok(answer) => answered(answer, see),
                Err(reason) => why(reason, see),
            }
            (question, answer)
        })
        .collect();
}

fn names_in_keys<T>(map: &mut BTreeMap<String, T>, see: See<'_>) {
    *map = std::mem::take(map)
        .into_iter()
        .map(|(mut name, value)| {
            see(Role::Name, &mut name);
            (name, value)
        })
        .collect();
}

fn gap(gap: &mut Gap, see: See<'_>) {
    match &mut gap.what {
        What::TypeOutside { read_in, .. } => read_in.iter_mut().for_each(|name| see(Role::Name, name)),
        What::TypeIn { namespace, .. } | What::Namespace(namespace) => see(Role::Name, namespace),
        What::File { path, .. } => see(Role::Text, path),
        What::Discovery
        | What::CoreGroup
        | What::Groups
        | What::GroupVersion { .. }
        | What::Type { .. }
        | What::Namespaces
        // The project of a catalogue entry.
        | What::Controller(_)
        | What::Version => {}
    }
    why(&mut gap.why, see);
}

fn why(why: &mut Why, see: See<'_>) {
    match why {
        Why::Forbidden(text)
        | Why::Unauthorized(text)
        | Why::Unavailable(text)
        | Why::ApiServiceUnavailable { says: text, .. }
        | Why::Throttled(text)
        | Why::ServerError(text)
        | Why::Undecodable(text)
        | Why::Connection(text)
        | Why::OutOfSight(text) => see(Role::Text, text),
        Why::TimedOut(_) | Why::MetadataOnlyRefused | Why::Vanished | Why::NotInDump | Why::Interrupted => {}
    }
}

fn reference(object: &mut ObjectRef, see: See<'_>) {
    let names = object
        .namespace
        .iter_mut()
        .chain([&mut object.name, &mut object.uid]);
    names.for_each(|name| see(Role::Name, name));
}

fn seen(seen: &mut Seen, see: See<'_>) {
    reference(&mut seen.object, see);
    seen.driver
        .iter_mut()
        .for_each(|driver| see(Role::Driver, driver));
    for finalizer in &mut seen.finalizers {
        see(Role::Finalizer, &mut finalizer.name);
    }
    for condition in &mut seen.conditions {
        see(Role::Text, &mut condition.kind);
        see(Role::Text, &mut condition.status);
        see(Role::Text, &mut condition.reason);
        see(Role::Text, &mut condition.message);
    }
}

fn leftovers(leftovers: &mut Leftovers, see: See<'_>) {
    if let Namespaces::Unknown(reason) = &mut leftovers.namespaces {
        why(reason, see);
    }
    names_in_keys(&mut leftovers.in_namespaces.0, see);
    for count in leftovers
        .in_namespaces
        .0
        .values_mut()
        .flat_map(BTreeMap::values_mut)
    {
        let objects = count.first.iter_mut().chain(&mut count.held);
        objects.for_each(|object| reference(object, see));
    }
    let storage = &mut leftovers.storage;
    unread(&mut storage.volumes, see);
    unread(&mut storage.attachments, see);
    for unreclaimed in &mut storage.volumes.kept {
        object(&mut unreclaimed.volume, see);
        unreclaimed
            .attached
            .iter_mut()
            .flatten()
            .for_each(|one| object(one, see));
    }
    storage
        .attachments
        .kept
        .iter_mut()
        .for_each(|one| object(one, see));
}

fn unread<T>(list: &mut LeftoverList<T>, see: See<'_>) {
    if let Some(Unread::Fault(reason)) = &mut list.unread {
        why(reason, see);
    }
}

fn query(query: &mut Query, see: See<'_>) {
    match query {
        Query::Object { namespace, name, .. } => {
            namespace
                .iter_mut()
                .chain([name])
                .for_each(|name| see(Role::Name, name));
        }
        Query::Events { namespace, name, .. } => {
            namespace
                .iter_mut()
                .chain([name])
                .for_each(|name| see(Role::Name, name));
        }
        Query::List { namespace, .. } => namespace.iter_mut().for_each(|name| see(Role::Name, name)),
        Query::Search { namespace, by, .. } => {
            if let Some(name) = namespace {
                see(Role::Name, name);
            }
            match by {
                By::Name(name) | By::Node(name) => see(Role::Name, name),
                By::Labels(labels) => selector(labels, see),
                By::Held => {}
            }
        }
        Query::Content { namespace: name } | Query::Owned(Where::Namespace(name) | Where::Owner(name)) => {
            see(Role::Name, name);
        }
        Query::Version => {}
    }
}

/// A label selector. Keys of labels are keys here as well, and their order stays alphabetical.
fn selector(text: &mut String, see: See<'_>) {
    let mut depth = 0_usize;
    let mut requirements: Vec<String> = text
        .split(|c: char| {
            match c {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            c == ',' && depth == 0
        })
        .map(str::to_owned)
        .collect();
    let is_sorted = requirements.is_sorted();
    for requirement in &mut requirements {
        let is_of_key = |c: char| c.is_alphanumeric() || "-._/".contains(c);
        let start = requirement.find(is_of_key).unwrap_or(0);
        let end = requirement
            .get(start..)
            .and_then(|key| key.find(|c| !is_of_key(c)));
        let mut values =
            requirement.split_off(end.map_or(requirement.len(), |end| start.saturating_add(end)));
        see(Role::Key, requirement);
        see(Role::Text, &mut values);
        requirement.push_str(&values);
    }
    if is_sorted {
        requirements.sort();
    }
    *text = requirements.join(",");
}

fn answered(answer: &mut Answer, see: See<'_>) {
    match answer {
        Answer::Object(found) => found.iter_mut().for_each(|one| object(one, see)),
        Answer::List(objects) => objects.iter_mut().for_each(|one| object(one, see)),
        Answer::Content(content) => {
            let Content { kept, gaps, .. } = &mut **content;
            for one in kept {
                seen(one, see);
            }
            for one in gaps {
                gap(one, see);
            }
        }
        Answer::Owned(owned) => {
            owned.objects.iter_mut().for_each(|one| object(one, see));
            owned.gaps.iter_mut().for_each(|one| gap(one, see));
        }
        Answer::Version(version) => see(Role::Text, version),
    }
}

fn object(object: &mut Object, see: See<'_>) {
    let is_product = is_product_group(&object.resource.group);
    let Value::Object(fields) = &mut object.value else {
        return field("", false, &mut object.value, see);
    };
    for_each_field(fields, see, |name, value, see| match name {
        "apiVersion" | "kind" => {}
        "metadata" => field(name, true, value, see),
        _ => field(name, !is_product, value, see),
    });
}

/// Calls `see` for each text in the value of a field.
fn field(name: &str, is_defined: bool, value: &mut Value, see: See<'_>) {
    match value {
        Value::String(text) => see(role(name, is_defined), text),
        Value::Array(values) => values
            .iter_mut()
            .for_each(|value| field(name, is_defined, value, see)),
        Value::Object(fields) => {
            let are_defined = is_defined && !FREE.contains(&name);
            for_each_field(fields, see, |key, value, see| match (key, value) {
                (SCHEMA, Value::Object(_)) if are_defined => {}
                (KEPT, Value::String(number))
                    if are_defined && number.bytes().all(|c| c.is_ascii_digit()) => {}
                (WRITTEN, value) if are_defined => written(value, see),
                // The drivers of a CSINode.
                ("name", Value::String(driver)) if are_defined && name == "drivers" => {
                    see(Role::Driver, driver);
                }
                (_, Value::String(driver)) if name == "annotations" && DRIVERS.contains(&key) => {
                    see(Role::Driver, driver);
                }
                (_, value) => field(key, are_defined, value, see),
            });
        }
        _ => {}
    }
}

/// What the text of a field is.
fn role(name: &str, is_defined: bool) -> Role {
    match name {
        FINALIZERS if is_defined => Role::Finalizer,
        _ if is_defined && OF_DRIVERS.contains(&name) => Role::Driver,
        _ if is_naming(name) => Role::Name,
        _ => Role::Text,
    }
}

/// Calls `see` for the fields that a program wrote.
fn written(fields: &mut Value, see: See<'_>) {
    let all = match fields {
        Value::Object(all) => all,
        // The API server writes only objects.
        Value::String(text) => return see(Role::Text, text),
        _ => return,
    };
    let renamed = std::mem::take(all).into_iter().map(|(mut key, mut value)| {
        let is_path = ["f:", "k:", "v:", "."].iter().any(|begin| key.starts_with(begin));
        see(if is_path { Role::Finalizer } else { Role::Key }, &mut key);
        written(&mut value, see);
        (key, value)
    });
    *all = renamed.collect();
}

/// Calls `each` for each field, and `see` for its name.
fn for_each_field(
    fields: &mut Map<String, Value>,
    see: See<'_>,
    mut each: impl FnMut(&str, &mut Value, See<'_>),
) {
    let all = std::mem::take(fields).into_iter().map(|(mut key, mut value)| {
        each(&key, &mut value, see);
        see(Role::Key, &mut key);
        (key, value)
    });
    *fields = all.collect();
}

fn is_naming(key: &str) -> bool {
    let ends = ["name", "Name", "Namespace", "Names"];
    NAMING.contains(&key) || ends.iter().any(|end| key.ends_with(end))
}
