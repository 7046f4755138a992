//! Completion, as kubectl asks for it and in real shells.

use std::{
    env, fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
    process::Command,
    sync::LazyLock,
    time::{Duration, Instant},
};

use tempfile::TempDir;

use crate::harness::{Cluster, Namespace, Plugin, Session, installed};

const BINARY: &str = env!("CARGO_BIN_EXE_kubectl-finalizers");
const STUCK: &str = "examples/stuck-cluster.snapshot";
const SOON: Duration = Duration::from_secs(60);

/// A namespace with a ConfigMap that is stuck in deletion, and one that is not.
static HELD: LazyLock<Namespace<'static>> = LazyLock::new(|| {
    let ns = Cluster::shared().namespace("completion");
    ns.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: a-plain}}");
    ns.apply(
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: z-held, finalizers: [lab.example.com/hold, lab.example.com/more]}}",
    );
    ns.kubectl(["delete", "configmap", "z-held", "--wait=false"])
        .success();
    ns
});

/// The candidates for the last word, each with its description, and the directive.
fn asked(plugin: Plugin) -> (Vec<String>, String) {
    let out = plugin.run();
    assert_eq!((out.code, out.stderr.as_str()), (0, ""), "{out}");
    let mut lines: Vec<_> = out.stdout.lines().map(str::to_owned).collect();
    let directive = lines.pop().unwrap();
    (lines, directive)
}

fn in_cluster(words: &[&str]) -> Vec<String> {
    let words = [&["__complete"], words].concat();
    asked(Cluster::shared().plugin(words)).0
}

#[test]
fn objects_of_the_cluster_those_in_deletion_first() {
    let ns = HELD.name();
    let both = in_cluster(&["explain", "-n", ns, "cm/"]);
    assert_eq!(both[..2], ["cm/z-held\tTerminating", "cm/a-plain"], "{both:?}");
    assert_eq!(
        in_cluster(&["watch", "-n", ns, "configmaps", "z"]),
        ["z-held\tTerminating"]
    );
    // What is typed already is not offered again.
    let more = in_cluster(&["nudge", "-n", ns, "cm/z-held", "cm/"]);
    assert!(!more.iter().any(|line| line.starts_with("cm/z-held")), "{more:?}");
    // A ConfigMap in another namespace is found with -A.
    assert_eq!(
        in_cluster(&["explain", "-A", "cm/z-h"]),
        ["cm/z-held\tTerminating"]
    );
    assert!(in_cluster(&["explain", "-n", "default", "cm/z-h"]).is_empty());
}

#[test]
fn types_namespaces_and_contexts() {
    let ns = HELD.name();
    assert_eq!(in_cluster(&["explain", "daemonse"]), ["daemonsets.apps"]);
    assert_eq!(in_cluster(&["scan", "pods,deploym"]), ["pods,deployments.apps"]);
    assert_eq!(in_cluster(&["scan", "-n", &ns[..ns.len() - 1]]), [ns]);
    assert!(in_cluster(&["finalize", ""]).contains(&ns.to_owned()));
    assert_eq!(
        in_cluster(&["rescue", ""]),
        ["persistentvolumeclaims", "persistentvolumes"]
    );
    let config = fs::read_to_string(Cluster::shared().kubeconfig()).unwrap();
    for context in in_cluster(&["scan", "--context", ""]) {
        assert!(config.contains(&context), "{context}");
    }
    assert_eq!(in_cluster(&["scan", "--context", ""]).len(), 1);
}

#[test]
fn finalizers_of_the_typed_object_otherwise_those_of_the_catalogue() {
    let ns = HELD.name();
    let own = ["lab.example.com/hold", "lab.example.com/more"];
    assert_eq!(
        in_cluster(&["remove", "cm/z-held", "-n", ns, "--finalizer", ""]),
        own
    );
    assert_eq!(
        in_cluster(&["remove", "-n", ns, "cm", "z-held", "--finalizer="]),
        own.map(|name| format!("--finalizer={name}"))
    );
    assert_eq!(in_cluster(&["finalize", ns, "--finalizer", ""]), ["kubernetes"]);
    let known = in_cluster(&["remove", "cm/none", "-n", ns, "--finalizer", "kubernetes.io/pv-p"]);
    assert_eq!(known, ["kubernetes.io/pv-protection"]);
}

#[test]
fn files_and_what_they_hold() {
    let ask = |words: &[&str]| asked(Plugin::new([&["__complete"], words].concat()));
    assert_eq!(
        ask(&["scan", "--from", "exampl"]),
        (vec!["examples/".into()], ":38".into())
    );
    assert_eq!(ask(&["scan", "--from", STUCK]).0, [STUCK]);
    let (held, directive) = ask(&["explain", "--from", STUCK, "-n", "db", "pvc/"]);
    assert_eq!(held, ["pvc/data-0"]);
    assert_eq!(directive, ":36");
}

