//! The present objects of a world.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    api::Api,
    key::{Key, Kind},
};

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Thing {
    pub(super) uid: String,
    pub(super) going: bool,
    pub(super) finalizers: Vec<String>,
    pub(super) phase: String,
}

pub(super) type State = BTreeMap<Key, Thing>;

/// All objects whose names begin with this prefix, and the volumes that were provisioned for them.
pub(super) fn state(api: &Api, namespace: &str, prefix: &str) -> State {
    let mut all = State::new();
    for kind in Kind::ALL {
        let list = api.get(&kind.collection(namespace)).unwrap();
        for object in list["items"].as_array().unwrap() {
            let name = object["metadata"]["name"].as_str().unwrap();
            let provisioned = kind == Kind::Volume && object["spec"]["claimRef"]["namespace"] == namespace;
            if name.starts_with(prefix) || provisioned {
                all.insert(Key::new(kind, name), thing(object));
            }
        }
    }
    all
}

fn thing(object: &Value) -> Thing {
    let metadata = &object["metadata"];
    let finalizers = metadata["finalizers"].as_array().into_iter().flatten();
    Thing {
        uid: metadata["uid"].as_str().unwrap().to_owned(),
        going: metadata["deletionTimestamp"].is_string(),
        finalizers: finalizers.map(|name| name.as_str().unwrap().to_owned()).collect(),
        phase: object["status"]["phase"].as_str().unwrap_or_default().to_owned(),
    }
}
