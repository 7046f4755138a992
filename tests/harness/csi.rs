//! Storage: a driver whose disks are folders, with the real CSI sidecars.

use std::{fs, path::PathBuf, time::Duration};

use super::{Cluster, Component, User, binaries, logs, wait};

/// Storage that has not started.
pub struct CsiSetup<'a> {
    cluster: &'a Cluster,
    name: String,
    attach: bool,
    snapshots: bool,
    clones: bool,
    users: Vec<(&'static str, PathBuf)>,
}

/// A running driver and its sidecars. Dropping it stops them. Their objects in the cluster stay, as after a
/// careless uninstallation.
pub struct CsiDriver<'a> {
    cluster: &'a Cluster,
    name: String,
    control: PathBuf,
    process: Component,
    provisioner: Component,
    attacher: Option<Component>,
    snapshotter: Option<Component>,
    snapshot_controller: Option<Component>,
}

impl<'a> CsiSetup<'a> {
    pub(super) fn new(cluster: &'a Cluster, name: &str) -> Self {
        Self {
            cluster,
            name: name.to_owned(),
            attach: false,
            snapshots: false,
            clones: false,
            users: Vec::new(),
        }
    }

    /// Requires volumes to be attached, with the real csi-attacher.
    pub fn with_attacher(mut self) -> Self {
        self.attach = true;
        self
    }

    /// Installs the snapshot CRDs, the real snapshot-controller and the real csi-snapshotter.
    pub fn with_snapshots(mut self) -> Self {
        self.snapshots = true;
        self
    }

    /// Lets volumes be cloned.
    pub fn with_clones(mut self) -> Self {
        self.clones = true;
        self
    }

    /// Gives a sidecar such as `csi-attacher`, or the snapshot-controller, only the rights of this user.
    pub fn with_rights_of(mut self, sidecar: &'static str, user: &User) -> Self {
        self.users.push((sidecar, user.kubeconfig().to_owned()));
        self
    }

    /// Runs one of them as this `ServiceAccount`, with its rights.
    pub fn acting_as(mut self, sidecar: &'static str, namespace: &str, account: &str) -> Self {
        let config =
            fs::read_to_string(self.cluster.kubeconfig()).expect("the administrator has a kubeconfig");
        let user = format!("user: {{as: \"system:serviceaccount:{namespace}:{account}\", client-certificate");
        let file = self
            .cluster
            .directory()
            .join(format!("{sidecar}.account.kubeconfig"));
        fs::write(&file, config.replacen("user: {client-certificate", &user, 1))
            .expect("the cluster's directory is writable");
        self.users.push((sidecar, file));
        self
    }

    /// Starts everything, and creates the `CSIDriver` and a `StorageClass` with the driver's name.
    pub fn start(self) -> CsiDriver<'a> {
        let Self {
            cluster,
            name,
            attach,
            snapshots,
            clones,
            users,
        } = self;
        let control = cluster.directory().join(&name);
        fs::create_dir_all(&control).expect("the cluster's directory is writable");
        let socket = control.join("socket");
        let component = |program: &str, arguments: Vec<String>| {
            Component::new(
                &cluster.reaper,
                &format!("{program}.{name}"),
                &binaries::program(program),
                arguments,
            )
        };

        let mut arguments = vec![
            name.clone(),
            socket.display().to_string(),
            control.display().to_string(),
        ];
        arguments.extend(attach.then(|| "attach".to_owned()));
        arguments.extend(snapshots.then(|| "snapshot".to_owned()));
        arguments.extend(clones.then(|| "clone".to_owned()));
        let listening = socket.clone();
        let process = component("csi-driver", arguments).ready_when(move || listening.exists());

        // Real Leases, with timeouts and retries of seconds instead of minutes.
        let kubeconfig = format!("--kubeconfig={}", cluster.kubeconfig().display());
        let elected = [
            "--leader-election".to_owned(),
            "--leader-election-namespace=kube-system".to_owned(),
        ];
        let config = |program: &str| {
            let of_its_own = users.iter().find(|(name, _)| *name == program);
            of_its_own.map_or(kubeconfig.clone(), |(_, file)| {
                format!("--kubeconfig={}", file.display())
            })
        };
        let sidecar = |program: &str| {
            let mut arguments = vec![config(program), format!("--csi-address={}", socket.display())];
            arguments.push("--retry-interval-start=200ms".to_owned());
            arguments.push("--retry-interval-max=2s".to_owned());
            arguments.push("--timeout=3s".to_owned());
            arguments.extend(elected.clone());
            component(program, arguments)
        };
        let driver = CsiDriver {
            process,
            provisioner: sidecar("csi-provisioner"),
            attacher: attach.then(|| sidecar("csi-attacher")),
            snapshotter: snapshots.then(|| sidecar("csi-snapshotter")),
            snapshot_controller: snapshots.then(|| {
                let kubeconfig = config("snapshot-controller");
                component(
                    "snapshot-controller",
                    [std::slice::from_ref(&kubeconfig), &elected[..]].concat(),
                )
            }),
            cluster,
            name,
            control,
        };
        driver.install(attach, snapshots);
        for component in driver.components() {
            component.start();
        }
        driver
    }
}

