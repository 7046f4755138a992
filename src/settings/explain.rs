//! The settings of `explain`: which arguments name finalizers, and which name an object.
//!
//! Both contain a slash, so the form alone is not enough. A name in the catalogue is a finalizer. A word
//! without a dot before the slash means an object (`pv/x`, `gadget/x`), because the first part of a finalizer
//! is a domain. A type with a group means an object if the name follows as a separate word
//! (`widgets.example.com x`), or with `-n`. Everything else with a domain in front
//! (`acme.cert-manager.io/finalizer`) is a finalizer.

use std::path::PathBuf;

use super::{Connection, without_server};
use crate::{
    cli::{ConnectionArgs, ExplainArgs, Format},
    command::RunFlags,
    error::Error,
    knowledge::{Knowledge, paste},
};

/// The settings of `explain`.
#[derive(Clone, Debug)]
pub struct Explain {
    /// What to explain.
    pub asked: Asked,
    /// The namespace of the objects.
    pub place: NamespaceChoice,
    /// Files to read instead of the cluster; none for the cluster.
    pub from: Vec<PathBuf>,
    /// The connection to the cluster, for objects.
    pub connection: Box<Connection>,
    /// The format.
    pub format: Format,
}

/// The namespace in which to look for an object of a namespaced type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NamespaceChoice {
    /// The namespace of the kubeconfig's context.
    OfContext,
    /// `-n`.
    In(String),
    /// `-A`: every namespace that has an object of that name.
    Anywhere,
}

impl NamespaceChoice {
    /// Interprets `-n` and `-A`. kubectl also takes an empty name as none.
    pub(super) fn of(connection: &ConnectionArgs) -> Self {
        match connection.namespace.clone().filter(|name| !name.is_empty()) {
            Some(namespace) => NamespaceChoice::In(namespace),
            None if connection.all_namespaces => NamespaceChoice::Anywhere,
            None => NamespaceChoice::OfContext,
        }
    }
}

/// Where the names come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Standard input.
    Stdin,
    /// The command line.
    Words(Vec<String>),
}

/// One thing to explain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A finalizer, by the given name.
    Finalizer(String),
    /// An object, or only a type.
    Object {
        /// The given type.
        resource: String,
        /// The name; none if only a type was given.
        name: Option<String>,
    },
}

impl Explain {
    /// The flags that printed commands need to read where this run reads.
    pub fn run_flags(&self) -> RunFlags {
        RunFlags {
            from: self.from.iter().map(|path| path.display().to_string()).collect(),
            context: self.connection.context.clone(),
            kubeconfig: self
                .connection
                .kubeconfig
                .as_ref()
                .map(|path| path.display().to_string()),
        }
    }

    /// Interprets the arguments of `explain`.
    pub fn new(words: ExplainArgs, connection: ConnectionArgs) -> Result<Self, Error> {
        let asked = if words.words == ["-"] {
            Asked::Stdin
        } else {
            Asked::Words(words.words)
        };
        let place = NamespaceChoice::of(&connection);
        if !words.from.is_empty() {
            without_server(&connection)?;
        }
        Ok(Explain {
            asked,
            from: words.from,
            place,
            connection: Box::new(Connection::new(connection)?),
            format: words.output,
        })
    }
}

