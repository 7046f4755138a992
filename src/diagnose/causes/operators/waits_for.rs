//! The objects that a known finalizer waits for: they use the object, were created for it, or are of a type that must
//! be empty first.
//!
//! **Recognises** `used-by`, `child-objects`, `instances-of`, `instances-beside`, `instances`, `named` and `field-empty`
//! in `waits-for` of the entry. **Why:** usages and references protect. A working controller keeps an `AppProject` while
//! Applications name it. It keeps a `ProviderConfig` while managed resources use it, and a cluster while it has
//! machines. The sources are the entry's own. **Wants** all objects of those kinds, in the namespace of the object if
//! they must be there. **Concludes** `in-use` with the objects that
//! [`referenced_by`](crate::diagnose::causes::operators::referenced_by) finds. Concludes `waiting` for objects that
//! were created for it, and `failing` if such an object is a failed Job. Concludes none of these if the controller is
//! gone, switched off, failing, or could not be read. Finding no object proves nothing, because not every product
//! references others in the usual way. **Advises** to see what holds each of them.

use serde_json::Value;

use crate::{
    diagnose::{
        causes::{
            advice,
            advice::explain_step,
            operators::{missing_reference, missing_reference::Reference, referenced_by},
            verdicts::set_unless_holder_is_at_fault,
        },
        holder::{Holder, Liveness},
        limits,
        model::{Blocker, Evidence, Finding, Outlook, Page, Step, Strength, Verdict},
        timing,
        view::View,
    },
    knowledge::{
        Entry, GroupKind,
        schema::{Judged, KindPattern, Wait},
    },
    object::{Age, ResourceType},
    snapshot::facts::Object,
};

/// How the searched objects relate to this one.
#[derive(Clone, Copy)]
enum Relation {
    Uses,
    MadeFor,
    OfType,
}

/// A search for the objects that one finalizer waits for.
struct Search<'a, 'v> {
    object: &'a Object,
    holder: &'a Holder,
    finding: &'a mut Finding,
    view: &'a View<'v>,
}

pub(crate) fn add_awaited_objects(
    object: &Object,
    entry: &Entry,
    holder: &Holder,
    finding: &mut Finding,
    view: &View<'_>,
) {
    // A wait that was not read in the sources is told in words only.
    if entry.is_judged(Judged::WaitsFor) {
        return;
    }
    let mut search = Search {
        object,
        holder,
        finding,
        view,
    };
    for wait in &entry.waits_for.on {
        match wait {
            Wait::UsedBy(kinds) => search.add_kinds(kinds, Relation::Uses, ""),
            Wait::ChildObjects(kinds) => search.add_kinds(kinds, Relation::MadeFor, ""),
            Wait::InstancesOf(kinds) => search.add_kinds(kinds, Relation::OfType, ""),
            Wait::InstancesBeside(kinds) => search.add_kinds(kinds, Relation::OfType, object.namespace()),
            Wait::Instances => {
                let group = object.text("/spec/group");
                for names in ["/spec/names/plural", "/spec/claimNames/plural"] {
                    if let Some(ty) = view.resource_type(group, object.text(names)) {
                        search.add_type(ty, Relation::OfType, "");
                    }
                }
            }
            Wait::Named(path) => search.add_object_in_field(path),
            Wait::FieldEmpty(path) => search.add_field(path, entry.waits_for.on.len() == 1),
            _ => {}
        }
    }
}

impl Search<'_, '_> {
    /// Adds the object that a field names.
    fn add_object_in_field(&mut self, path: &str) {
        let object = self.object;
        let pointer = format!("/{}", path.replace('.', "/"));
        let field = |name: &str| object.text(&format!("{pointer}/{name}"));
        let name = [field("resourceRef/name"), field("name")]
            .into_iter()
            .find(|name| !name.is_empty());
        let group = field("apiVersion").split_once('/').map_or("", |(group, _)| group);
        let (Some(name), Some(ty)) = (name, self.view.kind(group, field("kind"))) else {
            return;
        };
        let namespace = if ty.namespaced { object.namespace() } else { "" };
        self.add_object(path, ty, namespace, name);
    }

