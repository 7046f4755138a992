//! The leftovers in a scan report: objects that should be gone and that nobody deletes. These are objects in
//! namespaces that do not exist, volumes whose disks nobody deletes, and attachments to nodes or of volumes
//! that are gone.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

use super::{ObjectName, gaps::first_names};
use crate::{
    command::{Command, RunFlags, Shown},
    diagnose::{
        Verdict,
        leftovers::{self, Leftover},
        model::Said,
    },
    object::{Age, ObjectRef},
    snapshot::{LeftoverCount, Namespaces, Snapshot, Why},
};

/// A kind of leftover.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LeftoverKind {
    /// Objects in namespaces that do not exist.
    Namespaces,
    /// Volumes whose disks nobody deletes.
    Volumes,
    /// Attachments to nodes or of volumes that do not exist.
    Attachments,
}

impl LeftoverKind {
    /// API group of the type that this kind is about.
    pub fn group(self) -> &'static str {
        match self {
            LeftoverKind::Namespaces | LeftoverKind::Volumes => "",
            LeftoverKind::Attachments => "storage.k8s.io",
        }
    }

    /// The kind in words.
    pub fn words(self) -> &'static str {
        match self {
            LeftoverKind::Namespaces => "objects in namespaces that do not exist",
            LeftoverKind::Volumes => "volumes whose disks nobody deletes",
            LeftoverKind::Attachments => "attachments to nodes or of volumes that do not exist",
        }
    }
}

/// Why leftovers of one kind are unknown, or some of them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LeftoverGap {
    /// The kind of leftover.
    #[serde(rename = "part")]
    pub kind: LeftoverKind,
    /// A word for scripts: a reason of a gap, or `NotLookedAt`.
    pub reason: &'static str,
    /// The reason.
    pub message: String,
}

impl LeftoverGap {
    /// The type could not be read.
    pub fn new(kind: LeftoverKind, why: &Why) -> Self {
        let message = match (kind, why) {
            (LeftoverKind::Namespaces, Why::NotInDump) => "the recording does not have all namespaces".into(),
            _ => why.message(),
        };
        LeftoverGap {
            kind,
            reason: why.word(),
            message,
        }
    }

    /// Reading the whole type takes more requests or time than a scan allows.
    pub fn too_many(kind: LeftoverKind) -> Self {
        LeftoverGap {
            kind,
            reason: "NotLookedAt",
            message: "there are too many to read them all, to spare the server".into(),
        }
    }

    /// This number of candidates was not checked.
    pub fn not_looked_at(kind: LeftoverKind, number: u64, stopped: bool) -> Self {
        let what = match (kind, number) {
            (LeftoverKind::Namespaces, 1) => "1 namespace that is not in the list".to_owned(),
            (LeftoverKind::Namespaces, _) => format!("{number} namespaces that are not in the list"),
            (LeftoverKind::Volumes, 1) => "1 volume".to_owned(),
            (LeftoverKind::Volumes, _) => format!("{number} volumes"),
            (LeftoverKind::Attachments, 1) => "1 attachment".to_owned(),
            (LeftoverKind::Attachments, _) => format!("{number} attachments"),
        };
        let (reason, message) = if stopped {
            ("Interrupted", format!("stopped before it looked at {what}"))
        } else {
            let message = format!("{what} could not be looked at more closely within the limits of a scan");
            ("NotLookedAt", message)
        };
        LeftoverGap {
            kind,
            reason,
            message,
        }
    }

    /// Some types may be listed only in namespaces that exist. Nobody can check them in a namespace that does
    /// not exist.
    pub fn only_within(types: &[String]) -> Option<Self> {
        let mut types = types.to_vec();
        types.sort();
        (!types.is_empty()).then(|| LeftoverGap {
            kind: LeftoverKind::Namespaces,
            reason: "Forbidden",
            message: format!(
                "{} may be listed only in namespaces that exist",
                first_names(&types, 3)
            ),
        })
    }
}

/// The leftovers that a scan found.
#[derive(Clone, Debug, Default)]
pub struct Leftovers {
    /// Namespaces that do not exist but contain objects; none if not requested, or not known.
    pub namespaces: Option<Vec<MissingNamespace>>,
    /// Volumes whose disks nobody deletes.
    pub volumes: Option<LeftoverObjects>,
    /// Attachments to nodes or of volumes that do not exist.
    pub attachments: Option<LeftoverObjects>,
    /// What is not known.
    pub gaps: Vec<LeftoverGap>,
}

