//! `rescue --only-retain`: the disk survives, and nothing else changes. The real provisioner deletes what it may.

use std::fs;

use serde_json::{Value, json};

use super::{
    Case, documents,
    gate::{Fate, Gate},
    guards::refused,
};
use crate::{
    explain::told::{SOON, delete, goes, told},
    harness::{Cluster, CsiDriver, wait},
};

/// A case with claim `data`, bound to a volume that the real provisioner made and protects, with a file on its disk.
pub(super) struct Disk<'a> {
    pub(super) case: Case<'a>,
    pub(super) driver: CsiDriver<'a>,
    pub(super) volume: String,
}

impl<'a> Disk<'a> {
    pub(super) fn made(cluster: &'a Cluster, name: &str) -> Self {
        let driver_name = format!("{name}.example.test");
        Disk::of(cluster, name, cluster.csi_driver(&driver_name).start())
    }

    /// The case with this driver, whose name begins with that of the case.
    pub(super) fn of(cluster: &'a Cluster, name: &str, driver: CsiDriver<'a>) -> Self {
        let driver_name = format!("{name}.example.test");
        let case = Case::empty(cluster, name);
        let volume = claim(&case, "data", &driver_name);
        let disk = Disk { case, driver, volume };
        fs::write(disk.file(), "precious").expect("the disk is a folder");
        disk
    }

    fn file(&self) -> std::path::PathBuf {
        self.driver.disk(&self.volume).join("file")
    }

    pub(super) fn pv(&self) -> String {
        format!("pv/{}", self.volume)
    }

    /// The volume, or none if it is gone.
    pub(super) fn object(&self) -> Option<Value> {
        self.case.cluster.get(["pv", &self.volume])
    }

    pub(super) fn policy(&self) -> Value {
        self.object().expect("the volume exists")["spec"]["persistentVolumeReclaimPolicy"].clone()
    }

    /// `rescue TARGET --only-retain` with these words added.
    fn rescue(&self, more: &[&str]) -> Vec<String> {
        let pv = self.pv();
        let words = ["rescue", &pv, "--only-retain"];
        words.iter().chain(more).map(|word| (*word).to_owned()).collect()
    }

    fn confirmed(&self, target: &str) -> crate::harness::Output {
        self.case.confirm(&["rescue", target, "--only-retain"]).run()
    }

    pub(super) fn is_released(&self) {
        wait("the volume is released", SOON, || {
            self.object()
                .is_some_and(|volume| volume["status"]["phase"] == "Released")
        });
    }

    /// Asserts that the disk is there, and that nobody ever asked to delete it.
    #[track_caller]
    pub(super) fn survives(&self) {
        assert_eq!(
            fs::read_to_string(self.file()).expect("the file is there"),
            "precious"
        );
        let calls = self.driver.calls();
        assert!(
            calls.iter().all(|call| !call.starts_with("DeleteVolume")),
            "{calls:?}"
        );
    }
}

fn words(all: &[String]) -> Vec<&str> {
    all.iter().map(String::as_str).collect()
}

/// Creates a claim and returns the name of its volume, once the provisioner protects it.
fn claim(case: &Case<'_>, name: &str, class: &str) -> String {
    case.ns.apply(&format!(
        "{{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {{name: {name}}}, spec: {{storageClassName: {class}, \
         accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Mi}}}}}}}}"
    ));
    let mut volume = String::new();
    wait("the provisioner protects the disk", SOON, || {
        let claim = case.ns.get(["pvc", name]).unwrap();
        claim["spec"]["volumeName"]
            .as_str()
            .unwrap_or_default()
            .clone_into(&mut volume);
        claim["status"]["phase"] == "Bound"
            && case.cluster.get(["pv", &volume]).is_some_and(|found| {
                found["metadata"]["finalizers"]
                    .to_string()
                    .contains("external-provisioner")
            })
    });
    volume
}

