//! Puts a dump into a cluster as it was: with its times, UIDs and field managers. The API server would set those itself,
//! so the objects go into etcd behind its back, as JSON, and the API server serves them from there.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::{
    Cluster,
    api::{Api, objects},
    etcd::put,
};

const CRD: &str = "CustomResourceDefinition";

impl Cluster {
    /// Stores every object of a dump. All times move on, so that the newest renewal of a Lease is now.
    #[track_caller]
    pub fn restore(&self, dump: &str) {
        let mut items = objects(dump);
        let newest = items
            .iter()
            .filter_map(|item| item["spec"]["renewTime"].as_str()?.parse::<Timestamp>().ok())
            .max()
            .expect("a dump has a Lease");
        let custom = custom_types(&items);
        // The API server removes a definition in deletion that has no objects yet, so the deletion begins after they are there.
        let deleted = items
            .iter()
            .filter(|item| item["kind"] == CRD && is_deleted(item));
        let deleted: Vec<_> = deleted.cloned().collect();
        for item in items.iter_mut().filter(|item| item["kind"] == CRD) {
            item["metadata"]["deletionTimestamp"] = Value::Null;
        }
        items.extend(deleted);
        // Types first. Leases last, because they expire within seconds.
        items.sort_by_key(|item| match item["kind"].as_str() {
            Some(CRD) if is_deleted(item) => 2,
            Some(CRD) => 0,
            Some("Lease") => 3,
            _ => 1,
        });
        let etcd = self.etcd_api();
        let age = Timestamp::now().duration_since(newest);
        for mut item in items {
            move_times(&mut item, age);
            self.restore_one(item, &custom, &etcd);
        }
    }

    #[track_caller]
    fn restore_one(&self, mut item: Value, custom: &BTreeSet<(String, String)>, etcd: &Api) {
        let text = |item: &Value, pointer: &str| {
            let text = item.pointer(pointer).and_then(Value::as_str);
            text.unwrap_or_default().to_owned()
        };
        let (mut version, kind) = (text(&item, "/apiVersion"), text(&item, "/kind"));
        let (namespace, name) = (text(&item, "/metadata/namespace"), text(&item, "/metadata/name"));
        if kind == "APIService" && !is_broken_extension(&item) {
            return;
        }
        if kind == CRD {
            // Nobody runs a webhook here that converts, and most of these do nothing else.
            item["spec"]["conversion"] = json!({"strategy": "None"});
        }
        // A dump of an older cluster may have a beta version that has the same fields as the present one.
        let present = version
            .strip_suffix("beta1")
            .filter(|present| present.ends_with("/v1"));
        if let Some(present) = present.map(str::to_owned)
            && !custom.contains(&(group_of(&version), kind.clone()))
        {
            item["apiVersion"] = present.clone().into();
            version = present;
        }
        let ty = self.api.type_of(&version, &kind);
        let is_custom = custom.contains(&(group_of(&version), kind));
        let key = ty.key(is_custom, &namespace, &name);
        put(etcd, &key, item.to_string().as_bytes());
        if is_custom {
            self.assert_served_whole(&ty.path(&namespace), &name, &item);
        }
    }

    /// A schema that lacks a field makes the API server leave it out. The dump would tell more than the cluster.
    #[track_caller]
    fn assert_served_whole(&self, path: &str, name: &str, stored: &Value) {
        let path = format!("{path}/{name}");
        let answer = self.api.send("GET", &path, "application/json", &Value::Null);
        let served = answer.unwrap_or_else(|error| panic!("{error}")).success(&path);
        for part in ["spec", "status"] {
            assert_eq!(
                served[part], stored[part],
                "{path}: the API server serves another {part}"
            );
        }
    }
}

fn is_deleted(object: &Value) -> bool {
    object["metadata"]["deletionTimestamp"].is_string()
}

fn group_of(version: &str) -> String {
    version.split_once('/').map_or("", |(group, _)| group).to_owned()
}

/// Group and kind of each custom resource.
fn custom_types(items: &[Value]) -> BTreeSet<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    items
        .iter()
        .filter(|item| item["kind"] == CRD)
        .map(|item| (text(&item["spec"]["group"]), text(&item["spec"]["names"]["kind"])))
        .collect()
}

/// The API server makes the APIServices of its own groups itself. An extension server that worked does not run here, so its
/// APIService would be a fault that the dump does not have.
fn is_broken_extension(service: &Value) -> bool {
    let mut conditions = service["status"]["conditions"].as_array().into_iter().flatten();
    let is_available = |condition: &Value| condition["type"] == "Available" && condition["status"] == "True";
    !service["spec"]["service"].is_null() && !conditions.any(is_available)
}

fn move_times(value: &mut Value, age: SignedDuration) {
    match value {
        Value::String(text) if is_time(text) => {
            if let Ok(time) = text.parse::<Timestamp>() {
                let moved = time + age;
                *text = if text.contains('.') {
                    format!("{moved:.6}")
                } else {
                    format!("{moved:.0}")
                };
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| move_times(item, age)),
        Value::Object(fields) => fields.values_mut().for_each(|field| move_times(field, age)),
        _ => {}
    }
}

/// `2026-01-02T03:04:05Z`, with or without a fraction of a second.
fn is_time(text: &str) -> bool {
    let digits = |at: usize| text.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    text.len() >= 20 && text.ends_with('Z') && &text.as_bytes()[10..11] == b"T" && digits(0) && digits(18)
}
