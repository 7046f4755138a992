//! Which entry speaks for a name.
//!
//! Rules, from the strongest: a guess (a last resort, or a pattern too short to stand without a kind) yields to
//! everything; an exact name to no pattern; a former name to a
//! current one; an entry about the object's kind beats one about others; more fixed characters beat fewer; the
//! user's beat ours. An entry that is about its kinds only (`kinds-only`) is silent on any other.

use serde::Serialize;

use super::schema::{Entry, GroupKind, List, Match};
use super::{Knowledge, builtin};

/// What a pasted name was taken for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Recognised {
    /// The name as it is in the catalogue or, where a pattern matched, as given; its case may differ from what was
    /// given.
    pub name: String,
    /// The entries that speak for it: several where the same name means different things on different kinds.
    pub entries: Vec<Entry>,
    /// Whether the name alone is enough. If not, the entries hold only for objects of their kinds, or are the last
    /// resort, and what can be deduced should be said beside them.
    pub certain: bool,
}

/// How well an entry fits; a greater one speaks.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Fit {
    no_guess: bool,
    spelling: Spelling,
    kind: bool,
    literals: usize,
    from_user: bool,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Spelling {
    Pattern,
    Former,
    Exact,
}

impl Knowledge {
    /// The entry that speaks for this name in this list on an object of this kind (`None`: kind not known).
    pub fn lookup(&self, name: &str, list: impl Into<List>, kind: Option<GroupKind<'_>>) -> Option<Entry> {
        let mut fitting = self.fitting(name, Some(list.into()), kind);
        (!fitting.is_empty()).then(|| fitting.swap_remove(0).1)
    }

    /// Every entry that speaks for this name equally well, in any list and on any kind.
    pub fn lookup_all(&self, name: &str) -> Vec<Entry> {
        let mut fitting = self.fitting(name, None, None);
        let alike = |a: &Fit, b: &Fit| {
            a.no_guess == b.no_guess && a.spelling == b.spelling && a.literals == b.literals
        };
        let as_good = fitting
            .iter()
            .take_while(|(fit, _)| alike(fit, &fitting[0].0))
            .count();
        fitting.truncate(as_good);
        fitting.into_iter().map(|(_, entry)| entry).collect()
    }

    /// The entries for a name that a person typed: as typed, else in another case.
    pub fn recognise(&self, typed: &str) -> Option<Recognised> {
        let found = |name: &str| {
            let entries = self.lookup_all(name);
            let certain = entries.iter().any(|entry| !is_guess(entry, None));
            Recognised {
                name: name.to_owned(),
                entries,
                certain,
            }
        };
        let as_typed = found(typed);
        // A guess says so little that a known name in another case is the better answer.
        if as_typed.certain {
            return Some(as_typed);
        }
        let known = self
            .names()
            .find(|name| name.eq_ignore_ascii_case(typed))
            .map(str::to_owned);
        let other_case = found(&known.unwrap_or_else(|| typed.to_ascii_lowercase()));
        let better = if other_case.certain { other_case } else { as_typed };
        (!better.entries.is_empty()).then_some(better)
    }

    /// All exact names, the user's and the built-in ones, former ones included.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let exact = |entry: &&Entry| entry.r#match == Match::Exact;
        let own = self.user.iter().map(|located| &located.entry).filter(exact);
        own.flat_map(|entry| {
            std::iter::once(&entry.name)
                .chain(&entry.renamed_from)
                .map(String::as_str)
        })
        .chain(builtin::names())
    }

    /// All entries that match, the best first; equals in the order of the catalogue.
    fn fitting(&self, name: &str, list: Option<List>, kind: Option<GroupKind<'_>>) -> Vec<(Fit, Entry)> {
        // Compared before they are copied: a scan asks once for each finalizer and kind in use.
        let own = (self.user.iter().map(|located| &located.entry))
            .filter(|entry| entry.names(name))
            .map(|entry| (true, entry.clone()));
        let ours = builtin::candidates(name)
            .into_iter()
            .filter_map(builtin::entry)
            .filter(|entry| !self.replaces(entry))
            .map(|entry| (false, entry));
        let mut fitting: Vec<(Fit, Entry)> = own
            .chain(ours)
            .filter(|(_, entry)| list.is_none_or(|list| entry.list == list))
            .filter_map(|(from_user, entry)| Some((fit(&entry, name, kind, from_user)?, entry)))
            .collect();
        fitting.sort_by(|(a, _), (b, _)| b.cmp(a));
        fitting
    }
}

