//! `rescue --etcd`: replaces the stored object with the same object without its deletion.
//!
//! Exactly the confirmed bytes are written, and only at the confirmed revision. So nothing is read again in between: an
//! object that changed is left alone, and a person reads the new plan.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::{
    carry::{Carrier, Saved, outcome},
    prepare::Item,
    settle::{DoneBy, Settled},
};
use crate::{
    act::{Etcd, Receipt, Replaced},
    exit::Exit,
    plan::{StoredChange, unmarked},
    report::outcome::{Outcome, OutcomeResult},
    settings::Wanted,
    snapshot::facts::{Facts, Object},
};

/// Time between two reads.
const READ_INTERVAL: Duration = Duration::from_millis(300);
/// The API server shows a change of etcd at once, also one behind a load balancer.
const MAX_WAIT_FOR_SERVER: Duration = Duration::from_secs(10);
/// A transaction whose answer was lost is stored within this time, or never: etcd gives each request 7 s by default
/// (`etcd-io/etcd:server/config/config.go` ReqTimeout).
const MAX_REQUEST_DELAY: Duration = Duration::from_secs(10);

impl Carrier<'_> {
    /// Replaces the stored value once, and looks at the API server what became of it.
    pub(super) async fn unmark(
        &mut self,
        item: &Item,
        change: &StoredChange,
        saved: Saved,
        facts: &Facts,
    ) -> (Outcome, Exit) {
        let settled = self.replace(item, change, &saved, facts).await;
        self.add_receipt(&self.result(&item.plan, Some(&saved), &settled));
        let mut outcome = outcome(&item.plan, Some(&saved), &settled);
        if self.planner.asked.event && settled.exit == Exit::Done {
            outcome.event = self.leave_event(&item.plan).await;
        }
        (outcome, settled.exit)
    }

    async fn replace(&mut self, item: &Item, change: &StoredChange, saved: &Saved, facts: &Facts) -> Settled {
        let Wanted::Unmark(access) = &self.planner.asked.wanted else {
            return Settled::failed("Nothing was sent: no etcd is named.");
        };
        let etcd = match Etcd::new(access) {
            Ok(etcd) => etcd,
            Err(error) => return Settled::failed(format!("Nothing was sent: {error}")),
        };
        let mut receipt = Receipt::of("sending", &item.plan, self.digest, "about to be sent");
        saved.note_in(&mut receipt);
        if let Err(error) = self.receipts.add(&receipt) {
            return Settled::failed(format!(
                "Nothing was sent, because there would be no receipt: {error}"
            ));
        }
        let lost = match etcd.replace(change).await {
            Replaced::Done => None,
            Replaced::Unanswered(why) => Some(why),
            Replaced::Changed => {
                return Settled::refused(
                    "The object changed after the plan was made, so nothing was written. Run the command again, and read the new plan.",
                );
            }
            Replaced::Refused(why) => {
                return Settled::failed(format!("etcd refused it, so nothing was written: {why}"));
            }
        };
        self.read_back(item, lost, &mut facts.unasked()).await
    }

    /// Reads the object from the API server until it shows what was written, or never will.
    async fn read_back(&mut self, item: &Item, lost: Option<String>, facts: &mut Facts) -> Settled {
        let began = Instant::now();
        let limit = if lost.is_some() {
            MAX_REQUEST_DELAY
        } else {
            MAX_WAIT_FOR_SERVER
        };
        let mut settled = loop {
            let now = self.planner.read_again(&item.object, facts).await;
            let found = now.as_ref().and_then(|now| unmarked(&item.object, now));
            if let Some(differences) = found {
                let says = "The object is not being deleted any more.";
                let mut settled = Settled::new(OutcomeResult::Rescued, says, Exit::Done);
                let then = item
                    .plan
                    .stored
                    .iter()
                    .flat_map(|change| change.then.iter().skip(1));
                settled.adds(then.cloned());
                settled.differences = differences;
                settled.by = if lost.is_some() {
                    DoneBy::Perhaps
                } else {
                    DoneBy::Us
                };
                break settled;
            }
            let version = now.as_ref().map(Object::resource_version);
            let has_changed = version.is_some_and(|version| version != item.plan.resource_version);
            if lost.is_some() && has_changed {
                break Settled::failed(
                    "The object has changed since and is still being deleted, so nothing was written, and never will be.",
                );
            }
            if began.elapsed() >= limit {
                let says = match (&lost, now) {
                    (Some(_), Some(_)) => "Nothing has changed so far, so it most likely did not arrive.",
                    (None, Some(_)) => "etcd confirmed it, but the API server still shows the deletion.",
                    (_, None) => "The API server does not show the object.",
                };
                break Settled::new(OutcomeResult::Unknown, says, Exit::Failed);
            }
            let doing = || format!("{}: reading it again", item.plan.target.pasteable());
            if self
                .planner
                .watch
                .show_progress(doing, sleep(READ_INTERVAL))
                .await
                .is_none()
            {
                let says = "Stopped with Ctrl-C before the result was known.";
                break Settled::new(OutcomeResult::Unknown, says, Exit::Interrupted);
            }
        };
        if let Some(why) = lost {
            settled.says = format!("The answer of etcd was lost ({why}). Now: {}", settled.says);
        }
        settled
    }
}
