//! Steps that take the deletion of a claim or a volume back. `act/rescue_again.rs` carries them out.

use super::{bound_by_hand, pod_with_the_claim};
use crate::{
    explain::told::{delete, goes, told},
    harness::Cluster,
};

#[test]
fn the_deletion_of_a_claim_is_taken_back_after_that_of_its_volume() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("back");
    let pv = format!("pv/{}", bound_by_hand(cluster, &ns, "Delete"));
    pod_with_the_claim(cluster, &ns);
    let of_claim = format!("kubectl finalizers rescue pvc/data -n {}", ns.name());
    let of_volume = format!("kubectl finalizers rescue {pv}");

    delete(cluster, "pvc/data", ns.name());
    let story = told(cluster, "pvc/data", ns.name());
    assert!(story.commands().contains(&&*of_claim), "{story}");
    story
        .says("the claim is made again for its volume, once its pods have ended")
        .never_says("Take the deletion of its volume back");

    // The volume comes first, by the same command.
    delete(cluster, &pv, "");
    let story = told(cluster, "pvc/data", ns.name());
    assert!(story.commands().contains(&&*of_claim), "{story}");
    story.says("Take the deletion of its volume back, which comes first");
    let story = told(cluster, &pv, "");
    assert!(story.commands().contains(&&*of_volume), "{story}");
    story.says("the volume is made again, and keeps its disk. Its claim still goes.");

    delete(cluster, "pod/user", ns.name());
    goes(cluster, "pvc/data", ns.name());
    goes(cluster, &pv, "");
}