/// Whatever fails, nothing is printed and nobody is asked, and it does not take long.
#[test]
fn every_error_is_silent() {
    let folder = TempDir::new().unwrap();
    let config = |name: &str, server: &str, user: &str| {
        let path = folder.path().join(name);
        let text = format!(
            "{{apiVersion: v1, kind: Config, current-context: c, contexts: [{{name: c, context: {{cluster: c, user: u}}}}], \
             clusters: [{{name: c, cluster: {{server: {server:?}}}}}], users: [{{name: u, user: {user}}}]}}"
        );
        fs::write(&path, text).unwrap();
        path
    };
    let prompt = "{exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: IfAvailable, command: sh, \
                  args: [-c, 'echo Password: >&2; read secret; echo refused >&2; sleep 60']}}";
    let always = prompt.replace("IfAvailable", "Always");
    let broken = folder.path().join("broken");
    fs::write(&broken, "nonsense: [").unwrap();
    // Nobody accepts a connection there, and so it hangs.
    let deaf = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let deaf = format!("https://{}", deaf.local_addr().unwrap());
    for config in [
        config("nobody", "https://127.0.0.1:1", "{token: a}"),
        config("deaf", &deaf, "{token: a}"),
        config("prompt", "https://127.0.0.1:1", prompt),
        config("always", "https://127.0.0.1:1", &always),
        folder.path().join("missing"),
        broken,
    ] {
        let begun = Instant::now();
        let plugin = || Plugin::new(["__complete", "explain", "pvc/"]).kubeconfig(&config);
        let screen = plugin().at_terminal().finish();
        assert_eq!(screen.stdout.trim(), ":36", "{config:?}");
        assert_eq!(asked(plugin()).0, [""; 0], "{config:?}");
        assert!(begun.elapsed() < Duration::from_secs(20), "{config:?}");
    }
    let wrong = Plugin::new(["__complete", "explain", "--from", "missing", "pvc/"]);
    assert_eq!(asked(wrong).0, [""; 0]);
    for words in [
        &["__complete"][..],
        &["__complete", "nonsense", ""],
        &["__complete", "--what", ""],
    ] {
        asked(Plugin::new(words.iter().copied()));
    }
}

/// Programs in a folder for the PATH, as somebody would install them. The plugin prints its words instead of working, so
/// that a test sees what the shell made of them.
struct Installed {
    folder: TempDir,
}

impl Installed {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let installed = Installed { folder };
        installed.program(
            "kubectl-finalizers",
            &format!(
                "#!/bin/sh\nif [ -n \"$KUBECTL_FINALIZERS_COMPLETE\" ] || [ \"$1\" = __complete ]; then exec {BINARY} \"$@\"; fi\n\
                 printf '<%s>' \"$@\"; echo\n"
            ),
        );
        installed.program("kubectl_complete-finalizers", &script("kubectl"));
        symlink(
            Cluster::shared().kubectl_program(),
            installed.folder.path().join("kubectl"),
        )
        .unwrap();
        installed
    }

    fn program(&self, name: &str, text: &str) {
        let path = self.folder.path().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let path = env::var_os("PATH").unwrap();
        let path = [self.folder.path().to_owned()]
            .into_iter()
            .chain(env::split_paths(&path));
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", env::join_paths(path).unwrap())
            .env("HOME", self.folder.path())
            .env("KUBECONFIG", Cluster::shared().kubeconfig())
            .env("LANG", "C.UTF-8")
            .env("TERM", "dumb")
            .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")));
        command
    }

    /// A shell on a terminal of its own that has read this file.
    fn shell(&self, words: &[&str]) -> Session {
        let mut command = self.command("setsid");
        // A shell wants a session of its own, to have the terminal.
        command.arg("--ctty").args(words);
        Session::start(command, SOON)
    }
}

fn script(shell: &str) -> String {
    Plugin::new(["completion", shell]).run().success()
}

/// The scripts in the archives. They are files, because a program for another platform does not run here.
const PACKED: [(&str, &str); 5] = [
    ("bash", "kubectl-finalizers.bash"),
    ("zsh", "_kubectl-finalizers"),
    ("fish", "kubectl-finalizers.fish"),
    ("powershell", "kubectl-finalizers.ps1"),
    ("kubectl", "kubectl_complete-finalizers"),
];

fn packed(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("docs/completions")
        .join(file)
}

