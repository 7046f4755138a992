//! The archives of `scripts/package`: their files, the rules of krew for them, and a release of them.

mod dependencies;
mod image;
mod krew;
mod release;
mod workflows;

use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Output},
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
    bill: PathBuf,
}

/// The package of the tested program, which the tests share. Its debug information would take half a minute to pack.
static PACKAGE: LazyLock<Package> = LazyLock::new(|| {
    let folder = TempDir::new().unwrap();
    let stripped = folder.path().join("kubectl-finalizers");
    let mut strip = Command::new("strip");
    strip.arg("-o").arg(&stripped).arg(BINARY);
    // `strip` comes with the linker.
    assert!(strip.status().unwrap().success());
    package(&stripped)
});

/// The script. It packs with a program of the workspace, whose crates are here because the tests have them, too.
fn script(words: &[&str]) -> Output {
    Command::new(root().join("scripts/package"))
        .args(words)
        .env("CARGO_NET_OFFLINE", "true")
        .output()
        .unwrap()
}

fn package(binary: &Path) -> Package {
    let out = TempDir::new().unwrap();
    let (binary, folder) = (binary.to_str().unwrap(), out.path().to_str().unwrap());
    let run = script(&["--local", "--binary", binary, "--out", folder]);
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let written = String::from_utf8(run.stdout).unwrap();
    let mut written = written.lines().map(PathBuf::from);
    let (archive, bill) = (written.next().unwrap(), written.next().unwrap());
    Package { out, archive, bill }
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

/// The crates of the program as cargo's own tree names them: `name version`.
fn compiled_in() -> BTreeSet<String> {
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "--locked", "--offline", "--prefix=none", "--format={p}"])
        .args([
            "--package",
            env!("CARGO_PKG_NAME"),
            "--edges=normal,no-proc-macro",
        ])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let lines = String::from_utf8(tree.stdout).unwrap();
    let crates = lines.lines().filter_map(|line| {
        let mut words = line.split(' ');
        Some(format!("{} {}", words.next()?, words.next()?.strip_prefix('v')?))
    });
    let own = concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION"));
    let crates: BTreeSet<_> = crates.filter(|name| name != own).collect();
    assert!(crates.len() > 100, "{crates:?}");
    crates
}

#[test]
fn the_archive_has_all_that_belongs_to_it() {
    let unpacked = PACKAGE.unpack();
    let has = |path: &str| {
        let file = unpacked.path().join(path);
        let mode = file.metadata().unwrap_or_else(|_| panic!("{path} is missing"));
        format!("{:o}", mode.permissions().mode() & 0o777)
    };
    for program in ["kubectl-finalizers", "kubectl_complete-finalizers", "install.sh"] {
        assert_eq!(has(program), "755", "{program}");
    }
    for file in [
        "LICENSE",
        "README.md",
        "THIRD-PARTY-LICENSES",
        "completions/kubectl-finalizers.bash",
        "completions/_kubectl-finalizers",
        "completions/kubectl-finalizers.fish",
        "completions/kubectl-finalizers.ps1",
    ] {
        assert_eq!(has(file), "644", "{file}");
    }
    for page in fs::read_dir(root().join("docs/man")).unwrap() {
        let name = page.unwrap().file_name().into_string().unwrap();
        assert_eq!(has(&format!("man/{name}")), "644", "{name}");
    }
}

#[test]
fn the_installer_puts_everything_where_shells_and_man_look() {
    let unpacked = PACKAGE.unpack();
    let prefix = TempDir::new().unwrap();
    let install = || {
        Command::new(unpacked.path().join("install.sh"))
            .arg(prefix.path())
            .output()
            .unwrap()
    };
    for _ in ["anew", "over itself"] {
        let out = install();
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        assert!(String::from_utf8_lossy(&out.stdout).contains(env!("CARGO_PKG_VERSION")));
        assert!(String::from_utf8_lossy(&out.stderr).starts_with("Add "));
    }
    for file in [
        "share/man/man1/kubectl-finalizers.1",
        "share/bash-completion/completions/kubectl-finalizers",
        "share/zsh/site-functions/_kubectl-finalizers",
        "share/fish/vendor_completions.d/kubectl-finalizers.fish",
    ] {
        assert!(prefix.path().join(file).is_file(), "{file}");
    }
    // kubectl asks it for completion, and it asks the program beside it.
    let bin = prefix.path().join("bin");
    let asked = Command::new(bin.join("kubectl_complete-finalizers"))
        .arg("expl")
        .env("PATH", format!("{}:/usr/bin:/bin", bin.display()))
        .output()
        .unwrap();
    assert!(
        String::from_utf8_lossy(&asked.stdout).starts_with("explain"),
        "{}",
        String::from_utf8_lossy(&asked.stdout)
    );
    // A file is where a folder must be.
    fs::remove_dir_all(prefix.path().join("bin")).unwrap();
    fs::write(prefix.path().join("bin"), "").unwrap();
    assert!(!install().status.success());
}

