//! How a person reaches the etcd of a cluster, for `rescue --etcd` (`knowledge/datastores.yaml`).
//!
//! The pods of most distributions have no shell, so their certificates are copied from the node. Nothing here is done by
//! this program: each step is a command for a person who may do it.

use crate::{
    command::Command,
    diagnose::kinds::Pod,
    knowledge::schema::{Credential, Datastore},
    object::short_type,
    snapshot::facts::Object,
};

/// The files in which the credentials end, where the reader is.
const FILES: [&str; 3] = ["etcd-ca.crt", "etcd-client.crt", "etcd-client.key"];

/// The steps to the etcd of a distribution, and then to the rescue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reach {
    /// The distribution.
    pub name: String,
    /// The pod or the node where etcd runs.
    pub place: String,
    /// The steps in order, each with its command if it has one.
    pub steps: Vec<(String, Option<Command>)>,
}

/// The distributions that this version of the API server can be. A version that names one is no other.
pub fn possible<'a>(all: &'a [Datastore], version: &str) -> Vec<&'a Datastore> {
    let is_named = |one: &&Datastore| one.versions.iter().any(|part| version.contains(part));
    let named: Vec<_> = all.iter().filter(is_named).collect();
    if named.is_empty() {
        all.iter().filter(|one| one.versions.is_empty()).collect()
    } else {
        named
    }
}

/// How to reach this etcd at this pod or node, to rescue the object.
pub fn reach(datastore: &Datastore, place: &Object, object: &Object) -> Reach {
    let is_pod = place.is("", "pods");
    let node = if is_pod { Pod(place).node() } else { place.name() };
    let port = datastore.port.to_string();
    let credentials = [&datastore.authority, &datastore.certificate, &datastore.key];
    let mut steps: Vec<_> = credentials
        .into_iter()
        .zip(FILES)
        .map(|(credential, file)| (copied(credential, node), Some(copy(credential, node, file))))
        .collect();
    steps.push(if is_pod {
        let forward = Command::of(
            "kubectl -n {} port-forward pod/{} {}:{}",
            [place.namespace(), place.name(), &port, &port],
        );
        (
            "In another terminal, forward the port. Keep it running.".into(),
            Some(forward),
        )
    } else {
        let forward = Command::of("ssh -N -L {}:127.0.0.1:{} root@{}", [&port, &port, node]);
        (
            format!("In another terminal, forward the port of node {node}. Keep it running."),
            Some(forward),
        )
    });
    let [authority, certificate, key] = FILES;
    let rescue = Command::of(
        "kubectl finalizers rescue {}/{} -n {} --etcd=https://127.0.0.1:{} --etcd-cacert={} --etcd-cert={} --etcd-key={}",
        [
            short_type(&object.resource.name()),
            object.name(),
            object.namespace(),
            &port,
            authority,
            certificate,
            key,
        ],
    );
    steps.push(("See the plan, and confirm it.".into(), Some(rescue)));
    steps.push((
        format!("Delete {authority}, {certificate} and {key}: they open the whole cluster."),
        None,
    ));
    Reach {
        name: datastore.name.clone(),
        place: place.reference().pasteable(),
        steps,
    }
}

fn copied(credential: &Credential, node: &str) -> String {
    match credential {
        Credential::File { .. } => format!("Copy this file from node {node}, as root."),
        Credential::Field { object, .. } => format!("Copy this from {object}."),
    }
}

fn copy(credential: &Credential, node: &str, into: &str) -> Command {
    match credential {
        Credential::File { file } => Command::of("scp root@{}:{} {}", [node, file, into]),
        Credential::Field {
            namespace,
            object,
            field,
        } => {
            let decoded = if object.starts_with("secret/") {
                " | base64decode"
            } else {
                ""
            };
            let template = format!("go-template={{{{index .data \"{field}\"{decoded}}}}}");
            Command::of(
                "kubectl -n {} get {} -o {} > {}",
                [namespace, object, &template, into],
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{possible, reach};
    use crate::{
        knowledge::Knowledge,
        snapshot::facts::{Object, Resource},
    };

    fn object(plural: &str, kind: &str, name: &str, namespace: &str, node: &str) -> Object {
        Object {
            resource: Resource::new("", plural),
            kind: kind.into(),
            api_version: "v1".into(),
            value: json!({"metadata": {"name": name, "namespace": namespace, "uid": "u"}, "spec": {"nodeName": node}}),
        }
    }

    /// The commands for this version of the API server, for etcd in a pod or on a node.
    fn commands(version: &str, name: &str, place: &Object) -> Vec<String> {
        let knowledge = Knowledge::builtin();
        let all = possible(knowledge.datastores(), version);
        let one = all.iter().find(|one| one.name == name).expect("the distribution");
        let claim = object(
            "persistentvolumeclaims",
            "PersistentVolumeClaim",
            "data",
            "shop",
            "",
        );
        let steps = reach(one, place, &claim).steps;
        steps
            .iter()
            .filter_map(|(_, command)| Some(command.as_ref()?.to_string()))
            .collect()
    }

    #[test]
    fn the_commands_lead_from_the_certificates_to_the_rescue() {
        let pod = object("pods", "Pod", "etcd-cp-1", "kube-system", "cp-1");
        assert_eq!(
            commands("v1.36.3", "kubeadm", &pod),
            [
                "scp root@cp-1:/etc/kubernetes/pki/etcd/ca.crt etcd-ca.crt",
                "scp root@cp-1:/etc/kubernetes/pki/etcd/healthcheck-client.crt etcd-client.crt",
                "scp root@cp-1:/etc/kubernetes/pki/etcd/healthcheck-client.key etcd-client.key",
                "kubectl port-forward pod/etcd-cp-1 -n kube-system 2379:2379",
                "kubectl finalizers rescue pvc/data -n shop --etcd=https://127.0.0.1:2379 \
                 --etcd-cacert=etcd-ca.crt --etcd-cert=etcd-client.crt --etcd-key=etcd-client.key",
            ]
        );
        let rke2 = commands("v1.33.1+rke2r1", "RKE2", &pod);
        assert!(
            rke2[3].ends_with("pod/etcd-cp-1 -n kube-system 2382:2382"),
            "{rke2:?}"
        );
        let pod = object("pods", "Pod", "etcd-m-0", "openshift-etcd", "m-0");
        let openshift = commands("v1.33.1", "OpenShift", &pod);
        assert_eq!(
            openshift[2],
            "kubectl get secret/etcd-client -n openshift-etcd -o \
             'go-template={{index .data \"tls.key\" | base64decode}}' > etcd-client.key"
        );
        let node = object("nodes", "Node", "server-1", "", "");
        let k3s = commands("v1.33.1+k3s1", "K3s", &node);
        assert_eq!(k3s[3], "ssh -N -L 2382:127.0.0.1:2382 root@server-1");
    }

    #[test]
    fn a_version_that_names_a_distribution_is_no_other() {
        let knowledge = Knowledge::builtin();
        let names = |version| -> Vec<_> {
            let all = possible(knowledge.datastores(), version);
            all.iter().map(|one| one.name.as_str()).collect()
        };
        assert_eq!(names("v1.33.1+k3s1"), ["K3s"]);
        assert_eq!(names("v1.33.1+rke2r1"), ["RKE2"]);
        assert_eq!(names("v1.33.1"), ["OpenShift", "kubeadm"]);
    }
}
