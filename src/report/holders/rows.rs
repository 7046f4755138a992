//! Groups the finalizers in use by the controller that must remove them.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    HeldFinalizerReport, HolderReport, HolderSearch,
    words::{deciding_signs, evidence_line},
};
use crate::{
    diagnose::{
        holder::{FoundHolder, Holder, Tells, Trace, distinguishing_driver},
        model::Strength,
    },
    knowledge::{Entry, GroupKind, Knowledge, Runs},
    object::Finalizer,
    snapshot::{OnType, Snapshot},
};

/// A row under construction. Several finalizers can have the same controller.
struct Row {
    name: String,
    project: Option<String>,
    holder: Holder,
    nobody: bool,
    is_one_of_many: bool,
    objects: u64,
    terminating: u64,
    on: BTreeSet<String>,
    finalizers: BTreeMap<Finalizer, HeldFinalizerReport>,
}

/// The controllers of the finalizers in use. `searches` is none if nothing could be searched, as in files from kubectl.
pub(in crate::report) fn holders(
    snapshot: &Snapshot,
    knowledge: &Knowledge,
    searches: Option<&[HolderSearch]>,
    all: bool,
) -> Vec<HolderReport> {
    let by_place: BTreeMap<_, _> = searches
        .into_iter()
        .flatten()
        .map(|one| {
            (
                (one.type_name.as_str(), &one.finalizer, one.driver.as_deref()),
                one,
            )
        })
        .collect();
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    for (on, crowds) in &snapshot.tally.crowds.0 {
        for (alike, crowd) in crowds {
            let mut met = BTreeSet::new();
            for finalizer in &alike.finalizers {
                let driver = distinguishing_driver(finalizer, on, alike, knowledge);
                let result = by_place
                    .get(&(on.name.as_str(), finalizer, driver))
                    .and_then(|one| one.result.as_ref());
                let found = result.map(|one| &one.found);
                let (key, row) = new_row(finalizer, on, driver, found, knowledge);
                let row = rows.entry(key.clone()).or_insert(row);
                match result {
                    Some(one) => {
                        row.holder.join(&one.found.holder);
                        if let Some(each) = one.found.of_others_too {
                            row.holder
                                .add_unseen(&sample_note(each, one.found.driver.as_deref()));
                        }
                    }
                    None => row.holder.add_unseen(why_not_searched(searches.is_some())),
                }
                let held = row
                    .finalizers
                    .entry(finalizer.clone())
                    .or_insert_with(|| HeldFinalizerReport {
                        name: finalizer.name.clone(),
                        list: finalizer.list,
                        objects: 0,
                        terminating: 0,
                        on: BTreeSet::new(),
                    });
                held.objects += crowd.objects;
                held.terminating += crowd.terminating;
                held.on.insert(on.name.clone());
                // An object with two finalizers of one controller counts once.
                if met.insert(key) {
                    row.objects += crowd.objects;
                    row.terminating += crowd.terminating;
                    row.on.insert(on.name.clone());
                }
            }
        }
    }
    let mut holders: Vec<_> = rows
        .into_values()
        .filter(|row| all || row.terminating > 0)
        .map(HolderReport::from)
        .collect();
    holders.sort_by(|a, b| {
        b.terminating
            .cmp(&a.terminating)
            .then(b.objects.cmp(&a.objects))
            .then_with(|| a.name.cmp(&b.name))
    });
    holders
}

/// The search used one sample object, so it found only that object's own controller.
fn sample_note(each: &str, driver: Option<&str>) -> String {
    let one = driver.map_or_else(String::new, |driver| {
        format!(", and only that of {driver} was looked for")
    });
    format!("{each} has its own{one}")
}

fn why_not_searched(could_be: bool) -> &'static str {
    if could_be {
        "it was not looked for, to spare the server, or because this was stopped"
    } else {
        "files from kubectl do not say what they lack, so nobody is looked for in them; a snapshot does"
    }
}

/// The key that identifies the controller, and its row with all counts at zero.
fn new_row(
    finalizer: &Finalizer,
    on: &OnType,
    driver: Option<&str>,
    found: Option<&FoundHolder>,
    knowledge: &Knowledge,
) -> (String, Row) {
    let kind = GroupKind {
        group: &on.group,
        kind: &on.kind,
    };
    let entry = knowledge.lookup(&finalizer.name, finalizer.list, Some(kind));
    let (key, name) = if let Some(entry) = &entry {
        let driver = match found {
            Some(found) => found.of_others_too.or(found.driver.as_deref()),
            None => driver,
        };
        let holder = &entry.holder;
        let name = catalogue_name(entry, driver);
        let key = format!(
            "{} {name} {:?} {:?} {:?}",
            entry.project, holder.runs, holder.leases, holder.workloads
        );
        (key, name)
    } else {
        let name = found
            .and_then(workload_names)
            .unwrap_or_else(|| format!("whoever removes {finalizer}"));
        (format!("? {name}"), name)
    };
    let row = Row {
        name,
        is_one_of_many: found.is_some_and(|found| found.of_others_too.is_some()),
        nobody: entry
            .as_ref()
            .is_some_and(|entry| entry.holder.runs == Runs::Nobody),
        project: entry.map(|entry| entry.project),
        holder: Holder::default(),
        objects: 0,
        terminating: 0,
        on: BTreeSet::new(),
        finalizers: BTreeMap::new(),
    };
    (key, row)
}

/// The controller's name in the catalogue.
pub(in crate::report) fn catalogue_name(entry: &Entry, driver: Option<&str>) -> String {
    let holder = &entry.holder;
    let workloads = holder
        .workloads
        .iter()
        .filter_map(|workload| workload.name.as_ref());
    let leases = holder.leases.iter().map(|lease| &lease.name);
    let fixed = workloads
        .chain(leases)
        .chain(&holder.managers)
        .find(|name| !name.contains(['*', '{']));
    let name = fixed.or(entry.part_of.as_ref()).unwrap_or(&entry.project);
    match driver {
        Some(driver) => format!("{name} of {driver}"),
        None => name.clone(),
    }
}

/// The workloads found for a controller that the catalogue does not describe.
fn workload_names(found: &FoundHolder) -> Option<String> {
    let names: BTreeSet<_> = found
        .holder
        .signs
        .iter()
        .filter(|sign| sign.trace == Trace::Workload && sign.tells != Tells::Nothing)
        .filter_map(|sign| Some(sign.object.as_ref()?.in_words()))
        .collect();
    (!names.is_empty()).then(|| names.into_iter().collect::<Vec<_>>().join(", "))
}

impl From<Row> for HolderReport {
    fn from(row: Row) -> Self {
        let holder = &row.holder;
        let says = evidence_line(holder);
        HolderReport {
            state: holder.liveness().into(),
            likely: deciding_signs(holder)
                .first()
                .is_some_and(|sign| sign.strength > Strength::Strong || row.is_one_of_many),
            says: if row.nobody {
                format!("no released program removes it any more; {says}")
            } else {
                says
            },
            evidence: holder
                .signs
                .iter()
                .map(|sign| (&sign.evidence()).into())
                .collect(),
            name: row.name,
            project: row.project,
            objects: row.objects,
            terminating: row.terminating,
            on: row.on,
            finalizers: row.finalizers.into_values().collect(),
        }
    }
}
