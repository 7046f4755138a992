//! The list of entries, and its filters.

use std::collections::BTreeSet;

use super::schema::{Consequence, Entry, GroupKind, KindPattern, glob};
use super::shortnames::{known_types, well_known};
use super::{Knowledge, builtin};

/// Selects entries. A field that is not set does not filter. Words are compared case-insensitively.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Words in the finalizer's name or its project, or a pattern with `*` for the whole name.
    pub pattern: Option<String>,
    /// Words in the project's name.
    pub project: Option<String>,
    /// Types as in `kubectl get` (`pv`, `challenges`, `Challenge`, `challenges.acme.cert-manager.io`):
    /// entries that can appear on one of them.
    pub kinds: Vec<String>,
    /// What removal by hand costs.
    pub consequence: Option<Consequence>,
}

impl Knowledge {
    /// The entries that pass the filter, sorted by project and then by name.
    pub fn catalog(&self, filter: &Filter) -> Vec<Entry> {
        let mut entries: Vec<Entry> = self.all().filter(|entry| filter.passes(entry)).cloned().collect();
        entries.sort_by_cached_key(|entry| {
            (
                entry.project.to_lowercase(),
                entry.name.clone(),
                entry.kinds.clone(),
            )
        });
        entries
    }

    /// Words with a similar spelling to those of a filter without results, the nearest first.
    pub fn near_words(&self, filter: &Filter) -> Vec<String> {
        let entries: Vec<&Entry> = self.all().collect();
        let mut near = Vec::new();
        let projects = || entries.iter().map(|entry| entry.project.as_str());
        if let Some(word) = &filter.pattern {
            near.extend(self.near(word));
            near.extend(nearest(word, projects()));
        }
        if let Some(word) = &filter.project {
            near.extend(nearest(word, projects()));
        }
        let kinds = || {
            entries
                .iter()
                .flat_map(|entry| &entry.kinds)
                .map(KindPattern::kind)
        };
        for word in filter.kinds.iter().filter(|word| !self.has_kind(word)) {
            near.extend(nearest(word, kinds().chain(known_types())));
        }
        let mut seen = BTreeSet::new();
        near.retain(|word| seen.insert(word.clone()));
        near
    }

    /// Whether this is the name of a type in the catalogue, or of a built-in Kubernetes type.
    pub fn has_kind(&self, word: &str) -> bool {
        if is_kubernetes_type(word) {
            return true;
        }
        let (name, group) = word.split_once('.').unwrap_or((word, ""));
        let own = self.user.iter().flat_map(|located| &located.entry.kinds);
        own.map(|kind| (kind.kind(), kind.group()))
            .chain(builtin::kinds())
            .any(|(kind, kinds_group)| {
                is_name_of_kind(kind, name) && (group.is_empty() || kinds_group.eq_ignore_ascii_case(group))
            })
    }
}

/// Whether this is the name of a built-in Kubernetes type: `pv`, `deployments.apps`, `deployments.v1.apps`.
fn is_kubernetes_type(word: &str) -> bool {
    let (name, group) = word.split_once('.').unwrap_or((word, ""));
    well_known(name).is_some_and(|known| {
        let version_and_group = group.split_once('.').map_or(group, |(_, group)| group);
        group.is_empty() || [group, version_and_group].contains(&known.group)
    })
}

/// The few words that differ from this one in at most a quarter of its letters.
fn nearest<'a>(word: &str, all: impl Iterator<Item = &'a str>) -> Vec<String> {
    let wanted = word.to_lowercase();
    let limit = (wanted.chars().count() / 4).clamp(1, 4);
    let distances: BTreeSet<(usize, &str)> = all
        // The length alone rules out most words, and avoids comparing very long ones.
        .filter(|other| other.len() > 2 && other.len().abs_diff(wanted.len()) <= 4 * limit)
        .map(|other| (strsim::osa_distance(&wanted, &other.to_lowercase()), other))
        .filter(|(distance, _)| *distance <= limit)
        .collect();
    distances
        .into_iter()
        .take(3)
        .map(|(_, other)| other.to_owned())
        .collect()
}

impl Filter {
    fn passes(&self, entry: &Entry) -> bool {
        self.pattern
            .as_deref()
            .is_none_or(|pattern| has_pattern(entry, pattern))
            && self
                .project
                .as_deref()
                .is_none_or(|words| contains(&entry.project, words))
            && (self.kinds.is_empty()
                || (self.kinds.iter()).any(|word| entry.kinds.iter().any(|kind| may_appear(kind, word))))
            && self
                .consequence
                .is_none_or(|consequence| entry.if_removed.consequence == consequence)
    }
}

