//! Executes one confirmed plan: writes a receipt, sends the request once, and finds out the result.
//!
//! The server refuses the request if the object has changed. The same request is not sent again. The object
//! is read and diagnosed again, and only an equivalent plan leads to a new request.

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::{
    prepare::{Item, Planner, PreparedPlans},
    settle::{self, DoneBy, Settled},
};
use crate::{
    act::{After, ReadBack, Receipt, Receipts, backup, backup_claim, leave_event, send},
    cluster::{self, Written},
    error::Error,
    exit::Exit,
    plan::{Claim, Plan, Retention, event, veto},
    report::{
        outcome::{Outcome, OutcomeResult},
        plan::CostReport,
    },
    run::{complain, warn},
    snapshot::facts::{Facts, Object},
};

/// Attempts for an object that changes all the time.
const MAX_TRIES: usize = 3;

/// Executes confirmed plans.
pub(super) struct Carrier<'a> {
    pub(super) planner: Planner<'a>,
    pub(super) receipts: &'a Receipts,
    pub(super) backups: &'a Path,
    pub(super) digest: &'a str,
}

/// The copies of one object.
pub(super) struct Saved {
    object: PathBuf,
    /// The claim of a volume.
    claim: Option<PathBuf>,
}

impl Saved {
    fn note_in(&self, receipt: &mut Receipt<'_>) {
        receipt.backup = Some(self.object.display().to_string());
        receipt.claim_backup = self.claim.as_ref().map(|path| path.display().to_string());
    }
}

/// What to do after the server refused a request.
enum AfterRefusal {
    /// Send again: the object has a new version, and everything that was confirmed is unchanged.
    SendAgain(Box<Item>, Saved),
    /// Stop here.
    Ended(Settled),
}

