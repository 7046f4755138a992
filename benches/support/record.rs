//! What a program asks an API server for: every request with its form, in the rounds in which it was sent.
//!
//! Between the program and the server stand `kubectl proxy`, which takes off the TLS, and a relay that writes down
//! what passes. An audit log would not do: it does not say in which form something was asked for.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    thread,
    time::Instant,
};

use crate::{
    harness::Cluster,
    measure::{PLUGIN, process},
    replay::Request,
};

/// One request on its way.
struct Seen {
    request: Request,
    began: Instant,
    /// When the last of its answer came.
    ended: Instant,
}

type Log = Arc<Mutex<Vec<Seen>>>;

struct Proxy(Child);

impl Drop for Proxy {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// How often a run is recorded.
const RECORDINGS: usize = 5;

/// What the plugin asks for: a round is what was sent before all of it was answered. On a busy machine requests that
/// could have gone side by side go one after the other, so this is the run of several that had the fewest rounds.
pub fn rounds(cluster: &Cluster, arguments: &[&str]) -> Vec<Vec<Request>> {
    let recordings = (0..RECORDINGS).map(|_| record(cluster, arguments));
    recordings.min_by_key(Vec::len).unwrap()
}

fn record(cluster: &Cluster, arguments: &[&str]) -> Vec<Vec<Request>> {
    let mut proxy = Command::new(cluster.kubectl_program());
    proxy
        .args(["proxy", "--port=0", "--kubeconfig"])
        .arg(cluster.kubeconfig())
        .stdout(Stdio::piped());
    let mut proxy = Proxy(proxy.spawn().unwrap());
    let mut said = String::new();
    BufReader::new(proxy.0.stdout.take().unwrap())
        .read_line(&mut said)
        .unwrap();
    let address = said.trim().rsplit(' ').next().unwrap().to_owned();

    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = format!("http://{}", listener.local_addr().unwrap());
    let log = Log::default();
    let writing = Arc::clone(&log);
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let (address, log) = (address.clone(), Arc::clone(&writing));
            thread::spawn(move || relay(client, TcpStream::connect(address).unwrap(), &log));
        }
    });
    let config = cluster.directory().join("recorded.kubeconfig");
    let text = format!(
        "{{apiVersion: v1, kind: Config, current-context: r, clusters: [{{name: r, cluster: {{server: '{server}'}}}}], \
         contexts: [{{name: r, context: {{cluster: r, user: r}}}}], users: [{{name: r, user: {{}}}}]}}"
    );
    fs::write(&config, text).unwrap();
    process(PLUGIN, arguments, &[("KUBECONFIG", config.display().to_string())]);
    in_rounds(std::mem::take(&mut *log.lock().unwrap()))
}

fn in_rounds(mut seen: Vec<Seen>) -> Vec<Vec<Request>> {
    seen.sort_by_key(|one| one.began);
    let mut rounds: Vec<Vec<Request>> = Vec::new();
    let mut ends: Option<Instant> = None;
    for one in seen {
        if ends.is_none_or(|ends| one.began > ends) {
            rounds.push(Vec::new());
        }
        ends = ends.max(Some(one.ended));
        rounds.last_mut().unwrap().push(one.request);
    }
    rounds
}

/// Passes everything on, and writes down each request. Over HTTP/1.1 the next one on a connection comes after the
/// answer to the last.
fn relay(mut client: TcpStream, mut server: TcpStream, log: &Log) {
    let latest = Arc::new(Mutex::new(None));
    let answering = {
        let (mut from, mut to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
        let (log, latest) = (Arc::clone(log), Arc::clone(&latest));
        thread::spawn(move || {
            pass(&mut from, &mut to, |_| {
                if let Some(at) = *latest.lock().unwrap() {
                    let seen: &mut Seen = &mut log.lock().unwrap()[at];
                    seen.ended = Instant::now();
                }
            });
        })
    };
    let mut head = Vec::new();
    pass(&mut client, &mut server, |bytes| {
        head.extend_from_slice(bytes);
        if let Some(request) = Request::parse(&head) {
            head.clear();
            let now = Instant::now();
            let mut log = log.lock().unwrap();
            log.push(Seen {
                request,
                began: now,
                ended: now,
            });
            *latest.lock().unwrap() = Some(log.len() - 1);
        }
    });
    drop(server.shutdown(Shutdown::Write));
    drop(answering.join());
}

fn pass(from: &mut TcpStream, to: &mut TcpStream, mut look: impl FnMut(&[u8])) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        look(&buffer[..length]);
        if to.write_all(&buffer[..length]).is_err() {
            return;
        }
    }
}
