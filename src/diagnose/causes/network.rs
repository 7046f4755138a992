//! The address ranges of Services.

pub(crate) mod ip_range;
pub(crate) mod service_cidr;