#[test]
fn the_scripts_of_the_archives_are_up_to_date() {
    for (shell, file) in PACKED {
        assert!(
            fs::read_to_string(packed(file)).unwrap() == script(shell),
            "{file} is stale; write it anew: cargo test --test suite -- --ignored write_what_is_generated"
        );
    }
}

#[test]
#[ignore = "writes files"]
fn write_what_is_generated() {
    for (shell, file) in PACKED {
        fs::write(packed(file), script(shell)).unwrap();
    }
}

#[test]
fn kubectl_completes_the_plugin() {
    let installed = Installed::new();
    let ask = |words: &[&str]| {
        let mut kubectl = installed.command(Cluster::shared().kubectl_program());
        let out = kubectl
            .args(["__complete", "finalizers"])
            .args(words)
            .output()
            .unwrap();
        String::from_utf8(out.stdout).unwrap()
    };
    assert!(ask(&["expl"]).starts_with("explain\t"));
    let objects = ask(&["explain", "-n", HELD.name(), "cm/z"]);
    assert_eq!(objects, "cm/z-held\tTerminating\n:36\n");
    let list = installed
        .command(Cluster::shared().kubectl_program())
        .args(["plugin", "list"])
        .output()
        .unwrap();
    assert!(list.status.success(), "{list:?}");
}

/// Types lines and presses the tabulator and Enter.
fn complete_in(shell: &Session) {
    let ns = HELD.name();
    shell.see("ready");
    shell.types("kubectl-finalizers expl\t\r").see("<explain>");
    shell.types(&format!("kubectl-finalizers explain -n {ns} cm/z\t\r"));
    shell.see(&format!("<explain><-n><{ns}><cm/z-held>"));
    shell.types(&format!(
        "kubectl-finalizers remove cm/z-held -n {ns} --finalizer lab.example.com/h\t\r"
    ));
    shell.see("<--finalizer><lab.example.com/hold>");
    shell.types("kubectl-finalizers scan --from examples/stuck-cluster.sn\t\r");
    shell.see("<--from><examples/stuck-cluster.snapshot>");
    shell.types("exit\r");
}

#[test]
fn bash_completes() {
    let installed = Installed::new();
    let rc = installed.file("bashrc", &format!("{}\necho ready\n", script("bash")));
    let shell = installed.shell(&["bash", "--noprofile", "--rcfile", rc.to_str().unwrap(), "-i"]);
    complete_in(&shell);
    shell.finish();
}

#[test]
fn zsh_completes() {
    if !installed("zsh") {
        return;
    }
    let installed = Installed::new();
    installed.file(
        ".zshrc",
        &format!(
            "autoload -U compinit && compinit -u\n{}\necho ready\n",
            script("zsh")
        ),
    );
    let shell = installed.shell(&["zsh", "-i"]);
    complete_in(&shell);
    shell.finish();
}

#[test]
fn fish_completes() {
    if !installed("fish") {
        return;
    }
    let installed = Installed::new();
    let file = installed.file("finalizers.fish", &script("fish"));
    let ask = |line: &str| {
        let read = format!("source {}; complete -C '{line}'", file.display());
        let out = installed
            .command("fish")
            .args(["--no-config", "-c", &read])
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&out.stderr), "", "{line}");
        String::from_utf8(out.stdout).unwrap()
    };
    let ns = HELD.name();
    assert!(ask("kubectl-finalizers expl").starts_with("explain\t"));
    assert_eq!(
        ask(&format!("kubectl-finalizers explain -n {ns} cm/z")),
        "cm/z-held\tTerminating\n"
    );
    assert_eq!(
        ask(&format!(
            "kubectl-finalizers remove cm/z-held -n {ns} --finalizer lab.example.com/h"
        )),
        "lab.example.com/hold\n"
    );
    assert_eq!(
        ask("kubectl-finalizers scan --from examples/stuck-cluster.sn"),
        format!("{STUCK}\n")
    );
}

/// PowerShell is not run: only that its script asks the program in the form that the program answers.
#[test]
fn the_script_of_powershell_asks_the_program() {
    let script = script("powershell");
    assert!(script.contains("Register-ArgumentCompleter") && script.contains("KUBECTL_FINALIZERS_COMPLETE"));
    let out = Plugin::new(["--", "kubectl-finalizers", "expl"])
        .env("KUBECTL_FINALIZERS_COMPLETE", "powershell")
        .run();
    assert!(out.stdout.starts_with("explain\t"), "{out}");
    let unknown = Plugin::new(["--", "kubectl-finalizers", "expl"])
        .env("KUBECTL_FINALIZERS_COMPLETE", "nonsense")
        .run();
    assert_eq!(
        (unknown.code, unknown.stdout.as_str(), unknown.stderr.as_str()),
        (0, "", "")
    );
}
