//! A cluster: etcd, kube-apiserver and kube-controller-manager in a directory of their own.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc, LazyLock,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use serde_json::Value;

use super::{
    Component, CsiSetup, Namespace, Output, Plugin, UserSetup,
    api::Api,
    audit, binaries, cache,
    control_plane::Plan,
    kubeconfig,
    kubectl::Kubectl,
    logs,
    pki::{Authority, Identity},
    reaper::Reaper,
    wait,
};

/// Another test run may take a port between its choice and its use. Three times in a row is unheard of.
const ATTEMPTS: usize = 3;

/// The differences from the default cluster. Extra flags come last and win; `{dir}` in them is the cluster's
/// directory.
pub struct Options<'a> {
    /// Whether kube-controller-manager runs. Without it nothing is protected, collected or removed.
    pub controller_manager: bool,
    /// More flags for etcd.
    pub etcd_args: &'a [&'a str],
    /// More flags for kube-apiserver.
    pub apiserver_args: &'a [&'a str],
    /// More flags for kube-controller-manager, such as `--enable-hostpath-provisioner`.
    pub controller_manager_args: &'a [&'a str],
    /// Names and texts of files that the flags need, such as an audit policy, in the cluster's directory.
    pub files: &'a [(&'a str, &'a str)],
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self {
            controller_manager: true,
            etcd_args: &[],
            apiserver_args: &[],
            controller_manager_args: &[],
            files: &[],
        }
    }
}

/// A running cluster. It ends when it is dropped, and when the test process ends in any way.
pub struct Cluster {
    pub(super) reaper: Arc<Reaper>,
    pub(super) authority: Authority,
    pub(super) kubectl: Kubectl,
    pub(super) api: Arc<Api>,
    api_url: String,
    etcd_url: String,
    etcd: Component,
    api_server: Component,
    controller_manager: Option<Component>,
    names: AtomicU32,
}