/// Without the rescue the very same steps destroy the disk: otherwise the other tests prove nothing.
#[test]
fn without_it_the_disk_is_destroyed() {
    let disk = Disk::made(Cluster::shared(), "unrescued");
    delete(disk.case.cluster, "pvc/data", disk.case.ns.name());
    goes(disk.case.cluster, &disk.pv(), "");
    assert!(!disk.file().exists());
}

#[test]
fn the_disk_of_a_deleted_claim_stays_after_the_claim_is_gone() {
    let disk = Disk::made(Cluster::shared(), "rescued-claim");
    let case = &disk.case;
    case.ns.apply(&format!(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: user}}, spec: {{nodeName: {}, terminationGracePeriodSeconds: 0, \
         containers: [{{name: c, image: example.com/c}}], volumes: [{{name: v, persistentVolumeClaim: {{claimName: data}}}}]}}}}",
        case.cluster.node()
    ));
    delete(case.cluster, "pvc/data", case.ns.name());

    // explain offers it first, as the command that can be pasted.
    let story = told(case.cluster, "pvc/data", case.ns.name());
    let mut steps = story.0["steps"].as_array().unwrap().iter();
    let first = steps.find(|step| step["safety"] != "read-only").unwrap();
    assert_eq!(
        first["command"],
        format!(
            "kubectl finalizers rescue pvc/data -n {} --only-retain",
            case.ns.name()
        ),
        "{story}"
    );

    let out = disk.confirmed("pvc/data");
    assert_eq!(out.code, 0, "{out}");
    super::says(&out, "result The policy is Retain.");
    assert_eq!(disk.policy(), "Retain");
    let writes = case.writes();
    assert_eq!(writes.len(), 1, "{writes:#?}");
    assert_eq!(
        (&*writes[0].verb, &*writes[0].type_name),
        ("patch", "persistentvolumes")
    );
    assert_eq!(case.noted(), ["sending", "done"]);

    delete(case.cluster, "pod/user", case.ns.name());
    goes(case.cluster, "pvc/data", case.ns.name());
    disk.is_released();
    disk.survives();
}

#[test]
fn the_disk_of_a_deleted_volume_stays_after_volume_and_claim_are_gone() {
    let disk = Disk::made(Cluster::shared(), "rescued-volume");
    let case = &disk.case;
    delete(case.cluster, &disk.pv(), "");
    let out = disk.confirmed(&disk.pv());
    assert_eq!(out.code, 0, "{out}");
    super::says(&out, "This cannot be undone");
    delete(case.cluster, "pvc/data", case.ns.name());
    goes(case.cluster, &disk.pv(), "");
    disk.survives();

    // The copies make both again, on the same disk. The copied volume has policy Retain.
    let copies = case.copies();
    let apply = |plural: &str| {
        let mut paths = copies.iter().map(|path| path.display().to_string());
        let path = paths.find(|path| path.contains(&format!("/{plural}_")));
        let path = path.unwrap_or_else(|| panic!("no copy of {plural}: {copies:?}"));
        case.ns.kubectl(["apply", "--server-side", "-f", &path]).success();
    };
    apply("persistentvolumes");
    assert_eq!(disk.policy(), "Retain");
    let free = r#"[{"op": "remove", "path": "/spec/claimRef/uid"}, {"op": "remove", "path": "/spec/claimRef/resourceVersion"}]"#;
    case.cluster
        .kubectl(["patch", &disk.pv(), "--type=json", "-p", free])
        .success();
    apply("persistentvolumeclaims");
    wait("the claim is bound to its disk again", SOON, || {
        case.ns.get(["pvc", "data"]).unwrap()["status"]["phase"] == "Bound"
    });
    assert_eq!(
        case.ns.get(["pvc", "data"]).unwrap()["spec"]["volumeName"],
        disk.volume
    );
    disk.survives();
}

