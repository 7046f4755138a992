//! The keys under which an API server may store an object
//! (`kubernetes/apiserver:pkg/server/storage/storage_factory.go`,
//! `kubernetes/kubernetes:pkg/kubeapiserver/default_storage_factory_builder.go`).

/// The prefixes of known distributions: the default, and OpenShift.
pub const PREFIXES: [&str; 2] = ["/registry", "/kubernetes.io"];

/// How many segments a prefix can have.
const MAX_SEGMENTS: usize = 4;

/// Types whose keys have another name. No group: the types of some groups share a key.
const RENAMED: [(&str, &str); 5] = [
    ("services", "services/specs"),
    ("endpoints", "services/endpoints"),
    ("nodes", "minions"),
    ("replicationcontrollers", "controllers"),
    ("ingresses", "ingress"),
];

/// The possible keys of an object below this prefix, the likeliest first. A custom resource has its group in its key, a
/// type of Kubernetes has not.
pub fn keys(prefix: &str, group: &str, plural: &str, namespace: &str, name: &str) -> Vec<String> {
    let object = if namespace.is_empty() {
        name.to_owned()
    } else {
        format!("{namespace}/{name}")
    };
    let prefix = prefix.trim_matches('/');
    let renamed = RENAMED.iter().find(|(from, _)| *from == plural);
    let own = renamed.map_or(plural, |(_, to)| to);
    let mut all = Vec::new();
    if !group.is_empty() {
        all.push(format!("/{prefix}/{group}/{plural}/{object}"));
    }
    all.push(format!("/{prefix}/{own}/{object}"));
    all
}

/// The prefixes that the key of an API server can have: its first segments. The shortest comes first.
pub fn possible_prefixes(key: &str) -> Vec<&str> {
    let ends = key.match_indices('/').map(|(at, _)| at).filter(|at| *at > 0);
    ends.take(MAX_SEGMENTS).filter_map(|at| key.get(..at)).collect()
}

/// The key that every API server has below its prefix: it makes this namespace itself
/// (`kubernetes/kubernetes:pkg/controlplane/controller/systemnamespaces/system_namespaces_controller.go`).
pub fn mark_of_prefix(prefix: &str) -> String {
    format!("{prefix}/namespaces/kube-system")
}

#[cfg(test)]
mod tests {
    use super::{keys, possible_prefixes};

    #[test]
    fn a_prefix_is_the_beginning_of_a_key() {
        for (key, expected) in [
            (
                "/registry/pods/a/b",
                &["/registry", "/registry/pods", "/registry/pods/a"][..],
            ),
            (
                "/k8s/one/x/y/z/w",
                &["/k8s", "/k8s/one", "/k8s/one/x", "/k8s/one/x/y"],
            ),
            ("registry/pods", &["registry"]),
            ("/alone", &[]),
            ("", &[]),
        ] {
            assert_eq!(possible_prefixes(key), expected, "{key}");
        }
    }

    #[test]
    fn a_key_is_where_the_api_server_stores_the_object() {
        for (group, plural, namespace, name, expected) in [
            (
                "",
                "persistentvolumes",
                "",
                "pv-1",
                "/registry/persistentvolumes/pv-1",
            ),
            ("", "services", "shop", "web", "/registry/services/specs/shop/web"),
            ("", "nodes", "", "node-1", "/registry/minions/node-1"),
            (
                "apps",
                "deployments",
                "shop",
                "web",
                "/registry/deployments/shop/web",
            ),
            (
                "networking.k8s.io",
                "ingresses",
                "shop",
                "web",
                "/registry/ingress/shop/web",
            ),
            (
                "x.test",
                "widgets",
                "shop",
                "one",
                "/registry/x.test/widgets/shop/one",
            ),
        ] {
            let all = keys("/registry", group, plural, namespace, name);
            assert!(all.iter().any(|key| key == expected), "{expected} is in {all:?}");
            assert!(all.len() <= 2, "{all:?}");
        }
        assert_eq!(
            keys("kubernetes.io/", "", "pods", "a", "b"),
            ["/kubernetes.io/pods/a/b"]
        );
    }
}
