//! Makes plans that the server would accept from the command line, or explains why not.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::{
    act::{self, Trial, try_event, try_out, try_steps},
    cluster::Server,
    command::Command,
    diagnose::{Diagnosis, reclaim_policy},
    error::Error,
    knowledge::Knowledge,
    object::ObjectRef,
    plan::{self, Instead, Lost, Need, Plan, Refusal, Rescue, Seen, veto, waits_for_the_old_one},
    run::{
        complain, explain,
        guarded::{rights, stored, volumes},
        target::{Named, find, look::Explainer, watch::Watch},
        warn,
        witness::Witness,
    },
    settings::{Guarded, Wanted},
    snapshot::facts::{Answer, Facts, Object, Query},
};

/// Attempts for an object that changes all the time.
pub(super) const MAX_TRIES: usize = 3;

/// One object as it was when its plan was made.
#[derive(Clone)]
pub(super) struct Item {
    pub(super) object: Object,
    pub(super) plan: Plan,
    /// The steps, if the volume is made again.
    pub(super) rescue: Option<Rescue>,
}

/// An object that already is as it was to be, and what follows from that.
pub(super) struct Unchanged {
    pub(super) target: ObjectRef,
    pub(super) says: Vec<String>,
}

/// The possible changes, the refused ones, and the facts that were read.
pub(super) struct PreparedPlans {
    pub(super) items: Vec<Item>,
    pub(super) refused: Vec<Refusal>,
    pub(super) unchanged: Vec<Unchanged>,
    /// Whether an object was not found or not readable.
    pub(super) failed: bool,
    /// An object that a dry run has changed. Nothing is planned after it.
    pub(super) stored: Option<Stored>,
    pub(super) facts: Facts,
}

/// An object that a dry run has changed.
pub(super) struct Stored {
    pub(super) item: Item,
    /// Whether the server's answer proves it.
    pub(super) proved: bool,
    /// An object that the dry run made, under a name that only a trial has.
    pub(super) made: Option<ObjectRef>,
}

/// Whether the server would accept a plan.
pub(super) enum Accepted {
    Yes,
    /// The object has changed since the plan was made.
    Changed,
    /// The dry run has changed the object.
    Stored {
        proved: bool,
        made: Option<ObjectRef>,
    },
}

impl PreparedPlans {
    /// No plans yet.
    pub(super) fn new(facts: Facts) -> Self {
        PreparedPlans {
            items: Vec::new(),
            refused: Vec::new(),
            unchanged: Vec::new(),
            failed: false,
            stored: None,
            facts,
        }
    }

    pub(super) fn plans(&self) -> Vec<Plan> {
        self.items.iter().map(|item| item.plan.clone()).collect()
    }
}

/// Makes the plans.
pub(super) struct Planner<'a> {
    pub(super) server: &'a Server,
    pub(super) asked: &'a Guarded,
    pub(super) knowledge: &'a Knowledge,
    pub(super) watch: &'a mut Watch,
}

