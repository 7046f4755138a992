//! Tests of the product causes on small worlds, with similar objects that the causes must ignore.

mod deployed_resources;
mod karpenter_drain;
