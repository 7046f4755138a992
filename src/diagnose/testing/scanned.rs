//! What a scan of a cluster in memory keeps of one object, so that tests can look at all forms of its report.

use crate::snapshot::{
    Crowd, CrowdKey, Namespaces, OnType, Seen, Snapshot, Tally, TypeRead, driver,
    facts::{Facts, Object},
};

/// The snapshot of a scan that found this object. The types and the time are those of `facts`.
pub(crate) fn snapshot(facts: &Facts, target: &Object) -> Snapshot {
    let seen = Seen {
        object: target.reference(),
        created: None,
        deletion: target.deletion(),
        finalizers: target.finalizers(),
        conditions: Vec::new(),
        driver: driver::names(&target.value).next().map(str::to_owned),
    };
    let key = CrowdKey {
        finalizers: target.finalizers(),
        driver: seen.driver.clone(),
    };
    let crowd = Crowd {
        objects: 1,
        terminating: u64::from(seen.deletion.is_some()),
        first: seen.clone(),
    };
    let on = OnType {
        name: target.resource.name(),
        kind: target.kind.clone(),
        group: target.resource.group.clone(),
    };
    let mut tally = Tally {
        kept: vec![seen],
        ..Tally::default()
    };
    if !key.finalizers.is_empty() {
        tally.crowds.0.entry(on).or_default().insert(key, crowd);
    }
    let types = facts.types.iter().cloned();
    Snapshot {
        observed_at: facts.now,
        source: "a test".into(),
        server_version: None,
        types: types.map(|ty| TypeRead { ty, objects: 1 }).collect(),
        tally,
        namespaces: Namespaces::Known,
        only_within: Vec::new(),
        gaps: facts.gaps.clone(),
        notes: Vec::new(),
        interrupted: false,
    }
}