impl Planner<'_> {
    /// Plans for every named object; none if the user stopped the run.
    pub(super) async fn prepare_all(&mut self) -> Result<Option<PreparedPlans>, Error> {
        let witness = Witness::Server(self.server);
        let asking = || "asking the server for its types".to_owned();
        let Some(facts) = self.watch.show_progress(asking, witness.initial_facts()).await else {
            return Ok(None);
        };
        let mut prepared = PreparedPlans::new(facts?);
        let (mut known, mut notes) = (BTreeSet::new(), BTreeSet::new());
        if let Some(word) = &self.asked.all_terminating {
            let listing = volumes::in_deletion(witness, word, &mut prepared.facts, &mut notes);
            let doing = || "looking for volumes in deletion".to_owned();
            match self.watch.show_progress(doing, listing).await {
                None => return Ok(None),
                Some(Ok(found)) => {
                    for volume in found {
                        self.prepare(volume, &mut prepared).await;
                        if prepared.stored.is_some() {
                            return Ok(Some(prepared));
                        }
                    }
                }
                Some(Err(error @ Error::Usage { .. })) => return Err(error),
                Some(Err(error)) => {
                    complain(&error);
                    prepared.failed = true;
                }
            }
            if self.watch.stopped() {
                return Ok(None);
            }
        }
        for (resource, name) in &self.asked.targets {
            if let Some(why) = explain::why_not_a_name(name) {
                return Err(explain::not_a_name(resource, name, why));
            }
            let named = Named { resource, name };
            let finding = find::find(witness, named, &self.asked.place, &mut prepared.facts, &mut notes);
            let doing = || format!("{resource}/{name}: looking for it");
            let Some(found) = self.watch.show_progress(doing, finding).await else {
                return Ok(None);
            };
            match found {
                Ok(objects) => {
                    for object in objects {
                        let Some(object) = self.meant_by(object, &mut prepared).await? else {
                            continue;
                        };
                        if known.insert(object.reference()) {
                            self.prepare(object, &mut prepared).await;
                        }
                        if prepared.stored.is_some() {
                            return Ok(Some(prepared));
                        }
                    }
                }
                Err(error @ Error::Usage { .. }) => return Err(error),
                Err(error) => {
                    complain(&error);
                    prepared.failed = true;
                }
            }
            if self.watch.stopped() {
                return Ok(None);
            }
        }
        for note in &notes {
            warn(note);
        }
        Ok(Some(prepared))
    }

    /// The object to change: for `rescue`, the volume of the named claim. None if there is none, which is then refused or
    /// has failed.
    async fn meant_by(
        &mut self,
        object: Object,
        prepared: &mut PreparedPlans,
    ) -> Result<Option<Object>, Error> {
        if !matches!(self.asked.wanted, Wanted::Retain | Wanted::Rescue { .. }) {
            return Ok(Some(object));
        }
        let doing = || "looking for the volume".to_owned();
        let reading = volumes::volume_of(Witness::Server(self.server), object, &mut prepared.facts);
        match self.watch.show_progress(doing, reading).await {
            None => {}
            Some(Ok(Ok(volume))) => return Ok(Some(volume)),
            Some(Ok(Err(refusal))) => prepared.refused.push(refusal),
            Some(Err(error @ Error::Usage { .. })) => return Err(error),
            Some(Err(error)) => {
                complain(&error);
                prepared.failed = true;
            }
        }
        Ok(None)
    }

    async fn prepare(&mut self, mut object: Object, prepared: &mut PreparedPlans) {
        let reference = object.reference();
        for _ in 0..MAX_TRIES {
            if self.asked.wanted == Wanted::Retain && reclaim_policy::policy(&object) == plan::RETAIN {
                return prepared.unchanged.push(Unchanged {
                    target: reference,
                    says: plan::then(&object, "Delete"),
                });
            }
            let item = match self.plan(&object, &mut prepared.facts).await {
                Ok(item) => item,
                Err(refusal) => return prepared.refused.push(refusal),
            };
            match self
                .server_accepts(&item, Some(&item.object), &prepared.facts)
                .await
            {
                Ok(Accepted::Yes) => return prepared.items.push(item),
                Ok(Accepted::Stored { proved, made }) => {
                    prepared.stored = Some(Stored { item, proved, made });
                    return;
                }
                Ok(Accepted::Changed) => {}
                Err(refusal) => return prepared.refused.push(refusal),
            }
            match self.read_again(&object, &mut prepared.facts).await {
                Some(now) if now.uid() == object.uid() => object = now,
                _ => {
                    return prepared.refused.push(Refusal::new(
                        &reference,
                        "it was deleted while the plan was made",
                        "it still exists",
                        Instead::only("Nothing is left to do for it."),
                    ));
                }
            }
        }
        prepared.refused.push(changed_each_time(&reference));
    }

    /// The plan, if the diagnosis allows one.
    pub(super) async fn plan(&mut self, object: &Object, facts: &mut Facts) -> Result<Item, Refusal> {
        let without_steps = |plan| Item {
            object: object.clone(),
            plan,
            rescue: None,
        };
        let from_diagnosis: &dyn Fn(&Seen<'_>) -> Result<Plan, Refusal> = match &self.asked.wanted {
            Wanted::Remove(finalizer) => &|seen| plan::remove(seen, finalizer),
            Wanted::Finalize(name) => &|seen| plan::finalize(seen, name),
            Wanted::Nudge => &plan::nudge,
            Wanted::Unmark(access) => {
                if let Some(refusal) = plan::cannot_unmark(object) {
                    return Err(refusal);
                }
                let doing = || format!("{}: reading it in etcd", object.name());
                let reading = stored::read(Witness::Server(self.server), access, object, facts);
                let Some(read) = self.watch.show_progress(doing, reading).await else {
                    return Err(stopped(&object.reference()));
                };
                let (object, entry) = read?;
                return Ok(Item {
                    plan: plan::unmark(&object, entry, self.knowledge)?,
                    object,
                    rescue: None,
                });
            }
            Wanted::Retain => {
                let claim = volumes::claim_of(Witness::Server(self.server), object, facts).await;
                return Ok(without_steps(plan::retain(object, claim)));
            }
            Wanted::Rescue { restore_policy, .. } => {
                let claim = volumes::claim_of(Witness::Server(self.server), object, facts).await;
                let mut rescue = Rescue::new(object, claim, *restore_policy)?;
                rescue.consider(&volumes::sets(Witness::Server(self.server), &rescue, facts).await);
                let users = volumes::users(Witness::Server(self.server), &rescue, facts).await;
                return Ok(Item {
                    object: object.clone(),
                    plan: rescue.plan(&users, self.knowledge),
                    rescue: Some(rescue),
                });
            }
        };
        let name = format!("{}/{}", object.resource.name(), object.name());
        let mut explainer = Explainer {
            witness: Witness::Server(self.server),
            knowledge: self.knowledge,
            watch: self.watch,
        };
        let (diagnosis, complete): (Diagnosis, bool) =
            explainer.read_and_diagnose(&name, object, facts).await;
        if let Some(query) = plan::backend_query(&object.reference()) {
            let asking = || format!("{name}: asking who serves its type");
            let witness = Witness::Server(self.server);
            self.watch
                .show_progress(asking, witness.answer([query], facts))
                .await;
        }
        from_diagnosis(&Seen {
            object,
            diagnosis: &diagnosis,
            complete,
            facts,
            knowledge: self.knowledge,
        })
        .map(without_steps)
    }

    /// Asks the server whether the user has permission, and sends the request as a dry run, if it may be tried out
    /// before it is confirmed. `now` is the object; none if a rescue goes on without it.
    pub(super) async fn server_accepts(
        &mut self,
        item: &Item,
        now: Option<&Object>,
        facts: &Facts,
    ) -> Result<Accepted, Refusal> {
        let plan = &item.plan;
        let target = &plan.target;
        let rights = rights::needed(plan);
        let server = self.server;
        let doing = || {
            format!(
                "{}: asking the server whether it would accept the change",
                target.name
            )
        };
        let event = self.asked.event.then(|| act::event(plan, None, Timestamp::now()));
        let asking = async {
            let missing = rights::first_missing(server, &rights).await;
            let trial = match (&item.rescue, &plan.untried) {
                (Some(rescue), _) => match try_steps(server, facts, now, &rescue.trials(now)).await {
                    Trial::Refused(message)
                        if rescue.lost() == Lost::Claim && waits_for_the_old_one(&message) =>
                    {
                        Trial::Fine
                    }
                    trial => trial,
                },
                // etcd has no dry run.
                (None, None) if plan.stored.is_some() => Trial::Fine,
                (None, None) => try_out(server, facts, plan).await,
                (None, Some(_)) => Trial::Fine,
            };
            let event = match &event {
                Some(event) if trial == Trial::Fine => try_event(server, facts, event).await,
                _ => Trial::Fine,
            };
            (missing, trial, event)
        };
        let Some((missing, trial, event)) = self.watch.show_progress(doing, asking).await else {
            return Err(stopped(target));
        };
        if let Some((right, reason)) = missing {
            return Err(right.refusal(target, &reason));
        }
        judged(trial, event, target)
    }

    /// Reads the object again and forgets all earlier answers.
    pub(super) async fn read_again(&mut self, object: &Object, facts: &mut Facts) -> Option<Object> {
        let query = Query::of(&object.reference());
        facts.answers.clear();
        let witness = Witness::Server(self.server);
        witness.answer([query.clone()], facts).await;
        match facts.answers.get(&query) {
            Some(Ok(Answer::Object(Some(object)))) => Some((**object).clone()),
            _ => None,
        }
    }
}

