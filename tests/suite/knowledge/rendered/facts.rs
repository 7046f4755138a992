//! What an entry says about its controller, fact by fact, and what of it is among rendered objects.

use std::{collections::BTreeSet, fmt};

use kubectl_finalizers::{
    diagnose::holder::could_be_holder,
    knowledge::{Entry, WorkloadDescription, schema::glob},
    snapshot::facts::Object,
};
use serde_json::Value;

/// One fact about a controller.
pub enum Fact {
    Workload(WorkloadDescription),
    Lease(String),
    Account(String),
    Webhook(String),
    ApiService(String),
    Group(String),
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fact::Workload(one) => {
                write!(f, "{:?}", one.kind)?;
                for part in [&one.name, &one.container, &one.selector].into_iter().flatten() {
                    write!(f, " {part}")?;
                }
                for image in &one.images {
                    write!(f, " {image}")?;
                }
                Ok(())
            }
            Fact::Lease(name) => write!(f, "Lease {name}"),
            Fact::Account(name) => write!(f, "ServiceAccount {name}"),
            Fact::Webhook(name) => write!(f, "webhook {name}"),
            Fact::ApiService(name) => write!(f, "APIService {name}"),
            Fact::Group(name) => write!(f, "group {name}"),
        }
    }
}

/// All facts of an entry.
pub fn of(entry: &Entry) -> Vec<Fact> {
    let holder = &entry.holder;
    let names =
        |names: &[String], fact: fn(String) -> Fact| names.iter().cloned().map(fact).collect::<Vec<_>>();
    let mut facts: Vec<_> = holder.workloads.iter().cloned().map(Fact::Workload).collect();
    facts.extend(holder.leases.iter().map(|lease| Fact::Lease(lease.name.clone())));
    facts.extend(names(&holder.service_accounts, Fact::Account));
    facts.extend(names(&holder.webhooks, Fact::Webhook));
    facts.extend(names(&holder.api_services, Fact::ApiService));
    facts.extend(names(&holder.api_groups, Fact::Group));
    facts
}

impl Fact {
    /// The objects that this fact recognises, each as `Kind/name`.
    pub fn fits(&self, entry: &Entry, objects: &[Object]) -> BTreeSet<String> {
        let fits = |object: &&Object| match self {
            Fact::Workload(one) => {
                let mut only = entry.clone();
                only.holder.workloads = vec![one.clone()];
                could_be_holder(&only, object)
            }
            Fact::Lease(name) => {
                let is_lease = object.kind == "Lease" && glob(name, object.name());
                is_lease || election_words(object).iter().any(|word| glob(name, word))
            }
            Fact::Account(name) => object.kind == "ServiceAccount" && glob(name, object.name()),
            Fact::Webhook(name) => object.kind.ends_with("WebhookConfiguration") && glob(name, object.name()),
            Fact::ApiService(name) => object.kind == "APIService" && glob(name, object.name()),
            Fact::Group(name) => groups(object).contains(&name.as_str()),
        };
        let found = objects.iter().filter(fits);
        found
            .map(|object| format!("{}/{}", object.kind, object.name()))
            .collect()
    }

    /// The text by which the source of a program has this name, if it is one that programs have and charts need not render.
    pub fn in_code(&self) -> Option<&str> {
        match self {
            Fact::Lease(name) | Fact::Webhook(name) => {
                let longest = |left: &&str, right: &&str| left.len().cmp(&right.len());
                name.split(['*', '{', '}'])
                    .filter(|part| *part != "driver")
                    .max_by(longest)
            }
            _ => None,
        }
    }
}

/// The groups of a CRD, or of a role's rules: some products install their CRDs apart.
fn groups(object: &Object) -> Vec<&str> {
    if object.kind == "CustomResourceDefinition" {
        return vec![object.text("/spec/group")];
    }
    texts(object.list("/rules"), "apiGroups")
}

fn texts<'a>(items: &'a [Value], key: &str) -> Vec<&'a str> {
    let lists = items.iter().filter_map(|item| item[key].as_array());
    lists.flatten().filter_map(Value::as_str).collect()
}

/// The words that may name a Lease: which objects a role may change, and the arguments and settings of a program.
fn election_words(object: &Object) -> BTreeSet<String> {
    let mut found: BTreeSet<String> = BTreeSet::new();
    let rules = object.list("/rules").iter().filter(|rule| {
        let of = rule["resources"].as_array().into_iter().flatten();
        of.filter_map(Value::as_str)
            .any(|name| matches!(name, "leases" | "configmaps" | "endpoints"))
    });
    for rule in rules {
        found.extend(
            texts(std::slice::from_ref(rule), "resourceNames")
                .into_iter()
                .map(str::to_owned),
        );
    }
    let containers = object.list("/spec/template/spec/containers");
    let mut settings = texts(containers, "args");
    settings.extend(texts(containers, "command"));
    let variables = containers
        .iter()
        .filter_map(|one| one["env"].as_array())
        .flatten();
    settings.extend(variables.filter_map(|variable| variable["value"].as_str()));
    if object.kind == "ConfigMap" {
        let data = object.value["data"].as_object().into_iter().flatten();
        settings.extend(data.filter_map(|(_, value)| value.as_str()));
    }
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || ".-_".contains(c);
    for text in settings {
        let words = text.split(|c| !is_of_name(c)).filter(|word| !word.is_empty());
        found.extend(words.map(str::to_owned));
    }
    found
}
