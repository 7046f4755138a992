//! Sends the request: first as a dry run, then once.

use crate::{
    cluster::{Server, Written},
    plan::{Action, Plan, Request},
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
}

/// Sends the request as a dry run.
pub async fn try_out(server: &Server, plan: &Plan) -> Trial {
    match send_request(server, &plan.request, true).await {
        Written::Done(metadata) if is_still_on(&metadata, plan) => Trial::PutBack,
        Written::Done(_) => Trial::Fine,
        Written::Refused { code, message } if is_conflict(code, &message) => Trial::Changed(message),
        Written::Refused { message, .. } => Trial::Refused(message),
        Written::Unanswered(why) => Trial::Unanswered(why),
    }
}

/// Sends the request.
pub async fn send(server: &Server, plan: &Plan) -> Written {
    send_request(server, &plan.request, false).await
}

/// Sends an Event as a dry run. The error is in the server's words.
pub async fn try_event(server: &Server, event: &Request) -> Result<(), String> {
    match send_request(server, event, true).await {
        Written::Done(_) => Ok(()),
        Written::Refused { message, .. } => Err(message),
        Written::Unanswered(why) => Err(format!("no answer: {why}")),
    }
}

/// Creates an Event. Returns its name, or why there is none.
pub async fn leave_event(server: &Server, event: &Request) -> Result<String, String> {
    match send_request(server, event, false).await {
        Written::Done(metadata) => Ok(metadata["name"].as_str().unwrap_or_default().to_owned()),
        Written::Refused { message, .. } => Err(message),
        Written::Unanswered(why) => Err(format!("the answer was lost, so it may be there: {why}")),
    }
}

async fn send_request(server: &Server, request: &Request, dry_run: bool) -> Written {
    let uri = request.uri(dry_run);
    server
        .write(request.method, &uri, request.content_type, &request.body)
        .await
}

/// Whether the server's response still contains the finalizer. A mutating webhook can put it back, and such a
/// request succeeds.
fn is_still_on(metadata: &serde_json::Value, plan: &Plan) -> bool {
    let (Action::Remove, Some(finalizer)) = (plan.action, &plan.finalizer) else {
        return false;
    };
    let all = metadata["finalizers"].as_array();
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
