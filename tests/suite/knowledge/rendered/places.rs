//! `knowledge/charts.yaml`: where the official charts and manifests of each project are.

use std::{collections::BTreeMap, fs};

use kubectl_finalizers::knowledge::{Entry, schema::glob};
use serde::Deserialize;
use serde_json::{Map, Value};

pub const FILE: &str = "knowledge/charts.yaml";

/// One way to install a project.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Place {
    #[serde(flatten)]
    pub what: What,
    /// The entries of the file whose controllers it installs: by their `part-of`, or by name. All if empty.
    #[serde(default)]
    of: Vec<String>,
    /// The usual name of the Helm release; the chart's name if it is missing.
    pub release: Option<String>,
    /// The usual namespace; the first of the holder's if it is missing.
    pub namespace: Option<String>,
    /// Charts of other repositories that the chart depends on, `owner/repo:path` by their names.
    #[serde(default)]
    pub with: BTreeMap<String, String>,
    /// What has to be set so that the chart can be rendered.
    #[serde(default)]
    pub values: Map<String, Value>,
}

/// What is at the place, `owner/repo:path`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum What {
    /// A Helm chart.
    Chart(String),
    /// A folder with a kustomization.
    Kustomization(String),
    /// A file, or a folder of files.
    Manifests(String),
}

impl What {
    pub fn word(&self) -> &'static str {
        match self {
            What::Chart(_) => "chart",
            What::Kustomization(_) => "kustomization",
            What::Manifests(_) => "manifests",
        }
    }

    fn text(&self) -> &str {
        match self {
            What::Chart(at) | What::Kustomization(at) | What::Manifests(at) => at,
        }
    }

    pub fn repository(&self) -> &str {
        self.text()
            .split_once(':')
            .map_or("", |(repository, _)| repository)
    }

    pub fn path(&self) -> &str {
        self.text().split_once(':').map_or("", |(_, path)| path)
    }
}

impl Place {
    /// Whether the controller of this entry is installed from here.
    pub fn installs(&self, entry: &Entry) -> bool {
        let is_this = |of: &String| glob(of, &entry.name) || entry.part_of.as_ref() == Some(of);
        self.of.is_empty() || self.of.iter().any(is_this)
    }

    /// What `of` names and none of these entries has.
    pub fn unknown(&self, entries: &[Entry]) -> Vec<&str> {
        let has = |of: &str| {
            let is_this = |entry: &Entry| glob(of, &entry.name) || entry.part_of.as_deref() == Some(of);
            entries.iter().any(is_this)
        };
        self.of.iter().map(String::as_str).filter(|of| !has(of)).collect()
    }
}

/// All places, by the file of `knowledge/`.
pub fn read() -> BTreeMap<String, Vec<Place>> {
    serde_saphyr::from_str(&fs::read_to_string(FILE).unwrap())
        .unwrap_or_else(|error| panic!("{FILE}: {error}"))
}
