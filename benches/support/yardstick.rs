//! The yardstick: the pages that a scan reads, asked for in the same way and thrown away. It runs as a process
//! of its own, like the scan, so that start-up and TLS cost both the same.

use std::{env, fs};

use futures::{StreamExt, stream};
use http_body_util::BodyExt;
use kubectl_finalizers::{cluster::connect, settings::Connection};

use crate::{
    harness::Cluster,
    measure::{Measured, process},
};

const VARIABLE: &str = "FINALIZERS_YARDSTICK";
const PARALLEL: usize = 8;

/// The form that pages are asked for in.
#[derive(Clone, Copy, Debug)]
pub enum Form {
    Protobuf,
    Json,
}

/// The collections that a scan lists, as paths.
pub fn paths(cluster: &Cluster) -> Vec<String> {
    let all = cluster
        .kubectl(["api-resources", "--verbs=list", "--no-headers"])
        .success();
    let mut paths = Vec::new();
    for line in all.lines() {
        let words: Vec<_> = line.split_whitespace().collect();
        let (plural, version) = (words[0], words[words.len() - 3]);
        // The same storage as the core group's.
        if version != "events.k8s.io/v1" {
            let root = if version.contains('/') { "apis" } else { "api" };
            paths.push(format!("/{root}/{version}/{plural}"));
        }
    }
    paths
}

/// Runs the yardstick once.
pub fn measure(cluster: &Cluster, paths: &[String], form: Form) -> Measured {
    let job = cluster.directory().join("yardstick");
    fs::write(&job, format!("{form:?}\n{}", paths.join("\n"))).unwrap();
    let myself = env::current_exe().unwrap();
    let environment = [
        (VARIABLE, job.to_str().unwrap().to_owned()),
        ("KUBECONFIG", cluster.kubeconfig().to_str().unwrap().to_owned()),
    ];
    process(myself.to_str().unwrap(), &[], &environment)
}

/// The job, if this process is the yardstick.
pub fn job() -> Option<String> {
    env::var(VARIABLE)
        .ok()
        .map(|path| fs::read_to_string(path).unwrap())
}

/// Fetches every page of the job and throws it away.
pub fn run(job: &str) {
    drop(rustls::crypto::ring::default_provider().install_default());
    let mut lines = job.lines();
    let accept = match lines.next() {
        Some("Protobuf") => {
            "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
        }
        _ => "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let connected = connect::connect(&Connection::default()).await.unwrap();
        let client = &connected.client;
        stream::iter(lines)
            .for_each_concurrent(PARALLEL, |path| pages(client, path, accept))
            .await;
    });
}

async fn pages(client: &kube::Client, path: &str, accept: &str) {
    let mut next = String::new();
    loop {
        let uri = format!("{path}?limit=500{next}");
        let request = http::Request::get(uri).header(http::header::ACCEPT, accept);
        let answer = client
            .send(request.body(kube::client::Body::empty()).unwrap())
            .await
            .unwrap();
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        match token(&body) {
            Some(token) => next = format!("&continue={token}"),
            None => return,
        }
    }
}

/// The continue token. In both forms it stands in the first few hundred bytes, and it is base64 without padding
/// that always begins like this, so that neither form has to be decoded to find it.
fn token(body: &[u8]) -> Option<&str> {
    let head = &body[..body.len().min(1024)];
    let at = head.windows(7).position(|window| window == b"eyJ2Ijo")?;
    let end = body[at..]
        .iter()
        .position(|byte| !byte.is_ascii_alphanumeric() && !b"-_".contains(byte))?;
    std::str::from_utf8(&body[at..at + end]).ok()
}