pub(super) fn changed_each_time(target: &ObjectRef) -> Refusal {
    Refusal::new(
        target,
        "it changed each time before the server answered",
        "nothing changes it for a few seconds",
        Instead::explain(target, "See who changes it, then try again:"),
    )
}

fn stopped(target: &ObjectRef) -> Refusal {
    Refusal::new(
        target,
        "stopped before the server answered",
        "the run is not stopped",
        Instead::only("Run the command again."),
    )
}

/// What the dry runs of a request and of its Event show.
fn judged(trial: Trial, event: Trial, target: &ObjectRef) -> Result<Accepted, Refusal> {
    let refused = |why: String, message: &str| {
        let Need { says, look } = veto(message);
        let instead = match look {
            Some(look) => Instead::run("See which there are, and whose they are:", look),
            None => Instead::explain(target, "See what the object waits for:"),
        };
        Refusal::new(target, why, says, instead)
    };
    match trial {
        Trial::Fine => match why_no_event(event) {
            None => Ok(Accepted::Yes),
            Some((why, needs)) => Err(Refusal::new(
                target,
                why,
                needs,
                Instead::only("Leave out --event."),
            )),
        },
        Trial::Changed(_) => Ok(Accepted::Changed),
        Trial::Stored { proved, made } => Ok(Accepted::Stored { proved, made }),
        Trial::Refused(message) => Err(refused(
            format!("the server would refuse it: {message}"),
            &message,
        )),
        Trial::PutBack => Err(Refusal::new(
            target,
            "a mutating webhook or policy puts the finalizer back",
            "whoever runs that webhook or policy excepts this object",
            Instead::run(
                "See which there are, and whose they are:",
                Command::of(
                    "kubectl get mutatingwebhookconfigurations,mutatingadmissionpolicies",
                    [],
                ),
            ),
        )),
        Trial::Unanswered(why) => Err(refused(
            format!("the server did not answer a dry run, so nothing is sent: {why}"),
            &why,
        )),
    }
}

/// Why no Event can be left, and what must be true for one; none if it can.
fn why_no_event(trial: Trial) -> Option<(String, String)> {
    let refused = |message: String| {
        let needs = veto(&message).says;
        Some((
            format!("the server would refuse the Event on it: {message}"),
            needs,
        ))
    };
    match trial {
        Trial::Fine => None,
        Trial::Stored { made, .. } => {
            let made = made.map_or_else(|| "the Event".to_owned(), |made| made.pasteable());
            Some((
                format!(
                    "this API server stored a dry run, which it must not do: {made} is there, and says what was not done"
                ),
                "the API server stores no dry run, or no Event is wanted".into(),
            ))
        }
        Trial::Unanswered(why) => refused(format!("no answer: {why}")),
        Trial::Refused(message) | Trial::Changed(message) => refused(message),
        Trial::PutBack => refused("it is changed on the way".into()),
    }
}
