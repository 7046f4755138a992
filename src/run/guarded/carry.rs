//! Executes one confirmed plan: writes a receipt, sends the request once, and finds out the result.
//!
//! Before each request the object is read and diagnosed again, and only a plan that is no worse than the confirmed one
//! leads to a request. The server refuses the request if the object has changed, and the same request is not sent again.

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::{
    prepare::{Item, MAX_TRIES, Planner, PreparedPlans, Stored},
    settle::{self, DoneBy, Settled},
    volumes::{self, Pair},
};
use crate::{
    act::{
        After, ReadBack, Receipt, Receipts, Record, Trial, backup, backup_claim, backup_stored, event,
        leave_event, send, try_out,
    },
    cluster::{self, Written},
    diagnose::reclaim_policy,
    error::Error,
    exit::Exit,
    plan::{Claim, Plan, RETAIN, Rescue, Retention, veto},
    report::{
        outcome::{Outcome, OutcomeResult},
        plan::CostReport,
    },
    run::{complain, warn},
    snapshot::facts::{Facts, Object},
};

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
    /// The value from etcd.
    stored: Option<PathBuf>,
}

impl Saved {
    pub(super) fn note_in(&self, receipt: &mut Receipt<'_>) {
        receipt.backup = Some(self.object.display().to_string());
        receipt.claim_backup = self.claim_path();
        receipt.stored_backup = self.stored_path();
    }

    fn stored_path(&self) -> Option<String> {
        self.stored.as_ref().map(|path| path.display().to_string())
    }

    fn claim_path(&self) -> Option<String> {
        self.claim.as_ref().map(|path| path.display().to_string())
    }
}

