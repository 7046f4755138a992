//! A cluster to play with: `cargo test --test suite playground -- --ignored --nocapture`, then use the
//! kubeconfig that it prints. It goes away with the test, or after two hours.

use std::{thread, time::Duration};

use crate::{harness::Cluster, stuck};

#[test]
#[ignore = "for people; runs until it is stopped"]
fn playground() {
    let cluster = Cluster::start();
    stuck::example_cluster(&cluster);
    eprintln!("export KUBECONFIG={}", cluster.kubeconfig().display());
    thread::sleep(Duration::from_secs(7200));
}
