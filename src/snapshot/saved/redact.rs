//! Replaces names. One name has the same replacement in the whole file, so that related objects stay related.
//!
//! Replaced are names of objects and namespaces, uids, handles and hosts, in every field, including messages. A name is
//! replaced piece by piece, at its hyphens and dots, because names contain names: the claim `data-web-0` of the pod
//! `web-0` stays recognisable. Numbers of up to five digits stay. Names that a diagnosis needs and that tell nothing
//! about a cluster stay too:
//! * types, classes, drivers and the Leases of their sidecars;
//! * finalizers;
//! * names that every cluster or the catalogue has.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::Ipv4Addr,
};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{Counted, Saved};
use crate::snapshot::{
    driver::plain,
    facts::{Answer, Query},
};

/// Names that every cluster has.
const COMMON: &[&str] = &[
    "default",
    "interrupted",
    "kube-controller-manager",
    "kube-node-lease",
    "kube-public",
    "kube-scheduler",
    "kube-system",
    "kubernetes",
];
/// Types whose objects are definitions. They are named after products, types and drivers.
const DEFINITIONS: &[&str] = &[
    "apiservices.apiregistration.k8s.io",
    "clusterroles.rbac.authorization.k8s.io",
    "csidrivers.storage.k8s.io",
    "customresourcedefinitions.apiextensions.k8s.io",
    "ingressclasses.networking.k8s.io",
    "storageclasses.storage.k8s.io",
    "volumesnapshotclasses.snapshot.storage.k8s.io",
];
/// Fields that never hold a name to hide.
const KEPT: &[&str] = &[
    "apiVersion",
    "apiVersions",
    "attacher",
    "controllerName",
    "driver",
    "drivers",
    "finalizers",
    "fields",
    "group",
    "ingressClassName",
    "kind",
    "loadBalancerClass",
    "operations",
    "plural",
    "provisioner",
    "reason",
    "resource",
    "snapshotClassName",
    "storageClassName",
    "typeName",
    "type",
    "volumeSnapshotClassName",
];
/// Fields that hold names. Fields whose own name ends in `name` count too.
const NAMING: &[&str] = &[
    "holderIdentity",
    "host",
    "hostIP",
    "hostname",
    "kubernetes.io/hostname",
    "namespace",
    "nodeID",
    "podIP",
    "uid",
    "volumeHandle",
];

impl Saved {
    /// The snapshot with redacted names. `public` are words of the catalogue, which stay. Fails only if a record cannot
    /// be serialized and parsed again.
    pub fn redacted(self, public: &BTreeSet<String>) -> serde_json::Result<Saved> {
        let mask = self.mask(public)?;
        let mut head = mask.applied(self.head)?;
        head.redacted = true;
        head.source = "a server whose address is hidden".into();
        let mut answers = BTreeMap::new();
        for (query, answer) in self.answers {
            answers.insert(mask.applied(query)?, mask.applied(answer)?);
        }
        let mut leftovers = mask.applied(self.leftovers)?;
        if let Some(leftovers) = &mut leftovers {
            let namespaces = std::mem::take(&mut leftovers.in_namespaces.0).into_iter();
            leftovers.in_namespaces.0 = namespaces
                .map(|(name, types)| (mask.text(&name), types))
                .collect();
        }
        let hide_namespaces = |counted: Counted| Counted {
            in_namespaces: counted
                .in_namespaces
                .into_iter()
                .map(|(name, count)| (mask.text(&name), count))
                .collect(),
            ..counted
        };
        Ok(Saved {
            head,
            types: self.types,
            type_gaps: mask.applied(self.type_gaps)?,
            counts: self.counts.into_iter().map(hide_namespaces).collect(),
            gaps: mask.applied(self.gaps)?,
            notes: mask.applied(self.notes)?,
            kept: mask.applied(self.kept)?,
            leftovers,
            answers,
        })
    }

