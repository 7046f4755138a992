//! Waiting for what controllers do in their own time.

use std::{
    thread,
    time::{Duration, Instant},
};

/// Limits are those of a machine with nothing else to do. On a busy one everything takes longer, and to wait longer costs
/// nothing but the end of a test that fails.
const BUSY: u32 = 4;

/// Looks again and again until `holds`; after [`BUSY`] times the `limit` the test fails and says for what it waited.
#[track_caller]
pub fn wait(what: &str, limit: Duration, mut holds: impl FnMut() -> bool) {
    let limit = limit * BUSY;
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < limit, "waited {limit:?} in vain: {what}");
        thread::sleep(Duration::from_millis(50));
    }
}
