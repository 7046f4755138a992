//! The words that name a product, in its own texts and in the labels of its workloads.

use std::collections::BTreeSet;

use super::Entry;

/// Words that any product may use. A label of them alone, such as kubebuilder's
/// `control-plane=controller-manager`, names none.
const GENERAL: [&str; 58] = [
    "addon",
    "addons",
    "admission",
    "agent",
    "and",
    "api",
    "app",
    "apps",
    "application",
    "cleanup",
    "client",
    "cloud",
    "cluster",
    "clusters",
    "com",
    "component",
    "config",
    "control",
    "controller",
    "controllers",
    "core",
    "data",
    "default",
    "dev",
    "driver",
    "for",
    "helm",
    "hub",
    "infra",
    "infrastructure",
    "instance",
    "io",
    "k8s",
    "kube",
    "kubernetes",
    "manager",
    "name",
    "net",
    "node",
    "operator",
    "operators",
    "org",
    "plane",
    "platform",
    "plugin",
    "pod",
    "project",
    "provider",
    "resource",
    "resources",
    "scheduler",
    "server",
    "service",
    "services",
    "sigs",
    "system",
    "the",
    "webhook",
];

/// The shortest word that names something.
const SHORTEST: usize = 3;

/// The words of a text that are not general, in lower case.
pub fn words(text: &str) -> BTreeSet<String> {
    text.to_lowercase()
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| word.len() >= SHORTEST && !GENERAL.contains(word))
        .map(str::to_owned)
        .collect()
}

/// Whether a name has a word that is neither general nor one of these.
pub(super) fn is_telling(name: &str, shared: &[&str]) -> bool {
    name.split(|c: char| !c.is_ascii_alphanumeric())
        .any(|word| word.len() > 1 && !GENERAL.contains(&word) && !shared.contains(&word))
}

/// The words that name the product of an entry: those of the project and its part, of the domain of the finalizer,
/// of the groups of its types, and those that its holder is known as.
pub fn product_words(entry: &Entry) -> BTreeSet<String> {
    let domain = entry.name.split('/').next().unwrap_or_default();
    let groups = entry.kinds.iter().map(super::KindPattern::group);
    let own_groups = entry.holder.api_groups.iter().map(String::as_str);
    [entry.project.as_str(), domain]
        .into_iter()
        .chain(entry.part_of.as_deref())
        .chain(groups)
        .chain(own_groups)
        .flat_map(words)
        .chain(joined(&entry.project))
        .chain(entry.holder.known_as.iter().map(|name| name.to_lowercase()))
        .collect()
}

/// A name of general words, such as `Cluster API`, as labels have it: `cluster-api`.
fn joined(project: &str) -> Option<String> {
    let joined = project.to_lowercase().replace(' ', "-");
    project.contains(' ').then_some(joined)
}
