//! Builds a module below `tests/controlplane/` once, and says so, because that takes minutes.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use super::{cache, reaper::Reaper};

/// This module runs the builds of the others, so that a killed test leaves no compiler running.
const REAPER: &str = "reaper";

/// What is kept beside the programs of a module: of which Go module, which folder, and under which name.
const MANIFESTS: &[(&str, &str, &str, &str)] = &[
    (
        "sidecars",
        "github.com/kubernetes-csi/external-snapshotter/client/v8",
        "config/crd",
        "crds",
    ),
    ("kueue", "sigs.k8s.io/kueue", "config", "config"),
    ("cluster-api", "sigs.k8s.io/cluster-api", "config", "config"),
    (
        "prometheus-operator",
        "github.com/prometheus-operator/prometheus-operator",
        "example/prometheus-operator-crd",
        "crds",
    ),
];

/// The folder of a module's programs. Builds them unless this exact source was built before.
pub fn build(module: &str) -> PathBuf {
    static BUILT: Mutex<BTreeMap<String, PathBuf>> = Mutex::new(BTreeMap::new());
    let reaper = (module != REAPER).then(|| build(REAPER).join(REAPER));

    // A failed build poisons the mutex. The next test must still report why the build failed.
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(folder) = built.get(module) {
        return folder.clone();
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/controlplane")
        .join(module);
    let folder = cache::directory().join(format!("{module}-{:016x}", key(&source)));
    if !folder.is_dir() {
        let _one_at_a_time = cache::lock();
        if !folder.is_dir() {
            match reaper {
                Some(reaper) => build_under(&reaper, module, &source, &folder),
                None => build_plainly(&source, &folder),
            }
        }
    }
    built.insert(module.to_owned(), folder.clone());
    folder
}

/// The reaper itself is small and has no dependencies: a second or two.
fn build_plainly(source: &Path, folder: &Path) {
    // Under the lock one name is enough, and the rest of a killed build is deleted.
    let beside = folder.with_extension("partial");
    let _ = fs::remove_dir_all(&beside);
    let output = go(source)
        .args(build_arguments(source, &beside.join("programs")))
        .output()
        .unwrap_or_else(|error| missing(&error.to_string()));
    assert!(
        output.status.success(),
        "go build failed:\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    keep(&beside.join("programs"), folder);
    let _ = fs::remove_dir(&beside);
}

/// The build runs in the reaper's own directory, which is deleted with it.
fn build_under(reaper: &Path, module: &str, source: &Path, folder: &Path) {
    let started = Instant::now();
    let reaper = Reaper::start(reaper, Some(&cache::directory()));
    let (log, programs) = (
        reaper.directory().join("log"),
        reaper.directory().join("programs"),
    );
    let what = format!("{module} ({})", contents(module));
    cache::say(&format!("building {what} from Go modules, once …"));

    let mut argv = vec!["go".to_owned()];
    argv.extend(build_arguments(source, &programs));
    let environment = environment().map(|(name, value)| format!("{name}={value}"));
    let temporary = format!("GOTMPDIR={}", reaper.directory().display());
    reaper.run(
        "go",
        &argv,
        &[&environment[..], &[temporary]].concat(),
        Some(source),
        &log,
    );
    let status = loop {
        if let Some(status) = reaper.wait_for_exit("go", Duration::from_secs(15)) {
            break status;
        }
        cache::say(&format!(
            "still building {module}, {} s",
            started.elapsed().as_secs()
        ));
    };
    let said = fs::read_to_string(&log).unwrap_or_default();
    assert!(
        status == "exit status 0",
        "building {what} failed ({status}):\n{said}"
    );
    copy_manifests(source, module, &programs);
    keep(&programs, folder);
    cache::say(&format!("built {module} in {} s", started.elapsed().as_secs()));
}

/// Moves the result into the cache in one step, so that the cache never has a partial build.
fn keep(programs: &Path, folder: &Path) {
    // The main package of etcd's module is called `server`.
    let server = programs.join("server");
    if server.exists() {
        fs::rename(server, programs.join("etcd")).expect("the program can be renamed to etcd");
    }
    fs::rename(programs, folder).unwrap_or_else(|error| panic!("cannot keep {}: {error}", folder.display()));
}

/// The manifests are files of the module that is built, or of one that it uses, so both always have the same version.
fn copy_manifests(source: &Path, module: &str, programs: &Path) {
    let Some((_, origin, folder, goal)) = MANIFESTS.iter().find(|(built, ..)| *built == module) else {
        return;
    };
    let found = answer(go(source).args(["list", "-m", "-f", "{{.Dir}}", origin]));
    copy(&Path::new(&found).join(folder), &programs.join(goal));
    if module == "sidecars" {
        // Its folder is applied file by file.
        fs::remove_file(programs.join(goal).join("kustomization.yaml"))
            .expect("the CRDs have a kustomization");
    }
}

/// Not `fs::copy` for the files, because those of the module cache are read-only and the mode would be copied.
fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).expect("the folder of built programs is writable");
    for entry in fs::read_dir(from).expect("the module has its manifests") {
        let from = entry.expect("the module's folder is readable").path();
        let to = to.join(from.file_name().expect("an entry has a name"));
        if from.is_dir() {
            copy(&from, &to);
        } else {
            let text = fs::read(&from).expect("a manifest is readable");
            fs::write(to, text).expect("a manifest is written");
        }
    }
}

