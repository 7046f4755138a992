//! The objects that a finalizer waits for: they use its object, were made for it, own it, or are of a type that must be
//! empty first.

use super::{Search, state, state::Met, usage};
use crate::{
    command::Command,
    diagnose::{
        causes::{
            advice::explain_step,
            operators::{missing_reference, missing_reference::Reference, referenced_by, surroundings},
        },
        holder::Liveness,
        kinds::{CustomResourceDefinition, Pod},
        limits,
        model::{Blocker, Evidence, Safety, Step, Strength, Verdict, When},
        view::View,
    },
    knowledge::{GroupKind, schema::KindPattern},
    object::{ObjectRef, ResourceType},
    snapshot::facts::Object,
};

/// How the searched objects relate to this one.
#[derive(Clone, Copy)]
pub(super) enum Relation {
    Uses,
    MadeFor,
    Parent,
    OfType,
}

impl<'v> Search<'_, 'v> {
    /// Adds the object that a field names.
    pub(super) fn add_object_in_field(&mut self, path: &str) {
        let object = self.object;
        let pointer = format!("/{}", path.replace('.', "/"));
        let field = |name: &str| object.text(&format!("{pointer}/{name}"));
        let name = [field("resourceRef/name"), field("name")]
            .into_iter()
            .find(|name| !name.is_empty());
        let Some(name) = name else {
            self.add_answer(state::names_nothing(object, path));
            return;
        };
        let Some(ty) = self.type_named_in(path) else {
            self.finding.say(format!(
                "whether {name} in its {path} is left is not known: the API server does not have that type"
            ));
            self.met.push(Met::Unseen);
            return;
        };
        let namespace = match field("namespace") {
            _ if !ty.namespaced => "",
            "" => object.namespace(),
            namespace => namespace,
        };
        let met = self.add_object(path, ty, namespace, name);
        if met == Met::Yes {
            self.finding
                .say(format!("the {} {name} that its {path} names is gone", ty.kind));
        }
        self.met.push(met);
    }

    /// The type of the object that a field names. A field without a kind is called after the kind, in the same group.
    fn type_named_in(&self, path: &str) -> Option<&'v ResourceType> {
        let pointer = format!("/{}", path.replace('.', "/"));
        let field = |name: &str| self.object.text(&format!("{pointer}/{name}"));
        let group = match field("apiVersion").split_once('/') {
            Some((group, _)) => group,
            None => field("group"),
        };
        if !field("kind").is_empty() {
            return self.view.kind(group, field("kind"));
        }
        let last = path.rsplit('.').next().unwrap_or(path);
        let is_it = |ty: &&ResourceType| {
            ty.group == self.object.resource.group && referenced_by::is_called_after(last, &ty.kind)
        };
        self.view.types().iter().find(is_it)
    }

    /// Adds an object that this object names, and that must be gone first.
    fn add_object(&mut self, field: &str, ty: &ResourceType, namespace: &str, name: &str) -> Met {
        match self.view.object(&ty.group, &ty.plural, namespace, name) {
            Ok(Some(found)) => {
                self.mark_waiting(Verdict::Waiting);
                let says = format!("is named in its {field}{}", deletion_state(found));
                self.finding.wait.on.push(self.view.blocker(found, says));
                let is_child = found.is_owned_by(self.object.uid());
                if self.object.deletion().is_some() {
                    let step = self.see_step(found, is_child);
                    self.finding.steps.insert(0, step);
                }
                Met::No
            }
            Ok(None) => Met::Yes,
            Err(missing) => {
                self.finding.say(format!(
                    "whether {} {name} is left is not known: {}",
                    ty.kind,
                    missing.in_words()
                ));
                Met::Unseen
            }
        }
    }

    /// Adds all objects of the types that this object defines.
    pub(super) fn add_instances(&mut self) {
        let object = self.object;
        let definition = CustomResourceDefinition(object);
        let group = definition.group();
        for plural in [definition.plural(), object.text("/spec/claimNames/plural")] {
            match self.view.resource_type(group, plural) {
                Some(ty) => self.add_type(ty, Relation::OfType, ""),
                None if plural.is_empty() => {}
                None => self.met.push(Met::Unseen),
            }
        }
    }

    pub(super) fn add_kinds(&mut self, kinds: &[KindPattern], relation: Relation, namespace: &str) {
        let own = &self.object.resource.group;
        for pattern in kinds {
            let is_meant = |ty: &&ResourceType| {
                let of_its_group = !pattern.group().contains('*') || ty.group == *own;
                of_its_group
                    && pattern.matches(GroupKind {
                        group: &ty.group,
                        kind: &ty.kind,
                    })
            };
            if pattern.kind() == "*" {
                self.add_referenced(is_meant);
                continue;
            }
            let mut types = self.view.types().iter().filter(is_meant).peekable();
            // A type that is not served, and one beyond the limit, may have objects all the same.
            if types.peek().is_none() {
                self.met.push(Met::Unseen);
            }
            for ty in types.by_ref().take(limits::TYPES_OF_PATTERN) {
                match place(self.object, ty, relation, namespace) {
                    Some(place) => self.add_type(ty, relation, place),
                    None => self.met.push(Met::Unseen),
                }
            }
            if types.next().is_some() {
                self.met.push(Met::Unseen);
            }
        }
    }

    /// Adds the objects that this object names, of kinds that fit a pattern. A whole group may have any number of
    /// kinds, so nothing else is read.
    fn add_referenced(&mut self, is_meant: impl Fn(&&ResourceType) -> bool) {
        for reference in missing_reference::references(self.object, self.view)
            .iter()
            .filter(|reference| is_meant(&reference.ty))
            .take(limits::REFERENCES)
        {
            let Reference {
                field,
                ty,
                namespace,
                name,
            } = reference;
            self.add_object(field, ty, namespace, name);
        }
        self.met.push(Met::Unseen);
    }

    fn add_type(&mut self, ty: &ResourceType, relation: Relation, namespace: &str) {
        let object = self.object;
        let all = match self.view.list(&ty.group, &ty.plural, namespace) {
            Ok(all) => all,
            Err(missing) => {
                self.finding.say(format!(
                    "whether any of {} keeps it is not known: {}",
                    ty.name(),
                    missing.in_words()
                ));
                self.met.push(Met::Unseen);
                return;
            }
        };
        let found: Vec<_> = all
            .iter()
            .filter(|other| other.reference() != object.reference() && !is_finished(other, relation))
            .filter_map(|other| Some((other, relation_in_words(object, other, relation, self.view)?)))
            .collect();
        if found.is_empty() {
            // That nothing refers to it proves little: not every product does so in the usual way.
            self.met.push(match relation {
                Relation::OfType => Met::Yes,
                Relation::Uses | Relation::MadeFor | Relation::Parent => Met::Unseen,
            });
            return;
        }
        self.met.push(Met::No);
        // Its controller deletes the children. If it deleted none for so long, and does not show that it runs, nobody does.
        let is_deleted = |other: &Object| other.deletion().is_some();
        let is_left_alone = self.is_late()
            && self.holder.liveness() != Liveness::Running
            && !found.iter().any(|(other, _)| is_deleted(other));
        // Users are protected. Children are being deleted with it, unless their own work has failed.
        self.mark_waiting(match relation {
            Relation::MadeFor if found.iter().any(|(other, _)| failed_job(other).is_some()) => {
                Verdict::Failing
            }
            Relation::MadeFor if is_left_alone => Verdict::Stalled,
            Relation::MadeFor => Verdict::Waiting,
            // What is itself being deleted protects nothing any more.
            _ if found.iter().all(|(other, _)| is_deleted(other)) => Verdict::Waiting,
            Relation::Uses | Relation::Parent | Relation::OfType => Verdict::InUse,
        });
        self.finding.evidence.push(Evidence {
            source: format!("a list of {}", ty.name()),
            value: format!("{} of {} keep it", found.len(), all.len()),
            strength: Strength::Strong,
        });
        let blockers = found.iter().take(limits::BLOCKERS);
        for (other, says) in blockers {
            let mut blocker = self.view.blocker(other, says.clone());
            if matches!(relation, Relation::Uses) {
                usage::follow(other, object, &mut blocker, self.view);
            }
            self.finding.wait.on.push(blocker);
        }
        if found.len() > limits::BLOCKERS {
            self.finding.wait.on.push(Blocker::new(
                None,
                format!("{} more {}", found.len() - limits::BLOCKERS, ty.name()),
            ));
        }
        if object.deletion().is_some() {
            let is_child = matches!(relation, Relation::MadeFor);
            let steps: Vec<_> = found
                .iter()
                .take(limits::STEPS_FOR_EACH)
                .map(|(other, _)| self.see_step(other, is_child && failed_job(other).is_none()))
                .collect();
            self.finding.steps.splice(0..0, steps);
        }
    }

    /// The step for an object that this one waits for. The controller deletes the children itself.
    fn see_step(&mut self, other: &Object, is_child: bool) -> Step {
        let what = if other.deletion().is_some() {
            "see what holds"
        } else if is_child {
            let child = other.reference();
            let step = see_child_step(&child);
            self.children.push(child);
            return step;
        } else {
            "before you delete or move it, see what else goes with"
        };
        explain_step(other, format!("{what} {} {}", other.kind, other.name()))
    }
}

