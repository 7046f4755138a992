//! `foregroundDeletion`: an owner that waits for what it owns.
//!
//! **Recognises** the finalizer on any object. **Why:** the garbage collector takes it off once no object is left that
//! names the owner's uid with `blockOwnerDeletion: true`; until then it asks each of those to go, and one that is stuck
//! holds the owner too. It compares nothing but the uid, and a dependant without `blockOwnerDeletion` holds nobody.
//! Source: `kubernetes/kubernetes:pkg/controller/garbagecollector/garbagecollector.go` processDeletingDependentsItem,
//! `graph.go` blockingDependents. **Wants** the metadata of what has owners in the owner's namespace, of every type, once
//! for all owners there; of an owner without namespace, everywhere what it owns; then each dependant that blocks.
//! **Concludes** `waiting`, with exactly those and what holds each; `stalled` if none is left, or none has been asked to
//! go. **Advises** to resolve the dependant, and never to take the finalizer off instead.

use serde_json::Value;

use crate::{
    diagnose::{
        causes::{
            advice,
            advice::namespace_flag,
            api_machinery::{controller_manager, conversion_webhook},
            controller::Controller,
            verdicts,
        },
        limits,
        model::{Blocker, Evidence, Finding, Outlook, Safety, Step, Strength, Verdict},
        timing,
        view::{Missing, View},
    },
    object::Finalizer,
    snapshot::{
        Gap, Why,
        facts::{Object, Where},
    },
};

pub(crate) fn foreground(owner: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    let holder = Controller::of(owner, finalizer, None, view);
    let mut finding = Finding::new(
        Some(finalizer.clone()),
        Verdict::Waiting,
        format!(
            "removed by the garbage collector of kube-controller-manager{}, once no object is left that names it as owner \
             with blockOwnerDeletion",
            holder.liveness()
        ),
    );
    holder.add_evidence(&mut finding);
    finding.do_not.push(format!(
        "take {} off by hand: the owner goes at once, what it owns is deleted only afterwards, and what is stuck there \
         stays stuck and is harder to find",
        finalizer.name
    ));
    match Dependents::of(owner, view, blocks) {
        Ok(found) => told(&mut finding, owner, &found, view),
        Err(missing) => found_nothing(&mut finding, &missing.in_words()),
    }
    finding
}

fn blocks(reference: &Value) -> bool {
    reference.get("blockOwnerDeletion") == Some(&Value::Bool(true))
}

fn told(finding: &mut Finding, owner: &Object, found: &Dependents<'_>, view: &View<'_>) {
    let blockers = found.blockers(view, |dependent| match held_by(dependent) {
        _ if dependent.deletion().is_none() => "not being deleted yet".to_owned(),
        held if held.is_empty() => "being deleted".to_owned(),
        held => format!("being deleted, held by {held}"),
    });
    if blockers.is_empty() {
        none_left(finding, owner, found, view);
        return;
    }
    let asked = found
        .objects
        .iter()
        .any(|dependent| dependent.deletion().is_some());
    if !asked && !timing::is_deletion_recent(owner, view) {
        finding.wait.verdict = if found.all_seen() {
            Verdict::Stalled
        } else {
            Verdict::Unknown
        };
        finding.say("; it has asked none of them to go");
        not_acting(finding, found, view);
    }
    for blocker in blockers.iter().take(limits::STEPS_FOR_EACH) {
        if let Some(object) = blocker.object.as_ref().filter(|_| asked) {
            let place = object.namespace.as_ref().map(|name| format!(" -n {name}"));
            finding.steps.push(Step {
                when: "what to do",
                text: format!(
                    "see what holds {} {}, and resolve that: its owner then goes by itself",
                    object.kind, object.name
                ),
                command: Some(format!(
                    "kubectl finalizers explain {} {}{}",
                    object.type_name,
                    object.name,
                    place.unwrap_or_default()
                )),
                safety: Safety::Safe,
            });
        }
    }
    finding.outlook.push(Outlook {
        when: "when they are gone".into(),
        then: "it goes by itself".into(),
    });
    finding.wait.on.extend(blockers);
}

fn held_by(object: &Object) -> String {
    let held: Vec<_> = object.finalizers().iter().map(ToString::to_string).collect();
    held.join(", ")
}

/// Nothing is found that it waits for: its holder is late, or what it waits for cannot be seen.
pub(crate) fn none_left(finding: &mut Finding, owner: &Object, found: &Dependents<'_>, view: &View<'_>) {
    if !found.all_seen() {
        found_nothing(finding, &found.unseen());
        if !timing::is_deletion_recent(owner, view) && found.nobody_can_see() {
            conversion_webhook::add_conversion_failure(finding, found.complaints(), view);
        }
        return;
    }
    finding.wait.verdict = verdicts::nothing_blocks(owner, view);
    finding.say("; none is left");
    finding.evidence.push(Evidence {
        source: match owner.namespace() {
            "" => "metadata of all types".to_owned(),
            namespace => format!("metadata of all types in {namespace}"),
        },
        value: format!("no such object names uid {}", owner.uid()),
        strength: Strength::Strong,
    });
    if finding.wait.verdict == Verdict::Stalled {
        not_acting(finding, found, view);
        finding.steps.push(Step {
            when: advice::STILL_THERE,
            text: "delete it once more, in the background: the API server itself then takes off what the garbage collector \
                   has left, and nothing is left that this could touch"
                .into(),
            command: Some(format!(
                "kubectl{} delete {}/{} --cascade=background --wait=false",
                namespace_flag(owner),
                owner.resource.name(),
                owner.name()
            )),
            safety: Safety::Reversible,
        });
    }
}

