//! `exporter`: look at the cluster, publish what was found, wait, and look again, while requests for metrics are answered.

mod look;
mod serve;

use std::{io, sync::Arc, time::Instant};

use jiff::Timestamp;
use tokio::{
    net::TcpListener,
    sync::watch,
    time::{MissedTickBehavior, interval},
};

use super::{block_on, inform, warn};
use crate::{
    cluster::{Server, connect::connect},
    error::Error,
    exit::Exit,
    knowledge::Knowledge,
    report::metrics::{Family, Health, Look},
    settings::Exporter,
};

/// What requests are answered from.
#[derive(Clone, Default)]
struct State {
    /// The metrics of the last look that succeeded.
    cluster: Arc<Vec<Family>>,
    health: Health,
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
        let state = watch::Sender::default();
        let answers = serve::answer_all(listener, state.subscribe());
        tokio::select! {
            () = look_again_and_again(settings, knowledge, server, &state) => {}
            () = answers => {}
            () = stopped => {}
        }
        Ok(Exit::Done)
    })
}

async fn look_again_and_again(
    settings: &Exporter,
    knowledge: &Knowledge,
    first: Server,
    state: &watch::Sender<State>,
) {
    let mut ticks = interval(settings.interval);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut first = Some(first);
    let mut last_failure = None;
    loop {
        ticks.tick().await;
        let began = Instant::now();
        // A new connection each time takes changed certificates and credentials, and keeps none open in between.
        let server = match first.take() {
            Some(server) => Ok(server),
            None => connect(&settings.connection)
                .await
                .map(|connected| Server { connected }),
        };
        let (found, requests) = match &server {
            Ok(server) => (look::look(server, settings, knowledge).await, server.requests()),
            Err(error) => (Err(error.to_string()), 0),
        };
        let failure = found.as_ref().err().cloned();
        // The same failure again is no news.
        if let Some(failure) = failure.as_ref().filter(|_| failure != last_failure) {
            warn(&format!("a look failed: {failure}"));
        }
        state.send_modify(|state| {
            state.health.add(Look {
                ended: Timestamp::now(),
                took: began.elapsed(),
                requests,
                succeeded: found.is_ok(),
            });
            if let Ok(families) = found {
                state.cluster = Arc::new(families);
            }
        });
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
