//! `exporter`: follow all types, look at the cluster when something changed, and publish what was found, while requests
//! for metrics are answered.

mod follow;
mod look;
mod process;
mod serve;

use std::{
    io,
    sync::Arc,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use tokio::{
    net::TcpListener,
    sync::watch,
    time::{sleep, timeout},
};

use self::{follow::Following, look::Looker};
use super::{block_on, inform, warn};
use crate::{
    cluster::{Server, connect::connect},
    error::Error,
    exit::Exit,
    knowledge::Knowledge,
    report::metrics::{Family, Health, Look},
    settings::Exporter,
};

/// A diagnosis is made again after this time, also without a change: a controller that is back changes none
/// of the objects that wait for it.
const REFRESH: Duration = Duration::from_secs(300);

/// What requests are answered from.
#[derive(Clone, Default)]
struct Published {
    /// The metrics of the last look that succeeded, and when it ended.
    cluster: Option<(Instant, Arc<Vec<Family>>)>,
    health: Health,
    /// When the exporter began.
    began: Timestamp,
}

pub(super) fn run(settings: &Exporter, knowledge: &Knowledge) -> Result<Exit, Error> {
    block_on(async {
        // A wrong flag or file ends the process at once. Only what fails later is tried again.
        let server = Server {
            connected: connect(&settings.connection).await?,
        };
        let stopped = stopped().map_err(Error::Output)?;
        let listener = TcpListener::bind(settings.listen)
            .await
            .map_err(|cause| cannot_listen(settings, &cause))?;
        let address = listener
            .local_addr()
            .map_err(|cause| cannot_listen(settings, &cause))?;
        inform(&format!("metrics are at http://{address}/metrics"));
        let state = watch::Sender::new(Published {
            began: Timestamp::now(),
            ..Published::default()
        });
        let answers = serve::answer_all(listener, state.subscribe());
        let following = Following::new(server, settings);
        tokio::select! {
            () = look_again_and_again(&following, settings, knowledge, &state) => {}
            () = following.run() => {}
            () = answers => {}
            () = stopped => {}
        }
        Ok(Exit::Done)
    })
}

async fn look_again_and_again(
    following: &Following<'_>,
    settings: &Exporter,
    knowledge: &Knowledge,
    state: &watch::Sender<Published>,
) {
    let mut looker = Looker::new(following, settings, knowledge);
    let mut last_failure = None;
    loop {
        let (began, before) = (Instant::now(), following.requests());
        let changes = following.followed.changes();
        let found = looker.metrics().await;
        let failure = found.as_ref().err().cloned();
        // The same failure again is no news.
        if let Some(failure) = failure.as_ref().filter(|_| failure != last_failure) {
            warn(&format!("a look failed: {failure}"));
        }
        state.send_modify(|state| {
            state.health.add(Look {
                ended: Timestamp::now(),
                took: began.elapsed(),
                requests: following.requests().saturating_sub(before),
                watched: following.followed.known(),
                succeeded: found.is_ok(),
            });
            if let Ok(families) = found {
                state.cluster = Some((Instant::now(), Arc::new(families)));
            }
        });
        sleep(settings.interval.saturating_sub(began.elapsed())).await;
        if failure.is_none() {
            // What changed during the look may not be in it.
            let due = following.followed.changed(changes);
            timeout(REFRESH.saturating_sub(began.elapsed()), due).await.ok();
        }
        last_failure = failure;
    }
}

/// Ends when the process is told to end: by Ctrl-C, or by SIGTERM as the kubelet sends it.
#[cfg(unix)]
fn stopped() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

/// Ends when the process is told to end: by Ctrl-C.
#[cfg(not(unix))]
fn stopped() -> io::Result<impl Future<Output = ()>> {
    let mut interrupt = tokio::signal::windows::ctrl_c()?;
    Ok(async move {
        interrupt.recv().await;
    })
}

fn cannot_listen(settings: &Exporter, cause: &io::Error) -> Error {
    Error::Usage {
        message: format!("cannot listen at {}: {cause}", settings.listen),
        hint: Some("choose another address or port with --listen; port 0 takes a free one".into()),
    }
}
