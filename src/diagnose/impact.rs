//! What a deletion would destroy, leak or break, and in which order to delete. For objects that are not being
//! deleted yet.
//!
//! **Recognises** the types of the table below. Other types have no effects here; the causes of their
//! finalizers say what would hold them. Each kind has a file that explains its effects. **Concludes** that a
//! deletion is harmless only if everything was read that could show the contrary.

mod api_extensions;
mod claim_disks;
mod csi_driver;
mod custom_resource_definition;
mod default_storage_class;
mod departing_controllers;
mod ephemeral_volumes;
mod finalizer_holders;
mod namespace;
mod node;
mod persistent_volume;
mod persistent_volume_claim;
mod pod;
mod snapshot_controller;
mod storage_class;
mod storage_class_references;
mod storage_quantity;
mod volume_claim_templates;
mod waiting_objects;
mod workload;

use crate::{
    command::Command,
    diagnose::{
        model::{Effect, Evidence, Fate, Finding, Safety, Step, Verdict, When},
        view::{Missing, View},
    },
    object::ObjectRef,
    snapshot::facts::Object,
};

/// The effects of a deletion, and what to do before it.
#[derive(Default)]
pub(crate) struct Impact {
    /// The effects on other things.
    pub(crate) effects: Vec<Effect>,
    /// The steps, in the order to delete in.
    pub(crate) steps: Vec<Step>,
    /// The evidence.
    pub(crate) evidence: Vec<Evidence>,
    /// Whether nobody should delete it, so that no deletion of it is called harmless.
    pub(crate) is_needed: bool,
}

type Rule = fn(&Object, &mut Impact, &View<'_>);

/// The rule for each type, by group and plural.
const RULES: &[(&str, &str, Rule)] = &[
    ("", "namespaces", namespace::deleting_namespace),
    (
        "apiextensions.k8s.io",
        "customresourcedefinitions",
        custom_resource_definition::deleting_definition,
    ),
    ("", "nodes", node::deleting_node),
    ("", "pods", pod::deleting_pod),
    (
        "",
        "persistentvolumeclaims",
        persistent_volume_claim::deleting_claim,
    ),
    ("", "persistentvolumes", persistent_volume::deleting_volume),
    ("storage.k8s.io", "csidrivers", csi_driver::deleting_driver),
    ("storage.k8s.io", "storageclasses", storage_class::deleting_class),
    ("apps", "deployments", workload::deleting_workload),
    ("apps", "statefulsets", workload::deleting_workload),
    ("apps", "daemonsets", workload::deleting_workload),
];

pub(crate) fn impact_of(object: &Object, findings: &[Finding], view: &View<'_>) -> Impact {
    let mut impact = Impact::default();
    let rule = RULES.iter().find(|(group, plural, _)| object.is(group, plural));
    let Some((_, _, add_impact)) = rule.filter(|_| object.deletion().is_none()) else {
        return impact;
    };
    let missed = view.missed();
    add_impact(object, &mut impact, view);
    let all_read = view.missed() == missed;
    if !all_read && impact.effects.iter().all(|effect| effect.fate != Fate::Unknown) {
        let says = "whether anything else is lost is not known: not everything could be read";
        impact.add_effect(Fate::Unknown, says, []);
    }
    let is_free = |finding: &Finding| finding.wait.verdict == Verdict::Waiting && finding.wait.on.is_empty();
    let is_small = |effect: &Effect| matches!(effect.fate, Fate::Released | Fate::Kept);
    if all_read && !impact.is_needed && impact.effects.iter().all(is_small) && findings.iter().all(is_free) {
        let says = "nothing would hold it for long, and nothing else is lost with it";
        impact.add_effect(Fate::Harmless, says, []);
    }
    impact.effects.sort_by_key(|effect| effect.fate);
    impact
}

impl Impact {
    fn add_effect(
        &mut self,
        fate: Fate,
        says: impl Into<String>,
        objects: impl IntoIterator<Item = ObjectRef>,
    ) {
        self.effects.push(Effect {
            fate,
            says: says.into(),
            objects: objects.into_iter().collect(),
        });
    }

    /// Adds an unknown effect. `what` is a question: `which claims are in it`. The reason stands among the
    /// gaps.
    fn add_unknown(&mut self, what: &str, missing: &Missing) {
        if let Missing::Gap(_) = missing {
            self.add_effect(Fate::Unknown, format!("{what} is not known"), []);
        }
    }

    /// Adds the next step for a user who intends the deletion.
    fn add_step(&mut self, safety: Safety, text: impl Into<String>, command: Command) {
        self.steps.push(Step {
            when: When::Intended,
            text: text.into(),
            command: Some(command),
            safety,
            lets_go: Vec::new(),
        });
    }

    /// Adds the step that saves an object before the next one deletes it.
    fn add_save_step(&mut self, type_name: &str, name: &str, namespace: &str) {
        self.add_step(
            Safety::ReadOnly,
            format!("save {name} first, to make it again if it is needed"),
            Command::save_by_type(type_name, name, namespace),
        );
    }

    /// Adds effects that were seen in files that may lack objects. What is in the files counts; what is not
    /// does not.
    pub(crate) fn complete_with(&mut self, partly: Impact) {
        let seen = partly.effects.into_iter().filter(|effect| {
            !matches!(effect.fate, Fate::Unknown | Fate::Harmless) && !effect.objects.is_empty()
        });
        let known: Vec<_> = seen.filter(|effect| !self.effects.contains(effect)).collect();
        self.effects.extend(known);
        self.effects.sort_by_key(|effect| effect.fate);
    }
}

fn references<'a>(objects: impl IntoIterator<Item = &'a Object>) -> Vec<ObjectRef> {
    objects.into_iter().map(Object::reference).collect()
}