#[test]
fn the_licences_name_every_crate_that_is_compiled_in() {
    let text = fs::read_to_string(PACKAGE.unpack().path().join("THIRD-PARTY-LICENSES")).unwrap();
    let (list, texts) = text.split_once("\n====").unwrap();
    let named: BTreeSet<_> = list
        .lines()
        .skip(3)
        .filter_map(|line| Some(line.split_once(": ")?.0.to_owned()))
        .collect();
    assert_eq!(named, compiled_in());
    for name in named {
        let heads = |line: &str| line.split(", ").any(|one| one == name);
        assert!(texts.lines().any(heads), "{name} has no text");
    }
    for words in ["Apache License", "Permission is hereby granted, free of charge"] {
        assert!(texts.contains(words), "{words}");
    }
}

/// The schema is CycloneDX's own, without spaces (CycloneDX/specification at e02a34ae, Apache-2.0). It refers to two others,
/// for signatures and for ids of licences. The bill has neither, so here they refuse everything.
#[test]
fn the_bill_of_materials_follows_its_schema_and_names_every_crate() {
    let schema = include_str!("packaging/cyclonedx/bom-1.5.schema.json")
        .replace(r#""$ref":"spdx.schema.json""#, r#""not":{}"#)
        .replace(
            r#""$ref":"jsf-0.82.schema.json#/definitions/signature""#,
            r#""not":{}"#,
        );
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let validator = testkit::jsonschema::draft7::new(&schema).unwrap();
    let text = fs::read_to_string(&PACKAGE.bill).unwrap();
    let bill = crate::schema::checked(&validator, &text);
    assert!(
        !validator
            .is_valid(&serde_json::json!({ "bomFormat": "CycloneDX", "specVersion": "1.5", "crates": [] }))
    );

    let components = bill["components"].as_array().unwrap();
    let word = |one: &Value, field: &str| one[field].as_str().unwrap().to_owned();
    let named: BTreeSet<_> = components
        .iter()
        .map(|one| format!("{} {}", word(one, "name"), word(one, "version")))
        .collect();
    assert_eq!(named, compiled_in());
    for one in components {
        assert_eq!(one["hashes"][0]["content"].as_str().unwrap().len(), 64, "{one}");
    }
    // Each reference leads to a component.
    let references = |list: &Value, field: &str| -> BTreeSet<String> {
        list.as_array()
            .unwrap()
            .iter()
            .map(|one| word(one, field))
            .collect()
    };
    let mut known = references(&bill["components"], "bom-ref");
    known.insert(word(&bill["metadata"]["component"], "bom-ref"));
    assert_eq!(references(&bill["dependencies"], "ref"), known);
    for one in bill["dependencies"].as_array().unwrap() {
        let used = one["dependsOn"].as_array().unwrap();
        assert!(
            used.iter().all(|used| known.contains(used.as_str().unwrap())),
            "{one}"
        );
    }
}

#[test]
fn the_sums_are_those_of_the_files() {
    let mut check = Command::new("sha256sum");
    let out = check.args(["--check", "--strict", "SHA256SUMS"]);
    let out = out.current_dir(PACKAGE.out.path()).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stdout));
    let sums = fs::read_to_string(PACKAGE.out.path().join("SHA256SUMS")).unwrap();
    for name in [&PACKAGE.archive, &PACKAGE.bill] {
        assert!(
            sums.contains(name.file_name().unwrap().to_str().unwrap()),
            "{sums}"
        );
    }
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
