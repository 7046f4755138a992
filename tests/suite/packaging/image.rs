//! `scripts/image`: the image of the exporter, by the rules of the OCI image specification 1.1.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use ring::digest::{SHA256, digest};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::root;

/// The beginning of a program for Linux that needs no library: the header of ELF alone.
fn program(machine: u8) -> Vec<u8> {
    let mut header = vec![0; 64];
    header[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
    // An executable, for this machine, of version 1, with a header of 64 bytes and no parts.
    for (at, byte) in [(16, 2), (18, machine), (20, 1), (52, 64), (54, 56), (58, 64)] {
        header[at] = byte;
    }
    header
}

const X86_64: u8 = 62;
const AARCH64: u8 = 183;

/// An archive of a release as far as the image needs it.
fn archive(folder: &Path, name: &str, program: &[u8]) -> PathBuf {
    let files = [
        ("kubectl-finalizers", program),
        ("LICENSE", b"Apache"),
        ("THIRD-PARTY-LICENSES", b"MIT"),
        ("README.md", b"# Read"),
    ];
    let from = folder.join("files");
    fs::create_dir_all(&from).unwrap();
    for (name, bytes) in files {
        fs::write(from.join(name), bytes).unwrap();
    }
    let archive = folder.join(name);
    let mut tar = Command::new("tar");
    tar.arg("-czf").arg(&archive).arg("-C").arg(&from);
    assert!(tar.args(files.map(|(name, _)| name)).status().unwrap().success());
    archive
}

fn script(out: &Path, archives: &[&Path]) -> Output {
    let mut script = Command::new(root().join("scripts/image"));
    script.arg(out).args(archives).output().unwrap()
}

#[track_caller]
fn refused(folder: &TempDir, archives: &[&Path], why: &str) {
    let out = script(folder.path(), archives);
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(!out.status.success() && said.contains(why), "{said}");
}

/// An unpacked image.
struct Image(TempDir);

impl Image {
    fn of(archives: &[&Path]) -> (Self, Vec<u8>) {
        let folder = TempDir::new().unwrap();
        let out = script(folder.path(), archives);
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        let file = PathBuf::from(String::from_utf8(out.stdout).unwrap().trim_end());
        let name = concat!(
            "kubectl-finalizers-exporter-v",
            env!("CARGO_PKG_VERSION"),
            ".oci.tar"
        );
        assert_eq!(file.file_name().unwrap(), name);
        let bytes = fs::read(&file).unwrap();
        unpack(&file, folder.path(), "-xf");
        (Self(folder), bytes)
    }

    fn json(&self, path: &str) -> Value {
        serde_json::from_slice(&fs::read(self.0.path().join(path)).unwrap()).unwrap()
    }

    /// Where the bytes are that a descriptor describes. They have its size and its sum.
    fn blob(&self, descriptor: &Value) -> String {
        let sum = descriptor["digest"].as_str().unwrap();
        let path = format!("blobs/{}", sum.replace(':', "/"));
        let bytes = fs::read(self.0.path().join(&path)).unwrap();
        assert_eq!(descriptor["size"], bytes.len(), "{descriptor}");
        assert_eq!(sum, sum_of(&bytes));
        path
    }

    /// The JSON that a descriptor describes, which names its own kind.
    fn described(&self, descriptor: &Value, kind: &str) -> Value {
        let kind = format!("application/vnd.oci.image.{kind}.v1+json");
        assert_eq!(descriptor["mediaType"], kind);
        let found = self.json(&self.blob(descriptor));
        assert!(
            found["mediaType"] == kind || kind.contains(".config."),
            "{found:#}"
        );
        found
    }
}

fn sum_of(bytes: &[u8]) -> String {
    let mut sum = "sha256:".to_owned();
    for byte in digest(&SHA256, bytes).as_ref() {
        let _ = write!(sum, "{byte:02x}");
    }
    sum
}

fn unpack(file: &Path, folder: &Path, how: &str) {
    let mut tar = Command::new("tar");
    tar.arg(how).arg(file).arg("-C").arg(folder);
    assert!(tar.status().unwrap().success());
}

/// What the Dockerfile says, in the words of a configuration.
fn dockerfile() -> Value {
    let text = fs::read_to_string(root().join("deploy/exporter/Dockerfile")).unwrap();
    let text = text.replace("\\\n", " ");
    let of = |word: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(word));
        line.unwrap_or_else(|| panic!("the Dockerfile has no {word}"))
            .trim()
    };
    let labels: BTreeMap<_, _> = of("LABEL ")
        .split("\" ")
        .map(|pair| pair.trim().split_once("=\"").unwrap())
        .map(|(name, value)| (name, value.trim_end_matches('"')))
        .collect();
    let words = |word| serde_json::from_str::<Value>(of(word)).unwrap();
    json!({
        "User": of("USER "),
        "Entrypoint": words("ENTRYPOINT "),
        "Cmd": words("CMD "),
        "ExposedPorts": {of("EXPOSE "): {}},
        "Labels": labels,
    })
}

