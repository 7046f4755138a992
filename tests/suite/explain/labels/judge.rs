//! Holds the label of a step against what was there before it and after it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::explain::told::names_the_loss;

/// All that is stored, by its key in etcd, and the disks that exist.
#[derive(Clone, Default)]
pub(super) struct Seen {
    pub(super) objects: BTreeMap<String, Value>,
    pub(super) disks: BTreeSet<String>,
    /// What was saved by an earlier step and can be made again, by its uid.
    pub(super) saved: BTreeSet<String>,
}

impl Seen {
    /// The objects that mention this text, and the disks that those objects name.
    pub(super) fn about(&self, text: &str) -> Self {
        let objects: BTreeMap<_, _> = self
            .objects
            .iter()
            .filter(|(_, object)| object.to_string().contains(text))
            .map(|(key, object)| (key.clone(), object.clone()))
            .collect();
        let named = |disk: &&String| {
            let handle = disk.as_str();
            let mut handles = objects
                .values()
                .map(|object| &object["spec"]["csi"]["volumeHandle"]);
            handles.any(|own| own == handle)
        };
        let disks = self.disks.iter().filter(named).cloned().collect();
        Self {
            objects,
            disks,
            saved: BTreeSet::new(),
        }
    }

    /// The same later: a disk exists also if no object names it any more.
    pub(super) fn later_about(&self, text: &str, saved: BTreeSet<String>) -> Self {
        Self {
            disks: self.disks.clone(),
            saved,
            ..self.about(text)
        }
    }

    /// The objects that mention none of these texts.
    pub(super) fn about_none(&self, texts: &[&str]) -> Self {
        let is_about = |object: &Value| {
            let object = object.to_string();
            texts.iter().any(|text| object.contains(text))
        };
        let objects = self.objects.iter().filter(|(_, object)| !is_about(object));
        Self {
            objects: objects
                .map(|(key, object)| (key.clone(), object.clone()))
                .collect(),
            ..Self::default()
        }
    }
}

/// What makes the label of this step untrue, if `after` is what followed from it.
pub(super) fn untrue(step: &Value, before: &Seen, after: &Seen) -> Vec<String> {
    let mut found: Vec<String> = before
        .disks
        .difference(&after.disks)
        .map(|disk| format!("disk {disk} is destroyed"))
        .collect();
    let text = step["text"].as_str().unwrap_or_default();
    match step["safety"].as_str().unwrap_or_default() {
        "read-only" => {
            let keys: BTreeSet<_> = before.objects.keys().chain(after.objects.keys()).collect();
            let changed = keys
                .into_iter()
                .filter(|key| before.objects.get(*key) != after.objects.get(*key));
            found.extend(changed.map(|key| format!("{key} is changed")));
        }
        "safe" => found.extend(lost(before, after, is_finished)),
        "reversible" => found.extend(lost(before, after, |object| {
            is_finished(object) || comes_back(object, before, after)
        })),
        "destructive" => {
            if text.contains("DESTROY") || text.contains("DATA LOSS") {
                found.clear();
            }
            if !names_the_loss(text) {
                found.push("the text does not name the loss in capitals".to_owned());
            }
        }
        other => found.push(format!("{other:?} is no label")),
    }
    found
}

/// What is gone, or is now in deletion, and was not in deletion before; and data that is not what it was.
fn lost(before: &Seen, after: &Seen, is_no_loss: impl Fn(&Value) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    for (key, object) in &before.objects {
        if is_in_deletion(object) || is_no_loss(object) {
            continue;
        }
        match after.objects.get(key) {
            Some(now) if now["metadata"]["uid"] == object["metadata"]["uid"] => {
                if is_in_deletion(now) {
                    found.push(format!("{key} is being deleted"));
                }
                if now["data"] != object["data"] {
                    found.push(format!("the data of {key} is changed"));
                }
            }
            _ => found.push(format!("{key} is gone")),
        }
    }
    found
}

fn is_in_deletion(object: &Value) -> bool {
    object["metadata"]["deletionTimestamp"].is_string()
}

/// A Pod whose containers have ended. What it still has are logs, and the step names them.
fn is_finished(object: &Value) -> bool {
    let phase = object["status"]["phase"].as_str().unwrap_or_default();
    object["kind"] == "Pod" && ["Succeeded", "Failed"].contains(&phase)
}

