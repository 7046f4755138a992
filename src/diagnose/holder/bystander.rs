//! Tells whether a program that may change every object is another product than the one that is looked for.
//!
//! Argo CD may change every object, and is not cert-manager. A program is a bystander only if it is recognised as
//! another product: by what the catalogue knows of the workloads of that product, or by the image or chart of a product
//! that is known to have such rights. A name proves nothing, as anybody may give it. A program that shares a word with
//! the product is never a bystander.

use std::collections::BTreeSet;

use crate::{
    diagnose::{
        holder::{
            could_be_holder, is_of_each_instance, pod_template::images, workload::labels_of_instance, writer,
        },
        kinds::{PodSpec, Workload},
        view::View,
    },
    knowledge::{
        Entry,
        schema::{self, glob},
    },
    object::Finalizer,
    snapshot::facts::Object,
};

/// The product that is looked for.
pub(super) struct Wanted {
    project: String,
    /// The words that name it.
    words: BTreeSet<String>,
    /// Whether the type of the object belongs to it, as far as the entry says which types do.
    owns_type: bool,
    /// Whether it is one of many drivers, which all have the same rights.
    is_driver: bool,
    /// Where each instance of the product has its own controller: its labels for the instance of the object. None where
    /// the object does not name its instance.
    instance: Option<Vec<(String, String)>>,
    /// Whether each instance of the product has its own controller.
    is_of_each_instance: bool,
}

fn has_any(text: &str, words: &BTreeSet<String>) -> bool {
    let text = text.to_lowercase();
    words.iter().any(|word| text.contains(word.as_str()))
}

/// Whether the names, labels, images or the account of a workload or Pod have one of these words.
pub(super) fn is_named_in_any(words: &BTreeSet<String>, object: &Object) -> bool {
    has_any(&texts(object).join(" "), words)
}

impl Wanted {
    /// The product of an entry. The program that put the finalizer on is named like it, too.
    pub(super) fn of(entry: &Entry, object: &Object, finalizer: &Finalizer) -> Self {
        let holder = &entry.holder;
        let names = holder
            .workloads
            .iter()
            .filter_map(|workload| workload.name.as_ref())
            .chain(holder.service_accounts.iter())
            .chain(holder.managers.iter());
        let mut words = schema::product_words(entry);
        words.extend(names.flat_map(|name| schema::words(name)));
        for (author, _) in writer::authors(object, finalizer) {
            if !writer::is_tool_on(object, &author) {
                words.extend(schema::words(&author));
            }
        }
        Wanted {
            project: entry.project.clone(),
            words,
            owns_type: {
                let groups = &holder.api_groups;
                groups.is_empty() || groups.iter().any(|group| glob(group, &object.resource.group))
            },
            is_driver: false,
            instance: labels_of_instance(entry, object),
            is_of_each_instance: is_of_each_instance(entry),
        }
    }

    /// A driver whose sidecar holds the object. The sidecars of all drivers have the same names, and several drivers
    /// have the same domain, so the first word of its name must do.
    pub(super) fn of_driver(entry: &Entry, driver: &str) -> Self {
        let first = driver
            .split('.')
            .flat_map(schema::words)
            .find(|word| word != "csi");
        Wanted {
            project: entry.project.clone(),
            words: first.into_iter().collect(),
            owns_type: true,
            is_driver: true,
            instance: None,
            is_of_each_instance: false,
        }
    }

    /// Whether it is one of many drivers.
    pub(super) fn is_driver(&self) -> bool {
        self.is_driver
    }

    /// Whether the type of the object belongs to it, as far as is known. Programs of other products change it, too.
    pub(super) fn owns_type(&self) -> bool {
        self.owns_type
    }

    /// Whether each instance of the product has its own controller.
    pub(super) fn is_of_each_instance(&self) -> bool {
        self.is_of_each_instance
    }

    /// Whether a workload or Pod belongs to another instance of the product than the object.
    pub(super) fn is_another_instance(&self, object: &Object) -> bool {
        let labels = [object.labels(), Workload(object).pod_labels()];
        let differs = |(label, value): &(String, String)| {
            labels
                .iter()
                .any(|all| all.get(label).is_some_and(|other| other != value))
        };
        self.instance.iter().flatten().any(differs)
    }

    /// Whether a text has a word of the product.
    pub(super) fn is_named_in(&self, text: &str) -> bool {
        has_any(text, &self.words)
    }

    /// Whether the names, labels, images or the account of a workload or Pod have a word of the product.
    pub(super) fn shares_a_word(&self, object: &Object) -> bool {
        is_named_in_any(&self.words, object)
    }

    /// Whether the workload or Pod is recognised as another product.
    pub(super) fn is_another(&self, object: &Object, view: &View<'_>) -> bool {
        if self.shares_a_word(object) {
            return false;
        }
        // The same program may change many objects of a scan.
        let question = format!(
            "{} is of another project than {}",
            object.reference().in_words(),
            self.project
        );
        *view.once(&question, || {
            self.is_described_elsewhere(object, view) || is_known_deployer(object, view)
        })
    }

    /// Whether the catalogue describes the workload as the controller of another product.
    fn is_described_elsewhere(&self, object: &Object, view: &View<'_>) -> bool {
        let entries = || view.knowledge.all();
        let is_described = |entry: &&Entry| could_be_holder(entry, object);
        entries()
            .filter(is_described)
            .any(|entry| entry.project != self.project)
            && !entries()
                .filter(|entry| entry.project == self.project)
                .any(|entry| is_described(&entry))
    }
}

/// Whether the image or the chart is one of a product that usually may change every object.
fn is_known_deployer(object: &Object, view: &View<'_>) -> bool {
    let images = images(object);
    let chart = chart(object);
    view.knowledge.deployers().iter().any(|product| {
        let is_chart = chart
            .as_deref()
            .is_some_and(|chart| product.charts.iter().any(|known| known == chart));
        let is_image = |image: &str| {
            product.images.iter().any(|known| {
                image
                    .strip_suffix(known.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
            })
        };
        is_chart || images.iter().any(|image| is_image(image))
    })
}

/// The name of the Helm chart: the label has its version behind it.
fn chart(object: &Object) -> Option<String> {
    let labels = object.labels();
    let (name, version) = labels.get("helm.sh/chart")?.rsplit_once('-')?;
    version
        .starts_with(|c: char| c.is_ascii_digit() || c == 'v')
        .then(|| name.to_owned())
}

/// Everything in a workload or Pod that may name its product.
fn texts(object: &Object) -> Vec<String> {
    let mut texts = vec![object.name().to_owned(), object.namespace().to_owned()];
    texts.extend(images(object));
    let spec = PodSpec::of(object);
    texts.push(spec.service_account().to_owned());
    texts.extend(spec.container_names().map(str::to_owned));
    for (key, value) in object.labels() {
        texts.extend([key, value]);
    }
    texts
}
