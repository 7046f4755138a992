//! The part of every report about what could not be read.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

pub use crate::diagnose::first_names;
use crate::snapshot::{Gap, What, Why};

/// One thing that was not read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GapReport {
    /// Its cluster, if the run reads several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// What: `types`, `group`, `type`, `namespaces`, `namespace`, `file`, `controller` or `cluster`.
    pub what: &'static str,
    /// Its name: `plural.group`, `group/version`, `/api` or `/apis`, a namespace, a path or a product.
    pub name: Option<String>,
    /// The namespace that the gap is limited to.
    pub namespace: Option<String>,
    /// The only namespaces in which the type was read. The gap is everything outside them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only_in: Option<Vec<String>>,
    /// Number of objects that were read before the failure.
    #[serde(skip_serializing_if = "is_zero")]
    pub objects_read: u64,
    /// The types that this gap is known to hide.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hides: Vec<String>,
    /// Line in the file, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// One word: `Forbidden`, `Unavailable`, `TimedOut` …
    pub reason: &'static str,
    /// The full reason, in the server's words if it gave any.
    pub message: String,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature is serde's")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl From<&Gap> for GapReport {
    fn from(gap: &Gap) -> Self {
        let mut report = GapReport {
            cluster: None,
            what: "type",
            name: None,
            namespace: None,
            read_only_in: None,
            objects_read: 0,
            hides: Vec::new(),
            line: None,
            reason: gap.why.word(),
            message: gap.why.message(),
        };
        match &gap.what {
            What::Discovery => report.what = "types",
            What::CoreGroup => {
                report.what = "types";
                report.name = Some("/api".into());
            }
            What::Groups => {
                report.what = "types";
                report.name = Some("/apis".into());
            }
            What::GroupVersion { types, .. } => {
                report.what = "group";
                report.name = gap.what.silent_group();
                report.hides.clone_from(types);
            }
            What::Type { name, read } => {
                report.name = Some(name.clone());
                report.objects_read = *read;
            }
            What::TypeOutside { name, read_in } => {
                report.name = Some(name.clone());
                report.read_only_in = Some(read_in.clone());
            }
            What::TypeIn {
                name,
                namespace,
                read,
            } => {
                report.name = Some(name.clone());
                report.namespace = Some(namespace.clone());
                report.objects_read = *read;
            }
            What::Namespaces => {
                report.what = "namespaces";
                report.name = Some("namespaces".into());
            }
            What::Namespace(name) => {
                report.what = "namespace";
                report.name = Some(name.clone());
            }
            What::File { path, line } => {
                report.what = "file";
                report.name = Some(path.clone());
                report.line = *line;
            }
            What::Controller(product) => {
                report.what = "controller";
                report.name = Some(product.clone());
            }
            What::Version => {
                report.what = "version";
                report.name = Some("/version".into());
            }
        }
        report
    }
}

/// Whether more was not read than these API groups.
pub fn are_beside(gaps: &[GapReport], groups: &[String]) -> bool {
    let is_accepted = |gap: &GapReport| groups.iter().any(|group| gap.is_of_group(group));
    !gaps.iter().all(is_accepted)
}

impl GapReport {
    /// A cluster of which nothing was read.
    pub fn of_cluster(cluster: &str, reason: &'static str, message: String) -> Self {
        GapReport {
            cluster: Some(cluster.to_owned()),
            what: "cluster",
            name: Some(cluster.to_owned()),
            namespace: None,
            read_only_in: None,
            objects_read: 0,
            hides: Vec::new(),
            line: None,
            reason,
            message,
        }
    }

    /// Whether the API group, given as `metrics.k8s.io` or `metrics.k8s.io/v1beta1`, is what was not read. A type that
    /// the group serves and that could not be listed is another gap.
    pub fn is_of_group(&self, given: &str) -> bool {
        let name = self.name.as_deref().unwrap_or_default();
        let (group, _) = name.split_once('/').unwrap_or((name, ""));
        self.what == "group" && (name == given || group == given)
    }

    /// What was not read, in words.
    pub fn subject(&self) -> String {
        let name = self.name.clone().unwrap_or_default();
        let is_of_dump = self.reason == Why::NotInDump.word();
        match (self.what, &self.namespace, self.line) {
            ("types", ..) if is_of_dump => "some types".into(),
            (_, Some(namespace), _) if is_of_dump && name == "all types" => {
                format!("some types in {namespace}")
            }
            ("types", ..) => match name.as_str() {
                "/api" => "all types of the core group (/api)".into(),
                "/apis" => "all types outside of the core group (/apis)".into(),
                _ => "the list of types".into(),
            },
            ("namespace", ..) => format!("namespace {name} itself"),
            ("controller", ..) => format!("the controller of {name}"),
            ("cluster", ..) => "everything".into(),
            ("version", ..) => "the version of the API server (/version)".into(),
            ("file", _, Some(line)) => format!("{name}, line {line}"),
            (_, Some(namespace), _) => format!("{name} in {namespace}"),
            _ => name,
        }
    }
}

