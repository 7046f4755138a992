//! What the words of a command line name: objects, or for `explain` also finalizers.
//!
//! Objects and finalizers both contain a slash, so the form alone is not enough. An exact name of the catalogue is a
//! finalizer. A word without a dot before the slash means an object (`pv/x`, `gadget/x`), because the first part of a
//! finalizer is a domain. `TYPE NAME` with a known type is an object. Where `TYPE.GROUP/NAME` could be either, the
//! cluster decides by its types.

use crate::knowledge::{Knowledge, paste};

/// One thing to explain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A finalizer, by the given name.
    Finalizer(String),
    /// An object.
    Object {
        /// The given type.
        resource: String,
        /// The given name.
        name: String,
    },
    /// Only a type.
    Type(String),
    /// Objects if the cluster has their type, otherwise finalizers.
    Open {
        /// The objects, each by its type and name.
        objects: Vec<(String, String)>,
        /// The same words as finalizers.
        finalizers: Vec<String>,
    },
}

/// The objects that the words name, for verbs that take nothing else: `TYPE/NAME…` or `TYPE[,TYPE…] NAME…`. The error
/// is the word that names none.
pub(super) fn objects(words: &[String]) -> Result<Vec<(String, String)>, String> {
    if let [types, names @ ..] = words
        && !names.is_empty()
        && words.iter().all(|word| is_plain(word) && !word.contains('/'))
    {
        return Ok(of_types(types, names));
    }
    words
        .iter()
        .flat_map(|word| word.split(','))
        .filter(|word| !word.is_empty())
        .map(|word| {
            let (resource, name) = word.split_once('/').ok_or(word)?;
            Ok((resource.to_owned(), name.to_owned()))
        })
        .collect::<Result<_, &str>>()
        .map_err(str::to_owned)
}

