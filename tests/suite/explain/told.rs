//! An explanation as a test reads it, and helpers that carry out its steps.

use std::{
    path::Path,
    process::{Command, Output},
    thread,
    time::Duration,
};

use serde_json::Value;

use crate::harness::{Cluster, Namespace, Plugin, User, wait};

/// Controllers need time; the namespace controller needs the most.
pub const SOON: Duration = Duration::from_secs(90);
/// Each check is a kubectl process, which costs more than the wait.
const PAUSE: Duration = Duration::from_millis(400);

/// One explanation, from `-o json`.
#[derive(Debug)]
pub struct Told(pub Value);

/// Explains an object as the administrator: `told(cluster, "pods/a", "ns")`. The namespace of a cluster-scoped
/// object is empty.
#[track_caller]
pub fn told(cluster: &Cluster, target: &str, namespace: &str) -> Told {
    read(cluster.plugin(words(target, namespace)))
}

/// The same as a user with other rights.
#[track_caller]
pub fn told_to(cluster: &Cluster, user: &User, target: &str, namespace: &str) -> Told {
    read(cluster.plugin(words(target, namespace)).as_user(user))
}

fn words(target: &str, namespace: &str) -> Vec<String> {
    let mut words = vec!["explain".to_owned(), target.to_owned(), "-o=json".to_owned()];
    if !namespace.is_empty() {
        words.push(format!("--namespace={namespace}"));
    }
    words
}

#[track_caller]
fn read(plugin: Plugin) -> Told {
    let text = plugin.run().success();
    Told(super::document(&text))
}

impl Told {
    /// What is told of one finalizer. An empty name means the wait without a finalizer.
    #[track_caller]
    fn about(&self, finalizer: &str) -> &Value {
        self.0["waitsFor"]
            .as_array()
            .into_iter()
            .flatten()
            .find(|wait| wait["finalizer"]["name"].as_str().unwrap_or_default() == finalizer)
            .unwrap_or_else(|| panic!("nothing about {finalizer:?} in {self}"))
    }

    /// The verdict on one finalizer.
    #[track_caller]
    pub fn verdict(&self, finalizer: &str) -> &str {
        self.about(finalizer)["verdict"]
            .as_str()
            .unwrap_or_else(|| panic!("no verdict on {finalizer:?} in {self}"))
    }

    /// The page below `docs/causes/` of the cause that is told of one finalizer. It is empty if no single cause is told.
    #[track_caller]
    pub fn page(&self, finalizer: &str) -> &str {
        self.about(finalizer)["cause"]["id"].as_str().unwrap_or_default()
    }

    /// Who must remove a finalizer, and whether it is there: its name and state.
    #[track_caller]
    pub fn controller(&self, finalizer: &str) -> (&str, &str) {
        let wait = self.about(finalizer);
        let text = |field: &str| wait["holder"][field].as_str().unwrap_or_default();
        (text("name"), text("state"))
    }

    /// The label of the first step.
    pub fn first_label(&self) -> &str {
        self.0["steps"][0]["safety"].as_str().unwrap_or_default()
    }

    /// What it waits for at first, as `KIND NAME`.
    pub fn blockers(&self) -> Vec<String> {
        let waits = self.0["waitsFor"].as_array().into_iter().flatten();
        let blockers = waits.flat_map(|wait| wait["blockers"].as_array().into_iter().flatten());
        let name = |object: &Value| {
            let text = |field: &str| object[field].as_str().unwrap_or_default();
            format!("{} {}", text("kind"), text("name"))
        };
        blockers.map(|blocker| name(&blocker["object"])).collect()
    }

    /// All root causes, as `KIND NAME: state`.
    pub fn roots(&self) -> Vec<String> {
        let mut found = Vec::new();
        roots(&self.0["waitsFor"], &mut found);
        found
    }

    #[track_caller]
    pub fn has_root(&self, text: &str) -> &Self {
        assert!(
            self.roots().iter().any(|root| root.contains(text)),
            "no root cause with {text:?}: {:#?}\n{self}",
            self.roots()
        );
        self
    }

    /// Asserts that the explanation contains this text.
    #[track_caller]
    pub fn says(&self, text: &str) -> &Self {
        assert!(self.holds(text), "{text:?} is not said in {self}");
        self
    }

    #[track_caller]
    pub fn never_says(&self, text: &str) -> &Self {
        assert!(!self.holds(text), "{text:?} is said in {self}");
        self
    }

    /// Whether the explanation contains this text.
    pub fn holds(&self, text: &str) -> bool {
        let mut found = false;
        each_text(&self.0, &mut |each| found |= each.contains(text));
        found
    }

    /// The commands of the steps.
    pub fn commands(&self) -> Vec<&str> {
        let steps = self.0["steps"].as_array();
        steps
            .into_iter()
            .flatten()
            .filter_map(|step| step["command"].as_str())
            .collect()
    }