/// A namespace that does not exist, and its objects.
#[derive(Clone, Debug)]
pub struct MissingNamespace {
    /// Its name.
    pub name: String,
    /// `plural.group` → objects.
    pub types: BTreeMap<String, LeftoverCount>,
    /// The explanation.
    pub leftover: Leftover,
}

/// Objects of one type.
#[derive(Clone, Debug, Default)]
pub struct LeftoverObjects {
    /// The number of objects.
    pub count: u64,
    /// The first objects, as many as were kept.
    pub first: Vec<(ObjectRef, Leftover)>,
}

impl Leftovers {
    /// The leftovers in files. The files are from different moments, and nothing in them can be read again.
    pub fn of_files(snapshot: &Snapshot) -> Self {
        let mut found = Leftovers::default();
        match &snapshot.namespaces {
            Namespaces::NotAsked => {}
            Namespaces::Unknown(why) => found.gaps.push(LeftoverGap::new(LeftoverKind::Namespaces, why)),
            Namespaces::Known => {
                let missing_namespace =
                    |(name, types): (&String, &BTreeMap<String, LeftoverCount>)| MissingNamespace {
                        name: name.clone(),
                        types: types.clone(),
                        leftover: leftovers::in_missing_namespace(name),
                    };
                found.namespaces = Some(snapshot.tally.leftovers.0.iter().map(missing_namespace).collect());
            }
        }
        for (kind, name) in [
            (LeftoverKind::Volumes, "persistentvolumes"),
            (LeftoverKind::Attachments, "volumeattachments.storage.k8s.io"),
        ] {
            let has_objects = |read: &&crate::snapshot::TypeRead| read.ty.name() == name && read.objects > 0;
            if snapshot.types.iter().any(|read| has_objects(&read)) {
                found.gaps.push(LeftoverGap {
                    kind,
                    reason: "NotLookedAt",
                    message: "of files, only metadata is read".into(),
                });
            }
        }
        found
    }
}

/// The leftovers in a report.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LeftoversReport {
    /// Namespaces that do not exist, the largest first; `null` if not requested, or not known.
    pub namespaces: Option<Vec<MissingNamespaceReport>>,
    /// Volumes whose disks nobody deletes.
    pub volumes: Option<LeftoverObjectsReport>,
    /// Attachments to nodes or of volumes that do not exist.
    pub attachments: Option<LeftoverObjectsReport>,
    /// What is not known.
    #[serde(rename = "notKnown")]
    pub gaps: Vec<LeftoverGap>,
}

/// One step for what is left behind.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LeftoverStepReport {
    /// What to do, and why.
    pub text: String,
    /// The command.
    #[serde(flatten)]
    pub command: Shown,
}

/// A namespace that does not exist.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MissingNamespaceReport {
    /// Its name.
    pub name: String,
    /// Objects in it.
    pub objects: u64,
    /// The objects by type, the most frequent type first.
    pub types: Vec<LeftoverTypeReport>,
    /// The reason.
    pub reason: String,
    /// A command that shows more: it explains a terminating object, or lists all objects if none is
    /// terminating.
    pub next: Shown,
    /// What to do, in order.
    pub steps: Vec<LeftoverStepReport>,
}

/// Objects of one type in a namespace that does not exist.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LeftoverTypeReport {
    /// `plural.group`.
    pub resource: String,
    /// The number of objects.
    pub objects: u64,
    /// How many of them are terminating.
    pub terminating: u64,
    /// Names of the first objects.
    pub first: Vec<String>,
}

/// Objects of one type.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LeftoverObjectsReport {
    /// The number of objects.
    pub count: u64,
    /// The first objects, the oldest leftover first.
    pub first: Vec<LeftoverObjectReport>,
}

/// One leftover object.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LeftoverObjectReport {
    /// The object.
    #[serde(flatten)]
    pub object: ObjectName,
    /// When it became a leftover, if that is known.
    pub since: Option<Timestamp>,
    /// Age as a leftover, in seconds.
    pub for_seconds: Option<i64>,
    /// The state of the controller that should clean it up.
    pub verdict: Verdict,
    /// The reason.
    pub reason: String,
    /// A command that shows more.
    pub next: Shown,
}

