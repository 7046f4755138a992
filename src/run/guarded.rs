//! `remove`, `finalize`, `nudge`: find, diagnose, plan, try out, show, have it confirmed, save, send once, read back, tell.
//!
//! Each step can end it, and until the sending nothing has been changed in the cluster.

mod carry;
mod confirm;
mod prepare;
mod settle;
mod tell;

use jiff::Timestamp;

use self::{
    carry::Carrier,
    confirm::Confirmed,
    prepare::{Prepared, Preparing},
};
use super::{block_on, target::watch::Watch, warn};
use crate::{
    act::{self, Receipt, Receipts},
    cluster::{self, Server, connect::connect},
    error::Error,
    exit::Exit,
    knowledge::Knowledge,
    plan::{digest, unaccepted},
    report::OutcomeReport,
    settings::Guarded,
};

/// Does one of the three.
pub(super) fn run(asked: &Guarded, knowledge: &Knowledge) -> Result<Exit, Error> {
    block_on(guarded(asked, knowledge))
}

async fn guarded(asked: &Guarded, knowledge: &Knowledge) -> Result<Exit, Error> {
    let place = act::place(asked.backup_dir.as_deref(), asked.audit_file.as_deref(), |name| {
        std::env::var_os(name).map(Into::into)
    })?;
    let server = Server {
        connected: connect(&asked.connection).await?,
    };
    let mut watch = Watch::new();
    let mut preparing = Preparing {
        server: &server,
        asked,
        knowledge,
        watch: &mut watch,
    };
    let Some(mut prepared) = preparing.all().await? else {
        return Ok(Exit::Interrupted);
    };
    let plans = prepared.plans();
    prepared.refused.extend(unaccepted(&plans, &asked.accepted));
    let digest = digest(&plans);
    tell::plan(asked, &server.connected.server, &digest, &prepared)?;
    if asked.only_plan {
        return Ok(ended(&prepared));
    }

    let user = cluster::myself(&server).await;
    let address = server.connected.server.clone();
    let receipts = Receipts::new(place.receipts, user, address, Timestamp::now());
    if !prepared.refused.is_empty() || prepared.failed {
        note_refusals(asked, &prepared, &receipts);
        return Ok(ended(&prepared));
    }
    let mut carrier = Carrier {
        preparing,
        receipts: &receipts,
        backups: &place.backups,
        digest: &digest,
    };
    // The copies first: without room for them nobody need be asked.
    let Some(saved) = carrier.save_all(&prepared).await else {
        return Ok(Exit::Failed);
    };
    match confirm::confirm(asked, &digest, &plans, carrier.preparing.watch).await {
        Confirmed::Yes => {}
        Confirmed::No(why) => {
            carrier.not_confirmed(&prepared, &why);
            super::complain(&Error::Refused {
                message: format!("not confirmed, and nothing was sent: {why}"),
                hint: None,
            });
            return Ok(Exit::Refused);
        }
        Confirmed::Stopped => {
            carrier.not_confirmed(&prepared, "stopped with Ctrl-C");
            return Ok(Exit::Interrupted);
        }
    }
    let _held = hold_on();
    let mut outcomes = Vec::new();
    let mut exit = Exit::Done;
    for (item, backup) in prepared.items.into_iter().zip(saved) {
        let (outcome, ended) = carrier.carry(item, backup, &mut prepared.facts).await;
        outcomes.push(outcome);
        if exit == Exit::Done {
            exit = ended;
        }
        // What one learns from one that went wrong is for a person to judge before the next.
        if ended != Exit::Done {
            break;
        }
    }
    let report = OutcomeReport::new(digest.clone(), outcomes, receipts.path().display().to_string());
    tell::outcome(asked, &report)?;
    Ok(exit)
}

/// From here on, for as long as this is kept, a window that is closed and a polite kill do not end the run: what is under way
/// arrives or not, and its receipt has to say which. Where they cannot be listened for, they end it as they always did.
#[cfg(unix)]
fn hold_on() -> Vec<tokio::signal::unix::Signal> {
    use tokio::signal::unix::{SignalKind, signal};
    [SignalKind::hangup(), SignalKind::terminate()]
        .into_iter()
        .filter_map(|kind| signal(kind).ok())
        .collect()
}

#[cfg(not(unix))]
fn hold_on() {}

fn ended(prepared: &Prepared) -> Exit {
    if prepared.failed {
        Exit::Failed
    } else if prepared.refused.is_empty() {
        Exit::Done
    } else {
        Exit::Refused
    }
}

/// A receipt of what was refused. It is no reason for anything else, so its own failure is only said.
fn note_refusals(asked: &Guarded, prepared: &Prepared, receipts: &Receipts) {
    let finalizer = asked.wanted.finalizer();
    for refusal in &prepared.refused {
        let receipt = Receipt {
            what: "refused",
            verb: asked.wanted.action().word(),
            target: &refusal.target,
            finalizer: finalizer.as_ref(),
            digest: None,
            request: None,
            consequence: None,
            backup: None,
            says: refusal.why.clone(),
        };
        if let Err(error) = receipts.add(&receipt) {
            warn(&format!("there is no receipt of this: {error}"));
            return;
        }
    }
}