/// Whether the undoing of the step makes this object again: it was saved, or its controller was saved or is still there. A
/// claim that has no volume yet can be applied again.
fn comes_back(object: &Value, before: &Seen, after: &Seen) -> bool {
    let owners = object["metadata"]["ownerReferences"].as_array();
    let is_there = |uid: &Value| {
        after
            .objects
            .values()
            .any(|other| other["metadata"]["uid"] == *uid)
    };
    let is_made = object["kind"] == "Pod"
        && owners
            .into_iter()
            .flatten()
            .any(|owner| owner["controller"] == true && is_there(&owner["uid"]));
    let is_empty = object["kind"] == "PersistentVolumeClaim" && object["spec"]["volumeName"].is_null();
    is_made || is_empty || is_saved(object, before, after)
}

/// Whether the object was saved, or is made by something that was.
fn is_saved(object: &Value, before: &Seen, after: &Seen) -> bool {
    let uid = &object["metadata"]["uid"];
    let owners = object["metadata"]["ownerReferences"].as_array();
    let controllers = owners
        .into_iter()
        .flatten()
        .filter(|owner| owner["controller"] == true);
    let mut makers = controllers.filter_map(|owner| {
        let mut all = before.objects.values();
        all.find(|other| other["metadata"]["uid"] == owner["uid"])
    });
    uid.as_str().is_some_and(|uid| after.saved.contains(uid))
        || makers.any(|maker| is_saved(maker, before, after))
}

mod tests {
    use serde_json::json;

    use super::*;

    fn step(safety: &str, text: &str) -> Value {
        json!({"safety": safety, "text": text})
    }

    fn seen(objects: &[Value], disks: &[&str]) -> Seen {
        let keyed = |object: &Value| {
            let text = |pointer: &str| object.pointer(pointer).unwrap().as_str().unwrap().to_owned();
            (
                format!("/{}/{}", text("/kind"), text("/metadata/name")),
                object.clone(),
            )
        };
        Seen {
            objects: objects.iter().map(keyed).collect(),
            disks: disks.iter().map(|&disk| disk.to_owned()).collect(),
            saved: BTreeSet::new(),
        }
    }

    fn object(kind: &str, name: &str) -> Value {
        json!({"kind": kind, "metadata": {"name": name, "uid": format!("{name}-1")}})
    }

    fn with(mut object: Value, field: &str, value: Value) -> Value {
        *object.pointer_mut(field).unwrap() = value;
        object
    }

