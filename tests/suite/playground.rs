//! A cluster to play with: run `cargo test --test suite playground -- --ignored --nocapture` and use the
//! kubeconfig that it prints. The cluster ends with the test, or after two hours.

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
