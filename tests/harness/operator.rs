//! A real operator: the objects of its own manifests, and its program as a process.
//!
//! The process has the token of the operator's `ServiceAccount`, so its real rights count. No kubelet runs here: the
//! real controllers make the Pods of its Deployment, and this reports their status as a kubelet does.
//!
//! Left out is what the API server would call over the network of Pods, which does not exist here: the admission
//! webhooks, the conversion of versions that no test uses, and an aggregated API.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::TcpStream,
    path::Path,
    time::Duration,
};

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::{Cluster, Component, binaries, kubeconfig, ports, wait};

/// The controllers of Deployments need some seconds on a busy machine.
const SOON: Duration = Duration::from_secs(90);
/// How often its process starts again when it ends before it is ready.
const RESTARTS: usize = 3;

/// What is known of an operator beyond its manifests.
pub struct Product {
    /// Its program, and the module that builds it.
    pub program: &'static str,
    /// Flags after those of its Deployment, which win.
    flags: fn(&Place) -> Vec<String>,
}

/// Kueue. It elects a leader and serves its webhooks, which nobody calls here.
pub const KUEUE: Product = Product {
    program: "kueue",
    flags: |place| {
        let config = place.all("ConfigMap").find_map(|object| {
            object["data"]["controller_manager_config.yaml"]
                .as_str()
                .map(str::to_owned)
        });
        let config = config.expect("Kueue's manifests have its configuration");
        let mut config: Value = serde_saphyr::from_str(&config).expect("Kueue's configuration is YAML");
        let namespace = place.namespace();
        config["namespace"] = namespace.into();
        config["leaderElection"]["resourceNamespace"] = namespace.into();
        config["health"] = json!({"healthProbeBindAddress": place.health()});
        config["metrics"] = json!({"bindAddress": "0"});
        config["webhook"] = json!({"port": ports::free(), "certDir": place.certificates()});
        // Its chart writes these names, too.
        let named = |kind: &str, end: &str| {
            let names = place
                .all(kind)
                .filter_map(|object| object["metadata"]["name"].as_str());
            names.filter(|name| name.ends_with(end)).collect::<String>()
        };
        config["internalCertManagement"] = json!({
            "enable": true,
            "webhookServiceName": named("Service", "-webhook-service"),
            "webhookSecretName": named("Secret", "-webhook-server-cert"),
        });
        // Its aggregated API has a fixed port, which two tests cannot share.
        config["featureGates"] = json!({"VisibilityOnDemand": false});
        let file = place.directory.join("kueue.json");
        fs::write(&file, config.to_string()).expect("the cluster's directory is writable");
        vec![format!("--config={}", file.display())]
    },
};

/// Cluster API's core. Outside of a Pod it cannot elect a leader, so it has no Lease.
pub const CLUSTER_API: Product = Product {
    program: "cluster-api",
    flags: |place| {
        vec![
            "--leader-elect=false".to_owned(),
            format!("--health-addr={}", place.health()),
            format!("--diagnostics-address=127.0.0.1:{}", ports::free()),
            format!("--webhook-port={}", ports::free()),
            format!("--webhook-cert-dir={}", place.certificates()),
        ]
    },
};

/// Where an operator is installed, and what its process needs there.
struct Place<'a> {
    cluster: &'a Cluster,
    directory: std::path::PathBuf,
    objects: Vec<Value>,
    health_port: u16,
}

/// An installed operator. Dropping it stops its process; its objects stay.
pub struct Operator<'a> {
    cluster: &'a Cluster,
    objects: Vec<Value>,
    /// The namespace of the installation.
    pub namespace: String,
    /// Its Deployment.
    pub deployment: String,
    account: String,
    process: Component,
}

impl<'a> Operator<'a> {
    /// Installs it as its manifests say, and waits until it is ready.
    pub fn install(cluster: &'a Cluster, product: &Product) -> Self {
        Self::install_as(cluster, product, &[])
    }

