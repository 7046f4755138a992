//! Resolves the words that people type to types: plurals, singulars, kinds, short names, `TYPE.GROUP`,
//! `TYPE.VERSION.GROUP` and categories, in any case, as `kubectl get` does.

use super::{Gap, What};
use crate::{error::Error, object::ResourceType};

/// The types that some words name.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Each type once, in the order of the words.
    pub types: Vec<ResourceType>,
    /// One note for each word that also names another type.
    pub notes: Vec<String>,
}

/// A word that names no type.
#[derive(Debug, PartialEq, Eq)]
pub struct UnknownType {
    /// The word.
    pub word: String,
    /// The names of the closest types, the most likely first.
    pub near: Vec<String>,
}

impl UnknownType {
    /// The usage error for this word, with the probable types as its hint. Groups in `gaps` may hold the type, so the
    /// message names them.
    pub fn error(&self, gaps: &[Gap]) -> Error {
        let silent: Vec<_> = gaps.iter().filter_map(|gap| gap.what.silent_group()).collect();
        let message = format!("there is no type {:?} that can be listed", self.word);
        Error::Usage {
            message: if silent.is_empty() {
                message
            } else {
                format!(
                    "{message}, unless it belongs to what did not answer: {}",
                    silent.join(", ")
                )
            },
            hint: Some(if self.near.is_empty() {
                "kubectl api-resources lists the types".into()
            } else {
                format!("did you mean {}?", self.near.join(" or "))
            }),
        }
    }
}

/// How many close names an error suggests.
const MAX_SUGGESTIONS: usize = 3;

/// Finds the types that `words` name among `all`. `all` must be in the server's order of groups: if several types share
/// a name, kubectl takes the first.
pub fn select(words: &[String], all: &[ResourceType]) -> Result<Selection, UnknownType> {
    let mut selection = Selection::default();
    for word in words {
        let found = resolve(word, all);
        if found.is_empty() {
            return Err(UnknownType {
                word: word.clone(),
                near: nearest(word, all),
            });
        }
        let (taken, others) = match found {
            Resolved::Category(types) => (types, Vec::new()),
            Resolved::Types(mut types) => {
                let rest = types.split_off(1);
                (types, rest)
            }
        };
        if !others.is_empty() {
            let others: Vec<_> = others.iter().map(ResourceType::name).collect();
            selection.notes.push(format!(
                "{word} is taken as {}; write {} for the other",
                taken.first().map(ResourceType::name).unwrap_or_default(),
                others.join(" or ")
            ));
        }
        for ty in taken {
            if !selection.types.iter().any(|known| known.name() == ty.name()) {
                selection.types.push(ty);
            }
        }
    }
    Ok(selection)
}

/// Which types a scan reads, as the user typed them.
#[derive(Clone, Copy, Debug)]
pub struct Choice<'a> {
    /// Only these; empty for all.
    pub types: &'a [String],
    /// Not these.
    pub exclude: &'a [String],
    /// Whether the scan reads only one namespace. It then leaves out cluster-scoped types, except the Namespace itself.
    pub in_one_namespace: bool,
}

impl Choice<'_> {
    /// The types to read. A server may list the same objects under several types; `kept_name` returns the name that is
    /// read.
    pub fn of<'w>(
        &'w self,
        all: &[ResourceType],
        gaps: &[Gap],
        kept_name: impl Fn(&'w str) -> &'w str,
    ) -> Result<Selection, Error> {
        // A type of a group that does not answer is not mistyped. It is in the gaps.
        let hidden = |word: &String| {
            gaps.iter().any(|gap| matches!(&gap.what, What::GroupVersion { types, .. } if types.iter().any(|name| mentions(std::slice::from_ref(word), name))))
        };
        let resolve = |words: &'w [String]| {
            let words = words.iter().filter(|word| !hidden(word));
            let words: Vec<_> = words.map(|word| kept_name(word).to_owned()).collect();
            select(&words, all).map_err(|unknown| unknown.error(gaps))
        };
        let excluded = resolve(self.exclude)?;
        let mut chosen = if self.types.is_empty() {
            let in_scope =
                |ty: &&ResourceType| !self.in_one_namespace || ty.namespaced || ty.is("", "namespaces");
            Selection {
                types: all.iter().filter(in_scope).cloned().collect(),
                notes: Vec::new(),
            }
        } else {
            resolve(self.types)?
        };
        let is_excluded = |ty: &ResourceType| excluded.types.iter().any(|other| other.name() == ty.name());
        chosen.types.retain(|ty| !is_excluded(ty));
        Ok(chosen)
    }
}

