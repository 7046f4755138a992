//! Sends the request: first as a dry run, then once.

use serde_json::Value;

use super::{After, ReadBack};
use crate::{
    cluster::{Server, Written},
    plan::{Action, Plan, Request},
    snapshot::facts::{Facts, Object},
};

/// The result of a dry run of the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trial {
    /// The request would succeed.
    Fine,
    /// The object has changed since the plan was made.
    Changed(String),
    /// The server would refuse it, in these words.
    Refused(String),
    /// The server did not respond.
    Unanswered(String),
    /// The server would accept it, but something puts the finalizer back.
    PutBack,
    /// The change was made, although this was a dry run.
    Stored {
        /// Whether the server's answer proves that the dry run did it. Otherwise somebody else may have done it.
        proved: bool,
    },
}

/// Sends the request as a dry run. Then it reads the object again, because a server can ignore that it is one.
pub async fn try_out(server: &Server, facts: &Facts, plan: &Plan) -> Trial {
    let (trial, version) = match send_plan(server, plan, true).await {
        Written::Done(metadata) if is_still_on(&metadata, plan) => return Trial::PutBack,
        Written::Done(metadata) => {
            let version = metadata.get("resourceVersion").and_then(Value::as_str);
            (Trial::Fine, version.map(str::to_owned))
        }
        Written::Refused { code, message } if is_conflict(code, &message) => return Trial::Changed(message),
        Written::Refused { message, .. } => return Trial::Refused(message),
        Written::Unanswered(why) => (Trial::Unanswered(why), None),
    };
    match ReadBack::of(server, facts, plan).state().await {
        After::NotKnown(why) if trial == Trial::Fine => Trial::Unanswered(format!(
            "the object could not be read again after it: {}",
            why.message()
        )),
        After::StillOn(_) | After::NotKnown(_) => trial,
        After::Gone | After::Out(_) | After::Another(_) => match version {
            // The answer to a dry run has the version that the object already had
            // (`kubernetes/apiserver:pkg/registry/generic/registry/dryrun.go`).
            Some(version) if version == plan.resource_version && plan.untried.is_none() => {
                Trial::Changed("somebody else changed it at the same time".into())
            }
            version => Trial::Stored {
                proved: version.is_some_and(|version| version != plan.resource_version),
            },
        },
    }
}

/// Sends each of these requests as a dry run: for this object, or for a new one. Stops at an answer that proves that the
/// server stored it.
pub async fn try_steps(server: &Server, object: Option<&Object>, requests: &[Request]) -> Trial {
    for request in requests {
        let is_new = request.makes_an_object();
        let object = object.filter(|_| !is_new);
        let uid = object.map(Object::uid);
        let metadata = match send_request(server, request, uid, true).await {
            Written::Done(metadata) => metadata,
            Written::Refused { code, message } if !is_new && is_conflict(code, &message) => {
                return Trial::Changed(message);
            }
            Written::Refused { message, .. } => return Trial::Refused(message),
            Written::Unanswered(why) => return Trial::Unanswered(why),
        };
        // The answer has the version that the object already had, and an object that is only tried out has none
        // (`kubernetes/apiserver:pkg/registry/generic/registry/dryrun.go`).
        let version = metadata.get("resourceVersion").and_then(Value::as_str);
        let before = object.map_or("", |object| object.text("/metadata/resourceVersion"));
        if version.unwrap_or_default() != before {
            return Trial::Refused("it stores dry runs, and has stored one now".into());
        }
    }
    Trial::Fine
}

/// Sends one step: a request about the object with this uid, or about a new one.
pub async fn send_step(server: &Server, request: &Request, uid: Option<&str>) -> Written {
    send_request(server, request, uid, false).await
}

/// Sends the request.
pub async fn send(server: &Server, plan: &Plan) -> Written {
    send_plan(server, plan, false).await
}

/// Sends an Event as a dry run. The error is in the server's words.
pub async fn try_event(server: &Server, event: &Request) -> Result<(), String> {
    match send_request(server, event, None, true).await {
        Written::Done(_) => Ok(()),
        Written::Refused { message, .. } => Err(message),
        Written::Unanswered(why) => Err(format!("no answer: {why}")),
    }
}

/// Creates an Event. Returns its name, or why there is none.
pub async fn leave_event(server: &Server, event: &Request) -> Result<String, String> {
    match send_request(server, event, None, false).await {
        Written::Done(metadata) => {
            let name = metadata.get("name").and_then(Value::as_str);
            Ok(name.unwrap_or_default().to_owned())
        }
        Written::Refused { message, .. } => Err(message),
        Written::Unanswered(why) => Err(format!("the answer was lost, so it may be there: {why}")),
    }
}

async fn send_plan(server: &Server, plan: &Plan, dry_run: bool) -> Written {
    send_request(server, &plan.request, Some(&plan.target.uid), dry_run).await
}

/// Sends a request about the object with this uid, or about a new one.
async fn send_request(server: &Server, request: &Request, uid: Option<&str>, dry_run: bool) -> Written {
    let uri = request.uri(dry_run);
    server
        .write(request.method, &uri, uid, request.content_type, &request.body)
        .await
}

/// Whether the server's response still contains the finalizer. A mutating webhook can put it back, and such a
/// request succeeds.
fn is_still_on(metadata: &Value, plan: &Plan) -> bool {
    let (Action::Remove, Some(finalizer)) = (plan.action, &plan.finalizer) else {
        return false;
    };
    let all = metadata.get("finalizers").and_then(Value::as_array);
    let has = all
        .into_iter()
        .flatten()
        .filter(|one| one.as_str() == Some(&finalizer.name))
        .count();
    let stay = plan.stays.iter().filter(|one| *one == finalizer).count();
    has > stay
}

/// Whether the server says that the object has changed: it is gone, has another version, or a test in the
/// patch failed. The last case has no message of its own (`evanphx/json-patch` fails as a whole), so the
/// object must be read again.
fn is_conflict(code: u16, message: &str) -> bool {
    matches!(code, 404 | 409)
        || code == 422 && message.contains("the server rejected our request due to an error in our request")
}
