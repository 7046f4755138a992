//! A webhook of the API server, for admission or conversion.

use std::{
    io::{BufReader, Write as _},
    net::{TcpListener, TcpStream},
    sync::Arc,
    thread,
};

use k8s_openapi::ByteString;
use rustls::{
    ServerConfig, ServerConnection, StreamOwned,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};
use serde_json::{Value, json};

use super::Cluster;

/// Its response to the request of a review, without the uid.
type Answer = dyn Fn(&Value) -> Value + Send + Sync;

pub struct Webhook {
    /// The `clientConfig` that leads to it.
    pub client_config: Value,
}

impl Webhook {
    /// Runs as long as the test program, so its configuration must be deleted before that.
    pub fn start(cluster: &Cluster, answer: impl Fn(&Value) -> Value + Send + Sync + 'static) -> Self {
        drop(rustls::crypto::ring::default_provider().install_default());
        let identity = cluster.server_identity(&cluster.unique("webhook"));
        let chain = CertificateDer::pem_file_iter(&identity.certificate).unwrap();
        let chain = chain.map(Result::unwrap).collect();
        let key = PrivateKeyDer::from_pem_file(&identity.key).unwrap();
        let config = ServerConfig::builder().with_no_client_auth();
        let config = Arc::new(config.with_single_cert(chain, key).unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("https://{}/", listener.local_addr().unwrap());
        let authority = ByteString(std::fs::read(cluster.certificate_authority()).unwrap());
        let answer: Arc<Answer> = Arc::new(answer);
        thread::spawn(move || {
            for client in listener.incoming() {
                let (client, config, answer) = (client.unwrap(), Arc::clone(&config), Arc::clone(&answer));
                thread::spawn(move || serve(client, config, &*answer));
            }
        });
        Webhook {
            client_config: json!({"url": url, "caBundle": authority}),
        }
    }
}

/// The response that changes the object with these JSON patches.
pub fn patches(operations: &Value) -> Value {
    let patch = ByteString(operations.to_string().into_bytes());
    json!({"allowed": true, "patchType": "JSONPatch", "patch": patch})
}

fn serve(client: TcpStream, config: Arc<ServerConfig>, answer: &Answer) {
    let connection = ServerConnection::new(config).unwrap();
    let mut stream = BufReader::new(StreamOwned::new(connection, client));
    // Until the server closes the connection.
    while let Some(mut review) = read(&mut stream) {
        let request = review["request"].take();
        let mut response = answer(&request);
        response["uid"] = request["uid"].clone();
        review["response"] = response;
        let body = review.to_string();
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        if stream.get_mut().write_all((head + &body).as_bytes()).is_err() {
            return;
        }
    }
}

/// The body of the next request.
fn read(stream: &mut impl std::io::BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).ok().filter(|read| *read > 0)?;
        let line = line.trim_end().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    Some(serde_json::from_slice(&body).unwrap())
}