/// Whether one of the words is this `plural.group`, with or without its group.
pub fn mentions(words: &[String], name: &str) -> bool {
    words
        .iter()
        .any(|word| word == name || name.split('.').next() == Some(word))
}

enum Resolved {
    Category(Vec<ResourceType>),
    Types(Vec<ResourceType>),
}

impl Resolved {
    fn is_empty(&self) -> bool {
        let (Resolved::Category(types) | Resolved::Types(types)) = self;
        types.is_empty()
    }
}

fn resolve(word: &str, all: &[ResourceType]) -> Resolved {
    let word = word.to_lowercase();
    let (name, rest) = word.split_once('.').unwrap_or((&word, ""));
    let named = |ty: &&ResourceType| {
        ty.plural == name
            || ty.singular == name
            || ty.kind.to_lowercase() == name
            || ty.short_names.iter().any(|s| s == name)
    };
    let mut types = Vec::new();
    for ty in all.iter().filter(named) {
        if rest.is_empty() || ty.group == rest {
            types.push(ty.clone());
        } else if let Some(version) = version_of(ty, rest) {
            let mut ty = ty.clone();
            if ty.version != version {
                ty.other_versions = vec![std::mem::replace(&mut ty.version, version)];
            }
            types.push(ty);
        }
    }
    // kubectl also accepts the beginning of a group (`kubernetes/apimachinery:pkg/api/meta/restmapper.go`
    // ResourcesFor).
    if types.is_empty() && !rest.is_empty() {
        let by_prefix = all.iter().filter(named).filter(|ty| ty.group.starts_with(rest));
        types.extend(by_prefix.cloned());
    }
    if types.is_empty() && rest.is_empty() {
        let category = all
            .iter()
            .filter(|ty| ty.categories.iter().any(|category| category == name));
        return Resolved::Category(category.cloned().collect());
    }
    // kubectl tries plurals and singulars first, then short names, then kinds
    // (`kubernetes/client-go:restmapper/shortcut.go`). Within one rank, the server's order of groups decides.
    let rank = |ty: &ResourceType| {
        if ty.plural == name || ty.singular == name {
            0
        } else {
            1 + u8::from(!ty.short_names.iter().any(|short| short == name))
        }
    };
    let best = types.iter().map(rank).min();
    types.retain(|ty| Some(rank(ty)) == best);
    Resolved::Types(types)
}

/// `VERSION.GROUP` or `VERSION` alone, if the type has that version.
fn version_of(ty: &ResourceType, rest: &str) -> Option<String> {
    let (version, group) = rest.split_once('.').unwrap_or((rest, ""));
    let served = ty.version == version || ty.other_versions.iter().any(|other| other == version);
    (ty.group == group && served).then(|| version.to_owned())
}

