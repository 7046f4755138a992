//! Which crates a program is made of.

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use crate::Result;

/// The crates that are compiled into the program for one target.
pub(crate) struct Tree {
    /// The version of the program itself.
    pub version: String,
    pub licence: String,
    pub repository: String,
    /// By name and version.
    pub crates: BTreeMap<Id, Crate>,
    /// The direct dependencies of the program.
    pub direct: BTreeSet<Id>,
}

/// Name and version.
pub(crate) type Id = (String, String);

pub(crate) struct Crate {
    /// An SPDX expression.
    pub licence: String,
    pub repository: Option<String>,
    /// Where its source is on this machine.
    pub folder: PathBuf,
    /// The SHA-256 of its archive in the registry.
    pub checksum: Option<String>,
    pub uses: BTreeSet<Id>,
}

impl Tree {
    /// Reads the repository in the current directory.
    pub(crate) fn of(target: &str) -> Result<Self> {
        let metadata = cargo(&[
            "metadata",
            "--format-version=1",
            "--locked",
            "--filter-platform",
            target,
        ])?;
        // The metadata also has what a feature names only in case it is there, such as `zlib-rs?/std`. The tree is exact.
        let tree = cargo(&[
            "tree",
            "--locked",
            "--package=kubectl-finalizers",
            "--edges=normal,no-proc-macro",
            "--prefix=none",
            "--format={p}",
            "--target",
            target,
        ])?;
        Self::read(
            &serde_json::from_str(&metadata)?,
            &names(&tree),
            &fs::read_to_string("Cargo.lock")?,
        )
    }

    fn read(metadata: &Value, contained: &BTreeSet<Id>, lock: &str) -> Result<Self> {
        let by_id = |list: &Value| -> BTreeMap<String, Value> {
            let list = list.as_array().into_iter().flatten();
            list.map(|one| (text(&one["id"]), one.clone())).collect()
        };
        let packages = by_id(&metadata["packages"]);
        let nodes = by_id(&metadata["resolve"]["nodes"]);
        let checksums = checksums(lock);
        let root = text(&metadata["resolve"]["root"]);
        let program = packages.get(&root).ok_or("cargo metadata names no root")?;

        let mut crates = BTreeMap::new();
        let mut left = vec![root.clone()];
        let mut direct = BTreeSet::new();
        while let Some(id) = left.pop() {
            let package = packages.get(&id).ok_or_else(|| format!("no package {id}"))?;
            let mut needs = compiled_in(&nodes[&id], &packages);
            needs.retain(|id| contained.contains(&name(&packages[id])));
            let uses: BTreeSet<_> = needs.iter().map(|id| name(&packages[id])).collect();
            if id == root {
                direct = uses;
                left.extend(needs);
                continue;
            }
            if crates.contains_key(&name(package)) {
                continue;
            }
            let manifest = text(&package["manifest_path"]);
            let folder = Path::new(&manifest).parent().ok_or("a manifest has no folder")?;
            crates.insert(
                name(package),
                Crate {
                    // Old crates write a slash for "or".
                    licence: text(&package["license"]).replace('/', " OR "),
                    repository: package["repository"].as_str().map(str::to_owned),
                    folder: folder.to_owned(),
                    checksum: checksums.get(&name(package)).cloned(),
                    uses,
                },
            );
            left.extend(needs);
        }
        if crates.len() + 1 != contained.len() {
            return Err("cargo metadata and cargo tree name different crates".into());
        }
        Ok(Self {
            version: text(&program["version"]),
            licence: text(&program["license"]),
            repository: text(&program["repository"]),
            crates,
            direct,
        })
    }
}

fn cargo(words: &[&str]) -> Result<String> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let run = Command::new(cargo).args(words).output()?;
    if !run.status.success() {
        return Err(String::from_utf8_lossy(&run.stderr).into());
    }
    Ok(String::from_utf8(run.stdout)?)
}

/// Reads lines such as `serde v1.0.228`, some with more words.
fn names(tree: &str) -> BTreeSet<Id> {
    let lines = tree.lines().filter_map(|line| {
        let mut words = line.split(' ');
        let (name, version) = (words.next()?, words.next()?.strip_prefix('v')?);
        Some((name.to_owned(), version.to_owned()))
    });
    lines.collect()
}

/// The ids of its normal dependencies. A procedural macro runs in the compiler, so the program does not contain it.
fn compiled_in(node: &Value, packages: &BTreeMap<String, Value>) -> Vec<String> {
    let all = node["deps"].as_array().into_iter().flatten();
    let normal = all.filter(|dependency| {
        let kinds = dependency["dep_kinds"].as_array().into_iter().flatten();
        kinds.map(|kind| &kind["kind"]).any(Value::is_null)
    });
    normal
        .map(|dependency| text(&dependency["pkg"]))
        .filter(|id| {
            let targets = packages[id]["targets"].as_array().into_iter().flatten();
            !targets
                .filter_map(|target| target["kind"].as_array())
                .flatten()
                .any(|kind| kind == "proc-macro")
        })
        .collect()
}

fn name(package: &Value) -> Id {
    (text(&package["name"]), text(&package["version"]))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn checksums(lock: &str) -> BTreeMap<Id, String> {
    let field = |block: &str, name: &str| {
        let line = block
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(" = "));
        line.map(|line| line.trim_matches('"').to_owned())
    };
    lock.split("[[package]]")
        .filter_map(|block| {
            let id = (field(block, "name")?, field(block, "version")?);
            Some((id, field(block, "checksum")?))
        })
        .collect()
}
