//! One entry: everything that is known about one finalizer, including the defaults from its file.
//!
//! Keys in files are in kebab case (`if-removed`). JSON and YAML output has camel case (`ifRemoved`), like
//! all output. Types that are read from both accept both.

use serde::{Deserialize, Serialize};

use crate::command::Template;

use super::{
    Area, Consequence, FoundBy, GroupKind, IfHolder, Judged, KindPattern, Label, List, Match, Right, Runs,
    Topic, Wait, While, WorkloadKind, glob, literals,
};

/// Everything that is known about one finalizer, or about a family of names that match one pattern. The letters are the names of
/// fields in the built-in catalogue, which would have each name two thousand times.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own, and together they are no state"
)]
pub struct Entry {
    /// The finalizer, or the pattern.
    pub name: String,
    /// How to compare `name`.
    #[serde(default)]
    pub r#match: Match,
    /// The list that contains it.
    #[serde(default)]
    pub list: List,
    /// A real name; for an exact match, the name itself, which the built-in catalogue leaves out.
    #[serde(default)]
    pub example: String,
    /// The project that owns it.
    #[serde(alias = "j")]
    pub project: String,
    /// The project's home page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<String>,
    /// The project's area.
    #[serde(alias = "a")]
    pub area: Area,
    /// The part or feature of the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part_of: Option<String>,
    /// The kinds of object that have it.
    #[serde(alias = "k")]
    pub kinds: Vec<KindPattern>,
    /// The entry applies only to these kinds: the name alone is too short to identify the owner.
    #[serde(default, skip_serializing_if = "is_false")]
    pub kinds_only: bool,
    /// Used only if no other entry matches.
    #[serde(default, skip_serializing_if = "is_false")]
    pub last_resort: bool,
    /// Which objects of these kinds have it, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found_on: Option<String>,
    /// What it protects, as a short noun phrase.
    #[serde(alias = "p")]
    pub protects: String,
    /// What must be true before the controller removes the finalizer.
    #[serde(alias = "w")]
    pub waits_for: WaitsFor,
    /// Who removes it, in words.
    #[serde(alias = "r")]
    pub removed_by: String,
    /// How to find that controller.
    #[serde(default)]
    pub holder: HolderDescription,
    /// What happens if it is removed by hand.
    #[serde(alias = "i")]
    pub if_removed: IfRemoved,
    /// What to do, in order, the safest step first.
    pub fix: Vec<FixStep>,
    /// How to see that the controller did its work.
    #[serde(alias = "d", default, skip_serializing_if = "Option::is_none")]
    pub done_when: Option<String>,
    /// When it must not be removed by hand, whatever else is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub never_by_hand: Option<NeverByHand>,
    /// What not to do, or what to know first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// First version that has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// Last version that has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Its former names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub renamed_from: Vec<String>,
    /// Its current name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renamed_to: Option<String>,
    /// Upstream files that support this, each `owner/repo:path`.
    #[serde(alias = "s")]
    pub sources: Vec<String>,
    /// Whether somebody read the sources and they support this.
    #[serde(default = "usually_verified")]
    pub verified: bool,
    /// The parts that are our judgement and not in the sources.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub judgement: Vec<Judged>,
    /// Anything else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Whether little is known about it. Files do not say this, see [`Entry::is_thin`].
    #[serde(default, skip_serializing_if = "is_false")]
    pub thin: bool,
    /// Where a program found the name when it last looked. Files do not say this either.
    #[serde(alias = "v", default, skip_serializing_if = "Vec::is_empty")]
    pub verified_in: Vec<VerifiedIn>,
}

/// A revision of an upstream repository in which a named source contains the finalizer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerifiedIn {
    /// The repository, `owner/repo`.
    pub repository: String,
    /// The commit.
    pub revision: String,
    /// The day of the commit.
    pub date: String,
}

/// When a finalizer must not be removed by hand. `remove` refuses it then, whatever is accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct NeverByHand {
    /// As long as this is so, or could not be read.
    pub r#while: While,
    /// What would happen.
    pub because: String,
}

/// What must be true before the controller removes the finalizer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct WaitsFor {
    /// In words.
    pub text: String,
    /// The same in machine-readable form, as far as it can be looked up. All conditions must be true.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on: Vec<Wait>,
    /// The rights without which the controller fails, and never lets go: `delete persistentvolumeclaims`. Those on the object
    /// itself need no mention.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rights: Vec<Right>,
}

