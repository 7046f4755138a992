//! Why a Kubernetes object will not go away, what it really waits for, and what forcing it would cost.

pub mod knowledge;
