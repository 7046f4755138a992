//! Receipts: who did what, when, from which plan, with which result. One JSON object a line, append-only.
//!
//! A line with `sending` is on the disk before anything is sent, so that an aborted run leaves a trace too.
//! Another line records the result.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    error::Error,
    object::{Finalizer, ObjectRef},
    plan::{Plan, Request, Rescue},
};

/// A rescue that can be continued.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    /// The cluster, so that no other cluster gets its volume.
    pub cluster: String,
    /// The rescue.
    pub steps: Rescue,
}

/// The receipt file.
pub struct Receipts {
    path: PathBuf,
    /// Identifies the lines of one run.
    run: String,
    user: Option<String>,
    server: String,
}

/// The outcome for one object.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Receipt<'a> {
    /// `sending`, `waiting`, or the result: `done`, `done-answer-lost`, `done-by-others`, `refused`, `not-confirmed`,
    /// `failed`, `unfinished`, `unknown`, `dry-run-stored`.
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
    /// The old value from etcd, if it is replaced there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stored_backup: Option<String>,
    /// The data for `--resume`, if a volume is made again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rescue: Option<&'a Record>,
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
            stored_backup: None,
            rescue: None,
            says: says.into(),
        }
    }
}

/// The last rescue of the volume with this name in a file of receipts; none if it was finished, or there is none.
pub fn unfinished_rescue(path: &Path, name: &str) -> Result<Option<Record>, Error> {
    #[derive(Deserialize)]
    struct Recorded {
        what: String,
        rescue: Record,
    }
    let text = std::fs::read_to_string(path).map_err(|cause| Error::Read {
        path: path.to_owned(),
        cause,
    })?;
    // Other lines are about other changes, or were cut short by a full disk.
    let rescues = text
        .lines()
        .rev()
        .filter_map(|line| serde_json::from_str::<Recorded>(line).ok());
    let last = rescues
        .into_iter()
        .find(|line| line.rescue.steps.volume().name() == name);
    Ok(last.filter(|line| line.what != "done").map(|line| line.rescue))
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
