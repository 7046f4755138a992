//! Free ports that stay ours while a component is stopped.

use std::{
    collections::hash_map::RandomState,
    hash::BuildHasher as _,
    net::{Ipv4Addr, TcpListener},
};

/// Below the ports that systems give to outgoing connections (from 32768 or 49152): otherwise any client on the
/// machine could sit on the port of an API server that a test has stopped and wants to start again.
const RANGE: std::ops::Range<u16> = 20_000..32_000;

/// A port of 127.0.0.1 on which nobody listens. Another test run may take it before it is used; then the
/// program fails to start, which [`super::Cluster`] answers with other ports.
pub fn free() -> u16 {
    let start = RandomState::new().hash_one(()); // seeded by the system, unlike a process id
    let size = u64::from(RANGE.end - RANGE.start);
    (0..size)
        .map(|step| {
            RANGE.start + u16::try_from((start % size + step * 7919) % size).expect("below the range's size")
        })
        .find(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok())
        .expect("one of 12,000 ports is free")
}
