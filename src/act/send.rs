//! Sends the request: first as a dry run, then once.

use serde_json::Value;

use super::{After, ReadBack};
use crate::{
    cluster::{self, Server, Written},
    object::ObjectRef,
    plan::{Action, Plan, Request},
    snapshot::{
        Why,
        facts::{Answer, Facts, Object, Query},
    },
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
        /// The object that the dry run made, under a name that only a trial has.
        made: Option<ObjectRef>,
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
        After::NotKnown(why) => unread(trial, &why),
        After::StillOn(_) => trial,
        After::Gone | After::Out(_) | After::Another(_) => match version {
            // The answer to a dry run has the version that the object already had
            // (`kubernetes/apiserver:pkg/registry/generic/registry/dryrun.go`).
            Some(version) if version == plan.resource_version && plan.untried.is_none() => {
                Trial::Changed("somebody else changed it at the same time".into())
            }
            version => Trial::Stored {
                proved: version.is_some_and(|version| version != plan.resource_version),
                made: None,
            },
        },
    }
}

/// Sends each of these requests as a dry run: for this object, or for a new one. After each, the object is read again, and
/// nothing is sent after one that was stored.
pub async fn try_steps(
    server: &Server,
    facts: &Facts,
    object: Option<&Object>,
    requests: &[Request],
) -> Trial {
    for request in requests {
        let trial = match object.filter(|_| !request.makes_an_object()) {
            Some(object) => try_step(server, facts, object, request).await,
            None => try_to_make(server, facts, request).await,
        };
        if trial != Trial::Fine {
            return trial;
        }
    }
    Trial::Fine
}

/// Sends a request about an object as a dry run, and reads the object again.
async fn try_step(server: &Server, facts: &Facts, object: &Object, request: &Request) -> Trial {
    let before = object.resource_version();
    let (trial, is_other) = match send_request(server, request, Some(object.uid()), true).await {
        // The answer to a dry run has the version that the object already had
        // (`kubernetes/apiserver:pkg/registry/generic/registry/dryrun.go`).
        Written::Done(metadata) => (
            Trial::Fine,
            metadata.get("resourceVersion").and_then(Value::as_str) != Some(before),
        ),
        Written::Refused { code, message } if is_conflict(code, &message) => return Trial::Changed(message),
        Written::Refused { message, .. } => return Trial::Refused(message),
        Written::Unanswered(why) => (Trial::Unanswered(why), false),
    };
    let now = match read(server, facts, &object.reference()).await {
        Ok(now) => now.filter(|now| now.uid() == object.uid()),
        Err(why) => return unread(trial, &why),
    };
    let is_as_before = now.as_ref().is_some_and(|now| now.resource_version() == before);
    match trial {
        trial if is_as_before && !is_other => trial,
        _ if is_as_before => {
            Trial::Unanswered("the answer is not that to a dry run, and nothing was stored".into())
        }
        _ if is_other || request.is_done_in(now.as_ref()) => Trial::Stored {
            proved: is_other,
            made: None,
        },
        _ => Trial::Changed("somebody else changed it at the same time".into()),
    }
}

/// Sends a request for a new object as a dry run, and reads whether the object exists now. Nobody else makes one of its
/// name.
async fn try_to_make(server: &Server, facts: &Facts, request: &Request) -> Trial {
    let (trial, name) = match send_request(server, request, None, true).await {
        Written::Done(metadata) => {
            let name = metadata.get("name").and_then(Value::as_str);
            (Trial::Fine, name.map(str::to_owned))
        }
        Written::Refused { message, .. } => return Trial::Refused(message),
        Written::Unanswered(why) => (Trial::Unanswered(why), None),
    };
    let Some(made) = request.made(name.as_deref()) else {
        return trial;
    };
    match read(server, facts, &made).await {
        Ok(None) => trial,
        Ok(Some(found)) => Trial::Stored {
            proved: true,
            made: Some(found.reference()),
        },
        Err(why) => unread(trial, &why),
    }
}

/// What is known of a trial after which the object could not be read.
fn unread(trial: Trial, why: &Why) -> Trial {
    match trial {
        Trial::Fine => Trial::Unanswered(format!(
            "the object could not be read again after it: {}",
            why.message()
        )),
        trial => trial,
    }
}

async fn read(server: &Server, facts: &Facts, target: &ObjectRef) -> Result<Option<Object>, Why> {
    let (mut facts, query) = (facts.unasked(), Query::of(target));
    cluster::answer(server, [query.clone()], &mut facts).await;
    match facts.answers.remove(&query) {
        Some(Ok(Answer::Object(found))) => Ok(found.map(|found| *found)),
        Some(Err(why)) => Err(why),
        _ => Err(Why::Interrupted),
    }
}

/// Sends one step: a request about the object with this uid, or about a new one.
pub async fn send_step(server: &Server, request: &Request, uid: Option<&str>) -> Written {
    send_request(server, request, uid, false).await
}

/// Sends the request.
pub async fn send(server: &Server, plan: &Plan) -> Written {
    send_plan(server, plan, false).await
}

/// Sends an Event as a dry run, and reads whether it exists now.
pub async fn try_event(server: &Server, facts: &Facts, event: &Request) -> Trial {
    try_to_make(server, facts, event).await
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
