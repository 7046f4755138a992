//! Disks that go with a deletion, and the step that keeps them.

use super::{bound_by_hand, pod_with_the_claim};
use crate::{
    explain::told::{delete, goes, told},
    harness::Cluster,
};

#[test]
fn the_first_change_that_is_advised_keeps_the_disk() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("keeps");
    let volume = bound_by_hand(cluster, &ns, "Delete");
    pod_with_the_claim(cluster, &ns);
    let pv = format!("pv/{volume}");
    delete(cluster, "pvc/data", ns.name());
    delete(cluster, &pv, "");

    let claim_step = format!(
        "kubectl finalizers rescue pvc/data -n {} --only-retain",
        ns.name()
    );
    let volume_step = format!("kubectl finalizers rescue {pv} --only-retain");
    for (target, namespace, keeps) in [("pvc/data", ns.name(), &claim_step), (&*pv, "", &volume_step)] {
        let story = told(cluster, target, namespace);
        let mut steps = story.0["steps"].as_array().unwrap().iter();
        let first = steps.find(|step| step["safety"] != "read-only").unwrap();
        assert_eq!(first["command"], *keeps, "{story}");
        assert_eq!(first["safety"], "safe", "{story}");
    }

    // With the other policy nobody deletes the disk, so there is nothing to keep.
    told(cluster, &pv, "").follow(cluster, "--only-retain");
    let kept = cluster.get(["pv", &volume]).unwrap();
    assert_eq!(
        kept["spec"]["persistentVolumeReclaimPolicy"], "Retain",
        "{kept:#}"
    );
    told(cluster, "pvc/data", ns.name()).never_advises("--only-retain");
    told(cluster, &pv, "").never_advises("--only-retain");

    delete(cluster, "pod/user", ns.name());
    goes(cluster, "pvc/data", ns.name());
    goes(cluster, &pv, "");
}