    /// The names to hide.
    fn mask(&self, public: &BTreeSet<String>) -> serde_json::Result<Mask> {
        let mut mask = Mask::default();
        mask.public.extend(public.iter().cloned());
        mask.public.extend(COMMON.iter().map(|name| (*name).to_owned()));
        for ty in &self.types {
            mask.public
                .extend([ty.name(), ty.group.clone(), ty.plural.clone()]);
        }
        mask.drivers.extend(
            self.kept
                .iter()
                .filter_map(|seen| Some(plain(seen.driver.as_ref()?))),
        );
        let is_definition = |type_name: &str| DEFINITIONS.contains(&type_name);
        let kept = self.kept.iter().map(|seen| &seen.object);
        let kept = kept.filter(|object| is_definition(&object.type_name));
        mask.public.extend(kept.map(|object| object.name.clone()));
        for (query, answer) in &self.answers {
            match (query, answer) {
                (Query::Object { resource, name, .. }, _) if is_definition(&resource.name()) => {
                    mask.public.insert(name.clone());
                }
                (Query::List { resource, .. }, Ok(Answer::List(objects)))
                    if is_definition(&resource.name()) =>
                {
                    mask.public
                        .extend(objects.iter().map(|object| object.name().to_owned()));
                }
                _ => {}
            }
        }
        mask.learn(&self.head)?;
        mask.learn(&self.kept)?;
        mask.learn(&self.gaps)?;
        mask.learn(&self.leftovers)?;
        let leftovers = self.leftovers.iter();
        let namespaces = leftovers.flat_map(|leftovers| leftovers.in_namespaces.0.keys());
        namespaces.for_each(|namespace| mask.hide(namespace));
        for namespace in self
            .counts
            .iter()
            .flat_map(|counted| counted.in_namespaces.keys())
        {
            mask.hide(namespace);
        }
        for (query, answer) in &self.answers {
            mask.learn(query)?;
            mask.learn(answer)?;
        }
        mask.name_pieces();
        Ok(mask)
    }
}

#[derive(Default)]
struct Mask {
    public: BTreeSet<String>,
    /// CSI drivers, as they appear in the Lease names of their sidecars. A prefix from the catalogue may precede them.
    drivers: BTreeSet<String>,
    hidden: BTreeSet<String>,
    /// The replacement of each piece of a name.
    pieces: BTreeMap<String, String>,
}

impl Mask {
    fn learn(&mut self, record: &impl Serialize) -> serde_json::Result<()> {
        self.learn_from("", &serde_json::to_value(record)?);
        Ok(())
    }

    fn learn_from(&mut self, key: &str, value: &Value) {
        match value {
            Value::String(text) if is_naming(key) => self.hide(text),
            Value::Array(values) => values.iter().for_each(|value| self.learn_from(key, value)),
            Value::Object(fields) if !is_finalizer(value) => {
                for (key, value) in fields.iter().filter(|(key, _)| !KEPT.contains(&key.as_str())) {
                    self.learn_from(key, value);
                }
            }
            _ => {}
        }
    }

    fn hide(&mut self, text: &str) {
        for name in text.split(|c| !is_of_name(c)) {
            if !name.is_empty() && !is_ordinal(name) && !self.is_public(name) {
                self.hidden.insert(name.to_owned());
            }
        }
    }

    fn is_public(&self, name: &str) -> bool {
        let begins = |driver: &String| name.strip_suffix(driver.as_str());
        self.public.contains(name)
            || self
                .drivers
                .iter()
                .filter_map(begins)
                .any(|rest| rest.is_empty() || self.public.contains(rest))
    }

    /// In alphabetical order, so that the same names get the same replacements.
    fn name_pieces(&mut self) {
        for piece in self.hidden.iter().flat_map(|name| name.split(['-', '.'])) {
            let next = format!("x{}", self.pieces.len() + 1);
            self.pieces.entry(piece.to_owned()).or_insert(next);
        }
    }

    fn applied<T: Serialize + DeserializeOwned>(&self, record: T) -> serde_json::Result<T> {
        let mut value = serde_json::to_value(record)?;
        self.apply(&mut value);
        serde_json::from_value(value)
    }

