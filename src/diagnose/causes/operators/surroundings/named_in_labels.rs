//! The objects that a label or an annotation of an object names: the label `cluster.x-k8s.io/cluster-name`, or the
//! annotation by which operator-sdk leads from an object to the one that it was made for
//! (`operator-framework/operator-lib:handler/enqueue_annotation.go`).

use super::{Named, Troubled};
use crate::{
    diagnose::{
        causes::operators::{missing_reference, referenced_by::is_called_after, trouble::trouble},
        kinds::OwnerReference,
        limits,
        model::Finding,
        view::View,
    },
    object::ResourceType,
    snapshot::facts::Object,
};

const MADE_FOR: &str = "operator-sdk/primary-resource";
const TYPE_OF_IT: &str = "operator-sdk/primary-resource-type";

/// A longer name does not fit into a label. Products cut it, or put a hash in its place.
const WHOLE_NAME: usize = 62;

/// Says which of the named objects is missing, is being deleted or is not ready, and returns them. The object that this one
/// was made for is always told, as an owner is.
pub(super) fn add_named(object: &Object, finding: &mut Finding, view: &View<'_>) -> Vec<Troubled> {
    let mut troubled = Vec::new();
    for (key, ty, namespace, name) in by_labels(object, view) {
        let trouble = match view.object(&ty.group, &ty.plural, &namespace, &name) {
            Ok(Some(found)) => trouble(found, view).map(Some),
            Ok(None) => {
                let has_it = |other: &Object| other.labels().get(&key).is_some_and(|value| *value == name);
                let is_shared = missing_reference::is_shared_with_sibling(object, view, has_it);
                (!is_shared).then_some(None)
            }
            Err(_) => None,
        };
        if let Some(trouble) = trouble {
            let named = (format!("label {key}"), ty, namespace, name);
            troubled.push(Troubled::told(object, finding, &named, trouble.as_deref()));
        }
    }
    if let Some((key, ty, namespace, name)) = made_for(object, view)
        && let Ok(found) = view.object(&ty.group, &ty.plural, &namespace, &name)
    {
        let named = (format!("annotation {key}"), ty, namespace, name);
        match found.map(|found| trouble(found, view)) {
            Some(None) => super::tell_of_named(object, finding, &named, "exists"),
            state => troubled.push(Troubled::told(
                object,
                finding,
                &named,
                state.flatten().as_deref(),
            )),
        }
    }
    troubled
}

/// The objects named by labels whose key is the domain of a product and a kind of it.
fn by_labels<'a>(object: &Object, view: &View<'a>) -> Vec<Named<'a>> {
    let labels = object.labels().into_iter();
    labels
        .filter_map(|(key, name)| {
            let (domain, word) = key.split_once('/')?;
            let ty = type_called(domain, &word.replace(['-', '_'], ""), view)?;
            let namespace = if ty.namespaced { object.namespace() } else { "" };
            let is_name =
                !name.is_empty() && name.len() <= WHOLE_NAME && ty.namespaced != namespace.is_empty();
            let namespace = namespace.to_owned();
            (is_name && !is_own(&name, object)).then_some((key, ty, namespace, name))
        })
        .take(limits::REFERENCES)
        .collect()
}

/// Whether the object or an owner of it has this name. Tekton writes the name of a run into the label for its Pipeline, if the
/// run brings its own (`tektoncd/pipeline:pkg/reconciler/pipelinerun/pipelinespec/pipelinespec.go`).
fn is_own(name: &str, object: &Object) -> bool {
    name == object.name() || OwnerReference::all(object).any(|owner| owner.name() == name)
}

/// The type that a label is called after. `cluster` is rather the kind Cluster than KubevirtCluster, and rather of the
/// domain of the label than of one below it.
fn type_called<'a>(domain: &str, word: &str, view: &View<'a>) -> Option<&'a ResourceType> {
    let fitting = super::types_of_domain(domain, view).filter(|ty| is_called_after(word, &ty.kind));
    fitting.min_by_key(|ty| (ty.kind.len(), ty.group != domain, ty.group.len()))
}

fn made_for<'a>(object: &Object, view: &View<'a>) -> Option<Named<'a>> {
    let (kind, group) = object.annotation(TYPE_OF_IT).split_once('.')?;
    let ty = view.kind(group, kind)?;
    let text = object.annotation(MADE_FOR);
    let (namespace, name) = text.split_once('/').unwrap_or(("", text));
    let is_whole = !name.is_empty() && ty.namespaced != namespace.is_empty();
    is_whole.then(|| (MADE_FOR.to_owned(), ty, namespace.to_owned(), name.to_owned()))
}
