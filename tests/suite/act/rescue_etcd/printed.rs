//! `--print-etcd-commands` on distributions: by the version of the API server, or by the pods of etcd.

use crate::{
    faults::fake::{Fake, Kind, Object, Running, cluster_object, object},
    harness::{Output, Plugin},
};

/// A server of this version, with a volume in deletion and these pods.
fn server(version: &str, pods: &[Object], nodes: &[Object]) -> Running {
    let mut server = Fake::new()
        .version(version)
        .with_type(Kind::new("", "v1", "persistentvolumes").kind("PersistentVolume"))
        .with_type(Kind::new("", "v1", "nodes").kind("Node"))
        .with_type(Kind::new("", "v1", "pods").kind("Pod").namespaced())
        .object(
            "persistentvolumes",
            cluster_object("pv-1")
                .finalizer("kubernetes.io/pv-protection")
                .deleting("2026-01-01T00:00:00Z"),
        );
    for pod in pods {
        server = server.object("pods", pod.clone());
    }
    for node in nodes {
        server = server.object("nodes", node.clone());
    }
    server.start()
}

fn print(server: &Running) -> Output {
    Plugin::new(["rescue", "persistentvolumes/pv-1", "--print-etcd-commands"])
        .kubeconfig(server.kubeconfig())
        .run()
}

#[track_caller]
fn says(out: &Output, texts: &[&str]) {
    let all = format!("{} {}", out.stdout, out.stderr);
    let all: Vec<_> = all.split_whitespace().collect();
    let all = all.join(" ");
    for text in texts {
        assert!(all.contains(text), "{text:?} is not said: {out}");
    }
}

#[test]
fn a_k3s_without_embedded_etcd_is_told_which_datastore_is_needed() {
    let out = print(&server("v1.33.1+k3s1", &[], &[]));
    assert_eq!(out.code, 3, "{out}");
    says(
        &out,
        &[
            "K3s keeps its objects in SQLite or another SQL database, which is not etcd.",
            "Only a K3s with embedded etcd can be edited.",
            "kubectl finalizers rescue pv/pv-1 --plan",
        ],
    );
    let node = cluster_object("server-1").label("node-role.kubernetes.io/etcd", "true");
    let out = print(&server("v1.33.1+k3s1", &[], &[node]));
    assert_eq!(out.code, 0, "{out}");
    says(
        &out,
        &[
            "root@server-1:/var/lib/rancher/k3s/server/tls/etcd/client.crt",
            "ssh -N -L 2382:127.0.0.1:2382 root@server-1",
            "--etcd=https://127.0.0.1:2382",
        ],
    );
}

#[test]
fn the_commands_of_rke2_and_openshift_lead_to_their_etcd() {
    let pod = object("kube-system", "etcd-cp-1").label("component", "etcd");
    let out = print(&server("v1.33.1+rke2r1", &[pod], &[]));
    assert_eq!(out.code, 0, "{out}");
    says(
        &out,
        &[
            "/var/lib/rancher/rke2/server/tls/etcd/client.key",
            "kubectl port-forward pod/etcd-cp-1 -n kube-system 2382:2382",
        ],
    );
    let pod = object("openshift-etcd", "etcd-m-0").label("app", "etcd");
    let out = print(&server("v1.33.1", &[pod], &[]));
    assert_eq!(out.code, 0, "{out}");
    says(
        &out,
        &[
            "kubectl get secret/etcd-client -n openshift-etcd",
            "kubectl port-forward pod/etcd-m-0 -n openshift-etcd 2379:2379",
            "--etcd=https://127.0.0.1:2379",
        ],
    );
}
