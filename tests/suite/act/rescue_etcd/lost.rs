//! The answer of etcd is lost: the API server shows what became of the transaction.

use std::{
    io::{Read as _, Write as _},
    net::{Shutdown, TcpListener, TcpStream},
    thread,
    time::Duration,
};

use serde_json::json;

use super::{Case, Cluster, HOLD, delete};
use crate::{
    act::{digest, documents},
    harness::Output,
};

/// A transaction carries the value, and so the client of its connection sends more than any other.
const LARGE: usize = 60_000;

/// What becomes of a transaction.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// etcd gets it, and the connection breaks before the answer.
    LostAfter,
    /// The connection breaks before etcd has all of it.
    LostBefore,
}

/// Passes everything on to etcd but a transaction. Returns its own address.
fn relay(etcd: &str, fate: Fate) -> String {
    let etcd = etcd.trim_start_matches("https://").to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = format!("https://{}", listener.local_addr().expect("an address"));
    thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let Ok(server) = TcpStream::connect(&etcd) else {
                return;
            };
            thread::spawn(move || pass(client, server, fate));
        }
    });
    address
}

fn pass(mut client: TcpStream, mut server: TcpStream, fate: Fate) {
    let (mut answers, mut to_client) = (server.try_clone().unwrap(), client.try_clone().unwrap());
    thread::spawn(move || {
        let mut bytes = [0; 16384];
        while let Ok(read @ 1..) = answers.read(&mut bytes) {
            // The answer waits until the connection is broken.
            thread::sleep(Duration::from_millis(100));
            if to_client.write_all(&bytes[..read]).is_err() {
                break;
            }
        }
        let _ = to_client.shutdown(Shutdown::Both);
    });
    let (mut sent, mut bytes) = (0, vec![0; 16384]);
    while let Ok(read @ 1..) = client.read(&mut bytes) {
        sent += read;
        if sent > LARGE && fate == Fate::LostBefore || server.write_all(&bytes[..read]).is_err() {
            break;
        }
        if sent > LARGE {
            // The rest of the request, without its answer.
            let _ = client.set_read_timeout(Some(Duration::from_millis(50)));
            while let Ok(read @ 1..) = client.read(&mut bytes) {
                let _ = server.write_all(&bytes[..read]);
            }
            let _ = client.shutdown(Shutdown::Both);
            thread::sleep(Duration::from_secs(1));
            break;
        }
    }
    let _ = server.shutdown(Shutdown::Both);
    let _ = client.shutdown(Shutdown::Both);
}

/// A large object in deletion, and what a confirmed rescue through the relay says of it.
fn rescued<'a>(name: &str, fate: Fate) -> (Case<'a>, Output) {
    let case = Case::empty(Cluster::shared(), name);
    let held = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "held", "finalizers": [HOLD]},
        "data": {"large": "x".repeat(2 * LARGE)}});
    case.ns.apply(&held.to_string());
    delete(case.cluster, "configmap/held", case.ns.name());
    let mut words = super::words(&case, "configmap/held", &["-o=json"]);
    let etcd = words[2].trim_start_matches("--etcd=").to_owned();
    words[2] = format!("--etcd={}", relay(&etcd, fate));
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    let plan = case.run(&[&words[..], &["--plan"]].concat()).run().success();
    let out = case
        .run(&[&words[..], &["--confirm", &digest(&plan)]].concat())
        .run();
    (case, out)
}

#[test]
fn a_transaction_whose_answer_is_lost_is_found_at_the_api_server() {
    let (case, out) = rescued("unmark-lost-after", Fate::LostAfter);
    assert_eq!(out.code, 0, "{out}");
    let outcome = documents(&out).remove(1)["outcomes"][0].clone();
    assert_eq!(outcome["result"], "rescued", "{outcome:#}");
    let says = outcome["says"].as_str().unwrap();
    assert!(says.starts_with("The answer of etcd was lost"), "{says}");
    let held = case.get().expect("the object exists");
    assert!(held["metadata"]["deletionTimestamp"].is_null(), "{held:#}");
    assert_eq!(case.noted(), ["sending", "done-answer-lost"]);
}

#[test]
fn a_transaction_that_never_arrives_is_not_known_to_be_done() {
    let (case, out) = rescued("unmark-lost-before", Fate::LostBefore);
    assert_eq!(out.code, 1, "{out}");
    let outcome = documents(&out).remove(1)["outcomes"][0].clone();
    assert_eq!(outcome["result"], "unknown", "{outcome:#}");
    let held = case.get().expect("the object exists");
    assert!(held["metadata"]["deletionTimestamp"].is_string(), "{held:#}");
    assert_eq!(case.noted(), ["sending", "unknown"]);
}
