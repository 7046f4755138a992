//! Carrying out one confirmed plan: a line in the receipt, the request once, and what came of it.
//!
//! A request that the server refuses because the object has changed is not sent again as it was. The object is looked at
//! and diagnosed again, and only if that comes to the very same truth as was confirmed a new request is made of it.

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::{
    prepare::{Item, Prepared, Preparing},
    settle::{self, By, Settled},
};
use crate::{
    act::{After, Look, Receipt, Receipts, backup, leave_event, send},
    cluster::{self, Written},
    error::Error,
    exit::Exit,
    plan::{Plan, event, veto},
    report::{
        outcome::{Outcome, Result as End},
        plan::CostReport,
    },
    run::{complain, warn},
    snapshot::facts::{Facts, Object},
};

/// An object that changes all the time is tried so often.
const TRIES: usize = 3;

/// Who carries out.
pub(super) struct Carrier<'a> {
    pub(super) preparing: Preparing<'a>,
    pub(super) receipts: &'a Receipts,
    pub(super) backups: &'a Path,
    pub(super) digest: &'a str,
}

/// What a refusal by the server comes to.
enum Again {
    /// The object has a new version, and everything else is as it was confirmed.
    With(Box<Item>, PathBuf),
    /// It ends here.
    Ended(Settled),
}