impl CsiDriver<'_> {
    fn install(&self, attach: bool, snapshots: bool) {
        let name = &self.name;
        self.cluster.apply(&format!(
            "{{apiVersion: storage.k8s.io/v1, kind: CSIDriver, metadata: {{name: {name}}}, spec: {{attachRequired: {attach}}}}}
---
{{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {{name: {name}}}, provisioner: {name}}}"
        ));
        if snapshots {
            let crds = format!("--filename={}", binaries::crds("sidecars").display());
            self.cluster.kubectl(["apply", "--server-side", &crds]).success();
            wait("the snapshot types are served", Duration::from_secs(20), || {
                self.cluster
                    .kubectl(["get", "volumesnapshotclasses.snapshot.storage.k8s.io"])
                    .code
                    == 0
            });
            self.cluster.apply(&format!(
                "{{apiVersion: snapshot.storage.k8s.io/v1, kind: VolumeSnapshotClass, metadata: {{name: {name}}}, driver: {name}, deletionPolicy: Delete}}"
            ));
        }
    }

    fn components(&self) -> impl Iterator<Item = &Component> {
        let optional = [&self.attacher, &self.snapshotter, &self.snapshot_controller];
        [&self.process, &self.provisioner]
            .into_iter()
            .chain(optional.into_iter().flatten())
    }

    /// The process of the driver.
    pub fn process(&self) -> &Component {
        &self.process
    }

    /// The real csi-provisioner.
    pub fn provisioner(&self) -> &Component {
        &self.provisioner
    }

    /// The real csi-attacher.
    pub fn attacher(&self) -> &Component {
        self.attacher
            .as_ref()
            .expect("this driver was started without an attacher")
    }

    /// The real sidecars that act on volumes: the csi-provisioner, and the csi-attacher if there is one.
    pub fn sidecars(&self) -> impl Iterator<Item = &Component> {
        [&self.provisioner].into_iter().chain(&self.attacher)
    }

    /// The real csi-snapshotter, which creates and deletes the snapshots at the driver.
    pub fn snapshotter(&self) -> &Component {
        self.snapshotter
            .as_ref()
            .expect("this driver was started without snapshots")
    }

    /// The real snapshot-controller, which binds and protects snapshots.
    pub fn snapshot_controller(&self) -> &Component {
        self.snapshot_controller
            .as_ref()
            .expect("this driver was started without snapshots")
    }

    /// Makes a CSI call such as `DeleteVolume` fail with this text.
    pub fn fails(&self, call: &str, text: &str) {
        assert!(!text.is_empty(), "a failure has a text");
        self.fault(call, text);
    }

    /// Makes a CSI call hang until its caller times out.
    pub fn hangs(&self, call: &str) {
        self.fault(call, "");
    }

    /// Makes a CSI call work again.
    pub fn heals(&self, call: &str) {
        fs::remove_file(self.control.join(call))
            .unwrap_or_else(|error| panic!("{call} was not at fault: {error}"));
    }

    /// The driver checks on each call whether this file exists, so it must appear complete.
    fn fault(&self, call: &str, text: &str) {
        let new = self.control.join("new-fault");
        fs::write(&new, text)
            .and_then(|()| fs::rename(&new, self.control.join(call)))
            .expect("the fault file is written");
    }

    /// The folder in which the data of a volume is, by its handle.
    pub fn disk(&self, handle: &str) -> PathBuf {
        self.control.join("volumes").join(handle)
    }

    /// All CSI calls, oldest first, such as `DeleteVolume pvc-…`.
    pub fn calls(&self) -> Vec<String> {
        let text = fs::read_to_string(self.control.join("calls")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

impl Drop for CsiDriver<'_> {
    fn drop(&mut self) {
        logs::keep_if_failing(self.cluster.directory());
        for component in self.components() {
            if component.is_running() {
                component.kill();
            }
        }
        // A new driver of this name starts without faults.
        let _ = fs::remove_dir_all(&self.control);
    }
}