fn nearest(word: &str, all: &[ResourceType]) -> Vec<String> {
    let word = word.to_lowercase();
    let (name, _) = word.split_once('.').unwrap_or((&word, ""));
    let distance = |ty: &ResourceType| {
        [&ty.plural, &ty.singular]
            .into_iter()
            .chain(&ty.short_names)
            .filter(|candidate| candidate.len() > 2)
            .map(|candidate| strsim::damerau_levenshtein(name, candidate))
            .min()
    };
    let mut near: Vec<_> = all
        .iter()
        .filter_map(|ty| Some((distance(ty)?, ty.name())))
        .filter(|(distance, _)| *distance <= 1 + name.len() / 4)
        .collect();
    // A stable sort keeps the server's order within one distance.
    near.sort_by_key(|(distance, _)| *distance);
    let best = near.first().map(|(distance, _)| *distance);
    near.retain(|(distance, _)| Some(*distance) == best);
    near.truncate(MAX_SUGGESTIONS);
    near.into_iter().map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ty(group: &str, plural: &str, kind: &str, short: &[&str], categories: &[&str]) -> ResourceType {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        ResourceType {
            group: group.into(),
            version: "v1".into(),
            plural: plural.into(),
            singular: kind.to_lowercase(),
            kind: kind.into(),
            short_names: owned(short),
            categories: owned(categories),
            other_versions: vec!["v1beta1".into()],
            ..Default::default()
        }
    }

    fn cluster() -> Vec<ResourceType> {
        vec![
            ty("", "pods", "Pod", &["po"], &["all"]),
            ty("", "services", "Service", &["svc"], &["all"]),
            ty(
                "",
                "persistentvolumeclaims",
                "PersistentVolumeClaim",
                &["pvc"],
                &[],
            ),
            ty("apps", "deployments", "Deployment", &["deploy"], &["all"]),
            ty("serving.knative.dev", "services", "Service", &["ksvc"], &["all"]),
        ]
    }

    fn names(words: &[&str]) -> Vec<String> {
        let words: Vec<_> = words.iter().map(|word| (*word).to_owned()).collect();
        let selection = select(&words, &cluster()).unwrap_or_else(|unknown| panic!("{unknown:?}"));
        selection
            .types
            .iter()
            .map(|ty| format!("{}@{}", ty.name(), ty.version))
            .collect()
    }

    #[test]
    fn accepts_every_form_that_kubectl_accepts() {
        for form in [
            "pvc",
            "persistentvolumeclaim",
            "PersistentVolumeClaims",
            "PersistentVolumeClaim",
        ] {
            assert_eq!(names(&[form]), ["persistentvolumeclaims@v1"], "{form}");
        }
        assert_eq!(names(&["deployments.apps"]), ["deployments.apps@v1"]);
        assert_eq!(names(&["deploy.v1beta1.apps"]), ["deployments.apps@v1beta1"]);
        assert_eq!(
            names(&["services.serving.knative.dev"]),
            ["services.serving.knative.dev@v1"]
        );
        assert_eq!(names(&["services.serving"]), ["services.serving.knative.dev@v1"]);
        assert_eq!(names(&["pods.v1"]), ["pods@v1"]);
        assert_eq!(names(&["pods", "po"]), ["pods@v1"]);
    }

    #[test]
    fn resolves_a_category_to_all_its_types() {
        assert_eq!(names(&["all"]).len(), 4);
    }

    #[test]
    fn takes_the_first_of_two_types_with_one_name_and_notes_the_other() {
        let selection = select(&["svc".into(), "service".into()], &cluster()).expect("services");
        assert_eq!(selection.types.len(), 1);
        assert_eq!(
            selection.notes,
            ["service is taken as services; write services.serving.knative.dev for the other"]
        );
    }

    #[test]
    fn suggests_the_closest_types_for_an_unknown_word() {
        let unknown = |word: &str| select(&[word.to_owned()], &cluster()).expect_err(word);
        assert_eq!(unknown("deploymnets").near, ["deployments.apps"]);
        assert_eq!(
            unknown("servces").near,
            ["services", "services.serving.knative.dev"]
        );
        assert!(unknown("quux").near.is_empty());
        assert_eq!(unknown("deployments.extensions").near, ["deployments.apps"]);
    }
}
