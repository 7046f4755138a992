//! Labels are held against what was lost: every step of many explanations is carried out on a real cluster.
//!
//! Each step that changes something has a copy of its stuck deletion to itself. A step that keeps the disk would otherwise
//! hide that the next one destroys it.

mod covered;
mod judge;
mod scenarios;

use std::{
    collections::BTreeSet,
    path::PathBuf,
    process::Output,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use self::{
    judge::{Seen, untrue},
    scenarios::{BROKEN, DAMAGED_OBJECT, DRIVER, FAILING_DRIVER, Scenario, Stage, TOGETHER, Target, prepare},
};
use crate::{
    explain::told::{self, Told, told},
    harness::{Cluster, Options, has},
};

/// What changes by itself.
const RESTLESS: &[&str] = &[
    "/registry/events/",
    "/registry/leases/",
    "/registry/peerserverleases/",
    "/registry/masterleases/",
];
/// Who tries again writes the time of each failure into the status of these.
const RETRIED: &[&str] = &[
    "/registry/volumeattachments/",
    "/registry/snapshot.storage.k8s.io/",
    "/registry/apiextensions.k8s.io/customresourcedefinitions/",
];
/// Controllers have nothing more to do when nothing was written for so long. The provisioner tries again every two seconds.
const QUIET: Duration = Duration::from_millis(2500);
/// A cluster that is never quiet is judged after this time.
const PATIENCE: Duration = Duration::from_secs(20);
/// So many copies are made at the same time. They mostly wait.
const MADE_AT_ONCE: usize = 48;
/// So many commands run at the same time. They need the processor.
const RUN_AT_ONCE: usize = 6;
/// So many steps are tried at the same time. One that wakes a controller waits half a minute for what that does.
const TRIED_AT_ONCE: usize = 16;
/// How often a plan is tried for an object that somebody else writes all the time, and the time between.
const TRIES: usize = 4;
const PAUSE_OF_WRITER: Duration = Duration::from_secs(5);
/// No other command of a step takes so long, in seconds, unless it waits for what never comes.
const LONG: u32 = 60;

/// One stuck deletion, and the step that is tried on it.
struct Copy {
    scenario: &'static Scenario,
    name: String,
    told: Told,
    /// The number of the step among those that change something.
    step: usize,
}

impl Copy {
    fn steps(&self, reads: bool) -> Vec<&Value> {
        let all = self.told.0["steps"].as_array().into_iter().flatten();
        let wakes = |step: &Value| {
            let command = step["command"].as_str().unwrap_or_default();
            command.starts_with("kubectl finalizers nudge ")
        };
        all.filter(|step| step["command"].is_string() && (step["safety"] == "read-only") == reads)
            .filter(|step| !(self.scenario.may_be_late && wakes(step)))
            .collect()
    }

    /// What this explanation lacks of what its scenario promises. A step more or less asks for another look at what it
    /// may lose.
    fn differs(&self) -> Vec<String> {
        let mut causes = BTreeSet::new();
        causes_of(&self.told.0, &mut causes);
        let untold = self.scenario.tells.iter().filter(|page| !causes.contains(**page));
        let mut found: Vec<_> = untold
            .map(|page| format!("{}: {page} is not told, but {causes:?}: {}", self.name, self.told))
            .collect();
        let unsaid = self
            .scenario
            .adds
            .iter()
            .filter(|(_, words)| !self.told.holds(words));
        found.extend(
            unsaid.map(|(page, words)| {
                format!("{}: {words:?} of {page} is not said: {}", self.name, self.told)
            }),
        );
        let steps = self.steps(false);
        if steps.len() != self.scenario.steps {
            found.push(format!(
                "{} has {} steps that change something:{}",
                self.name,
                steps.len(),
                listed(steps)
            ));
        }
        found
    }
}

/// The pages that an explanation refers to, also those of what its object waits for.
fn causes_of(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Array(list) => list.iter().for_each(|each| causes_of(each, found)),
        Value::Object(map) => {
            found.extend(value["cause"]["id"].as_str().map(str::to_owned));
            map.values().for_each(|each| causes_of(each, found));
        }
        _ => {}
    }
}