    fn apply(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.text(text),
            Value::Array(values) => values.iter_mut().for_each(|value| self.apply(value)),
            Value::Object(_) if is_finalizer(value) => {}
            Value::Object(fields) => {
                for (_, value) in fields.iter_mut().filter(|(key, _)| !KEPT.contains(&key.as_str())) {
                    self.apply(value);
                }
            }
            _ => {}
        }
    }

    /// The text with its names replaced.
    fn text(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find(is_of_name) {
            let (between, from) = rest.split_at(start);
            let end = from.find(|c| !is_of_name(c)).unwrap_or(from.len());
            let (word, after) = from.split_at(end);
            // A name may be followed by the full stop of a sentence.
            let name = word.trim_end_matches(['.', '-']);
            out.push_str(between);
            out.push_str(&self.name(name));
            out.push_str(&word[name.len()..]);
            rest = after;
        }
        out + rest
    }

    fn name(&self, name: &str) -> String {
        if self.is_public(name) {
            return name.to_owned();
        }
        if name
            .parse::<Ipv4Addr>()
            .is_ok_and(|address| !address.is_loopback())
        {
            return "192.0.2.1".to_owned();
        }
        let ends = name.match_indices('-').map(|(end, _)| end).chain([name.len()]);
        if ends.into_iter().any(|end| self.hidden.contains(&name[..end])) {
            return self.in_pieces(name);
        }
        // `SERVICE.NAMESPACE.svc`.
        let hosts = name.split('.').map(|part| {
            if self.hidden.contains(part) {
                self.in_pieces(part)
            } else {
                part.to_owned()
            }
        });
        hosts.collect::<Vec<_>>().join(".")
    }

    /// Replaces the pieces of a name. Hyphens, dots and small numbers stay, so that related names stay related.
    fn in_pieces(&self, name: &str) -> String {
        let mut out = String::new();
        for piece in name.split_inclusive(['-', '.']) {
            let bare = piece.trim_end_matches(['-', '.']);
            match self.pieces.get(bare) {
                _ if is_ordinal(bare) => out.push_str(bare),
                Some(replacement) => out.push_str(replacement),
                None => out.push('x'),
            }
            out.push_str(&piece[bare.len()..]);
        }
        out
    }
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_')
}

/// Whether a piece is only an index, such as the `0` of `web-0`.
fn is_ordinal(piece: &str) -> bool {
    piece.len() <= 5 && piece.chars().all(|c| c.is_ascii_digit())
}

fn is_naming(key: &str) -> bool {
    let ends = ["name", "Name", "Namespace", "Names"];
    NAMING.contains(&key) || ends.iter().any(|end| key.ends_with(end))
}

/// Whether this is `{list, name}`, a finalizer: its name is not the name of an object.
fn is_finalizer(value: &Value) -> bool {
    value.get("list").is_some() && value.get("name").is_some()
}

#[cfg(test)]
mod tests {
    use super::{super::tests::example, *};

    #[test]
    fn replaces_names_consistently_and_keeps_other_words() {
        let public = BTreeSet::from(["cert-manager".to_owned()]);
        let mut saved = example();
        saved.notes = vec![
            "pods \"db-0\" in db on node-7, at 10.1.2.3 and token.db.svc:443; cert-manager and data stay."
                .to_owned(),
        ];
        let redacted = saved.clone().redacted(&public).expect("records are JSON");
        assert!(redacted.head.redacted);
        let note = &redacted.notes[0];
        let piece = |text: &str| note.matches(text).count();
        assert!(note.contains("cert-manager and data stay."), "{note}");
        for name in ["db", "node", "token", "10.1"] {
            assert_eq!(piece(name), 0, "{name} in {note}");
        }
        let namespace = redacted.kept[0].object.namespace.clone().expect("a namespace");
        assert!(
            note.contains(&format!("\"{namespace}-0\" in {namespace} on")),
            "{note}"
        );
        assert_eq!(redacted.kept[0].finalizers, saved.kept[0].finalizers);
        assert_eq!(redacted.kept[0].object.type_name, saved.kept[0].object.type_name);
        let counts: u64 = redacted
            .counts
            .iter()
            .flat_map(|counted| counted.in_namespaces.values())
            .sum();
        assert_eq!(counts, 5);
        assert_eq!(redacted.answers.len(), saved.answers.len());
        let again = saved.redacted(&public).expect("records are JSON");
        assert_eq!(again.notes, redacted.notes);
    }
}
