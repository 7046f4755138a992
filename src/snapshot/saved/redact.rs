//! Hides what tells something about a cluster. A word has the same replacement in the whole file, so that related
//! objects stay related.
//!
//! Hidden are names of objects and namespaces, uids and addresses, and every word that is not known: see
//! [`vocabulary`]. A name is replaced piece by piece, at its hyphens and dots, because names contain names: the claim
//! `data-web-0` of the pod `web-0` stays recognisable. Numbers of up to five digits stay. Names that a diagnosis needs
//! and that tell nothing about a cluster stay too:
//! * types and their schemas;
//! * finalizers, but for the drivers in them;
//! * names that every cluster or the catalogue has, such as the usual names of classes and drivers.

mod mask;
mod texts;
mod vocabulary;

use std::collections::BTreeSet;

use serde_json::Value;

use self::{
    mask::Mask,
    texts::{Role, texts},
    vocabulary::Vocabulary,
};
use super::{Saved, strip};
use crate::object::is_product_group;
use crate::snapshot::{
    driver,
    facts::{Answer, Object, Query},
};

/// Names that many clusters have: those of Kubernetes, and of the classes that providers and installers make.
const COMMON: &[&str] = &[
    "admin",
    "azurefile",
    "cluster-admin",
    "default",
    "do-block-storage",
    "edit",
    "gce",
    "gp2",
    "gp3",
    "hostpath",
    "kube-controller-manager",
    "kube-node-lease",
    "kube-public",
    "kube-scheduler",
    "kube-system",
    "kubernetes",
    "local-path",
    "managed",
    "managed-csi",
    "managed-csi-premium",
    "managed-premium",
    "nginx",
    "premium-rwo",
    "standard",
    "standard-rwo",
    "view",
];
/// Types whose objects are definitions. They are named after types.
const DEFINITIONS: &[&str] = &[
    "apiservices.apiregistration.k8s.io",
    "customresourcedefinitions.apiextensions.k8s.io",
];

/// What the catalogue knows, and so tells nothing about a cluster.
#[derive(Clone, Debug, Default)]
pub struct Public {
    /// Names of controllers and products. They stay, even if objects have them.
    pub names: BTreeSet<String>,
    /// Words of its texts. They stay unless an object has that name.
    pub words: BTreeSet<String>,
    /// Words that name products, in lower case. They stay even as a part of a name: a program that shares a word with a
    /// product may be its controller.
    pub products: BTreeSet<String>,
}

impl Public {
    /// Adds the words in all texts of a document.
    pub fn add_words(&mut self, document: &Value) {
        match document {
            Value::String(text) => {
                let words = text.split(|c: char| !c.is_alphanumeric());
                self.words.extend(words.map(str::to_owned));
            }
            Value::Array(values) => values.iter().for_each(|value| self.add_words(value)),
            Value::Object(fields) => fields.values().for_each(|value| self.add_words(value)),
            _ => {}
        }
    }
}

impl Saved {
    /// The snapshot without what tells something about the cluster.
    #[must_use]
    pub fn redacted(mut self, public: &Public) -> Saved {
        // What is never saved needs no replacement.
        strip::saved(&mut self);
        let (mut names, vocabulary) = (self.public_names(public), self.vocabulary(public));
        let drivers = self.drivers();
        // A driver all of whose words are known tells nothing.
        let is_known = |name: &&String| names.contains(*name) || vocabulary.knows(name);
        let known: Vec<_> = drivers.iter().filter(is_known).collect();
        names.extend(
            known
                .into_iter()
                .flat_map(|name| [name.clone(), driver::plain(name)]),
        );
        let plain = drivers.iter().map(|name| driver::plain(name)).collect();
        let mut mask = Mask::new(names, self.products(public), plain, vocabulary);
        for name in drivers {
            mask.learn(Role::Driver, &name);
        }
        texts(&mut self, &mut |role, text| mask.learn(role, text));
        mask.number();
        texts(&mut self, &mut |role, text| mask.apply(role, text));
        self.head.redacted = true;
        self.head.source = "a server whose address is hidden".into();
        self
    }

    /// Names that stay.
    fn public_names(&self, public: &Public) -> BTreeSet<String> {
        let mut names = public.names.clone();
        names.extend(COMMON.iter().map(|name| (*name).to_owned()));
        for ty in &self.types {
            names.extend([ty.name(), ty.group.clone(), ty.plural.clone(), ty.kind.clone()]);
            names.extend([ty.singular.clone(), format!("{}List", ty.kind)]);
        }
        let read = self.answers.values().flatten().flat_map(objects);
        names.extend(read.flat_map(names_of_type));
        let is_definition = |type_name: &str| DEFINITIONS.contains(&type_name);
        let kept = self.kept.iter().map(|seen| &seen.object);
        let kept = kept.filter(|object| is_definition(&object.type_name));
        names.extend(kept.map(|object| object.name.clone()));
        for (query, answer) in &self.answers {
            match (query, answer) {
                (Query::Object { resource, name, .. }, _) if is_definition(&resource.name()) => {
                    names.insert(name.clone());
                }
                (Query::List { resource, .. }, Ok(Answer::List(objects)))
                    if is_definition(&resource.name()) =>
                {
                    names.extend(objects.iter().map(|object| object.name().to_owned()));
                }
                _ => {}
            }
        }
        names
    }

