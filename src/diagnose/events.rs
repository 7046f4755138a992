//! Reads the events about an object. A missing event proves nothing: events expire after an hour.

use crate::{
    diagnose::{
        kinds::Event,
        timing,
        view::{Missing, View},
    },
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
