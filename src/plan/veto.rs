//! What would refuse the request, from the words of the dry run, and what to do about it.
//!
//! The words are Kubernetes' own: `kubernetes/apiserver:pkg/admission/plugin/webhook/errors/statuserror.go`,
//! `pkg/admission/plugin/policy/validating/dispatcher.go`, `plugin/resourcequota/controller.go`.

use crate::command::Command;

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

/// Whether a quota refused it.
pub fn exceeds_quota(message: &str) -> bool {
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
    use super::veto;

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
}
