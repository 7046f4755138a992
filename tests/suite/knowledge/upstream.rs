//! Copies of upstream repositories, one folder `OWNER/REPO` each, with or without a work tree.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// One repository of the folder.
pub struct Upstream(pub PathBuf);

impl Upstream {
    /// `DIR/OWNER/REPO`, with or without `.git`, if it is there.
    pub fn open(folder: &Path, repository: &str) -> Option<Self> {
        [repository.to_owned(), format!("{repository}.git")]
            .into_iter()
            .map(|name| Upstream(folder.join(name)))
            .find(|one| one.0.is_dir() && one.git(&["rev-parse", "HEAD"]).is_some())
    }

    /// What git prints, or nothing if it fails, as for a revision or file that is not there.
    pub fn git(&self, words: &[&str]) -> Option<String> {
        let output = Command::new("git")
            .arg("-C")
            .arg(&self.0)
            .args(words)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        output.status.success().then_some(text)
    }

    /// What a file says at this revision, if it is there.
    pub fn file(&self, revision: &str, path: &str) -> Option<String> {
        self.git(&["cat-file", "blob", &format!("{revision}:{path}")])
    }

    /// The newest commit and its day.
    pub fn newest(&self) -> (String, String) {
        let newest = self.git(&["log", "-1", "--format=%h %cs", "--abbrev=12", "HEAD"]);
        let newest = newest.expect("the repository has a commit");
        let (revision, date) = newest.trim().split_once(' ').expect("git prints both");
        (revision.to_owned(), date.to_owned())
    }
}

/// A repository with one file, committed.
pub fn commit(upstream: &Upstream, file: &str, text: &str) {
    fs::create_dir_all(&upstream.0).unwrap();
    let author = ["-c", "user.name=test", "-c", "user.email=test@example.com"];
    let git = |words: &[&str]| upstream.git(words).expect("git works");
    git(&["init", "--quiet"]);
    git(&["rm", "--quiet", "-r", "--ignore-unmatch", "."]);
    fs::create_dir_all(&upstream.0).unwrap();
    fs::write(upstream.0.join(file), text).unwrap();
    git(&["add", "."]);
    git(&[&author[..], &["commit", "--quiet", "-m", "a change"]].concat());
}
