//! What would refuse the request, from the words of the dry run, and what to do about it.
//!
//! The words are Kubernetes' own: `kubernetes/apiserver:pkg/admission/plugin/webhook/errors/statuserror.go`,
//! `pkg/admission/plugin/policy/validating/dispatcher.go`, `plugin/resourcequota/controller.go`.

/// What must be true for the API server to accept a request that it refused with these words.
pub fn veto(message: &str) -> String {
    let after = |start: &str, end: char| {
        let (_, rest) = message.split_once(start)?;
        rest.split_once(end).map(|(name, _)| name)
    };
    if let Some(name) = after("failed calling webhook \"", '"') {
        return format!(
            "webhook {name} can be called again, or its configuration is deleted because its product is gone; \
             kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations shows whose it is"
        );
    }
    if let Some(name) = after("admission webhook \"", '"') {
        return if message.contains("does not support dry run") {
            format!(
                "webhook {name} supports dry runs (sideEffects None or NoneOnDryRun), so that its answer can be known"
            )
        } else {
            format!("webhook {name} agrees: whoever runs it excepts this object, or does what it asks for")
        };
    }
    if let Some(name) = after("ValidatingAdmissionPolicy '", '\'') {
        return format!(
            "policy {name} is met, or its owner excepts this object or its namespace in the binding"
        );
    }
    if message.contains("conversion webhook for ") {
        return "the conversion webhook of its type can be called again".into();
    }
    if message.contains("exceeded quota") {
        return "the quota that it names has room".into();
    }
    if message.contains("is forbidden: ") {
        return "whoever may do it does, or the rule that forbids it is changed".into();
    }
    if message.contains("field is immutable") {
        return "nobody changes that field on the way: the request touches nothing but what is shown, so a mutating webhook or \
                policy does; kubectl get mutatingwebhookconfigurations,mutatingadmissionpolicies shows which there are"
            .into();
    }
    if message.contains("is invalid") {
        return "the object is valid again: the fields that the server names can be edited, also while it is being \
                deleted"
            .into();
    }
    "the server accepts the request".into()
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
                "a mutating webhook or policy does",
            ),
            (
                "Gizmo.a.test \"g\" is invalid: spec.size: Required value",
                "the object is valid again",
            ),
        ];
        for (message, told) in cases {
            let says = veto(message);
            assert!(says.contains(told), "{message}: {says}");
        }
    }
}
