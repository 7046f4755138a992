//! What a catalogued finalizer waits for, looked up: the objects that use it, were made for it, or are of the types that
//! must be empty first.
//!
//! **Recognises** `used-by`, `child-objects`, `instances-of`, `instances-beside`, `instances` and `parent` of the entry's
//! `waits-for`. **Why:** usages and references protect: a controller that works as it should keeps an `AppProject` while
//! Applications name it, a `ProviderConfig` while managed resources use it, a cluster while it has machines; the sources are
//! the entry's own. **Wants** all objects of those kinds, in the object's namespace where they must be there. **Concludes**
//! `in-use` (`waiting` for what was made for it, `failing` if that is a Job that gave up) with those that
//! [`named`](crate::diagnose::causes::operators::referenced_by) finds, unless its holder is gone, switched off or fails, or was not to be seen; finding none proves nothing, because not
//! every product refers to others in the usual way. **Advises** to see what holds each.

use crate::{
    diagnose::{
        causes::{
            advice,
            advice::explain_step,
            operators::{missing_reference, missing_reference::Reference, referenced_by},
            verdicts::set_unless_holder_is_at_fault,
        },
        holder::Holder,
        limits,
        model::{Blocker, Evidence, Finding, Outlook, Step, Strength, Verdict},
        view::View,
    },
    knowledge::{
        Entry, GroupKind,
        schema::{KindPattern, Wait},
    },
    object::ResourceType,
    snapshot::facts::Object,
};

/// How the objects that are looked for stand to this one.
#[derive(Clone, Copy)]
enum Link {
    Uses,
    MadeFor,
    OfType,
}

/// One finalizer, and what is found out about it.
struct Look<'a, 'v> {
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
    let mut look = Look {
        object,
        holder,
        finding,
        view,
    };
    for wait in &entry.waits_for.on {
        match wait {
            Wait::UsedBy(kinds) => look.of_kinds(kinds, Link::Uses, ""),
            Wait::ChildObjects(kinds) => look.of_kinds(kinds, Link::MadeFor, ""),
            Wait::InstancesOf(kinds) => look.of_kinds(kinds, Link::OfType, ""),
            Wait::InstancesBeside(kinds) => look.of_kinds(kinds, Link::OfType, object.namespace()),
            Wait::Instances => {
                let group = object.text("/spec/group");
                for names in ["/spec/names/plural", "/spec/claimNames/plural"] {
                    if let Some(ty) = view.resource_type(group, object.text(names)) {
                        look.of_type(ty, Link::OfType, "");
                    }
                }
            }
            Wait::Named(path) => look.must_go(path),
            _ => {}
        }
    }
}

impl Look<'_, '_> {
    /// The object that a field names.
    fn must_go(&mut self, path: &str) {
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
        self.named(path, ty, namespace, name);
    }

    /// What the object itself names, and what must go before it.
    fn named(&mut self, field: &str, ty: &ResourceType, namespace: &str, name: &str) {
        match self.view.object(&ty.group, &ty.plural, namespace, name) {
            Ok(Some(found)) => {
                self.keeps(Verdict::Waiting);
                let says = format!("is named in its {field}{}", stands(found));
                self.finding.wait.on.push(self.view.blocker(found, says));
                if self.object.deletion().is_some() {
                    self.finding.steps.insert(0, look_at(found));
                }
            }
            Ok(None) => {}
            Err(missing) => self.finding.say(format!(
                "; whether {} {name} is left is not known: {}",
                ty.kind,
                missing.in_words()
            )),
        }
    }

    fn of_kinds(&mut self, kinds: &[KindPattern], link: Link, namespace: &str) {
        let own = &self.object.resource.group;
        for pattern in kinds {
            let is_meant = |ty: &&ResourceType| {
                let of_its_group = !pattern.group().contains('*') || ty.group == *own;
                // What is in the core group is named in ways of its own, by rules of its own.
                of_its_group
                    && !ty.group.is_empty()
                    && pattern.matches(GroupKind {
                        group: &ty.group,
                        kind: &ty.kind,
                    })
            };
            if pattern.kind() == "*" {
                self.by_reference(is_meant);
                continue;
            }
            for ty in self
                .view
                .types()
                .iter()
                .filter(is_meant)
                .take(limits::TYPES_OF_PATTERN)
            {
                self.of_type(ty, link, namespace);
            }
        }
    }

    /// Of a whole group of kinds there may be any number: only what the object itself names is looked at.
    fn by_reference(&mut self, is_meant: impl Fn(&&ResourceType) -> bool) {
        for reference in missing_reference::of(self.object, self.view)
            .iter()
            .filter(|reference| is_meant(&reference.ty))
        {
            let Reference {
                field,
                ty,
                namespace,
                name,
            } = reference;
            self.named(field, ty, namespace, name);
        }
    }

    /// What its holder waits for is no fault of the holder's.
    fn keeps(&mut self, verdict: Verdict) {
        set_unless_holder_is_at_fault(self.finding, self.holder, verdict);
        // To look again changes nothing as long as this is there.
        self.finding.steps.retain(|step| !advice::is_nudge(step));
    }

    fn of_type(&mut self, ty: &ResourceType, link: Link, namespace: &str) {
        let object = self.object;
        let place = if ty.namespaced { namespace } else { "" };
        let all = match self.view.list(&ty.group, &ty.plural, place) {
            Ok(all) => all,
            Err(missing) => {
                self.finding.say(format!(
                    "; which {} that are is not known: {}",
                    ty.name(),
                    missing.in_words()
                ));
                return;
            }
        };
        let found: Vec<_> = all
            .iter()
            .filter(|other| other.reference() != object.reference())
            .filter_map(|other| Some((other, words(object, other, link)?)))
            .collect();
        if found.is_empty() {
            return;
        }
        // What uses it is protected; what was made for it is on its way out with it, unless the work itself has failed.
        self.keeps(match link {
            Link::MadeFor if found.iter().any(|(other, _)| failed_job(other).is_some()) => Verdict::Failing,
            Link::MadeFor => Verdict::Waiting,
            Link::Uses | Link::OfType => Verdict::InUse,
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
                .map(|(other, _)| look_at(other));
            self.finding.steps.splice(0..0, steps);
        }
    }
}

fn words(object: &Object, other: &Object, link: Link) -> Option<String> {
    let stands = stands(other);
    match link {
        Link::Uses => referenced_by::field(other, object).map(|field| format!("names it in {field}{stands}")),
        Link::MadeFor => referenced_by::is_child(other, object).then(|| match failed_job(other) {
            Some(why) => format!("was made for it, and has failed: {why}"),
            None => format!("was made for it{stands}"),
        }),
        Link::OfType => Some(format!("is of a type that must be empty first{stands}")),
    }
}

/// Why a Job that should have done the work has given up.
fn failed_job(other: &Object) -> Option<String> {
    let (status, reason, message) = other.is("batch", "jobs").then(|| other.condition("Failed"))??;
    (status == "True").then(|| format!("{reason}: {message}"))
}

fn stands(other: &Object) -> &'static str {
    if other.deletion().is_some() {
        ", is being deleted"
    } else {
        ", is not being deleted"
    }
}

/// What to do about one that is in the way.
fn look_at(other: &Object) -> Step {
    let what = if other.deletion().is_some() {
        "see what holds"
    } else {
        "before you delete or move it, see what else goes with"
    };
    explain_step(other, format!("{what} {} {}", other.kind, other.name()))
}