    /// Words that name products: those of the catalogue, and those of API groups of products, which stay as well.
    fn products(&self, public: &Public) -> BTreeSet<String> {
        let mut products = public.products.clone();
        let read = self.answers.values().flatten().flat_map(objects);
        let groups = self.types.iter().map(|ty| ty.group.as_str());
        let groups = groups.chain(read.map(|object| object.resource.group.as_str()));
        for group in groups.filter(|group| is_product_group(group)) {
            let words = group.split(['.', '-']).filter(|word| word.len() > 2);
            products.extend(words.map(str::to_lowercase));
        }
        products
    }

    /// The drivers that objects name.
    fn drivers(&self) -> BTreeSet<String> {
        let seen = self.kept.iter().filter_map(|seen| seen.driver.as_deref());
        let read = self.answers.values().flatten().flat_map(objects);
        let all = seen.chain(read.flat_map(drivers_in));
        all.filter(|name| !name.is_empty()).map(str::to_owned).collect()
    }

    /// The known words: those of Kubernetes, of the catalogue, and of the schemas of the types.
    fn vocabulary(&self, public: &Public) -> Vocabulary {
        let mut vocabulary = Vocabulary::of_kubernetes();
        public.words.iter().for_each(|word| vocabulary.add(word));
        for ty in &self.types {
            [&ty.group, &ty.plural, &ty.singular, &ty.kind, &ty.version]
                .into_iter()
                .chain(&ty.other_versions)
                .for_each(|word| vocabulary.add(word));
        }
        let answers = self.answers.values().flatten();
        let definitions = answers.flat_map(objects).filter(|object| {
            DEFINITIONS.contains(&object.resource.name().as_str())
                && object.resource.plural.starts_with("custom")
        });
        definitions.for_each(|definition| add_fields(&definition.value, &mut vocabulary));
        vocabulary
    }
}

fn objects(answer: &Answer) -> &[Object] {
    match answer {
        Answer::Object(Some(object)) => std::slice::from_ref(&**object),
        Answer::List(objects) => objects,
        Answer::Owned(owned) => &owned.objects,
        Answer::Object(None) | Answer::Content(_) | Answer::Version(_) => &[],
    }
}

/// The drivers that an object names, or is named after.
fn drivers_in(object: &Object) -> Vec<&str> {
    let registered = object.list("/spec/drivers").iter();
    match object.resource.plural.as_str() {
        "csidrivers" => vec![object.name()],
        "csinodes" => registered.filter_map(|one| one.get("name")?.as_str()).collect(),
        "storageclasses" => vec![object.text("/provisioner")],
        "volumesnapshotclasses" => vec![object.text("/driver")],
        _ if driver::is_named_by(&object.resource.group, &object.kind) => {
            driver::names(&object.value).collect()
        }
        _ => Vec::new(),
    }
}

/// The type of an object, and the type that a definition defines.
fn names_of_type(object: &Object) -> Vec<String> {
    let own = [&object.resource.group, &object.resource.plural, &object.kind];
    let mut names: Vec<_> = own.into_iter().cloned().collect();
    if object.resource.plural == "customresourcedefinitions" {
        let fields = [
            "group",
            "names/plural",
            "names/singular",
            "names/kind",
            "names/listKind",
        ];
        names.extend(fields.map(|field| object.text(&format!("/spec/{field}")).to_owned()));
        let short = object.list("/spec/names/shortNames").iter();
        names.extend(short.filter_map(Value::as_str).map(str::to_owned));
    }
    names
}

/// Adds the names of fields and the enumerations in a schema.
fn add_fields(schema: &Value, vocabulary: &mut Vocabulary) {
    match schema {
        Value::Array(values) => values.iter().for_each(|value| add_fields(value, vocabulary)),
        Value::Object(fields) => {
            if let Some(Value::Object(properties)) = fields.get("properties") {
                properties.keys().for_each(|field| vocabulary.add(field));
            }
            if let Some(Value::Array(words)) = fields.get("enum") {
                words
                    .iter()
                    .filter_map(Value::as_str)
                    .for_each(|word| vocabulary.add(word));
            }
            fields.values().for_each(|value| add_fields(value, vocabulary));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;
