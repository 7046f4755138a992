//! krew's own rules for the manifest.
//!
//! krew is no Go module that a test could fetch, so a person runs it before a release (CONTRIBUTING.md). The rules are those of
//! `kubernetes-sigs/krew:internal/index/validation/validate.go`, `internal/installation/move.go`, and those of its
//! reviewers.

use std::{collections::BTreeSet, fs, os::unix::fs::PermissionsExt as _, process::Command};

use serde_json::Value;
use tempfile::TempDir;

use super::{PACKAGE, committed, platform, platforms, root, script};

/// The platforms that kubectl is built for and people use. A selector is for exactly one of them, so that none covers two.
const PLATFORMS: [(&str, &str, &str); 5] = [
    ("linux", "amd64", "x86_64-unknown-linux-gnu"),
    ("linux", "arm64", "aarch64-unknown-linux-gnu"),
    ("darwin", "amd64", "x86_64-apple-darwin"),
    ("darwin", "arm64", "aarch64-apple-darwin"),
    ("windows", "amd64", "x86_64-pc-windows-msvc"),
];

#[test]
fn the_manifest_follows_krews_rules() {
    let manifest = committed();
    assert_eq!(
        manifest["apiVersion"],
        "krew.googlecontainertools.github.com/v1alpha2"
    );
    assert_eq!(manifest["kind"], "Plugin");
    assert_eq!(manifest["metadata"]["name"], "finalizers");
    let spec = &manifest["spec"];
    assert_eq!(spec["version"], format!("v{}", env!("CARGO_PKG_VERSION")));
    assert_eq!(spec["homepage"], env!("CARGO_PKG_REPOSITORY"));

    let short = spec["shortDescription"].as_str().unwrap();
    assert!(
        !short.is_empty() && short.len() <= 50 && !short.contains(['\n', '\r']),
        "{short}"
    );
    let description = spec["description"].as_str().unwrap();
    assert!(description.lines().all(|line| line.len() <= 80), "{description}");
    assert!(
        !description.contains("kubectl finalizers"),
        "usage belongs in --help"
    );
}

#[test]
fn every_platform_follows_krews_rules() {
    let manifest = committed();
    let tag = manifest["spec"]["version"].as_str().unwrap();
    let covered: Vec<_> = platforms(&manifest)
        .iter()
        .map(|platform| {
            let labels = platform["selector"]["matchLabels"].as_object().unwrap();
            assert!(labels.keys().eq(["arch", "os"]), "{labels:?}");
            assert_eq!(platform["selector"].as_object().unwrap().len(), 1, "{platform}");
            (labels["os"].as_str().unwrap(), labels["arch"].as_str().unwrap())
        })
        .collect();
    assert_eq!(covered, PLATFORMS.map(|(os, arch, _)| (os, arch)));
    for (platform, (os, _, target)) in platforms(&manifest).iter().zip(PLATFORMS) {
        let (program, ending) = if os == "windows" {
            ("kubectl-finalizers.exe", "zip")
        } else {
            ("kubectl-finalizers", "tar.gz")
        };
        let archive = format!("kubectl-finalizers-{tag}-{target}.{ending}");
        let releases = format!("{}/releases/download/{tag}", env!("CARGO_PKG_REPOSITORY"));
        assert_eq!(platform["uri"], format!("{releases}/{archive}"));
        assert!(is_sum(&platform["sha256"]), "{platform}");
        assert_eq!(platform["bin"], program);
        let install = fs::read_to_string(root().join("docs/install.md")).unwrap();
        assert!(
            install.contains(&format!("`{target}`")),
            "docs/install.md says nothing of {target}"
        );

        let files = platform["files"].as_array().unwrap();
        let from: BTreeSet<_> = files.iter().map(|file| file["from"].as_str().unwrap()).collect();
        assert_eq!(from.len(), files.len(), "{platform}");
        for file in [program, "LICENSE", "THIRD-PARTY-LICENSES"] {
            assert!(from.contains(file), "{file}: {platform}");
        }
        for file in files {
            for path in ["from", "to"].map(|end| file[end].as_str().unwrap()) {
                let inside = !path.is_empty() && !path.starts_with('/') && !path.contains("..");
                assert!(inside && !path.contains(['\\', ':']), "{path}");
                // krew refuses a path that is not as short as it can be.
                assert!(!path.ends_with('/') && !path.contains("//"), "{path}");
            }
        }
    }
}

