//! Finds the entry that describes a name.
//!
//! The rules, the strongest first. A guess (a last resort, or a pattern too short without a kind) loses to
//! everything. An exact name beats a pattern. A current name beats a former one. An entry about the object's
//! kind beats one about other kinds. More fixed characters beat fewer. The user's entries beat ours. An entry
//! with `kinds-only` never matches on other kinds, nor does one whose name has no domain: products copy such names from each
//! other.

use serde::Serialize;

use super::deduce::has_domain;
use super::schema::{Consequence, Entry, GroupKind, List, Match};
use super::{Knowledge, builtin};
use crate::object::Finalizer;

/// The meaning of a pasted name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Recognised {
    /// The name as in the catalogue, or as given if a pattern matched. Its case can differ from the given
    /// name.
    pub name: String,
    /// The matching entries: several if the name has different meanings on different kinds.
    pub entries: Vec<Entry>,
    /// Whether the name alone is enough. If not, the entries apply only to objects of their kinds, or are the
    /// last resort. The output should then also show what can be deduced.
    pub certain: bool,
}

/// How well an entry matches; the greatest value wins.
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
    /// The entry for this name in this list on an object of this kind (`None`: the kind is not known).
    pub fn lookup(&self, name: &str, list: impl Into<List>, kind: Option<GroupKind<'_>>) -> Option<Entry> {
        let matching = self.matching(name, Some(list.into()), kind);
        matching.first().map(|(_, entry)| (*entry).clone())
    }

    /// What a removal by hand costs, and the entry that says it. A last resort tells from the form of a name who may have
    /// made the finalizer, and not what it protects. Nobody knows that then, so the worst is assumed, and there is no entry.
    pub fn removal_cost(
        &self,
        finalizer: &Finalizer,
        kind: Option<GroupKind<'_>>,
    ) -> (Consequence, Option<Entry>) {
        let entry = self
            .lookup(&finalizer.name, finalizer.list, kind)
            .filter(|entry| !entry.last_resort);
        let consequence = entry
            .as_ref()
            .map_or(Consequence::DataLoss, |entry| entry.if_removed.consequence);
        (consequence, entry)
    }

    /// All entries that match this name equally well, in any list and on any kind.
    pub fn lookup_all(&self, name: &str) -> Vec<Entry> {
        let mut matching = self.matching(name, None, None);
        let alike = |a: &Fit, b: &Fit| {
            a.no_guess == b.no_guess && a.spelling == b.spelling && a.literals == b.literals
        };
        let best = matching.first();
        let as_good = matching
            .iter()
            .take_while(|(fit, _)| best.is_some_and(|(best, _)| alike(fit, best)))
            .count();
        matching.truncate(as_good);
        matching.into_iter().map(|(_, entry)| entry.clone()).collect()
    }

    /// The entries for a name as typed, or for the same name in another case.
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
        // A known name in another case is better than a guess.
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

    /// Whether an entry has exactly this name, not only a pattern that fits.
    pub fn is_exact(&self, name: &str) -> bool {
        self.names().any(|known| known == name)
    }

    /// All exact names, the user's and the built-in ones, including former names.
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

    /// All matching entries, the best first. Equal ones keep the order of the catalogue.
    fn matching(&self, name: &str, list: Option<List>, kind: Option<GroupKind<'_>>) -> Vec<(Fit, &Entry)> {
        let own = (self.user.iter().map(|located| &located.entry))
            .filter(|entry| entry.names(name))
            .map(|entry| (true, entry));
        let ours = builtin::candidates(name)
            .into_iter()
            .filter_map(builtin::entry)
            .filter(|entry| !self.replaces(entry))
            .map(|entry| (false, entry));
        let mut matching: Vec<(Fit, &Entry)> = own
            .chain(ours)
            .filter(|(_, entry)| list.is_none_or(|list| entry.list == list))
            .filter_map(|(from_user, entry)| Some((fit(entry, name, kind, from_user)?, entry)))
            .collect();
        matching.sort_by(|(a, _), (b, _)| b.cmp(a));
        matching
    }
}