    /// Adds what a field still lists. If it is empty, and the controller waits for nothing else, the controller is late after
    /// the time that a clean-up may take.
    fn add_field(&mut self, path: &str, is_only_wait: bool) {
        let object = self.object;
        let listed = listed_in(object.value.pointer(&format!("/{}", path.replace('.', "/"))));
        if !listed.is_empty() {
            self.mark_waiting(Verdict::Waiting);
            let named = listed.iter().take(limits::NAMES_IN_SENTENCE);
            let named: Vec<_> = named.map(String::as_str).collect();
            let more = match listed.len() - named.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let says = format!("{path} still lists {}{more}", named.join(", "));
            self.finding.wait.on.push(Blocker::new(None, says));
            return;
        }
        self.finding.evidence.push(Evidence {
            source: format!("{} {} {path}", object.kind, object.name()),
            value: "empty".to_owned(),
            strength: Strength::Strong,
        });
        let age = object
            .deletion()
            .map(|deletion| Age::between(deletion.requested_at(), self.view.now()).0.as_secs());
        let is_late = age.is_some_and(|age| age >= timing::CLEAN_UP);
        let waits_in_vain = self.finding.wait.verdict == Verdict::Waiting && self.finding.wait.on.is_empty();
        if is_only_wait && is_late && waits_in_vain && self.holder.liveness() == Liveness::Running {
            self.finding.tell_of(Page::of(module_path!()));
            self.finding.wait.verdict = Verdict::Stalled;
            self.finding.say(format!("{path} is empty, so nothing blocks it"));
        }
    }

    /// Adds an object that this object names, and that must be gone first.
    fn add_object(&mut self, field: &str, ty: &ResourceType, namespace: &str, name: &str) {
        match self.view.object(&ty.group, &ty.plural, namespace, name) {
            Ok(Some(found)) => {
                self.mark_waiting(Verdict::Waiting);
                let says = format!("is named in its {field}{}", deletion_state(found));
                self.finding.wait.on.push(self.view.blocker(found, says));
                if self.object.deletion().is_some() {
                    self.finding.steps.insert(0, see_step(found));
                }
            }
            Ok(None) => {}
            Err(missing) => self.finding.say(format!(
                "whether {} {name} is left is not known: {}",
                ty.kind,
                missing.in_words()
            )),
        }
    }

    fn add_kinds(&mut self, kinds: &[KindPattern], relation: Relation, namespace: &str) {
        let own = &self.object.resource.group;
        for pattern in kinds {
            let is_meant = |ty: &&ResourceType| {
                let of_its_group = !pattern.group().contains('*') || ty.group == *own;
                // Types of the core group are referenced in their own ways, and have their own causes.
                of_its_group
                    && !ty.group.is_empty()
                    && pattern.matches(GroupKind {
                        group: &ty.group,
                        kind: &ty.kind,
                    })
            };
            if pattern.kind() == "*" {
                self.add_referenced(is_meant);
                continue;
            }
            for ty in self
                .view
                .types()
                .iter()
                .filter(is_meant)
                .take(limits::TYPES_OF_PATTERN)
            {
                self.add_type(ty, relation, namespace);
            }
        }
    }

    /// Adds the objects that this object names, of kinds that fit a pattern. A whole group may have any number of
    /// kinds, so nothing else is read.
    fn add_referenced(&mut self, is_meant: impl Fn(&&ResourceType) -> bool) {
        for reference in missing_reference::references(self.object, self.view)
            .iter()
            .filter(|reference| is_meant(&reference.ty))
        {
            let Reference {
                field,
                ty,
                namespace,
                name,
            } = reference;
            self.add_object(field, ty, namespace, name);
        }
    }

    /// Marks the finding as waiting. The controller is not at fault for what it waits for.
    fn mark_waiting(&mut self, verdict: Verdict) {
        self.finding.tell_of(Page::of(module_path!()));
        set_unless_holder_is_at_fault(self.finding, self.holder, verdict);
        // Touching the object has no effect while this object exists.
        self.finding.steps.retain(|step| !advice::is_nudge(step));
    }

