//! The list of all causes.
//!
//! `build/causes.rs` writes it: each constant of type [`Cause`] below this folder. So a new cause is its file, and its `mod`
//! line in the root of its folder.

use super::cause::{Cause, Described, ExplainFinalizer, Reads, Stage, Subject, Tells, Turn};
use crate::{
    diagnose::{
        model::{Finding, Page},
        view::View,
    },
    object::Finalizer,
    snapshot::facts::Object,
};

include!(concat!(env!("OUT_DIR"), "/causes.rs"));

/// Who explains a finalizer of this object, and its page. A cause for the type is asked before one for all types, and a cause
/// for the name before one for all names.
pub(crate) fn of_finalizer(object: &Object, finalizer: &Finalizer) -> Option<(ExplainFinalizer, Page)> {
    let asked = CAUSES.iter().filter(|cause| {
        matches!(cause.tells, Tells::Finalizer(_)) && cause.is_about(object, Some(finalizer))
    });
    let cause = asked.max_by_key(|cause| (!cause.types.is_empty(), cause.names_finalizer()))?;
    match cause.tells {
        Tells::Finalizer(explain) => Some((explain, cause.page)),
        _ => None,
    }
}

/// Whether a cause explains this finalizer by its name. Namespaces have their own cause for any name, which does not
/// count here.
pub(crate) fn knows_by_name(object: &Object, finalizer: &Finalizer) -> bool {
    CAUSES.iter().any(|cause| {
        matches!(cause.tells, Tells::Finalizer(_))
            && cause.names_finalizer()
            && cause.is_about(object, Some(finalizer))
    })
}

/// Why the object is still there, apart from its finalizers. A cause for its type is asked before one for all types.
pub(crate) fn of_object(object: &Object, view: &View<'_>) -> Option<Finding> {
    let about = CAUSES.iter().filter(|cause| cause.is_about(object, None));
    let (of_all_types, of_its_type): (Vec<_>, Vec<_>) = about
        .filter_map(|cause| match cause.tells {
            Tells::Itself(explain) => Some((cause, explain)),
            _ => None,
        })
        .partition(|(cause, _)| cause.types.is_empty());
    let asked = if of_its_type.is_empty() {
        of_all_types
    } else {
        of_its_type
    };
    asked.into_iter().find_map(|(_, explain)| explain(object, view))
}

/// Adds what the causes of this stage have to say.
pub(crate) fn add_more(stage: Stage, subject: &Subject<'_>, findings: &mut [Finding], view: &View<'_>) {
    for cause in CAUSES.iter().filter(|cause| cause.is_about(subject.object, None)) {
        match cause.tells {
            Tells::More(its, add) if its == stage => add(subject, findings, view),
            _ => {}
        }
    }
}

/// Adds what the causes of this turn know about a finalizer that the catalogue describes.
pub(crate) fn add_described(turn: Turn, described: &Described<'_>, finding: &mut Finding, view: &View<'_>) {
    let asked = CAUSES
        .iter()
        .filter(|cause| cause.is_about(described.object, Some(described.finalizer)));
    for cause in asked {
        match cause.tells {
            Tells::Described(its, add) if its == turn => add(described, finding, view),
            _ => {}
        }
    }
}

/// Whether a cause needs more than the metadata of objects of this type (`plural.group`) to say anything.
pub(crate) fn reads_whole(type_name: &str) -> bool {
    CAUSES
        .iter()
        .any(|cause| cause.reads == Reads::Whole && cause.explains_type(type_name))
}
