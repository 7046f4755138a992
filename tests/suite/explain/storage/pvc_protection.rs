//! Claims, the pods that use them, and a driver that refuses.

use serde_json::json;

use super::{SOON, bound_claim, command, delete, explain, never_says, node, run, says, wait_for};
use crate::{
    explain::less_is_weaker::{withstands_less, withstands_real_rights},
    harness::{Cluster, wait},
};

#[test]
fn a_claim_in_use_and_a_driver_that_reports_an_error() {
    let cluster = Cluster::shared();
    let (ns, other) = (cluster.namespace("in-use"), cluster.namespace("elsewhere"));
    let driver = cluster.csi_driver("refuses.example.test").start();
    let volume = bound_claim(&ns, "refuses.example.test");
    node(cluster, "storage-node");
    let volumes = "volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]";
    let pod = |name: &str, more: &str| {
        format!(
            "{{apiVersion: v1, kind: Pod, metadata: {{name: {name}}}, spec: {{{more} containers: [{{name: c, image: i}}], \
             terminationGracePeriodSeconds: 0, {volumes}}}}}"
        )
    };
    ns.apply(&pod("finished", "nodeName: storage-node,"));
    ns.patch_status(["pod", "finished"], &json!({"phase": "Succeeded"}));
    ns.apply(&pod("unscheduled", ""));
    other.apply(&pod("foreigner", "nodeName: storage-node,"));
    ns.apply(&format!(
        "{{apiVersion: apps/v1, kind: StatefulSet, metadata: {{name: web}}, spec: {{replicas: 1, serviceName: web, \
         selector: {{matchLabels: {{a: web}}}}, template: {{metadata: {{labels: {{a: web}}}}, spec: {{nodeName: \
         storage-node, terminationGracePeriodSeconds: 0, containers: [{{name: c, image: i}}], {volumes}}}}}}}}}"
    ));
    wait("the stateful set has its pod", SOON, || {
        ns.get(["pod", "web-0"]).is_some()
    });
    let claim = ["pvc/data", "-n", ns.name()];
    let pv = format!("pv/{volume}");

    // Nothing is in deletion yet: the explanation says what a deletion would do.
    let said = explain(cluster, &claim, None);
    says(&said, "not being deleted");
    says(&said, "(reclaim policy Delete)");
    assert!(command(&said, "set its volume to Retain first").contains("--only-retain"));
    let last = said["steps"].as_array().unwrap().last().unwrap();
    assert_eq!(
        last["command"],
        format!("kubectl delete pvc/data -n {}", ns.name()),
        "{said:#}"
    );
    let said = explain(cluster, &[&pv], None);
    says(&said, "as long as the claim exists");

    // The volume is deleted by mistake.
    delete(cluster, &["pv", &volume]);
    let said = explain(cluster, &[&pv], None);
    withstands_real_rights(cluster, &pv, "", 11);
    assert_eq!(wait_for(&said, "pv-protection")["verdict"], "in-use", "{said:#}");
    assert_eq!(wait_for(&said, "external-provisioner")["verdict"], "waiting");
    says(&said, "This is protection at work, not a fault.");
    says(&said, "DATA LOSS: delete the claim");
    assert!(command(&said, "Keep the disk").contains("--only-retain"));

    // The claim is deleted too.
    delete(cluster, &["pvc", "data", "-n", ns.name()]);
    let said = explain(cluster, &claim, None);
    withstands_less(cluster, "pvc/data", ns.name(), 10);
    let held = wait_for(&said, "pvc-protection");
    assert_eq!(held["verdict"], "in-use", "{said:#}");
    let mut names: Vec<_> = held["blockers"].as_array().unwrap().iter().collect();
    names.sort_by_key(|blocker| blocker["object"]["name"].to_string());
    let names: Vec<_> = names.iter().map(|blocker| &blocker["object"]["name"]).collect();
    assert_eq!(names, ["finished", "web-0"], "{said:#}");
    never_says(&said, "unscheduled");
    never_says(&said, "foreigner");
    never_says(&said, "--force");

    // A user who may not read Pods is told only that.
    let blind = cluster
        .user("blind")
        .may("get,list", "persistentvolumeclaims,persistentvolumes")
        .create();
    let weaker = explain(cluster, &claim, Some(&blind));
    assert_eq!(
        wait_for(&weaker, "pvc-protection")["verdict"],
        "unknown",
        "{weaker:#}"
    );
    says(&weaker, "pods in ");

    driver.fails("DeleteVolume", "disk is on fire");
    run(cluster, &command(&said, "delete the finished pods"));
    run(cluster, &command(&said, "stop StatefulSet web"));
    wait("the claim is gone", SOON, || ns.get(["pvc", "data"]).is_none());

    wait("the failure is reported", SOON, || {
        explain(cluster, &[&pv], None)
            .to_string()
            .contains("disk is on fire")
    });
    let said = explain(cluster, &[&pv], None);
    withstands_less(cluster, &pv, "", 14);
    let held = wait_for(&said, "external-provisioner");
    assert_eq!(held["verdict"], "failing", "{said:#}");
    assert!(held["says"].as_str().unwrap().contains("disk is on fire"));
    never_says(&said, "LEAKED INFRASTRUCTURE");
    never_says(&said, "not installed");
    let deaf = cluster
        .user("deaf")
        .may("get,list", "persistentvolumeclaims,persistentvolumes,pods")
        .create();
    let weaker = explain(cluster, &[&pv], Some(&deaf));
    assert_eq!(
        wait_for(&weaker, "external-provisioner")["verdict"],
        "unknown",
        "{weaker:#}"
    );
    says(&weaker, "events in default");

    run(cluster, &command(&said, "repair what the driver complains of"));
    driver.heals("DeleteVolume");
    wait("the PV is gone", SOON, || cluster.get(["pv", &volume]).is_none());
}
