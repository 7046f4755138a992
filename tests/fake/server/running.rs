//! A running fake: its thread, its kubeconfig, and its records.

use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use tempfile::TempDir;
use tokio::sync::oneshot;

use super::answer::World;
use super::connection::serve;
use super::request::Recorded;

/// A fake API server that runs until it is dropped.
pub struct Running {
    address: SocketAddr,
    seen: Arc<Seen>,
    directory: TempDir,
    kubeconfig: PathBuf,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// The state that the server's thread shares with the test's.
#[derive(Default)]
pub struct Seen {
    pub requests: Mutex<Vec<Recorded>>,
    pub body_bytes: AtomicU64,
    connections: Gauge,
    answers: Gauge,
    panicked: AtomicBool,
    accepted: AtomicUsize,
}

/// How many there are now, and the maximum so far.
#[derive(Default)]
struct Gauge {
    now: AtomicUsize,
    peak: AtomicUsize,
}

/// Counts one while it exists.
pub struct Held<'a>(&'a Gauge);

/// Holds a connection. A panic ends only its task, so it is recorded here, and the test fails on it.
pub struct Open<'a>(&'a Seen, Held<'a>);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.panicked.store(true, Ordering::SeqCst);
        }
    }
}

impl Gauge {
    fn hold(&self) -> Held<'_> {
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.peak.fetch_max(now, Ordering::SeqCst);
        Held(self)
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Seen {
    pub fn open(&self) -> Open<'_> {
        Open(self, self.connections.hold())
    }

    pub fn busy(&self) -> Held<'_> {
        self.answers.hold()
    }
}

impl Running {
    pub(super) fn start(world: World) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port on 127.0.0.1");
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let directory = tempfile::Builder::new()
            .prefix("fake-api-")
            .tempdir()
            .expect("a temporary directory");
        let kubeconfig = directory.path().join("kubeconfig");
        std::fs::write(&kubeconfig, kubeconfig_text(address)).expect("a kubeconfig");

        let seen = Arc::new(Seen::default());
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::Builder::new()
            .name("fake-api-server".into())
            .spawn({
                let seen = Arc::clone(&seen);
                move || run(world, listener, &seen, stopped)
            })
            .expect("a thread");
        Running {
            address,
            seen,
            directory,
            kubeconfig,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// A kubeconfig with one context for this server. It is deleted with the server.
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// The temporary directory of the kubeconfig, for a second one.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// `http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Every request so far, in the order of arrival.
    pub fn requests(&self) -> Vec<Recorded> {
        self.seen.requests.lock().unwrap().clone()
    }

    /// The requests so far with this path.
    pub fn requests_to(&self, path: &str) -> Vec<Recorded> {
        let requests = self.seen.requests.lock().unwrap();
        requests
            .iter()
            .filter(|request| request.path() == path)
            .cloned()
            .collect()
    }

    /// Clears the recorded requests.
    pub fn forget_requests(&self) {
        self.seen.requests.lock().unwrap().clear();
    }

    /// The maximum of connections that were open at the same time.
    pub fn peak_connections(&self) -> usize {
        self.seen.connections.peak.load(Ordering::SeqCst)
    }

    /// The open connections. A client that stops waiting has closed its own.
    pub fn open_connections(&self) -> usize {
        self.seen.connections.now.load(Ordering::SeqCst)
    }

    /// All connections so far.
    pub fn connections(&self) -> usize {
        self.seen.accepted.load(Ordering::SeqCst)
    }

    /// The maximum of requests that were served at the same time. Responses take no time unless a fault delays
    /// them.
    pub fn peak_requests(&self) -> usize {
        self.seen.answers.peak.load(Ordering::SeqCst)
    }

    /// Bytes of bodies that were sent completely.
    pub fn body_bytes(&self) -> u64 {
        self.seen.body_bytes.load(Ordering::Relaxed)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.stop.take());
        let broken = self.thread.take().is_some_and(|thread| thread.join().is_err());
        let panicked = broken || self.seen.panicked.load(Ordering::SeqCst);
        assert!(
            !panicked || std::thread::panicking(),
            "the fake API server panicked"
        );
    }
}

fn run(world: World, listener: TcpListener, seen: &Arc<Seen>, stopped: oneshot::Receiver<()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let tasks = tokio::task::LocalSet::new();
    let world = Rc::new(world);
    tasks.block_on(&runtime, async {
        let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
        let accept = async {
            while let Ok((stream, _)) = listener.accept().await {
                let number = seen.accepted.fetch_add(1, Ordering::SeqCst);
                tokio::task::spawn_local(serve(stream, number, Rc::clone(&world), Arc::clone(seen)));
            }
        };
        tokio::select! {
            () = accept => {}
            _ = stopped => {}
        }
    });
}

fn kubeconfig_text(address: SocketAddr) -> String {
    format!(
        "apiVersion: v1
kind: Config
current-context: fake
clusters:
- name: fake
  cluster:
    server: http://{address}
contexts:
- name: fake
  context:
    cluster: fake
    user: fake
users:
- name: fake
  user: {{}}
"
    )
}
