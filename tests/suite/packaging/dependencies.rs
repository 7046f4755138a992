//! What the program is made of: no dependency without a use, none that needs another compiler, and a package for `cargo
//! install`. `cargo deny` and `cargo machete` look deeper, in the workflow of CI.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use tempfile::TempDir;

use super::root;

/// Crates that need a C library or a compiler of its own to build.
const BANNED: [&str; 6] = [
    "aws-lc-sys",
    "bindgen",
    "native-tls",
    "openssl",
    "openssl-sys",
    "prost-build",
];

/// The folders and files whose code may use the dependencies of a section.
fn places(package: &str, section: &str) -> Vec<PathBuf> {
    let package = root().join(package);
    let names: &[&str] = match section {
        "build-dependencies" => &["build.rs", "build", "src"],
        "dev-dependencies" => &["src", "tests", "benches"],
        _ => &["src"],
    };
    names.iter().map(|name| package.join(name)).collect()
}

/// The code without comments, of a file or of all Rust files below a folder.
fn code(place: &Path) -> String {
    if place.is_dir() {
        let entries = fs::read_dir(place).unwrap();
        return entries.map(|entry| code(&entry.unwrap().path())).collect();
    }
    if place.extension().is_none_or(|extension| extension != "rs") {
        return String::new();
    }
    let text = fs::read_to_string(place).unwrap();
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// The names of the dependencies in each section of a manifest.
fn dependencies(manifest: &str) -> Vec<(&str, String)> {
    let mut section = "";
    let mut found = Vec::new();
    for line in manifest.lines() {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            section = name.rsplit('.').next().unwrap();
        } else if section.ends_with("dependencies") && line.starts_with(|c: char| c.is_ascii_lowercase()) {
            let name = line.split(" = ").next().unwrap();
            found.push((section, name.replace('-', "_")));
        }
    }
    found
}

#[test]
fn each_dependency_is_used() {
    let mut unused = Vec::new();
    let mut seen = 0;
    for package in ["", "dist", "testkit"] {
        let manifest = fs::read_to_string(root().join(package).join("Cargo.toml")).unwrap();
        for (section, name) in dependencies(&manifest) {
            let used = places(package, section)
                .iter()
                .filter(|place| place.exists())
                .any(|place| {
                    code(place)
                        .split(|c: char| !c.is_alphanumeric() && c != '_')
                        .any(|word| word == name)
                });
            if !used {
                unused.push(format!("{package}/Cargo.toml: {name}"));
            }
            seen += 1;
        }
    }
    assert!(seen > 40, "only {seen} dependencies were found");
    assert!(unused.is_empty(), "{unused:?}");
}

#[test]
fn no_crate_needs_openssl_or_another_compiler() {
    let lock = fs::read_to_string(root().join("Cargo.lock")).unwrap();
    let names: BTreeSet<_> = lock
        .lines()
        .filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'))
        .collect();
    assert!(names.contains("rustls") && names.len() > 200, "{names:?}");
    let banned: Vec<_> = BANNED.iter().filter(|name| names.contains(*name)).collect();
    assert!(banned.is_empty(), "{banned:?}");
    // cargo deny refuses the same ones.
    let deny = fs::read_to_string(root().join("deny.toml")).unwrap();
    for name in BANNED {
        assert!(
            deny.contains(&format!("{{ crate = \"{name}\"")),
            "deny.toml allows {name}"
        );
    }
}

/// `scripts/long crate` builds the package and runs the program in it.
#[test]
fn the_crate_is_packed_with_all_that_its_build_reads() {
    let out = TempDir::new().unwrap();
    let packed = Command::new(env!("CARGO"))
        .args(["package", "--package", env!("CARGO_PKG_NAME")])
        .args(["--no-verify", "--allow-dirty", "--offline", "--target-dir"])
        .arg(out.path())
        .current_dir(root())
        .output()
        .unwrap();
    let said = String::from_utf8(packed.stderr).unwrap();
    assert!(packed.status.success(), "{said}");
    let name = concat!(env!("CARGO_PKG_NAME"), "-", env!("CARGO_PKG_VERSION"));
    let listed = Command::new("tar")
        .arg("-tzf")
        .arg(out.path().join(format!("package/{name}.crate")))
        .output()
        .unwrap();
    let files = String::from_utf8(listed.stdout).unwrap();
    let has = |file: &str| files.lines().any(|line| line == format!("{name}/{file}"));
    for file in [
        "Cargo.lock",
        "LICENSE",
        "README.md",
        "build.rs",
        "build/embed.rs",
        "knowledge/NAMES",
        "knowledge/drift.results",
        "src/main.rs",
    ] {
        assert!(has(file), "{file} is not in\n{files}");
    }
    assert!(
        !files
            .lines()
            .any(|line| line.starts_with(&format!("{name}/tests/")))
    );
}
