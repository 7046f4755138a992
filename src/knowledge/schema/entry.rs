//! One entry: everything that is known about one finalizer, with what its file gives to all of them filled in.
//!
//! People write the keys of files in words (`if-removed`); what the program prints as JSON or YAML has the keys of
//! all its output (`ifRemoved`). Types that are read from both accept both.

use serde::{Deserialize, Serialize};

use super::{
    Area, Consequence, FoundBy, GroupKind, IfHolder, Judged, KindPattern, List, Match, Runs, Wait,
    WorkloadKind, glob, literals,
};

/// Everything that is known about one finalizer, or about a family of names that one pattern describes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// The finalizer, or the pattern.
    pub name: String,
    /// How `name` is compared.
    #[serde(default)]
    pub r#match: Match,
    /// Which list it stands in.
    #[serde(default)]
    pub list: List,
    /// A name as it is really seen; for an exact match the name itself.
    pub example: String,
    /// Project that it belongs to.
    pub project: String,
    /// The project's home.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<String>,
    /// What the project is for.
    pub area: Area,
    /// The part or feature of the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part_of: Option<String>,
    /// Kinds of object that carry it.
    pub kinds: Vec<KindPattern>,
    /// The entry is about these kinds only: the name alone is too short to say whose it is.
    #[serde(default, skip_serializing_if = "is_false")]
    pub kinds_only: bool,
    /// Used only where no other entry matches.
    #[serde(default, skip_serializing_if = "is_false")]
    pub last_resort: bool,
    /// Which objects of these kinds, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found_on: Option<String>,
    /// What it protects, as a short noun phrase.
    pub protects: String,
    /// What must be true before the holder removes it.
    pub waits_for: WaitsFor,
    /// Who removes it, in words.
    pub removed_by: String,
    /// How that somebody is found.
    pub holder: Holder,
    /// What happens if it is removed by hand.
    pub if_removed: IfRemoved,
    /// What to do, in order; the gentlest first.
    pub fix: Vec<Step>,
    /// How to see that the holder did its work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done_when: Option<String>,
    /// What must not be done, or must be known first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// First version that has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// Last version that has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Names that it had before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub renamed_from: Vec<String>,
    /// The name that it has now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renamed_to: Option<String>,
    /// Upstream files that say so, each `owner/repo:path`.
    pub sources: Vec<String>,
    /// The sources have been read and do say so.
    pub verified: bool,
    /// What is our judgement rather than in the sources.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub judgement: Vec<Judged>,
    /// Anything else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// What must be true before the holder lets go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct WaitsFor {
    /// In words.
    pub text: String,
    /// The same for a program, as far as it can be looked up; all of them must come true.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on: Vec<Wait>,
}

/// Traces by which the holder, or the product that it is part of, is found. Each name may contain `*`; a Lease or
/// workload name may contain `{driver}`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    rename_all(serialize = "camelCase", deserialize = "kebab-case"),
    deny_unknown_fields
)]
pub struct Holder {
    /// Where it runs.
    #[serde(default, skip_serializing_if = "is_default")]
    pub runs: Runs,
    /// Platforms on which a control plane that is otherwise visible cannot be seen.
    #[serde(default, alias = "hiddenOn", skip_serializing_if = "Vec::is_empty")]
    pub hidden_on: Vec<String>,
    /// How it is found when its name is not fixed.
    #[serde(default, alias = "foundBy", skip_serializing_if = "Vec::is_empty")]
    pub found_by: Vec<FoundBy>,
    /// Namespaces that it usually runs in, the most usual first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub namespaces: Vec<String>,
    /// Leases that it renews.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leases: Vec<Lease>,
    /// Workloads that it runs as.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workloads: Vec<Workload>,
    /// `ServiceAccounts` that it acts as.
    #[serde(default, alias = "serviceAccounts", skip_serializing_if = "Vec::is_empty")]
    pub service_accounts: Vec<String>,
    /// Names that it leaves in `metadata.managedFields`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub managers: Vec<String>,
    /// Webhook configurations that belong to the product.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub webhooks: Vec<String>,
    /// `APIServices` that belong to the product.
    #[serde(default, alias = "apiServices", skip_serializing_if = "Vec::is_empty")]
    pub api_services: Vec<String>,
    /// API groups whose CRDs show that the product is or was installed.
    #[serde(default, alias = "apiGroups", skip_serializing_if = "Vec::is_empty")]
    pub api_groups: Vec<String>,
    /// What the above cannot say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A Lease by which leaders are elected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Lease {
    /// Name, perhaps with `*` or `{driver}`.
    pub name: String,
    /// Namespace, where it is fixed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
}

