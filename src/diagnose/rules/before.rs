//! What is lost, left behind or broken if an object is deleted that nobody is deleting yet, and in which order to delete.
//!
//! **Recognises** the types of the table below. Of any other nothing is said here: what would hold it, its finalizers'
//! own rules say. Each kind has a file, with its own why. **Concludes** that a deletion is harmless only if everything
//! was read that could show the contrary.

mod backends;
mod claim;
mod class;
mod crd;
mod default_class;
mod disks;
mod driver;
mod holders;
mod namespace;
mod node;
mod operator;
mod pod;
mod pod_volumes;
mod quantity;
mod snapshots;
mod templates;
mod volume;
mod waiting;
mod workloads;

use crate::{
    diagnose::{
        model::{Effect, Evidence, Fate, Finding, Safety, Step, Verdict},
        view::{Missing, View},
    },
    object::ObjectRef,
    snapshot::facts::Object,
};

/// What must be known and done before the deletion.
#[derive(Default)]
pub(in crate::diagnose) struct Before {
    /// What becomes of other things.
    pub(in crate::diagnose) effects: Vec<Effect>,
    /// The order to delete in.
    pub(in crate::diagnose) steps: Vec<Step>,
    /// What this rests on.
    pub(in crate::diagnose) evidence: Vec<Evidence>,
}

/// When the data is to outlive the object.
const KEEP: &str = "keep the data?";

type Look = fn(&Object, &mut Before, &View<'_>);

/// Group, plural, and who looks.
const RULES: &[(&str, &str, Look)] = &[
    ("", "namespaces", namespace::look),
    ("apiextensions.k8s.io", "customresourcedefinitions", crd::look),
    ("", "nodes", node::look),
    ("", "pods", pod::look),
    ("", "persistentvolumeclaims", claim::look),
    ("", "persistentvolumes", volume::look),
    ("storage.k8s.io", "csidrivers", driver::look),
    ("storage.k8s.io", "storageclasses", class::look),
    ("apps", "deployments", operator::look),
    ("apps", "statefulsets", operator::look),
    ("apps", "daemonsets", operator::look),
];

pub(in crate::diagnose) fn before(object: &Object, findings: &[Finding], view: &View<'_>) -> Before {
    let mut before = Before::default();
    let rule = RULES.iter().find(|(group, plural, _)| object.is(group, plural));
    let Some((_, _, look)) = rule.filter(|_| object.deletion().is_none()) else {
        return before;
    };
    let missed = view.missed();
    look(object, &mut before, view);
    let all_read = view.missed() == missed;
    if !all_read && before.effects.iter().all(|effect| effect.fate != Fate::Unknown) {
        let says = "whether anything else is lost is not known: not everything could be read";
        before.say(Fate::Unknown, says, []);
    }
    let is_free = |finding: &Finding| finding.wait.verdict == Verdict::Waiting && finding.wait.on.is_empty();
    let is_small = |effect: &Effect| matches!(effect.fate, Fate::Released | Fate::Kept);
    if all_read && before.effects.iter().all(is_small) && findings.iter().all(is_free) {
        let says = "nothing would hold it for long, and nothing else is lost with it";
        before.say(Fate::Harmless, says, []);
    }
    before.effects.sort_by_key(|effect| effect.fate);
    before
}

impl Before {
    fn say(&mut self, fate: Fate, says: impl Into<String>, objects: impl IntoIterator<Item = ObjectRef>) {
        self.effects.push(Effect {
            fate,
            says: says.into(),
            objects: objects.into_iter().collect(),
        });
    }

    /// `what` is a question: `which claims are in it`. Why it has no answer is told among what was not read.
    fn unknown(&mut self, what: &str, missing: &Missing) {
        if let Missing::Gap(_) = missing {
            self.say(Fate::Unknown, format!("{what} is not known"), []);
        }
    }

    /// The next thing to do, if the object really is to go.
    fn then(&mut self, safety: Safety, text: impl Into<String>, command: impl Into<String>) {
        self.steps.push(Step {
            when: super::INTENDED,
            text: text.into(),
            command: Some(command.into()),
            safety,
        });
    }

    /// Adds what was seen in files that may lack something: what is there counts, what is not there does not.
    pub(in crate::diagnose) fn complete_with(&mut self, partly: Before) {
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