/// Gaps with the same reason. One missing permission that hides three hundred types is one line for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GapGroup<'a> {
    /// What was not read, in words.
    pub subjects: Vec<String>,
    /// The reason, in words.
    pub why: String,
    /// The gaps.
    pub gaps: Vec<&'a GapReport>,
}

/// Groups gaps by what the user can do about them.
pub fn grouped(gaps: &[GapReport]) -> Vec<GapGroup<'_>> {
    let mut groups: BTreeMap<String, GapGroup<'_>> = BTreeMap::new();
    for gap in gaps {
        let why = reason_in_words(gap);
        let group = groups.entry(why.clone()).or_insert_with(|| GapGroup {
            subjects: Vec::new(),
            why,
            gaps: Vec::new(),
        });
        group.gaps.push(gap);
    }
    for group in groups.values_mut() {
        // A fleet has thousands of gaps.
        let whole: BTreeSet<_> = group.gaps.iter().filter_map(|gap| gap.whole_type()).collect();
        let is_told = |gap: &&&GapReport| gap.namespace.is_none() || !whole.contains(&gap.of_what());
        let told = group.gaps.iter().filter(is_told);
        group.subjects = told.map(|gap| gap.subject()).collect();
    }
    groups.into_values().collect()
}

fn reason_in_words(gap: &GapReport) -> String {
    let mut why = match gap.reason {
        // The server's text repeats the user and the type. The word `forbidden` is enough to act on.
        "Forbidden" => match gap.read_only_in.as_deref() {
            None => "forbidden".to_owned(),
            Some([]) => "forbidden, also within every namespace that could be tried".to_owned(),
            Some(namespaces) => format!("forbidden outside {}", first_names(namespaces, 4)),
        },
        "NotInDump" => "not recorded".to_owned(),
        "Interrupted" if gap.objects_read > 0 => "stopped while it was read".to_owned(),
        "Interrupted" => "stopped before they were read".to_owned(),
        _ => gap.message.clone(),
    };
    if gap.objects_read > 0 {
        let s = if gap.objects_read == 1 { "" } else { "s" };
        why = format!("{why} (after {} object{s})", gap.objects_read);
    }
    if !gap.hides.is_empty() {
        why = format!("{why}; hides {}", first_names(&gap.hides, 6));
    }
    why
}

impl GapReport {
    /// What was not read, wherever it is.
    fn of_what(&self) -> (&str, Option<&str>, Option<&str>) {
        (self.what, self.name.as_deref(), self.cluster.as_deref())
    }

    /// The same, if nothing of it was read in any namespace.
    fn whole_type(&self) -> Option<(&str, Option<&str>, Option<&str>)> {
        (self.namespace.is_none() && self.read_only_in.is_none()).then(|| self.of_what())
    }

