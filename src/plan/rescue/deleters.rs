//! Who may delete an object again: its owners, and the programs that deployed it, by the marks that they leave on their
//! objects (`knowledge/deployers.yaml`).

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{
    knowledge::{
        Knowledge,
        schema::{Applies, Deployer, glob},
    },
    snapshot::facts::Object,
};

/// A sentence for each. `what` is the object in a word.
pub(in crate::plan) fn deleters(object: &Object, what: &str, knowledge: &Knowledge) -> Vec<String> {
    let mut names = Vec::new();
    for owner in object.list("/metadata/ownerReferences") {
        let field = |name: &str| owner.get(name).and_then(Value::as_str).unwrap_or_default();
        names.push(format!("its owner, {} {}", field("kind"), field("name")));
    }
    let deployed_by = knowledge
        .deployers()
        .iter()
        .filter(|one| one.applies != Applies::Once && is_marked_by(object, one));
    names.extend(deployed_by.map(|one| one.name.clone()));
    names
        .iter()
        .map(|who| format!("The {what} may be deleted again by {who}: stop that first."))
        .collect()
}

fn is_marked_by(object: &Object, deployer: &Deployer) -> bool {
    let keys: BTreeSet<&String> = ["/metadata/labels", "/metadata/annotations"]
        .iter()
        .filter_map(|place| object.value.pointer(place)?.as_object())
        .flat_map(serde_json::Map::keys)
        .collect();
    let is_marked = |pattern: &String| keys.iter().any(|key| glob(pattern, key));
    let writers = object.list("/metadata/managedFields").iter();
    let mut writers = writers.filter_map(|entry| entry.get("manager")?.as_str());
    deployer.marks.iter().any(is_marked) || writers.any(|writer| deployer.writes_as(writer))
}