/// The targets of `explain`, each once. Finalizers have no namespace, so with `-n`, `TYPE.GROUP/NAME` is an object
/// even if the catalogue does not know the type.
pub fn explained(words: &[String], knowledge: &Knowledge, in_namespace: bool) -> Vec<Target> {
    if let [types, names @ ..] = words
        && !names.is_empty()
        && words.iter().all(|word| is_plain(word) && !word.contains('/'))
        && let Some(targets) = type_and_names(types, names, knowledge)
    {
        return targets;
    }
    // Arguments that are plain names are interpreted one by one, so that none gets lost among others that
    // look more like names. Anything else is a text that the shell split.
    let typed = words.iter().all(|word| is_plain(word));
    let names = if typed {
        let mut names = Vec::new();
        for name in words
            .iter()
            .flat_map(|word| word.split(','))
            .flat_map(paste::names)
        {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    } else {
        paste::names(&words.join(" "))
    };
    names
        .into_iter()
        .map(|name| one(name, knowledge, in_namespace, typed))
        .collect()
}

/// The targets if the first word can name the types of the others.
fn type_and_names(types: &str, names: &[String], knowledge: &Knowledge) -> Option<Vec<Target>> {
    let objects = || {
        of_types(types, names)
            .into_iter()
            .map(|(resource, name)| Target::Object { resource, name })
            .collect()
    };
    let each = |fits: &dyn Fn(&str) -> bool| types.split(',').filter(|word| !word.is_empty()).all(fits);
    if each(&|word| knowledge.has_kind(word) && !knowledge.is_exact(word)) {
        return Some(objects());
    }
    let is_finalizer = |word: &str| is_certain(word, knowledge);
    if is_finalizer(types) || names.iter().any(|name| is_finalizer(name)) {
        return None;
    }
    // An unknown type: no finalizer has that form, or the names are no domains.
    if each(&|word| is_label(word)) || !names.iter().any(|name| name.contains('.')) {
        return Some(objects());
    }
    let finalizers = std::iter::once(types.to_owned()).chain(names.iter().cloned());
    Some(vec![Target::Open {
        objects: of_types(types, names),
        finalizers: finalizers.collect(),
    }])
}

fn one(word: String, knowledge: &Knowledge, in_namespace: bool, typed: bool) -> Target {
    let Some((resource, name)) = word.split_once('/') else {
        let is_type = knowledge.has_kind(&word) && !is_certain(&word, knowledge);
        return if is_type {
            Target::Type(word)
        } else {
            Target::Finalizer(word)
        };
    };
    let is_known = knowledge.has_kind(resource);
    if knowledge.is_exact(&word) || name.contains('/') && !is_known {
        return Target::Finalizer(word);
    }
    let has_domain = resource.contains('.');
    let is_certain = is_certain(&word, knowledge);
    let suggestive = suggests_finalizer(name);
    if !is_certain
        && !suggestive
        && (is_known || (in_namespace && has_domain) || (typed && is_label(resource)))
    {
        return Target::Object {
            resource: resource.to_owned(),
            name: name.to_owned(),
        };
    }
    let may_be_object = is_known || (has_domain && !suggestive && !suggests_finalizer(resource));
    if typed && may_be_object && is_object_name(name) {
        return Target::Open {
            objects: vec![(resource.to_owned(), name.to_owned())],
            finalizers: vec![word],
        };
    }
    Target::Finalizer(word)
}

fn of_types(types: &str, names: &[String]) -> Vec<(String, String)> {
    types
        .split(',')
        .filter(|resource| !resource.is_empty())
        .flat_map(|resource| names.iter().map(move |name| (resource.to_owned(), name.clone())))
        .collect()
}

/// Whether the word has none of the punctuation around names in lists and manifests. Names of roles may contain a colon.
fn is_plain(word: &str) -> bool {
    let punctuation = |c: char| c.is_whitespace() || "[]{}()\"'`“”‘’;=".contains(c);
    word != "-" && !word.ends_with(':') && !word.contains(punctuation)
}

/// Whether the word has the form of a type name and is not a domain.
fn is_label(word: &str) -> bool {
    let inside = |c: char| c.is_ascii_alphanumeric() || c == '-';
    word.starts_with(|c: char| c.is_ascii_alphabetic()) && word.chars().all(inside)
}

/// Whether nearly every type accepts it as a name. Names of roles may be others, and their types are known.
fn is_object_name(name: &str) -> bool {
    name.chars()
        .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.:".contains(c))
}

fn is_certain(word: &str, knowledge: &Knowledge) -> bool {
    knowledge.recognise(word).is_some_and(|found| found.certain)
}

/// Whether the name itself suggests a finalizer.
fn suggests_finalizer(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["finali", "protection", "cleanup", "clean-up"]
        .iter()
        .any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    fn asked(given: &[&str]) -> Vec<Target> {
        explained(&words(given), &Knowledge::builtin(), false)
    }

    fn one_object(resource: &str, name: &str) -> Vec<Target> {
        vec![Target::Object {
            resource: resource.into(),
            name: name.into(),
        }]
    }

    fn finalizers(names: &[&str]) -> Vec<Target> {
        names
            .iter()
            .map(|name| Target::Finalizer((*name).to_owned()))
            .collect()
    }

    fn open(resource: &str, name: &str, finalizers: &[&str]) -> Vec<Target> {
        vec![Target::Open {
            objects: vec![(resource.to_owned(), name.to_owned())],
            finalizers: words(finalizers),
        }]
    }

    #[test]
    fn tells_objects_from_finalizers() {
        for (word, resource, name) in [
            ("pv/x", "pv", "x"),
            ("deployments.apps/web", "deployments.apps", "web"),
            ("deployment.v1.apps/web", "deployment.v1.apps", "web"),
            ("challenge/api", "challenge", "api"),
            (
                "challenges.acme.cert-manager.io/x",
                "challenges.acme.cert-manager.io",
                "x",
            ),
            ("gadget/x", "gadget", "x"),
            ("clusterrole/system:node", "clusterrole", "system:node"),
        ] {
            assert_eq!(asked(&[word]), one_object(resource, name), "{word}");
        }
        for (resource, name) in [
            ("pod", "web-1"),
            ("widgets.example.com", "x"),
            ("crd", "widgets.example.com"),
            ("gadgets", "x.y"),
            ("role", "a:b"),
            // A name that is also a word of the catalogue.
            ("ns", "opensearch"),
            ("ns", "kubernetes"),
            ("cephclusters.ceph.rook.io", "rook-ceph"),
        ] {
            assert_eq!(
                asked(&[resource, name]),
                one_object(resource, name),
                "{resource} {name}"
            );
        }
        assert_eq!(asked(&["pvc", "a", "b"]).len(), 2);
        assert_eq!(
            asked(&["pvc,gadgets", "x"]),
            [one_object("pvc", "x"), one_object("gadgets", "x")].concat()
        );
        assert_eq!(
            asked(&["pvc/a", "deployment.v1.apps/b"]),
            [one_object("pvc", "a"), one_object("deployment.v1.apps", "b")].concat()
        );
        assert_eq!(asked(&["pvc"]), [Target::Type("pvc".into())]);
        for name in [
            "acme.cert-manager.io/finalizer",
            "external-attacher/ebs-csi-aws-com",
            "finalizers.wafv2.services.k8s.aws/WebACL",
            "something/finalizer",
            "kubernetes",
            "no-such-word",
        ] {
            assert_eq!(asked(&[name]), finalizers(&[name]), "{name}");
        }
    }

    #[test]
    fn the_cluster_decides_about_a_domain_and_a_name() {
        for (resource, name) in [
            ("widgets.example.com", "x"),
            ("providerconfigs.helm.crossplane.io", "pc1"),
            ("gizmos.kamaji.clastix.io", "g"),
            ("providerconfigs.v1beta1.helm.crossplane.io", "pc1"),
            // The name looks like a finalizer, and the type is known.
            ("pod", "cleanup-1"),
        ] {
            let word = format!("{resource}/{name}");
            assert_eq!(asked(&[&word]), open(resource, name, &[&word]), "{word}");
        }
        assert_eq!(
            asked(&["widgets.example.com", "a.example.com"]),
            open(
                "widgets.example.com",
                "a.example.com",
                &["widgets.example.com", "a.example.com"]
            )
        );
    }

    #[test]
    fn accepts_an_unknown_type_if_a_namespace_is_given() {
        let in_namespace = |word: &str| explained(&words(&[word]), &Knowledge::builtin(), true);
        assert_eq!(
            in_namespace("widgets.example.com/x"),
            one_object("widgets.example.com", "x")
        );
        for name in ["acme.cert-manager.io/finalizer", "widgets.example.com/finalizer"] {
            assert_eq!(in_namespace(name), finalizers(&[name]), "{name}");
        }
    }

    #[test]
    fn accepts_single_names_and_texts_that_the_shell_split() {
        let both = finalizers(&["orphan", "kubernetes.io/pv-protection"]);
        assert_eq!(asked(&["orphan", "kubernetes.io/pv-protection"]), both);
        assert_eq!(asked(&["orphan,kubernetes.io/pv-protection,"]), both);
        assert_eq!(asked(&["[orphan", "kubernetes.io/pv-protection]"]), both);
        assert_eq!(
            asked(&["finalizers:", "-", "orphan", "-", "kubernetes.io/pv-protection"]),
            both
        );
        assert_eq!(
            asked(&["mything", "kubernetes.io/pv-protection", "mything"]),
            finalizers(&["mything", "kubernetes.io/pv-protection"])
        );
        assert_eq!(asked(&["[my/own]"]), finalizers(&["my/own"]));
        assert_eq!(asked(&["[]"]), []);
    }

    #[test]
    fn other_verbs_take_objects_only() {
        let taken = |given: &[&str]| objects(&words(given));
        let one = |resource: &str, name: &str| Ok(vec![(resource.to_owned(), name.to_owned())]);
        assert_eq!(
            taken(&["acme.cert-manager.io/finalizer"]),
            one("acme.cert-manager.io", "finalizer")
        );
        assert_eq!(taken(&["pvc", "opensearch"]), one("pvc", "opensearch"));
        assert_eq!(taken(&["role", "a:b"]), one("role", "a:b"));
        assert_eq!(
            taken(&["pvc/a,pv/b", "pod/c"]).map(|objects| objects.len()),
            Ok(3)
        );
        assert_eq!(taken(&["pvc"]), Err("pvc".to_owned()));
        assert_eq!(taken(&["pvc/a", "b"]), Err("b".to_owned()));
    }
}
