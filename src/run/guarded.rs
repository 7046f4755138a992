//! `remove`, `finalize`, `nudge`, `rescue`: find, diagnose, plan, dry-run, show, confirm, save, send once, read back,
//! report.
//!
//! Every step can end the run. Nothing changes in the cluster before the request is sent.

mod carry;
mod confirm;
mod prepare;
mod settle;
mod tell;
mod volumes;

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
    report::OutcomeReport,
    settings::Guarded,
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
    let Some(mut prepared) = planner.prepare_all().await? else {
        return Ok(Exit::Interrupted);
    };
    let plans = prepared.plans();
    prepared.refused.extend(unaccepted(&plans, &asked.accepted));
    let digest = digest(&plans);
    tell::plan(asked, &server.connected.server, &digest, &prepared)?;
    // All of it is done already.
    if asked.only_plan || plans.is_empty() && prepared.refused.is_empty() {
        return Ok(exit_code(&prepared));
    }

    let user = cluster::myself(&server).await;
    let address = server.connected.server.clone();
    let receipts = Receipts::new(paths.receipts, user, address, Timestamp::now());
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
    match confirm::confirm(asked, &digest, &plans, carrier.planner.watch).await {
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
    let _signals = ignore_termination();
    let mut outcomes = Vec::new();
    let mut exit = Exit::Done;
    for (item, backup) in prepared.items.into_iter().zip(saved) {
        let (outcome, ended) = carrier.carry(item, backup, &mut prepared.facts).await;
        outcomes.push(outcome);
        if exit == Exit::Done {
            exit = ended;
        }
        // After a failure, a person decides whether to continue with the next object.
        if ended != Exit::Done {
            break;
        }
    }
    let report = OutcomeReport::new(digest.clone(), outcomes, receipts.path().display().to_string());
    tell::outcome(asked, &report)?;
    Ok(exit)
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
            says: refusal.why.clone(),
        };
        if let Err(error) = receipts.add(&receipt) {
            warn(&format!("there is no receipt of this: {error}"));
            return;
        }
    }
}
