//! Records the requests of a program to an API server: every request with its form, in the rounds in which it
//! was sent.
//!
//! Between the program and the server are `kubectl proxy`, which terminates TLS, and a relay that records the
//! traffic. An audit log is not enough: it does not record the requested form.

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

/// One request in progress.
struct Seen {
    request: Request,
    began: Instant,
    /// When the end of its response arrived.
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

/// Number of recorded runs.
const RECORDINGS: usize = 5;

/// The requests of the plugin in rounds. A round ends when all its requests are answered. On a busy machine,
/// parallel requests can become sequential, so this is the run with the fewest rounds.
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

/// Forwards all traffic and records each request. In HTTP/1.1, the next request on a connection follows the
/// response to the last one.
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
