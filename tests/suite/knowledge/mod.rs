//! `explain FINALIZER` and `catalog` as users run them. Only [`scan`] needs a cluster.

mod asked;
mod audits;
mod catalog;
mod drift;
mod editor;
mod generated;
mod own;
mod render;
mod rendered;
mod scan;
mod upstream;

use serde_json::Value;

use crate::harness::{Output, Plugin};

const PV: &str = "kubernetes.io/pv-protection";
const PVC: &str = "kubernetes.io/pvc-protection";

fn explain(words: &[&str]) -> Output {
    Plugin::new([&["explain"], words].concat()).run()
}

fn catalog(words: &[&str]) -> Output {
    Plugin::new([&["catalog"], words].concat()).run()
}

fn json(output: Output) -> Value {
    serde_json::from_str(&output.success()).unwrap()
}

/// The finalizers of an explanation, by the names that `-o json` has for them.
fn names(report: &Value) -> Vec<&str> {
    let all = report["finalizers"].as_array().unwrap();
    all.iter().map(|one| one["name"].as_str().unwrap()).collect()
}