#[test]
fn before_any_deletion_it_can_be_set_back() {
    let disk = Disk::made(Cluster::shared(), "rescued-early");
    let plan = disk.case.run(&words(&disk.rescue(&["--plan"]))).run();
    assert_eq!(plan.code, 0, "{plan}");
    super::says(&plan, "You can set the policy back to Delete");
    assert!(disk.case.writes().is_empty());
    assert_eq!(
        fs::read_dir(disk.case.place.path()).unwrap().count(),
        0,
        "no file"
    );

    let out = disk.confirmed(&disk.pv());
    assert_eq!(out.code, 0, "{out}");
    let back = r#"{"spec":{"persistentVolumeReclaimPolicy":"Delete"}}"#;
    disk.case
        .cluster
        .kubectl(["patch", &disk.pv(), "-p", back])
        .success();
    wait("the provisioner protects the disk again", SOON, || {
        disk.object().unwrap()["metadata"]["finalizers"]
            .to_string()
            .contains("external-provisioner")
    });
    disk.survives();
}

#[test]
fn a_released_volume_may_have_lost_its_disk_and_the_plan_says_so() {
    let disk = Disk::made(Cluster::shared(), "rescued-late");
    let case = &disk.case;
    // The driver cannot delete the disk yet.
    disk.driver.fails("DeleteVolume", "the disk is busy");
    delete(case.cluster, "pvc/data", case.ns.name());
    disk.is_released();
    delete(case.cluster, &disk.pv(), "");

    let plan = case.run(&words(&disk.rescue(&["--plan"]))).run();
    super::says(&plan, "The disk may already be gone");
    super::says(&plan, "The volume object goes with this change");
    let plan = case
        .run(&words(&disk.rescue(&["--plan", "-o=json"])))
        .run()
        .success();
    let digest = super::digest(&plan);
    let out = case
        .run(&words(&disk.rescue(&["--confirm", &digest, "-o=json"])))
        .run();
    assert_eq!(out.code, 0, "{out}");
    let outcome = documents(&out).remove(1)["outcomes"][0].clone();
    assert!(
        ["gone", "retained"].contains(&outcome["result"].as_str().unwrap()),
        "{outcome:#}"
    );
    assert_eq!(outcome["outside"][0]["id"], disk.volume, "{outcome:#}");
    goes(case.cluster, &disk.pv(), "");
    disk.driver.heals("DeleteVolume");
    assert_eq!(fs::read_to_string(disk.file()).unwrap(), "precious");
}

#[test]
fn several_volumes_are_one_plan_and_one_confirmation() {
    let cluster = Cluster::start();
    let disk = Disk::made(&cluster, "several");
    let case = &disk.case;
    let class = "several.example.test";
    let second = claim(case, "second", class);
    let living = claim(case, "living", class);
    for volume in [&disk.volume, &second] {
        delete(&cluster, &format!("pv/{volume}"), "");
    }
    let all = ["rescue", "pv", "--all-terminating", "--only-retain"];
    let session = case.run(&all).at_terminal();
    session
        .asked()
        .see("Set the reclaim policy of 2 volumes to Retain? Type 2 to confirm")
        .types("2\n");
    let out = session.finish();
    assert_eq!(out.code, 0, "{out}");
    let policy =
        |volume: &str| cluster.get(["pv", volume]).unwrap()["spec"]["persistentVolumeReclaimPolicy"].clone();
    assert_eq!([policy(&disk.volume), policy(&second)], ["Retain", "Retain"]);
    assert_eq!(policy(&living), "Delete", "it is not being deleted");
    assert_eq!(case.writes().len(), 2, "{:#?}", case.writes());

    // RunFlags: nothing is left to do, which is no failure.
    let out = case.run(&all).run();
    assert_eq!(out.code, 0, "{out}");
    super::says(&out, "its policy is Retain already");
    assert_eq!(case.writes().len(), 2, "{:#?}", case.writes());

    // A claim and its volume are one target. With one refusal nothing is sent.
    let both = [
        "rescue",
        "pvc/living",
        &format!("pv/{living}"),
        "--only-retain",
        "--plan",
        "-o=json",
    ];
    let plan = documents(&case.run(&both).run()).remove(0);
    assert_eq!(plan["plans"].as_array().unwrap().len(), 1, "{plan:#}");
    case.ns.apply(
        "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: pending}, spec: {storageClassName: none, accessModes: \
         [ReadWriteOnce], resources: {requests: {storage: 1Mi}}}}",
    );
    let out = case
        .run(&["rescue", "pvc/living", "pvc/pending", "--only-retain"])
        .run();
    assert_eq!(out.code, 3, "{out}");
    super::says(&out, "it has no volume, so there is no disk to keep");
    assert_eq!(policy(&living), "Delete");
}

