//! Checks `krew-manifest.yaml` and the archive of `scripts/package` against krew's own rules.
//!
//! krew itself cannot be run, because it cannot be built from Go modules here. The rules are those of
//! `kubernetes-sigs/krew:internal/index/validation/validate.go`, and those of its reviewers.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
    sync::LazyLock,
    time::SystemTime,
};

use serde_json::Value;
use tempfile::TempDir;

const BINARY: &str = env!("CARGO_BIN_EXE_kubectl-finalizers");

/// The archive that the script makes from the tested program.
struct Package {
    out: TempDir,
    archive: PathBuf,
}

/// The package of the tested program. To pack a program with its debug information takes half a minute of work, so the
/// tests share one.
static PACKAGE: LazyLock<Package> = LazyLock::new(|| package(Path::new(BINARY)));

fn package(binary: &Path) -> Package {
    let out = TempDir::new().unwrap();
    let mut script = Command::new(root().join("scripts/package"));
    let run = script
        .arg("--binary")
        .arg(binary)
        .arg("--out")
        .arg(out.path())
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let archive = String::from_utf8(run.stdout).unwrap();
    let archive = archive.lines().next().unwrap().into();
    Package { out, archive }
}

impl Package {
    fn manifest(&self) -> Value {
        read(&self.out.path().join("krew-manifest.yaml"))
    }

    fn unpack(&self) -> TempDir {
        let folder = TempDir::new().unwrap();
        let mut tar = Command::new("tar");
        tar.arg("-xzf").arg(&self.archive).arg("-C").arg(folder.path());
        assert!(tar.status().unwrap().success());
        folder
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> Value {
    serde_saphyr::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn committed() -> Value {
    read(&root().join("krew-manifest.yaml"))
}

fn platforms(manifest: &Value) -> &[Value] {
    manifest["spec"]["platforms"].as_array().unwrap()
}

/// The platform of this archive.
fn platform(manifest: &Value, archive: &Path) -> Value {
    let name = archive.file_name().unwrap().to_str().unwrap();
    let fits = |platform: &&Value| platform["uri"].as_str().unwrap().ends_with(&format!("/{name}"));
    platforms(manifest).iter().find(fits).unwrap().clone()
}

#[test]
fn the_manifest_follows_krews_rules() {
    let manifest = committed();
    assert_eq!(
        manifest["apiVersion"],
        "krew.googlecontainertools.github.com/v1alpha2"
    );
    assert_eq!(manifest["kind"], "Plugin");
    let name = manifest["metadata"]["name"].as_str().unwrap();
    assert!(
        name.chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
            && !name.is_empty()
    );
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
    assert!(!platforms(&manifest).is_empty());
    for platform in platforms(&manifest) {
        let labels = platform["selector"]["matchLabels"].as_object().unwrap();
        assert!(labels.keys().eq(["arch", "os"]), "{labels:?}");
        let uri = platform["uri"].as_str().unwrap();
        let releases = format!("{}/releases/download/{tag}/", env!("CARGO_PKG_REPOSITORY"));
        let archive = uri.strip_prefix(&releases).unwrap_or_else(|| panic!("{uri}"));
        assert!(archive.starts_with(&format!("kubectl-finalizers-{tag}-")) && archive.ends_with(".tar.gz"));
        assert!(is_sum(&platform["sha256"]), "{platform}");
        let readme = fs::read_to_string(root().join("README.md")).unwrap();
        assert!(
            readme.contains(archive),
            "README.md tells how to install {archive}"
        );

        let bin = platform["bin"].as_str().unwrap();
        let files = platform["files"].as_array().unwrap();
        assert!(files.iter().any(|file| file["from"] == bin));
        assert!(files.iter().any(|file| file["from"] == "LICENSE"));
        for file in files {
            for path in ["from", "to"].map(|end| file[end].as_str().unwrap()) {
                let inside = !path.is_empty() && !path.starts_with('/') && !path.contains("..");
                assert!(inside && !path.contains(['\\', ':']), "{path}");
            }
        }
    }
}

/// `cargo binstall` fills in the words between braces.
#[test]
fn binstall_downloads_an_archive_of_the_manifest_and_finds_the_program_in_it() {
    let metadata = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .unwrap();
    let metadata: Value = serde_json::from_slice(&metadata.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let package = packages.iter().find(|one| one["name"] == env!("CARGO_PKG_NAME"));
    let binstall = &package.unwrap()["metadata"]["binstall"];
    let rendered = |field: &str| {
        [
            ("repo", env!("CARGO_PKG_REPOSITORY")),
            ("name", env!("CARGO_PKG_NAME")),
            ("version", env!("CARGO_PKG_VERSION")),
            ("target", "x86_64-unknown-linux-gnu"),
            ("bin", "kubectl-finalizers"),
            ("binary-ext", ""),
        ]
        .iter()
        .fold(
            binstall[field].as_str().unwrap().to_owned(),
            |text, (word, value)| text.replace(&format!("{{ {word} }}"), value),
        )
    };
    let manifest = committed();
    let url = rendered("pkg-url");
    let named = platforms(&manifest).iter().find(|one| one["uri"] == url.as_str());
    let platform = named.unwrap_or_else(|| panic!("no platform of the manifest has {url}"));
    assert_eq!(platform["bin"], rendered("bin-dir").as_str());
    assert_eq!(binstall["pkg-fmt"], "tgz");
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
fn the_same_program_makes_the_same_archive() {
    let folder = TempDir::new().unwrap();
    let program = folder.path().join("program");
    fs::write(&program, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
    let first = package(&program);
    // The time of the file, its folder and the time of day differ.
    let other = folder.path().join("other");
    fs::copy(&program, &other).unwrap();
    let later = fs::File::open(&other).unwrap();
    later.set_modified(SystemTime::UNIX_EPOCH).unwrap();
    let second = package(&other);
    let bytes = |package: &Package| fs::read(&package.archive).unwrap();
    assert!(bytes(&first) == bytes(&second));
}
