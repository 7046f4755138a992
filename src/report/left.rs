//! What was left behind, though nobody is deleting it: objects in namespaces that do not exist, volumes whose disks
//! nobody deletes, attachments to nodes or of volumes that are gone.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

use super::{ObjectName, ScanReport, gaps};
use crate::{
    diagnose::{
        Verdict,
        leftovers::{self, Leftover},
    },
    object::{Age, ObjectRef},
    snapshot::{Namespaces, Snapshot, Stray, Why},
};

/// One of the things that are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// Objects in namespaces that do not exist.
    Namespaces,
    /// Volumes whose disks nobody deletes.
    Volumes,
    /// Attachments to nodes or of volumes that do not exist.
    Attachments,
}

impl Part {
    /// API group of the type that is looked at.
    pub fn group(self) -> &'static str {
        match self {
            Part::Namespaces | Part::Volumes => "",
            Part::Attachments => "storage.k8s.io",
        }
    }

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Part::Namespaces => "objects in namespaces that do not exist",
            Part::Volumes => "volumes whose disks nobody deletes",
            Part::Attachments => "attachments to nodes or of volumes that do not exist",
        }
    }
}

/// What is not known of one part, or of some of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NotKnown {
    /// Which part.
    pub part: Part,
    /// A word for scripts: those of what was not read, and `NotLookedAt`.
    pub reason: &'static str,
    /// Why.
    pub message: String,
}

impl NotKnown {
    /// It could not be read.
    pub fn new(part: Part, why: &Why) -> Self {
        let message = match (part, why) {
            (Part::Namespaces, Why::NotInDump) => "the dump does not hold all namespaces".into(),
            _ => why.message(),
        };
        NotKnown {
            part,
            reason: why.word(),
            message,
        }
    }

    /// Reading it all takes more requests, or more time, than a look may take.
    pub fn too_many(part: Part) -> Self {
        NotKnown {
            part,
            reason: "NotLookedAt",
            message: "there are too many to read them all, to spare the server".into(),
        }
    }

    /// So many were not looked at more closely.
    pub fn not_looked_at(part: Part, number: u64, stopped: bool) -> Self {
        let what = match (part, number) {
            (Part::Namespaces, 1) => "1 namespace that is not in the list".to_owned(),
            (Part::Namespaces, _) => format!("{number} namespaces that are not in the list"),
            (Part::Volumes, 1) => "1 volume".to_owned(),
            (Part::Volumes, _) => format!("{number} volumes"),
            (Part::Attachments, 1) => "1 attachment".to_owned(),
            (Part::Attachments, _) => format!("{number} attachments"),
        };
        let (reason, message) = if stopped {
            ("Interrupted", format!("stopped before it looked at {what}"))
        } else {
            let message = format!("{what} could not be looked at more closely within the limits of a scan");
            ("NotLookedAt", message)
        };
        NotKnown {
            part,
            reason,
            message,
        }
    }

    /// Types that may be listed in single namespaces only: in one that does not exist, nobody looked.
    pub fn only_within(types: &[String]) -> Option<Self> {
        let mut types = types.to_vec();
        types.sort();
        (!types.is_empty()).then(|| NotKnown {
            part: Part::Namespaces,
            reason: "Forbidden",
            message: format!(
                "{} may be listed only in namespaces that exist",
                gaps::some(&types, 3)
            ),
        })
    }
}

/// What a look has found.
#[derive(Clone, Debug, Default)]
pub struct LeftBehind {
    /// Namespaces that do not exist and in which there are objects; none if not asked for, or not known.
    pub namespaces: Option<Vec<MissingNamespace>>,
    /// Volumes.
    pub volumes: Option<LeftObjects>,
    /// Attachments.
    pub attachments: Option<LeftObjects>,
    /// What is not known.
    pub not_known: Vec<NotKnown>,
}

/// A namespace that does not exist, and what is in it.
#[derive(Clone, Debug)]
pub struct MissingNamespace {
    /// Its name.
    pub name: String,
    /// `plural.group` → objects.
    pub types: BTreeMap<String, Stray>,
    /// What to say of it.
    pub left: Leftover,
}

/// Objects of one type.
#[derive(Clone, Debug, Default)]
pub struct LeftObjects {
    /// How many there are.
    pub count: u64,
    /// As many of them as were kept.
    pub first: Vec<(ObjectRef, Leftover)>,
}

impl LeftBehind {
    /// What files show. They are of different moments, and nothing in them can be looked at once more.
    pub fn of_files(snapshot: &Snapshot) -> Self {
        let mut found = LeftBehind::default();
        match &snapshot.namespaces {
            Namespaces::NotAsked => {}
            Namespaces::Unknown(why) => found.not_known.push(NotKnown::new(Part::Namespaces, why)),
            Namespaces::Known => {
                let missing = |(name, types): (&String, &BTreeMap<String, Stray>)| MissingNamespace {
                    name: name.clone(),
                    types: types.clone(),
                    left: leftovers::in_missing_namespace(name),
                };
                found.namespaces = Some(snapshot.tally.strays.0.iter().map(missing).collect());
            }
        }
        for (part, name) in [
            (Part::Volumes, "persistentvolumes"),
            (Part::Attachments, "volumeattachments.storage.k8s.io"),
        ] {
            let some = |read: &&crate::snapshot::TypeRead| read.ty.name() == name && read.objects > 0;
            if snapshot.types.iter().any(|read| some(&read)) {
                found.not_known.push(NotKnown {
                    part,
                    reason: "NotLookedAt",
                    message: "of files, only metadata is read".into(),
                });
            }
        }
        found
    }
}

