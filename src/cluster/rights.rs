//! Asks which types the user may list in a namespace. A user with rights in three of three hundred namespaces then
//! costs three hundred reviews, and not three hundred times every type.

use std::cell::Cell;

use k8s_openapi::api::{
    authentication::v1::SelfSubjectReview,
    authorization::v1::{
        ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec, SelfSubjectRulesReview,
        SelfSubjectRulesReviewSpec,
    },
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::request::{Failure, Server, or_default};
use crate::{
    object::{ObjectRef, ResourceType},
    snapshot::Why,
};

const REVIEWS: &str = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";

/// How many refusals to accept in a namespace before giving up, if its rules are incomplete and no list was granted. A
/// webhook authorizer without rules (GKE has one) would otherwise cost a request for every type in every namespace.
const MAX_REFUSALS: u32 = 8;

/// The rights of the user in one namespace, as far as the authorizers list them.
#[derive(Debug, Default)]
pub(super) struct Rights {
    rules: Vec<Rule>,
    /// Whether an authorizer could not list its rules, so that more may be allowed.
    incomplete: bool,
    /// How many lists without a rule were refused; none once one of them was granted.
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

/// Without an answer, anything may be allowed.
impl Default for Status {
    fn default() -> Self {
        Status {
            resource_rules: Vec::new(),
            incomplete: true,
        }
    }
}

impl Rights {
    /// Reads the rights. If the review itself is refused, anything may be allowed.
    pub(super) async fn within(server: &Server, namespace: &str) -> Result<Self, Failure> {
        let question = SelfSubjectRulesReview {
            spec: SelfSubjectRulesReviewSpec {
                namespace: Some(namespace.to_owned()),
            },
            ..SelfSubjectRulesReview::default()
        };
        let status = match server.review(REVIEWS, body(&question)).await {
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

    /// Whether to request a list of this type.
    pub(super) fn may_list(&self, ty: &ResourceType) -> bool {
        let guess = self.incomplete && self.refused.get().is_none_or(|refused| refused < MAX_REFUSALS);
        guess || self.has_rule(ty)
    }

    /// Records whether a list was granted. It reveals rights that no rule names.
    pub(super) fn learn(&self, ty: &ResourceType, granted: bool) {
        if !self.has_rule(ty) {
            let refused = self.refused.get().filter(|_| !granted);
            self.refused.set(refused.map(|refused| refused + 1));
        }
    }

    fn has_rule(&self, ty: &ResourceType) -> bool {
        let has = |list: &[String], word: &str| list.iter().any(|entry| entry == "*" || entry == word);
        // A rule with resource names never allows a whole list.
        self.rules.iter().any(|rule| {
            has(&rule.verbs, "list")
                && has(&rule.api_groups, &ty.group)
                && has(&rule.resources, &ty.plural)
                && rule.resource_names.is_empty()
        })
    }
}

/// A question as it is sent. The types of Kubernetes have only keys that JSON can have.
fn body(question: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(question).unwrap_or_default()
}

const ACCESS: &str = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
const MYSELF: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

/// Whether the user, or the impersonated user, may do `verb` to this object; otherwise the authorizer's reason. Fails
/// if the review itself gets no answer.
pub async fn may(
    server: &Server,
    verb: &str,
    object: &ObjectRef,
    subresource: &str,
) -> Result<Result<(), String>, Why> {
    let plural = object.type_name.split('.').next().unwrap_or_default();
    let question = SelfSubjectAccessReview {
        spec: SelfSubjectAccessReviewSpec {
            resource_attributes: Some(ResourceAttributes {
                verb: Some(verb.to_owned()),
                group: Some(object.group().to_owned()),
                resource: Some(plural.to_owned()),
                subresource: Some(subresource.to_owned()),
                namespace: object.namespace.clone(),
                name: Some(object.name.clone()),
                ..ResourceAttributes::default()
            }),
            ..SelfSubjectAccessReviewSpec::default()
        },
        ..SelfSubjectAccessReview::default()
    };
    let answer = server
        .review(ACCESS, body(&question))
        .await
        .map_err(|failure| failure.why())?;
    let answer: Value =
        serde_json::from_slice(&answer.body).map_err(|error| Why::Undecodable(error.to_string()))?;
    let allowed = answer.pointer("/status/allowed").and_then(Value::as_bool);
    let reason = answer.pointer("/status/reason").and_then(Value::as_str);
    Ok(match allowed {
        Some(true) => Ok(()),
        _ => Err(reason.unwrap_or_default().to_owned()),
    })
}

/// The user name that the server sees; none if it does not say, as before Kubernetes 1.28.
pub async fn myself(server: &Server) -> Option<String> {
    let question = SelfSubjectReview::default();
    let answer = server.review(MYSELF, body(&question)).await.ok()?;
    let answer: Value = serde_json::from_slice(&answer.body).ok()?;
    let name = answer.pointer("/status/userInfo/username")?.as_str()?;
    Some(name.to_owned())
}