fn found_nothing(finding: &mut Finding, why: &str) {
    finding.wait.verdict = Verdict::Unknown;
    finding.say(format!("; which are left is not known: {why}"));
}

/// The garbage collector has had its time. A type that nobody can list stops it, up to Kubernetes 1.31.
pub(crate) fn not_acting(finding: &mut Finding, found: &Dependents<'_>, view: &View<'_>) {
    let verdict = finding.wait.verdict;
    conversion_webhook::add_conversion_failure(finding, found.complaints(), view);
    finding.wait.verdict = verdict;
    finding.steps.push(Step {
        when: "what to do",
        text: "the garbage collector is late: see what it complains of, and whether a type cannot be listed; up to \
               Kubernetes 1.31 one such type keeps it from starting. Touching the object does not make it look again, a \
               restart of kube-controller-manager does"
            .into(),
        command: Some(
            "kubectl -n kube-system logs -l component=kube-controller-manager --tail=-1 | grep -i garbage; kubectl get \
             apiservices | grep False"
                .into(),
        ),
        safety: Safety::Safe,
    });
}

/// What names an owner, as far as it could be listed.
pub(crate) struct Dependents<'a> {
    /// Those that are on their way out first.
    pub(crate) objects: Vec<&'a Object>,
    gaps: Vec<&'a Gap>,
}

impl<'a> Dependents<'a> {
    /// Those of which a reference `counts`.
    pub(crate) fn of(
        owner: &'a Object,
        view: &View<'a>,
        counts: fn(&Value) -> bool,
    ) -> Result<Self, Missing> {
        let everywhere = Where::Owner(owner.uid().to_owned());
        let mut found = match owner.namespace() {
            "" => Self::at(everywhere, owner, view, counts)?,
            namespace => {
                let found = Self::at(Where::Namespace(namespace.to_owned()), owner, view, counts)?;
                let late = found.objects.is_empty() && !timing::is_deletion_recent(owner, view);
                // A copy elsewhere that still names the uid counts too. That costs a look at everything, and is not
                // needed where it is known who does not act.
                if late && !matches!(controller_manager::stale(view), Ok(Some(_))) {
                    Self::at(everywhere, owner, view, counts)?
                } else {
                    found
                }
            }
        };
        for gap in view.silent_groups() {
            view.miss(gap);
            found.gaps.push(gap);
        }
        Ok(found)
    }

    fn at(
        place: Where,
        owner: &'a Object,
        view: &View<'a>,
        counts: fn(&Value) -> bool,
    ) -> Result<Self, Missing> {
        let listed = view.owned(place)?;
        let mut objects: Vec<_> = listed
            .objects
            .iter()
            .filter(|object| object.owned_by(owner.uid()).any(counts))
            .collect();
        objects.sort_by_key(|object| object.deletion().is_none());
        Ok(Dependents {
            objects,
            gaps: listed.gaps.iter().collect(),
        })
    }

    /// Whether there can be no other.
    pub(crate) fn all_seen(&self) -> bool {
        self.gaps.is_empty()
    }

    fn unseen(&self) -> String {
        let first = self.gaps.first().copied().map(crate::snapshot::Gap::in_words);
        match self.gaps.len() {
            0 | 1 => first.unwrap_or_default(),
            all => format!("{}, and {} more types", first.unwrap_or_default(), all - 1),
        }
    }

    /// What the server says of types that it fails to list, to whomever.
    fn complaints(&self) -> impl Iterator<Item = &'a str> {
        self.gaps.iter().filter_map(|gap| match &gap.why {
            Why::ServerError(text) | Why::Throttled(text) => Some(text.as_str()),
            _ => None,
        })
    }

    /// Whether all that was not seen is what the garbage collector cannot see either.
    fn nobody_can_see(&self) -> bool {
        self.complaints()
            .filter(|text| conversion_webhook::failed(text))
            .count()
            == self.gaps.len()
    }

    /// Each as something that is waited for.
    pub(crate) fn blockers(&self, view: &View<'_>, says: impl Fn(&Object) -> String) -> Vec<Blocker> {
        let mut blockers: Vec<_> = self
            .objects
            .iter()
            .take(limits::DEPENDENTS)
            .filter_map(|dependent| {
                let resource = &dependent.resource;
                let whole = view.object(
                    &resource.group,
                    &resource.plural,
                    dependent.namespace(),
                    dependent.name(),
                );
                let reference = Some(dependent.reference());
                match whole {
                    Ok(Some(whole)) if whole.uid() == dependent.uid() => {
                        Some(view.blocker(whole, says(dependent)))
                    }
                    // It has gone since.
                    Ok(_) => None,
                    Err(Missing::NotYet) => Some(Blocker::new(reference, says(dependent))),
                    Err(missing) => Some(Blocker::new(
                        reference,
                        format!(
                            "{}; what it waits for is not known: {}",
                            says(dependent),
                            missing.in_words()
                        ),
                    )),
                }
            })
            .collect();
        if self.objects.len() > limits::DEPENDENTS {
            let more = self.objects.len() - limits::DEPENDENTS;
            blockers.push(Blocker::new(
                None,
                format!("and {more} more objects that it owns"),
            ));
        }
        blockers
    }
}

#[cfg(test)]
mod tests;