/// Traces that help to find the controller or its product. Each name can contain `*`; a Lease or workload
/// name can contain `{driver}`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(
    rename_all(serialize = "camelCase", deserialize = "kebab-case"),
    deny_unknown_fields
)]
pub struct HolderDescription {
    /// Where it runs.
    #[serde(default, skip_serializing_if = "is_default")]
    pub runs: Runs,
    /// Platforms that hide an otherwise visible control plane.
    #[serde(default, alias = "hiddenOn", skip_serializing_if = "Vec::is_empty")]
    pub hidden_on: Vec<String>,
    /// Short names of the product, as its labels have them.
    #[serde(default, alias = "knownAs", skip_serializing_if = "Vec::is_empty")]
    pub known_as: Vec<String>,
    /// How to find it if its name is not fixed.
    #[serde(default, alias = "foundBy", skip_serializing_if = "Vec::is_empty")]
    pub found_by: Vec<FoundBy>,
    /// Its usual namespaces, the most common first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub namespaces: Vec<String>,
    /// The Leases that it renews.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leases: Vec<Lease>,
    /// The workloads that it runs as.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workloads: Vec<WorkloadDescription>,
    /// The `ServiceAccounts` that it uses.
    #[serde(default, alias = "serviceAccounts", skip_serializing_if = "Vec::is_empty")]
    pub service_accounts: Vec<String>,
    /// Its names in `metadata.managedFields`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub managers: Vec<String>,
    /// The sources of its events, if they are not the name of a manager, a workload or an account.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reporters: Vec<String>,
    /// Webhook configurations that belong to the product.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub webhooks: Vec<String>,
    /// `APIServices` that belong to the product.
    #[serde(default, alias = "apiServices", skip_serializing_if = "Vec::is_empty")]
    pub api_services: Vec<String>,
    /// API groups whose CRDs show that the product is or was installed.
    #[serde(default, alias = "apiGroups", skip_serializing_if = "Vec::is_empty")]
    pub api_groups: Vec<String>,
    /// It acts only in a cluster that serves these types, never from another one. Where none is served, it is not there.
    #[serde(default, alias = "needsTypes", skip_serializing_if = "is_false")]
    pub needs_types: bool,
    /// Anything that the other fields cannot express.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A Lease for leader election.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Lease {
    /// The name, which can contain `*` or `{driver}`.
    pub name: String,
    /// The namespace, if it is fixed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
}

/// A workload namespace that stands for the namespace of the object with the finalizer.
pub const OF_OBJECT: &str = "{namespace}";

/// A workload that the controller runs as. At least one of name, selector and container identifies it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct WorkloadDescription {
    /// Kind of workload.
    #[serde(default)]
    pub kind: WorkloadKind,
    /// The name, which can contain `*` or `{driver}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The namespace, if it is fixed, or [`OF_OBJECT`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Label selector of its Pods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selector: Option<String>,
    /// If each instance of the product has its own workload: the labels that identify the one for this
    /// object.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instance: Vec<SameAs>,
    /// Patterns of its image, without the tag: one must fit. For labels that operators of other products have, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<String>,
    /// Name of the container in its Pods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
}

/// What happens if the finalizer is removed by hand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct IfRemoved {
    /// The consequence.
    pub consequence: Consequence,
    /// In words.
    pub text: String,
}

/// One step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(
    rename_all(serialize = "camelCase", deserialize = "kebab-case"),
    deny_unknown_fields
)]
pub struct FixStep {
    /// What it can cost.
    pub label: Label,
    /// What to do and why, in one or two sentences.
    pub text: String,
    /// The command, with placeholders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<Template>,
    /// The state of the controller in which this step makes sense; none if it always does.
    #[serde(default, alias = "ifHolder", skip_serializing_if = "Option::is_none")]
    pub if_holder: Option<IfHolder>,
    /// Conditions of the object with which this step makes sense. The step is left out if one of them has another status,
    /// and stays if the object does not have it.
    #[serde(default, alias = "ifCondition", skip_serializing_if = "Vec::is_empty")]
    pub if_condition: Vec<InPhase>,
    /// A field of the object (a JSON pointer) with which this step makes sense. The step is left out if the object lacks it,
    /// or has nothing or `false` in it.
    #[serde(default, alias = "ifField", skip_serializing_if = "Option::is_none")]
    pub if_field: Option<String>,
    /// What a message of the controller must be about for this step to make sense. The step is left out if the controller
    /// reports only something else, and stays if it reports nothing.
    #[serde(default, alias = "ifMessage", skip_serializing_if = "Option::is_none")]
    pub if_message: Option<Topic>,
}

