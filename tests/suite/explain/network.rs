//! Objects of Service networking.

pub mod service_cidr;
