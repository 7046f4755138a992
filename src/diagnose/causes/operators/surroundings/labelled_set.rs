//! The objects that an object deployed and knows by a label: the members of an applied set
//! (`kubernetes/kubectl:pkg/cmd/apply/applyset.go`), or what an App of kapp-controller made
//! (`carvel-dev/kapp-controller:pkg/apis/kappctrl/v1alpha1/types.go` AssociatedResources).

use serde_json::Value;

use crate::{
    diagnose::{causes::advice::explain_step, limits, model::Finding, view::View},
    object::ResourceType,
    snapshot::facts::{By, Object},
};

const SET: &str = "applyset.kubernetes.io/id";
const MEMBER: &str = "applyset.kubernetes.io/part-of";
const KINDS: &str = "applyset.kubernetes.io/contains-group-kinds";
const NAMESPACES: &str = "applyset.kubernetes.io/additional-namespaces";
const KAPP: &str = "/status/deploy/kapp/associatedResources";

/// What an object deployed: the label of all, their types, and the namespaces besides its own.
struct Set<'a> {
    label: String,
    types: Vec<&'a ResourceType>,
    namespaces: Vec<String>,
}

/// Adds the members that are being deleted and do not go. One that is not being deleted says nothing: the controller may
/// keep it on purpose.
pub(super) fn add_members(object: &Object, finding: &mut Finding, runs: bool, view: &View<'_>) {
    let Some(set) = applied_set(object, view).or_else(|| kapp_app(object, view)) else {
        return;
    };
    if set.types.len() > limits::TYPES_OF_PATTERN || set.namespaces.len() > limits::NAMESPACES_ONE_BY_ONE {
        view.leave_out();
        finding.say("Not all that it deployed was looked at");
    }
    let mut going = Vec::new();
    for ty in set.types.iter().take(limits::TYPES_OF_PATTERN) {
        let places: Vec<&str> = if ty.namespaced {
            let others = set.namespaces.iter().map(String::as_str);
            let all = others.take(limits::NAMESPACES_ONE_BY_ONE);
            all.filter(|place| !place.is_empty()).collect()
        } else {
            vec![""]
        };
        for place in places {
            let by = By::Labels(set.label.clone());
            // Members that could not be listed are a gap of the diagnosis.
            let found = view.search(&ty.group, &ty.plural, place, by).unwrap_or_default();
            going.extend(found.iter().filter(|one| one.deletion().is_some()));
        }
    }
    going.retain(|one| one.uid() != object.uid());
    for one in going.iter().take(limits::BLOCKERS) {
        let says = format!("has its label {}, and is being deleted", set.label);
        super::add_blocker(finding, view.blocker(one, says), runs);
    }
    let steps = going
        .iter()
        .take(limits::STEPS_FOR_EACH)
        .map(|one| explain_step(one, format!("see what holds {} {}", one.kind, one.name())));
    finding.steps.splice(0..0, steps);
}

fn applied_set<'a>(object: &Object, view: &View<'a>) -> Option<Set<'a>> {
    let labels = object.labels();
    let id = labels.get(SET)?;
    // Each is KIND.GROUP or PLURAL.GROUP. Some tools leave a dot behind a kind without a group.
    let kinds = object.annotation(KINDS).split(',').map(str::trim);
    let types = kinds.filter_map(|name| {
        let name = name.trim_end_matches('.');
        let (kind, group) = name.split_once('.').unwrap_or((name, ""));
        view.kind(group, kind).or_else(|| view.resource_type(group, kind))
    });
    Some(Set {
        label: format!("{MEMBER}={id}"),
        types: types.collect(),
        namespaces: with_own(object, object.annotation(NAMESPACES).split(',').map(str::trim)),
    })
}

fn kapp_app<'a>(object: &Object, view: &View<'a>) -> Option<Set<'a>> {
    let all = object.field(KAPP)?;
    let label = all.get("label").and_then(Value::as_str)?;
    let list = |name: &str| all.get(name).and_then(Value::as_array).into_iter().flatten();
    let types = list("groupKinds").filter_map(|one| {
        let field = |name: &str| one.get(name).and_then(Value::as_str).unwrap_or_default();
        view.kind(field("group"), field("kind"))
    });
    Some(Set {
        label: label.to_owned(),
        types: types.collect(),
        namespaces: with_own(object, list("namespaces").filter_map(Value::as_str)),
    })
}

fn with_own<'s>(object: &Object, others: impl Iterator<Item = &'s str>) -> Vec<String> {
    let mut all = vec![object.namespace().to_owned()];
    for other in others.filter(|other| !other.is_empty()) {
        if !all.iter().any(|known| known == other) {
            all.push(other.to_owned());
        }
    }
    all
}