    /// Asserts that no step has this command.
    #[track_caller]
    pub fn never_advises(&self, text: &str) -> &Self {
        let commands = self.commands();
        assert!(
            commands.iter().all(|command| !command.contains(text)),
            "{commands:#?}"
        );
        self
    }

    /// Asserts that every destructive step names the loss in capitals.
    #[track_caller]
    pub fn is_careful(&self) -> &Self {
        for step in self.0["steps"].as_array().into_iter().flatten() {
            if step["safety"] == "destructive" {
                let text = step["text"].as_str().unwrap_or_default();
                assert!(
                    names_the_loss(text),
                    "a destructive step must name its cost in capitals: {step:#}"
                );
            }
        }
        self
    }

    /// Runs the first step's command that contains this text, in a shell as a user would.
    #[track_caller]
    pub fn follow(&self, cluster: &Cluster, text: &str) -> String {
        carry_out(cluster, self.command(text))
    }

    /// The same, and ignores the exit code.
    pub fn try_to_follow(&self, cluster: &Cluster, text: &str) {
        run(cluster, self.command(text));
    }

    /// Runs the step that nudges the controller. A controller also retries by itself, so an object that is
    /// already gone needs no nudge.
    #[track_caller]
    pub fn nudge(&self, cluster: &Cluster) {
        let command = self.command("finalizers nudge");
        let plan = run(cluster, &format!("{command} --plan -o json"));
        let plan: Value = serde_json::from_slice(&plan.stdout).unwrap_or_default();
        if let Some(digest) = plan["digest"].as_str() {
            run(cluster, &format!("{command} --confirm {digest}"));
        }
    }

    #[track_caller]
    fn command(&self, text: &str) -> &str {
        self.commands()
            .into_iter()
            .find(|command| command.contains(text))
            .unwrap_or_else(|| panic!("no step with {text:?} in {self}"))
    }

    /// What the run could not read.
    pub fn unread(&self) -> String {
        self.0["notRead"].to_string()
    }
}

impl std::fmt::Display for Told {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:#}", self.0)
    }
}

fn roots(waits: &Value, found: &mut Vec<String>) {
    for wait in waits.as_array().into_iter().flatten() {
        blockers(&wait["blockers"], found);
    }
}

fn blockers(list: &Value, found: &mut Vec<String>) {
    for blocker in list.as_array().into_iter().flatten() {
        if blocker["rootCause"] == true {
            let object = &blocker["object"];
            let name = format!(
                "{} {}: ",
                object["kind"].as_str().unwrap_or_default(),
                object["name"].as_str().unwrap_or_default()
            );
            found.push(name + blocker["says"].as_str().unwrap_or_default());
        }
        blockers(&blocker["blockers"], found);
        roots(&blocker["waitsFor"], found);
    }
}

fn each_text(value: &Value, look: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => look(text),
        Value::Array(list) => list.iter().for_each(|each| each_text(each, look)),
        Value::Object(map) => map.values().for_each(|each| each_text(each, look)),
        _ => {}
    }
}

/// Runs a command line as the administrator, with kubectl and the plugin on PATH.
#[track_caller]
pub fn shell(cluster: &Cluster, command: &str) -> String {
    let output = run(cluster, command);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        output.status.success(),
        "{command}\n{}{}",
        text(&output.stdout),
        text(&output.stderr)
    );
    text(&output.stdout)
}

/// The same, and ignores the exit code.
pub fn run(cluster: &Cluster, command: &str) -> Output {
    let folder = |program: &Path| program.parent().expect("the program is in a folder").to_owned();
    let mut path = vec![
        folder(&cluster.kubectl_program()),
        folder(Path::new(env!("CARGO_BIN_EXE_kubectl-finalizers"))),
    ];
    path.extend(std::env::split_paths(
        &std::env::var_os("PATH").unwrap_or_default(),
    ));
    Command::new("sh")
        .args(["-c", command])
        .current_dir(cluster.directory())
        .env("KUBECONFIG", cluster.kubeconfig())
        .env("HOME", cluster.directory().join("home"))
        .env(
            "PATH",
            std::env::join_paths(path).expect("folders on PATH hold no colon"),
        )
        .output()
        .expect("the shell starts")
}

/// Runs the command line of a step, and confirms it where the plugin asks for that.
#[track_caller]
pub fn carry_out(cluster: &Cluster, command: &str) -> String {
    if changes(command) {
        confirmed(cluster, command)
    } else {
        shell(cluster, command)
    }
}

/// Whether the command is a verb of the plugin that must be confirmed.
pub fn changes(command: &str) -> bool {
    ["remove", "finalize", "nudge", "rescue"]
        .iter()
        .any(|verb| command.starts_with(&format!("kubectl finalizers {verb} ")))
}

