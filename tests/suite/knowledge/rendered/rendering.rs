//! Renders a chart, a kustomization or plain manifests into objects.
//!
//! A chart is rendered from its repository alone. Its dependencies are taken from the same repository; others are left out,
//! because nobody's network decides what a check finds.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use kubectl_finalizers::snapshot::facts::{Object, Resource};
use serde_json::{Value, json};

use super::places::{Place, What};
use crate::{harness::program, knowledge::upstream::Upstream};

/// The name of the other release. It has nothing of any product's name.
const OTHER_RELEASE: &str = "x7";

/// No product is usually in this namespace.
const OTHER_NAMESPACE: &str = "elsewhere";

/// The API server that charts are rendered for. Some refuse the version that Helm assumes.
const KUBERNETES: &str = "1.34.0";

/// Longer complaints name what led to what, and the first part says enough.
const LONGEST_COMPLAINT: usize = 160;

/// What one place installs.
pub struct Rendering {
    /// The version of the chart; `-` for what has none.
    pub version: String,
    /// The objects under the usual names.
    pub usual: Vec<Object>,
    /// The objects under the name of another release, in another namespace. Only charts have them.
    pub renamed: Option<Vec<Object>>,
}

/// Renders what is at this place. Charts that it depends on are in the folder of all repositories. The error says why that failed.
pub fn render(place: &Place, namespace: &str, upstream: &Upstream, all: &Path) -> Result<Rendering, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let here = folder.path().display().to_string();
    // The results are compared with those of the next run, on another machine.
    let shortened = |why: String| {
        why.replace(&here, "")
            .chars()
            .take(LONGEST_COMPLAINT)
            .collect::<String>()
    };
    rendered(place, namespace, upstream, all, folder.path()).map_err(shortened)
}

fn rendered(
    place: &Place,
    namespace: &str,
    upstream: &Upstream,
    all: &Path,
    folder: &Path,
) -> Result<Rendering, String> {
    let path = check_out(upstream, place.what.path(), folder)?;
    for (name, at) in &place.with {
        let (repository, of) = at.split_once(':').unwrap_or((at, ""));
        let other = Upstream::open(all, repository).ok_or_else(|| format!("{repository} is not there"))?;
        let beside = tempfile::tempdir().map_err(|error| error.to_string())?;
        let from = check_out(&other, of, beside.path())?;
        copy(&from, &path.join("charts").join(name)).map_err(|error| error.to_string())?;
    }
    let namespace = place.namespace.as_deref().unwrap_or(namespace);
    match &place.what {
        What::Chart(_) => chart(place, &path, namespace),
        What::Kustomization(_) => {
            let text = said(Command::new(program("kustomize")).arg("build").args([
                path.as_os_str(),
                "--load-restrictor=LoadRestrictionsNone".as_ref(),
            ]))?;
            plain(&text, namespace)
        }
        What::Manifests(_) => {
            let mut text = String::new();
            for file in files(&path)? {
                let one =
                    fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
                text = format!("{text}\n---\n{one}");
            }
            plain(&text, namespace)
        }
    }
}

fn plain(text: &str, namespace: &str) -> Result<Rendering, String> {
    Ok(Rendering {
        version: "-".to_owned(),
        usual: objects(text, namespace)?,
        renamed: None,
    })
}

/// The path in a work tree with the newest commit. Some repositories are huge, so the tree has only its top folder. It is
/// whole if the path has links to other folders.
fn check_out(upstream: &Upstream, path: &str, folder: &Path) -> Result<PathBuf, String> {
    let write = |part: &str| {
        let mut git = Command::new("git");
        git.args(["-C".as_ref(), upstream.0.as_os_str()])
            .args(["--work-tree".as_ref(), folder.as_os_str()]);
        git.args(["checkout", "--quiet", "HEAD", "--", part]);
        said(git.env("GIT_INDEX_FILE", folder.join(".index")))
    };
    let whole = folder.join(path);
    let mut failure = write(path.split('/').next().unwrap_or(path)).err();
    if has_dangling_link(&whole) {
        failure = write(".").err();
    }
    // A copy may lack a large file that nobody needs here.
    if whole.exists() {
        return Ok(whole);
    }
    Err(failure.unwrap_or_else(|| format!("{path} is not there")))
}

fn has_dangling_link(path: &Path) -> bool {
    if path.is_symlink() {
        return !path.exists();
    }
    let items = fs::read_dir(path).into_iter().flatten().flatten();
    items.map(|item| item.path()).any(|path| has_dangling_link(&path))
}

/// The YAML files of a folder in their order, or the one file.
fn files(path: &Path) -> Result<Vec<PathBuf>, String> {
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let items = fs::read_dir(path).map_err(|error| error.to_string())?;
    let is_yaml = |path: &PathBuf| {
        let extension = path.extension().and_then(|extension| extension.to_str());
        path.is_file() && matches!(extension, Some("yaml" | "yml"))
    };
    let mut files: Vec<_> = items
        .filter_map(|item| Some(item.ok()?.path()))
        .filter(is_yaml)
        .collect();
    files.sort();
    Ok(files)
}

fn chart(place: &Place, path: &Path, namespace: &str) -> Result<Rendering, String> {
    let about = prepare(path)?;
    let text = |key: &str| about[key].as_str().unwrap_or_default().to_owned();
    let name = text("name");
    let release = place.release.as_deref().unwrap_or(&name);
    let values = path.join("values-of-check.json");
    fs::write(&values, Value::from(place.values.clone()).to_string()).map_err(|error| error.to_string())?;
    let template = |release: &str, namespace: &str| {
        let mut helm = Command::new(program("helm"));
        helm.args(["template", release]).arg(path);
        helm.args(["--namespace", namespace, "--include-crds", "--skip-tests"]);
        helm.args(["--kube-version", KUBERNETES, "--values"]).arg(&values);
        objects(&said(&mut helm)?, namespace)
    };
    Ok(Rendering {
        version: text("version"),
        usual: template(release, namespace)?,
        renamed: Some(template(OTHER_RELEASE, OTHER_NAMESPACE)?),
    })
}

