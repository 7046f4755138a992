//! Pods that are stuck in Terminating, and what waits for Pods.

mod kubelet_confirmation;
mod resource_claim;
