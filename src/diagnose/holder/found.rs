//! Finds the controller of any finalizer, described in the catalogue or not, for callers that ask for all
//! finalizers.

use jiff::Timestamp;
use serde_json::Value;

use crate::{
    diagnose::{
        holder::{driver, node, search::described_with_driver, trace::Holder, undescribed, workload},
        model::{Liveness, Verdict},
        view::View,
    },
    knowledge::Entry,
    object::Finalizer,
    snapshot::facts::Object,
};

/// The controller that must remove a finalizer from an object, and its signs.
#[derive(Clone, Debug)]
pub struct FoundHolder {
    /// The entry of the catalogue, if there is one.
    pub entry: Option<Entry>,
    /// The CSI driver, if each driver has its own controller for this finalizer.
    pub driver: Option<String>,
    /// Set if other objects with this finalizer may have other controllers, and nothing tells which. The text
    /// names what has its own controller: `each node`.
    pub of_others_too: Option<&'static str>,
    /// The signs of the controller.
    pub holder: Holder,
}

/// Finds the controller. `driver` is the CSI driver that all objects of this group name, if they name one.
///
/// The causes have the last word: a controller is gone only if the diagnosis of the object says so, too. Some causes know
/// their controller better than the names in the catalogue do, and others know that its absence proves nothing.
pub fn find(object: &Object, finalizer: &Finalizer, driver: Option<&str>, view: &View<'_>) -> FoundHolder {
    let mut found = find_by_signs(object, finalizer, driver, view);
    if found.holder.liveness() == Liveness::Gone && !may_be_gone(object, finalizer, view) {
        found.holder.add_unseen(&format!(
            "it is not found, which is inconclusive for {}",
            object.reference().pasteable()
        ));
    }
    found
}

/// Whether the diagnosis agrees that the controller is gone. An update that would be rejected hides what the causes said
/// before. For an object that is not being deleted: whether the diagnosis would not know long after a deletion. What is in
/// use then, waits for something else or is never cleaned up says nothing about the controller.
fn may_be_gone(object: &Object, finalizer: &Finalizer, view: &View<'_>) -> bool {
    let verdict = |object: &Object| {
        let findings = view.findings(object);
        let of_it = findings
            .iter()
            .find(|finding| finding.wait.finalizer.as_ref() == Some(finalizer));
        of_it.map(|finding| finding.wait.verdict)
    };
    if object.deletion().is_some() {
        return matches!(verdict(object), Some(Verdict::Orphaned | Verdict::Rejected));
    }
    let mut deleted = object.clone();
    let Some(Value::Object(metadata)) = deleted.value.get_mut("metadata") else {
        return false;
    };
    metadata.insert(
        "deletionTimestamp".to_owned(),
        Timestamp::UNIX_EPOCH.to_string().into(),
    );
    !matches!(verdict(&deleted), Some(Verdict::Unknown) | None)
}

fn find_by_signs(
    object: &Object,
    finalizer: &Finalizer,
    driver: Option<&str>,
    view: &View<'_>,
) -> FoundHolder {
    let entry = view.entry(object, finalizer);
    match entry {
        Some(entry) => {
            let own_driver = driver::driver_of(object, finalizer, &entry, driver);
            let of_any_driver = driver::is_per_driver(&entry)
                && driver.is_none()
                && driver::driver_in_name(finalizer, &entry).is_none();
            FoundHolder {
                holder: described_with_driver(own_driver.as_ref(), object, finalizer, &entry, view),
                of_others_too: [
                    (of_any_driver, "each CSI driver"),
                    (workload::is_of_each_instance(&entry), "each instance"),
                    (
                        node::node_of_holder(object, finalizer, &entry).is_some(),
                        "each node",
                    ),
                ]
                .into_iter()
                .find_map(|(is_so, each)| is_so.then_some(each)),
                driver: own_driver.map(|driver| driver.name),
                entry: Some(entry),
            }
        }
        None => FoundHolder {
            entry: None,
            driver: None,
            of_others_too: None,
            holder: undescribed(object, finalizer, view),
        },
    }
}
