//! `rescue --resume`: goes on with a rescue that ended between two steps. The next step follows from the last receipt and
//! from the state of the cluster.

use std::{collections::BTreeSet, path::Path};

use super::{
    prepare::{Accepted, Item, MAX_TRIES, Planner, PreparedPlans, changed_each_time},
    settle::stored_in_words,
    volumes::{self, Pair},
};
use crate::{
    act::{Record, unfinished_rescue},
    error::Error,
    run::{target::find, warn, witness::Witness},
};

impl Planner<'_> {
    /// The plan for the rest of a rescue; none if the user stopped the run.
    pub(super) async fn prepare_resumed(
        &mut self,
        receipts: &Path,
        cluster: &str,
    ) -> Result<Option<PreparedPlans>, Error> {
        let witness = Witness::Server(self.server);
        let asking = || "asking the server for its types".to_owned();
        let Some(facts) = self.watch.show_progress(asking, witness.initial_facts()).await else {
            return Ok(None);
        };
        let mut prepared = PreparedPlans::new(facts?);
        let [(word, name)] = &self.asked.targets[..] else {
            return Err(not_one_volume("several targets"));
        };
        let ty = find::type_of(word, &prepared.facts, &mut BTreeSet::new())?;
        if !ty.is("", "persistentvolumes") {
            return Err(not_one_volume(&ty.name()));
        }
        let Record {
            cluster: recorded,
            steps,
        } = unfinished_rescue(receipts, name)?.ok_or_else(|| Error::Usage {
            message: format!("{} has no unfinished rescue of pv/{name}", receipts.display()),
            hint: Some("the outcome of the run that ended early names its receipts".into()),
        })?;
        if recorded != cluster {
            return Err(Error::Usage {
                message: format!("the rescue of pv/{name} began in another cluster"),
                hint: Some("name that cluster: --context NAME".into()),
            });
        }
        // While it waits, controllers go on with the volume and its claim.
        for _ in 0..MAX_TRIES {
            let mut steps = steps.clone();
            let reading = volumes::read_pair(self.server, &prepared.facts, &steps);
            let doing = || format!("pv/{name}: reading it again");
            let Some(read) = self.watch.show_progress(doing, reading).await else {
                return Ok(None);
            };
            let Pair { volume, claim } = read.map_err(|why| Error::Server {
                message: format!("cannot read pv/{name} and its claim: {}", why.message()),
                hint: None,
            })?;
            let item = match steps.resumed(volume.as_ref(), claim.as_ref(), self.knowledge) {
                Ok(plan) => Item {
                    object: steps.volume().clone(),
                    plan,
                    rescue: Some(steps),
                },
                Err(refusal) => {
                    prepared.refused.push(refusal);
                    return Ok(Some(prepared));
                }
            };
            match self.server_accepts(&item, volume.as_ref(), &prepared.facts).await {
                Ok(Accepted::Changed) => continue,
                Ok(Accepted::Yes) => prepared.items.push(item),
                // The volume may be gone, so the rescue goes on.
                Ok(Accepted::Stored { made, .. }) => {
                    warn(&stored_in_words(made.as_ref()));
                    prepared.items.push(item);
                }
                Err(refusal) => prepared.refused.push(refusal),
            }
            return Ok(Some(prepared));
        }
        prepared
            .refused
            .push(changed_each_time(&steps.volume().reference()));
        Ok(Some(prepared))
    }
}

fn not_one_volume(given: &str) -> Error {
    Error::Usage {
        message: format!("--resume is for one volume, not for {given}"),
        hint: Some("write kubectl finalizers rescue pv/NAME --resume RECEIPTS".into()),
    }
}
