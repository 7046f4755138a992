//! What the words of `explain` mean: which of them name finalizers, and which an object.
//!
//! Both are written with a slash, so the form alone does not tell. What the catalogue knows is a finalizer. What has
//! a word without a dot before the slash (`pv/x`, `gadget/x`) is an object, since the part of a finalizer before the
//! slash is a domain; so is a type with a group whose object follows as a word of its own (`widgets.example.com x`),
//! or with `-n`. Everything else with a domain in front (`acme.cert-manager.io/finalizer`) is a finalizer.

use std::path::PathBuf;

use super::Connection;
use crate::{
    cli::{ConnectionArgs, ExplainArgs, Format},
    error::Error,
    knowledge::{Knowledge, paste},
};

/// What `explain` was asked to do.
#[derive(Clone, Debug)]
pub struct Explain {
    /// About what.
    pub asked: Asked,
    /// In which namespace.
    pub place: Place,
    /// Files to read instead of the cluster; none for the cluster.
    pub from: Vec<PathBuf>,
    /// The cluster, where an object is asked about.
    pub connection: Box<Connection>,
    /// How it is shown.
    pub format: Format,
}

/// Where an object is looked for whose type has namespaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the namespace of the kubeconfig's context.
    OfContext,
    /// `-n`.
    In(String),
    /// `-A`: wherever there is one of that name.
    Anywhere,
}

impl Place {
    /// What `-n` and `-A` say; to kubectl too, an empty name is none.
    pub(super) fn of(connection: &ConnectionArgs) -> Self {
        match connection.namespace.clone().filter(|name| !name.is_empty()) {
            Some(namespace) => Place::In(namespace),
            None if connection.all_namespaces => Place::Anywhere,
            None => Place::OfContext,
        }
    }
}

/// Where the names are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// On standard input.
    Stdin,
    /// On the command line.
    Words(Vec<String>),
}

/// One thing that is asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A finalizer, by its name as given.
    Finalizer(String),
    /// An object, or a type alone.
    Object {
        /// Its type, as given.
        resource: String,
        /// Its name; none where only a type was given.
        name: Option<String>,
    },
}

impl Explain {
    /// The meaning of `explain`'s words.
    pub fn new(words: ExplainArgs, connection: ConnectionArgs) -> Result<Self, Error> {
        let asked = if words.words == ["-"] {
            Asked::Stdin
        } else {
            Asked::Words(words.words)
        };
        let place = Place::of(&connection);
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
    /// What the arguments ask about, each thing once. Finalizers are in no namespace: with `-n`, TYPE.GROUP/NAME is
    /// an object even if nobody here knows the type.
    pub fn of_words(words: &[String], knowledge: &Knowledge, in_namespace: bool) -> Vec<Target> {
        // TYPE[,TYPE…] NAME…, as kubectl takes them.
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
        // Arguments that are nothing but a name each are taken one by one, so that none is lost among others that
        // look more like names. Anything else is a text that the shell took apart.
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
                    && !sounds_final(object) =>
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

/// Without the marks that stand around names in lists and manifests.
fn is_plain(word: &str) -> bool {
    word != "-" && !word.contains(|c: char| c.is_whitespace() || "[]{}()\"'`“”‘’:;=".contains(c))
}

/// Whether the first word can name the types of what follows. A type that nobody knows here is one if no finalizer
/// is written like that: without a dot, or with a group before names that are no domains.
fn may_be_types(types: &str, names: &[String], knowledge: &Knowledge) -> bool {
    types.split(',').filter(|word| !word.is_empty()).all(|word| {
        is_type(word, knowledge)
            || is_label(word)
            || (word.contains('.') && !names.iter().any(|name| name.contains('.')))
    })
}

/// A word as types are called, and no domain.
fn is_label(word: &str) -> bool {
    let inside = |c: char| c.is_ascii_alphanumeric() || c == '-';
    word.starts_with(|c: char| c.is_ascii_alphabetic()) && word.chars().all(inside)
}

/// `widgets.example.com/x` has the very form of a finalizer: with a group, only a type that is known is one.
fn is_type(word: &str, knowledge: &Knowledge) -> bool {
    !word.contains('/') && knowledge.has_kind(word) && !is_finalizer(word, knowledge)
}

fn is_finalizer(word: &str, knowledge: &Knowledge) -> bool {
    knowledge.recognise(word).is_some_and(|found| found.certain)
}

/// Whether a name says itself that it is a finalizer's.
fn sounds_final(name: &str) -> bool {
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
    fn objects_are_told_from_finalizers() {
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
    fn with_a_namespace_a_type_that_nobody_knows_is_a_type() {
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
    fn names_one_by_one_and_texts_that_the_shell_took_apart() {
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
