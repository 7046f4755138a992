//! Objects of Service networking.

mod service_cidr;