fn build_arguments(source: &Path, programs: &Path) -> Vec<String> {
    let modules = read(&source.join("go.mod"));
    let mut arguments = vec![
        "build".to_owned(),
        "-trimpath".to_owned(),
        "-buildvcs=false".to_owned(),
    ];
    // Without a version the server reports v0.0.0-master, which kubectl cannot parse.
    let version = modules
        .lines()
        .find_map(|line| line.trim().strip_prefix("k8s.io/kubernetes v"));
    let stamp = version.and_then(|version| {
        let version = version.split_whitespace().next()?;
        let mut parts = version.split('.');
        let (major, minor) = (parts.next()?, parts.next()?);
        let at = "-X k8s.io/component-base/version.git";
        Some(format!(
            "{at}Version=v{version} {at}Major={major} {at}Minor={minor}"
        ))
    });
    arguments.extend([
        "-ldflags".to_owned(),
        format!("-s -w {}", stamp.unwrap_or_default()),
    ]);
    if source.ends_with("prometheus") {
        // What it knows of clouds is most of it, and the tests name their targets themselves.
        arguments.push("-tags=remove_all_sd".to_owned());
    }
    arguments.extend(["-o".to_owned(), format!("{}/", programs.display())]);
    arguments.push(if modules.contains("\ntool ") { "tool" } else { "." }.to_owned());
    arguments
}

/// The key of a build: the module's files, the Go version and the platform.
fn key(source: &Path) -> u64 {
    let mut files: Vec<_> = fs::read_dir(source)
        .unwrap_or_else(|error| panic!("cannot read {}: {error}", source.display()))
        .map(|entry| entry.expect("the module's folder is readable").path())
        .collect();
    files.sort();
    let mut text = answer(go(source).args(["env", "GOVERSION", "GOOS", "GOARCH"]));
    for file in files {
        text.push_str(&read(&file));
    }
    // FNV-1a, because the standard hasher may change with the compiler, and a rebuild takes minutes.
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// A go command in a module, without a C compiler and without a workspace around the checkout.
fn go(source: &Path) -> Command {
    let mut command = Command::new("go");
    command.current_dir(source).envs(environment());
    command
}

fn environment() -> [(&'static str, &'static str); 2] {
    [("CGO_ENABLED", "0"), ("GOWORK", "off")]
}

fn answer(command: &mut Command) -> String {
    let output = command
        .output()
        .unwrap_or_else(|error| missing(&error.to_string()));
    if !output.status.success() {
        missing(String::from_utf8_lossy(&output.stderr).trim());
    }
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn missing(why: &str) -> ! {
    panic!(
        "the tests build a real Kubernetes control plane and need Go 1.26 or newer on PATH (https://go.dev/dl): {why}"
    )
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()))
}

fn contents(module: &str) -> &'static str {
    match module {
        _ if module.starts_with("kubernetes") => {
            "kube-apiserver, kube-controller-manager and kubectl; 4 minutes on two cores"
        }
        "etcd" => "etcd and etcdctl; half a minute",
        "provisioner" => "csi-provisioner; 2 to 3 minutes",
        "charts" => "helm and kustomize; 3 to 4 minutes",
        "sidecars" => "csi-attacher, csi-snapshotter and snapshot-controller; 2 to 3 minutes",
        "kueue" | "cluster-api" => "an operator with its manifests; 2 to 3 minutes",
        "prometheus" => "promtool and prometheus; 5 minutes",
        "prometheus-operator" => "what checks the objects of the Prometheus Operator; 2 to 3 minutes",
        _ => "ours",
    }
}
