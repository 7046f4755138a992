//! The embedded tables of platforms, deployers, marks, fates, losses, topics, defaults and datastores.

use std::sync::LazyLock;

use super::Knowledge;
use super::schema::{Datastore, DefaultReference, Deployer, Fate, Loss, Mark, Platform, TopicWords};

// `build.rs` wrote them from these types, and a test reads both.
static PLATFORMS: LazyLock<Vec<Platform>> = LazyLock::new(|| {
    serde_json::from_str(include_str!(concat!(env!("OUT_DIR"), "/platforms.json"))).unwrap_or_default()
});
static DEPLOYERS: LazyLock<Vec<Deployer>> = LazyLock::new(|| {
    serde_json::from_str(include_str!(concat!(env!("OUT_DIR"), "/deployers.json"))).unwrap_or_default()
});
static MARKS: LazyLock<Vec<Mark>> = LazyLock::new(|| {
    serde_json::from_str(include_str!(concat!(env!("OUT_DIR"), "/marks.json"))).unwrap_or_default()
});
static FATES: LazyLock<Vec<Fate>> = LazyLock::new(|| {
    serde_json::from_str(include_str!(concat!(env!("OUT_DIR"), "/fates.json"))).unwrap_or_default()
});
static LOSSES: LazyLock<Vec<Loss>> = LazyLock::new(|| {
    serde_json::from_str(include_str!(concat!(env!("OUT_DIR"), "/losses.json"))).unwrap_or_default()
});
static TOPICS: LazyLock<Vec<TopicWords>> = LazyLock::new(|| {
    serde_json::from_str(include_str!(concat!(env!("OUT_DIR"), "/topics.json"))).unwrap_or_default()
});
static DEFAULTS: LazyLock<Vec<DefaultReference>> = LazyLock::new(|| {
    serde_json::from_str(include_str!(concat!(env!("OUT_DIR"), "/defaults.json"))).unwrap_or_default()
});
static DATASTORES: LazyLock<Vec<Datastore>> = LazyLock::new(|| {
    serde_json::from_str(include_str!(concat!(env!("OUT_DIR"), "/datastores.json"))).unwrap_or_default()
});

impl Knowledge {
    /// The platforms that hide a part of the cluster.
    pub fn platforms(&self) -> &'static [Platform] {
        &PLATFORMS
    }

    /// The programs that usually may change every object.
    pub fn deployers(&self) -> &'static [Deployer] {
        &DEPLOYERS
    }

    /// The settings that keep what an object stands for outside of the cluster.
    pub fn fates(&self) -> &'static [Fate] {
        &FATES
    }

    /// What references mean that are left empty.
    pub fn defaults(&self) -> &'static [DefaultReference] {
        &DEFAULTS
    }

    /// The marks that make a controller wait.
    pub fn marks(&self) -> &'static [Mark] {
        &MARKS
    }

    /// The distributions whose etcd can be reached.
    pub fn datastores(&self) -> &'static [Datastore] {
        &DATASTORES
    }
}

/// The programs that deploy objects. No user's file adds to them.
pub fn deployers() -> &'static [Deployer] {
    &DEPLOYERS
}

/// The messages after which a controller cannot succeed any more. No user's file adds to them.
pub fn losses() -> &'static [Loss] {
    &LOSSES
}

/// The words by which a message is known to be about something. No user's file adds to them.
pub fn topics() -> &'static [TopicWords] {
    &TOPICS
}

/// The program that writes to objects under this name, from manifests. No user's file adds to them.
pub fn deployer_named(manager: &str) -> Option<&'static Deployer> {
    DEPLOYERS.iter().find(|one| one.writes_as(manager))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_tables_are_embedded() {
        assert!(PLATFORMS.iter().any(|one| one.name == "EKS"));
        assert!(DEPLOYERS.iter().any(|one| one.name == "Argo CD"));
        assert!(FATES.iter().any(|one| one.deletes == ["true"]));
        assert!(LOSSES.iter().any(|one| one.words == ["nosuchbucket"]));
        assert!(TOPICS.iter().any(|one| one.words.contains(&"401".to_owned())));
        assert!(DEFAULTS.iter().any(|one| one.field == "storageClassName"));
        assert!(DATASTORES.iter().any(|one| one.name == "kubeadm"));
        assert!(
            MARKS
                .iter()
                .any(|one| one.means == super::super::schema::Meaning::Hook)
        );
    }

    #[test]
    fn a_program_is_known_by_the_names_that_it_writes_under() {
        for (manager, name) in [
            ("argocd-application-controller", "Argo CD"),
            ("kustomize-controller", "Flux"),
            ("helm-controller", "Flux"),
            ("kubectl-client-side-apply", "kubectl"),
            ("before-first-apply", "kubectl"),
            ("helm", "Helm"),
            ("Terraform", "Terraform"),
            ("terraform-provider-kubernetes", "Terraform"),
        ] {
            let found = deployer_named(manager).map(|one| one.name.as_str());
            assert_eq!(found, Some(name), "{manager}");
        }
        for manager in [
            "manager",
            "cert-manager-controller",
            "terraform-operator",
            "pulumi-kubernetes-operator",
            "kube-controller-manager",
            "",
        ] {
            assert!(deployer_named(manager).is_none(), "{manager}");
        }
    }
}