impl Target {
    /// The targets in the arguments, each once. Finalizers have no namespace, so with `-n`, TYPE.GROUP/NAME
    /// is an object even if the catalogue does not know the type.
    pub fn of_words(words: &[String], knowledge: &Knowledge, in_namespace: bool) -> Vec<Target> {
        // TYPE[,TYPE…] NAME…, as in kubectl.
        if let [types, names @ ..] = words
            && !names.is_empty()
            && words
                .iter()
                .all(|word| is_plain(word) && !word.contains('/') && !is_finalizer(word, knowledge))
            && may_be_types(types, names, knowledge)
        {
            let object = |resource: &str, name: &String| Target::Object {
                resource: resource.to_owned(),
                name: Some(name.clone()),
            };
            return types
                .split(',')
                .filter(|resource| !resource.is_empty())
                .flat_map(|resource| names.iter().map(move |name| object(resource, name)))
                .collect();
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
            .map(|name| Target::of(name, knowledge, in_namespace, typed))
            .collect()
    }

    fn of(name: String, knowledge: &Knowledge, in_namespace: bool, typed: bool) -> Target {
        if is_finalizer(&name, knowledge) {
            return Target::Finalizer(name);
        }
        match name.split_once('/') {
            Some((resource, object))
                if (is_type(resource, knowledge)
                    || (in_namespace && resource.contains('.'))
                    || (typed && is_label(resource)))
                    && !suggests_finalizer(object) =>
            {
                Target::Object {
                    resource: resource.to_owned(),
                    name: Some(object.to_owned()),
                }
            }
            None if is_type(&name, knowledge) => Target::Object {
                resource: name,
                name: None,
            },
            _ => Target::Finalizer(name),
        }
    }
}

/// Whether the word has none of the punctuation around names in lists and manifests.
fn is_plain(word: &str) -> bool {
    word != "-" && !word.contains(|c: char| c.is_whitespace() || "[]{}()\"'`“”‘’:;=".contains(c))
}

/// Whether the first word can name the types of the other words. An unknown type counts if no finalizer has
/// that form: no dot, or a group in front of names that are no domains.
fn may_be_types(types: &str, names: &[String], knowledge: &Knowledge) -> bool {
    types.split(',').filter(|word| !word.is_empty()).all(|word| {
        is_type(word, knowledge)
            || is_label(word)
            || (word.contains('.') && !names.iter().any(|name| name.contains('.')))
    })
}

/// Whether the word has the form of a type name and is not a domain.
fn is_label(word: &str) -> bool {
    let inside = |c: char| c.is_ascii_alphanumeric() || c == '-';
    word.starts_with(|c: char| c.is_ascii_alphabetic()) && word.chars().all(inside)
}

/// `widgets.example.com/x` has the form of a finalizer, so a type with a group must be known.
fn is_type(word: &str, knowledge: &Knowledge) -> bool {
    !word.contains('/') && knowledge.has_kind(word) && !is_finalizer(word, knowledge)
}

fn is_finalizer(word: &str, knowledge: &Knowledge) -> bool {
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

    fn asked(words: &[&str]) -> Vec<Target> {
        let words: Vec<_> = words.iter().map(|word| (*word).to_owned()).collect();
        Target::of_words(&words, &Knowledge::builtin(), false)
    }

    fn object(resource: &str, name: Option<&str>) -> Vec<Target> {
        vec![Target::Object {
            resource: resource.into(),
            name: name.map(Into::into),
        }]
    }

    fn finalizers(names: &[&str]) -> Vec<Target> {
        names
            .iter()
            .map(|name| Target::Finalizer((*name).to_owned()))
            .collect()
    }

    #[test]
    fn tells_objects_from_finalizers() {
        assert_eq!(asked(&["pv/x"]), object("pv", Some("x")));
        assert_eq!(asked(&["pod", "web-1"]), object("pod", Some("web-1")));
        assert_eq!(
            asked(&["deployments.apps/web"]),
            object("deployments.apps", Some("web"))
        );
        assert_eq!(
            asked(&["deployment.v1.apps/web"]),
            object("deployment.v1.apps", Some("web"))
        );
        assert_eq!(asked(&["challenge/api"]), object("challenge", Some("api")));
        assert_eq!(
            asked(&["challenges.acme.cert-manager.io/x"]),
            object("challenges.acme.cert-manager.io", Some("x"))
        );
        assert_eq!(
            asked(&["widgets.example.com", "x"]),
            object("widgets.example.com", Some("x"))
        );
        assert_eq!(
            asked(&["crd", "widgets.example.com"]),
            object("crd", Some("widgets.example.com"))
        );
        assert_eq!(asked(&["pvc", "a", "b"]).len(), 2);
        assert_eq!(asked(&["gadget/x"]), object("gadget", Some("x")));
        assert_eq!(asked(&["gadgets", "x.y"]), object("gadgets", Some("x.y")));
        assert_eq!(
            asked(&["pvc,gadgets", "x"]),
            [object("pvc", Some("x")), object("gadgets", Some("x"))].concat()
        );
        assert_eq!(
            asked(&["pvc/a", "deployment.v1.apps/b"]),
            [object("pvc", Some("a")), object("deployment.v1.apps", Some("b"))].concat()
        );
        assert_eq!(asked(&["pvc"]), object("pvc", None));
        for name in [
            "acme.cert-manager.io/finalizer",
            "external-attacher/ebs-csi-aws-com",
            "widgets.example.com/x",
            "something/finalizer",
            "kubernetes",
            "no-such-word",
            "namespace/finalizer",
        ] {
            assert_eq!(asked(&[name]), finalizers(&[name]), "{name}");
        }
    }

    #[test]
    fn accepts_an_unknown_type_if_a_namespace_is_given() {
        let in_namespace = |word: &str| Target::of_words(&[word.to_owned()], &Knowledge::builtin(), true);
        assert_eq!(
            in_namespace("widgets.example.com/x"),
            object("widgets.example.com", Some("x"))
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
}
