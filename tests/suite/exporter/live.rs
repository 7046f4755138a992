//! `exporter` on a real API server: what changes there is served without another scan.

use std::{thread::sleep, time::Duration};

use super::{Exporter, SOON, Signal};
use crate::harness::{Cluster, Options, wait};

const CRD: &str = "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
";

/// The value of the series whose line begins like this; none without the series.
fn value(metrics: &str, series: &str) -> Option<f64> {
    let line = metrics.lines().find(|line| line.starts_with(series))?;
    line.rsplit(' ').next()?.parse().ok()
}

#[test]
fn watches_tell_what_changes_and_survive_a_restart_of_the_api_server() {
    // The controller manager changes objects all the time.
    let cluster = Cluster::with(&Options {
        controller_manager: false,
        ..Options::default()
    });
    let ns = cluster.namespace("exported");
    let exporter = Exporter::of(cluster.kubeconfig(), &[]);
    exporter.wait_until_ready();
    let shows = |what: &str, series: &str, is_right: &dyn Fn(Option<f64>) -> bool| {
        wait(what, SOON * 2, || is_right(value(&exporter.metrics(), series)));
    };
    let stuck = "finalizers_deletion_objects{resource=\"configmaps\"";
    assert_eq!(value(&exporter.metrics(), stuck), None);
    let types = value(&exporter.metrics(), "finalizers_read_types ").unwrap();
    let watched = value(&exporter.metrics(), "finalizers_watched_types ").unwrap();
    assert!(watched > 0.8 * types, "{watched} of {types} types are watched");

    ns.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: held, finalizers: [example.com/held]}}");
    shows(
        "the finalizer is counted",
        "finalizers_in_use_objects{finalizer=\"example.com/held\"",
        &|objects| objects == Some(1.0),
    );
    ns.kubectl(["delete", "cm/held", "--wait=false"]).success();
    shows("the deletion is told", stuck, &|objects| objects == Some(1.0));

    // A deletion goes on while nobody asks: its age grows, and nothing is listed.
    let lists = || {
        let asked = cluster.asked("kubectl-finalizers/");
        asked.iter().filter(|one| one.verb == "list").count()
    };
    let age = "finalizers_deletion_oldest_seconds{resource=\"configmaps\"";
    wait("it rests", SOON * 2, || {
        let (listed, before) = (lists(), value(&exporter.metrics(), age).unwrap());
        sleep(Duration::from_secs(3));
        value(&exporter.metrics(), age) >= Some(before + 3.0) && lists() == listed
    });

    cluster.apply(CRD);
    shows("the new type is read", "finalizers_read_types ", &|now| {
        now == Some(types + 1.0)
    });

    cluster.api_server().kill();
    shows("the look fails", "finalizers_look_succeeded ", &|succeeded| {
        succeeded == Some(0.0)
    });
    assert_eq!(value(&exporter.metrics(), stuck), Some(1.0));
    cluster.api_server().start();
    ns.kubectl([
        "patch",
        "cm/held",
        "--type=merge",
        "-p",
        r#"{"metadata":{"finalizers":null}}"#,
    ])
    .success();
    shows("the end of the deletion is told", stuck, &|objects| {
        objects.is_none()
    });
    exporter.end(Signal::TERM);
}

/// No watch can go on where it was, and the events of that time are gone.
#[test]
#[ignore = "takes minutes: scripts/long slow"]
fn what_goes_while_the_store_is_compacted_is_told_after_reading_again() {
    let cluster = Cluster::with(&Options {
        controller_manager: false,
        ..Options::default()
    });
    let ns = cluster.namespace("exported-compacted");
    ns.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: held, finalizers: [example.com/held]}}");
    ns.kubectl(["delete", "cm/held", "--wait=false"]).success();
    let exporter = Exporter::of(cluster.kubeconfig(), &[]);
    exporter.wait_until_ready();
    let stuck = || {
        value(
            &exporter.metrics(),
            "finalizers_deletion_objects{resource=\"configmaps\"",
        )
    };
    wait("the deletion is told", SOON * 2, || stuck() == Some(1.0));
    cluster.api_server().kill();
    cluster.forget(&format!("configmaps/{}/held", ns.name()));
    cluster.api_server().start();
    wait("the end of the deletion is told", SOON * 2, || stuck().is_none());
    exporter.end(Signal::TERM);
}