fn contains(text: &str, words: &str) -> bool {
    text.to_lowercase().contains(&words.to_lowercase())
}

fn has_pattern(entry: &Entry, pattern: &str) -> bool {
    if pattern.contains('*') {
        let pattern = pattern.to_lowercase();
        return glob(&pattern, &entry.name.to_lowercase()) || glob(&pattern, &entry.example.to_lowercase());
    }
    contains(&entry.name, pattern) || contains(&entry.project, pattern) || entry.names(pattern)
}

/// Whether an object of the type `word` can have an entry for `kind`.
fn may_appear(kind: &KindPattern, word: &str) -> bool {
    if let Some(known) = well_known(word) {
        return kind.matches(known);
    }
    let (name, group) = word.split_once('.').unwrap_or((word, ""));
    if !group.is_empty() {
        let group = group.to_lowercase();
        return glob(kind.group(), &group)
            && (kind.kind().contains('*') || is_name_of_kind(kind.kind(), name));
    }
    // Without a group, an entry about any object would match every word.
    let any = GroupKind { group: "", kind: "" };
    !kind.matches(any) && is_name_of_kind(kind.kind(), name)
}

/// Whether this is the kind's name or its plural.
fn is_name_of_kind(kind: &str, name: &str) -> bool {
    let (kind, name) = (kind.to_lowercase(), name.to_lowercase());
    let plural = match kind.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{stem}ies"),
        _ if kind.ends_with(['s', 'x', 'z']) || kind.ends_with("ch") || kind.ends_with("sh") => {
            format!("{kind}es")
        }
        _ => format!("{kind}s"),
    };
    name == kind || name == plural
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(filter: &Filter) -> Vec<String> {
        Knowledge::builtin()
            .catalog(filter)
            .into_iter()
            .map(|entry| entry.name)
            .collect()
    }

    fn names_on_kind(kind: &str) -> Vec<String> {
        names(&Filter {
            kinds: vec![kind.to_owned()],
            ..Filter::default()
        })
    }

    #[test]
    fn lists_everything_without_a_filter() {
        assert_eq!(names(&Filter::default()).len(), Knowledge::builtin_len());
    }

    #[test]
    fn filters_by_kind() {
        for called in ["pv", "PersistentVolume", "persistentvolumes"] {
            let found = names_on_kind(called);
            assert!(
                found.contains(&"kubernetes.io/pv-protection".to_owned()),
                "{found:?}"
            );
            assert!(
                found.contains(&"foregroundDeletion".to_owned()),
                "on any object: {found:?}"
            );
            assert!(
                !found.contains(&"kubernetes.io/pvc-protection".to_owned()),
                "{found:?}"
            );
        }
        for called in [
            "challenges",
            "Challenge",
            "challenges.acme.cert-manager.io",
            "challenge.acme.cert-manager.io",
        ] {
            assert!(
                names_on_kind(called).contains(&"acme.cert-manager.io/finalizer".to_owned()),
                "{called}"
            );
        }
        assert!(names_on_kind("ns").contains(&"kubernetes".to_owned()));
        assert!(names_on_kind("svc").contains(&"service.kubernetes.io/load-balancer-cleanup".to_owned()));
        assert_eq!(names_on_kind("nosuchthings"), Vec::<String>::new());
    }

    #[test]
    fn filters_by_project_consequence_and_pattern() {
        let by = |filter| names(&filter);
        assert!(
            by(Filter {
                project: Some("ROOK".to_owned()),
                ..Filter::default()
            })
            .len()
                > 5
        );
        assert!(
            by(Filter {
                pattern: Some("*pv*protection".to_owned()),
                ..Filter::default()
            })
            .len()
                >= 2
        );
        assert!(
            by(Filter {
                pattern: Some("longhorn".to_owned()),
                ..Filter::default()
            }) == ["longhorn.io"]
        );
        let grave = by(Filter {
            consequence: Some(Consequence::DataLoss),
            ..Filter::default()
        });
        assert!(grave.contains(&"kubernetes.io/pv-protection".to_owned()));
    }

    #[test]
    fn every_kind_of_an_entry_is_a_type() {
        let knowledge = Knowledge::builtin();
        for kind in knowledge.all().flat_map(|entry| &entry.kinds) {
            assert!(knowledge.has_kind(kind.kind()), "{}", kind.kind());
            if !kind.group().is_empty() {
                let typed = format!("{}.{}", kind.kind().to_lowercase(), kind.group());
                assert!(knowledge.has_kind(&typed), "{typed}");
            }
        }
        assert!(!knowledge.has_kind("challenges.example.com"));
    }
}
