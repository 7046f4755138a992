//! The holder of any finalizer, described or not, for whoever asks for all of them.

use crate::{
    diagnose::{
        holder::{driver, node, search::of_driver, trace::Holder, undescribed, workload},
        view::View,
    },
    knowledge::Entry,
    object::Finalizer,
    snapshot::facts::Object,
};

/// Who must remove a finalizer from an object, and what was seen of that somebody.
#[derive(Clone, Debug)]
pub struct Found {
    /// What the catalogue says of it; none if nothing.
    pub entry: Option<Entry>,
    /// The CSI driver whose holder it is, where each driver has its own.
    pub driver: Option<String>,
    /// Which other holders the same finalizer may have on other objects: nothing says of which they are.
    pub of_others_too: Option<&'static str>,
    /// What was seen.
    pub holder: Holder,
}

/// Looks for the holder, as a rule that knows nothing else of the object does. `driver` is the CSI driver of all objects
/// that this one stands for, if they name one.
pub fn find(object: &Object, finalizer: &Finalizer, driver: Option<&str>, view: &View<'_>) -> Found {
    let reference = object.reference();
    let entry = view
        .knowledge
        .lookup(&finalizer.name, finalizer.list, Some((&reference).into()));
    match entry {
        Some(entry) => {
            let of = driver::of(object, finalizer, &entry, driver);
            let of_any_driver = driver::is_of_each(&entry)
                && driver.is_none()
                && driver::written(finalizer, &entry).is_none();
            Found {
                holder: of_driver(of.as_ref(), object, finalizer, &entry, view),
                of_others_too: [
                    (of_any_driver, "each CSI driver"),
                    (workload::is_of_each_instance(&entry), "each instance"),
                    (node::of(object, finalizer, &entry).is_some(), "each node"),
                ]
                .into_iter()
                .find_map(|(is_so, each)| is_so.then_some(each)),
                driver: of.map(|driver| driver.name),
                entry: Some(entry),
            }
        }
        None => Found {
            entry: None,
            driver: None,
            of_others_too: None,
            holder: undescribed(object, finalizer, view),
        },
    }
}
