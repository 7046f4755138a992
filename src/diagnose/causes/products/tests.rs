//! Single products on small worlds, with what almost meets their causes.

mod deployed_resources;
mod karpenter_drain;
