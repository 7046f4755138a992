//! What the user may list in a namespace: asked for, so that a user with rights in three namespaces of three
//! hundred costs three hundred questions and not three hundred times every type.

use serde::Deserialize;
use serde_json::json;

use super::request::Server;
use crate::object::ResourceType;

const REVIEWS: &str = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";

/// The rights of the user within one namespace, as far as the authorizers say.
#[derive(Debug, Default)]
pub(super) struct Rights {
    rules: Vec<Rule>,
    /// Some authorizer could not list its rules, so that more may be allowed than is said.
    incomplete: bool,
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

#[derive(Deserialize)]
struct Review {
    status: Status,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    #[serde(default)]
    resource_rules: Vec<Rule>,
    #[serde(default)]
    incomplete: bool,
}

impl Rights {
    /// Asks. If the question itself is refused, everything counts as perhaps allowed.
    pub(super) async fn within(server: &Server, namespace: &str) -> Self {
        let question = json!({
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectRulesReview",
            "spec": { "namespace": namespace },
        });
        let unknown = Rights {
            rules: Vec::new(),
            incomplete: true,
        };
        let Ok(answer) = server.review(REVIEWS, question.to_string().into_bytes()).await else {
            return unknown;
        };
        match serde_json::from_slice::<Review>(&answer.body) {
            Ok(Review { status }) => Rights {
                rules: status.resource_rules,
                incomplete: status.incomplete,
            },
            Err(_) => unknown,
        }
    }

    /// Whether a list of this type is worth asking for.
    pub(super) fn may_list(&self, ty: &ResourceType) -> bool {
        let has = |list: &[String], word: &str| list.iter().any(|entry| entry == "*" || entry == word);
        // A rule with names never allows a list of everything.
        self.incomplete
            || self.rules.iter().any(|rule| {
                has(&rule.verbs, "list")
                    && has(&rule.api_groups, &ty.group)
                    && has(&rule.resources, &ty.plural)
                    && rule.resource_names.is_empty()
            })
    }
}
