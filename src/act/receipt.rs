//! The receipt: who did what, when, after which plan, and what came of it. JSON, a line each, only ever appended.
//!
//! A line that says `sending` is on the disk before anything is sent, so that a run which ends in the middle leaves a
//! trace, too; another one says how it ended.

use std::path::PathBuf;

use jiff::Timestamp;
use serde::Serialize;

use crate::{
    error::Error,
    object::{Finalizer, ObjectRef},
    plan::{Plan, Request},
};

/// The file.
pub struct Receipts {
    path: PathBuf,
    /// Tells the lines of one run from those of others.
    run: String,
    user: Option<String>,
    server: String,
}

/// What happened to one object.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Receipt<'a> {
    /// `sending`; and how it ended: `done`, `done-answer-lost`, `done-by-others`, `refused`, `not-confirmed`, `failed`,
    /// `unknown`.
    pub what: &'static str,
    /// The verb.
    pub verb: &'static str,
    /// The object.
    pub target: &'a ObjectRef,
    /// What was to be taken out.
    pub finalizer: Option<&'a Finalizer>,
    /// The digest of the plan.
    pub digest: Option<&'a str>,
    /// The request.
    pub request: Option<&'a Request>,
    /// The consequence that was accepted.
    pub consequence: Option<String>,
    /// The copy of the object.
    pub backup: Option<String>,
    /// What the server answered, or what was found out instead, or why nothing was sent.
    pub says: String,
}

impl<'a> Receipt<'a> {
    /// About a plan.
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
    /// Those of this run.
    pub fn new(path: PathBuf, user: Option<String>, server: String, now: Timestamp) -> Self {
        Receipts {
            path,
            run: format!("{now}-{}", std::process::id()),
            user,
            server,
        }
    }

    /// Whom the server sees.
    pub fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }

    /// Where they are.
    pub fn path(&self) -> &std::path::Path {
        &self.path
    }

    /// Adds a line, and returns when it is on the disk.
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
        super::files::line(&self.path, &text).map_err(failed)
    }
}