#[test]
#[ignore = "carries out hundreds of steps: scripts/long labels"]
fn no_step_loses_more_than_its_label_says() {
    let cluster = Cluster::with(&Options {
        apiserver_args: &["--storage-media-type=application/json"],
        // No kubelet runs, and no Node is to fall silent by itself. One that does has its taints at once.
        controller_manager_args: &["--node-monitor-grace-period=20m", "--node-eviction-rate=10"],
        ..Options::default()
    });
    let driver = cluster.csi_driver(DRIVER).with_snapshots().start();
    let failing = cluster.csi_driver(FAILING_DRIVER);
    let failing = failing.with_attacher().with_snapshots().start();
    failing.fails("DeleteVolume", "disk is on fire");
    failing.fails("DeleteSnapshot", "snapshot is locked");
    failing.fails("ControllerUnpublishVolume", "device is busy");
    prepare(&cluster);
    let disks = [&driver, &failing].map(|driver| driver.disk("any").parent().unwrap().to_owned());
    let Followed {
        before, after, wrong, ..
    } = followed(&cluster, &disks, &TOGETHER, &[]);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // The test itself is held against what it saw.
    assert!(after.disks.len() < before.disks.len());
}

#[test]
#[ignore = "carries out hundreds of steps: scripts/long labels"]
fn no_step_loses_more_than_its_label_says_in_a_broken_cluster() {
    broken(&[], BROKEN);
}

#[test]
#[ignore = "carries out hundreds of steps: scripts/long labels"]
fn no_step_loses_more_than_its_label_says_where_objects_are_damaged() {
    if has("the unsafe deletion of KEP-3926", 32) {
        let gate = "--feature-gates=AllowUnsafeMalformedObjectDeletion=true";
        broken(&[gate], &[DAMAGED_OBJECT]);
    }
}