/// Makes a chart of a repository one that Helm can render: with a `Chart.yaml`, also where a release makes it, and with only
/// the dependencies that are there. Returns what the chart says about itself.
pub fn prepare(path: &Path) -> Result<Value, String> {
    let file = path.join("Chart.yaml");
    let text = fs::read_to_string(&file).unwrap_or_default();
    let mut about: Value = serde_saphyr::from_str(&text).unwrap_or_default();
    if !about["name"].is_string() {
        let folder = path.file_name().unwrap_or_default().to_string_lossy();
        let name = text.lines().find_map(|line| line.strip_prefix("name: "));
        let name = name.unwrap_or(&folder).trim();
        about = json!({ "apiVersion": "v2", "name": name, "version": "0.0.0" });
    }
    // A release fills in a version in place of these.
    if about["version"]
        .as_str()
        .is_none_or(|version| !version.starts_with(|c: char| c == 'v' || c.is_ascii_digit()))
    {
        about["version"] = "0.0.0".into();
    }
    let wanted = about["dependencies"].take();
    let mut there = Vec::new();
    for mut one in wanted.as_array().cloned().unwrap_or_default() {
        let name = one["name"].as_str().unwrap_or_default().to_owned();
        let goal = path.join("charts").join(&name);
        let beside = match one["repository"]
            .as_str()
            .and_then(|at| at.strip_prefix("file://"))
        {
            Some(at) => path.join(at),
            None => path.with_file_name(&name),
        };
        if !goal.join("Chart.yaml").is_file() && beside.join("Chart.yaml").is_file() {
            copy(&beside, &goal).map_err(|error| error.to_string())?;
        }
        if goal.join("Chart.yaml").is_file() {
            one["version"] = prepare(&goal)?["version"].take();
            there.push(one);
        }
    }
    about["dependencies"] = there.into();
    let _ = fs::remove_file(path.join("Chart.lock"));
    fs::write(&file, about.to_string()).map_err(|error| error.to_string())?;
    Ok(about)
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for item in fs::read_dir(from)? {
        let item = item?;
        let goal = to.join(item.file_name());
        if item.file_type()?.is_dir() {
            copy(&item.path(), &goal)?;
        } else if item.path().is_file() {
            fs::copy(item.path(), goal)?;
        }
    }
    Ok(())
}

/// What a program prints, or its complaint if it fails. It finds no network.
fn said(command: &mut Command) -> Result<String, String> {
    let nowhere = "http://127.0.0.1:9";
    let output = command
        .envs([("HTTPS_PROXY", nowhere), ("HTTP_PROXY", nowhere)])
        .output()
        .map_err(|error| error.to_string())?;
    if output.status.success() {
        return String::from_utf8(output.stdout).map_err(|error| error.to_string());
    }
    let complaint = String::from_utf8_lossy(&output.stderr);
    let is_cause = |line: &&str| line.to_lowercase().contains("error");
    let cause = complaint.lines().find(is_cause).or(complaint.lines().next());
    Err(cause.unwrap_or("it failed without a word").trim().to_owned())
}

/// The objects of a stream of documents, lists taken apart. Those without a namespace are in this one.
pub fn objects(text: &str, namespace: &str) -> Result<Vec<Object>, String> {
    let mut found = Vec::new();
    for document in documents(text) {
        let options = serde_saphyr::options! {
            with_snippet: false,
            strict_booleans: true,
            budget: serde_saphyr::budget! { max_nodes: 10_000_000, max_events: 10_000_000 },
        };
        let value: Value = match serde_saphyr::from_str_with_options(&document, options) {
            Ok(value) => value,
            // Texts in them break rules of YAML that Helm does not check. The name of its group is in roles, too.
            Err(_) if document.contains("kind: CustomResourceDefinition") => continue,
            Err(error) => return Err(format!("a document is no YAML: {}", error.without_snippet())),
        };
        let items = match value["items"].as_array() {
            Some(items) if value["kind"].as_str().is_some_and(|kind| kind.ends_with("List")) => items.clone(),
            _ => vec![value],
        };
        found.extend(items.into_iter().filter_map(|item| object(item, namespace)));
    }
    Ok(found)
}

/// The documents of a stream that are not empty.
fn documents(text: &str) -> Vec<String> {
    let mut documents = vec![String::new()];
    for line in text.lines() {
        if line == "---" || line.starts_with("--- ") {
            documents.push(String::new());
        } else if let Some(last) = documents.last_mut() {
            last.push_str(line);
            last.push('\n');
        }
    }
    let is_empty = |text: &String| {
        text.lines()
            .all(|line| line.trim().is_empty() || line.starts_with('#'))
    };
    documents.retain(|document| !is_empty(document));
    documents
}

fn object(mut value: Value, namespace: &str) -> Option<Object> {
    let kind = value["kind"].as_str()?.to_owned();
    let api_version = value["apiVersion"].as_str()?.to_owned();
    if !value["metadata"].is_object() {
        return None;
    }
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    let plural = format!("{}s", kind.to_lowercase());
    if !value["metadata"]["namespace"].is_string() {
        value["metadata"]["namespace"] = namespace.into();
    }
    Some(Object {
        resource: Resource::new(group, &plural),
        kind,
        api_version,
        value,
    })
}
