//! Test support: a directory of real files, an environment, and servers on the loopback.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Read, Write},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    thread,
};

use rustls::{
    RootCertStore, ServerConfig, ServerConnection, StreamOwned,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    server::WebPkiClientVerifier,
};
use testkit::rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};

use super::surroundings::Surroundings;

/// A test environment: files, variables, no terminal, and no service account unless a test writes one.
pub(super) struct Sandbox {
    directory: tempfile::TempDir,
    variables: Mutex<BTreeMap<String, String>>,
    /// Whether stdin counts as a terminal.
    pub(super) terminal: bool,
}

impl Sandbox {
    pub(super) fn new() -> Self {
        let sandbox = Sandbox {
            directory: tempfile::tempdir().expect("a directory for the test"),
            variables: Mutex::default(),
            terminal: false,
        };
        sandbox.set("HOME", sandbox.path("home").to_str().expect("UTF-8"));
        sandbox
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(super) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))).expect("directories");
        fs::write(&path, content).expect("written");
        path
    }

    /// An executable shell script. A process that another test starts meanwhile holds the file open for writing until it
    /// runs its own program, and so long nobody can run the script.
    #[cfg(unix)]
    pub(super) fn script(&self, name: &str, body: &str) -> PathBuf {
        use std::{io::ErrorKind, os::unix::fs::PermissionsExt, process::Command, thread, time::Duration};
        let path = self.file(name, format!("#!/bin/sh\n[ \"$1\" = --try ] && exit\n{body}\n"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("executable");
        let try_it = || Command::new(&path).arg("--try").status();
        while try_it().is_err_and(|error| error.kind() == ErrorKind::ExecutableFileBusy) {
            thread::sleep(Duration::from_millis(5));
        }
        path
    }

    pub(super) fn set(&self, name: &str, value: &str) {
        let mut variables = self.variables.lock().expect("not poisoned");
        variables.insert(name.to_owned(), value.to_owned());
    }

    pub(super) fn with<T>(&self, run: impl FnOnce(&Surroundings<'_>) -> T) -> T {
        let env = |name: &str| self.variables.lock().ok()?.get(name).cloned();
        run(&Surroundings {
            env: &env,
            stdin_is_terminal: self.terminal,
            is_silent: false,
            service_account: &self.path("serviceaccount"),
        })
    }

    /// As [`Sandbox::with`], for an async function.
    pub(super) async fn with_async<T>(&self, run: impl AsyncFnOnce(&Surroundings<'_>) -> T) -> T {
        let env = |name: &str| self.variables.lock().ok()?.get(name).cloned();
        run(&Surroundings {
            env: &env,
            stdin_is_terminal: self.terminal,
            is_silent: false,
            service_account: &self.path("serviceaccount"),
        })
        .await
    }
}

/// A kubeconfig with one context `here`. `cluster` and `user` are the fields of its only entries, in YAML.
pub(super) fn kubeconfig(cluster: &str, user: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: here\n\
         clusters:\n- name: c\n  cluster: {{{cluster}}}\n\
         users:\n- name: u\n  user: {{{user}}}\n\
         contexts:\n- name: here\n  context: {{cluster: c, user: u, namespace: web}}\n"
    )
}

/// The default answer of a server.
pub(super) const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";

/// A server on the loopback that records its requests. Its threads end with the test process.
pub(super) struct Server {
    pub(super) port: u16,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// A server that answers every request with these bytes.
    pub(super) fn plain(answer: &'static str) -> Self {
        Self::start(move |stream, log| converse(stream, answer, log))
    }

    /// A server that does the same over TLS.
    pub(super) fn tls(config: ServerConfig, answer: &'static str) -> Self {
        let config = Arc::new(config);
        Self::start(move |stream, log| {
            let Ok(connection) = ServerConnection::new(Arc::clone(&config)) else {
                return;
            };
            converse(&mut StreamOwned::new(connection, stream), answer, log);
        })
    }

    /// An HTTP proxy that connects every tunnel to this port.
    pub(super) fn proxy_to(port: u16) -> Self {
        Self::start(move |mut stream, log| {
            let Some(head) = read_head(&mut stream) else {
                return;
            };
            log(head);
            let Ok(mut target) = TcpStream::connect(("127.0.0.1", port)) else {
                return;
            };
            let (Ok(mut back), Ok(mut from)) = (target.try_clone(), stream.try_clone()) else {
                return;
            };
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").ok();
            thread::spawn(move || io::copy(&mut back, &mut stream));
            io::copy(&mut from, &mut target).ok();
        })
    }

    fn start<S>(serve: impl Fn(TcpStream, &dyn Fn(String)) -> S + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (serve, log) = (Arc::new(serve), Arc::clone(&requests));
        thread::spawn(move || {
            for stream in listener.incoming().filter_map(Result::ok) {
                let (serve, log) = (Arc::clone(&serve), Arc::clone(&log));
                thread::spawn(move || {
                    serve(stream, &|request| log.lock().expect("not poisoned").push(request));
                });
            }
        });
        Server { port, requests }
    }

    /// The heads of all requests so far.
    pub(super) fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("not poisoned").clone()
    }
}

fn converse(mut stream: impl Read + Write, answer: &str, log: &dyn Fn(String)) {
    if let Some(head) = read_head(&mut stream) {
        log(head);
        stream.write_all(answer.as_bytes()).ok();
        stream.flush().ok();
    }
}

fn read_head(stream: &mut impl Read) -> Option<String> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    String::from_utf8(head).ok()
}

/// A certificate authority.
pub(super) struct Authority {
    pub(super) pem: String,
    issuer: Issuer<'static, KeyPair>,
}

/// A certificate and its key, as PEM.
pub(super) struct Pair {
    pub(super) certificate: String,
    pub(super) key: String,
}

impl Authority {
    pub(super) fn new(name: &str) -> Self {
        let key = KeyPair::generate().expect("a key");
        let mut request = CertificateParams::default();
        request.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        request.distinguished_name.push(DnType::CommonName, name);
        let pem = request.self_signed(&key).expect("signed").pem();
        Authority {
            pem,
            issuer: Issuer::new(request, key),
        }
    }

    /// A certificate for these names that expires in this year.
    pub(super) fn sign(&self, names: &[&str], end: i32) -> Pair {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let key = KeyPair::generate().expect("a key");
        let mut request = CertificateParams::new(names).expect("names");
        request.not_before = testkit::rcgen::date_time_ymd(2020, 1, 1);
        request.not_after = testkit::rcgen::date_time_ymd(end, 1, 1);
        Pair {
            certificate: request.signed_by(&key, &self.issuer).expect("signed").pem(),
            key: key.serialize_pem(),
        }
    }
}

impl Pair {
    /// A TLS server with this certificate. With an authority, it requires client certificates of that authority.
    pub(super) fn server(&self, clients: Option<&Authority>) -> ServerConfig {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .expect("versions");
        let builder = match clients {
            None => builder.with_no_client_auth(),
            Some(authority) => {
                let mut roots = RootCertStore::empty();
                let root = CertificateDer::from_pem_slice(authority.pem.as_bytes()).expect("PEM");
                roots.add(root).expect("a root");
                let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), provider).build();
                builder.with_client_cert_verifier(verifier.expect("a verifier"))
            }
        };
        let certificate = CertificateDer::from_pem_slice(self.certificate.as_bytes()).expect("PEM");
        let key = PrivateKeyDer::from_pem_slice(self.key.as_bytes()).expect("PEM");
        builder.with_single_cert(vec![certificate], key).expect("a pair")
    }
}