/// One stage after the other, in a cluster that no other test needs.
fn broken(more: &[&str], stages: &[Stage]) {
    let cluster = Cluster::with(&Options {
        apiserver_args: &[&["--storage-media-type=application/json"], more].concat(),
        controller_manager_args: &["--controllers=*,-garbage-collector-controller"],
        ..Options::default()
    });
    let (mut wrong, mut earlier) = (Vec::new(), Vec::new());
    for stage in stages {
        (stage.before)(&cluster);
        let followed = followed(&cluster, &[], stage, &earlier);
        wrong.extend(followed.wrong);
        earlier.extend(followed.names);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What there was before the steps of a stage and after them, and what the explanations or their labels say wrongly.
struct Followed {
    before: Seen,
    after: Seen,
    wrong: Vec<String>,
    /// The names of its copies.
    names: Vec<String>,
}

/// Makes all scenarios of a stage, carries out each step, and holds it against its label. What follows from the steps of an
/// earlier stage can come late: kube-apiserver waits longer each time before it tries again to delete a definition.
fn followed(cluster: &Cluster, disks: &[PathBuf], stage: &Stage, earlier: &[String]) -> Followed {
    let copies = made(cluster, stage);
    let firsts: Vec<_> = copies.iter().filter(|copy| copy.step == 0).collect();
    let mut wrong: Vec<_> = firsts.iter().flat_map(|copy| copy.differs()).collect();

    // Whoever only looks changes nothing in the whole cluster.
    let before = when_quiet(cluster, disks);
    let looks: Vec<_> = firsts.iter().flat_map(|copy| copy.steps(true)).collect();
    let commands: BTreeSet<_> = looks.iter().filter_map(|step| step["command"].as_str()).collect();
    let commands: Vec<_> = commands.into_iter().collect();
    in_parallel(RUN_AT_ONCE, &commands, |command| run(cluster, ".", command));
    let earlier: Vec<_> = earlier.iter().map(String::as_str).collect();
    let of_this_stage = |all: &Seen| Seen {
        disks: all.disks.clone(),
        ..all.about_none(&earlier)
    };
    let changed = untrue(
        &json!({"safety": "read-only"}),
        &of_this_stage(&before),
        &of_this_stage(&seen(cluster, disks)),
    );
    wrong.extend(
        changed
            .iter()
            .map(|what| format!("{what} by one of {commands:#?}")),
    );

    // Each other step, on its own copy, after those that save something.
    let done = in_parallel(TRIED_AT_ONCE, &copies, |copy| {
        for look in copy.steps(true) {
            let command = look["command"].as_str().unwrap();
            if command.contains(" > ") {
                run(cluster, &copy.name, command);
            }
        }
        let steps = copy.steps(false);
        let step = steps.get(copy.step).ok_or("there is no such step")?;
        try_to_carry_out(cluster, &copy.name, &filled_in(step, copy.scenario.fills))
    });
    let after = when_quiet(cluster, disks);
    for copy in &copies {
        if let Some(step) = copy.steps(false).get(copy.step) {
            let saved = if step["safety"] == "reversible" {
                saved(cluster, copy)
            } else {
                BTreeSet::new()
            };
            let found = untrue(
                step,
                &before.about(&copy.name),
                &after.later_about(&copy.name, saved),
            );
            wrong.extend(
                found
                    .iter()
                    .map(|what| format!("{}: {what}, by{}", copy.name, listed([*step]))),
            );
        }
    }
    let names: Vec<_> = copies.iter().map(|copy| copy.name.clone()).collect();
    let known: Vec<_> = names.iter().map(String::as_str).chain(earlier).collect();
    let others = untrue(
        &json!({"safety": "reversible"}),
        &before.about_none(&known),
        &after.about_none(&known),
    );
    wrong.extend(
        others
            .iter()
            .map(|what| format!("{what}, which belongs to no scenario")),
    );

    // A step that can no longer be carried out is not tried at all.
    for first in &firsts {
        let name = first.scenario.name;
        let own = copies
            .iter()
            .zip(&done)
            .filter(|(copy, _)| copy.scenario.name == name);
        let failures: Vec<_> = own.clone().filter_map(|(_, done)| done.as_ref().err()).collect();
        let count = own.count() - failures.len();
        if count != first.scenario.carried_out {
            let steps = listed(first.steps(false));
            wrong.push(format!(
                "{name} has {count} steps that were carried out: {failures:?}, of{steps}"
            ));
        }
    }
    Followed {
        before,
        after,
        wrong,
        names,
    }
}

/// Steps as a message shows them.
fn listed<'a>(steps: impl IntoIterator<Item = &'a Value>) -> String {
    let line = |step: &Value| {
        let text = |field: &str| step[field].as_str().unwrap_or_default();
        format!(
            "\n   [{}] {}\n      {}",
            text("safety"),
            text("text"),
            text("command")
        )
    };
    steps.into_iter().map(line).collect()
}

/// The results of this function for all of them, in their order.
fn in_parallel<T: Sync, R: Send>(at_once: usize, all: &[T], run: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut results = Vec::new();
        while let Some((n, one)) = {
            let n = next.fetch_add(1, Ordering::Relaxed);
            all.get(n).map(|one| (n, one))
        } {
            results.push((n, run(one)));
        }
        results
    };
    let mut results: Vec<_> = thread::scope(|scope| {
        let workers: Vec<_> = (0..at_once).map(|_| scope.spawn(worker)).collect();
        let results = workers.into_iter().map(|one| one.join().expect("nothing panics"));
        results.flatten().collect()
    });
    results.sort_by_key(|(n, _)| *n);
    results.into_iter().map(|(_, result)| result).collect()
}