/// Whether the entry is no more than a guess: a last resort, or a pattern too short to say whose the name is as long
/// as the kind is not known.
fn is_guess(entry: &Entry, kind: Option<GroupKind<'_>>) -> bool {
    entry.last_resort || (entry.kinds_only && entry.r#match != Match::Exact && kind.is_none())
}

fn fit(entry: &Entry, name: &str, kind: Option<GroupKind<'_>>, from_user: bool) -> Option<Fit> {
    if !entry.names(name) {
        return None;
    }
    let about = kind.is_none_or(|kind| entry.is_about(kind));
    if entry.kinds_only && !about {
        return None;
    }
    let spelling = match entry.r#match {
        Match::Exact if entry.name == name => Spelling::Exact,
        Match::Exact => Spelling::Former,
        _ => Spelling::Pattern,
    };
    Some(Fit {
        no_guess: !is_guess(entry, kind),
        spelling,
        kind: about,
        literals: entry.literals(),
        from_user,
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may fail so")]
mod tests {
    use super::*;

    fn spoken_by(name: &str, kind: Option<(&str, &str)>) -> Option<String> {
        let kind = kind.map(|(kind, group)| GroupKind { group, kind });
        Knowledge::builtin()
            .lookup(name, List::Metadata, kind)
            .map(|entry| entry.name)
    }

    #[test]
    fn an_exact_name_beats_every_pattern() {
        for (name, entry) in [
            ("cephcluster.ceph.rook.io", "cephcluster.ceph.rook.io"),
            ("cephobjectzone.ceph.rook.io", "*.ceph.rook.io"),
            (
                "deletion.finalizers.rabbitmqclusters.rabbitmq.com",
                "deletion.finalizers.rabbitmqclusters.rabbitmq.com",
            ),
            (
                "deletion.finalizers.queues.rabbitmq.com",
                "deletion.finalizers.*.rabbitmq.com",
            ),
            (
                "flinkdeployments.flink.apache.org/finalizer",
                "flinkdeployments.flink.apache.org/finalizer",
            ),
            ("acme.cert-manager.io/finalizer", "acme.cert-manager.io/finalizer"),
        ] {
            assert_eq!(spoken_by(name, None).as_deref(), Some(entry));
        }
    }

    #[test]
    fn the_kind_decides_between_entries_of_one_name() {
        let flux = |kind, group| {
            let kind = GroupKind { group, kind };
            Knowledge::builtin()
                .lookup("finalizers.fluxcd.io", List::Metadata, Some(kind))
                .unwrap()
                .removed_by
        };
        assert!(flux("HelmRelease", "helm.toolkit.fluxcd.io").contains("helm-controller"));
        assert!(flux("Kustomization", "kustomize.toolkit.fluxcd.io").contains("kustomize-controller"));
        assert!(flux("GitRepository", "source.toolkit.fluxcd.io").contains("source-controller"));
        assert_eq!(Knowledge::builtin().lookup_all("finalizers.fluxcd.io").len(), 6);
    }

    #[test]
    fn the_list_decides() {
        let known = |list| Knowledge::builtin().lookup("kubernetes", list, None).is_some();
        assert!(known(List::NamespaceSpec));
        assert!(!known(List::Metadata));
    }

    #[test]
    fn a_short_name_speaks_on_its_own_kinds_only() {
        let vault = Some(("VaultRole", "redhatcop.redhat.io"));
        assert_eq!(
            spoken_by("controller-vaultrole", vault).as_deref(),
            Some("controller-")
        );
        assert_eq!(
            spoken_by("controller-vaultrole", Some(("Widget", "example.com"))),
            None
        );
        assert_eq!(spoken_by("worker-1-deleted", Some(("Pod", ""))), None);
        assert!(!Knowledge::builtin().recognise("my-app-deleted").unwrap().certain);
        assert!(
            !Knowledge::builtin()
                .recognise("widgets.example.com/finalizer")
                .unwrap()
                .certain
        );
        assert!(Knowledge::builtin().recognise("kubewarden").unwrap().certain);
        assert_eq!(
            spoken_by("gardener", Some(("Shoot", "core.gardener.cloud"))).as_deref(),
            Some("gardener")
        );
        assert_eq!(spoken_by("gardener", Some(("Widget", "example.com"))), None);
    }

    #[test]
    fn the_last_resort_comes_last_and_only_on_custom_resources() {
        assert_eq!(
            spoken_by("a.b.c/finalizer", Some(("A", "b.c"))).as_deref(),
            Some("*.*/finalizer")
        );
        assert_eq!(spoken_by("a.b.c/finalizer", Some(("Pod", ""))), None);
        let azure = spoken_by(
            "serviceoperator.azure.com/finalizer",
            Some(("Any", "thing.example.com")),
        );
        assert_eq!(azure.as_deref(), Some("serviceoperator.azure.com/finalizer"));
    }

    #[test]
    fn a_former_name_leads_to_the_entry() {
        let found = spoken_by("hetznercluster.infrastructure.cluster.x-k8s.io", None);
        assert_eq!(
            found.as_deref(),
            Some("infrastructure.cluster.x-k8s.io/hetznercluster")
        );
    }

    #[test]
    fn the_open_part_of_a_pattern_is_told() {
        let entry = Knowledge::builtin()
            .lookup("clusterscoped.controller.cattle.io/x_c-1", List::Metadata, None)
            .unwrap();
        assert_eq!(entry.name, "clusterscoped.controller.cattle.io/");
        assert_eq!(
            entry.matched("clusterscoped.controller.cattle.io/x_c-1"),
            Some("x_c-1")
        );
        let ack = Knowledge::builtin()
            .lookup("finalizers.s3.services.k8s.aws/Bucket", List::Metadata, None)
            .unwrap();
        assert_eq!(
            ack.matched("finalizers.s3.services.k8s.aws/Bucket"),
            Some("s3.services.k8s.aws/Bucket")
        );
    }

    #[test]
    fn another_case_is_recognised() {
        let found = Knowledge::builtin()
            .recognise("Kubernetes.io/PV-Protection")
            .unwrap();
        assert_eq!(found.name, "kubernetes.io/pv-protection");
        assert_eq!(
            Knowledge::builtin().recognise("FOREGROUNDDELETION").unwrap().name,
            "foregroundDeletion"
        );
        assert_eq!(
            Knowledge::builtin().recognise("KUBERNETES").unwrap().name,
            "kubernetes"
        );
        assert_eq!(Knowledge::builtin().recognise("no-such-thing"), None);
    }
}
