//! Owners that wait until nothing names them any more, where no garbage collector runs.

use super::{STOPPED, foreground_deletion::owned};
use crate::explain::{
    less_is_weaker::{for_all_types, withstands_less},
    replayed::replayed,
    told::{goes, is_going, release, shell, told},
};

#[test]
fn an_owner_that_orphans_names_what_still_names_it() {
    let cluster = &*STOPPED;
    let ns = cluster.namespace("orphaning");
    ns.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: orphaning}}");
    owned(&ns, "kept", &ns.get(["configmap", "orphaning"]).unwrap(), true);
    ns.delete_with("orphan", "configmap/orphaning");

    // After such a short time no controller is late.
    let story = told(cluster, "configmap/orphaning", ns.name());
    assert_eq!(story.verdict("orphan"), "waiting");
    story.never_advises("--cascade").never_advises("patch");
    cluster.deleted_earlier(&format!("configmaps/{}/orphaning", ns.name()), 62);

    let story = told(cluster, "configmap/orphaning", ns.name());
    assert_eq!(story.verdict("orphan"), "stalled");
    story
        .has_root("Secret kept: still names it as its owner")
        .says("DATA LOSS")
        .never_advises("--cascade")
        .is_careful();
    replayed(cluster, "configmap/orphaning", ns.name());
    withstands_less(cluster, "configmap/orphaning", ns.name(), for_all_types(cluster));
    story.follow(cluster, "--dry-run=server");
    let by_hand = |command: &&str| command.contains("/metadata/ownerReferences/0") && command.ends_with("]'");
    let command = story.commands().into_iter().find(by_hand);
    shell(
        cluster,
        command.expect("the dry run of the garbage collector's update"),
    );
    let story = told(cluster, "configmap/orphaning", ns.name());
    assert_eq!(story.verdict("orphan"), "stalled");
    story.follow(cluster, "--cascade=background");
    goes(cluster, "configmap/orphaning", ns.name());
    assert!(!is_going(&ns, "secret/kept"));
    release(cluster, "secret/kept", ns.name());
}
