//! Kinds, written `Kind` for the core group and `Kind.group` for every other, with `*` in either part.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::glob;

/// A kind of object as a question: which entries are about objects like this one?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupKind<'a> {
    /// API group; empty for the core group.
    pub group: &'a str,
    /// Kind, singular and in camel case.
    pub kind: &'a str,
}

/// The kinds that an entry is about: `Service`, `Ingress.networking.k8s.io`, `*.kafka.strimzi.io`,
/// `*.*.crossplane.io`, `ProviderConfig.*`, or `*` for any object at all.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct KindPattern {
    kind: String,
    group: String,
}

impl KindPattern {
    /// Kind part, perhaps with `*`.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// Group part, perhaps with `*`; empty for the core group.
    pub fn group(&self) -> &str {
        &self.group
    }

    /// Whether an object of this kind is meant. Any group will do for the pattern `*`.
    pub fn matches(&self, object: GroupKind<'_>) -> bool {
        glob(&self.kind, object.kind) && glob(&self.group, object.group)
    }

    /// Whether some kind could match both. Errs on the side of yes only where both have a `*` in the same part.
    pub fn overlaps(&self, other: &Self) -> bool {
        let part = |a: &str, b: &str| glob(a, b) || glob(b, a);
        part(&self.kind, &other.kind) && part(&self.group, &other.group)
    }
}

impl TryFrom<String> for KindPattern {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text == "*" {
            return Ok(Self {
                kind: "*".to_owned(),
                group: "*".to_owned(),
            });
        }
        let (kind, group) = text.split_once('.').unwrap_or((&text, ""));
        // A few products do name a kind in lower case (`postgresql.acid.zalan.do`); a bare one is a resource's name.
        let starts_well = kind.starts_with(|c: char| c == '*' || c.is_ascii_uppercase() || !group.is_empty());
        let kind_ok =
            starts_well && !kind.is_empty() && kind.chars().all(|c| c.is_ascii_alphanumeric() || c == '*');
        let names_group = text.contains('.');
        let in_group = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.*".contains(c);
        let group_ok = group.chars().all(in_group)
            && !group.starts_with('.')
            && !group.ends_with('.')
            && names_group != group.is_empty();
        if kind_ok && group_ok {
            return Ok(Self {
                kind: kind.to_owned(),
                group: group.to_owned(),
            });
        }
        Err(format!(
            "`{text}` is not a kind: write `Kind` (core group) or `Kind.group`, such as `Ingress.networking.k8s.io`"
        ))
    }
}

impl From<KindPattern> for String {
    fn from(pattern: KindPattern) -> Self {
        pattern.to_string()
    }
}

impl fmt::Display for KindPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.kind.as_str(), self.group.as_str()) {
            ("*", "*") => f.write_str("*"),
            (kind, "") => f.write_str(kind),
            (kind, group) => write!(f, "{kind}.{group}"),
        }
    }
}
