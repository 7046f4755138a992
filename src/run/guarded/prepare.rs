//! From what was typed to plans that the server would accept, or to why not.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::{
    act::{Trial, try_event, try_out},
    cluster::{self, Server},
    diagnose::Diagnosis,
    error::Error,
    knowledge::Knowledge,
    plan::{self, Action, Plan, Refusal, Seen, veto},
    run::{
        complain, explain,
        target::{Named, find, look::Looking, watch::Watch},
        warn,
        witness::Witness,
    },
    settings::{Guarded, Wanted},
    snapshot::facts::{Answer, Facts, Object, Query},
};

/// An object that changes all the time is looked at so often.
const TRIES: usize = 3;

/// One object, as it was seen when its plan was made.
pub(super) struct Item {
    pub(super) object: Object,
    pub(super) plan: Plan,
}

/// What could be done, what not, and what was seen on the way.
pub(super) struct Prepared {
    pub(super) items: Vec<Item>,
    pub(super) refused: Vec<Refusal>,
    /// Whether an object could not be found or read at all.
    pub(super) failed: bool,
    pub(super) facts: Facts,
}

impl Prepared {
    pub(super) fn plans(&self) -> Vec<Plan> {
        self.items.iter().map(|item| item.plan.clone()).collect()
    }
}

/// With what one prepares.
pub(super) struct Preparing<'a> {
    pub(super) server: &'a Server,
    pub(super) asked: &'a Guarded,
    pub(super) knowledge: &'a Knowledge,
    pub(super) watch: &'a mut Watch,
}

impl Preparing<'_> {
    /// Every object that was named; none if it was stopped.
    pub(super) async fn all(&mut self) -> Result<Option<Prepared>, Error> {
        let witness = Witness::Server(self.server);
        let asking = || "asking the server for its types".to_owned();
        let Some(facts) = self.watch.over(asking, witness.first_look()).await else {
            return Ok(None);
        };
        let mut prepared = Prepared {
            items: Vec::new(),
            refused: Vec::new(),
            failed: false,
            facts: facts?,
        };
        let (mut known, mut notes) = (BTreeSet::new(), BTreeSet::new());
        for (resource, name) in &self.asked.targets {
            if let Some(why) = explain::no_name(name) {
                return Err(explain::not_a_name(resource, name, why));
            }
            let named = Named { resource, name };
            let finding = find::find(witness, named, &self.asked.place, &mut prepared.facts, &mut notes);
            let doing = || format!("{resource}/{name}: looking for it");
            let Some(found) = self.watch.over(doing, finding).await else {
                return Ok(None);
            };
            match found {
                Ok(objects) => {
                    for object in objects {
                        if known.insert(object.reference()) {
                            self.one(object, &mut prepared).await;
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

    async fn one(&mut self, mut object: Object, prepared: &mut Prepared) {
        let reference = object.reference();
        for _ in 0..TRIES {
            let plan = match self.plan(&object, &mut prepared.facts).await {
                Ok(plan) => plan,
                Err(refusal) => return prepared.refused.push(refusal),
            };
            match self.accepts(&plan).await {
                Ok(true) => return prepared.items.push(Item { object, plan }),
                Ok(false) => {}
                Err(refusal) => return prepared.refused.push(refusal),
            }
            match self.again(&object, &mut prepared.facts).await {
                Some(now) if now.uid() == object.uid() => object = now,
                _ => {
                    return prepared.refused.push(Refusal {
                        target: reference.into(),
                        why: "it is gone: it went while it was being looked at".into(),
                        needs: "it is still there".into(),
                    });
                }
            }
        }
        prepared.refused.push(Refusal {
            target: reference.into(),
            why: "it changes while it is looked at, each time before the server has answered".into(),
            needs: "whoever changes it all the time has stopped".into(),
        });
    }

    /// What the diagnosis allows.
    pub(super) async fn plan(&mut self, object: &Object, facts: &mut Facts) -> Result<Plan, Refusal> {
        let name = format!("{}/{}", object.resource.name(), object.name());
        let mut looking = Looking {
            witness: Witness::Server(self.server),
            knowledge: self.knowledge,
            watch: self.watch,
        };
        let (diagnosis, complete): (Diagnosis, bool) = looking.rounds(&name, object, facts).await;
        let seen = Seen {
            object,
            diagnosis: &diagnosis,
            complete,
            facts,
            knowledge: self.knowledge,
        };
        match &self.asked.wanted {
            Wanted::Remove(finalizer) => plan::remove(&seen, finalizer),
            Wanted::Finalize(name) => plan::finalize(&seen, name),
            Wanted::Nudge => plan::nudge(&seen),
        }
    }

    /// What the server says: whether the user may, and a dry run of the very request. False if the object is no longer
    /// the one that the plan is for.
    async fn accepts(&mut self, plan: &Plan) -> Result<bool, Refusal> {
        let (verb, subresource) = match plan.action {
            Action::Remove | Action::Nudge => ("patch", ""),
            Action::Finalize => ("update", "finalize"),
        };
        let target = &plan.target;
        let refuse = |why: String, needs: String| Refusal {
            target: target.clone().into(),
            why,
            needs,
        };
        let what = match subresource {
            "" => target.type_name.clone(),
            sub => format!("{}/{sub}", target.type_name),
        };
        let server = self.server;
        let doing = || format!("{}: asking whether it may be done", target.name);
        let event = self
            .asked
            .event
            .then(|| plan::event(plan, None, Timestamp::now()));
        let asking = async {
            let may = cluster::may(server, verb, target, subresource).await;
            let trial = try_out(server, plan).await;
            let event = match &event {
                Some(event) if trial == Trial::Fine => try_event(server, event).await,
                _ => Ok(()),
            };
            (may, trial, event)
        };
        let Some((may, trial, event)) = self.watch.over(doing, asking).await else {
            return Err(refuse("stopped".into(), "it is not stopped".into()));
        };
        // Who answers neither question answers no request either; the trial says more.
        if let Ok(Err(reason)) = may {
            return Err(refuse(
                format!("you may not {verb} {what} {}{}", target.name, because(&reason)),
                format!("somebody grants you {verb} on {what}, or does it"),
            ));
        }
        match trial {
            Trial::Fine => event.map(|()| true).map_err(|message| {
                refuse(
                    format!("the server would refuse the Event on it: {message}"),
                    format!("{}; or --event is left out", veto(&message)),
                )
            }),
            Trial::Changed(_) => Ok(false),
            Trial::Refused(message) => Err(refuse(
                format!("the server would refuse it: {message}"),
                veto(&message),
            )),
            Trial::PutBack => Err(refuse(
                "a mutating webhook or policy puts the finalizer back while it is taken out".into(),
                "whoever runs it agrees; kubectl get mutatingwebhookconfigurations,mutatingadmissionpolicies shows which \
                 there are"
                    .into(),
            )),
            Trial::Unanswered(why) => Err(refuse(
                format!("the server did not answer a dry run of it: {why}"),
                "it answers; a request that cannot be tried out is not sent".into(),
            )),
        }
    }

    /// The object as it is now, with nothing remembered of how it was.
    pub(super) async fn again(&mut self, object: &Object, facts: &mut Facts) -> Option<Object> {
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

fn because(reason: &str) -> String {
    if reason.is_empty() {
        String::new()
    } else {
        format!(" ({reason})")
    }
}