/// All copies of all scenarios, explained.
fn made(cluster: &Cluster, stage: &Stage) -> Vec<Copy> {
    let wanted: Vec<_> = stage
        .all()
        .filter(|scenario| scenario.can_be_made())
        .flat_map(|scenario| (0..scenario.steps.max(1)).map(move |step| (scenario, step)))
        .collect();
    let name = |(scenario, step): &(&Scenario, usize)| format!("{}-{step}z", scenario.name);
    let targets = in_parallel(MADE_AT_ONCE, &wanted, |one| (one.0.make)(cluster, &name(one)));
    // A Pod is overdue only after its grace period and some patience.
    thread::sleep(Duration::from_secs(3));
    let explained = in_parallel(RUN_AT_ONCE, &targets, |[target, namespace]: &Target| {
        told(cluster, target, namespace)
    });
    wanted
        .iter()
        .zip(explained)
        .map(|(one, told)| Copy {
            scenario: one.0,
            name: name(one),
            told,
            step: one.1,
        })
        .collect()
}

/// Runs a command in a folder below that of the cluster, as a user would who does not wait for ever.
fn run(cluster: &Cluster, folder: &str, command: &str) -> Output {
    std::fs::create_dir_all(cluster.directory().join(folder)).expect("the cluster's directory is writable");
    let quoted = command.replace('\'', r"'\''");
    told::run(
        cluster,
        &format!("cd {folder} && timeout {LONG} sh -c '{quoted}'"),
    )
}

/// The step as a person completes it, with these values for words of its command.
fn filled_in(step: &Value, values: &[(&str, &str)]) -> Value {
    let mut step = step.clone();
    for (word, value) in values {
        let needed = step["needsInput"].as_array_mut().expect("it is a list");
        if needed.iter().any(|needs| needs == word) {
            needed.retain(|needs| needs != word);
            step["command"] = step["command"].as_str().unwrap().replace(word, value).into();
        }
    }
    step
}

/// The plan of a step that the plugin itself carries out.
fn planned(cluster: &Cluster, folder: &str, command: &str) -> Value {
    let plan = run(cluster, folder, &format!("{command} --plan -o json"));
    serde_json::from_slice(&plan.stdout).unwrap_or_default()
}

