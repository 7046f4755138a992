//! The digest that confirms a plan where no user can type. It changes with every object and with every byte
//! that would be sent.

use std::fmt::Write as _;

use ring::digest::{SHA256, digest as hash};
use serde_json::json;

use super::Plan;

/// The length of the digest. A longer one would not be copied by hand; this one is not met by accident.
const BYTES: usize = 8;

/// The digest of all plans of one run. For each plan it covers the action, the object's uid and version, the
/// finalizer and the request.
pub fn digest(plans: &[Plan]) -> String {
    let content: Vec<_> = plans
        .iter()
        .map(|plan| {
            json!([
                plan.action.word(),
                plan.target.uid,
                plan.resource_version,
                plan.finalizer.as_ref().map(ToString::to_string),
                plan.request,
            ])
        })
        .collect();
    let hashed = hash(&SHA256, json!(content).to_string().as_bytes());
    hashed.as_ref()[..BYTES]
        .iter()
        .fold(String::new(), |mut text, byte| {
            // Writing to a String cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
}
