//! Finding and reading kubeconfigs, by the rules of client-go's `tools/clientcmd/loader.go`.
//!
//! `--kubeconfig` names one file that must exist; else `KUBECONFIG` is a list whose missing files are skipped
//! (kube's own `Kubeconfig::from_env` fails on the first of them); else `~/.kube/config`. Reading one file,
//! its encodings, and making its relative paths relative to *it* is kube's work and tested there; so is the
//! merge, after the empty strings that client-go takes for "not set" are taken out: kubectl itself writes
//! `current-context: ""`, which must not win over the current context of the next file.

use std::{
    io,
    path::{Path, PathBuf},
};

use kube::config::{Kubeconfig, KubeconfigError};

use super::{config_error, surroundings::Surroundings};
use crate::error::Error;

/// What was found, and where.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// All files merged.
    pub(super) config: Kubeconfig,
    /// The files that were read, in order.
    pub(super) read: Vec<PathBuf>,
    /// The files that are not there.
    pub(super) missing: Vec<PathBuf>,
}

impl Found {
    /// The files, to be named in a message.
    pub(super) fn names(&self) -> String {
        match self.read.as_slice() {
            [] => "the kubeconfig".to_owned(),
            files => list(files),
        }
    }

    /// Where was looked in vain.
    pub(super) fn looked(&self) -> String {
        list(&self.missing)
    }
}

fn list(files: &[PathBuf]) -> String {
    let names: Vec<_> = files.iter().map(|file| file.display().to_string()).collect();
    names.join(", ")
}

/// Reads what kubectl would read.
pub(super) fn find(flag: Option<&Path>, around: &Surroundings<'_>) -> Result<Found, Error> {
    if let Some(path) = flag {
        return Ok(Found {
            config: read(path)?,
            read: vec![path.to_owned()],
            missing: Vec::new(),
        });
    }
    let candidates: Vec<PathBuf> = match around.var("KUBECONFIG") {
        Some(files) => std::env::split_paths(&files)
            .filter(|file| !file.as_os_str().is_empty())
            .collect(),
        None => around
            .home()
            .map(|home| home.join(".kube").join("config"))
            .into_iter()
            .collect(),
    };
    let mut found = Found::default();
    for path in candidates {
        if !path.exists() && is_missing(&path) {
            found.missing.push(path);
            continue;
        }
        let next = read(&path)?;
        found.config = found.config.merge(next).map_err(|error| fault(error, &path))?;
        found.read.push(path);
    }
    Ok(found)
}

/// Whether the file is not there, rather than out of reach.
fn is_missing(path: &Path) -> bool {
    path.symlink_metadata()
        .is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

fn read(path: &Path) -> Result<Kubeconfig, Error> {
    let mut config = Kubeconfig::read_from(path).map_err(|error| fault(error, path))?;
    config.current_context = config.current_context.filter(|name| !name.is_empty());
    Ok(config)
}

/// Says what is wrong with a file. The parser's own text shows the lines around the fault, which in this file
/// are tokens and keys, so only its first sentence is used.
fn fault(error: KubeconfigError, path: &Path) -> Error {
    let file = path.display();
    match error {
        KubeconfigError::ReadConfig(cause, _) => config_error(
            format!("cannot read the kubeconfig {file}: {cause}"),
            (cause.kind() == io::ErrorKind::NotFound)
                .then_some("give another file with --kubeconfig or KUBECONFIG"),
        ),
        KubeconfigError::Parse(cause) => {
            let place = cause.location().map_or(String::new(), |at| {
                format!(", line {}, column {}", at.line(), at.column())
            });
            let what = cause.without_snippet().render();
            let what = what.lines().next().unwrap_or_default();
            config_error(
                format!("{file} is not a kubeconfig{place}: {what}"),
                Some("`kubectl config view` must be able to read it, too"),
            )
        }
        KubeconfigError::KindMismatch | KubeconfigError::ApiVersionMismatch => config_error(
            format!(
                "{file} cannot be merged with the files before it in KUBECONFIG: its kind or apiVersion differs"
            ),
            Some("kubeconfigs are `apiVersion: v1`, `kind: Config`"),
        ),
        other => config_error(
            format!("{file} is not a usable kubeconfig: {other}"),
            None::<&str>,
        ),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::cluster::connect::testing::Place;

    const RED: &str = "apiVersion: v1\nkind: Config\ncurrent-context: ''\nclusters: [{name: red, cluster: {server: 'https://red', certificate-authority: certs/ca.crt}}]\n";
    const BLUE: &str = "apiVersion: v1\nkind: Config\ncurrent-context: blue\nclusters: [{name: red, cluster: {server: 'https://other'}}]\n";

    #[test]
    fn a_list_is_merged_and_its_missing_files_are_skipped() {
        let place = Place::new();
        let red = place.file("a/red", RED);
        let blue = place.file("b/blue", BLUE);
        let gone = place.path("gone");
        let files = std::env::join_paths([&gone, &red, &blue]).expect("no separator in the paths");
        place.set("KUBECONFIG", files.to_str().expect("UTF-8"));
        let found = place.with(|around| find(None, around)).expect("two files");
        assert_eq!(found.read, [red.clone(), blue]);
        assert_eq!(found.missing, [gone]);
        // The empty current-context of the first file does not win; its cluster does.
        assert_eq!(found.config.current_context.as_deref(), Some("blue"));
        let cluster = found.config.clusters[0].cluster.as_ref().expect("a cluster");
        assert_eq!(cluster.server.as_deref(), Some("https://red"));
        // A relative path means: beside the file it stands in.
        let ca = red.with_file_name("certs/ca.crt");
        assert_eq!(cluster.certificate_authority.as_deref(), ca.to_str());
    }

    #[test]
    fn the_flag_wins_and_must_exist() {
        let place = Place::new();
        let red = place.file("red", RED);
        let blue = place.file("blue", BLUE);
        place.set("KUBECONFIG", blue.to_str().expect("UTF-8"));
        let found = place.with(|around| find(Some(&red), around)).expect("the flag's");
        assert_eq!(found.read, [red]);
        let gone = place.path("gone");
        let error = place
            .with(|around| find(Some(&gone), around))
            .expect_err("missing");
        assert!(
            error.to_string().starts_with("cannot read the kubeconfig "),
            "{error}"
        );
        assert!(error.hint().is_some());
    }

    #[test]
    fn the_home_directory_is_last_and_may_have_none() {
        let place = Place::new();
        let found = place.with(|around| find(None, around)).expect("nothing");
        assert!(found.read.is_empty());
        assert_eq!(found.missing, [place.path("home/.kube/config")]);
        let config = place.file("home/.kube/config", BLUE);
        let found = place.with(|around| find(None, around)).expect("home");
        assert_eq!(found.read, [config]);
    }

    #[test]
    fn a_malformed_file_is_named_with_its_line_and_without_its_secrets() {
        let place = Place::new();
        let path = place.file(
            "broken",
            "apiVersion: v1\nusers:\n- name: a\n  user: {token: very-secret}\n- user: [\n",
        );
        let error = place
            .with(|around| find(Some(&path), around))
            .expect_err("malformed");
        let text = error.to_string();
        assert!(text.contains("is not a kubeconfig, line "), "{text}");
        assert!(!text.contains("very-secret"), "{text}");
        assert!(!text.contains('\n'), "{text}");
        fs::write(&path, b"\x00\xff\xfe garbage").expect("written");
        let error = place
            .with(|around| find(Some(&path), around))
            .expect_err("binary");
        assert!(error.to_string().contains("broken"), "{error}");
    }
}
