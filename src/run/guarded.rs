//! `remove`, `finalize`, `nudge`, `rescue`: find, diagnose, plan, dry-run, show, confirm, save, send once, read back,
//! report.
//!
//! Every step can end the run. Nothing changes in the cluster before the request is sent.

mod again;
mod carry;
mod confirm;
mod prepare;
mod resume;
mod rights;
mod settle;
mod stored;
mod tell;
mod unmark;
mod volumes;

use std::path::PathBuf;

use jiff::Timestamp;

use self::{
    carry::Carrier,
    confirm::Confirmed,
    prepare::{Planner, PreparedPlans},
};
use super::{block_on, target::watch::Watch, warn};
use crate::{
    act::{self, Receipt, Receipts},
    cluster::{self, Server, connect::connect},
    error::Error,
    exit::Exit,
    knowledge::Knowledge,
    plan::{digest, unaccepted},
    report::{OutcomeReport, outcome::Outcome},
    settings::{Guarded, Wanted},
};

/// Runs one of the four commands.
pub(super) fn run(asked: &Guarded, knowledge: &Knowledge) -> Result<Exit, Error> {
    block_on(guarded(asked, knowledge))
}

async fn guarded(asked: &Guarded, knowledge: &Knowledge) -> Result<Exit, Error> {
    let paths = act::record_paths(asked.backup_dir.as_deref(), asked.audit_file.as_deref(), |name| {
        std::env::var_os(name).map(Into::into)
    })?;
    let server = Server {
        connected: connect(&asked.connection).await?,
    };
    let mut watch = Watch::new();
    let mut planner = Planner {
        server: &server,
        asked,
        knowledge,
        watch: &mut watch,
    };
    let identity = cluster::identity(&server).await;
    let preparing = match &asked.wanted {
        Wanted::Rescue {
            resume: Some(receipts),
            ..
        } => planner.prepare_resumed(receipts, &identity).await?,
        _ => planner.prepare_all().await?,
    };
    let Some(mut prepared) = preparing else {
        return Ok(Exit::Interrupted);
    };
    let plans = prepared.plans();
    if let Some(stored) = prepared.stored.take() {
        let receipts = receipts(&server, paths.receipts).await;
        let mut carrier = Carrier {
            planner,
            receipts: &receipts,
            backups: &paths.backups,
            digest: &digest(std::slice::from_ref(&stored.item.plan), &identity),
        };
        let outcome = carrier.report_stored(stored, &prepared.facts, &identity).await;
        tell::outcome(asked, &outcomes_report(&carrier, vec![outcome]))?;
        return Ok(Exit::Failed);
    }
    prepared.refused.extend(unaccepted(&plans, &asked.accepted));
    let digest = digest(&plans, &identity);
    tell::plan(asked, &server.connected.server, &digest, &prepared)?;
    // All of it is done already.
    if asked.only_plan || plans.is_empty() && prepared.refused.is_empty() {
        return Ok(exit_code(&prepared));
    }

    let receipts = receipts(&server, paths.receipts).await;
    if !prepared.refused.is_empty() || prepared.failed {
        write_refusal_receipts(asked, &prepared, &receipts);
        return Ok(exit_code(&prepared));
    }
    let mut carrier = Carrier {
        planner,
        receipts: &receipts,
        backups: &paths.backups,
        digest: &digest,
    };
    // Save the copies before asking: without space for them, nobody needs to confirm.
    let Some(saved) = carrier.save_all(&prepared).await else {
        return Ok(Exit::Failed);
    };
    if let Some(warning) = act::Platform::HERE.exposure() {
        super::inform(warning);
    }
    match confirm::confirm(asked, &digest, &plans, carrier.planner.watch).await {
        Confirmed::Yes => {}
        Confirmed::No(why) => {
            carrier.not_confirmed(&prepared, &why);
            super::complain(&Error::Refused {
                message: format!("nothing was sent, because the plan was not confirmed: {why}"),
                hint: None,
            });
            return Ok(Exit::Refused);
        }
        Confirmed::Stopped => {
            carrier.not_confirmed(&prepared, "stopped with Ctrl-C");
            return Ok(Exit::Interrupted);
        }
    }
    let _signals = ignore_termination();
    let mut outcomes = Vec::new();
    let mut exit = Exit::Done;
    for (item, backup) in prepared.items.iter().zip(saved) {
        let (outcome, ended) = match (&item.rescue, &item.plan.stored) {
            (Some(rescue), _) => carrier.make_again(item, rescue.clone(), backup, &identity).await,
            (None, Some(change)) => carrier.unmark(item, change, backup, &prepared.facts).await,
            (None, None) => carrier.carry(item, backup).await,
        };
        outcomes.push(outcome);
        if exit == Exit::Done {
            exit = ended;
        }
        // After a failure, a person decides whether to continue with the next object.
        if ended != Exit::Done {
            break;
        }
    }
    tell::outcome(asked, &outcomes_report(&carrier, outcomes))?;
    Ok(exit)
}

/// The receipts of this run.
async fn receipts(server: &Server, path: PathBuf) -> Receipts {
    let user = cluster::myself(server).await;
    Receipts::new(path, user, server.connected.server.clone(), Timestamp::now())
}

fn outcomes_report(carrier: &Carrier<'_>, outcomes: Vec<Outcome>) -> OutcomeReport {
    let receipts = carrier.receipts.path().display().to_string();
    OutcomeReport::new(carrier.digest.to_owned(), outcomes, receipts)
}

/// While the returned value lives, SIGHUP and SIGTERM do not end the run. A request that is already sent
/// arrives or not, and its receipt has to record which. If the process cannot listen for these signals, they
/// end it as usual.
#[cfg(unix)]
fn ignore_termination() -> Vec<tokio::signal::unix::Signal> {
    use tokio::signal::unix::{SignalKind, signal};
    [SignalKind::hangup(), SignalKind::terminate()]
        .into_iter()
        .filter_map(|kind| signal(kind).ok())
        .collect()
}

#[cfg(not(unix))]
fn ignore_termination() {}

fn exit_code(prepared: &PreparedPlans) -> Exit {
    if prepared.failed {
        Exit::Failed
    } else if prepared.refused.is_empty() {
        Exit::Done
    } else {
        Exit::Refused
    }
}

/// Writes receipts for what was refused. If that fails, a warning is enough, because nothing was sent.
fn write_refusal_receipts(asked: &Guarded, prepared: &PreparedPlans, receipts: &Receipts) {
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
            claim_backup: None,
            stored_backup: None,
            rescue: None,
            says: refusal.why.clone(),
        };
        if let Err(error) = receipts.add(&receipt) {
            warn(&format!("this refusal has no receipt: {error}"));
            return;
        }
    }
}