/// Whether the entry is only a guess: a last resort, or a pattern that is too short to identify the owner
/// without a kind.
fn is_guess(entry: &Entry, kind: Option<GroupKind<'_>>) -> bool {
    entry.last_resort || (entry.kinds_only && entry.r#match != Match::Exact && kind.is_none())
}

fn fit(entry: &Entry, name: &str, kind: Option<GroupKind<'_>>, from_user: bool) -> Option<Fit> {
    if !entry.names(name) {
        return None;
    }
    let about = kind.is_none_or(|kind| entry.is_about(kind));
    if !about && (entry.kinds_only || (entry.r#match == Match::Exact && !has_domain(name))) {
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

    fn entry_for(name: &str, kind: Option<(&str, &str)>) -> Option<String> {
        let kind = kind.map(|(kind, group)| GroupKind { group, kind });
        Knowledge::builtin()
            .lookup(name, List::Metadata, kind)
            .map(|entry| entry.name)
    }

    #[test]
    fn prefers_an_exact_name_to_every_pattern() {
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
            assert_eq!(entry_for(name, None).as_deref(), Some(entry));
        }
    }

    #[test]
    fn chooses_between_entries_of_one_name_by_kind() {
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
    fn a_name_without_a_domain_counts_on_the_kinds_of_its_entry_only() {
        let name = "inferenceservice.finalizers";
        let on = |group| entry_for(name, Some(("InferenceService", group)));
        assert_eq!(on("serving.kserve.io").as_deref(), Some(name));
        assert_eq!(on("serving.example.com"), None);
        // Nobody said of what kind it is: then it may be this one.
        assert_eq!(entry_for(name, None).as_deref(), Some(name));
        // A domain says whose it is on any kind.
        let flux = entry_for("finalizers.fluxcd.io", Some(("Widget", "example.com")));
        assert_eq!(flux.as_deref(), Some("finalizers.fluxcd.io"));
    }

    #[test]
    fn chooses_the_entry_by_list() {
        let known = |list| Knowledge::builtin().lookup("kubernetes", list, None).is_some();
        assert!(known(List::NamespaceSpec));
        assert!(!known(List::Metadata));
    }

    #[test]
    fn matches_a_short_name_only_on_its_own_kinds() {
        let vault = Some(("VaultRole", "redhatcop.redhat.io"));
        assert_eq!(
            entry_for("controller-vaultrole", vault).as_deref(),
            Some("controller-")
        );
        assert_eq!(
            entry_for("controller-vaultrole", Some(("Widget", "example.com"))),
            None
        );
        assert_eq!(entry_for("worker-1-deleted", Some(("Pod", ""))), None);
        assert!(!Knowledge::builtin().recognise("my-app-deleted").unwrap().certain);
        assert!(
            !Knowledge::builtin()
                .recognise("widgets.example.com/finalizer")
                .unwrap()
                .certain
        );
        assert!(Knowledge::builtin().recognise("kubewarden").unwrap().certain);
        assert_eq!(
            entry_for("gardener", Some(("Shoot", "core.gardener.cloud"))).as_deref(),
            Some("gardener")
        );
        assert_eq!(entry_for("gardener", Some(("Widget", "example.com"))), None);
    }

    #[test]
    fn uses_the_last_resort_last_and_only_on_custom_resources() {
        assert_eq!(
            entry_for("a.b.c/finalizer", Some(("A", "b.c"))).as_deref(),
            Some("*.*/finalizer")
        );
        assert_eq!(entry_for("a.b.c/finalizer", Some(("Pod", ""))), None);
        let azure = entry_for(
            "serviceoperator.azure.com/finalizer",
            Some(("Any", "thing.example.com")),
        );
        assert_eq!(azure.as_deref(), Some("serviceoperator.azure.com/finalizer"));
    }

    #[test]
    fn finds_the_entry_by_a_former_name() {
        let found = entry_for("hetznercluster.infrastructure.cluster.x-k8s.io", None);
        assert_eq!(
            found.as_deref(),
            Some("infrastructure.cluster.x-k8s.io/hetznercluster")
        );
    }

    #[test]
    fn returns_the_text_that_the_wildcard_matched() {
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
    fn recognises_a_name_in_another_case() {
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