#[test]
fn nothing_in_deletion_is_no_failure() {
    let cluster = Cluster::start();
    let case = Case::empty(&cluster, "calm");
    let out = case
        .run(&["rescue", "pv", "--all-terminating", "--only-retain"])
        .run();
    assert_eq!(out.code, 0, "{out}");
    super::says(&out, "No PersistentVolume is being deleted. Nothing was changed.");
    assert!(case.writes().is_empty());
}

#[test]
fn what_has_no_disk_to_keep_is_refused() {
    let cluster = Cluster::shared();
    let case = Case::empty(cluster, "diskless");
    case.make("held", &[]);
    for (line, code, told) in [
        (
            &["rescue", "configmap/held", "--only-retain"][..],
            2,
            "rescue is for volumes and claims",
        ),
        (
            &["rescue", "cm", "--all-terminating", "--only-retain"],
            2,
            "rescue is for volumes and claims",
        ),
        (
            &["rescue", "pv/a", "--all-terminating", "--only-retain"],
            2,
            "takes a type and no names",
        ),
        (&["rescue", "pv", "--all-terminating"], 2, "--only-retain"),
        (&["rescue", "pv/a", "pv/b"], 2, "one volume again at a time"),
        (
            &["rescue", "pv/no-such-volume", "--only-retain"],
            1,
            "does not exist",
        ),
    ] {
        let out = case.run(line).run();
        assert_eq!(out.code, code, "{line:?}: {out}");
        super::says(&out, told);
    }
    assert!(case.writes().is_empty());
}

