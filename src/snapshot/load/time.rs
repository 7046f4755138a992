//! Estimates when a dump was made, because no dump says so. All ages are measured at that time.
//!
//! Two bounds are known. The newest time *in* the dump is never later than the dump. The time at which the file was
//! written is never earlier, but it changes when the file is copied, downloaded or checked out. The time between them
//! is estimated like this:
//!
//! * A dump with Leases has a clock: API servers and kubelets renew theirs every ten seconds. So the newest renewal is
//!   the time of the dump, even if the file was copied later. A node with a fast clock could spoil that, so the file's
//!   own time caps it.
//! * Without Leases, it is the time of the *oldest* file: a dump is written within seconds or minutes, and copying only
//!   makes files newer. An age may then be too long, by the time between the content and the file. It is never too
//!   short, so a stuck object never looks fresh.
//! * It is never before the newest deletion or creation, which have the server's time.

use jiff::Timestamp;

use crate::snapshot::Item;

/// The times that were read.
#[derive(Debug, Default)]
pub(super) struct Times {
    oldest_file: Option<(Timestamp, String)>,
    newest_file: Option<Timestamp>,
    newest_object: Option<Timestamp>,
    newest_renewal: Option<Timestamp>,
}

impl Times {
    pub(super) fn file(&mut self, name: &str, written: Timestamp) {
        if self
            .oldest_file
            .as_ref()
            .is_none_or(|(oldest, _)| written < *oldest)
        {
            self.oldest_file = Some((written, name.to_owned()));
        }
        self.newest_file = self.newest_file.max(Some(written));
    }

    pub(super) fn object(&mut self, item: &Item<'_>) {
        // A deletionTimestamp is in the future during the grace period; the time of the request is not.
        let requested = item.deletion.map(|timestamp| {
            crate::object::Deletion {
                timestamp,
                grace_seconds: item.grace_seconds.unwrap_or_default(),
            }
            .requested_at()
        });
        self.newest_object = self.newest_object.max(requested).max(item.created);
    }

    pub(super) fn renewal(&mut self, time: Timestamp) {
        self.newest_renewal = self.newest_renewal.max(Some(time));
    }

    /// The time of the dump, and a note on how it is known.
    pub(super) fn observed_at(&self, now: Timestamp) -> (Timestamp, String) {
        let upper = self.newest_file.unwrap_or(now);
        let (guess, how) = match (self.newest_renewal, &self.oldest_file) {
            (Some(renewal), _) if renewal <= upper => {
                (renewal, "the newest Lease renewal in the dump".into())
            }
            (_, Some((written, _))) if *written == now => (now, "now".into()),
            (_, Some((written, name))) => (*written, format!("when {name} was written")),
            (_, None) => (now, "now".into()),
        };
        let (time, how) = match self.newest_object {
            Some(newest) if newest > guess => (newest, "the newest time in the dump".into()),
            _ => (guess, how),
        };
        let whole = Timestamp::from_second(time.as_second()).unwrap_or(time);
        (time, format!("ages are measured at {whole}: {how}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().expect("a timestamp")
    }

    fn deleted(time: &str, grace: i64) -> Item<'static> {
        Item {
            deletion: Some(at(time)),
            grace_seconds: Some(grace),
            ..Item::default()
        }
    }

    const NOW: &str = "2026-06-01T00:00:00Z";

    #[test]
    fn the_newest_lease_renewal_is_the_time() {
        let mut times = Times::default();
        times.file("a", at("2026-05-01T00:00:00Z"));
        times.renewal(at("2026-04-01T00:00:00.5Z"));
        times.object(&deleted("2026-03-01T00:00:00Z", 0));
        let (time, note) = times.observed_at(at(NOW));
        assert_eq!(time, at("2026-04-01T00:00:00.5Z"));
        assert_eq!(
            note,
            "ages are measured at 2026-04-01T00:00:00Z: the newest Lease renewal in the dump"
        );
    }

    #[test]
    fn ignores_a_lease_from_the_future() {
        let mut times = Times::default();
        times.file("a", at("2026-05-01T00:00:00Z"));
        times.renewal(at("2036-04-01T00:00:00Z"));
        assert_eq!(times.observed_at(at(NOW)).0, at("2026-05-01T00:00:00Z"));
    }

    #[test]
    fn without_leases_the_oldest_file_is_the_time_but_never_before_a_deletion() {
        let mut times = Times::default();
        times.file("b", at("2026-05-02T00:00:00Z"));
        times.file("a", at("2026-05-01T00:00:00Z"));
        let (time, note) = times.observed_at(at(NOW));
        assert_eq!(time, at("2026-05-01T00:00:00Z"));
        assert!(note.ends_with("when a was written"), "{note}");
        times.object(&deleted("2026-05-01T12:00:30Z", 30));
        assert_eq!(times.observed_at(at(NOW)).0, at("2026-05-01T12:00:00Z"));
    }
}