#[test]
fn the_image_follows_its_specification_and_says_what_the_dockerfile_says() {
    let folder = TempDir::new().unwrap();
    let amd64 = archive(folder.path(), "amd64.tar.gz", &program(X86_64));
    let arm64 = archive(folder.path(), "arm64.tar.gz", &program(AARCH64));
    let (image, bytes) = Image::of(&[&amd64, &arm64]);
    // Nothing of the machine or the day is in it.
    assert!(Image::of(&[&amd64, &arm64]).1 == bytes);

    assert_eq!(image.json("oci-layout"), json!({"imageLayoutVersion": "1.0.0"}));
    let top = image.json("index.json");
    assert_eq!(top["schemaVersion"], 2);
    assert_eq!(top["manifests"].as_array().unwrap().len(), 1, "{top:#}");
    let index = image.described(&top["manifests"][0], "index");
    let manifests = index["manifests"].as_array().unwrap();
    let platforms: Vec<_> = manifests.iter().map(|one| one["platform"].clone()).collect();
    let platform = |architecture| json!({"os": "linux", "architecture": architecture});
    assert_eq!(platforms, [platform("amd64"), platform("arm64")]);
    for (descriptor, machine) in manifests.iter().zip([X86_64, AARCH64]) {
        let manifest = image.described(descriptor, "manifest");
        let config = image.described(&manifest["config"], "config");
        assert_eq!(config["os"], descriptor["platform"]["os"]);
        assert_eq!(config["architecture"], descriptor["platform"]["architecture"]);
        assert_eq!(config["config"], dockerfile());
        // The exporter is what the Deployment runs.
        let mut words = vec!["x"];
        words.extend(
            config["config"]["Cmd"]
                .as_array()
                .unwrap()
                .iter()
                .map(|word| word.as_str().unwrap()),
        );
        kubectl_finalizers::cli::parse(words.into_iter().map(Into::into)).unwrap();

        let [layer] = manifest["layers"].as_array().unwrap().as_slice() else {
            panic!("{manifest:#}")
        };
        assert_eq!(layer["mediaType"], "application/vnd.oci.image.layer.v1.tar+gzip");
        let layer = image.0.path().join(image.blob(layer));
        let plain = Command::new("gzip").arg("-dc").arg(&layer).output().unwrap();
        assert_eq!(config["rootfs"]["diff_ids"], json!([sum_of(&plain.stdout)]));
        let listed = Command::new("tar").arg("-tvzf").arg(&layer).output().unwrap();
        let listed = String::from_utf8(listed.stdout).unwrap();
        let listed: Vec<_> = listed
            .lines()
            .map(|line| {
                let words: Vec<_> = line.split_whitespace().collect();
                (words[0], words[1], words[5])
            })
            .collect();
        let file = |path| ("-r--r--r--", "0/0", path);
        let directory = |path| ("drwxr-xr-x", "0/0", path);
        assert_eq!(
            listed,
            [
                directory("etc/"),
                file("etc/passwd"),
                ("-r-xr-xr-x", "0/0", "kubectl-finalizers"),
                directory("licenses/"),
                file("licenses/LICENSE"),
                file("licenses/THIRD-PARTY-LICENSES"),
            ]
        );
        let files = TempDir::new().unwrap();
        unpack(&layer, files.path(), "-xzf");
        let read = |path| fs::read(files.path().join(path)).unwrap();
        assert_eq!(read("kubectl-finalizers"), program(machine));
        let users = String::from_utf8(read("etc/passwd")).unwrap();
        assert!(users.contains("\nnonroot:x:65532:65532:"), "{users}");
    }
}

