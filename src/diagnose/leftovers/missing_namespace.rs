//! The namespaces that no longer exist, and whose objects were left behind. Why that is so:
//! [`causes::namespaces::missing_namespace`](crate::diagnose::causes::namespaces::missing_namespace).

use std::collections::BTreeMap;

use crate::{
    diagnose::{
        causes::namespaces::missing_namespace::FINALIZED_BY_FORCE, leftovers::Leftover, model::Verdict,
        view::View,
    },
    snapshot::{LeftoverCount, facts::Resource},
};

/// The leftover for a namespace that was not listed although its objects were. The namespace may have been
/// created since the list, or created and deleted. So it is read once more, and then one of the objects.
pub(crate) fn leftover_if_missing(
    name: &str,
    leftovers: &BTreeMap<String, LeftoverCount>,
    view: &View<'_>,
) -> Option<Leftover> {
    let Ok(None) = view.object("", "namespaces", "", name) else {
        return None;
    };
    let first = leftovers.values().find_map(|leftover| leftover.first.first());
    if let Some(first) = first {
        let ty = Resource::named(&first.type_name);
        // If the object cannot be read alone, its place in the list is enough.
        if let Ok(None) = view.object(&ty.group, &ty.plural, name, &first.name) {
            return None;
        }
    }
    Some(leftover(name))
}

/// The leftover that stands for all objects of the namespace.
pub(crate) fn leftover(name: &str) -> Leftover {
    Leftover {
        verdict: Verdict::Stalled,
        since: None,
        says: vec![format!(
            "Namespace {name} {FINALIZED_BY_FORCE} what was in it was left behind"
        )],
    }
}
