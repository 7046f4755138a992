//! What was not read, as every result carries it.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::snapshot::{Gap, What, Why};

/// One thing that was not read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GapReport {
    /// What: `types`, `group`, `type`, `namespaces`, `namespace` or `file`.
    pub what: &'static str,
    /// Its name: `plural.group`, `group/version`, `/api` or `/apis`, a namespace or a path.
    pub name: Option<String>,
    /// The namespace that the gap is limited to.
    pub namespace: Option<String>,
    /// The only namespaces in which it was read, if the gap is everything outside them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only_in: Option<Vec<String>>,
    /// How many of its objects were read before it failed.
    #[serde(skip_serializing_if = "is_zero")]
    pub objects_read: u64,
    /// Types that it is known to hide.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hides: Vec<String>,
    /// Line in the file, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// One word: `Forbidden`, `Unavailable`, `TimedOut` …
    pub reason: &'static str,
    /// The reason in full, in the server's words where it has any.
    pub message: String,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature is serde's")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl From<&Gap> for GapReport {
    fn from(gap: &Gap) -> Self {
        let mut report = GapReport {
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
        }
        report
    }
}

impl GapReport {
    /// What it is about, in words.
    pub fn subject(&self) -> String {
        let name = self.name.clone().unwrap_or_default();
        match (self.what, &self.namespace, self.line) {
            ("types", ..) => match name.as_str() {
                "/api" => "all types of the core group (/api)".into(),
                "/apis" => "all types outside of the core group (/apis)".into(),
                _ => "the list of types".into(),
            },
            ("namespace", ..) => format!("namespace {name} itself"),
            ("file", _, Some(line)) => format!("{name}, line {line}"),
            (_, Some(namespace), _) => format!("{name} in {namespace}"),
            _ => name,
        }
    }
}

/// Gaps with the same reason, for people: the three hundred types that one missing right hides are one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GapGroup<'a> {
    /// What was not read, in words.
    pub subjects: Vec<String>,
    /// Why, in words.
    pub why: String,
    /// The gaps.
    pub gaps: Vec<&'a GapReport>,
}

/// Groups gaps by what a person would do about them.
pub fn grouped(gaps: &[GapReport]) -> Vec<GapGroup<'_>> {
    let mut groups: BTreeMap<String, GapGroup<'_>> = BTreeMap::new();
    for gap in gaps {
        let why = why(gap);
        let group = groups.entry(why.clone()).or_insert_with(|| GapGroup {
            subjects: Vec::new(),
            why,
            gaps: Vec::new(),
        });
        group.subjects.push(gap.subject());
        group.gaps.push(gap);
    }
    groups.into_values().collect()
}

fn why(gap: &GapReport) -> String {
    let mut why = match gap.reason {
        // The server's text repeats user and type; the word is what people act on.
        "Forbidden" => match gap.read_only_in.as_deref() {
            None => "forbidden".to_owned(),
            Some([]) => "forbidden, also within every namespace that could be tried".to_owned(),
            Some(namespaces) => format!("forbidden outside {}", some(namespaces, 4)),
        },
        "NotInDump" => "not in the dump".to_owned(),
        "Interrupted" => "stopped before they were read".to_owned(),
        _ => gap.message.clone(),
    };
    if gap.objects_read > 0 {
        let s = if gap.objects_read == 1 { "" } else { "s" };
        why = format!("{why} (after {} object{s})", gap.objects_read);
    }
    if !gap.hides.is_empty() {
        why = format!("{why}; hides {}", some(&gap.hides, 6));
    }
    why
}

/// The first few of some names, and how many more there are.
pub fn some(names: &[String], most: usize) -> String {
    if names.len() <= most {
        return names.join(", ");
    }
    format!("{} and {} more", names[..most].join(", "), names.len() - most)
}

impl GapReport {
    /// Whether the user stopped the reading before this came.
    pub fn is_interruption(&self) -> bool {
        self.reason == Why::Interrupted.word()
    }
}