    fn deleting(object: Value) -> Value {
        let mut meta = object["metadata"].clone();
        meta["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        with(object, "/metadata", meta)
    }

    #[test]
    fn finds_a_deleted_disk_under_each_label_that_does_not_announce_it() {
        let (before, after) = (seen(&[], &["disk-1"]), seen(&[], &[]));
        for safety in ["read-only", "safe", "reversible"] {
            let found = untrue(&step(safety, "stop it"), &before, &after);
            assert_eq!(found, ["disk disk-1 is destroyed"], "{safety}");
        }
        let hushed = step("destructive", "LOST are its logs: delete it");
        assert_eq!(untrue(&hushed, &before, &after), ["disk disk-1 is destroyed"]);
        let loud = step("destructive", "DATA LOSS: delete it");
        assert!(untrue(&loud, &before, &after).is_empty());
        let quiet = step("destructive", "delete it: the disk is destroyed");
        assert_eq!(
            untrue(&quiet, &before, &after),
            [
                "disk disk-1 is destroyed",
                "the text does not name the loss in capitals"
            ]
        );
    }

    #[test]
    fn finds_an_object_that_is_deleted_or_begins_to_be() {
        let claim = with(
            json!({"kind": "PersistentVolumeClaim", "metadata": {"name": "c", "uid": "c-1"}, "spec": {}}),
            "/spec",
            json!({"volumeName": "v"}),
        );
        let before = seen(std::slice::from_ref(&claim), &[]);
        let gone = seen(&[], &[]);
        let going = seen(&[deleting(claim.clone())], &[]);
        let again = seen(
            &[with(
                claim.clone(),
                "/metadata",
                json!({"name": "c", "uid": "c-2"}),
            )],
            &[],
        );
        for safety in ["safe", "reversible"] {
            for after in [&gone, &going, &again] {
                assert_eq!(untrue(&step(safety, ""), &before, after).len(), 1, "{safety}");
            }
            assert!(untrue(&step(safety, ""), &before, &before).is_empty());
        }
        // What was in deletion before may go.
        assert!(untrue(&step("safe", ""), &going, &gone).is_empty());
    }

    #[test]
    fn only_a_reversible_step_may_stop_a_pod_and_only_if_its_controller_stays() {
        let set = object("StatefulSet", "web");
        let owned = json!({"kind": "Pod", "metadata": {"name": "web-0", "uid": "web-0-1",
            "ownerReferences": [{"uid": "web-1", "controller": true}]}});
        let before = seen(&[set.clone(), owned.clone()], &[]);
        let stopped = seen(std::slice::from_ref(&set), &[]);
        assert_eq!(untrue(&step("safe", ""), &before, &stopped).len(), 1);
        assert!(untrue(&step("reversible", ""), &before, &stopped).is_empty());
        assert_eq!(untrue(&step("reversible", ""), &before, &seen(&[], &[])).len(), 2);
        let bare = seen(&[object("Pod", "p")], &[]);
        assert_eq!(untrue(&step("reversible", ""), &bare, &seen(&[], &[])).len(), 1);
        let mut finished = object("Pod", "p");
        finished["status"] = json!({"phase": "Succeeded"});
        let finished = seen(&[finished], &[]);
        assert!(untrue(&step("safe", ""), &finished, &seen(&[], &[])).is_empty());
    }

    #[test]
    fn what_was_saved_can_be_made_again_with_all_that_it_makes() {
        let made_by = |mut object: Value, owner: &str| {
            object["metadata"]["ownerReferences"] = json!([{"uid": owner, "controller": true}]);
            object
        };
        let set = made_by(object("ReplicaSet", "set"), "web-1");
        let pod = made_by(object("Pod", "p"), "set-1");
        let before = seen(&[object("Deployment", "web"), set, pod], &[]);
        let gone = seen(&[], &[]);
        assert_eq!(untrue(&step("reversible", ""), &before, &gone).len(), 3);
        let saved = Seen {
            saved: ["web-1".to_owned()].into(),
            ..gone
        };
        assert!(untrue(&step("reversible", ""), &before, &saved).is_empty());
        assert_eq!(untrue(&step("safe", ""), &before, &saved).len(), 3);
    }

    #[test]
    fn a_disk_that_no_object_names_any_more_is_still_there() {
        let mut volume = object("PersistentVolume", "v");
        volume["spec"] = json!({"csi": {"volumeHandle": "disk-v"}});
        let before = seen(&[volume], &["disk-v"]).about("v-1");
        let after = seen(&[], &["disk-v"]);
        let found = untrue(
            &step("destructive", "LOST"),
            &before,
            &after.later_about("v-1", BTreeSet::new()),
        );
        assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn a_read_only_step_changes_nothing_at_all() {
        let one = object("ConfigMap", "a");
        let before = seen(std::slice::from_ref(&one), &[]);
        let annotated = with(
            one,
            "/metadata",
            json!({"name": "a", "uid": "a-1", "annotations": {"b": "c"}}),
        );
        let after = seen(&[annotated], &[]);
        assert_eq!(untrue(&step("read-only", ""), &before, &after).len(), 1);
        assert!(untrue(&step("safe", ""), &before, &after).is_empty());
        assert_eq!(untrue(&step("read-only", ""), &seen(&[], &[]), &after).len(), 1);
        assert_eq!(
            untrue(&step("fine", ""), &before, &before),
            ["\"fine\" is no label"]
        );
    }

    #[test]
    fn data_that_a_safe_step_changes_is_found() {
        let settings = |value: &str| json!({"kind": "ConfigMap", "metadata": {"name": "a", "uid": "a-1"}, "data": {"k": value}});
        let (before, after) = (seen(&[settings("old")], &[]), seen(&[settings("new")], &[]));
        assert_eq!(
            untrue(&step("safe", ""), &before, &after),
            ["the data of /ConfigMap/a is changed"]
        );
    }
}
