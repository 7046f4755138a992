//! Waits for what controllers do in their own time.

use std::{
    thread,
    time::{Duration, Instant},
};

/// The limits are for an idle machine. On a busy machine everything takes longer, and a longer wait delays only
/// tests that fail.
const BUSY: u32 = 4;
const SHORTEST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(1);

/// Polls until `holds` is true. After [`BUSY`] times the `limit` the test fails and names what it waited for.
#[track_caller]
pub fn wait(what: &str, limit: Duration, mut holds: impl FnMut() -> bool) {
    let limit = limit * BUSY;
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < limit, "waited {limit:?} in vain: {what}");
        // Many conditions run the program, so a long wait asks less often: after another fifth of the time so far.
        thread::sleep((began.elapsed() / 5).clamp(SHORTEST, LONGEST));
    }
}
