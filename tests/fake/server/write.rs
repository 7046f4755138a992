//! Updates of single objects by JSON patch, as far as the plugin sends them. Lists do not show them.

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::object::Object;
use super::request::Recorded;
use super::status::{Status, status};

/// How the fake handles an update.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Writes {
    /// It refuses every update.
    #[default]
    Refused,
    /// It stores updates, and only tries out a dry run.
    Stored,
    /// It stores every update, also a dry run, as some aggregated API servers do.
    DryRunStored,
}

/// The objects that were updated, by type, namespace and name; none if the update removed the object.
#[derive(Default)]
pub struct Updates(RefCell<BTreeMap<[String; 3], Option<Object>>>);

impl Updates {
    /// The object after its updates.
    pub fn current(&self, key: &[String; 3], stored: Option<&Object>) -> Option<Object> {
        match self.0.borrow().get(key) {
            Some(updated) => updated.clone(),
            None => stored.cloned(),
        }
    }

    /// The object after this patch. It is kept, unless it is a dry run of a server that honours that.
    pub fn patch(
        &self,
        key: [String; 3],
        object: &Object,
        request: &Recorded,
        writes: Writes,
    ) -> Result<Object, Status> {
        let mut patched = object.clone();
        let operations: Vec<Value> = serde_json::from_slice(&request.body).unwrap_or_default();
        for operation in &operations {
            apply(operation, &key[0], &mut patched).ok_or_else(|| {
                let message = "the server rejected our request due to an error in our request";
                status(422, "Invalid", message)
            })?;
        }
        if writes == Writes::DryRunStored || request.query("dryRun").is_none() {
            patched.resource_version += 1;
            let deleted = patched.finalizers.is_empty() && patched.deletion.is_some();
            self.0
                .borrow_mut()
                .insert(key, (!deleted).then(|| patched.clone()));
        }
        Ok(patched)
    }
}

/// Applies one operation; none if it does not fit.
fn apply(operation: &Value, type_name: &str, object: &mut Object) -> Option<()> {
    let field = |name: &str| operation[name].as_str();
    let (op, path, value) = (field("op")?, field("path")?, field("value"));
    let entry = path
        .strip_prefix("/metadata/finalizers/")
        .and_then(|index| index.parse::<usize>().ok());
    match (op, path, entry) {
        ("test", "/metadata/uid", _) => {
            let mut uid = Vec::new();
            object.write_uid(type_name, &mut uid);
            (value?.as_bytes() == uid).then_some(())
        }
        ("test", "/metadata/resourceVersion", _) => {
            (value? == object.resource_version.to_string()).then_some(())
        }
        ("test", _, Some(index)) => (object.finalizers.get(index)? == value?).then_some(()),
        ("remove", _, Some(index)) => {
            (index < object.finalizers.len()).then(|| drop(object.finalizers.remove(index)))
        }
        ("add", "/metadata/annotations", _) => (operation["value"] == json!({})).then_some(()),
        ("add", path, _) => {
            let name = path.strip_prefix("/metadata/annotations/")?;
            let name = name.replace("~1", "/").replace("~0", "~");
            object.annotations.insert(name, value?.to_owned());
            Some(())
        }
        _ => None,
    }
}
