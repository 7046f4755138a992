//! Deduces facts about a finalizer from its name alone, if nobody described it. Output must mark them as
//! deduced.

use std::collections::BTreeSet;

use serde::Serialize;

use super::{Knowledge, builtin};
use crate::command::Command;

/// Domains that many unrelated projects share. Two names in one of them are not related.
const SHARED: [&str; 9] = [
    "cluster.x-k8s.io",
    "infrastructure.cluster.x-k8s.io",
    "k8s.io",
    "x-k8s.io",
    "kubernetes.io",
    "github.io",
    "github.com",
    "openshift.io",
    "k8s.aws",
];

/// Labels of a domain that mean "finalizer" and do not identify an owner.
const NOISE: [&str; 5] = ["finalizer", "finalizers", "cleanup", "protection", "finalize"];

/// Maximum number of related names, so that the list stays useful.
const RELATED_LIMIT: usize = 8;

/// What the name of an unknown finalizer suggests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Deduced {
    /// The finalizer.
    pub name: String,
    /// The domain in it. Kubernetes recommends the form `domain/name`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// API groups whose controller probably added it, the most probable first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub api_groups: Vec<String>,
    /// The resource in the name (`<plural>.<group>/finalizer`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
    /// The known project with the same domain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Known finalizers of the same domain.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<String>,
    /// Its name suggests foreground or orphan deletion, but it is not the garbage collector's finalizer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub propagation: Option<Propagation>,
    /// Known finalizers with a similar spelling, the nearest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub near: Vec<String>,
    /// What to look at in the cluster to find the controller that must remove it.
    pub look_at: Vec<Look>,
}

/// Where to look, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Look {
    /// The question that it answers.
    pub text: String,
    /// The command.
    #[serde(flatten)]
    pub command: Command,
}

/// The meaning of a garbage collector finalizer whose words appear in a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Propagation {
    /// Like `foregroundDeletion`: it probably waits for other objects to be deleted first.
    Foreground,
    /// Like `orphan`: it probably keeps other objects.
    Orphan,
}

impl Knowledge {
    /// Deduces what the name suggests without an entry.
    pub fn deduce(&self, name: &str) -> Deduced {
        let domain = domain(name);
        let related = domain
            .as_deref()
            .map(|domain| self.related(name, domain))
            .unwrap_or_default();
        let relative = related
            .first()
            .and_then(|first| self.lookup_all(first).into_iter().next());
        let (resource, mut api_groups) = groups(name, domain.as_deref());
        if let (Some(relative), Some(domain)) = (&relative, &domain) {
            // A group that the same project is known to serve is a better guess than a part of the name.
            let serves = |group: &String| domain == group || domain.ends_with(&format!(".{group}"));
            let known: Vec<String> = relative
                .holder
                .api_groups
                .iter()
                .filter(|group| serves(group))
                .cloned()
                .collect();
            api_groups.retain(|group| !known.contains(group));
            api_groups.splice(0..0, known);
        }
        let look_at = search_steps(name);
        Deduced {
            name: name.to_owned(),
            resource,
            project: relative.map(|entry| entry.project),
            related,
            propagation: propagation(name),
            near: self.near(name),
            look_at,
            domain,
            api_groups,
        }
    }

    fn related(&self, name: &str, domain: &str) -> Vec<String> {
        let Some(own) = own_domain(domain) else {
            return Vec::new();
        };
        let patterns = builtin::patterns();
        let all: BTreeSet<&str> = self
            .names()
            .chain(patterns)
            .filter(|other| *other != name)
            .collect();
        let shares = |other: &&str| {
            self::domain(other).is_some_and(|other| other == own || other.ends_with(&format!(".{own}")))
        };
        let mut related: Vec<&str> = all.into_iter().filter(shares).collect();
        // Names with more common labels come first. The sort is stable, so the rest stays sorted by name.
        related.sort_by_key(|other| std::cmp::Reverse(common_labels(domain, other)));
        related
            .into_iter()
            .take(RELATED_LIMIT)
            .map(str::to_owned)
            .collect()
    }