/// What was left behind.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LeftBehindReport {
    /// Namespaces that do not exist, the fullest first; `null` if that was not asked for, or is not known.
    pub namespaces: Option<Vec<MissingNamespaceReport>>,
    /// Volumes whose disks nobody deletes.
    pub volumes: Option<LeftObjectsReport>,
    /// Attachments to nodes or of volumes that do not exist.
    pub attachments: Option<LeftObjectsReport>,
    /// What is not known.
    pub not_known: Vec<NotKnown>,
}

/// A namespace that does not exist.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MissingNamespaceReport {
    /// Its name.
    pub name: String,
    /// Objects in it.
    pub objects: u64,
    /// By type, the most first.
    pub types: Vec<LeftTypeReport>,
    /// Why.
    pub reason: String,
    /// What shows more: why one of them that is being deleted is still there, or, if none is, all of them.
    pub next: String,
    /// What to do, in order.
    pub steps: Vec<String>,
}

/// Objects of one type in such a namespace.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LeftTypeReport {
    /// `plural.group`.
    pub resource: String,
    /// How many.
    pub objects: u64,
    /// Those that are being deleted.
    pub terminating: u64,
    /// Names of the first.
    pub first: Vec<String>,
}

/// Objects of one type.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LeftObjectsReport {
    /// How many.
    pub count: u64,
    /// The first, the longest left first.
    pub first: Vec<LeftObjectReport>,
}

/// One object that was left behind.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LeftObjectReport {
    /// Which.
    #[serde(flatten)]
    pub object: ObjectName,
    /// Since when, if that is known.
    pub since: Option<Timestamp>,
    /// For how long, in seconds.
    pub for_seconds: Option<i64>,
    /// How it stands with whoever should clean it up.
    pub verdict: Verdict,
    /// Why.
    pub reason: String,
    /// What shows more.
    pub next: String,
}

impl ScanReport {
    /// Adds what was left behind.
    pub fn add_left(&mut self, found: LeftBehind) {
        let now = self.observed_at;
        let mut namespaces: Option<Vec<_>> =
            found.namespaces.map(|all| all.into_iter().map(missing).collect());
        if let Some(all) = &mut namespaces {
            all.sort_by(|a: &MissingNamespaceReport, b| b.objects.cmp(&a.objects).then(a.name.cmp(&b.name)));
        }
        let mut not_known = found.not_known;
        not_known.sort();
        not_known.dedup();
        let report = LeftBehindReport {
            namespaces,
            volumes: found.volumes.map(|all| objects(all, "pv", now)),
            attachments: found.attachments.map(|all| objects(all, "volumeattachment", now)),
            not_known,
        };
        self.totals.left_behind = report.count();
        let asked = report.namespaces.is_some()
            || report.volumes.is_some()
            || report.attachments.is_some()
            || !report.not_known.is_empty();
        self.left_behind = asked.then_some(report);
    }
}

impl LeftBehindReport {
    /// All objects that were left behind.
    pub fn count(&self) -> u64 {
        let counts = |all: &Option<LeftObjectsReport>| all.as_ref().map_or(0, |all| all.count);
        let inside: u64 = self
            .namespaces
            .iter()
            .flatten()
            .map(|namespace| namespace.objects)
            .sum();
        inside + counts(&self.volumes) + counts(&self.attachments)
    }
}

fn missing(namespace: MissingNamespace) -> MissingNamespaceReport {
    let MissingNamespace { name, types, left } = namespace;
    let held = types
        .iter()
        .find_map(|(resource, stray)| Some((resource, stray.held.as_ref()?)));
    let held = held
        .map(|(resource, object)| format!("kubectl finalizers explain {resource} {} -n {name}", object.name));
    let mut types: Vec<_> = types
        .into_iter()
        .map(|(resource, stray)| LeftTypeReport {
            resource,
            objects: stray.objects,
            terminating: stray.terminating,
            first: stray.first.into_iter().map(|object| object.name).collect(),
        })
        .collect();
    types.sort_by(|a, b| b.objects.cmp(&a.objects).then(a.resource.cmp(&b.resource)));
    let next = held.unwrap_or_else(|| {
        let all: Vec<_> = types.iter().map(|ty| ty.resource.as_str()).collect();
        format!("kubectl get {} -n {name}", all.join(","))
    });
    MissingNamespaceReport {
        objects: types.iter().map(|ty| ty.objects).sum(),
        types,
        reason: left.says,
        next,
        steps: vec![
            format!(
                "create the namespace again, so that its objects can be finished: kubectl create namespace {name}"
            ),
            "give their controllers time to finish them, and look at what stays".into(),
            format!(
                "DATA LOSS if anything in it is still needed: delete the namespace in the normal way, with all that was \
                 left behind in it: kubectl delete namespace {name}"
            ),
        ],
        name,
    }
}

fn objects(all: LeftObjects, type_name: &str, now: Timestamp) -> LeftObjectsReport {
    let mut first: Vec<_> = all
        .first
        .into_iter()
        .map(|(object, left)| LeftObjectReport {
            next: format!("kubectl finalizers explain {type_name}/{}", object.name),
            object: (&object).into(),
            since: left.since,
            for_seconds: left.since.map(|since| Age::between(since, now).0.as_secs()),
            verdict: left.verdict,
            reason: left.says,
        })
        .collect();
    first.sort_by(|a, b| {
        let place = |one: &LeftObjectReport| (one.since.is_none(), one.since, one.object.name.clone());
        place(a).cmp(&place(b))
    });
    LeftObjectsReport {
        count: all.count,
        first,
    }
}
