//! Memory and processor time of the exporter, under the names that client libraries for Prometheus use, so that existing
//! dashboards show them.

use std::time::Duration;

use jiff::Timestamp;

use super::{
    About, Family, Kind,
    health::{about, at, value},
};

/// The processor time and the memory of a process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Process {
    /// Time on processors, in user and system mode.
    pub processor: Duration,
    /// Bytes of memory that it has now.
    pub resident: u64,
}

impl Process {
    /// From the text of `/proc/self/stat` (proc_pid_stat(5)), where times are in ticks and memory is in pages. The name of
    /// the program stands in parentheses and may have any character, so fields are counted after the last one.
    pub fn of_stat(text: &str, ticks_per_second: u64, page_size: u64) -> Option<Process> {
        let (_, fields) = text.rsplit_once(')')?;
        // The first of these is field 3 of the manual.
        let mut fields = fields.split_ascii_whitespace().skip(11);
        let mut number = |skipped: usize| fields.nth(skipped)?.parse::<u64>().ok();
        let (user, system) = (number(0)?, number(0)?);
        let pages = number(8)?;
        let milliseconds = user.checked_add(system)?.checked_mul(1000)?;
        Some(Process {
            processor: Duration::from_millis(milliseconds.checked_div(ticks_per_second)?),
            resident: pages.checked_mul(page_size)?,
        })
    }

    /// The metrics.
    pub fn families(&self) -> Vec<Family> {
        vec![
            value(&PROCESSOR, self.processor.as_secs_f64()),
            RESIDENT.number(self.resident),
        ]
    }
}

/// When the process began.
pub fn began(time: Timestamp) -> Family {
    at(&BEGAN, time)
}

const PROCESSOR: About = about(
    "process_cpu_seconds",
    Kind::Counter,
    "Seconds on processors that the exporter has taken.",
);
const RESIDENT: About = about(
    "process_resident_memory_bytes",
    Kind::Gauge,
    "Bytes of memory that the exporter has.",
);
const BEGAN: About = about(
    "process_start_time_seconds",
    Kind::Gauge,
    "When the exporter began, in Unix time.",
);

#[cfg(test)]
mod tests {
    use super::*;

    /// Of proc_pid_stat(5), with a name that looks like more fields.
    const STAT: &str = "4242 (a) S 1 (b) S 1 4242 4242 0 -1 4194304 1500 0 3 0 250 50 0 0 20 0 2 0 81234 250000000 3000 \
                        18446744073709551615 1 1 0 0 0 0 0 4096 0 0 0 0 17 1 0 0 0 0 0\n";

    #[test]
    fn times_are_ticks_and_memory_is_pages() {
        let process = Process::of_stat(STAT, 100, 4096).expect("it can be read");
        assert_eq!(process.processor, Duration::from_secs(3));
        assert_eq!(process.resident, 3000 * 4096);
        let pages_of_64_kib = Process::of_stat(STAT, 100, 65_536).expect("it can be read");
        assert_eq!(pages_of_64_kib.resident, 3000 * 65_536);
    }

    #[test]
    fn a_text_that_is_something_else_gives_nothing() {
        for text in [
            "",
            "1 (a",
            "1 (a) S",
            "1 (a) S 1 1 1 0 -1 0 0 0 0 0 x 5 0 0 0 0 0 0 0 0 7",
        ] {
            assert_eq!(Process::of_stat(text, 100, 4096), None, "{text}");
        }
        assert_eq!(Process::of_stat(STAT, 0, 4096), None);
        assert_eq!(Process::of_stat(STAT, 100, u64::MAX), None);
    }
}
