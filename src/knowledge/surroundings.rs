//! The embedded tables of platforms, deployers, marks and datastores.

use std::sync::LazyLock;

use super::Knowledge;
use super::schema::{Datastore, Deployer, Mark, Platform};

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

    /// The marks that make a controller wait.
    pub fn marks(&self) -> &'static [Mark] {
        &MARKS
    }

    /// The distributions whose etcd can be reached.
    pub fn datastores(&self) -> &'static [Datastore] {
        &DATASTORES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_tables_are_embedded() {
        assert!(PLATFORMS.iter().any(|one| one.name == "EKS"));
        assert!(DEPLOYERS.iter().any(|one| one.name == "Argo CD"));
        assert!(DATASTORES.iter().any(|one| one.name == "kubeadm"));
        assert!(
            MARKS
                .iter()
                .any(|one| one.means == super::super::schema::Meaning::Hook)
        );
    }
}
