//! A node that is to be deleted, with its pods and the volumes that only it can reach.
//!
//! # Symptom
//!
//! You are about to run `kubectl delete node`, or to remove a machine.
//!
//! ```text
//! $ kubectl finalizers explain node/node-1 --from tests/causes/impact.yaml
//! ```
//!
//! # Why
//!
//! The pods of a missing node are deleted by force after a minute, although no kubelet stopped them. The content of
//! their `emptyDir` volumes is lost with the machine, and that of generic ephemeral volumes with the pods. A volume
//! whose node affinity no other node meets cannot be used any more.
//!
//! # Before you act
//!
//! See which pods are on it, which of them nobody makes again, and which local volumes it has.
//!
//! # If it was a mistake
//!
//! A kubelet that still runs makes the Node again when it starts.
//!
//! # If it was intended
//!
//! Drain it first (`kubectl drain`), then delete it.
//!
//! # Do not
//!
//! Do not delete the Node to make stuck pods go while its machine runs. Two pods may then write to one volume.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | destroyed | pods without a controller, or what is in `emptyDir` and ephemeral volumes |
//! | broken | volumes that only this node can reach |
//! | released | pods that are made again elsewhere |
//! | unknown | pods, volumes or attachments could not be listed |
//!
//! # What it reads
//!
//! Its pods, all volumes and nodes, and the attachments.
//!
//! # Sources
//!
//! - `kubernetes/kubernetes:pkg/controller/podgc/gc_controller.go` gcOrphaned
//! - `kubernetes/component-helpers:storage/volume/helpers.go` CheckNodeAffinity

use crate::{
    command::Command,
    diagnose::{
        causes::storage::volume_attachments,
        impact::{Impact, pod::is_static, references, storage_quantity},
        kinds::{NodeRequirement, PersistentVolume, Pod, Volume},
        model::{Effect, Fate, Safety},
        view::View,
    },
    snapshot::facts::{By, Object},
};

pub(crate) fn deleting_node(node: &Object, impact: &mut Impact, view: &View<'_>) {
    let name = node.name();
    // Queried together, so that they are read together.
    let pods = view.search("", "pods", "", By::Node(name.to_owned()));
    let (volumes, nodes) = (view.list("", "persistentvolumes", ""), view.list("", "nodes", ""));
    let attachments = volume_attachments::to_node(name, view);
    match pods {
        Ok(pods) => add_pods(name, pods, impact),
        Err(missing) => impact.add_unknown("which pods are on it", &missing),
    }
    match volumes.and_then(|volumes| Ok((volumes, nodes?))) {
        Ok((volumes, nodes)) => add_unreachable_volumes(node, volumes, nodes, impact),
        Err(missing) => impact.add_unknown("which volumes only it can reach", &missing),
    }
    match attachments {
        Ok(own) => {
            if !own.is_empty() {
                let says = format!(
                    "attachments of volumes to it: {}; they are deleted once its pods are gone",
                    own.len()
                );
                impact.add_effect(Fate::Released, says, references(own));
            }
        }
        Err(missing) => impact.add_unknown("which volumes are attached to it", &missing),
    }
    if !impact.effects.is_empty() {
        let is_lost = |effect: &Effect| matches!(effect.fate, Fate::Destroyed | Fate::Unknown);
        let (safety, text) = if impact.effects.iter().any(is_lost) {
            (
                Safety::Destructive,
                "DATA LOSS for every pod that is still on it: only then delete the Node; a kubelet that still runs makes it \
                 again when it starts",
            )
        } else {
            (
                Safety::Reversible,
                "then delete the Node; a kubelet that still runs makes it again when it starts",
            )
        };
        impact.add_step(safety, text, Command::of("kubectl delete node {}", [name]));
    }
}

fn add_pods(node: &str, pods: &[Object], impact: &mut Impact) {
    let is_bound_to_it = |pod: &&Object| {
        let of_daemon_set = pod.controller().is_some_and(|(kind, _)| kind == "DaemonSet");
        !of_daemon_set && !is_static(pod) && !Pod(pod).is_finished()
    };
    let moved: Vec<_> = pods.iter().filter(is_bound_to_it).collect();
    if moved.is_empty() {
        return;
    }
    let alone: Vec<_> = moved
        .iter()
        .copied()
        .filter(|pod| pod.controller().is_none())
        .collect();
    let with = |is_one: fn(Volume<'_>) -> bool| -> Vec<&Object> {
        let has = |pod: &&Object| Pod(pod).volumes().any(is_one);
        moved.iter().copied().filter(has).collect()
    };
    #[allow(
        clippy::redundant_closure_for_method_calls,
        reason = "the method is of one lifetime, and the closure of any"
    )]
    let (scratch, ephemeral) = (
        with(|volume| volume.is_empty_dir()),
        with(|volume| volume.is_ephemeral()),
    );
    impact.add_effect(
        Fate::Released,
        format!(
            "pods on it: {}; without a drain they are deleted by force within two minutes, and nobody stops them first",
            moved.len()
        ),
        references(moved.iter().copied()),
    );
    if !alone.is_empty() {
        let says = format!("pods on it that no controller makes again: {}", alone.len());
        impact.add_effect(Fate::Destroyed, says, references(alone.iter().copied()));
    }
    if !scratch.is_empty() {
        let says = format!("what pods on it keep in emptyDir volumes: {} pods", scratch.len());
        impact.add_effect(Fate::Destroyed, says, references(scratch.iter().copied()));
    }
    if !ephemeral.is_empty() {
        let says = format!(
            "what pods on it keep in ephemeral volumes, whose claims are deleted with the pods: {} pods",
            ephemeral.len()
        );
        impact.add_effect(Fate::Destroyed, says, references(ephemeral.iter().copied()));
    }
    let mut command = Command::of("kubectl drain {} --ignore-daemonsets", [node]);
    let lost: Vec<_> = [
        (&alone, "pods that nobody makes again"),
        (&scratch, "what is in emptyDir volumes"),
        (&ephemeral, "what is in ephemeral volumes"),
    ]
    .into_iter()
    .filter(|(pods, _)| !pods.is_empty())
    .map(|(_, what)| what)
    .collect();
    if !scratch.is_empty() {
        command = command.with("--delete-emptydir-data");
    }
    if !alone.is_empty() {
        command = command.with("--force");
    }
    let how = "move its pods away first; they are asked to stop, and budgets are kept";
    if lost.is_empty() {
        impact.add_step(Safety::Reversible, how, command);
    } else {
        let text = format!("DATA LOSS ({}): {how}", lost.join(", "));
        impact.add_step(Safety::Destructive, text, command);
    }
}