    /// The same under other names: each text on the left is replaced by the one on the right, in all manifests.
    pub fn install_as(cluster: &'a Cluster, product: &Product, names: &[(&str, &str)]) -> Self {
        let directory = cluster.directory().join(product.program);
        fs::create_dir_all(&directory).expect("the cluster's directory is writable");
        let mut place = Place {
            cluster,
            directory,
            objects: objects(cluster, product, names),
            health_port: ports::free(),
        };
        let list = json!({"apiVersion": "v1", "kind": "List", "items": place.objects});
        cluster.apply(&list.to_string());

        let deployment = place.deployment();
        let text = |pointer: &str| deployment.pointer(pointer).and_then(Value::as_str);
        let name = text("/metadata/name")
            .expect("a Deployment has a name")
            .to_owned();
        let account = text("/spec/template/spec/serviceAccountName")
            .expect("the operator has an account")
            .to_owned();
        let namespace = place.namespace().to_owned();
        let token = cluster
            .kubectl(["create", "token", &account, "--namespace", &namespace])
            .success();
        let config = kubeconfig::write_with_token(
            place.directory.join("kubeconfig"),
            cluster.url(),
            &cluster.authority,
            token.trim(),
        );
        let program = binaries::program(product.program);
        let mut process = place.process(product, &config, &program);
        // A kubelet restarts a container that ends at once. Here another test may have taken one of its ports.
        for _ in 0..RESTARTS {
            let Err(why) = process.try_start() else { break };
            assert!(!process.is_running(), "{why}");
            eprintln!("starting again on other ports: {why}");
            place.health_port = ports::free();
            process = place.process(product, &config, &program);
        }
        let operator = Self {
            cluster,
            objects: std::mem::take(&mut place.objects),
            namespace,
            deployment: name,
            account,
            process,
        };
        operator.start();
        operator
    }

