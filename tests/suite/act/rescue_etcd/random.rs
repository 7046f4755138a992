//! A thousand random objects go through etcd: each value that was read, edited and written differs from the old one only
//! by the deletion.

use std::path::PathBuf;

use kubectl_finalizers::{
    act::{Etcd, Replaced},
    plan::StoredChange,
    settings::EtcdAccess,
    stored::undeleted,
};
use testkit::{
    dice::Dice,
    stored_objects::{random_json, random_protobuf},
    tokio::runtime,
};

use crate::harness::Cluster;

const OBJECTS: u64 = 1_000;

/// The access that the flags of the plugin would name.
fn access(cluster: &Cluster) -> EtcdAccess {
    let words = cluster.etcd_words();
    let value = |flag: &str| {
        let of = |word: &String| word.strip_prefix(&format!("--{flag}=")).map(str::to_owned);
        words.iter().find_map(of).expect("the flag is among the words")
    };
    EtcdAccess {
        url: value("etcd").parse().expect("an address"),
        authority: PathBuf::from(value("etcd-cacert")),
        certificate: PathBuf::from(value("etcd-cert")),
        key: PathBuf::from(value("etcd-key")),
        prefix: None,
    }
}

#[test]
#[ignore = "takes minutes: scripts/long slow"]
fn a_thousand_random_objects_lose_nothing_but_their_deletion() {
    let cluster = Cluster::start();
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let client = runtime.block_on(async { Etcd::new(&access(&cluster)) });
    let etcd = client.expect("the flags name an etcd");
    let first = std::env::var("SEED")
        .ok()
        .and_then(|seed| seed.parse().ok())
        .unwrap_or(1);
    for seed in first..first + OBJECTS {
        let mut dice = Dice::new(seed);
        let (before, expected) = if seed % 2 == 0 {
            random_protobuf(&mut dice)
        } else {
            random_json(&mut dice)
        };
        let key = format!("random/{seed}");
        cluster.store(&key, &before);
        let key = format!("/registry/{key}");
        let read = |key: &str| {
            let entry = runtime
                .block_on(etcd.get(key))
                .unwrap_or_else(|why| panic!("SEED={seed}: {why}"));
            entry.unwrap_or_else(|| panic!("SEED={seed}: etcd has no {key}"))
        };
        let entry = read(&key);
        assert!(entry.value == before, "SEED={seed}: etcd has another value");
        let edited = undeleted(&entry.value).unwrap_or_else(|why| panic!("SEED={seed}: {why}"));
        let change = StoredChange {
            before: entry,
            after: edited.value,
            form: edited.form,
            cuts: Vec::new(),
            metadata: Vec::new(),
            now: Vec::new(),
            then: Vec::new(),
        };
        let replaced = runtime.block_on(etcd.replace(&change));
        assert!(matches!(replaced, Replaced::Done), "SEED={seed}: {replaced:?}");
        assert!(read(&key).value == expected, "SEED={seed}: other bytes differ");
        // The revision has changed, so the same transaction writes nothing.
        let again = runtime.block_on(etcd.replace(&change));
        assert!(matches!(again, Replaced::Changed), "SEED={seed}: {again:?}");
    }
}
