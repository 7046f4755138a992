//! The yardstick: requests the pages that a scan reads, in the same form, and throws them away. It is a
//! separate process, like the scan, so that both pay for start-up and TLS.

use std::{env, fs, path::Path};

use futures::{StreamExt, stream};
use http_body_util::BodyExt;
use kubectl_finalizers::{cluster::connect, settings::Connection};

use crate::{
    harness::Cluster,
    measure::{Measured, process},
};

const VARIABLE: &str = "FINALIZERS_YARDSTICK";
const PARALLEL: usize = 8;

/// The form in which pages are requested.
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
        // The same storage as in the core group.
        if version != "events.k8s.io/v1" {
            let root = if version.contains('/') { "apis" } else { "api" };
            paths.push(format!("/{root}/{version}/{plural}"));
        }
    }
    paths
}

/// Runs the yardstick once.
pub fn measure(kubeconfig: &Path, paths: &[String], form: Form) -> Measured {
    let job = kubeconfig.with_extension("yardstick");
    fs::write(&job, format!("{form:?}\n{}", paths.join("\n"))).unwrap();
    let myself = env::current_exe().unwrap();
    let environment = [(VARIABLE, text(&job)), ("KUBECONFIG", text(kubeconfig))];
    process(&text(&myself), &[], &environment)
}

/// A path as text.
pub fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
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

/// The continue token, found without decoding the items. In protobuf it is in the first field, in JSON in the
/// `metadata` before or after them.
fn token(body: &[u8]) -> Option<String> {
    let token = if let Some(envelope) = body.strip_prefix(b"k8s\0") {
        field(field(field(envelope, 2)?, 1)?, 3)?
    } else {
        let (head, tail) = (
            &body[..body.len().min(1024)],
            &body[body.len().saturating_sub(1024)..],
        );
        [head, tail].into_iter().find_map(|part| {
            const KEY: &[u8] = b"\"continue\":\"";
            let from = part.windows(KEY.len()).position(|window| window == KEY)? + KEY.len();
            let length = part[from..].iter().position(|byte| *byte == b'"')?;
            Some(&part[from..from + length])
        })?
    };
    let escaped = token.iter().map(|byte| match byte {
        byte if byte.is_ascii_alphanumeric() || b"-_".contains(byte) => char::from(*byte).to_string(),
        byte => format!("%{byte:02X}"),
    });
    Some(escaped.collect::<String>()).filter(|token| !token.is_empty())
}

/// One length-delimited field of a protobuf message.
fn field(mut message: &[u8], wanted: u64) -> Option<&[u8]> {
    loop {
        let key = varint(&mut message)?;
        let length = varint(&mut message)?;
        if key & 7 == 2 {
            let (value, rest) = message.split_at_checked(usize::try_from(length).ok()?)?;
            if key >> 3 == wanted {
                return Some(value);
            }
            message = rest;
        }
    }
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}