    /// Starts its process if it does not run, and reports its Pod as ready.
    pub fn start(&self) {
        if !self.process.is_running() {
            self.process.start();
        }
        self.pod_is(
            1,
            &json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}],
                "containerStatuses": [{"name": "manager", "image": "i", "imageID": "", "ready": true, "restartCount": 0,
                    "state": {"running": {}}}]}),
        );
    }

    /// Kills its process, which cannot start again, and reports that as a kubelet does.
    pub fn crashes(&self) {
        self.process.kill();
        self.lease_expires();
        self.pod_is(
            0,
            &json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "False"}],
                "containerStatuses": [{"name": "manager", "image": "i", "imageID": "", "ready": false, "restartCount": 7,
                    "state": {"waiting": {"reason": "CrashLoopBackOff",
                        "message": "back-off 5m0s restarting failed container=manager"}}}]}),
        );
    }

    /// Scales its Deployment to zero. Its process ends with the Pod.
    pub fn is_scaled_to_zero(&self) {
        let zero = [
            "scale",
            "deployment",
            &self.deployment,
            "--replicas=0",
            "--namespace",
            &self.namespace,
        ];
        self.cluster.kubectl(zero).success();
        self.process.stop();
        self.lease_expires();
        wait("the Deployment has no Pod", SOON, || self.pods().is_empty());
        self.has_ready(0);
    }

    /// Puts the last renewal of its Leases back by a minute, instead of waiting for it. Nobody renews them now.
    fn lease_expires(&self) {
        let namespace = format!("--namespace={}", self.namespace);
        let leases = self
            .cluster
            .kubectl(["get", "leases", "--output=name", &namespace])
            .success();
        let earlier = Timestamp::now() - SignedDuration::from_mins(1);
        let patch = json!({"spec": {"renewTime": earlier.strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string()}});
        for lease in leases.lines() {
            self.cluster
                .kubectl([
                    "patch",
                    lease,
                    "--type=merge",
                    "--patch",
                    &patch.to_string(),
                    &namespace,
                ])
                .success();
        }
    }

    /// Takes the right to change these objects from its roles, or gives it back.
    pub fn may_change(&self, resource: &str, group: &str, may: bool) {
        // The other roles of the manifests are for people.
        let is_its_own = |object: &&Value| {
            let name = object["metadata"]["name"].as_str().unwrap_or_default();
            object["kind"] == "ClusterRole" && name.ends_with("-manager-role") && object["rules"].is_array()
        };
        for role in self.objects.iter().filter(is_its_own) {
            let mut role = role.clone();
            if !may {
                role["rules"] = without(&role["rules"], resource, group);
            }
            self.cluster.apply(&role.to_string());
        }
        let account = format!("--as=system:serviceaccount:{}:{}", self.namespace, self.account);
        let question = [
            "auth",
            "can-i",
            "update",
            &format!("{resource}.{group}"),
            "-A",
            &account,
        ];
        wait("the API server knows the role", SOON, || {
            (self.cluster.kubectl(question).code == 0) == may
        });
    }

    /// Deletes all that was installed but the types, as `helm uninstall` does with types that it keeps.
    pub fn uninstall(self) {
        self.process.stop();
        let removed = self
            .objects
            .iter()
            .filter(|object| object["kind"] != "CustomResourceDefinition");
        let list = json!({"apiVersion": "v1", "kind": "List", "items": removed.collect::<Vec<_>>()});
        let file = self.cluster.directory().join("uninstalled.json");
        fs::write(&file, list.to_string()).expect("the cluster's directory is writable");
        let file = file.display().to_string();
        self.cluster
            .kubectl(["delete", "--ignore-not-found", "--filename", &file])
            .success();
    }

    /// What the process has said.
    pub fn log(&self) -> String {
        self.process.log()
    }

    fn pod_is(&self, ready: u64, status: &Value) {
        wait("the Deployment has its Pod", SOON, || !self.pods().is_empty());
        let namespace = format!("--namespace={}", self.namespace);
        for pod in self.pods() {
            self.cluster.patch_status(["pod", &pod, &namespace], status);
        }
        self.has_ready(ready);
    }

    fn pods(&self) -> Vec<String> {
        let namespace = format!("--namespace={}", self.namespace);
        let pods = self.cluster.get(["pods", &namespace]).unwrap_or_default();
        let items = pods["items"].as_array().into_iter().flatten();
        items
            .filter_map(|pod| pod["metadata"]["name"].as_str().map(str::to_owned))
            .collect()
    }

    fn has_ready(&self, ready: u64) {
        wait("the Deployment counts its Pods", SOON, || {
            let namespace = format!("--namespace={}", self.namespace);
            let deployment = self.cluster.get(["deployment", &self.deployment, &namespace]);
            deployment
                .is_some_and(|found| found["status"]["readyReplicas"].as_u64().unwrap_or_default() == ready)
        });
    }
}

impl Drop for Operator<'_> {
    fn drop(&mut self) {
        if self.process.is_running() {
            self.process.kill();
        }
    }
}