impl LeftoversReport {
    /// The report on these leftovers, with ages as of `now`.
    pub fn new(found: Leftovers, now: Timestamp, there: &RunFlags) -> Self {
        let mut namespaces: Option<Vec<_>> = found
            .namespaces
            .map(|all| all.into_iter().map(|one| missing_namespace(one, there)).collect());
        if let Some(all) = &mut namespaces {
            all.sort_by(|a: &MissingNamespaceReport, b| b.objects.cmp(&a.objects).then(a.name.cmp(&b.name)));
        }
        let mut gaps = found.gaps;
        gaps.sort();
        gaps.dedup();
        LeftoversReport {
            namespaces,
            volumes: found.volumes.map(|all| leftover_objects(all, "pv", now, there)),
            attachments: found
                .attachments
                .map(|all| leftover_objects(all, "volumeattachment", now, there)),
            gaps,
        }
    }

    /// Whether the scan looked for leftovers, or knows why it could not.
    pub fn was_asked_for(&self) -> bool {
        self.namespaces.is_some()
            || self.volumes.is_some()
            || self.attachments.is_some()
            || !self.gaps.is_empty()
    }

    /// The number of all leftover objects.
    pub fn count(&self) -> u64 {
        let counts = |all: &Option<LeftoverObjectsReport>| all.as_ref().map_or(0, |all| all.count);
        let inside: u64 = self
            .namespaces
            .iter()
            .flatten()
            .map(|namespace| namespace.objects)
            .sum();
        inside + counts(&self.volumes) + counts(&self.attachments)
    }
}

impl LeftoverStepReport {
    fn new(text: &str, command: Option<&Command>) -> Self {
        LeftoverStepReport {
            text: text.to_owned(),
            command: command.into(),
        }
    }
}

fn missing_namespace(namespace: MissingNamespace, there: &RunFlags) -> MissingNamespaceReport {
    let MissingNamespace {
        name,
        types,
        leftover,
    } = namespace;
    let held = types
        .iter()
        .find_map(|(resource, leftover_type)| Some((resource, leftover_type.held.as_ref()?)));
    let held = held.map(|(resource, object)| Command::explain(resource, &object.name, &name).again(there));
    let mut types: Vec<_> = types
        .into_iter()
        .map(|(resource, leftover_type)| LeftoverTypeReport {
            resource,
            objects: leftover_type.objects,
            terminating: leftover_type.terminating,
            first: leftover_type
                .first
                .into_iter()
                .map(|object| object.name)
                .collect(),
        })
        .collect();
    types.sort_by(|a, b| b.objects.cmp(&a.objects).then(a.resource.cmp(&b.resource)));
    let next = held.unwrap_or_else(|| {
        let all: Vec<_> = types.iter().map(|ty| ty.resource.as_str()).collect();
        Some(Command::of("kubectl get {} -n {}", [&all.join(","), &name]))
    });
    let mut steps = vec![
        LeftoverStepReport::new(
            "create the namespace again, so that its objects can be finished",
            Some(&Command::of("kubectl create namespace {}", [&name])),
        ),
        LeftoverStepReport::new(
            "give their controllers time to finish them, and look at what stays",
            None,
        ),
    ];
    steps.extend(Command::delete_namespace(&name).map(|delete| {
        LeftoverStepReport::new(
            "DATA LOSS if anything in it is still needed: delete the namespace in the normal way, with all that was left \
             behind in it",
            Some(&delete),
        )
    }));
    MissingNamespaceReport {
        objects: types.iter().map(|ty| ty.objects).sum(),
        types,
        reason: Said::of_facts(leftover.says).to_string(),
        next: next.as_ref().into(),
        steps,
        name,
    }
}

fn leftover_objects(
    all: LeftoverObjects,
    type_name: &str,
    now: Timestamp,
    there: &RunFlags,
) -> LeftoverObjectsReport {
    let mut first: Vec<_> = all
        .first
        .into_iter()
        .map(|(object, leftover)| LeftoverObjectReport {
            next: Command::explain(type_name, &object.name, "")
                .again(there)
                .as_ref()
                .into(),
            object: (&object).into(),
            since: leftover.since,
            for_seconds: leftover.since.map(|since| Age::between(since, now).0.as_secs()),
            verdict: leftover.verdict,
            reason: Said::of_facts(leftover.says).to_string(),
        })
        .collect();
    first.sort_by(|a, b| {
        let place = |one: &LeftoverObjectReport| (one.since.is_none(), one.since, one.object.name.clone());
        place(a).cmp(&place(b))
    });
    LeftoverObjectsReport {
        count: all.count,
        first,
    }
}
