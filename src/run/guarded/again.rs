//! Executes a confirmed rescue: reads, makes the step that follows from what was read, and reads again, until volume and
//! claim are Bound.
//!
//! A receipt with all that `--resume` needs is on the disk before each request. Each request is for the version that was
//! read, so nothing is sent for a volume that has changed. A request without an answer needs no rule of its own: the
//! next read shows whether it arrived.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::{
    carry::{Carrier, Current, Saved, outcome},
    prepare::Item,
    settle::{DoneBy, Settled},
    volumes::{self, Pair},
};
use crate::{
    act::{Receipt, Record, send_step},
    cluster::{self, Written},
    exit::Exit,
    plan::{Lost, Next, Request, Rescue, veto},
    report::outcome::{Outcome, OutcomeResult},
    run::timing,
    settings::Wanted,
    snapshot::facts::Facts,
};

/// Time between two reads.
const READ_INTERVAL: Duration = Duration::from_millis(200);
/// Time after a request that failed.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);
/// How often the server may refuse one step after another. A volume that just changed is read again.
const MAX_REFUSALS: u32 = 5;

impl Carrier<'_> {
    /// Executes a rescue and reports its end.
    pub(super) async fn make_again(
        &mut self,
        confirmed: &Item,
        steps: Rescue,
        saved: Saved,
        cluster: &str,
    ) -> (Outcome, Exit) {
        let mut current = Current {
            item: confirmed.clone(),
            saved,
        };
        let mut record = Record {
            cluster: cluster.to_owned(),
            steps,
        };
        let settled = match self.checked(confirmed, &mut current, &mut record).await {
            Ok(facts) => self.walk(&current, &mut record, &facts).await,
            Err(settled) => settled,
        };
        let mut receipt = self.result(&current.item.plan, Some(&current.saved), &settled);
        receipt.rescue = Some(&record);
        self.add_receipt(&receipt);
        let mut outcome = outcome(&current.item.plan, Some(&current.saved), &settled);
        if self.planner.asked.event && settled.exit == Exit::Done {
            outcome.event = self.leave_event(&current.item.plan).await;
        }
        (outcome, settled.exit)
    }

    /// Checks that all is still as it was confirmed. A rescue that goes on checks each state by itself.
    async fn checked(
        &mut self,
        confirmed: &Item,
        current: &mut Current,
        record: &mut Record,
    ) -> Result<Facts, Settled> {
        if let Wanted::Rescue { resume: Some(_), .. } = self.planner.asked.wanted {
            let facts = cluster::initial_facts(self.planner.server).await;
            return facts.map_err(|error| Settled::failed(format!("Nothing was sent: {error}")));
        }
        let facts = self.renew(confirmed, current).await?;
        if let Some(steps) = &current.item.rescue {
            record.steps = steps.clone();
        }
        Ok(facts)
    }

    async fn walk(&mut self, current: &Current, record: &mut Record, facts: &Facts) -> Settled {
        let (mut sent, mut noted, mut refusals) = (false, false, 0);
        let mut state = String::new();
        let mut progress = Instant::now();
        loop {
            let pair = volumes::read_pair(self.planner.server, facts, &record.steps).await;
            if let Ok(Pair { volume, claim }) = &pair {
                state = record.steps.state(volume.as_ref(), claim.as_ref());
            }
            let (pause, waits_for) = match pair {
                Err(why) => (
                    RETRY_INTERVAL,
                    format!("the volume can be read: {}", why.message()),
                ),
                Ok(pair) => match record.steps.next(pair.volume.as_ref(), pair.claim.as_ref()) {
                    Next::Done(differences) => return self.done(&record.steps, differences),
                    Next::Stop(why) => return ended(sent, &state, &format!("Stopped: {why}.")),
                    Next::Wait(until) => {
                        // The claim can go after this run ended, and then only the receipt knows that its disk was kept.
                        if record.steps.lost() == Lost::Claim && record.steps.is_kept() && !noted {
                            if let Err(why) = self.note(current, record, until, None) {
                                return ended(sent, &state, &format!("There would be no receipt: {why}"));
                            }
                            noted = true;
                        }
                        (READ_INTERVAL, until.to_owned())
                    }
                    Next::Send(what, request) => {
                        if let Err(why) = self.note(current, record, what, Some(&request)) {
                            return ended(sent, &state, &format!("There would be no receipt: {why}"));
                        }
                        sent = true;
                        match self.send_for(&request, &pair).await {
                            Written::Done(_) => {
                                (progress, refusals) = (Instant::now(), 0);
                                continue;
                            }
                            Written::Refused { message, .. } => {
                                refusals += 1;
                                if refusals >= MAX_REFUSALS {
                                    let needs = veto(&message).says;
                                    let says =
                                        format!("The server refused to {what}: {message}. Needed: {needs}.");
                                    return ended(true, &state, &says);
                                }
                                (RETRY_INTERVAL, format!("the server accepts to {what}: {message}"))
                            }
                            Written::Unanswered(why) => {
                                (RETRY_INTERVAL, format!("the server answers: {why}"))
                            }
                        }
                    }
                },
            };
            if progress.elapsed() >= timing::RESCUE_STEP {
                return ended(
                    sent,
                    &state,
                    &format!("Waited {}s until {waits_for}.", timing::RESCUE_STEP.as_secs()),
                );
            }
            let doing = || {
                format!(
                    "{}: waiting until {waits_for}",
                    current.item.plan.target.pasteable()
                )
            };
            // Ctrl-C ends only a wait: between two requests the volume may be gone.
            if self
                .planner
                .watch
                .show_progress(doing, sleep(pause))
                .await
                .is_none()
            {
                let mut settled = ended(
                    sent,
                    &state,
                    &format!("Stopped with Ctrl-C while waiting until {waits_for}."),
                );
                settled.exit = Exit::Interrupted;
                return settled;
            }
        }
    }

    /// Writes the receipt of a step that is about to be sent; without a request, of what is waited for.
    fn note(
        &self,
        current: &Current,
        record: &Record,
        what: &str,
        request: Option<&Request>,
    ) -> Result<(), String> {
        let (word, says) = match request {
            Some(_) => ("sending", format!("about to be sent: {what}")),
            None => ("waiting", format!("waiting until {what}")),
        };
        let mut receipt = Receipt::of(word, &current.item.plan, self.digest, says);
        receipt.request = request;
        receipt.rescue = Some(record);
        current.saved.note_in(&mut receipt);
        self.receipts.add(&receipt).map_err(|error| error.to_string())
    }

    async fn send_for(&self, request: &Request, pair: &Pair) -> Written {
        let volume = pair.volume.as_ref().filter(|_| !request.makes_an_object());
        let uid = volume.map(crate::snapshot::facts::Object::uid);
        send_step(self.planner.server, request, uid).await
    }

    fn done(&self, steps: &Rescue, differences: Vec<String>) -> Settled {
        let what = match steps.lost() {
            Lost::Volume => "The volume is made again, for the same disk.",
            Lost::Claim => "The claim is made again, for the same volume and disk.",
        };
        let mut settled = Settled::new(OutcomeResult::Rescued, what, Exit::Done);
        settled.adds(steps.deleters(self.planner.knowledge));
        settled.differences = differences;
        settled.by = DoneBy::Us;
        settled
    }
}

/// A rescue that ended early, in this state.
fn ended(sent: bool, state: &str, why: &str) -> Settled {
    if sent {
        let says = format!("{why} {state}");
        Settled::new(OutcomeResult::Unfinished, says.trim_end(), Exit::Failed)
    } else {
        Settled::failed(format!("Nothing was sent. {why}"))
    }
}
