//! Finds and reads kubeconfigs, by the rules of client-go's `tools/clientcmd/loader.go`.
//!
//! `--kubeconfig` names one file that must exist. Otherwise `KUBECONFIG` is a list, and missing files in it are skipped
//! (kube's own `Kubeconfig::from_env` fails on the first of them). Otherwise it is `~/.kube/config`.
//!
//! kube reads one file, detects its encoding, and makes its relative paths relative to *it*; kube tests that. kube also
//! merges the files. Before that, empty strings are removed, because client-go takes them for "not set": kubectl itself
//! writes `current-context: ""`, which must not win over the current context of the next file.

use std::{
    io,
    path::{Path, PathBuf},
};

use kube::config::{Kubeconfig, KubeconfigError};

use super::{config_error, surroundings::Surroundings};
use crate::error::Error;

/// The merged kubeconfig, and its files.
#[derive(Debug, Default)]
pub(super) struct LoadedKubeconfig {
    /// All files merged.
    pub(super) config: Kubeconfig,
    /// The files that were read, in order.
    pub(super) read: Vec<PathBuf>,
    /// The files that do not exist.
    pub(super) missing: Vec<PathBuf>,
}

impl LoadedKubeconfig {
    /// The names of the files that were read, for a message.
    pub(super) fn file_names(&self) -> String {
        match self.read.as_slice() {
            [] => "the kubeconfig".to_owned(),
            files => list(files),
        }
    }

    /// The names of the missing files, for a message.
    pub(super) fn missing_names(&self) -> String {
        list(&self.missing)
    }
}

fn list(files: &[PathBuf]) -> String {
    let names: Vec<_> = files.iter().map(|file| file.display().to_string()).collect();
    names.join(", ")
}

/// Loads the files that kubectl would read.
pub(super) fn load(flag: Option<&Path>, surroundings: &Surroundings<'_>) -> Result<LoadedKubeconfig, Error> {
    if let Some(path) = flag {
        return Ok(LoadedKubeconfig {
            config: read(path)?,
            read: vec![path.to_owned()],
            missing: Vec::new(),
        });
    }
    let candidates: Vec<PathBuf> = match surroundings.var("KUBECONFIG") {
        Some(files) => std::env::split_paths(&files)
            .filter(|file| !file.as_os_str().is_empty())
            .collect(),
        None => surroundings
            .home()
            .map(|home| home.join(".kube").join("config"))
            .into_iter()
            .collect(),
    };
    let mut loaded = LoadedKubeconfig::default();
    for path in candidates {
        if !path.exists() && is_missing(&path) {
            loaded.missing.push(path);
            continue;
        }
        let next = read(&path)?;
        loaded.config = loaded.config.merge(next).map_err(|error| fault(error, &path))?;
        loaded.read.push(path);
    }
    Ok(loaded)
}

/// Whether the file does not exist, as opposed to being unreadable.
fn is_missing(path: &Path) -> bool {
    path.symlink_metadata()
        .is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

fn read(path: &Path) -> Result<Kubeconfig, Error> {
    let mut config = Kubeconfig::read_from(path).map_err(|error| fault(error, path))?;
    config.current_context = config.current_context.filter(|name| !name.is_empty());
    Ok(config)
}

/// The error for a faulty file. The parser's own text shows the lines around the fault, which may hold tokens and keys.
/// So only its first sentence is used.
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
    use crate::cluster::connect::testing::Sandbox;

    const RED: &str = "apiVersion: v1\nkind: Config\ncurrent-context: ''\nclusters: [{name: red, cluster: {server: 'https://red', certificate-authority: certs/ca.crt}}]\n";
    const BLUE: &str = "apiVersion: v1\nkind: Config\ncurrent-context: blue\nclusters: [{name: red, cluster: {server: 'https://other'}}]\n";

    #[test]
    fn merges_a_list_and_skips_missing_files() {
        let sandbox = Sandbox::new();
        let red = sandbox.file("a/red", RED);
        let blue = sandbox.file("b/blue", BLUE);
        let gone = sandbox.path("gone");
        let files = std::env::join_paths([&gone, &red, &blue]).expect("no separator in the paths");
        sandbox.set("KUBECONFIG", files.to_str().expect("UTF-8"));
        let loaded = sandbox
            .with(|surroundings| load(None, surroundings))
            .expect("two files");
        assert_eq!(loaded.read, [red.clone(), blue]);
        assert_eq!(loaded.missing, [gone]);
        // The empty current-context of the first file does not win, but its cluster does.
        assert_eq!(loaded.config.current_context.as_deref(), Some("blue"));
        let cluster = loaded.config.clusters[0].cluster.as_ref().expect("a cluster");
        assert_eq!(cluster.server.as_deref(), Some("https://red"));
        // A relative path is relative to the directory of its file.
        let ca = red.with_file_name("certs/ca.crt");
        assert_eq!(cluster.certificate_authority.as_deref(), ca.to_str());
    }

    #[test]
    fn the_flag_wins_and_must_exist() {
        let sandbox = Sandbox::new();
        let red = sandbox.file("red", RED);
        let blue = sandbox.file("blue", BLUE);
        sandbox.set("KUBECONFIG", blue.to_str().expect("UTF-8"));
        let loaded = sandbox
            .with(|surroundings| load(Some(&red), surroundings))
            .expect("the flag's");
        assert_eq!(loaded.read, [red]);
        let gone = sandbox.path("gone");
        let error = sandbox
            .with(|surroundings| load(Some(&gone), surroundings))
            .expect_err("missing");
        assert!(
            error.to_string().starts_with("cannot read the kubeconfig "),
            "{error}"
        );
        assert!(error.hint().is_some());
    }

    #[test]
    fn the_home_directory_comes_last_and_may_have_no_file() {
        let sandbox = Sandbox::new();
        let loaded = sandbox
            .with(|surroundings| load(None, surroundings))
            .expect("nothing");
        assert!(loaded.read.is_empty());
        assert_eq!(loaded.missing, [sandbox.path("home/.kube/config")]);
        let config = sandbox.file("home/.kube/config", BLUE);
        let loaded = sandbox
            .with(|surroundings| load(None, surroundings))
            .expect("home");
        assert_eq!(loaded.read, [config]);
    }

    #[test]
    fn reports_the_line_of_a_malformed_file_without_its_secrets() {
        let sandbox = Sandbox::new();
        let path = sandbox.file(
            "broken",
            "apiVersion: v1\nusers:\n- name: a\n  user: {token: very-secret}\n- user: [\n",
        );
        let error = sandbox
            .with(|surroundings| load(Some(&path), surroundings))
            .expect_err("malformed");
        let text = error.to_string();
        assert!(text.contains("is not a kubeconfig, line "), "{text}");
        assert!(!text.contains("very-secret"), "{text}");
        assert!(!text.contains('\n'), "{text}");
        fs::write(&path, b"\x00\xff\xfe garbage").expect("written");
        let error = sandbox
            .with(|surroundings| load(Some(&path), surroundings))
            .expect_err("binary");
        assert!(error.to_string().contains("broken"), "{error}");
    }
}
