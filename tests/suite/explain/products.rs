//! Causes that belong to one product, in the product's own shape.

mod aws_ingress_group;
mod cloudnative_pg;
mod deployed_resources;
mod helm_release;
mod karpenter_drain;
mod kubevirt;
pub mod longhorn_uninstall;
mod olm_subscription;
mod open_cluster_management;
mod openebs_lvm;
