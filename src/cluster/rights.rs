//! What the user may list in a namespace: asked for, so that a user with rights in three namespaces of three
//! hundred costs three hundred questions and not three hundred times every type.

use std::cell::Cell;

use serde::Deserialize;
use serde_json::{Value, json};

use super::request::{Failure, Server, or_default};
use crate::{
    object::{ObjectRef, ResourceType},
    snapshot::Why,
};

const REVIEWS: &str = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";

/// Where the rules are not the whole truth, so many refusals in a namespace, without one list that is granted, are
/// answer enough: a webhook that knows no rules (GKE has one) would otherwise cost every type in every namespace.
const GUESSES: u32 = 8;

/// The rights of the user within one namespace, as far as the authorizers say.
#[derive(Debug, Default)]
pub(super) struct Rights {
    rules: Vec<Rule>,
    /// Some authorizer could not list its rules, so that more may be allowed than is said.
    incomplete: bool,
    /// Lists that no rule allows and that were tried and refused; none once one of them was granted.
    refused: Cell<Option<u32>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct Rule {
    verbs: Vec<String>,
    api_groups: Vec<String>,
    resources: Vec<String>,
    resource_names: Vec<String>,
}

#[derive(Default, Deserialize)]
struct Review {
    status: Status,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    #[serde(default, deserialize_with = "or_default")]
    resource_rules: Vec<Rule>,
    #[serde(default)]
    incomplete: bool,
}

/// Without an answer nothing is known.
impl Default for Status {
    fn default() -> Self {
        Status {
            resource_rules: Vec::new(),
            incomplete: true,
        }
    }
}

impl Rights {
    /// Asks. If the question itself is refused, everything counts as perhaps allowed.
    pub(super) async fn within(server: &Server, namespace: &str) -> Result<Self, Failure> {
        let question = json!({
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectRulesReview",
            "spec": { "namespace": namespace },
        });
        let status = match server.review(REVIEWS, question.to_string().into_bytes()).await {
            Ok(answer) => serde_json::from_slice(&answer.body).ok(),
            Err(Failure::Status { .. }) => None,
            Err(failure) => return Err(failure),
        };
        let Review { status } = status.unwrap_or_default();
        Ok(Rights {
            rules: status.resource_rules,
            incomplete: status.incomplete,
            refused: Cell::new(Some(0)),
        })
    }

    /// Whether a list of this type is worth asking for.
    pub(super) fn may_list(&self, ty: &ResourceType) -> bool {
        let guess = self.incomplete && self.refused.get().is_none_or(|refused| refused < GUESSES);
        guess || self.has_rule(ty)
    }

    /// What came of asking: rights that no rule names are learned from that.
    pub(super) fn learn(&self, ty: &ResourceType, granted: bool) {
        if !self.has_rule(ty) {
            let refused = self.refused.get().filter(|_| !granted);
            self.refused.set(refused.map(|refused| refused + 1));
        }
    }

    fn has_rule(&self, ty: &ResourceType) -> bool {
        let has = |list: &[String], word: &str| list.iter().any(|entry| entry == "*" || entry == word);
        // A rule with names never allows a list of everything.
        self.rules.iter().any(|rule| {
            has(&rule.verbs, "list")
                && has(&rule.api_groups, &ty.group)
                && has(&rule.resources, &ty.plural)
                && rule.resource_names.is_empty()
        })
    }
}

const ACCESS: &str = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
const MYSELF: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

/// Whether the user, or whom the user acts as, may do `verb` to this object; an authorizer's reason if not. Where the
/// question itself gets no answer, that is the failure.
pub async fn may(
    server: &Server,
    verb: &str,
    object: &ObjectRef,
    subresource: &str,
) -> Result<Result<(), String>, Why> {
    let plural = object.type_name.split('.').next().unwrap_or_default();
    let question = json!({
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": {
            "verb": verb, "group": object.group(), "resource": plural, "subresource": subresource,
            "namespace": object.namespace, "name": object.name,
        }},
    });
    let answer = server
        .review(ACCESS, question.to_string().into_bytes())
        .await
        .map_err(|failure| failure.why())?;
    let answer: Value =
        serde_json::from_slice(&answer.body).map_err(|error| Why::Undecodable(error.to_string()))?;
    let status = &answer["status"];
    Ok(match status["allowed"].as_bool() {
        Some(true) => Ok(()),
        _ => Err(status["reason"].as_str().unwrap_or_default().to_owned()),
    })
}

/// Who the server takes us for; none where it does not say, as before Kubernetes 1.28.
pub async fn myself(server: &Server) -> Option<String> {
    let question = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"});
    let answer = server
        .review(MYSELF, question.to_string().into_bytes())
        .await
        .ok()?;
    let answer: Value = serde_json::from_slice(&answer.body).ok()?;
    let name = answer.pointer("/status/userInfo/username")?.as_str()?;
    Some(name.to_owned())
}
