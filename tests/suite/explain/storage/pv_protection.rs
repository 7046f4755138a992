//! Volumes that are deleted while a claim binds them.

use super::bound_by_hand;
use crate::{
    explain::{
        less_is_weaker::withstands_less,
        told::{delete, goes, told},
    },
    harness::Cluster,
};

const HELD: &str = "kubernetes.io/pv-protection";

#[test]
fn a_bound_volume_waits_for_its_claim() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("bound");
    let pv = format!("pv/{}", bound_by_hand(cluster, &ns, "Retain"));
    delete(cluster, &pv, "");

    let story = told(cluster, &pv, "");
    assert_eq!(story.verdict(HELD), "in-use", "{story}");
    assert_eq!(story.page(HELD), "storage/pv_protection", "{story}");
    assert_eq!(story.blockers(), ["PersistentVolumeClaim data"], "{story}");
    story
        .says("Bound, not being deleted")
        .says("becomes Lost, and its pods cannot start again")
        .never_advises("finalizers remove")
        .is_careful();
    withstands_less(cluster, &pv, "", 14);

    // The volume goes after its claim, as the explanation says.
    story.follow(cluster, "delete pvc/data");
    goes(cluster, &pv, "");
}
