//! Who must remove the finalizers that are in use, what each of them holds, and whether it is alive.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{ScanReport, explain::EvidenceReport};
use crate::{
    diagnose::{
        holder::{Found, Holder, Sign, State, Tells, Trace},
        model::Strength,
    },
    knowledge::{Entry, GroupKind, Knowledge, Runs},
    object::{Finalizer, List},
    snapshot::{Gap, OnType, Snapshot},
};

/// Somebody who must remove finalizers.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HolderReport {
    /// What it is called: the workload or Lease that the catalogue knows it by, or the workload that was found.
    pub name: String,
    /// The project that it belongs to; none if the catalogue does not know the finalizers.
    pub project: Option<String>,
    /// How alive it is.
    pub state: Life,
    /// Whether it is only likely that this is the holder.
    pub likely: bool,
    /// What shows it, in one line.
    pub says: String,
    /// Objects that carry any of its finalizers.
    pub objects: u64,
    /// Those of them that are being deleted.
    pub terminating: u64,
    /// Types of these objects, as `plural.group`.
    pub on: BTreeSet<String>,
    /// Its finalizers.
    pub finalizers: Vec<HeldReport>,
    /// All that was seen of it.
    pub evidence: Vec<EvidenceReport>,
}

/// A finalizer that somebody must remove.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HeldReport {
    /// The string.
    pub name: String,
    /// The list it stands in.
    pub list: List,
    /// Objects that carry it.
    pub objects: u64,
    /// Those of them that are being deleted.
    pub terminating: u64,
    /// Types of these objects, as `plural.group`.
    pub on: BTreeSet<String>,
}

/// How alive a holder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Life {
    /// It runs.
    Running,
    /// It is there and cannot run, or may not do its work.
    Failing,
    /// It is there and was made not to run.
    ScaledToZero,
    /// It is gone, by two signs of different kinds.
    Gone,
    /// It does not run in this cluster, or nobody here can see it.
    Elsewhere,
    /// Not enough evidence.
    Unknown,
}

impl Life {
    /// In words.
    pub fn word(self) -> &'static str {
        match self {
            Life::Running => "running",
            Life::Failing => "failing",
            Life::ScaledToZero => "scaled to zero",
            Life::Gone => "gone",
            Life::Elsewhere => "elsewhere",
            Life::Unknown => "unknown",
        }
    }
}

impl From<State> for Life {
    fn from(state: State) -> Self {
        match state {
            State::Running => Life::Running,
            State::Failing => Life::Failing,
            State::Off => Life::ScaledToZero,
            State::Gone => Life::Gone,
            State::Elsewhere => Life::Elsewhere,
            State::Unknown => Life::Unknown,
        }
    }
}

/// A finalizer on the objects of one type, whose holder was looked for.
#[derive(Clone, Debug)]
pub struct Sought {
    /// The type, as `plural.group`.
    pub type_name: String,
    /// The finalizer.
    pub finalizer: Finalizer,
    /// What came of it; none if it was not looked for.
    pub came_of_it: Option<CameOfIt>,
}

/// What came of looking for a holder.
#[derive(Clone, Debug)]
pub struct CameOfIt {
    /// Who it is.
    pub found: Found,
    /// What could not be seen.
    pub gaps: Vec<Gap>,
}

/// Rows as they come together: several finalizers may have one holder.
struct Row {
    name: String,
    project: Option<String>,
    holder: Holder,
    nobody: bool,
    of_each_driver: bool,
    objects: u64,
    terminating: u64,
    on: BTreeSet<String>,
    finalizers: BTreeMap<Finalizer, HeldReport>,
}

