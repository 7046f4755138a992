//! What would refuse the request, from the words of the dry run, and what to do about it.
//!
//! The words are Kubernetes' own: `kubernetes/apiserver:pkg/admission/plugin/webhook/errors/statuserror.go`,
//! `pkg/admission/plugin/policy/validating/dispatcher.go`, `plugin/resourcequota/controller.go`.

use std::collections::BTreeMap;

use crate::{command::Command, diagnose::kinds::quantity};

/// An amount of each resource.
type Amounts<'a> = BTreeMap<&'a str, f64>;

/// What must be true before the API server accepts a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// What must be true.
    pub says: String,
    /// What shows who can make it true, if it is not the object itself.
    pub look: Option<Command>,
}

/// What must be true for the API server to accept a request that it refused with these words.
pub fn veto(message: &str) -> Need {
    let (says, look) = parts(message);
    Need {
        says,
        look: look.map(|types| Command::of("kubectl get {}", [types])),
    }
}

/// Whether a quota refuses a new object only because it still counts the old one, which is as large. Once the old one is
/// gone, the quota counts as much as now, and that must fit. The quota can have been lowered meanwhile.
pub fn waits_for_the_old_one(message: &str) -> bool {
    let Some((requested, used, limited)) = amounts(message) else {
        return false;
    };
    let fits = |amounts: &Amounts<'_>, resource, limit| {
        let amount = amounts.get(resource).copied();
        amount.is_some_and(|amount| amount <= limit)
    };
    let mut limited = limited.iter();
    limited.all(|(resource, limit)| fits(&used, resource, *limit) && fits(&requested, resource, *limit))
}

/// What the object asks for, what the quota counts, and what it allows, of each resource that is exceeded.
fn amounts(message: &str) -> Option<(Amounts<'_>, Amounts<'_>, Amounts<'_>)> {
    let (_, quota) = message.split_once("exceeded quota: ")?;
    let (_, rest) = quota.split_once(", requested: ")?;
    let (requested, rest) = rest.split_once(", used: ")?;
    let (used, limited) = rest.split_once(", limited: ")?;
    Some((resources(requested)?, resources(used)?, resources(limited)?))
}

fn resources(text: &str) -> Option<Amounts<'_>> {
    let pairs = text.split(',');
    let read = pairs.map(|pair| {
        let (resource, quantity) = pair.split_once('=')?;
        Some((resource.trim(), quantity::number(quantity.trim())?))
    });
    read.collect()
}

fn exceeds_quota(message: &str) -> bool {
    message.contains("exceeded quota")
}

fn parts(message: &str) -> (String, Option<&'static str>) {
    const WEBHOOKS: &str = "validatingwebhookconfigurations,mutatingwebhookconfigurations";
    let after = |start: &str, end: char| {
        let (_, rest) = message.split_once(start)?;
        rest.split_once(end).map(|(name, _)| name)
    };
    if let Some(name) = after("failed calling webhook \"", '"') {
        return (
            format!(
                "webhook {name} can be called again; or its product is gone and its configuration is deleted"
            ),
            Some(WEBHOOKS),
        );
    }
    if let Some(name) = after("admission webhook \"", '"') {
        let says = if message.contains("does not support dry run") {
            format!("webhook {name} supports dry runs (sideEffects None or NoneOnDryRun)")
        } else {
            format!("webhook {name} agrees: whoever runs it excepts this object, or does what it asks for")
        };
        return (says, Some(WEBHOOKS));
    }
    if let Some(name) = after("ValidatingAdmissionPolicy '", '\'') {
        let says =
            format!("policy {name} is met, or its owner excepts this object or its namespace in the binding");
        return (
            says,
            Some("validatingadmissionpolicies,validatingadmissionpolicybindings"),
        );
    }
    let (says, look) = if message.contains("conversion webhook for ") {
        ("the conversion webhook of its type can be called again", None)
    } else if exceeds_quota(message) {
        ("the quota that it names has room", None)
    } else if message.contains("is forbidden: ") {
        (
            "somebody who may do it does, or the rule that forbids it is changed",
            None,
        )
    } else if message.contains("field is immutable") {
        (
            "a mutating webhook or policy no longer changes that field on the way",
            Some("mutatingwebhookconfigurations,mutatingadmissionpolicies"),
        )
    } else if message.contains("is invalid") {
        (
            "the object is valid again: edit the fields that the server names, also while it is being deleted",
            None,
        )
    } else {
        ("the server accepts the request", None)
    };
    (says.to_owned(), look)
}

#[cfg(test)]
mod tests {
    use super::{veto, waits_for_the_old_one};

    #[test]
    fn names_what_refuses_from_the_words_of_the_server() {
        let cases = [
            (
                "Internal error occurred: failed calling webhook \"a.example.test\": failed to call webhook: Post \"https://x\"",
                "webhook a.example.test can be called again",
            ),
            (
                "admission webhook \"a.example.test\" denied the request: no",
                "webhook a.example.test agrees",
            ),
            (
                "admission webhook \"a.example.test\" does not support dry run",
                "webhook a.example.test supports dry runs",
            ),
            (
                "configmaps \"c\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no",
                "policy p is met",
            ),
            (
                "services \"s\" is forbidden: exceeded quota: q, requested: services=1, used: services=1, limited: services=1",
                "the quota that it names has room",
            ),
            (
                "ConfigMap \"c\" is invalid: data: Forbidden: field is immutable when `immutable` is set",
                "a mutating webhook or policy no longer changes",
            ),
            (
                "Gizmo.a.test \"g\" is invalid: spec.size: Required value",
                "the object is valid again",
            ),
        ];
        for (message, told) in cases {
            let says = veto(message).says;
            assert!(says.contains(told), "{message}: {says}");
        }
    }

    #[test]
    fn a_quota_that_has_room_once_the_old_claim_is_gone_is_no_obstacle() {
        const CLASS: &str = "gold.storageclass.storage.k8s.io/requests.storage";
        for (requested, used, limited, expected) in [
            (
                "persistentvolumeclaims=1",
                "persistentvolumeclaims=1",
                "persistentvolumeclaims=1",
                true,
            ),
            (
                "persistentvolumeclaims=1",
                "persistentvolumeclaims=2",
                "persistentvolumeclaims=1",
                false,
            ),
            (
                "requests.storage=1Gi",
                "requests.storage=1Gi",
                "requests.storage=1024Mi",
                true,
            ),
            (
                "requests.storage=1Gi",
                "requests.storage=1Gi",
                "requests.storage=512Mi",
                false,
            ),
            // The quota has not counted the old claim yet.
            (
                "requests.storage=1Gi",
                "requests.storage=0",
                "requests.storage=512Mi",
                false,
            ),
            (
                "persistentvolumeclaims=1,requests.storage=1Gi",
                "persistentvolumeclaims=1,requests.storage=2Gi",
                "persistentvolumeclaims=1,requests.storage=1Gi",
                false,
            ),
            (
                "requests.storage=1Gi",
                "requests.storage=1Gi",
                "requests.storage=some",
                false,
            ),
        ] {
            let message = format!(
                "persistentvolumeclaims \"data\" is forbidden: exceeded quota: q, requested: {requested}, used: {used}, \
                 limited: {limited}"
            );
            assert_eq!(waits_for_the_old_one(&message), expected, "{message}");
            let of_class = message.replace("requests.storage", CLASS);
            assert_eq!(waits_for_the_old_one(&of_class), expected, "{of_class}");
        }
        assert!(!waits_for_the_old_one("exceeded quota: q"));
    }
}
