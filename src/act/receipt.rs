//! Receipts: who did what, when, from which plan, with which result. One JSON object a line, append-only.
//!
//! A line with `sending` is on the disk before anything is sent, so that an aborted run leaves a trace too.
//! Another line records the result.

use std::path::PathBuf;

use jiff::Timestamp;
use serde::Serialize;

use crate::{
    error::Error,
    object::{Finalizer, ObjectRef},
    plan::{Plan, Request},
};

/// The receipt file.
pub struct Receipts {
    path: PathBuf,
    /// Identifies the lines of one run.
    run: String,
    user: Option<String>,
    server: String,
}

/// What happened to one object.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Receipt<'a> {
    /// `sending`, or the result: `done`, `done-answer-lost`, `done-by-others`, `refused`, `not-confirmed`,
    /// `failed`, `unknown`, `dry-run-stored`.
    pub what: &'static str,
    /// The verb.
    pub verb: &'static str,
    /// The object.
    pub target: &'a ObjectRef,
    /// The finalizer to remove.
    pub finalizer: Option<&'a Finalizer>,
    /// The digest of the plan.
    pub digest: Option<&'a str>,
    /// The request.
    pub request: Option<&'a Request>,
    /// The consequence that was accepted.
    pub consequence: Option<String>,
    /// The copy of the object.
    pub backup: Option<String>,
    /// The copy of the claim, if the object is a volume that has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claim_backup: Option<String>,
    /// The server's response, or what was found out instead, or why nothing was sent.
    pub says: String,
}

impl<'a> Receipt<'a> {
    /// A receipt for a plan.
    pub fn of(what: &'static str, plan: &'a Plan, digest: &'a str, says: impl Into<String>) -> Self {
        Receipt {
            what,
            verb: plan.action.word(),
            target: &plan.target,
            finalizer: plan.finalizer.as_ref(),
            digest: Some(digest),
            request: Some(&plan.request),
            consequence: Some(plan.cost.consequence.typed()),
            backup: None,
            claim_backup: None,
            says: says.into(),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    time: Timestamp,
    run: &'a str,
    user: Option<&'a str>,
    server: &'a str,
    #[serde(flatten)]
    receipt: &'a Receipt<'a>,
}

impl Receipts {
    /// The receipts of this run.
    pub fn new(path: PathBuf, user: Option<String>, server: String, now: Timestamp) -> Self {
        Receipts {
            path,
            run: format!("{now}-{}", std::process::id()),
            user,
            server,
        }
    }

    /// The user that the server sees.
    pub fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }

    /// The path of the file.
    pub fn path(&self) -> &std::path::Path {
        &self.path
    }

    /// Adds a line and returns once it is on the disk.
    pub fn add(&self, receipt: &Receipt<'_>) -> Result<(), Error> {
        let line = Line {
            time: Timestamp::now(),
            run: &self.run,
            user: self.user.as_deref(),
            server: &self.server,
            receipt,
        };
        let failed = |cause| Error::Write {
            path: self.path.clone(),
            cause,
        };
        let text = serde_json::to_string(&line).map_err(|error| failed(error.into()))?;
        super::files::append_line(&self.path, &text).map_err(failed)
    }
}