impl Cluster {
    /// The cluster that all tests of this process share. The first use starts it.
    pub fn shared() -> &'static Self {
        static SHARED: LazyLock<Cluster> = LazyLock::new(Cluster::start);
        &SHARED
    }

    /// A cluster of its own, for tests that break it.
    pub fn start() -> Self {
        Self::with(&Options::default())
    }

    /// A cluster of its own with other flags.
    pub fn with(options: &Options) -> Self {
        for attempt in 1.. {
            let cluster = Self::prepare(options);
            match cluster.begin() {
                Ok(()) => return cluster,
                Err(why) if why.contains("address already in use") && attempt < ATTEMPTS => cache::say(&why),
                Err(why) => panic!("{why}"),
            }
        }
        unreachable!("the last attempt returns or panics")
    }

    fn prepare(options: &Options) -> Self {
        let reaper = Arc::new(Reaper::start(&binaries::program("reaper"), None));
        let directory = reaper.directory().to_owned();
        let home = directory.join("home");
        for folder in [&home, &directory.join("logs")] {
            fs::create_dir(folder).expect("the cluster's directory is writable");
        }
        for (name, text) in options.files.iter().chain([&audit::FILE]) {
            fs::write(directory.join(name), text).expect("the cluster's directory is writable");
        }
        let authority = Authority::new(directory.join("pki"));
        let plan = Plan::new(&directory, &authority);
        let config = |user: &str, groups: &[&str]| {
            let identity = authority.client(user, user, groups, false);
            kubeconfig::write(
                directory.join(format!("{user}.kubeconfig")),
                &plan.api_url(),
                &authority,
                &identity,
            )
        };
        let kubectl = Kubectl {
            program: binaries::program("kubectl"),
            kubeconfig: config("admin", &["system:masters"]),
            home,
        };
        let api = Arc::new(Api::new(&kubectl.kubeconfig));
        let probe = Arc::clone(&api);

        let etcd = Component::new(
            &reaper,
            "etcd",
            &binaries::program("etcd"),
            plan.etcd(options.etcd_args),
        );
        let api_server = Component::new(
            &reaper,
            "kube-apiserver",
            &binaries::program("kube-apiserver"),
            plan.api_server(options.apiserver_args),
        )
        .ready_when(move || probe.is_ready());
        let controller_manager = options.controller_manager.then(|| {
            let config = config("system:kube-controller-manager", &[]);
            let flags = plan.controller_manager(&config, options.controller_manager_args);
            let program = binaries::program("kube-controller-manager");
            Component::new(&reaper, "kube-controller-manager", &program, flags)
        });
        let (api_url, etcd_url) = (plan.api_url(), plan.etcd_url());
        drop(plan);
        let names = AtomicU32::new(0);
        Self {
            reaper,
            authority,
            kubectl,
            api,
            api_url,
            etcd_url,
            etcd,
            api_server,
            controller_manager,
            names,
        }
    }

    fn begin(&self) -> Result<(), String> {
        self.etcd.try_start()?;
        // An API server without etcd reports only that; the end of etcd is the cause.
        self.api_server
            .try_start()
            .map_err(|why| self.etcd.exit_report().unwrap_or(why))?;
        if let Some(controller_manager) = &self.controller_manager {
            controller_manager.try_start()?;
            // Pods need it, and its existence shows that the controllers run.
            wait(
                "the controllers make the default service account",
                Duration::from_secs(60),
                || {
                    self.get(["serviceaccount", "default", "--namespace=default"])
                        .is_some()
                },
            );
        }
        Ok(())
    }

    /// The directory of this cluster, which is deleted with it.
    pub fn directory(&self) -> &Path {
        self.reaper.directory()
    }

    /// The administrator's kubeconfig.
    pub fn kubeconfig(&self) -> &Path {
        &self.kubectl.kubeconfig
    }

    /// The address of the API server, which clients trust through [`Self::certificate_authority`].
    pub fn url(&self) -> &str {
        &self.api_url
    }

    /// The address of etcd.
    pub(super) fn etcd_url(&self) -> &str {
        &self.etcd_url
    }

    /// The PEM certificate of the cluster's authority.
    pub fn certificate_authority(&self) -> PathBuf {
        self.authority.file("ca.crt")
    }

    /// A certificate of that authority for a server on this machine, and its key.
    pub fn server_identity(&self, file: &str) -> Identity {
        self.authority.server(file, &["127.0.0.1"])
    }

    /// The API server.
    pub fn api_server(&self) -> &Component {
        &self.api_server
    }

    /// etcd.
    pub fn etcd(&self) -> &Component {
        &self.etcd
    }

    /// kube-controller-manager.
    pub fn controller_manager(&self) -> &Component {
        self.controller_manager
            .as_ref()
            .expect("this cluster was started without a controller manager")
    }

    /// A name that is unique in this cluster.
    pub fn unique(&self, name: &str) -> String {
        format!("{name}-{}", self.names.fetch_add(1, Ordering::Relaxed))
    }

    /// Creates a Node. Each test with Pods needs a Node of its own: the Pod garbage collector deletes Pods on a
    /// missing Node. If another test has used that name before, it does so at once
    /// (`kubernetes/kubernetes:pkg/controller/podgc/gc_controller.go`).
    pub fn node(&self) -> String {
        let name = self.unique("node");
        self.apply(&format!(
            "{{apiVersion: v1, kind: Node, metadata: {{name: {name}}}}}"
        ));
        name
    }

    /// A new namespace with a unique name. Dropping it starts its deletion.
    pub fn namespace(&self, name: &str) -> Namespace<'_> {
        Namespace::create(self, self.unique(name))
    }

    /// A namespace of exactly this name. It stays when this is dropped.
    pub fn namespace_to_keep(&self, name: &str) -> Namespace<'_> {
        Namespace::create(self, name.to_owned()).kept()
    }

    /// The kubectl of this cluster, to measure it.
    pub fn kubectl_program(&self) -> PathBuf {
        self.kubectl.program.clone()
    }

    /// kubectl as the administrator.
    pub fn kubectl<S: Into<String>>(&self, arguments: impl IntoIterator<Item = S>) -> Output {
        self.kubectl.run(arguments, None)
    }

    /// Runs `kubectl apply` on a text. The test fails if that is rejected.
    #[track_caller]
    pub fn apply(&self, manifest: &str) {
        self.api.apply(manifest, "default");
    }

    /// Runs `kubectl get … -o json`. `None` if the object does not exist.
    #[track_caller]
    pub fn get<S: Into<String>>(&self, what: impl IntoIterator<Item = S>) -> Option<Value> {
        let what: Vec<String> = what.into_iter().map(Into::into).collect();
        if let Ok(found) = self.api.get(&what) {
            return found;
        }
        let mut arguments = vec!["get".to_owned()];
        arguments.extend(what);
        arguments.extend(["--output=json".to_owned(), "--ignore-not-found".to_owned()]);
        let text = self.kubectl.run(arguments, None).success();
        (!text.is_empty()).then(|| serde_json::from_str(&text).expect("kubectl prints JSON"))
    }

    /// Writes the status, as a kubelet or an operator does.
    #[track_caller]
    pub fn patch_status<S: Into<String>>(&self, object: impl IntoIterator<Item = S>, status: &Value) {
        let change = serde_json::json!({"status": status});
        self.change(object, "/status", "kubectl-patch", &change);
    }

    /// Runs `kubectl patch … --type=merge` in the name of this field manager.
    #[track_caller]
    pub fn patch_by<S: Into<String>>(
        &self,
        manager: &str,
        object: impl IntoIterator<Item = S>,
        change: &Value,
    ) {
        self.change(object, "", manager, change);
    }

    #[track_caller]
    fn change<S: Into<String>>(
        &self,
        object: impl IntoIterator<Item = S>,
        subresource: &str,
        manager: &str,
        change: &Value,
    ) {
        let object: Vec<String> = object.into_iter().map(Into::into).collect();
        if self.api.patch(&object, subresource, manager, change).is_ok() {
            return;
        }
        let mut arguments = vec!["patch".to_owned()];
        arguments.extend(object);
        if !subresource.is_empty() {
            arguments.push(format!("--subresource={}", subresource.trim_start_matches('/')));
        }
        arguments.extend([
            format!("--field-manager={manager}"),
            "--type=merge".to_owned(),
            format!("--patch={change}"),
        ]);
        self.kubectl.run(arguments, None).success();
    }

    /// Runs `kubectl delete … --wait=false`. The namespace of a cluster-scoped object is empty.
    #[track_caller]
    pub fn delete(&self, what: &str, namespace: &str) {
        self.delete_with("background", what, namespace);
    }

    /// The same with `--cascade=foreground` or `--cascade=orphan`.
    #[track_caller]
    pub fn delete_with(&self, cascade: &str, what: &str, namespace: &str) {
        let mut words = vec![what.to_owned()];
        if !namespace.is_empty() {
            words.push(format!("--namespace={namespace}"));
        }
        let (first, rest) = cascade.split_at(1);
        let policy = first.to_uppercase() + rest;
        if self.api.delete(&words, &policy).is_ok() {
            return;
        }
        words.insert(0, "delete".to_owned());
        words.extend([format!("--cascade={cascade}"), "--wait=false".to_owned()]);
        self.kubectl.run(words, None).success();
    }

    /// Whether the API server answers a request for this path, such as that of a type which was defined just now.
    pub fn serves(&self, path: &str) -> bool {
        self.api.serves(path)
    }

    /// Runs etcdctl on this cluster's etcd.
    pub fn etcdctl<S: Into<String>>(&self, arguments: impl IntoIterator<Item = S>) -> Output {
        let mut all = self.etcdctl_flags();
        all.extend(arguments.into_iter().map(Into::into));
        let etcdctl = Kubectl {
            program: binaries::program("etcdctl"),
            ..self.kubectl.clone()
        };
        etcdctl.run(all, None)
    }

    /// The beginning of a shell command line that runs etcdctl on this cluster's etcd.
    pub fn etcdctl_line(&self) -> String {
        let mut words = vec![binaries::program("etcdctl").display().to_string()];
        words.extend(self.etcdctl_flags());
        words.join(" ")
    }

    /// The flags for etcd's address and certificates.
    pub(super) fn etcdctl_flags(&self) -> Vec<String> {
        let file = |name: &str| self.authority.file(name).display().to_string();
        vec![
            format!("--endpoints={}", self.etcd_url),
            format!("--cacert={}", file("ca.crt")),
            format!("--cert={}", file("server.crt")),
            format!("--key={}", file("server.key")),
        ]
    }

    /// Describes a user without rights, which methods add.
    pub fn user(&self, name: &str) -> UserSetup<'_> {
        UserSetup::new(self, self.unique(name))
    }

    /// The plugin with these arguments, as the administrator by default.
    pub fn plugin<S: Into<String>>(&self, arguments: impl IntoIterator<Item = S>) -> Plugin {
        Plugin::new(arguments)
            .kubeconfig(self.kubeconfig())
            .home(&self.kubectl.home)
    }

    /// Describes storage with this driver: our driver with the real sidecars.
    pub fn csi_driver(&self, name: &str) -> CsiSetup<'_> {
        CsiSetup::new(self, name)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        logs::keep_if_failing(self.directory());
    }
}
