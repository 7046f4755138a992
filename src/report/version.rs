//! The report of the `version` command.

use serde::Serialize;

use super::API_VERSION;
use crate::knowledge::Knowledge;

/// The versions of Kubernetes that the tests of this program run: the last one with each change, the others before a
/// release (`scripts/long versions`).
pub const TESTED: [&str; 3] = ["1.31", "1.33", "1.36"];

/// The versions of the program, of its catalogue and of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VersionReport {
    /// Version of this schema.
    pub api_version: &'static str,
    /// `Version`.
    pub kind: &'static str,
    /// Version of the program.
    pub client: &'static str,
    /// The commit that it was built from; none in a build for development, or outside of a checkout.
    pub commit: Option<&'static str>,
    /// The day of that commit, in the time zone of its author.
    pub commit_date: Option<&'static str>,
    /// Its catalogue.
    pub catalogue: CatalogueVersion,
    /// The versions of Kubernetes that the tests run.
    pub tested: [&'static str; TESTED.len()],
    /// The server; none if it was not asked, or did not answer.
    pub server: Option<ServerVersion>,
}

/// The state of the catalogue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CatalogueVersion {
    /// Number of names and families of names, with those of `--knowledge`.
    pub names: usize,
    /// Number of projects.
    pub projects: usize,
    /// The day of the newest upstream commit in which a built-in entry was verified.
    pub verified_until: String,
}

/// The version of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerVersion {
    /// The whole version, as the server says it.
    pub version: String,
    /// Whether the tests run this minor version.
    pub tested: bool,
}

impl ServerVersion {
    /// The version that a server says of itself: `v1.36.3`, and what its provider adds.
    pub fn new(version: String) -> Self {
        let is_of = |minor: &&str| {
            let patch = version
                .strip_prefix('v')
                .and_then(|numbers| numbers.strip_prefix(minor));
            patch.is_some_and(|patch| patch.starts_with('.'))
        };
        let tested = TESTED.iter().any(is_of);
        ServerVersion { version, tested }
    }
}

impl VersionReport {
    /// The versions of the program, of this catalogue and of a server.
    pub fn new(knowledge: &Knowledge, server: Option<ServerVersion>) -> Self {
        VersionReport {
            api_version: API_VERSION,
            kind: "Version",
            client: env!("CARGO_PKG_VERSION"),
            // `build.rs` sets them.
            commit: option_env!("COMMIT"),
            commit_date: option_env!("COMMIT_DATE"),
            catalogue: CatalogueVersion {
                names: knowledge.len(),
                projects: knowledge.projects(),
                verified_until: Knowledge::verified_until(),
            },
            tested: TESTED,
            server,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ServerVersion, TESTED};

    #[test]
    fn only_the_minor_versions_of_the_tests_are_tested() {
        let tested = |version: &str| ServerVersion::new(version.into()).tested;
        for minor in TESTED {
            assert!(tested(&format!("v{minor}.0")));
            assert!(tested(&format!("v{minor}.4-eks-a737599")));
            assert!(!tested(&format!("v{minor}0.1")));
            assert!(!tested(&format!("v2{minor}.0")));
        }
        for other in ["v1.3.0", "v1.34.2", "v0.0.0-master", ""] {
            assert!(!tested(other), "{other}");
        }
    }
}