/// An object as it is now, and its copies.
pub(super) struct Current {
    pub(super) item: Item,
    pub(super) saved: Saved,
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
                    let says = format!("Nothing was sent, because the object could not be saved: {error}");
                    self.add_receipt(&Receipt::of("failed", &item.plan, self.digest, says));
                    return None;
                }
            }
        }
        Some(saved)
    }

    /// Saves an object, and the claim of a volume.
    async fn save(&self, object: &Object, plan: &Plan, facts: &Facts) -> Result<Saved, Error> {
        let claim = self.save_claim(plan)?;
        let stored = plan.stored.as_ref();
        let stored = stored.map(|change| backup_stored(&change.before.value, plan, self.backups));
        let stored = stored.transpose()?;
        let object = self.save_whole(object, plan, facts).await?;
        Ok(Saved {
            object,
            claim,
            stored,
        })
    }

    fn save_claim(&self, plan: &Plan) -> Result<Option<PathBuf>, Error> {
        match &plan.retention {
            Some(Retention {
                claim: Claim::Found(claim),
                ..
            }) => backup_claim(claim, self.backups).map(Some),
            _ => Ok(None),
        }
    }

    /// Saves an object, including the parts that were not read before.
    async fn save_whole(&self, object: &Object, plan: &Plan, facts: &Facts) -> Result<PathBuf, Error> {
        let is_secret = object.is("", "secrets");
        let wanted = object.is("", "configmaps") || is_secret && self.planner.asked.backup_secrets;
        let Some(ty) = facts.resource_type(&object.resource).filter(|_| wanted) else {
            return backup(object, plan, self.backups);
        };
        let failed = |why: String| Error::Server {
            message: format!("cannot read {} to save it: {why}", plan.target.pasteable()),
            hint: None,
        };
        let whole = cluster::whole(self.planner.server, ty, &plan.target).await;
        match whole.map_err(|why| failed(why.message()))? {
            Some(whole) if whole.uid() == plan.target.uid => backup(&whole, plan, self.backups),
            _ => Err(failed("it was deleted".into())),
        }
    }

    /// Writes receipts that the plan was not confirmed.
    pub(super) fn not_confirmed(&self, prepared: &PreparedPlans, why: &str) {
        for item in &prepared.items {
            self.add_receipt(&Receipt::of("not-confirmed", &item.plan, self.digest, why));
        }
    }

    /// Executes one plan and finds out the result.
    pub(super) async fn carry(&mut self, confirmed: &Item, saved: Saved) -> (Outcome, Exit) {
        let mut current = Current {
            item: confirmed.clone(),
            saved,
        };
        let settled = self.try_to_carry(confirmed, &mut current).await;
        self.add_receipt(&self.result(&current.item.plan, Some(&current.saved), &settled));
        let mut outcome = outcome(&current.item.plan, Some(&current.saved), &settled);
        if self.planner.asked.event && settled.exit == Exit::Done && settled.by != DoneBy::Others {
            outcome.event = self.leave_event(&current.item.plan).await;
        }
        (outcome, settled.exit)
    }

    async fn try_to_carry(&mut self, confirmed: &Item, current: &mut Current) -> Settled {
        for tries in 0.. {
            let facts = match self.renew(confirmed, current).await {
                Ok(facts) => facts,
                Err(settled) => return settled,
            };
            if tries == MAX_TRIES {
                break;
            }
            let mut receipt = Receipt::of("sending", &current.item.plan, self.digest, "about to be sent");
            current.saved.note_in(&mut receipt);
            if let Err(error) = self.receipts.add(&receipt) {
                return Settled::failed(format!(
                    "Nothing was sent, because there would be no receipt: {error}"
                ));
            }
            if let Some(settled) = self.send(&current.item.plan, &facts).await {
                return settled;
            }
        }
        Settled::refused("The object changed each time before the request arrived.")
    }

    /// Reads and diagnoses the object again, just before the request: the question can have waited for hours. Fails if
    /// it is no longer as it was confirmed, and says how.
    pub(super) async fn renew(&mut self, confirmed: &Item, current: &mut Current) -> Result<Facts, Settled> {
        let server = self.planner.server;
        let plan = &confirmed.plan;
        let name = &plan.target.name;
        let reading = async {
            let facts = cluster::initial_facts(server).await?;
            let state = ReadBack::of(server, &facts, plan).state().await;
            Ok::<_, Error>((facts, state))
        };
        let doing = || format!("{name}: reading it again");
        let Some(read) = self.planner.watch.show_progress(doing, reading).await else {
            return Err(Settled::stopped());
        };
        let (mut facts, state) =
            read.map_err(|error| Settled::failed(format!("Nothing was sent: {error}")))?;
        let object = match state {
            After::Gone => return Err(settle::gone_before(plan)),
            After::Another(_) => return Err(Settled::replaced()),
            After::Out(object) => return Err(settle::out_before(plan, &object)),
            After::StillOn(object) => *object,
            After::NotKnown(why) => {
                let why = why.message();
                return Err(Settled::failed(format!(
                    "Nothing was sent, because it could not be read again: {why}"
                )));
            }
        };
        let made = self.planner.plan(&object, &mut facts).await;
        if self.planner.watch.stopped() {
            return Err(Settled::stopped());
        }
        let now = made.map_err(|refusal| {
            Settled::refused(format!(
                "The object is no longer as it was confirmed: {}. Needed: {}.",
                refusal.why, refusal.needs
            ))
        })?;
        let worse = plan.worse(&now.plan);
        if !worse.is_empty() {
            return Err(Settled::refused(format!(
                "The object is no longer as it was confirmed: {}. Read the new plan.",
                worse.join("; ")
            )));
        }
        if now.plan.resource_version != current.item.plan.resource_version {
            let saved = self.save(&object, &now.plan, &facts).await;
            current.saved = saved.map_err(|error| Settled::failed(format!("Nothing was sent: {error}")))?;
        }
        current.item = now;
        Ok(facts)
    }

    /// Sends the request and finds out the result; none if the object changed before it arrived. Ctrl-C does not stop this:
    /// the request can already be on its way, and the result has to be known.
    async fn send(&mut self, plan: &Plan, facts: &Facts) -> Option<Settled> {
        let server = self.planner.server;
        if plan.untried.is_some() {
            match try_out(server, facts, plan).await {
                Trial::Fine => {}
                Trial::Changed(_) => return None,
                Trial::Stored { proved, .. } => return Some(self.stored(plan, facts, proved).await),
                Trial::Refused(message) => return Some(refused(&message)),
                Trial::PutBack => {
                    return Some(Settled::refused(
                        "A webhook or policy puts the finalizer back. Only the dry run was sent.",
                    ));
                }
                Trial::Unanswered(why) => {
                    let lost = format!("to the dry run, which this server may store; {why}");
                    return Some(self.settle(plan, facts, Some(&lost)).await);
                }
            }
        }
        let lost = match send(server, plan).await {
            Written::Refused { message, .. } => {
                return match ReadBack::of(server, facts, plan).state().await {
                    After::StillOn(object) if object.resource_version() == plan.resource_version => {
                        Some(refused(&message))
                    }
                    After::NotKnown(_) => Some(Settled::failed(format!("The server refused it: {message}"))),
                    _ => None,
                };
            }
            Written::Done(_) => None,
            Written::Unanswered(why) => Some(why),
        };
        Some(self.settle(plan, facts, lost.as_deref()).await)
    }

    async fn settle(&mut self, plan: &Plan, facts: &Facts, lost: Option<&str>) -> Settled {
        let mut read_back = ReadBack::of(self.planner.server, facts, plan);
        settle::settle(&mut read_back, plan, lost, self.planner.watch).await
    }

    /// The state after a dry run that changed the object.
    async fn stored(&mut self, plan: &Plan, facts: &Facts, proved: bool) -> Settled {
        self.settle(plan, facts, None).await.by_trial(proved, None)
    }

    /// Reports a dry run that changed the object before anybody confirmed it. The copy comes late, from what was read
    /// before.
    pub(super) async fn report_stored(&mut self, stored: Stored, facts: &Facts, cluster: &str) -> Outcome {
        let Stored { item, proved, made } = stored;
        let record = item.rescue.as_ref().map(|steps| Record {
            cluster: cluster.to_owned(),
            steps: steps.clone(),
        });
        let settled = match &record {
            Some(record) => {
                let now = self.state_of(&record.steps, facts).await;
                now.by_trial(proved, made.as_ref())
            }
            None => self.stored(&item.plan, facts, proved).await,
        };
        let saved = self.save_claim(&item.plan).and_then(|claim| {
            let object = backup(&item.object, &item.plan, self.backups)?;
            Ok(Saved {
                object,
                claim,
                stored: None,
            })
        });
        let saved = saved.inspect_err(complain).ok();
        self.add_receipt(&Receipt {
            consequence: None, // nobody has accepted it
            rescue: record.as_ref(),
            ..self.result(&item.plan, saved.as_ref(), &settled)
        });
        outcome(&item.plan, saved.as_ref(), &settled)
    }

    /// How the volume of a rescue is after a dry run that changed something. One that is gone can be made again from the
    /// receipt.
    async fn state_of(&self, steps: &Rescue, facts: &Facts) -> Settled {
        let target = steps.volume().reference().pasteable();
        match volumes::read_pair(self.planner.server, facts, steps).await {
            Ok(Pair {
                volume: Some(volume), ..
            }) => {
                let policy = reclaim_policy::policy(&volume);
                let end = if policy == RETAIN {
                    OutcomeResult::Retained
                } else {
                    OutcomeResult::NotDone
                };
                Settled::new(
                    end,
                    format!("{target} is there, with policy {policy}."),
                    Exit::Failed,
                )
            }
            Ok(Pair { volume: None, .. }) => {
                let says = format!("{target} is gone, and can be made again: go on with --resume.");
                Settled::new(OutcomeResult::Unfinished, says, Exit::Failed)
            }
            Err(why) => {
                let says = format!("{target} cannot be read: {}", why.message());
                Settled::new(OutcomeResult::Unknown, says, Exit::Failed)
            }
        }
    }

    /// The receipt of the result.
    pub(super) fn result<'r>(
        &'r self,
        plan: &'r Plan,
        saved: Option<&Saved>,
        settled: &Settled,
    ) -> Receipt<'r> {
        let says = settled.says.clone();
        let mut receipt = Receipt::of(settled.receipt_word(), plan, self.digest, says);
        if let Some(saved) = saved {
            saved.note_in(&mut receipt);
        }
        receipt
    }

    /// Creates the Event about the change. The change stands even without it.
    pub(super) async fn leave_event(&mut self, plan: &Plan) -> Option<String> {
        let event = event(plan, self.receipts.user(), Timestamp::now());
        match leave_event(self.planner.server, &event).await {
            Ok(name) => Some(name),
            Err(why) => {
                warn(&format!("the change was made, but without an Event: {why}"));
                None
            }
        }
    }

    /// Writes a receipt. A failure is only a warning, because the change has already happened.
    pub(super) fn add_receipt(&self, receipt: &Receipt<'_>) {
        if let Err(error) = self.receipts.add(receipt) {
            warn(&format!("the result has no receipt: {error}"));
        }
    }
}

/// The server refused the request for an object that has not changed since.
fn refused(message: &str) -> Settled {
    Settled::failed(format!(
        "The server refused it: {message}. Needed: {}.",
        veto(message).says
    ))
}

pub(super) fn outcome(plan: &Plan, saved: Option<&Saved>, settled: &Settled) -> Outcome {
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
        differences: settled.differences.clone(),
        outside: if lost && settled.by != DoneBy::Others {
            cost.outside
        } else {
            Vec::new()
        },
        backup: saved.map(|saved| saved.object.display().to_string()),
        claim_backup: saved.and_then(Saved::claim_path),
        stored_backup: saved.and_then(Saved::stored_path),
        event: None,
    }
}