/// The namespace in which objects of this type are looked for, or all if it is empty. A cluster has any number of Pods and
/// Secrets: those that use the object, or were made for it, are looked for only beside it, and others not at all.
fn place<'a>(
    object: &'a Object,
    ty: &ResourceType,
    relation: Relation,
    namespace: &'a str,
) -> Option<&'a str> {
    let is_of_core = ty.group.is_empty() && ty.namespaced;
    let place = match (relation, namespace) {
        _ if !ty.namespaced => "",
        (Relation::Uses | Relation::MadeFor, "") if is_of_core => object.namespace(),
        _ => namespace,
    };
    (!is_of_core || !place.is_empty()).then_some(place)
}

/// Whether its work has ended, as a Pod or the condition of a user tells. It uses nothing any more.
fn is_finished(other: &Object, relation: Relation) -> bool {
    let is_true = |condition| matches!(other.condition(condition), Some(("True", ..)));
    let is_user = matches!(relation, Relation::Uses) && other.deletion().is_none();
    other.is("", "pods") && Pod(other).is_finished() || is_user && is_true("Finished")
}

fn relation_in_words(object: &Object, other: &Object, relation: Relation, view: &View<'_>) -> Option<String> {
    let deletion_state = deletion_state(other);
    let by_default = || {
        let field = surroundings::field_that_means(other, object, view)?;
        Some(format!("leaves {field} empty, which means it{deletion_state}"))
    };
    match relation {
        Relation::Uses => referenced_by::using_field(other, object)
            .map(|field| format!("names it in {field}{deletion_state}"))
            .or_else(by_default),
        Relation::MadeFor => referenced_by::is_child(other, object).then(|| match failed_job(other) {
            Some(why) => format!("was made for it, and has failed: {why}"),
            None => format!("was made for it{deletion_state}"),
        }),
        Relation::Parent => {
            referenced_by::is_child(object, other).then(|| format!("is its parent{deletion_state}"))
        }
        Relation::OfType => Some(format!("must go first{deletion_state}")),
    }
}

/// Why a Job that should do the work has failed for good.
fn failed_job(other: &Object) -> Option<String> {
    let (status, reason, message) = other.is("batch", "jobs").then(|| other.condition("Failed"))??;
    (status == "True").then(|| format!("{reason}: {message}"))
}

fn deletion_state(other: &Object) -> &'static str {
    if other.deletion().is_some() {
        " and is being deleted"
    } else {
        " and is not being deleted"
    }
}

/// The step for a child that its controller deletes itself, and has not deleted yet.
pub(super) fn see_child_step(child: &ObjectRef) -> Step {
    Step {
        when: When::Now,
        text: format!(
            "see what goes with {} {}. Its controller deletes it itself",
            child.kind, child.name
        ),
        command: Some(Command::explain(&child.type_name, &child.name, child.place())),
        safety: Safety::ReadOnly,
        lets_go: Vec::new(),
    }
}
