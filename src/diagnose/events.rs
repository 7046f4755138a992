//! Reads the events about an object. A missing event proves nothing: events expire after an hour.

use crate::{
    diagnose::{
        kinds::Event,
        timing,
        view::{Missing, View},
    },
    object::Age,
    snapshot::facts::Object,
};

/// The newest event about an object with one of these reasons.
pub(crate) fn last_event<'a>(
    object: &Object,
    reasons: &[&str],
    view: &View<'a>,
) -> Result<Option<Event<'a>>, Missing> {
    newest_event(object, view, |event| reasons.contains(&event.reason()))
}

/// The newest event about an object that fits. An event of an earlier object of that name is not about it.
pub(crate) fn newest_event<'a>(
    object: &Object,
    view: &View<'a>,
    fits: impl Fn(Event<'a>) -> bool,
) -> Result<Option<Event<'a>>, Missing> {
    Ok(view
        .events(object)?
        .iter()
        .map(Event)
        .filter(|event| fits(*event) && event.may_be_about(object))
        .max_by_key(|event| event.last_time()))
}

/// What was last reported on an object since its deletion, if that is no complaint.
pub(crate) struct Report<'a> {
    pub(crate) event: Event<'a>,
    /// Who reported it.
    pub(crate) by: &'a str,
    /// How long ago.
    pub(crate) ago: Age,
}

/// The newest report on an object since its deletion that fits and has a reporter. Complaints are read elsewhere.
pub(crate) fn newest_report<'a>(
    object: &Object,
    view: &View<'a>,
    fits: impl Fn(Event<'a>) -> bool,
) -> Option<Report<'a>> {
    let deleted = object.deletion()?.requested_at();
    let is_report = |event: Event<'a>| {
        let is_later = event.last_time().is_some_and(|time| time > deleted);
        !event.is_warning() && is_later && fits(event)
    };
    let event = newest_event(object, view, is_report).ok()??;
    Some(Report {
        event,
        by: event.reporters().into_iter().find(|name| !name.is_empty())?,
        ago: Age::between(event.last_time()?, view.now()),
    })
}

/// Whether the source of an event is this program, recently, and the event is about this object. A CSI sidecar names
/// itself by its driver: `DRIVER_POD_ID`
/// (`kubernetes-sigs/sig-storage-lib-external-provisioner:controller/controller.go`), or `csi-snapshotter DRIVER`
/// (`kubernetes-csi/external-snapshotter:pkg/sidecar-controller/snapshot_controller_base.go`).
pub(crate) fn is_of_sidecar(event: Event<'_>, object: &Object, driver: &str, view: &View<'_>) -> bool {
    let is_it = |name: &&str| {
        let own = name.strip_prefix("csi-snapshotter ").unwrap_or(name);
        let rest = own.strip_prefix(driver);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    };
    let sources = event.reporters();
    let named: Vec<_> = sources.iter().filter(|name| !name.is_empty()).collect();
    let is_recent = event
        .last_time()
        .is_some_and(|time| timing::is_recent_complaint(time, view.now()));
    let is_about = event.about_uid() == object.uid();
    !driver.is_empty() && is_about && is_recent && !named.is_empty() && named.into_iter().all(is_it)
}