    pub(super) fn near(&self, name: &str) -> Vec<String> {
        let wanted = name.to_lowercase();
        // Up to a fifth of the name may differ, so that it stays recognisable.
        let limit = (wanted.chars().count() / 5).min(4);
        let all: BTreeSet<&str> = self.names().collect();
        let letters = Letters::of(&wanted);
        let distance = |other: &str| {
            // The length rules out most names, and their letters most of the rest. The distance takes far longer.
            let may_be = other.len().abs_diff(wanted.len()) <= limit;
            (may_be && letters.lacking(other) <= limit)
                .then(|| strsim::osa_distance(&wanted, &other.to_lowercase()))
                .filter(|edits| *edits <= limit)
        };
        let mut near: Vec<(usize, &str)> = all
            .into_iter()
            .filter_map(|other| Some((distance(other)?, other)))
            .collect();
        near.sort_unstable();
        near.into_iter()
            .take(3)
            .map(|(_, other)| other.to_owned())
            .collect()
    }
}

/// How often each ASCII letter occurs in a name that is written in small letters.
struct Letters([isize; 128]);

impl Letters {
    fn of(name: &str) -> Self {
        let mut letters = Letters([0; 128]);
        for byte in name.bytes() {
            if let Some(count) = letters.0.get_mut(usize::from(byte)) {
                *count = count.saturating_add(1);
            }
        }
        letters
    }

    /// How many letters of the other name this one lacks. At least as many edits lie between the two.
    fn lacking(&self, other: &str) -> usize {
        let mut left = self.0;
        let lacks = |byte: &u8| {
            let count = left.get_mut(usize::from(byte.to_ascii_lowercase()));
            count.is_some_and(|count| {
                *count = count.saturating_sub(1);
                *count < 0
            })
        };
        other.bytes().filter(lacks).count()
    }
}

/// The domain in a name: the part before the slash, or the whole name if it is a domain.
fn domain(name: &str) -> Option<String> {
    let candidate = name.split('/').next().unwrap_or(name).to_ascii_lowercase();
    let label = |text: &str| {
        !text.is_empty()
            && text
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_' || c == '*')
    };
    (candidate.contains('.') && candidate.split('.').all(label)).then_some(candidate)
}

/// Whether a name says in a domain whose it is.
pub(super) fn has_domain(name: &str) -> bool {
    let last = domain(name).and_then(|domain| domain.rsplit('.').next().map(str::to_owned));
    last.is_some_and(|last| !NOISE.contains(&&*last))
}

/// Whether two names, of finalizers or groups, have a domain of one project.
pub fn is_of_one_project(name: &str, other: &str) -> bool {
    let (domain, other) = (domain(name), domain(other));
    let project = domain.as_deref().and_then(own_domain);
    project.is_some() && project == other.as_deref().and_then(own_domain)
}

/// The part of a domain that belongs to one project, if any.
fn own_domain(domain: &str) -> Option<&str> {
    let tail = |labels: usize| {
        domain
            .rmatch_indices('.')
            .nth(labels - 1)
            .and_then(|(dot, _)| domain.get(dot + 1..))
            .unwrap_or(domain)
    };
    (2..=domain.split('.').count())
        .map(tail)
        .find(|tail| !SHARED.contains(tail))
}

fn common_labels(domain: &str, other: &str) -> usize {
    let other = self::domain(other).unwrap_or_default();
    domain
        .rsplit('.')
        .zip(other.rsplit('.'))
        .take_while(|(a, b)| a == b)
        .count()
}

/// The resource and the groups in a name.
fn groups(name: &str, domain: Option<&str>) -> (Option<String>, Vec<String>) {
    let Some(domain) = domain else {
        return (None, Vec::new());
    };
    let labels: Vec<&str> = domain
        .split('.')
        .filter(|label| !NOISE.contains(label) && !label.contains('*'))
        .collect();
    let whole = labels.join(".");
    let rest = labels.iter().skip(1).copied().collect::<Vec<_>>().join(".");
    // Java Operator SDK and many Go operators write `widgets.example.com/finalizer`: the plural, then the
    // group.
    let plural = labels
        .first()
        .filter(|first| labels.len() > 2 && first.ends_with('s') && !first.contains('-'));
    let resource = plural
        .filter(|_| name.ends_with("/finalizer"))
        .map(|first| (*first).to_owned());
    let mut groups = if resource.is_some() {
        vec![rest.clone(), whole]
    } else {
        vec![whole, rest]
    };
    groups.retain(|group| group.contains('.'));
    groups.dedup();
    (resource, groups)
}

fn propagation(name: &str) -> Option<Propagation> {
    let name = name.to_lowercase();
    if name.contains("foreground") {
        return Some(Propagation::Foreground);
    }
    name.contains("orphan").then_some(Propagation::Orphan)
}