impl Carrier<'_> {
    /// Saves every object; none if one could not be saved.
    pub(super) async fn save_all(&self, prepared: &Prepared) -> Option<Vec<PathBuf>> {
        let mut saved = Vec::new();
        for item in &prepared.items {
            match self.save(&item.object, &item.plan, &prepared.facts).await {
                Ok(path) => saved.push(path),
                Err(error) => {
                    complain(&error);
                    let says = format!("nothing was sent, because the object could not be saved: {error}");
                    self.note(&Receipt::of("failed", &item.plan, self.digest, says));
                    return None;
                }
            }
        }
        Some(saved)
    }

    /// Saves an object, with what of it was not read until now.
    async fn save(&self, object: &Object, plan: &Plan, facts: &Facts) -> Result<PathBuf, Error> {
        let is_secret = object.is("", "secrets");
        let wanted = object.is("", "configmaps") || is_secret && self.preparing.asked.backup_secrets;
        let Some(ty) = facts.resource_type(&object.resource).filter(|_| wanted) else {
            return backup(object, plan, self.backups);
        };
        let failed = |why: String| Error::Server {
            message: format!("{} could not be read to save it: {why}", plan.target.in_words()),
            hint: None,
        };
        let whole = cluster::whole(self.preparing.server, ty, &plan.target).await;
        match whole.map_err(|why| failed(why.message()))? {
            Some(whole) if whole.uid() == plan.target.uid => backup(&whole, plan, self.backups),
            _ => Err(failed("it is not there any more".into())),
        }
    }

    /// Notes that nobody wanted it.
    pub(super) fn not_confirmed(&self, prepared: &Prepared, why: &str) {
        for item in &prepared.items {
            self.note(&Receipt::of("not-confirmed", &item.plan, self.digest, why));
        }
    }

    /// Carries out one plan, and finds out what came of it.
    pub(super) async fn carry(
        &mut self,
        mut item: Item,
        mut saved: PathBuf,
        facts: &mut Facts,
    ) -> (Outcome, Exit) {
        let mut settled = Settled::refused("it changes all the time, each time before the request arrives");
        for _ in 0..TRIES {
            let mut receipt = Receipt::of("sending", &item.plan, self.digest, "about to be sent");
            receipt.backup = Some(saved.display().to_string());
            if let Err(error) = self.receipts.add(&receipt) {
                settled = Settled::failed(format!(
                    "nothing was sent, because there would be no receipt: {error}"
                ));
                break;
            }
            let server = self.preparing.server;
            // Not to be stopped: what is under way arrives or not, and then it is better to know.
            let lost = match send(server, &item.plan).await {
                Written::Refused { message, .. } => match self.again(&item, &message, facts).await {
                    Again::With(next, copy) => {
                        (item, saved) = (*next, copy);
                        continue;
                    }
                    Again::Ended(end) => {
                        settled = end;
                        break;
                    }
                },
                Written::Done(_) => None,
                Written::Unanswered(why) => Some(why),
            };
            let mut look = Look::at(server, facts, &item.plan);
            settled = settle::settle(&mut look, &item.plan, lost.as_deref(), self.preparing.watch).await;
            break;
        }
        self.note(&Receipt {
            backup: Some(saved.display().to_string()),
            ..Receipt::of(settled.receipt(), &item.plan, self.digest, settled.says.clone())
        });
        let mut outcome = outcome(&item.plan, &saved, &settled);
        if self.preparing.asked.event && settled.exit == Exit::Done && settled.by != By::Others {
            outcome.event = self.leave_event(&item.plan).await;
        }
        (outcome, settled.exit)
    }

    /// The Event on what was done. Without it that is done all the same.
    async fn leave_event(&mut self, plan: &Plan) -> Option<String> {
        let event = event(plan, self.receipts.user(), Timestamp::now());
        match leave_event(self.preparing.server, &event).await {
            Ok(name) => Some(name),
            Err(why) => {
                warn(&format!("it is done, but without an Event: {why}"));
                None
            }
        }
    }

    /// What is to be done after the server refused the request.
    async fn again(&mut self, item: &Item, message: &str, facts: &mut Facts) -> Again {
        let server = self.preparing.server;
        let ended = Again::Ended;
        let object = match Look::at(server, facts, &item.plan).now().await {
            After::Gone => return ended(Settled::gone_before()),
            After::Another(_) => return ended(Settled::replaced()),
            After::Out(object) => return ended(Settled::out_before(&object)),
            After::StillOn(object) => *object,
            After::NotKnown(_) => return ended(Settled::failed(format!("the server refused it: {message}"))),
        };
        if object.text("/metadata/resourceVersion") == item.plan.resource_version {
            return ended(Settled::failed(format!(
                "the server refused it: {message}. It would take that {}",
                veto(message)
            )));
        }
        facts.answers.clear();
        let plan = match self.preparing.plan(&object, facts).await {
            Ok(plan) if item.plan.means_the_same(&plan) => plan,
            Ok(plan) => {
                return ended(Settled::refused(format!(
                    "it is no longer as it was confirmed: it is {} now, and these would stay: {}; look at it again",
                    plan.verdict.word(),
                    names(&plan)
                )));
            }
            Err(refusal) => {
                return ended(Settled::refused(format!(
                    "it is no longer as it was confirmed: {}. It would take that {}",
                    refusal.why, refusal.needs
                )));
            }
        };
        match self.save(&object, &plan, facts).await {
            Ok(copy) => Again::With(Box::new(Item { object, plan }), copy),
            Err(error) => ended(Settled::failed(format!("nothing was sent: {error}"))),
        }
    }

    /// What has happened has happened, with a receipt or without.
    fn note(&self, receipt: &Receipt<'_>) {
        if let Err(error) = self.receipts.add(receipt) {
            warn(&format!("there is no receipt of how it ended: {error}"));
        }
    }
}

fn names(plan: &Plan) -> String {
    let names: Vec<_> = plan.stays.iter().map(ToString::to_string).collect();
    if names.is_empty() {
        "none".into()
    } else {
        names.join(", ")
    }
}

fn outcome(plan: &Plan, saved: &Path, settled: &Settled) -> Outcome {
    let lost = matches!(settled.end, End::Gone | End::Held | End::Going | End::ReCreated);
    let cost = CostReport::from(&plan.cost);
    Outcome {
        target: (&plan.target).into(),
        finalizer: plan.finalizer.clone(),
        result: settled.end,
        says: settled.says.clone(),
        held_by: settled.held_by.clone(),
        outside: if lost && settled.by != By::Others {
            cost.outside
        } else {
            Vec::new()
        },
        backup: Some(saved.display().to_string()),
        event: None,
    }
}