impl Place<'_> {
    fn all(&self, kind: &str) -> impl Iterator<Item = &Value> {
        self.objects.iter().filter(move |object| object["kind"] == kind)
    }

    fn deployment(&self) -> &Value {
        self.all("Deployment")
            .next()
            .expect("an operator has a Deployment")
    }

    fn namespace(&self) -> &str {
        self.deployment()["metadata"]["namespace"]
            .as_str()
            .expect("the kustomization sets the namespace")
    }

    fn health(&self) -> String {
        format!("127.0.0.1:{}", self.health_port)
    }

    /// The flags of its container, with the defaults of the variables that an installer would ask for.
    fn own_flags(&self) -> Vec<String> {
        let flags = &self.deployment()["spec"]["template"]["spec"]["containers"][0]["args"];
        let flags = flags.as_array().into_iter().flatten().filter_map(Value::as_str);
        flags.map(with_defaults).collect()
    }

    fn process(&self, product: &Product, config: &Path, program: &Path) -> Component {
        let mut flags = self.own_flags();
        flags.push(format!("--kubeconfig={}", config.display()));
        flags.extend((product.flags)(self));
        let port = self.health_port;
        Component::new(&self.cluster.reaper, product.program, program, flags)
            .ready_when(move || is_ready(port))
    }

    /// A folder with a certificate for its webhooks, as a kubelet mounts it.
    fn certificates(&self) -> String {
        let identity = self.cluster.server_identity(&self.cluster.unique("operator"));
        for (from, to) in [(&identity.certificate, "tls.crt"), (&identity.key, "tls.key")] {
            fs::copy(from, self.directory.join(to)).expect("the cluster's directory is writable");
        }
        self.directory.display().to_string()
    }
}

/// What its kustomization `default` makes, under these names.
fn objects(cluster: &Cluster, product: &Product, names: &[(&str, &str)]) -> Vec<Value> {
    let folder = binaries::manifests(product.program).join("default");
    let mut text = cluster
        .kubectl(["kustomize", &folder.display().to_string()])
        .success();
    for (from, to) in names {
        text = text.replace(from, to);
    }
    let objects: Vec<Value> = serde_saphyr::from_multiple(&text).expect("kustomize prints YAML");
    objects
        .into_iter()
        .filter(is_there)
        .map(without_conversion)
        .collect()
}

/// Whether it works here: see the head of this file. No cert-manager runs, either.
fn is_there(object: &Value) -> bool {
    let called = [
        "MutatingWebhookConfiguration",
        "ValidatingWebhookConfiguration",
        "APIService",
    ];
    let group = object["apiVersion"].as_str().unwrap_or_default();
    !called.iter().any(|kind| object["kind"] == *kind) && !group.starts_with("cert-manager.io/")
}

fn without_conversion(mut object: Value) -> Value {
    if object["kind"] == "CustomResourceDefinition" {
        object["spec"]["conversion"] = json!({"strategy": "None"});
    }
    object
}

/// `${NAME:=value}` becomes `value`.
fn with_defaults(text: &str) -> String {
    let mut parts = text.split("${");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |whole, part| {
        let (variable, rest) = part.split_once('}').unwrap_or((part, ""));
        let (_, value) = variable.split_once(":=").unwrap_or((variable, ""));
        whole + value + rest
    })
}

/// The rules without the verbs that change these objects.
fn without(rules: &Value, resource: &str, group: &str) -> Value {
    let names = |list: &Value, name: &str| {
        list.as_array()
            .is_some_and(|list| list.iter().any(|each| each == name))
    };
    let keep = |list: &Value, drop: &[&str]| -> Value {
        let list = list.as_array().into_iter().flatten();
        list.filter(|each| !drop.iter().any(|name| *each == name))
            .cloned()
            .collect()
    };
    let mut left = Vec::new();
    for rule in rules.as_array().into_iter().flatten() {
        if !names(&rule["apiGroups"], group) || !names(&rule["resources"], resource) {
            left.push(rule.clone());
            continue;
        }
        let mut others = rule.clone();
        others["resources"] = keep(&rule["resources"], &[resource]);
        if others["resources"] != json!([]) {
            left.push(others);
        }
        let mut less = rule.clone();
        less["resources"] = json!([resource]);
        less["verbs"] = keep(&rule["verbs"], &["update", "patch"]);
        left.push(less);
    }
    Value::Array(left)
}

/// Whether the program says on its health port that it is ready.
fn is_ready(port: u16) -> bool {
    let ask = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        stream.write_all(b"GET /readyz HTTP/1.0\r\nHost: localhost\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    };
    ask().is_ok_and(|answer| answer.split(' ').nth(1) == Some("200"))
}