    fn add_type(&mut self, ty: &ResourceType, relation: Relation, namespace: &str) {
        let object = self.object;
        let place = if ty.namespaced { namespace } else { "" };
        let all = match self.view.list(&ty.group, &ty.plural, place) {
            Ok(all) => all,
            Err(missing) => {
                self.finding.say(format!(
                    "which {} that are is not known: {}",
                    ty.name(),
                    missing.in_words()
                ));
                return;
            }
        };
        let found: Vec<_> = all
            .iter()
            .filter(|other| other.reference() != object.reference())
            .filter_map(|other| Some((other, relation_in_words(object, other, relation)?)))
            .collect();
        if found.is_empty() {
            return;
        }
        // Users are protected. Children are being deleted with it, unless their own work has failed.
        self.mark_waiting(match relation {
            Relation::MadeFor if found.iter().any(|(other, _)| failed_job(other).is_some()) => {
                Verdict::Failing
            }
            Relation::MadeFor => Verdict::Waiting,
            // What is itself being deleted protects nothing any more.
            _ if found.iter().all(|(other, _)| other.deletion().is_some()) => Verdict::Waiting,
            Relation::Uses | Relation::OfType => Verdict::InUse,
        });
        self.finding.evidence.push(Evidence {
            source: format!("a list of {}", ty.name()),
            value: format!("{} of {} keep it", found.len(), all.len()),
            strength: Strength::Strong,
        });
        let blockers = found.iter().take(limits::BLOCKERS);
        self.finding
            .wait
            .on
            .extend(blockers.map(|(other, says)| self.view.blocker(other, says.clone())));
        if found.len() > limits::BLOCKERS {
            self.finding.wait.on.push(Blocker::new(
                None,
                format!("{} more {}", found.len() - limits::BLOCKERS, ty.name()),
            ));
        }
        if matches!(self.finding.wait.verdict, Verdict::InUse | Verdict::Waiting) {
            self.finding.outlook.push(Outlook {
                when: "when they are gone".into(),
                then: format!("no object of {} holds it any more", ty.name()),
            });
        }
        if object.deletion().is_some() {
            let steps = found
                .iter()
                .take(limits::STEPS_FOR_EACH)
                .map(|(other, _)| see_step(other));
            self.finding.steps.splice(0..0, steps);
        }
    }
}

/// The items of a field, each in a few words: a text, or the name in a reference.
fn listed_in(value: Option<&Value>) -> Vec<String> {
    let in_words = |item: &Value| match item {
        Value::String(text) => text.clone(),
        Value::Object(fields) => match fields.get("name").and_then(Value::as_str) {
            Some(name) => name.to_owned(),
            None => item.to_string(),
        },
        other => other.to_string(),
    };
    match value {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(items)) => items.iter().map(in_words).collect(),
        Some(Value::Object(fields)) => fields.keys().cloned().collect(),
        Some(Value::String(text)) if text.is_empty() => Vec::new(),
        Some(other) => vec![in_words(other)],
    }
}

fn relation_in_words(object: &Object, other: &Object, relation: Relation) -> Option<String> {
    let deletion_state = deletion_state(other);
    match relation {
        Relation::Uses => referenced_by::referencing_field(other, object)
            .map(|field| format!("names it in {field}{deletion_state}")),
        Relation::MadeFor => referenced_by::is_child(other, object).then(|| match failed_job(other) {
            Some(why) => format!("was made for it, and has failed: {why}"),
            None => format!("was made for it{deletion_state}"),
        }),
        Relation::OfType => Some(format!("is of a type that must be empty first{deletion_state}")),
    }
}

/// Why a Job that should do the work has failed for good.
fn failed_job(other: &Object) -> Option<String> {
    let (status, reason, message) = other.is("batch", "jobs").then(|| other.condition("Failed"))??;
    (status == "True").then(|| format!("{reason}: {message}"))
}

fn deletion_state(other: &Object) -> &'static str {
    if other.deletion().is_some() {
        ", is being deleted"
    } else {
        ", is not being deleted"
    }
}

/// The step for an object that this one waits for.
fn see_step(other: &Object) -> Step {
    let what = if other.deletion().is_some() {
        "see what holds"
    } else {
        "before you delete or move it, see what else goes with"
    };
    explain_step(other, format!("{what} {} {}", other.kind, other.name()))
}