/// A volume without a CSI driver. No provisioner runs for it, so only the plan and the request are tested.
#[test]
fn a_local_volume_is_kept_too() {
    let cluster = Cluster::shared();
    let case = Case::empty(cluster, "local");
    let volume = cluster.unique("local");
    cluster.apply(
        &json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": volume}, "spec": {
            "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "persistentVolumeReclaimPolicy": "Delete",
            "storageClassName": "", "local": {"path": "/mnt/disk"}, "nodeAffinity": {"required": {"nodeSelectorTerms": [
                {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": ["n"]}]}]}}}})
        .to_string(),
    );
    let words = ["rescue", &format!("pv/{volume}"), "--only-retain"];
    let plan = case.run(&[&words[..], &["--plan"]].concat()).run();
    super::says(&plan, "/mnt/disk");
    let out = case.confirm(&words).run();
    assert_eq!(out.code, 0, "{out}");
    assert_eq!(
        cluster.get(["pv", &volume]).unwrap()["spec"]["persistentVolumeReclaimPolicy"],
        "Retain"
    );
}

#[test]
fn the_right_to_patch_volumes_is_asked_for_before() {
    let cluster = Cluster::shared();
    let mut disk = Disk::made(cluster, "unrightful");
    let reader = cluster
        .user("reader")
        .may("get,list", "persistentvolumes,persistentvolumeclaims")
        .create();
    reader.name().clone_into(&mut disk.case.user);
    disk.case.is_master = false;
    let plugin = disk.case.run(&words(&disk.rescue(&[])));
    refused(&disk.case, plugin, "you may not patch persistentvolumes");
    assert_eq!(disk.policy(), "Delete");

    // The claim is only copied: without the right to read it, the disk is kept all the same.
    let keeper = cluster
        .user("keeper")
        .may("get,list,patch", "persistentvolumes")
        .create();
    keeper.name().clone_into(&mut disk.case.user);
    let out = disk.confirmed(&disk.pv());
    assert_eq!(out.code, 0, "{out}");
    super::says(&out, "could not be read, so there is no copy of it");
    assert_eq!(disk.policy(), "Retain");
    assert_eq!(disk.case.copies().len(), 1, "{:?}", disk.case.copies());
}

#[test]
fn another_volume_with_the_same_name_is_not_touched() {
    let cluster = Cluster::shared();
    let case = Case::empty(cluster, "renamed");
    let volume = cluster.unique("renamed");
    let manifest = json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": volume}, "spec": {
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "persistentVolumeReclaimPolicy": "Delete",
        "storageClassName": "", "csi": {"driver": "none.example.test", "volumeHandle": "disk"}}})
    .to_string();
    cluster.apply(&manifest);
    let pv = format!("pv/{volume}");
    let gate = Gate::before(cluster, Fate::Held);
    let run = case
        .confirm(&["rescue", &pv, "--only-retain", gate.flag()])
        .spawn();
    gate.arrived(1);
    delete(cluster, &pv, "");
    goes(cluster, &pv, "");
    cluster.apply(&manifest);
    gate.open();
    let out = run.finish();
    assert_eq!(out.code, 3, "{out}");
    super::says(&out, "A new object has its name");
    assert_eq!(
        cluster.get(["pv", &volume]).unwrap()["spec"]["persistentVolumeReclaimPolicy"],
        "Delete"
    );
    assert_eq!(case.noted(), ["sending", "refused"]);
}

#[test]
fn a_volume_that_goes_before_the_request_arrives_is_no_success() {
    let cluster = Cluster::shared();
    let case = Case::empty(cluster, "too-late");
    let volume = cluster.unique("too-late");
    cluster.apply(
        &json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": volume}, "spec": {
            "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "persistentVolumeReclaimPolicy": "Delete",
            "storageClassName": "", "csi": {"driver": "none.example.test", "volumeHandle": "disk"}}})
        .to_string(),
    );
    let pv = format!("pv/{volume}");
    let gate = Gate::before(cluster, Fate::Held);
    let run = case
        .confirm(&["rescue", &pv, "--only-retain", gate.flag()])
        .spawn();
    gate.arrived(1);
    delete(cluster, &pv, "");
    goes(cluster, &pv, "");
    gate.open();
    let out = run.finish();
    assert_eq!(out.code, 1, "{out}");
    super::says(&out, "so its policy was not changed");
    assert_eq!(case.noted(), ["sending", "failed"]);
}

#[test]
fn a_lost_answer_is_settled_by_reading_again() {
    let disk = Disk::made(Cluster::shared(), "answerless");
    for (fate, code, noted, policy) in [
        (Fate::LostBefore, 1, "unknown", "Delete"),
        (Fate::LostAfter, 0, "done-answer-lost", "Retain"),
    ] {
        let gate = Gate::before(disk.case.cluster, fate);
        let pv = disk.pv();
        let out = disk
            .case
            .confirm(&["rescue", &pv, "--only-retain", gate.flag()])
            .run();
        assert_eq!(out.code, code, "{out}");
        super::says(&out, "was lost");
        assert_eq!(disk.policy(), policy, "{out}");
        assert_eq!(disk.case.noted().pop().unwrap(), noted, "{out}");
    }
    assert_eq!(disk.case.writes().len(), 1, "it is not sent again");
}

/// Somebody sets the policy back within the second in which it is watched.
#[test]
fn a_policy_that_is_set_back_is_noticed() {
    let disk = Disk::made(Cluster::shared(), "set-back");
    let gate = Gate::before(disk.case.cluster, Fate::Held);
    let pv = disk.pv();
    let run = disk
        .case
        .confirm(&["rescue", &pv, "--only-retain", gate.flag()])
        .spawn();
    gate.arrived(1);
    gate.open();
    wait("the policy is Retain", SOON, || disk.policy() == "Retain");
    let back = r#"{"spec":{"persistentVolumeReclaimPolicy":"Delete"}}"#;
    disk.case.cluster.kubectl(["patch", &pv, "-p", back]).success();
    let out = run.finish();
    assert_eq!(out.code, 1, "{out}");
    super::says(&out, "The policy is Delete again");
    assert_eq!(disk.case.noted().pop().unwrap(), "failed");
}
