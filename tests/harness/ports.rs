//! Free ports that no other program takes while a component is stopped.

use std::{
    collections::hash_map::RandomState,
    hash::BuildHasher as _,
    net::{Ipv4Addr, TcpListener},
};

/// Below the range of outgoing connections (from 32768 or 49152). Otherwise any client on the machine could use
/// the port of a stopped API server.
const RANGE: std::ops::Range<u16> = 20_000..32_000;

/// A free port of 127.0.0.1. Another test run may take it first. Then the program fails to start, and
/// [`super::Cluster`] tries other ports.
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
