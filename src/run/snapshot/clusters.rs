//! `snapshot` of several clusters: one file for each, in one directory.

use std::{
    cell::Cell,
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use futures::{StreamExt, stream};

use super::{complete, file, save};
use crate::{
    cluster::connect::{FoundCluster, clusters, surroundings::Surroundings},
    error::Error,
    exit::Exit,
    knowledge::Knowledge,
    run::{
        block_on, inform,
        scan::clusters::{SIDE_BY_SIDE, connection, names, reach, read_within},
        warn,
    },
    settings::{self, Clusters},
    snapshot::load::RECORDING,
};

/// The longest name of a file without its ending. Most file systems allow 255 bytes.
const LONGEST: usize = 200;

/// Saves the clusters. Reports each cluster that cannot be saved, and saves the others.
pub(super) fn run(
    wanted: &Clusters,
    settings: &settings::Snapshot,
    knowledge: &Knowledge,
) -> Result<Exit, Error> {
    let found = clusters(wanted, &Surroundings::of_this_process())?;
    let labels: Vec<_> = names(&found).into_iter().map(|name| name.cluster).collect();
    let files = files(&settings.file, &labels, settings.redact);
    for file in &files {
        file::check(file)?;
    }
    fs::create_dir_all(&settings.file).map_err(|cause| Error::Write {
        path: settings.file.clone(),
        cause,
    })?;
    let (missing, stopped) = (Cell::new(0_usize), Cell::new(false));
    let all = stream::iter(found.iter().zip(&labels).zip(&files))
        .map(async |((found, label), file)| {
            if stopped.get() {
                return;
            }
            match Box::pin(save_one(found, wanted, file, settings, knowledge)).await {
                Ok(Some(summary)) => inform(&format!("{label}: {summary}, in {}", file.display())),
                Ok(None) => stopped.set(true),
                Err(error) => {
                    missing.set(missing.get() + 1);
                    warn(&format!("{label}: nothing was saved: {error}"));
                }
            }
        })
        .buffer_unordered(SIDE_BY_SIDE)
        .collect::<()>();
    block_on(async {
        all.await;
        Ok(())
    })?;
    if stopped.get() {
        warn("stopped; not every cluster was saved");
        return Ok(Exit::Interrupted);
    }
    Ok(if missing.get() > 0 {
        Exit::Failed
    } else {
        Exit::Done
    })
}

/// Saves one cluster. None if the user stopped it.
async fn save_one(
    found: &FoundCluster,
    wanted: &Clusters,
    file: &Path,
    settings: &settings::Snapshot,
    knowledge: &Knowledge,
) -> Result<Option<String>, Error> {
    let server = reach(&connection(found, wanted), wanted.first_answer).await?;
    let (snapshot, _) = read_within(&server, wanted.first_answer, &settings.scan).await?;
    let Some(saved) = complete(&server, snapshot, settings, knowledge).await? else {
        return Ok(None);
    };
    save(saved, file, settings, knowledge).map(Some)
}

/// The file of each cluster. The name of a context tells something about the cluster, so a redacted file has a number.
fn files(directory: &Path, labels: &[String], redact: bool) -> Vec<PathBuf> {
    let mut taken = BTreeSet::new();
    let names = labels.iter().enumerate().map(|(at, label)| {
        let name = if redact {
            format!("cluster-{}", at + 1)
        } else {
            safe(label)
        };
        let other = (2..).map(|number| format!("{name}-{number}"));
        // Some file systems take upper and lower case for the same.
        [name.clone()]
            .into_iter()
            .chain(other)
            .find(|name| taken.insert(name.to_lowercase()))
            .unwrap_or(name)
    });
    names
        .map(|name| directory.join(format!("{name}.{RECORDING}")))
        .collect()
}

/// The name of a context as the name of a file on every system.
fn safe(context: &str) -> String {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let name: String = context
        .chars()
        .map(|c| if is_safe(c) { c } else { '-' })
        .take(LONGEST)
        .collect();
    let name = name.trim_matches(['.', '-']);
    if name.is_empty() {
        "cluster".to_owned()
    } else {
        name.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(labels: &[&str], redact: bool) -> Vec<String> {
        let labels: Vec<_> = labels.iter().map(|&label| label.to_owned()).collect();
        let files = files(Path::new("d"), &labels, redact);
        files.iter().map(|file| file.display().to_string()).collect()
    }

    #[test]
    fn a_context_is_a_safe_name_of_a_file_and_each_has_its_own() {
        assert_eq!(
            named(
                &[
                    "prod",
                    "arn:aws:eks:eu-west-1:1:cluster/prod",
                    "../../etc/x",
                    "PROD",
                    "..",
                    "ü",
                ],
                false
            ),
            [
                "d/prod.snapshot",
                "d/arn-aws-eks-eu-west-1-1-cluster-prod.snapshot",
                "d/etc-x.snapshot",
                "d/PROD-2.snapshot",
                "d/cluster.snapshot",
                "d/cluster-2.snapshot",
            ]
        );
    }

    #[test]
    fn a_redacted_file_does_not_name_its_cluster() {
        assert_eq!(
            named(&["prod", "test"], true),
            ["d/cluster-1.snapshot", "d/cluster-2.snapshot"]
        );
    }
}
