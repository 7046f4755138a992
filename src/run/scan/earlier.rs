//! `scan --since`: an earlier snapshot of the same cluster, to compare with.

use std::path::Path;

use super::wanted;
use crate::{
    error::Error,
    report::changes::{ChangesReport, Moment},
    settings::Scan,
    snapshot::{Snapshot, load, saved::Saved},
};

/// What an earlier snapshot has of what this scan reads.
pub(super) struct Earlier {
    file: String,
    snapshot: Snapshot,
    /// The only namespace in it.
    namespace: Option<String>,
}

impl Earlier {
    /// Reads the snapshot, if the scan names one.
    pub(super) fn of(scan: &Scan) -> Result<Option<Self>, Error> {
        let Some(path) = &scan.since else {
            return Ok(None);
        };
        let file = path.display().to_string();
        // Nothing else comes in on stdin here, and a snapshot in a pipe is the business of --from.
        let saved = if path == Path::new("-") {
            None
        } else {
            load::saved(std::slice::from_ref(path), &mut std::io::empty())?
        };
        let Some(saved) = saved else {
            return Err(Error::Usage {
                message: format!("--since: {file} is not a snapshot"),
                hint: Some("save one with: kubectl finalizers snapshot FILE".into()),
            });
        };
        refuse_hidden_names(&saved, "--since")?;
        let namespace = scan.scope.namespace().or(saved.head.namespace.as_deref());
        Ok(Some(Earlier {
            file,
            namespace: namespace.map(str::to_owned),
            snapshot: saved.snapshot(&wanted(scan))?,
        }))
    }

    /// Refuses a snapshot that cannot be compared with it.
    pub(super) fn check(&self, now: &Saved) -> Result<(), Error> {
        refuse_hidden_names(now, "--from")?;
        if now.head.observed_at < self.snapshot.observed_at {
            return Err(Error::Usage {
                message: format!("--since: {} is younger than what --from names", self.file),
                hint: Some("exchange the two".into()),
            });
        }
        Ok(())
    }

    /// What changed since then.
    pub(super) fn changes(&self, now: &Snapshot, scan: &Scan, is_dump: bool) -> ChangesReport {
        let before = Moment {
            snapshot: &self.snapshot,
            namespace: self.namespace.as_deref(),
            is_dump: false,
        };
        let now = Moment {
            snapshot: now,
            namespace: scan.scope.namespace(),
            is_dump,
        };
        ChangesReport::new(self.file.clone(), before, now)
    }
}

/// Each redacted snapshot hides names in its own way, so two of them cannot be compared.
fn refuse_hidden_names(saved: &Saved, flag: &str) -> Result<(), Error> {
    if saved.head.redacted {
        return Err(Error::Usage {
            message: format!("{flag}: this snapshot hides the names of objects, so nothing can be compared"),
            hint: Some("take snapshots for --since without --redact".into()),
        });
    }
    Ok(())
}
