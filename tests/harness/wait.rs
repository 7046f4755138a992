//! Waiting for what controllers do in their own time.

use std::{
    thread,
    time::{Duration, Instant},
};

/// Looks again and again until `holds`; after `limit` the test fails and says for what it waited.
#[track_caller]
pub fn wait(what: &str, limit: Duration, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < limit, "waited {limit:?} in vain: {what}");
        thread::sleep(Duration::from_millis(50));
    }
}