#[test]
fn an_archive_that_makes_no_image_is_refused() {
    let folder = TempDir::new().unwrap();
    let file = |name: &str, bytes: &[u8]| archive(folder.path(), name, bytes);
    let good = file("good.tar.gz", &program(X86_64));
    let text = file("text.tar.gz", b"#!/bin/sh\n");
    let other = file("other.tar.gz", &program(40));
    // The program under test needs the libraries of this machine.
    let dynamic = file("dynamic.tar.gz", &fs::read(super::BINARY).unwrap());
    let empty = folder.path().join("empty.tar.gz");
    let made = Command::new("tar")
        .arg("-czf")
        .arg(&empty)
        .args(["-T", "/dev/null"])
        .status();
    assert!(made.unwrap().success());
    let missing = folder.path().join("missing.tar.gz");
    refused(&folder, &[], "scripts/image OUT ARCHIVE");
    refused(&folder, &[&good, &good], "another archive is for amd64");
    refused(&folder, &[&text], "is not for Linux");
    refused(&folder, &[&other], "EM_ARM");
    refused(&folder, &[&dynamic], "take the archive for musl");
    refused(&folder, &[&empty], "it has no ");
    refused(&folder, &[&missing], "missing.tar.gz");
}

/// The program of the image in a root that has nothing else, as the user of the image.
#[test]
#[ignore = "needs archives for musl; scripts/long image makes them"]
fn the_program_of_the_image_starts_in_an_empty_root() {
    let archives = std::env::var_os("ARCHIVES").expect("ARCHIVES names the folder of the archives");
    let archive = |target: &str| {
        let version = env!("CARGO_PKG_VERSION");
        Path::new(&archives).join(format!("kubectl-finalizers-v{version}-{target}.tar.gz"))
    };
    let (amd64, arm64) = (
        archive("x86_64-unknown-linux-musl"),
        archive("aarch64-unknown-linux-musl"),
    );
    let (image, _) = Image::of(&[&amd64, &arm64]);
    let index = image.described(&image.json("index.json")["manifests"][0], "index");
    let here = usize::from(!cfg!(target_arch = "x86_64"));
    let manifest = image.described(&index["manifests"][here], "manifest");
    let layer = image.0.path().join(image.blob(&manifest["layers"][0]));
    let files = TempDir::new().unwrap();
    unpack(&layer, files.path(), "-xzf");
    let run = |words: &[&str]| {
        let mut program = Command::new("unshare");
        program.args(["--map-root-user", "--net", "--pid", "--fork"]);
        program.arg(format!("--root={}", files.path().display()));
        program.args(["--", "/kubectl-finalizers"]).args(words);
        let out = program.env_clear().output().unwrap();
        let said = String::from_utf8([out.stdout, out.stderr].concat()).unwrap();
        (out.status.code(), said)
    };
    let (code, said) = run(&["exporter", "--help"]);
    assert!(code == Some(0) && said.contains("--listen"), "{said}");
    let (code, said) = run(&["explain", "kubernetes.io/pv-protection"]);
    assert_eq!(code, Some(0), "{said}");
    // Without a service account it ends with its own words, and not for want of a file of a system.
    let (code, said) = run(&["exporter"]);
    assert!(code == Some(1) && said.contains("kubeconfig"), "{code:?} {said}");
}