fn add_unreachable_volumes(node: &Object, volumes: &[Object], nodes: &[Object], impact: &mut Impact) {
    let only_here = |volume: &&Object| {
        let others = || nodes.iter().filter(|other| other.name() != node.name());
        reaches(node, volume) == Some(true) && others().all(|other| reaches(other, volume) == Some(false))
    };
    let own: Vec<_> = volumes.iter().filter(only_here).collect();
    if own.is_empty() {
        return;
    }
    let size = storage_quantity::of(&own);
    let says = format!(
        "volumes that no other node can reach: {}, of {size} in all; pods that use them cannot be placed any more, and the \
         data is on that machine",
        own.len()
    );
    impact.add_effect(Fate::Broken, says, references(own));
}

/// Whether a volume with a node affinity can be used on this node. None if that is unknown.
fn reaches(node: &Object, volume: &Object) -> Option<bool> {
    let mut terms = PersistentVolume(volume).node_terms().peekable();
    terms.peek()?;
    let labels = node.labels();
    let name = node.name();
    let mut unclear = false;
    for term in terms {
        let by_labels = term
            .of_labels()
            .map(|one| meets(one, |key| labels.get(key).map(String::as_str)));
        let by_fields = term
            .of_fields()
            .map(|one| meets(one, |key| (key == "metadata.name").then_some(name)));
        let all: Vec<_> = by_labels.chain(by_fields).collect();
        // A term without a condition matches nothing.
        if all.is_empty() || all.contains(&Some(false)) {
            continue;
        }
        if all.iter().all(|one| *one == Some(true)) {
            return Some(true);
        }
        unclear = true;
    }
    if unclear { None } else { Some(false) }
}

fn meets<'a>(one: NodeRequirement<'_>, value: impl Fn(&str) -> Option<&'a str>) -> Option<bool> {
    let value = value(one.key()?);
    let named = one.values().any(|named| Some(named) == value);
    match one.operator()? {
        "In" => Some(named),
        "NotIn" => Some(!named),
        "Exists" => Some(value.is_some()),
        "DoesNotExist" => Some(value.is_none()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::diagnose::testing::world::bare as object;

    /// Whether a volume with these terms can be used on the node `a`.
    fn reached(terms: &Value) -> Option<bool> {
        let labels = json!({"kubernetes.io/hostname": "a", "zone": "z"});
        let node = object(
            "",
            "nodes",
            "Node",
            json!({"metadata": {"name": "a", "labels": labels}}),
        );
        let required = json!({"nodeSelectorTerms": terms});
        let volume = object(
            "",
            "persistentvolumes",
            "PersistentVolume",
            json!({"metadata": {"name": "v"}, "spec": {"nodeAffinity": {"required": required}}}),
        );
        reaches(&node, &volume)
    }

    fn term(key: &str, operator: &str, values: &Value) -> Value {
        json!({"matchExpressions": [{"key": key, "operator": operator, "values": values}]})
    }

    #[test]
    fn a_node_matches_any_term_and_all_of_its_conditions() {
        let host = "kubernetes.io/hostname";
        assert_eq!(reached(&json!([term(host, "In", &json!(["a"]))])), Some(true));
        assert_eq!(reached(&json!([term(host, "In", &json!(["b"]))])), Some(false));
        assert_eq!(reached(&json!([term(host, "NotIn", &json!(["a"]))])), Some(false));
        assert_eq!(reached(&json!([term("rack", "Exists", &json!([]))])), Some(false));
        assert_eq!(
            reached(&json!([term("rack", "DoesNotExist", &json!([]))])),
            Some(true)
        );
        let either = json!([term(host, "In", &json!(["b"])), term("zone", "In", &json!(["z"]))]);
        assert_eq!(reached(&either), Some(true));
        let both = json!([{"matchExpressions": [
            {"key": host, "operator": "In", "values": ["a"]}, {"key": "zone", "operator": "In", "values": ["y"]}]}]);
        assert_eq!(reached(&both), Some(false));
        let field = json!([{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]}]);
        assert_eq!(reached(&field), Some(true));
    }

    #[test]
    fn unknown_operators_and_missing_terms_are_unknown() {
        assert_eq!(reached(&json!([])), None, "anywhere, as far as it says");
        assert_eq!(
            reached(&json!([{}])),
            Some(false),
            "a term without a condition meets nothing"
        );
        assert_eq!(reached(&json!([term("zone", "Gt", &json!(["1"]))])), None);
        assert_eq!(reached(&json!([term("zone", "unheard-of", &json!([]))])), None);
        assert_eq!(reached(&json!([{"matchExpressions": [5]}])), None);
    }
}
