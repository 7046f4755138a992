//! Kinds in the form `Kind` for the core group and `Kind.group` for every other, with `*` in either part.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::glob;

/// The kind of an object, for finding the entries about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupKind<'a> {
    /// API group; empty for the core group.
    pub group: &'a str,
    /// Kind, singular and in camel case.
    pub kind: &'a str,
}

/// The kinds of an entry: `Service`, `Ingress.networking.k8s.io`, `*.kafka.strimzi.io`, `*.*.crossplane.io`,
/// `ProviderConfig.*`, or `*` for any object.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(
    test,
    schemars(extend("pattern" = r"^([A-Z*][A-Za-z0-9*]*|[A-Za-z0-9*]+\.[a-z0-9*-]([a-z0-9.*-]*[a-z0-9*-])?)$"))
)]
pub struct KindPattern {
    kind: String,
    group: String,
}

impl KindPattern {
    /// The kind, which can contain `*`.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// The group, which can contain `*`; empty for the core group.
    pub fn group(&self) -> &str {
        &self.group
    }

    /// Whether the pattern matches objects of this kind. The pattern `*` matches any group.
    pub fn matches(&self, object: GroupKind<'_>) -> bool {
        glob(&self.kind, object.kind) && glob(&self.group, object.group)
    }

    /// Whether a kind can match both. A wrong yes is possible only if both have a `*` in the same part.
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
        // A few products have kinds in lower case (`postgresql.acid.zalan.do`). Without a group, a lower-case
        // word is the name of a resource.
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
