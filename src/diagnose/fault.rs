//! What is wrong with an object that is not being deleted, and which deletions wait for it.
//!
//! A scan names root causes. An explanation of one begins with this. **Recognises** an `APIService` that is not available, a
//! webhook that cannot be called, and a node whose kubelet is silent. **Wants** what the causes want that name them as
//! blockers, and the namespaces or pods that may wait. **Concludes** with the state that a scan says, and with the steps of
//! those causes.

use crate::{
    diagnose::{
        admission::webhooks,
        causes::{
            api_machinery::update_rejected::unreachable_webhook::add_unreachable_webhooks,
            namespaces::discovery_failure::add_unavailable_group,
            pods::{kubelet, kubelet_confirmation},
        },
        kinds::ApiService,
        model::{CauseState, Fault, Finding, Held, Said, Verdict},
        view::{Missing, View},
    },
    snapshot::facts::{By, Object},
};

/// A fault, and the finding with its steps and its evidence.
pub(super) type Found = (Fault, Finding);

type Rule = fn(&Object, &View<'_>) -> Option<Found>;

/// The rule for each type, by group and plural.
const RULES: [(&str, &str, Rule); 4] = [
    ("apiregistration.k8s.io", "apiservices", unavailable_api),
    ("", "nodes", silent_node),
    (
        "admissionregistration.k8s.io",
        "validatingwebhookconfigurations",
        unreachable_webhook,
    ),
    (
        "admissionregistration.k8s.io",
        "mutatingwebhookconfigurations",
        unreachable_webhook,
    ),
];

/// Whether objects of this type (`plural.group`) are explained by their fault.
pub fn has_faults(type_name: &str) -> bool {
    let (plural, group) = type_name.split_once('.').unwrap_or((type_name, ""));
    RULES.iter().any(|rule| (rule.0, rule.1) == (group, plural))
}

/// The fault of an object that is not being deleted.
pub(super) fn fault_of(object: &Object, view: &View<'_>) -> Option<Found> {
    let rule = RULES.iter().find(|(group, plural, _)| object.is(group, plural));
    let (_, _, fault) = rule.filter(|_| object.deletion().is_none())?;
    fault(object, view)
}

fn unavailable_api(object: &Object, view: &View<'_>) -> Option<Found> {
    let (status, reason, message) = object.condition("Available")?;
    if status == "True" {
        return None;
    }
    let mut finding = Finding::new(None, Verdict::Waiting, Said::default());
    let (group, version) = (ApiService(object).group(), ApiService(object).version());
    add_unavailable_group(&mut finding, group, version, &format!("{reason}: {message}"));
    let namespaces = held("namespace", view.list("", "namespaces", ""));
    Some(told(finding, namespaces))
}

fn silent_node(node: &Object, view: &View<'_>) -> Option<Found> {
    let state = kubelet_confirmation::silence(node, view)?;
    let mut finding = Finding::new(None, Verdict::Waiting, Said::default());
    finding.tell_of(kubelet_confirmation::PAGE);
    finding.wait.on.push(kubelet::silent_node(node, &state));
    finding.steps.extend(kubelet::steps_for_silent_node(node.name()));
    let pods = view.search("", "pods", "", By::Node(node.name().to_owned()));
    Some(told(finding, held("pod", pods)))
}

fn unreachable_webhook(configuration: &Object, view: &View<'_>) -> Option<Found> {
    let dead = webhooks::unreachable(configuration, view);
    let mut finding = Finding::new(None, Verdict::Rejected, Said::default());
    add_unreachable_webhooks(&mut finding, &dead, true);
    (!dead.is_empty()).then(|| told(finding, Ok(None)))
}

/// Those in deletion, as far as they could be read.
fn held(what: &'static str, read: Result<&[Object], Missing>) -> Result<Option<Held>, String> {
    match read {
        Ok(all) => {
            let going = all.iter().filter(|one| one.deletion().is_some());
            Ok(Some(Held {
                what,
                objects: going.map(Object::reference).collect(),
            }))
        }
        Err(missing) => Err(format!(
            "which {what}s wait for it is not known: {}",
            missing.in_words()
        )),
    }
}

fn told(finding: Finding, held: Result<Option<Held>, String>) -> Found {
    let blocker = finding.wait.on.first();
    let mut says: Vec<_> = blocker
        .map(|blocker| blocker.says.to_string())
        .into_iter()
        .collect();
    let state = blocker
        .and_then(|blocker| blocker.state)
        .unwrap_or(CauseState::Down);
    let holds = held.unwrap_or_else(|why| {
        says.push(why);
        None
    });
    let fault = Fault {
        state,
        says,
        holds,
        page: finding.wait.page,
    };
    (fault, finding)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::diagnose::testing::world::{World, bare as object};

    fn apiservice(available: &str) -> Object {
        let conditions = json!([{"type": "Available", "status": available, "reason": "MissingEndpoints", "message": "no endpoints"}]);
        object(
            "apiregistration.k8s.io",
            "apiservices",
            "APIService",
            json!({"metadata": {"name": "v1.x.test"}, "spec": {"group": "x.test", "version": "v1"},
                "status": {"conditions": conditions}}),
        )
    }

    fn named(plural: &str, kind: &str, name: &str, deleted: bool, spec: &Value) -> Object {
        let mut metadata = json!({"name": name});
        if kind == "Pod" {
            metadata["namespace"] = json!("n");
        }
        if deleted {
            metadata["deletionTimestamp"] = json!("2026-01-01T11:00:00Z");
        }
        object("", plural, kind, json!({"metadata": metadata, "spec": spec}))
    }

    fn names(held: Option<&Held>) -> Vec<String> {
        let objects = held.into_iter().flat_map(|held| &held.objects);
        objects.map(crate::object::ObjectRef::pasteable).collect()
    }

    #[test]
    fn an_api_that_does_not_answer_holds_the_namespaces_in_deletion() {
        let namespaces = || {
            [("pay", true), ("shop", false)]
                .map(|(name, deleted)| named("namespaces", "Namespace", name, deleted, &json!({})))
        };
        let world = World::of([apiservice("False")].into_iter().chain(namespaces()));
        let diagnosis = world.explain_first();
        let fault = diagnosis.fault.as_ref().expect("a fault");
        assert_eq!(fault.state, CauseState::Down);
        assert!(
            fault.says[0].contains("MissingEndpoints: no endpoints"),
            "{fault:?}"
        );
        assert_eq!(names(fault.holds.as_ref()), ["ns/pay"]);
        assert!(!diagnosis.steps.is_empty());
        let works = World::of([apiservice("True")].into_iter().chain(namespaces()));
        assert_eq!(works.explain_first().fault, None);
    }

    #[test]
    fn a_silent_node_holds_the_pods_on_it_that_are_in_deletion() {
        let node = |ready: &str| {
            let mut node = named("nodes", "Node", "a", false, &json!({}));
            node.value["status"] = json!({"conditions": [{"type": "Ready", "status": ready}]});
            node
        };
        let pods = || {
            [("one", true, "a"), ("two", false, "a"), ("three", true, "b")]
                .map(|(name, deleted, on)| named("pods", "Pod", name, deleted, &json!({"nodeName": on})))
        };
        let diagnosis = World::of([node("Unknown")].into_iter().chain(pods())).explain_first();
        let fault = diagnosis.fault.expect("a fault");
        assert_eq!(fault.state, CauseState::NotReady);
        assert_eq!(names(fault.holds.as_ref()), ["pod/one -n n"]);
        let works = World::of([node("True")].into_iter().chain(pods()));
        assert_eq!(works.explain_first().fault, None);
    }

    #[test]
    fn what_could_not_be_listed_is_said() {
        let diagnosis = World::of([apiservice("False")])
            .hiding("namespaces")
            .explain_first();
        let fault = diagnosis.fault.expect("a fault");
        assert_eq!(fault.holds, None);
        assert!(fault.says[1].contains("is not known"), "{fault:?}");
    }

    #[test]
    fn a_webhook_whose_service_is_gone_is_down() {
        let configuration = |policy: &str| {
            let service = json!({"namespace": "n", "name": "gone", "port": 443});
            object(
                "admissionregistration.k8s.io",
                "validatingwebhookconfigurations",
                "ValidatingWebhookConfiguration",
                json!({"metadata": {"name": "hooks"}, "webhooks": [
                    {"name": "a.x.test", "failurePolicy": policy, "clientConfig": {"service": service}}]}),
            )
        };
        let fault = World::of([configuration("Fail")])
            .explain_first()
            .fault
            .expect("a fault");
        assert_eq!(fault.state, CauseState::Down);
        assert!(fault.says[0].contains("a.x.test cannot be called"), "{fault:?}");
        assert_eq!(World::of([configuration("Ignore")]).explain_first().fault, None);
    }
}