/// `cargo binstall` fills in the words between braces.
#[test]
fn binstall_downloads_the_archives_of_the_manifest_and_finds_the_program_in_them() {
    let metadata = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .unwrap();
    let metadata: Value = serde_json::from_slice(&metadata.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let package = packages.iter().find(|one| one["name"] == env!("CARGO_PKG_NAME"));
    let binstall = &package.unwrap()["metadata"]["binstall"];
    let manifest = committed();
    for (platform, (os, _, target)) in platforms(&manifest).iter().zip(PLATFORMS) {
        let own = &binstall["overrides"][target];
        let field = |name: &str| {
            let value = own.get(name).unwrap_or(&binstall[name]);
            value.as_str().unwrap().to_owned()
        };
        let suffix = if os == "windows" { ".exe" } else { "" };
        let rendered = |name: &str| {
            [
                ("repo", env!("CARGO_PKG_REPOSITORY")),
                ("name", env!("CARGO_PKG_NAME")),
                ("version", env!("CARGO_PKG_VERSION")),
                ("target", target),
                ("bin", "kubectl-finalizers"),
                ("binary-ext", suffix),
            ]
            .iter()
            .fold(field(name), |text, (word, value)| {
                text.replace(&format!("{{ {word} }}"), value)
            })
        };
        assert_eq!(platform["uri"], rendered("pkg-url"));
        assert_eq!(platform["bin"], rendered("bin-dir"));
        assert_eq!(field("pkg-fmt"), if os == "windows" { "zip" } else { "tgz" });
    }
}

fn is_sum(sum: &Value) -> bool {
    let digit = |c| matches!(c, '0'..='9' | 'a'..='f');
    sum.as_str()
        .is_some_and(|sum| sum.len() == 64 && sum.chars().all(digit))
}

#[test]
fn the_archive_matches_the_manifest() {
    let package = &*PACKAGE;
    let written = package.manifest();
    let platform = platform(&written, &package.archive);
    let unpacked = package.unpack();
    for file in platform["files"].as_array().unwrap() {
        assert!(
            unpacked.path().join(file["from"].as_str().unwrap()).is_file(),
            "{file}"
        );
        assert_eq!(file["to"], ".");
    }
    let bin = unpacked.path().join(platform["bin"].as_str().unwrap());
    assert_eq!(bin.metadata().unwrap().permissions().mode() & 0o777, 0o755);
    let version = Command::new(bin).arg("--version").output().unwrap();
    assert!(String::from_utf8_lossy(&version.stdout).contains(env!("CARGO_PKG_VERSION")));
    assert!(unpacked.path().join("README.md").is_file());
}

#[test]
fn the_manifest_of_a_release_differs_only_in_version_and_checksum() {
    let package = &*PACKAGE;
    let sum = Command::new("sha256sum").arg(&package.archive).output().unwrap();
    let sum = String::from_utf8(sum.stdout).unwrap();
    let mut written = package.manifest();
    let platform = platform(&written, &package.archive);
    assert_eq!(platform["sha256"], sum.split(' ').next().unwrap());

    let mut committed = committed();
    for manifest in [&mut written, &mut committed] {
        for platform in manifest["spec"]["platforms"].as_array_mut().unwrap() {
            platform["sha256"] = Value::Null;
        }
    }
    assert_eq!(written, committed);
}

#[test]
fn a_release_needs_every_archive_of_the_manifest() {
    let out = TempDir::new().unwrap();
    let folder = out.path().to_str().unwrap();
    let manifest = committed();
    let names: Vec<_> = platforms(&manifest)
        .iter()
        .map(|platform| platform["uri"].as_str().unwrap().rsplit('/').next().unwrap())
        .collect();
    for (at, name) in names.iter().enumerate() {
        let refused = script(&["--release", folder]);
        assert!(!refused.status.success(), "without {name}");
        let why = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(why.contains(&format!("{name} is missing")), "{why}");
        fs::write(out.path().join(name), format!("archive {at}")).unwrap();
    }
    let made = script(&["--release", folder]);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let written = super::read(&out.path().join("krew-manifest.yaml"));
    let sums: BTreeSet<_> = platforms(&written)
        .iter()
        .map(|one| one["sha256"].to_string())
        .collect();
    assert_eq!(sums.len(), names.len(), "{written}");
    assert!(
        platforms(&written).iter().all(|one| is_sum(&one["sha256"])),
        "{written}"
    );
    let zeros = "0".repeat(64);
    assert!(!sums.iter().any(|sum| sum.contains(&zeros)), "{written}");
}
