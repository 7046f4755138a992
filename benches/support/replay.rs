//! The yardstick for programs that send requests in rounds: the same requests in the same form, those of a
//! round in parallel, with the responses thrown away. It is a separate process with the same client, so that
//! both pay for start-up, TLS and HTTP. The difference is the work of the program.

use std::{env, fs, path::Path};

use futures::{StreamExt, stream};
use http_body_util::BodyExt;
use kubectl_finalizers::{cluster::connect, settings::Connection};

use crate::{
    measure::{Measured, process},
    yardstick::text,
};

const VARIABLE: &str = "FINALIZERS_REPLAY";
/// The parallelism of the program itself.
const PARALLEL: usize = 8;

/// One request without a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    pub path: String,
    pub accept: String,
}

impl Request {
    /// Parses a request from the traffic; none until its head is complete.
    pub fn parse(head: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(head.strip_suffix(b"\r\n\r\n")?).unwrap();
        let mut lines = text.lines();
        let line = lines.next()?;
        let path = line
            .strip_prefix("GET ")
            .unwrap_or_else(|| panic!("{line}: only reads are replayed"));
        let accept = lines.find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("accept").then_some(value)
        });
        Some(Request {
            path: path.split(' ').next()?.to_owned(),
            accept: accept?.to_owned(),
        })
    }
}

/// Sends all requests once.
pub fn measure(kubeconfig: &Path, rounds: &[Vec<Request>]) -> Measured {
    let job = kubeconfig.with_extension("replay");
    let rounds = rounds.iter().map(|round| {
        let requests = round
            .iter()
            .map(|request| format!("{}\t{}\n", request.path, request.accept));
        requests.collect::<String>()
    });
    fs::write(&job, rounds.collect::<Vec<_>>().join("\n")).unwrap();
    let environment = [(VARIABLE, text(&job)), ("KUBECONFIG", text(kubeconfig))];
    process(&text(&env::current_exe().unwrap()), &[], &environment)
}

/// The job, if this process is the yardstick.
pub fn job() -> Option<String> {
    env::var(VARIABLE)
        .ok()
        .map(|path| fs::read_to_string(path).unwrap())
}

/// Runs the job.
pub fn run(job: &str) {
    drop(rustls::crypto::ring::default_provider().install_default());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let connected = connect::connect(&Connection::default()).await.unwrap();
        for round in job.split("\n\n") {
            stream::iter(round.lines())
                .for_each_concurrent(PARALLEL, |line| fetch(&connected.client, line))
                .await;
        }
    });
}

async fn fetch(client: &kube::Client, line: &str) {
    let (path, accept) = line.split_once('\t').unwrap();
    let request = http::Request::get(path).header(http::header::ACCEPT, accept);
    let answer = client
        .send(request.body(kube::client::Body::empty()).unwrap())
        .await
        .unwrap();
    let status = answer.status();
    // A response that is cheaper than the recorded one would make the comparison useless.
    assert!(
        status.is_success() || status == http::StatusCode::NOT_FOUND,
        "{path}: {status}"
    );
    answer.into_body().collect().await.unwrap();
}