impl ScanReport {
    /// Adds who holds what. `sought` is none where nobody could be asked: in files from kubectl.
    pub fn add_holders(
        &mut self,
        snapshot: &Snapshot,
        knowledge: &Knowledge,
        sought: Option<&[Sought]>,
        all: bool,
    ) {
        let by_place: BTreeMap<_, _> = sought
            .into_iter()
            .flatten()
            .map(|one| ((one.type_name.as_str(), &one.finalizer), one))
            .collect();
        let mut rows: BTreeMap<String, Row> = BTreeMap::new();
        for (on, crowds) in &snapshot.tally.crowds.0 {
            for (finalizers, crowd) in crowds {
                let mut met = BTreeSet::new();
                for finalizer in finalizers {
                    let came_of_it = by_place
                        .get(&(on.name.as_str(), finalizer))
                        .and_then(|one| one.came_of_it.as_ref());
                    let (key, row) = row(finalizer, on, came_of_it.map(|one| &one.found), knowledge);
                    let row = rows.entry(key.clone()).or_insert(row);
                    match came_of_it {
                        Some(one) => {
                            row.holder.join(&one.found.holder);
                            if one.found.of_others_too {
                                row.holder.unsee(&only(one.found.driver.as_deref()));
                            }
                        }
                        None => row.holder.unsee(not_sought(sought.is_some())),
                    }
                    let held = row
                        .finalizers
                        .entry(finalizer.clone())
                        .or_insert_with(|| HeldReport {
                            name: finalizer.name.clone(),
                            list: finalizer.list,
                            objects: 0,
                            terminating: 0,
                            on: BTreeSet::new(),
                        });
                    held.objects += crowd.objects;
                    held.terminating += crowd.terminating;
                    held.on.insert(on.name.clone());
                    // An object with two finalizers of one holder is one object.
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
        self.holders = Some(holders);
        let gaps = sought
            .into_iter()
            .flatten()
            .filter_map(|one| one.came_of_it.as_ref());
        self.add_weaker(gaps.flat_map(|one| &one.gaps));
    }
}

/// One object stands for all, and only its own driver was looked at.
fn only(driver: Option<&str>) -> String {
    let driver = driver.map_or_else(String::new, |driver| {
        format!(", and only that of {driver} was looked for")
    });
    format!("each CSI driver has its own{driver}")
}

fn not_sought(could_be: bool) -> &'static str {
    if could_be {
        "it was not looked for, to spare the server, or because this was stopped"
    } else {
        "files from kubectl do not say what they lack, so nobody is looked for in them; a snapshot does"
    }
}

/// What tells one holder from another, and the row of it before anything is counted.
fn row(finalizer: &Finalizer, on: &OnType, found: Option<&Found>, knowledge: &Knowledge) -> (String, Row) {
    let kind = GroupKind {
        group: &on.group,
        kind: &on.kind,
    };
    let entry = knowledge.lookup(&finalizer.name, finalizer.list, Some(kind));
    let (key, name) = if let Some(entry) = &entry {
        let driver = found.and_then(|found| match &found.driver {
            _ if found.of_others_too => Some("each CSI driver"),
            driver => driver.as_deref(),
        });
        let holder = &entry.holder;
        let key = format!(
            "{} {driver:?} {:?} {:?} {:?}",
            entry.project, holder.runs, holder.leases, holder.workloads
        );
        (key, name(entry, driver))
    } else {
        let name = found
            .and_then(workloads)
            .unwrap_or_else(|| format!("whoever removes {finalizer}"));
        (format!("? {name}"), name)
    };
    let row = Row {
        name,
        of_each_driver: found.is_some_and(|found| found.of_others_too),
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

/// The name that the catalogue knows it by.
fn name(entry: &Entry, driver: Option<&str>) -> String {
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
    let name = fixed.unwrap_or(&entry.project);
    match driver {
        Some(driver) => format!("{name} of {driver}"),
        None => name.clone(),
    }
}

/// What was found to run, of a holder that nobody has described.
fn workloads(found: &Found) -> Option<String> {
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
        let says = says(holder);
        HolderReport {
            state: holder.state().into(),
            likely: deciding(holder)
                .first()
                .is_some_and(|sign| sign.strength > Strength::Strong || row.of_each_driver),
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

/// The signs that the conclusion rests on, the strongest first.
fn deciding(holder: &Holder) -> Vec<&Sign> {
    let tells = match holder.state() {
        State::Running => Tells::Alive,
        State::Failing => Tells::Failing,
        State::Off => Tells::Off,
        State::Gone => Tells::Gone,
        State::Elsewhere | State::Unknown => return Vec::new(),
    };
    let mut signs: Vec<_> = holder.with(tells).collect();
    signs.sort_by_key(|sign| sign.strength);
    // What it may not do is worse than what it cannot do now.
    if tells == Tells::Failing {
        signs.sort_by_key(|sign| sign.trace != Trace::Account);
    }
    signs
}

fn says(holder: &Holder) -> String {
    let told = |sign: &Sign| format!("{}: {}", sign.source, sign.value);
    let signs = deciding(holder);
    match (holder.state(), signs.first()) {
        // That somebody is gone is told by two signs together.
        (State::Gone, _) => signs.iter().map(|sign| told(sign)).collect::<Vec<_>>().join("; "),
        (_, Some(sign)) => told(sign),
        (State::Elsewhere, None) => format!("it is one that runs {}", holder.elsewhere.unwrap_or_default()),
        (_, None) if !holder.unseen.is_empty() => holder.unseen.join("; "),
        (_, None) => match holder.with(Tells::Gone).next() {
            Some(sign) => format!("{}, which is one sign and no proof", told(sign)),
            None => "nothing shows it, which proves nothing".to_owned(),
        },
    }
}
