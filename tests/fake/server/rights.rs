//! A user who may list in a few namespaces only: the 403 responses, and the access reviews.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::fault::Fault;
use super::reply::Reply;
use super::request::Recorded;
use super::route::{Route, route};

const REVIEWS: &str = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";

/// The namespaces where everything may be listed.
pub struct Rights(BTreeSet<String>);

impl Rights {
    pub fn only_in(namespaces: &[&str]) -> Self {
        Rights(namespaces.iter().map(|&name| name.to_owned()).collect())
    }

    /// The response to a review, or the rejection of a list; `None` for requests that these rights do not
    /// cover.
    pub fn answer(&self, request: &Recorded) -> Option<Reply> {
        if request.method == "POST" && request.path() == REVIEWS {
            return Some(self.review(&request.body));
        }
        let Route::Collection(target) = route(request.path()) else {
            return None;
        };
        let allowed = match target.namespace {
            Some(namespace) => self.0.contains(namespace),
            None => target.plural == "namespaces",
        };
        let Fault::Status(refusal) = Fault::forbidden(target.plural) else {
            return None;
        };
        (!allowed).then(|| refusal.reply())
    }

    fn review(&self, question: &[u8]) -> Reply {
        let question: Value = serde_json::from_slice(question).unwrap_or_default();
        let here = question["spec"]["namespace"]
            .as_str()
            .is_some_and(|name| self.0.contains(name));
        let rules = if here {
            json!([{ "verbs": ["get", "list"], "apiGroups": ["*"], "resources": ["*"] }])
        } else {
            json!([{ "verbs": ["create"], "apiGroups": ["authorization.k8s.io"], "resources": ["selfsubjectrulesreviews"] }])
        };
        let status = json!({ "resourceRules": rules, "nonResourceRules": [], "incomplete": false });
        Reply::json(
            201,
            &json!({ "kind": "SelfSubjectRulesReview", "apiVersion": "authorization.k8s.io/v1", "status": status }),
        )
    }
}