/// A condition, and the statuses that it has while a phase of the deletion is not over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct InPhase {
    /// `type` of the condition.
    pub r#type: String,
    /// One of `True`, `False` and `Unknown`, or several.
    pub statuses: Vec<String>,
}

/// A workload label whose value is also in the object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SameAs {
    /// The key of the label.
    pub label: String,
    /// The JSON pointer to the field of the object.
    pub field: String,
}

impl WorkloadDescription {
    /// Whether each instance of the product has its own workload.
    pub fn is_of_instance(&self) -> bool {
        !self.instance.is_empty()
    }
}

impl WaitsFor {
    /// Whether the controller deletes objects of this kind first, which belong to the object.
    pub fn children_of(&self, kind: GroupKind<'_>) -> bool {
        self.on.iter().any(
            |wait| matches!(wait, Wait::ChildObjects(kinds) if kinds.iter().any(|one| one.matches(kind))),
        )
    }
}

/// What nearly all entries have is not written into the built-in catalogue.
fn usually_verified() -> bool {
    true
}

/// The same. [`Entry`] cannot have it as its default, because an empty list is not written at all.
pub fn usual_judgement() -> Vec<Judged> {
    vec![Judged::IfRemoved, Judged::Fix]
}

impl Entry {
    /// The sources without a repository that the source before has already.
    pub fn short_sources(&self) -> Vec<String> {
        let mut before = "";
        let mut short = Vec::new();
        for source in &self.sources {
            let (repository, path) = source.split_once(':').unwrap_or(("", source));
            short.push(if repository == before && !repository.is_empty() {
                format!(":{path}")
            } else {
                source.clone()
            });
            before = repository;
        }
        short
    }

    /// Puts back what [`Self::short_sources`] has left out.
    pub fn complete_sources(&mut self) {
        let mut before = String::new();
        for source in &mut self.sources {
            match source.split_once(':') {
                Some(("", _)) => source.insert_str(0, &before),
                Some((repository, _)) => repository.clone_into(&mut before),
                None => {}
            }
        }
    }

    /// Whether little is known. So it is if no program can look up its waits, or if those were not read in the sources. It
    /// is also so with fewer than two steps, and without a sign that the work is done.
    pub fn is_thin(&self) -> bool {
        self.waits_for.on.is_empty()
            || self.is_judged(Judged::WaitsFor)
            || self.fix.len() < 2
            || self.done_when.is_none()
    }

    /// Whether it describes a way to name finalizers, and no product.
    pub fn is_of_form(&self) -> bool {
        self.name.contains('*')
    }

    /// Whether it says only in words what its controller waits for, so that no program can look up which objects keep it. A
    /// thing outside of Kubernetes is no such object.
    pub fn is_only_told(&self) -> bool {
        let is_told = |wait: &Wait| matches!(wait, Wait::Activity(_) | Wait::OtherCluster(_));
        self.is_of_form() || self.waits_for.on.iter().all(is_told)
    }

    /// The page of the repository that its first source is in.
    pub fn page_of_sources(&self) -> Option<String> {
        let (repository, _) = self.sources.first()?.split_once(':')?;
        Some(format!("https://github.com/{repository}"))
    }

    /// Whether this part of the entry is our judgement, and not in the sources.
    pub fn is_judged(&self, part: Judged) -> bool {
        self.judgement.contains(&part)
    }

    /// Whether the entry describes this name.
    pub fn names(&self, finalizer: &str) -> bool {
        self.matched(finalizer).is_some()
    }

    /// The part of this name that the wildcard matches, empty for an exact match; `None` if it does not
    /// match.
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

    /// Number of fixed characters in the name. Of two matching patterns, the one with more is more specific.
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
