//! The request: first as a dry run, then once.

use crate::{
    cluster::{Server, Written},
    plan::{Action, Plan},
};

/// What a dry run of the very request says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trial {
    /// It would be done.
    Fine,
    /// The object is not as it was when the plan was made.
    Changed(String),
    /// It would be refused, in the server's words.
    Refused(String),
    /// Nobody knows.
    Unanswered(String),
    /// It would be accepted, and somebody on the way puts the finalizer back.
    PutBack,
}

/// Asks the server to go all the way of the request and store nothing.
pub async fn try_out(server: &Server, plan: &Plan) -> Trial {
    let request = &plan.request;
    let uri = request.uri(true);
    match server
        .write(request.method, &uri, request.content_type, &request.body)
        .await
    {
        Written::Done(metadata) if is_still_on(&metadata, plan) => Trial::PutBack,
        Written::Done(_) => Trial::Fine,
        Written::Refused { code, message } if is_conflict(code, &message) => Trial::Changed(message),
        Written::Refused { message, .. } => Trial::Refused(message),
        Written::Unanswered(why) => Trial::Unanswered(why),
    }
}

/// Sends the request.
pub async fn send(server: &Server, plan: &Plan) -> Written {
    let request = &plan.request;
    server
        .write(
            request.method,
            &request.uri(false),
            request.content_type,
            &request.body,
        )
        .await
}

/// Whether the object still has what was to be taken out, by the server's answer: a mutating webhook may have put it
/// back, and such a request succeeds.
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

/// Whether the server says that the object is not what it was: gone, of another version, or a test of the patch did not
/// hold. The last has no words of its own (`evanphx/json-patch` fails as a whole), so the object must be looked at.
fn is_conflict(code: u16, message: &str) -> bool {
    matches!(code, 404 | 409)
        || code == 422 && message.contains("the server rejected our request due to an error in our request")
}
