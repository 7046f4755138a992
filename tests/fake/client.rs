//! A small client on a bare socket, which hides nothing that the server sends.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

use crate::server::Running;

pub const JSON: &str = "application/json";
pub const PARTIAL: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
pub const PROTOBUF: &str = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,\
     application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";

/// Everything received before the connection ended, and how it ended.
pub struct Answer {
    pub code: u16,
    pub head: String,
    pub body: Vec<u8>,
    pub end: std::io::Result<()>,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        let line = |line: &'_ &str| {
            line.split_once(": ")
                .is_some_and(|(key, _)| key.eq_ignore_ascii_case(name))
        };
        Some(self.head.lines().find(line)?.split_once(": ")?.1)
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub fn names(&self) -> Vec<String> {
        let body = self.json();
        let name = |item: &Value| item["metadata"]["name"].as_str().unwrap().to_owned();
        body["items"].as_array().unwrap().iter().map(name).collect()
    }

    pub fn token(&self) -> Option<String> {
        self.json()["metadata"]["continue"].as_str().map(str::to_owned)
    }
}

/// One GET on a connection of its own. `end` is an error if the server was silent for two seconds, or sent a
/// reset.
pub fn get(server: &Running, path: &str, accept: &str) -> Answer {
    let head = format!("GET {path} HTTP/1.1\r\nHost: fake\r\nAccept: {accept}\r\nUser-Agent: test/1\r\n\r\n");
    ask(server, &head)
}

/// One PATCH, as [`get`].
pub fn patch(server: &Running, path: &str, body: &Value) -> Answer {
    let body = body.to_string();
    let length = body.len();
    ask(
        server,
        &format!("PATCH {path} HTTP/1.1\r\nAccept: {JSON}\r\nContent-Length: {length}\r\n\r\n{body}"),
    )
}

fn ask(server: &Running, request: &str) -> Answer {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(2))).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut bytes = Vec::new();
    let end = loop {
        if is_complete(&bytes) {
            break Ok(());
        }
        let mut part = [0; 8192];
        match stream.read(&mut part) {
            Ok(0) => break Ok(()),
            Ok(length) => bytes.extend_from_slice(&part[..length]),
            Err(error) => break Err(error),
        }
    };
    let Some(split) = head_end(&bytes) else {
        return Answer {
            code: 0,
            head: String::new(),
            body: bytes,
            end,
        };
    };
    let head = String::from_utf8(bytes[..split].to_vec()).unwrap();
    Answer {
        code: head.split(' ').nth(1).unwrap().parse().unwrap(),
        head,
        body: bytes[split + 4..].to_vec(),
        end,
    }
}

/// A page of at most `limit` objects, after `token`.
pub fn page(server: &Running, path: &str, accept: &str, limit: usize, token: Option<&str>) -> Answer {
    let token = token
        .map(|token| format!("&continue={}", escape(token)))
        .unwrap_or_default();
    get(server, &format!("{path}?limit={limit}{token}"), accept)
}

fn escape(text: &str) -> String {
    use std::fmt::Write as _;
    text.bytes().fold(String::new(), |mut out, byte| {
        write!(out, "%{byte:02X}").unwrap();
        out
    })
}

fn head_end(bytes: &[u8]) -> Option<usize> {
    bytes.windows(4).position(|window| window == b"\r\n\r\n")
}

fn is_complete(bytes: &[u8]) -> bool {
    let Some(split) = head_end(bytes) else {
        return false;
    };
    let head = String::from_utf8_lossy(&bytes[..split]);
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("Content-Length: "));
    match length {
        Some(length) => bytes.len() >= split + 4 + length.parse::<usize>().unwrap(),
        None => bytes.ends_with(b"\r\n0\r\n\r\n"),
    }
}