/// Steps that find the controller. What the name suggests is only a guess, so they ask the cluster about the object.
fn search_steps(name: &str) -> Vec<Look> {
    let step = |text: &str, command: Command| Look {
        text: text.to_owned(),
        command,
    };
    let mut steps = vec![step(
        "See who added it, who may change the object, and who changed it last.",
        Command::of("kubectl finalizers explain {type}/{name} -n {namespace}", []),
    )];
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    // A name that is not plain would be a pattern, or would have to be quoted.
    if name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(plain) {
        steps.push(step(
            "See which objects have it, and which controllers may remove it.",
            Command::of("kubectl finalizers scan --by holder --finalizer {}", [name]),
        ));
    }
    steps.push(step(
        "See who wrote the finalizer, and who writes the status of the object.",
        Command::of(
            "kubectl get {type} {name} -n {namespace} -o yaml --show-managed-fields",
            [],
        ),
    ));
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deduce(name: &str) -> Deduced {
        Knowledge::builtin().deduce(name)
    }

    #[test]
    fn finds_the_project_by_its_other_finalizers() {
        let deduced = deduce("order.acme.cert-manager.io/finalizer");
        assert_eq!(deduced.domain.as_deref(), Some("order.acme.cert-manager.io"));
        assert_eq!(deduced.project.as_deref(), Some("cert-manager"));
        assert!(
            deduced
                .related
                .contains(&"acme.cert-manager.io/finalizer".to_owned())
        );
        let longhorn = deduce("foreground.finalizer.longhorn.io");
        assert_eq!(longhorn.project.as_deref(), Some("Longhorn"));
        assert_eq!(longhorn.propagation, Some(Propagation::Foreground));
        assert_eq!(longhorn.api_groups, ["longhorn.io", "foreground.longhorn.io"]);
    }

    #[test]
    fn a_name_lacks_no_more_letters_of_another_than_edits_lie_between_them() {
        let knowledge = Knowledge::builtin();
        let names: Vec<_> = knowledge.names().step_by(15).map(str::to_lowercase).collect();
        for name in &names {
            let letters = Letters::of(name);
            for other in &names {
                assert!(
                    letters.lacking(other) <= strsim::osa_distance(name, other),
                    "{name} {other}"
                );
            }
        }
        assert_eq!(Letters::of("a.example/b").lacking("A.EXAMPLE/cbb"), 2);
    }

    #[test]
    fn names_are_of_one_project_if_they_share_a_domain_that_is_its_own() {
        for (name, other, is_one) in [
            (
                "serviceoperator.azure.com/finalizer",
                "authorization.azure.com",
                true,
            ),
            ("finalizer.acme.cert-manager.io", "acme.cert-manager.io", true),
            ("finalizer.acme.cert-manager.io", "acme.another-project.io", false),
            ("cleanup", "acme.cert-manager.io", false),
            ("kueue.x-k8s.io/managed", "cluster.x-k8s.io", false),
        ] {
            assert_eq!(is_of_one_project(name, other), is_one, "{name} {other}");
        }
    }

    #[test]
    fn does_not_take_a_shared_domain_for_a_project() {
        assert_eq!(deduce("nosuch.infrastructure.cluster.x-k8s.io").project, None);
        assert_eq!(deduce("example.k8s.io/x").project, None);
    }

    #[test]
    fn finds_the_resource_in_the_name() {
        let deduced = deduce("widgets.factory.example.com/finalizer");
        assert_eq!(deduced.resource.as_deref(), Some("widgets"));
        assert_eq!(
            deduced.api_groups.first().map(String::as_str),
            Some("factory.example.com")
        );
    }

    #[test]
    fn suggests_names_with_a_similar_spelling() {
        assert_eq!(
            deduce("kubernetes.io/pv-protecton")
                .near
                .first()
                .map(String::as_str),
            Some("kubernetes.io/pv-protection")
        );
        assert_eq!(
            deduce("forgroundDeletion").near,
            ["foregroundDeletion", "foreground-deletion"]
        );
        assert_eq!(deduce("x").near, Vec::<String>::new());
    }

    #[test]
    fn keeps_shell_syntax_out_of_commands() {
        for name in [
            "$(reboot).example.com/x",
            "a.b; rm -rf /",
            "-f.example.com/x",
            "`x`.y/z",
        ] {
            for look in deduce(name).look_at {
                let command = look.command.to_string();
                assert!(!command.contains(['$', ';', '`']), "{command}");
            }
        }
    }
}