/// Carries out a step, unless the plugin itself refuses to. Otherwise tells why it was not carried out.
fn try_to_carry_out(cluster: &Cluster, folder: &str, step: &Value) -> Result<(), String> {
    let command = step["command"].as_str().unwrap();
    if step["needsInput"] != json!([]) {
        return Err(format!("a person fills in {}", step["needsInput"]));
    }
    if told::changes(command) {
        let mut plan = planned(cluster, folder, command);
        // A sidecar that fails writes often at first. The refusal says to try again.
        for _ in 0..TRIES {
            let why = plan["refused"][0]["why"].as_str().unwrap_or_default();
            if !why.contains("changed each time") {
                break;
            }
            thread::sleep(PAUSE_OF_WRITER);
            plan = planned(cluster, folder, command);
        }
        let refused = plan["refused"].as_array();
        let wants_a_cost = |each: &Value| {
            let why = each["why"].as_str().unwrap_or_default();
            why.ends_with("nobody has accepted that")
        };
        // A person restarts the Pods of such a claim meanwhile: `act::rescue_again::claims` does that.
        let waits_for_pods = plan["plans"][0]["retention"]["again"] == "claim";
        let plans_nothing = plan["plans"].as_array().is_none_or(Vec::is_empty);
        if waits_for_pods || plans_nothing || refused.is_none_or(|refused| !refused.iter().all(wants_a_cost))
        {
            return Err(format!("planned is {plan}"));
        }
        told::carry_out(cluster, command);
        return Ok(());
    }
    if command.starts_with("kubectl edit ") {
        return Err("it needs a person at an editor".to_owned());
    }
    // A deletion that something else still holds would be waited for.
    let at_once = if command.split(' ').any(|word| word == "delete") {
        " --wait=false"
    } else {
        ""
    };
    let command = format!("{command}{at_once}");
    let mut output = run(cluster, folder, &command);
    // `kubectl apply` looks first and creates then. Another copy can create the same object in between.
    if String::from_utf8_lossy(&output.stderr).contains("(AlreadyExists)") {
        output = run(cluster, folder, &command);
    }
    if output.status.success() {
        Ok(())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

/// The uids of the objects that the steps of a copy have saved, if the server would take what is in the files.
fn saved(cluster: &Cluster, copy: &Copy) -> BTreeSet<String> {
    let mut uids = BTreeSet::new();
    // A copy for which no command has run has no folder.
    let entries = std::fs::read_dir(cluster.directory().join(&copy.name));
    for entry in entries.into_iter().flatten() {
        let file = entry.expect("the folder can be read").path();
        let text = std::fs::read_to_string(&file).expect("it is text");
        let again = cluster.kubectl([
            "create",
            "--dry-run=server",
            "--filename",
            &file.display().to_string(),
        ]);
        let object: Value = serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        if again.code == 0 || again.stderr.contains("(AlreadyExists)") {
            uids.extend(object["metadata"]["uid"].as_str().map(str::to_owned));
        }
    }
    uids
}

/// What there is when controllers have acted.
fn when_quiet(cluster: &Cluster, disks: &[PathBuf]) -> Seen {
    let begin = Instant::now();
    let mut last = seen(cluster, disks);
    loop {
        thread::sleep(QUIET);
        let now = seen(cluster, disks);
        if (now.objects == last.objects && now.disks == last.disks) || begin.elapsed() > PATIENCE {
            return now;
        }
        last = now;
    }
}

/// No kubelet runs, so a Node that waits longer than others is called unreachable. Nobody's step did that.
fn drop_heartbeats(node: &mut Value) {
    node["status"]["conditions"] = Value::Null;
    node["metadata"]["managedFields"] = Value::Null;
    if let Some(taints) = node["spec"]["taints"].as_array_mut() {
        let own = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];
        taints.retain(|taint| taint["key"].as_str().is_none_or(|key| !own.contains(&key)));
        if taints.is_empty() {
            node["spec"]["taints"] = Value::Null;
        }
    }
}

/// All that is stored in etcd, and the folders that stand for disks. The server stores JSON here.
fn seen(cluster: &Cluster, disks: &[PathBuf]) -> Seen {
    let text = cluster
        .etcdctl(["get", "/registry/", "--prefix", "--write-out=json"])
        .success();
    let answer: Value = serde_json::from_str(&text).expect("etcdctl prints JSON");
    let decoded = |kv: &Value, field: &str| {
        let text = kv[field].as_str().unwrap_or_default();
        STANDARD.decode(text).expect("base64")
    };
    let objects = answer["kvs"].as_array().into_iter().flatten().filter_map(|kv| {
        let key = String::from_utf8(decoded(kv, "key")).expect("a key is text");
        if RESTLESS.iter().any(|prefix| key.starts_with(prefix)) {
            return None;
        }
        let mut object: Value = serde_json::from_slice(&decoded(kv, "value")).ok()?;
        if key.starts_with("/registry/minions/") {
            drop_heartbeats(&mut object);
        } else if RETRIED.iter().any(|prefix| key.starts_with(prefix)) {
            object["status"] = Value::Null;
            object["metadata"]["managedFields"] = Value::Null;
        } else {
            object["metadata"]["resourceVersion"] = kv["mod_revision"].clone();
        }
        Some((key, object))
    });
    let folders = disks
        .iter()
        .flat_map(|disks| std::fs::read_dir(disks).expect("the driver has made disks"));
    let name = |folder: std::io::Result<std::fs::DirEntry>| {
        folder
            .expect("the folder can be read")
            .file_name()
            .to_string_lossy()
            .into_owned()
    };
    Seen {
        objects: objects.collect(),
        disks: folders.map(name).collect(),
        saved: BTreeSet::new(),
    }
}
