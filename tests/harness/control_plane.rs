//! The flags of etcd, kube-apiserver and kube-controller-manager.

use std::path::Path;

use super::{
    audit,
    pki::{Authority, Identity},
    ports,
};

/// Settings that the three programs share.
pub struct Plan<'a> {
    pub directory: &'a Path,
    pub authority: &'a Authority,
    /// A certificate for servers and for clients of etcd. etcd trusts only this cluster. So an API server never
    /// uses the etcd of another test run that took the port first.
    pub server: Identity,
    pub etcd_port: u16,
    pub etcd_peer_port: u16,
    pub api_port: u16,
}

impl<'a> Plan<'a> {
    pub fn new(directory: &'a Path, authority: &'a Authority) -> Self {
        Self {
            directory,
            authority,
            server: authority.server("server", &["127.0.0.1", "localhost", "kubernetes.default.svc"]),
            etcd_port: ports::free(),
            etcd_peer_port: ports::free(),
            api_port: ports::free(),
        }
    }

    pub fn etcd_url(&self) -> String {
        format!("https://127.0.0.1:{}", self.etcd_port)
    }

    pub fn api_url(&self) -> String {
        format!("https://127.0.0.1:{}", self.api_port)
    }

    fn file(&self, name: &str) -> String {
        self.authority.file(name).display().to_string()
    }

    /// The flags with `{dir}` replaced, because a test learns the directory only when the cluster runs.
    fn resolve(&self, extra: &[&str]) -> impl Iterator<Item = String> {
        let directory = self.directory.display().to_string();
        extra.iter().map(move |flag| flag.replace("{dir}", &directory))
    }

    pub fn etcd(&self, extra: &[&str]) -> Vec<String> {
        let (url, peer) = (
            self.etcd_url(),
            format!("http://127.0.0.1:{}", self.etcd_peer_port),
        );
        let mut flags = vec![
            "--name=test".into(),
            format!("--data-dir={}", self.directory.join("etcd").display()),
            "--unsafe-no-fsync".into(), // the data need not survive a crash of the machine
            format!("--listen-client-urls={url}"),
            format!("--advertise-client-urls={url}"),
            format!("--listen-peer-urls={peer}"),
            format!("--initial-advertise-peer-urls={peer}"),
            format!("--initial-cluster=test={peer}"),
            "--client-cert-auth".into(),
            format!("--trusted-ca-file={}", self.file("ca.crt")),
            format!("--cert-file={}", self.server.certificate.display()),
            format!("--key-file={}", self.server.key.display()),
        ];
        flags.extend(self.resolve(extra));
        flags
    }

    pub fn api_server(&self, extra: &[&str]) -> Vec<String> {
        let (certificate, key) = (self.server.certificate.display(), self.server.key.display());
        let mut flags = vec![
            format!("--etcd-servers={}", self.etcd_url()),
            format!("--etcd-cafile={}", self.file("ca.crt")),
            format!("--etcd-certfile={certificate}"),
            format!("--etcd-keyfile={key}"),
            "--bind-address=127.0.0.1".into(),
            format!("--secure-port={}", self.api_port),
            // A machine may have only 127.0.0.1, which is not allowed as an endpoint.
            "--advertise-address=192.0.2.1".into(),
            "--endpoint-reconciler-type=none".into(),
            "--service-cluster-ip-range=10.96.0.0/16".into(),
            format!("--tls-cert-file={certificate}"),
            format!("--tls-private-key-file={key}"),
            format!("--client-ca-file={}", self.file("ca.crt")),
            "--authorization-mode=Node,RBAC".into(),
            "--service-account-issuer=https://kubernetes.default.svc".into(),
            format!("--service-account-key-file={}", self.file("accounts.pub")),
            format!("--service-account-signing-key-file={}", self.file("accounts.key")),
            // Aggregation, so that an APIService can exist and be unavailable.
            format!("--requestheader-client-ca-file={}", self.file("ca.crt")),
            "--requestheader-allowed-names=front-proxy".into(),
            "--requestheader-extra-headers-prefix=X-Remote-Extra-".into(),
            "--requestheader-group-headers=X-Remote-Group".into(),
            "--requestheader-username-headers=X-Remote-User".into(),
        ];
        let proxy = self.authority.client("front-proxy", "front-proxy", &[], false);
        flags.push(format!(
            "--proxy-client-cert-file={}",
            proxy.certificate.display()
        ));
        flags.push(format!("--proxy-client-key-file={}", proxy.key.display()));
        flags.extend(self.resolve(&audit::FLAGS));
        flags.extend(self.resolve(extra));
        flags
    }

    pub fn controller_manager(&self, kubeconfig: &Path, extra: &[&str]) -> Vec<String> {
        let mut flags = vec![
            format!("--kubeconfig={}", kubeconfig.display()),
            "--secure-port=0".into(), // no test reads its metrics
            // The default of 20 requests per second would add 4 s to each start.
            "--kube-api-qps=1000".into(),
            "--kube-api-burst=2000".into(),
            "--use-service-account-credentials".into(),
            format!("--service-account-private-key-file={}", self.file("accounts.key")),
            format!("--root-ca-file={}", self.file("ca.crt")),
            // Without a key to sign with, four signers and their watches on files are left out. A machine grants a user 128
            // inotify instances, and a program that gets none may end.
        ];
        flags.extend(self.resolve(extra));
        flags
    }
}
