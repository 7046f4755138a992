//! Labels are held against what was lost: every step of many explanations is carried out on a real cluster.
//!
//! Each step that changes something has a copy of its stuck deletion to itself. A step that keeps the disk would otherwise
//! hide that the next one destroys it.

mod judge;
mod scenarios;

use std::{
    path::Path,
    thread,
    time::{Duration, Instant},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::Value;

use self::{
    judge::{Seen, untrue},
    scenarios::{ALL, DRIVER, add_types},
};
use crate::{
    explain::told::{self, Told, told},
    harness::{Cluster, Options},
};

/// What changes by itself.
const RESTLESS: &[&str] = &[
    "/registry/events/",
    "/registry/leases/",
    "/registry/peerserverleases/",
    "/registry/masterleases/",
];
/// Controllers have nothing more to do when nothing was written for so long. The provisioner tries again every two seconds.
const QUIET: Duration = Duration::from_millis(2500);
/// A cluster that is never quiet is judged after this time.
const PATIENCE: Duration = Duration::from_secs(20);

/// One stuck deletion, and the step that is tried on it.
struct Copy {
    name: String,
    told: Told,
    /// The number of the step among those that change something.
    step: usize,
    /// How many of those steps there should be.
    steps: usize,
}

impl Copy {
    fn steps(&self, reads: bool) -> Vec<&Value> {
        let all = self.told.0["steps"].as_array().into_iter().flatten();
        all.filter(|step| step["command"].is_string() && (step["safety"] == "read-only") == reads)
            .collect()
    }
}

#[test]
fn no_step_loses_more_than_its_label_says() {
    let cluster = Cluster::with(&Options {
        apiserver_args: &["--storage-media-type=application/json"],
        ..Options::default()
    });
    let driver = cluster.csi_driver(DRIVER).with_snapshots().start();
    let disks = driver.disk("any").parent().unwrap().to_owned();
    add_types(&cluster);
    let copies = made(&cluster);
    // A step more or less in a scenario asks for another look at what it may lose.
    let differ: Vec<_> = copies
        .iter()
        .filter(|copy| copy.step == 0 && copy.steps(false).len() != copy.steps)
        .map(|copy| format!("{}: {:#?}", copy.name, copy.steps(false)))
        .collect();
    assert!(differ.is_empty(), "{}", differ.join("\n"));

    // Whoever only looks changes nothing in the whole cluster.
    let before = when_quiet(&cluster, &disks);
    let mut looks = Vec::new();
    for copy in copies.iter().filter(|copy| copy.step == 0) {
        for step in copy.steps(true) {
            told::run(&cluster, step["command"].as_str().unwrap());
            looks.push(step);
        }
    }
    let after = seen(&cluster, &disks);
    assert!(looks.len() >= 8, "{looks:#?}");
    let found = untrue(looks[0], &before, &after);
    assert!(found.is_empty(), "{found:#?}\nby one of {looks:#?}");

    // Each other step, on its own copy.
    let tried: Vec<_> = thread::scope(|scope| {
        let cluster = &cluster;
        let running: Vec<_> = copies
            .iter()
            .map(|copy| {
                scope.spawn(move || {
                    let &step = copy.steps(false).get(copy.step)?;
                    let command = step["command"].as_str().unwrap();
                    Some((copy, step, try_to_carry_out(cluster, command)))
                })
            })
            .collect();
        running
            .into_iter()
            .filter_map(|one| one.join().expect("the step is tried"))
            .collect()
    });
    let after = when_quiet(&cluster, &disks);
    let mut carried_out = [0; 3];
    for (copy, step, done) in tried {
        let found = untrue(step, &before.about(&copy.name), &after.about(&copy.name));
        assert!(found.is_empty(), "{}: {found:#?}\n{step:#}", copy.name);
        let labels = ["safe", "reversible", "destructive"];
        let label = labels.iter().position(|label| step["safety"] == *label).unwrap();
        carried_out[label] += usize::from(done);
    }
    // The test itself is held against what it saw: disks went, and steps of each label were carried out.
    assert!(after.disks.len() < before.disks.len());
    let [safe, reversible, destructive] = carried_out;
    assert!(
        safe >= 6 && reversible >= 2 && destructive >= 6,
        "{carried_out:?}"
    );
}

/// All copies of all scenarios, explained.
fn made(cluster: &Cluster) -> Vec<Copy> {
    thread::scope(|scope| {
        let wanted = ALL
            .iter()
            .filter(|scenario| scenario.can_be_made())
            .flat_map(|scenario| (0..scenario.steps.max(1)).map(move |step| (scenario, step)));
        let running: Vec<_> = wanted
            .map(|(scenario, step)| {
                scope.spawn(move || {
                    let name = format!("{}-{step}z", scenario.name);
                    let target = (scenario.make)(cluster, &name);
                    (scenario, step, name, target)
                })
            })
            .collect();
        let made: Vec<_> = running
            .into_iter()
            .map(|one| one.join().expect("the scenario is made"))
            .collect();
        // A Pod is overdue only after its grace period and some patience.
        thread::sleep(Duration::from_secs(3));
        made.into_iter()
            .map(|(scenario, step, name, [target, namespace])| Copy {
                name,
                told: told(cluster, &target, &namespace),
                step,
                steps: scenario.steps,
            })
            .collect()
    })
}

/// Carries out a step, unless the plugin itself refuses to. Returns whether it was carried out.
fn try_to_carry_out(cluster: &Cluster, command: &str) -> bool {
    if told::changes(command) {
        let plan = told::run(cluster, &format!("{command} --plan -o json"));
        let plan: Value = serde_json::from_slice(&plan.stdout).unwrap_or_default();
        let refused = plan["refused"].as_array();
        let wants_a_cost = |each: &Value| each.to_string().contains("--accept");
        // A person restarts the Pods of such a claim meanwhile: `act::rescue_again::claims` does that.
        let waits_for_pods = plan["plans"][0]["retention"]["again"] == "claim";
        if waits_for_pods || refused.is_none_or(|refused| !refused.iter().all(wants_a_cost)) {
            return false;
        }
        told::carry_out(cluster, command);
        return true;
    }
    // A deletion that something else still holds would be waited for.
    let at_once = if command.split(' ').any(|word| word == "delete") {
        " --wait=false"
    } else {
        ""
    };
    told::run(cluster, &format!("{command}{at_once}"))
        .status
        .success()
}

/// What there is when controllers have acted.
fn when_quiet(cluster: &Cluster, disks: &Path) -> Seen {
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
fn seen(cluster: &Cluster, disks: &Path) -> Seen {
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
        } else {
            object["metadata"]["resourceVersion"] = kv["mod_revision"].clone();
        }
        Some((key, object))
    });
    let folders = std::fs::read_dir(disks).expect("the driver has made disks");
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
    }
}