impl Carrier<'_> {
    /// Saves every object; none if one of them cannot be saved.
    pub(super) async fn save_all(&self, prepared: &PreparedPlans) -> Option<Vec<Saved>> {
        let mut saved = Vec::new();
        for item in &prepared.items {
            match self.save(&item.object, &item.plan, &prepared.facts).await {
                Ok(path) => saved.push(path),
                Err(error) => {
                    complain(&error);
                    let says = format!("nothing was sent, because the object could not be saved: {error}");
                    self.add_receipt(&Receipt::of("failed", &item.plan, self.digest, says));
                    return None;
                }
            }
        }
        Some(saved)
    }

    /// Saves an object, and the claim of a volume.
    async fn save(&self, object: &Object, plan: &Plan, facts: &Facts) -> Result<Saved, Error> {
        let claim = match &plan.retention {
            Some(Retention {
                claim: Claim::Found(claim),
                ..
            }) => Some(backup_claim(claim, self.backups)?),
            _ => None,
        };
        let object = self.save_whole(object, plan, facts).await?;
        Ok(Saved { object, claim })
    }

    /// Saves an object, including the parts that were not read before.
    async fn save_whole(&self, object: &Object, plan: &Plan, facts: &Facts) -> Result<PathBuf, Error> {
        let is_secret = object.is("", "secrets");
        let wanted = object.is("", "configmaps") || is_secret && self.planner.asked.backup_secrets;
        let Some(ty) = facts.resource_type(&object.resource).filter(|_| wanted) else {
            return backup(object, plan, self.backups);
        };
        let failed = |why: String| Error::Server {
            message: format!("{} could not be read to save it: {why}", plan.target.in_words()),
            hint: None,
        };
        let whole = cluster::whole(self.planner.server, ty, &plan.target).await;
        match whole.map_err(|why| failed(why.message()))? {
            Some(whole) if whole.uid() == plan.target.uid => backup(&whole, plan, self.backups),
            _ => Err(failed("it is not there any more".into())),
        }
    }

    /// Writes receipts that the plan was not confirmed.
    pub(super) fn not_confirmed(&self, prepared: &PreparedPlans, why: &str) {
        for item in &prepared.items {
            self.add_receipt(&Receipt::of("not-confirmed", &item.plan, self.digest, why));
        }
    }

    /// Executes one plan and finds out the result.
    pub(super) async fn carry(
        &mut self,
        mut item: Item,
        mut saved: Saved,
        facts: &mut Facts,
    ) -> (Outcome, Exit) {
        let mut settled = Settled::refused("it changes all the time, each time before the request arrives");
        for _ in 0..MAX_TRIES {
            let mut receipt = Receipt::of("sending", &item.plan, self.digest, "about to be sent");
            saved.note_in(&mut receipt);
            if let Err(error) = self.receipts.add(&receipt) {
                settled = Settled::failed(format!(
                    "nothing was sent, because there would be no receipt: {error}"
                ));
                break;
            }
            let server = self.planner.server;
            // Do not allow Ctrl-C here: the request can already be on its way, and the result has to be
            // known.
            let lost = match send(server, &item.plan).await {
                Written::Refused { message, .. } => match self.after_refusal(&item, &message, facts).await {
                    AfterRefusal::SendAgain(next, copy) => {
                        (item, saved) = (*next, copy);
                        continue;
                    }
                    AfterRefusal::Ended(end) => {
                        settled = end;
                        break;
                    }
                },
                Written::Done(_) => None,
                Written::Unanswered(why) => Some(why),
            };
            let mut read_back = ReadBack::of(server, facts, &item.plan);
            settled = settle::settle(&mut read_back, &item.plan, lost.as_deref(), self.planner.watch).await;
            break;
        }
        let word = settled.receipt_word();
        let mut receipt = Receipt::of(word, &item.plan, self.digest, settled.says.clone());
        saved.note_in(&mut receipt);
        self.add_receipt(&receipt);
        let mut outcome = outcome(&item.plan, &saved, &settled);
        if self.planner.asked.event && settled.exit == Exit::Done && settled.by != DoneBy::Others {
            outcome.event = self.leave_event(&item.plan).await;
        }
        (outcome, settled.exit)
    }

    /// Creates the Event about the change. The change stands even without it.
    async fn leave_event(&mut self, plan: &Plan) -> Option<String> {
        let event = event(plan, self.receipts.user(), Timestamp::now());
        match leave_event(self.planner.server, &event).await {
            Ok(name) => Some(name),
            Err(why) => {
                warn(&format!("it is done, but without an Event: {why}"));
                None
            }
        }
    }

    /// Decides what to do after the server refused the request.
    async fn after_refusal(&mut self, item: &Item, message: &str, facts: &mut Facts) -> AfterRefusal {
        let server = self.planner.server;
        let ended = AfterRefusal::Ended;
        let object = match ReadBack::of(server, facts, &item.plan).state().await {
            After::Gone => return ended(settle::gone_before(&item.plan)),
            After::Another(_) => return ended(Settled::replaced()),
            After::Out(object) => return ended(settle::out_before(&item.plan, &object)),
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
        let plan = match self.planner.plan(&object, facts).await {
            Ok(plan) if item.plan.means_the_same(&plan) => plan,
            Ok(plan) if plan.retention.is_some() => {
                return ended(Settled::refused(
                    "The volume changed after you confirmed the plan, and nothing was sent. Look at the new plan.",
                ));
            }
            Ok(plan) => {
                return ended(Settled::refused(format!(
                    "it is no longer as it was confirmed: it is {} now, and these would stay: {}; look at it again",
                    plan.verdict.word(),
                    joined(&plan)
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
            Ok(copy) => AfterRefusal::SendAgain(Box::new(Item { object, plan }), copy),
            Err(error) => ended(Settled::failed(format!("nothing was sent: {error}"))),
        }
    }

    /// Writes a receipt. A failure is only a warning, because the change has already happened.
    fn add_receipt(&self, receipt: &Receipt<'_>) {
        if let Err(error) = self.receipts.add(receipt) {
            warn(&format!("there is no receipt of how it ended: {error}"));
        }
    }
}

fn joined(plan: &Plan) -> String {
    let names: Vec<_> = plan.stays.iter().map(ToString::to_string).collect();
    if names.is_empty() {
        "none".into()
    } else {
        names.join(", ")
    }
}

fn outcome(plan: &Plan, saved: &Saved, settled: &Settled) -> Outcome {
    let lost = matches!(
        settled.end,
        OutcomeResult::Gone
            | OutcomeResult::Held
            | OutcomeResult::Going
            | OutcomeResult::ReCreated
            | OutcomeResult::Retained
    );
    let cost = CostReport::from(&plan.cost);
    Outcome {
        target: (&plan.target).into(),
        finalizer: plan.finalizer.clone(),
        result: settled.end,
        says: settled.says.clone(),
        held_by: settled.held_by.clone(),
        outside: if lost && settled.by != DoneBy::Others {
            cost.outside
        } else {
            Vec::new()
        },
        backup: Some(saved.object.display().to_string()),
        claim_backup: saved.claim.as_ref().map(|path| path.display().to_string()),
        event: None,
    }
}
