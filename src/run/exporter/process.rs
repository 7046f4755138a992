//! Memory and processor time of this process. They are read from `/proc`, so only Linux has them.

use crate::report::metrics::{Family, Process};

/// The metrics; none if `/proc` cannot be read.
pub(super) fn families() -> Vec<Family> {
    now().iter().flat_map(Process::families).collect()
}

#[cfg(target_os = "linux")]
fn now() -> Option<Process> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let page_size = rustix::param::page_size().try_into().ok()?;
    Process::of_stat(&stat, rustix::param::clock_ticks_per_second(), page_size)
}

#[cfg(not(target_os = "linux"))]
fn now() -> Option<Process> {
    None
}