/// As a workload's namespace: that of the object that is held.
pub const OF_OBJECT: &str = "{namespace}";

/// A workload that the holder runs as. At least one of name, selector and container says which.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Workload {
    /// Kind of workload.
    #[serde(default)]
    pub kind: WorkloadKind,
    /// Name, perhaps with `*` or `{driver}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Namespace, where it is fixed, or [`OF_OBJECT`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Label selector of its Pods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selector: Option<String>,
    /// Where each instance of the product has its own: by which labels it is this object's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instance: Vec<SameAs>,
    /// Name of the container in its Pods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
}

/// What happens if the finalizer is removed by hand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct IfRemoved {
    /// The class.
    pub consequence: Consequence,
    /// In words.
    pub text: String,
}

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    rename_all(serialize = "camelCase", deserialize = "kebab-case"),
    deny_unknown_fields
)]
pub struct Step {
    /// How it must stand with the holder for this step to make sense; none if it always does.
    #[serde(default, alias = "ifHolder", skip_serializing_if = "Option::is_none")]
    pub if_holder: Option<IfHolder>,
    /// Whether it destroys something that nobody brings back, or may.
    #[serde(default, skip_serializing_if = "is_default")]
    pub destructive: bool,
    /// What and why, as one or two sentences.
    pub text: String,
    /// The command, with placeholders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

impl Step {
    /// What to say, with the warning in front.
    pub fn words(&self) -> String {
        if self.destructive {
            format!("DESTRUCTIVE: {}", self.text)
        } else {
            self.text.clone()
        }
    }
}

/// A label of a workload whose value stands in the object too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SameAs {
    /// Key of the label.
    pub label: String,
    /// JSON pointer to the field of the object.
    pub field: String,
}

impl Workload {
    /// Whether each instance of the product has its own.
    pub fn is_of_instance(&self) -> bool {
        !self.instance.is_empty()
    }
}

impl Entry {
    /// Whether this name is one that the entry describes.
    pub fn names(&self, finalizer: &str) -> bool {
        self.matched(finalizer).is_some()
    }

    /// The part of this name that the pattern leaves open, empty for an exact match; `None` if it does not match.
    pub fn matched<'a>(&self, finalizer: &'a str) -> Option<&'a str> {
        match self.r#match {
            Match::Exact => {
                (finalizer == self.name || self.renamed_from.iter().any(|old| old == finalizer)).then_some("")
            }
            Match::Prefix => finalizer.strip_prefix(&*self.name),
            Match::Suffix => finalizer.strip_suffix(&*self.name),
            Match::Glob => {
                let start = self.name.find('*').unwrap_or(0);
                let end = self.name.len() - self.name.rfind('*').map_or(0, |star| star + 1);
                glob(&self.name, finalizer).then(|| finalizer.get(start..finalizer.len() - end).unwrap_or(""))
            }
        }
    }

    /// Whether the entry is about objects of this kind.
    pub fn is_about(&self, object: GroupKind<'_>) -> bool {
        self.kinds.iter().any(|kind| kind.matches(object))
    }

    /// How many characters of the name are fixed: of two patterns that match, the one with more says more.
    pub fn literals(&self) -> usize {
        if self.r#match == Match::Glob {
            literals(&self.name)
        } else {
            self.name.len()
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
fn is_false(value: &bool) -> bool {
    !*value
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
