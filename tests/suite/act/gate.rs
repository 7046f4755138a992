//! A gate between the plugin and the server. It can hold or drop a request that changes something, and passes
//! all others. `kubectl proxy` runs behind it, so that requests can be read.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{Shutdown, TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
        mpsc::{Receiver, Sender, channel},
    },
    thread,
    time::Duration,
};

use crate::harness::{Cluster, wait};

/// What the gate does to a request that changes something.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// The request waits until the test lets it through.
    Held,
    /// The connection breaks before the server gets the request.
    LostBefore,
    /// The dry run waits, and the server never gets the request.
    TrialHeld,
    /// The server gets the request, and the connection breaks before the response.
    LostAfter,
}

pub struct Gate {
    proxy: Child,
    address: String,
    arrived: Arc<AtomicUsize>,
    open: Sender<()>,
}

impl Gate {
    pub fn before(cluster: &Cluster, fate: Fate) -> Self {
        let mut proxy = Command::new(cluster.kubectl_program())
            .args(["proxy", "--port=0"])
            .env("KUBECONFIG", cluster.kubeconfig())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("kubectl starts");
        let mut line = String::new();
        BufReader::new(proxy.stdout.take().unwrap())
            .read_line(&mut line)
            .expect("kubectl proxy prints its address");
        let behind = line.trim().rsplit(' ').next().unwrap().to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("--server=http://{}", listener.local_addr().unwrap());
        let (open, opened) = channel();
        let arrived = Arc::new(AtomicUsize::new(0));
        let (count, opened) = (Arc::clone(&arrived), Arc::new(Mutex::new(opened)));
        thread::spawn(move || {
            for client in listener.incoming() {
                let (client, behind) = (client.unwrap(), behind.clone());
                let (count, opened) = (Arc::clone(&count), Arc::clone(&opened));
                thread::spawn(move || pass(client, &behind, fate, &count, &opened));
            }
        });
        Gate {
            proxy,
            address,
            arrived,
            open,
        }
    }

    /// The flag that makes the plugin use the gate.
    pub fn flag(&self) -> &str {
        &self.address
    }

    /// Waits until this many requests have come to the gate.
    #[track_caller]
    pub fn arrived(&self, requests: usize) {
        wait("a request comes to the gate", Duration::from_secs(60), || {
            self.arrived.load(Ordering::SeqCst) >= requests
        });
    }

    /// Lets one request through.
    pub fn open_once(&self) {
        self.open.send(()).expect("the gate listens");
    }

    /// Lets one request through, and all later ones.
    pub fn open(&self) {
        for _ in 0..10 {
            self.open.send(()).expect("the gate listens");
        }
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        let _ = self.proxy.kill();
        let _ = self.proxy.wait();
    }
}

fn pass(
    mut client: TcpStream,
    behind: &str,
    fate: Fate,
    arrived: &AtomicUsize,
    opened: &Mutex<Receiver<()>>,
) {
    let Ok(mut server) = TcpStream::connect(behind) else {
        return;
    };
    let (mut answers, mut to_client) = (server.try_clone().unwrap(), client.try_clone().unwrap());
    let silent = Arc::new(AtomicUsize::new(0));
    let muted = Arc::clone(&silent);
    thread::spawn(move || {
        let mut bytes = [0; 16384];
        while let Ok(read @ 1..) = answers.read(&mut bytes) {
            if muted.load(Ordering::SeqCst) > 0 || to_client.write_all(&bytes[..read]).is_err() {
                break;
            }
        }
        let _ = to_client.shutdown(Shutdown::Both);
    });
    let mut bytes = vec![0; 65536];
    while let Ok(read @ 1..) = client.read(&mut bytes) {
        let text = String::from_utf8_lossy(&bytes[..read]);
        let line = text.lines().next().unwrap_or_default();
        // Questions about rights are posted, too.
        let makes = line.starts_with("POST ") && line.contains("/persistentvolume");
        let changes = makes || ["PATCH ", "PUT "].iter().any(|method| line.starts_with(method));
        if changes && line.contains("dryRun=All") == (fate == Fate::TrialHeld) {
            arrived.fetch_add(1, Ordering::SeqCst);
            match fate {
                Fate::Held | Fate::TrialHeld => {
                    let _ = opened.lock().unwrap().recv();
                }
                Fate::LostBefore => {
                    let _ = client.shutdown(Shutdown::Both);
                    return;
                }
                Fate::LostAfter => silent.store(1, Ordering::SeqCst),
            }
        }
        if server.write_all(&bytes[..read]).is_err() {
            break;
        }
    }
    let _ = server.shutdown(Shutdown::Both);
}
