//! `scripts/release-check` refuses what is no release.

use std::{env, fs, os::unix::fs::PermissionsExt as _, path::Path, process::Command};

use tempfile::TempDir;

use super::root;

/// A repository that can be released, as far as the script reads it.
struct Repository(TempDir);

impl Repository {
    fn new() -> Self {
        let repository = Self(TempDir::new().unwrap());
        for folder in ["scripts", "docs", "deploy/exporter"] {
            fs::create_dir_all(repository.path().join(folder)).unwrap();
        }
        for name in [
            "scripts/release-check",
            "krew-manifest.yaml",
            "README.md",
            "docs/install.md",
            "deploy/exporter/Dockerfile",
            "deploy/exporter/kustomization.yaml",
        ] {
            fs::copy(root().join(name), repository.path().join(name)).unwrap();
        }
        repository.write(
            "Cargo.toml",
            concat!("version = \"", env!("CARGO_PKG_VERSION"), "\"\n"),
        );
        repository.write(
            "CHANGELOG.md",
            &format!("## [Unreleased]\n\n{}\n\n- A line.\n", heading("2026-01-31")),
        );
        // The documents are what the tests of the suite find; here a program answers for them.
        repository.tests_end_with(0);
        repository.git(&["init", "--quiet"]);
        repository.commit();
        repository
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path().join(name), text).unwrap();
    }

    fn replace(&self, name: &str, old: &str, new: &str) {
        let text = fs::read_to_string(self.path().join(name)).unwrap();
        assert!(text.contains(old), "{name}: {old}");
        self.write(name, &text.replacen(old, new, 1));
    }

    fn tests_end_with(&self, code: u8) {
        self.write("cargo", &format!("#!/bin/sh\nexit {code}\n"));
        fs::set_permissions(self.path().join("cargo"), fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn git(&self, words: &[&str]) {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@example.com"]);
        assert!(
            git.args(words)
                .current_dir(self.path())
                .status()
                .unwrap()
                .success()
        );
    }

    fn commit(&self) {
        self.git(&["add", "."]);
        self.git(&["commit", "--quiet", "-m", "a"]);
    }

    fn check(&self, tag: &[&str]) -> Result<String, String> {
        let mut path = vec![self.path().to_owned()];
        path.extend(env::split_paths(&env::var_os("PATH").unwrap()));
        let run = Command::new(self.path().join("scripts/release-check"))
            .args(tag)
            .env("PATH", env::join_paths(path).unwrap())
            .output()
            .unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        if run.status.success() {
            Ok(text(run.stdout))
        } else {
            Err(text(run.stderr))
        }
    }

    #[track_caller]
    fn refused(&self, tag: &[&str], why: &str) {
        let error = self.check(tag).expect_err("it must be refused");
        assert!(error.contains(why), "{error}");
    }
}

const TAG: &str = concat!("v", env!("CARGO_PKG_VERSION"));

fn heading(date: &str) -> String {
    format!("## [{}] - {date}", env!("CARGO_PKG_VERSION"))
}

#[test]
fn a_release_that_is_complete_passes() {
    for tag in [&[][..], &[TAG]] {
        assert_eq!(
            Repository::new().check(tag),
            Ok(format!("{TAG} can be released\n"))
        );
    }
}

#[test]
fn changes_that_are_not_committed_are_refused() {
    let repository = Repository::new();
    repository.write("new", "");
    repository.refused(&[], "not committed");
}

#[test]
fn another_tag_is_refused() {
    Repository::new().refused(&["v9.9.9"], "the tag is v9.9.9");
}

#[test]
fn another_version_in_the_manifest_or_a_document_is_refused() {
    let old_archive = format!("kubectl-finalizers-{TAG}-x86_64");
    for (file, old, new, why) in [
        (
            "krew-manifest.yaml",
            format!("version: {TAG}"),
            "version: v0.0.9",
            "has not version",
        ),
        (
            "krew-manifest.yaml",
            format!("download/{TAG}/"),
            "download/v0.0.9/",
            "names download/v0.0.9",
        ),
        (
            "krew-manifest.yaml",
            old_archive.clone(),
            "kubectl-finalizers-v0.0.9-x86_64",
            "krew-manifest.yaml names",
        ),
        (
            "README.md",
            old_archive.clone(),
            "kubectl-finalizers-v0.0.9-x86_64",
            "README.md names",
        ),
        (
            "docs/install.md",
            old_archive,
            "kubectl-finalizers-v0.0.9-x86_64",
            "docs/install.md names",
        ),
        (
            "deploy/exporter/Dockerfile",
            TAG.to_owned(),
            "v0.0.9",
            "deploy/exporter/Dockerfile has not",
        ),
        (
            "deploy/exporter/kustomization.yaml",
            TAG.to_owned(),
            "v0.0.9",
            "deploy/exporter/kustomization.yaml has not",
        ),
    ] {
        let repository = Repository::new();
        repository.replace(file, &old, new);
        repository.commit();
        repository.refused(&[], why);
    }
}

#[test]
fn a_version_without_an_entry_in_the_changelog_is_refused() {
    for (old, new) in [
        (heading("2026-01-31"), "## [0.0.9] - 2026-01-31"),
        (heading("2026-01-31"), "## [Unreleased] - 2026-01-31"),
        ("2026-01-31".to_owned(), "soon"),
        ("- A line.".to_owned(), ""),
    ] {
        let repository = Repository::new();
        repository.replace("CHANGELOG.md", &old, new);
        repository.commit();
        repository.refused(&[], "CHANGELOG.md has no entry");
    }
}

#[test]
fn a_stale_document_is_refused() {
    let repository = Repository::new();
    repository.tests_end_with(101);
    repository.commit();
    repository.refused(&[], "a generated document is stale");
}