/// Runs such a command as a user who reads the plan, accepts its costs and confirms it.
#[track_caller]
fn confirmed(cluster: &Cluster, command: &str) -> String {
    let plan = |more: &str| {
        let output = run(cluster, &format!("{command} --plan -o json{more}"));
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        serde_json::from_str::<Value>(&text).unwrap_or_else(|error| panic!("{error}: {command}\n{output:?}"))
    };
    let first = plan("");
    let costs = first["plans"][0]["cost"]["consequence"].as_str();
    let accept = match costs {
        Some("none" | "metadata") | None => String::new(),
        Some(other) => format!(" --accept {}", other.replace(' ', "-")),
    };
    // The digest changes each time for an object that its controller keeps writing. A driver that fails is asked again and
    // again, after pauses that grow.
    for _ in 0..30 {
        let plan = plan(&accept);
        // The plan itself gives up if the object changes before each answer of the server, and says to try again.
        if plan["refused"][0]["needs"] == "nothing changes it for a few seconds" {
            continue;
        }
        assert_eq!(plan["refused"], Value::Array(Vec::new()), "{command}: {plan:#}");
        let digest = plan["digest"].as_str().unwrap_or_else(|| panic!("{plan:#}"));
        let output = run(cluster, &format!("{command}{accept} --confirm {digest}"));
        let [stdout, stderr] =
            [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        // Both say that it changed: since the plan, or each time before the server answered.
        let has_changed =
            stderr.contains("so it has changed") || stdout.contains("nothing changes it for a few seconds");
        if !has_changed {
            assert!(output.status.success(), "{command}: {output:?}");
            return stdout;
        }
    }
    panic!("{command}: it changes faster than a plan is confirmed");
}

/// Deletes without waiting.
#[track_caller]
pub fn delete(cluster: &Cluster, what: &str, namespace: &str) {
    cluster.delete(what, namespace);
}

/// Removes all finalizers, as a controller does after its work.
#[track_caller]
pub fn release(cluster: &Cluster, what: &str, namespace: &str) {
    let patch = r#"{"metadata":{"finalizers":null}}"#;
    cluster
        .kubectl([
            "patch",
            what,
            "--namespace",
            namespace,
            "--type=merge",
            "--patch",
            patch,
        ])
        .success();
}

/// Replaces `spec.finalizers` of a namespace through `/finalize`, as scripts from the web do. The list is JSON.
#[track_caller]
pub fn finalize_by_force(cluster: &Cluster, namespace: &str, finalizers: &str) {
    let body = format!(
        r#"{{"apiVersion":"v1","kind":"Namespace","metadata":{{"name":"{namespace}"}},"spec":{{"finalizers":{finalizers}}}}}"#
    );
    let path = format!("/api/v1/namespaces/{namespace}/finalize");
    shell(
        cluster,
        &format!("printf %s '{body}' | kubectl replace --raw {path} -f -"),
    );
}

/// Whether the object exists and is in deletion.
pub fn is_going(ns: &Namespace, what: &str) -> bool {
    ns.get([what])
        .is_some_and(|object| object["metadata"]["deletionTimestamp"].is_string())
}

/// Waits until the object is gone.
#[track_caller]
pub fn goes(cluster: &Cluster, what: &str, namespace: &str) {
    wait(&format!("{what} goes"), SOON, || {
        thread::sleep(PAUSE);
        let mut words = vec![what.to_owned()];
        if !namespace.is_empty() {
            words.push(format!("--namespace={namespace}"));
        }
        cluster.get(words).is_none()
    });
}

/// Waits until the namespace controller has set this condition to this status.
#[track_caller]
pub fn condition(cluster: &Cluster, namespace: &str, kind: &str, status: &str) {
    wait(&format!("{kind} is {status} on {namespace}"), SOON, || {
        thread::sleep(PAUSE);
        let Some(found) = cluster.get(["namespace", namespace]) else {
            return false;
        };
        found["status"]["conditions"]
            .as_array()
            .into_iter()
            .flatten()
            .any(|condition| condition["type"] == kind && condition["status"] == status)
    });
}

/// The server's message if it rejects the removal of all finalizers.
pub fn refusal(cluster: &Cluster, what: &str, namespace: &str) -> Option<String> {
    let mut words = vec!["patch", what, "--type=merge", "--dry-run=server"];
    words.extend(["--patch", r#"{"metadata":{"finalizers":null}}"#]);
    let place = format!("--namespace={namespace}");
    let mut read = vec!["get", what, "-o", "name"];
    if !namespace.is_empty() {
        words.push(&place);
        read.push(&place);
    }
    let out = cluster.kubectl(words);
    // An object that is gone refuses nothing. The code NotFound alone does not tell: it may be about the namespace.
    let gone = || out.stderr.contains("(NotFound)") && cluster.kubectl(read).code != 0;
    (out.code != 0 && !gone()).then_some(out.stderr)
}

/// Whether a word of the text is in capitals: LOST, DESTROYED, LEAKS.
pub fn names_the_loss(text: &str) -> bool {
    text.split(|c: char| !c.is_alphabetic())
        .any(|word| word.len() > 3 && word == word.to_uppercase())
}