    /// Whether this was not read because the user stopped the run.
    pub fn is_interruption(&self) -> bool {
        self.reason == Why::Interrupted.word()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_type(name: &str, why: Why) -> Gap {
        Gap {
            what: What::Type {
                name: name.into(),
                read: 0,
            },
            why,
        }
    }

    /// The lines that the user sees.
    fn lines(gaps: &[Gap]) -> Vec<String> {
        let reports: Vec<_> = gaps.iter().map(GapReport::from).collect();
        grouped(&reports)
            .iter()
            .map(|group| format!("{}: {}", first_names(&group.subjects, 6), group.why))
            .collect()
    }

    #[test]
    fn a_silent_group_is_known_by_its_name_with_or_without_a_version() {
        let silent = GapReport {
            what: "group",
            name: Some("metrics.k8s.io/v1beta1".into()),
            ..GapReport::from(&of_type("any", Why::Forbidden("no".into())))
        };
        for given in ["metrics.k8s.io", "metrics.k8s.io/v1beta1"] {
            assert!(silent.is_of_group(given), "{given}");
        }
        for given in ["", "k8s.io", "custom.metrics.k8s.io", "metrics.k8s.io/v1"] {
            assert!(!silent.is_of_group(given), "{given}");
        }
        // A type of that group is another gap.
        let forbidden = GapReport::from(&of_type("pods.metrics.k8s.io", Why::Forbidden("no".into())));
        assert!(!forbidden.is_of_group("metrics.k8s.io"));
    }

    #[test]
    fn merges_gaps_of_one_missing_permission_into_one_line() {
        let forbidden = |name: &str| {
            of_type(
                name,
                Why::Forbidden(format!("{name} is forbidden: User \"alice\" cannot list")),
            )
        };
        assert_eq!(
            lines(&[forbidden("pods"), forbidden("secrets")]),
            ["pods, secrets: forbidden"]
        );
        let many: Vec<_> = (0..20).map(|n| forbidden(&format!("type{n}"))).collect();
        assert_eq!(
            lines(&many),
            ["type0, type1, type2, type3, type4, type5 and 14 more: forbidden"]
        );
    }

    #[test]
    fn a_type_that_was_not_read_at_all_is_not_named_for_a_namespace_again() {
        let inside = |name: &str| Gap {
            what: What::TypeIn {
                name: name.into(),
                namespace: "db".into(),
                read: 0,
            },
            why: Why::NotInDump,
        };
        let gaps = [
            of_type("pods", Why::NotInDump),
            inside("pods"),
            inside("jobs.batch"),
        ];
        assert_eq!(lines(&gaps), ["pods, jobs.batch in db: not recorded"]);
    }

    #[test]
    fn names_the_namespaces_in_which_a_type_was_read() {
        let outside = |read_in: &[&str]| Gap {
            what: What::TypeOutside {
                name: "pods".into(),
                read_in: read_in.iter().map(|&name| name.to_owned()).collect(),
            },
            why: Why::Forbidden("no".into()),
        };
        assert_eq!(lines(&[outside(&["a", "b"])]), ["pods: forbidden outside a, b"]);
        assert_eq!(
            lines(&[outside(&["a", "b", "c", "d", "e", "f"])]),
            ["pods: forbidden outside a, b, c, d and 2 more"]
        );
        assert_eq!(
            lines(&[outside(&[])]),
            ["pods: forbidden, also within every namespace that could be tried"]
        );
    }

    #[test]
    fn shows_the_servers_words_the_objects_read_and_the_hidden_types() {
        let stale = Gap {
            what: What::GroupVersion {
                group: "metrics.k8s.io".into(),
                version: "v1beta1".into(),
                types: vec!["nodes.metrics.k8s.io".into(), "pods.metrics.k8s.io".into()],
            },
            why: Why::Unavailable("APIService v1beta1.metrics.k8s.io: MissingEndpoints: no addresses".into()),
        };
        let half = Gap {
            what: What::TypeIn {
                name: "pods".into(),
                namespace: "db".into(),
                read: 1,
            },
            why: Why::ServerError("etcdserver: request timed out".into()),
        };
        assert_eq!(
            lines(&[stale, half]),
            [
                "metrics.k8s.io/v1beta1: APIService v1beta1.metrics.k8s.io: MissingEndpoints: no addresses; hides nodes.metrics.k8s.io, pods.metrics.k8s.io",
                "pods in db: etcdserver: request timed out (after 1 object)",
            ]
        );
    }

    #[test]
    fn tells_an_interrupted_list_from_one_that_never_started() {
        let stopped = |read| Gap {
            what: What::Type {
                name: "pods".into(),
                read,
            },
            why: Why::Interrupted,
        };
        assert_eq!(lines(&[stopped(0)]), ["pods: stopped before they were read"]);
        assert_eq!(
            lines(&[stopped(500)]),
            ["pods: stopped while it was read (after 500 objects)"]
        );
    }

    #[test]
    fn names_the_subject_of_every_kind_of_gap() {
        let subject = |what| {
            GapReport::from(&Gap {
                what,
                why: Why::Vanished,
            })
            .subject()
        };
        assert_eq!(subject(What::Discovery), "the list of types");
        assert_eq!(subject(What::CoreGroup), "all types of the core group (/api)");
        assert_eq!(
            subject(What::Groups),
            "all types outside of the core group (/apis)"
        );
        assert_eq!(subject(What::Namespaces), "namespaces");
        assert_eq!(subject(What::Namespace("db".into())), "namespace db itself");
        let file = |line| What::File {
            path: "dump.yaml".into(),
            line,
        };
        assert_eq!(subject(file(None)), "dump.yaml");
        assert_eq!(subject(file(Some(7))), "dump.yaml, line 7");
        let group = |group: &str, version: &str| What::GroupVersion {
            group: group.into(),
            version: version.into(),
            types: Vec::new(),
        };
        assert_eq!(subject(group("", "v1")), "v1");
        assert_eq!(subject(group("odd.example", "")), "odd.example");
    }
}
