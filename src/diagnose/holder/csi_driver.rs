//! Judges whether a CSI driver is gone.
//!
//! **Recognises** nothing by itself. **Why:** three independent objects show that a driver is there. Its manifests
//! create the `CSIDriver` object. The kubelet writes a `CSINode` entry for a running node plugin
//! (`kubernetes/kubernetes:pkg/volume/csi/nodeinfomanager`). The sidecar renews a Lease; a Lease that nobody has
//! renewed for ten minutes is a sign that the driver is gone. **Wants** these three. **Concludes** nothing
//! alone. Two of them can show that the driver is gone, while none shows that it is there. Then its sidecar is searched for
//! like every other controller, see [`holder::sidecar_of`].

use crate::diagnose::{
    holder,
    holder::Life,
    model::{Evidence, Strength},
    view::View,
};

/// A CSI driver, and the signs that it is installed or gone.
pub(crate) struct CsiDriver {
    pub(crate) name: String,
    /// One entry for each sign that the driver is gone.
    pub(crate) signs_of_absence: Vec<Evidence>,
    /// Whether an object shows that the driver is installed.
    pub(crate) is_installed: bool,
    /// Whether all the signs could be read.
    pub(crate) is_fully_read: bool,
}

impl CsiDriver {
    /// Reads the signs of a driver. `life` is what the Lease of its sidecar shows.
    pub(crate) fn read(name: &str, life: Option<&Life>, view: &View<'_>) -> Self {
        let mut driver = CsiDriver {
            name: name.to_owned(),
            signs_of_absence: Vec::new(),
            is_installed: false,
            is_fully_read: true,
        };
        match view.object("storage.k8s.io", "csidrivers", "", name) {
            Ok(None) => driver.signs_of_absence.push(Evidence {
                source: format!("CSIDriver {name}"),
                value: "does not exist".into(),
                strength: Strength::Moderate,
            }),
            Ok(Some(_)) => driver.is_installed = true,
            Err(_) => driver.is_fully_read = false,
        }
        match view.list("storage.k8s.io", "csinodes", "") {
            Ok(nodes) if nodes.iter().any(|node| holder::registers(node, name)) => driver.is_installed = true,
            Ok(nodes) if !nodes.is_empty() => {
                driver.signs_of_absence.push(Evidence {
                    source: "CSINodes spec.drivers".into(),
                    value: format!("none of {} names {name}", nodes.len()),
                    strength: Strength::Moderate,
                });
            }
            Ok(_) => {}
            Err(_) => driver.is_fully_read = false,
        }
        if let Some(life) = life.filter(|life| life.is_long_dead()) {
            driver.signs_of_absence.extend(life.evidence());
        }
        driver
    }

    /// Whether two independent signs show that no node and no installation knows the driver. Its sidecars can still run.
    pub(crate) fn is_unknown_to_the_cluster(&self) -> bool {
        !self.name.is_empty() && !self.is_installed && self.is_fully_read && self.signs_of_absence.len() > 1
    }
}
