//! Products whose state needs more than the catalogue can describe.

pub(crate) mod aws_ingress_group;
pub(crate) mod deployed_resources;
pub(crate) mod helm_release;
pub(crate) mod karpenter_drain;
pub(crate) mod longhorn_uninstall;
pub(crate) mod olm_subscription;
#[cfg(test)]
mod tests;
