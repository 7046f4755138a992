//! The objects in deletion and their root causes, as metrics.

use super::{About, Counts, Family, Fold, Kind, Series, resource_and_group};
use crate::{
    diagnose::{CauseState, model::Page},
    knowledge::{GroupKind, Knowledge},
    object::{Finalizer, ObjectRef},
    report::{
        ObjectName, ObjectReport, ScanReport,
        causes::{Examination, Examined, most_telling_wait},
        holders::catalogue_name,
    },
};

/// Objects that are named. `scan` investigates as many.
const NAMED: usize = 500;

const OBJECTS: About = About {
    name: "finalizers_deletion_objects",
    kind: Kind::Gauge,
    help: "Objects in deletion, by the finalizer that tells most about them. The cause is a page of docs/causes.",
    labels: &[
        "resource",
        "group",
        "namespace",
        "verdict",
        "cause",
        "controller",
        "finalizer",
    ],
};
const OLDEST: About = About {
    name: "finalizers_deletion_oldest_seconds",
    kind: Kind::Age,
    help: "Seconds since the oldest deletion of the type with this cause was requested.",
    labels: &["resource", "group", "cause"],
};
const CAUSES: About = About {
    name: "finalizers_root_causes",
    kind: Kind::Gauge,
    help: "Root causes of stuck deletions. The resource is what the cause is, if it is an object.",
    labels: CAUSE_LABELS,
};
const WAITING: About = About {
    name: "finalizers_root_cause_objects",
    kind: Kind::Gauge,
    help: "Objects that wait for these root causes. An object can wait for several.",
    labels: CAUSE_LABELS,
};
const CAUSE_LABELS: &[&str] = &["state", "resource", "group", "controller", "finalizer", "cause"];
const NAMES: About = About {
    name: "finalizers_deletion",
    kind: Kind::Info,
    help: "One object in deletion, by name, with the command that explains it.",
    labels: &[
        "resource",
        "group",
        "namespace",
        "name",
        "verdict",
        "cause",
        "controller",
        "finalizer",
        "command",
    ],
};

/// What the labels of one object say of its cause.
struct Told {
    verdict: &'static str,
    cause: String,
    controller: String,
    finalizer: String,
}

pub(super) fn families(
    report: &ScanReport,
    examined: &[Examined<'_>],
    knowledge: &Knowledge,
    with_names: bool,
    fold: &mut Fold,
) -> Vec<Family> {
    let ordered = report.in_order(examined);
    let result_of = |at: usize| ordered.as_ref().and_then(|all| all.get(at)).copied();
    let mut objects = Counts::new();
    let mut oldest = Counts::new();
    let mut pages = Vec::new();
    let mut named = Vec::new();
    for (at, row) in report.terminating.iter().enumerate() {
        let examined = result_of(at);
        if examined.is_some_and(|one| matches!(one.result, Examination::Gone)) {
            continue;
        }
        let told = told(row, examined, knowledge);
        let ty = resource_and_group(&row.object.resource);
        let namespace = row.object.namespace.as_deref().unwrap_or_default();
        let labels = ty.clone().into_iter().chain([
            fold.namespace(namespace),
            told.verdict.to_owned(),
            told.cause.clone(),
            told.controller.clone(),
            fold.finalizer(&told.finalizer),
        ]);
        *objects.entry(labels.collect()).or_default() += 1;
        let seconds = row.deletion.as_ref().map_or(0, |deletion| deletion.for_seconds);
        let [resource, group] = ty.clone();
        let of_type = oldest
            .entry(vec![resource, group, told.cause.clone()])
            .or_default();
        *of_type = u64::try_from(seconds).unwrap_or(0).max(*of_type);
        pages.push((&row.object, told.cause.clone()));
        if with_names {
            named.push(name(row, ty, told));
        }
    }
    let mut families = vec![fold.counted(&OBJECTS, objects), fold.largest(&OLDEST, oldest)];
    families.extend(root_causes(report, &pages, fold));
    if with_names {
        fold.left_out(&NAMES, named.len().saturating_sub(NAMED));
        named.truncate(NAMED);
        families.push(NAMES.with(named));
    }
    families
}

/// The finalizer that tells most, and what is known of it. An object that nobody looked at has only its own list.
fn told(row: &ObjectReport, examined: Option<&Examined<'_>>, knowledge: &Knowledge) -> Told {
    let diagnosis = examined.and_then(Examined::diagnosis);
    let wait = diagnosis.and_then(|diagnosis| most_telling_wait(&diagnosis.waits));
    let finalizer = match wait {
        Some(wait) => wait.finalizer.as_ref(),
        None => row.finalizers.first(),
    };
    let object = examined.map(|one| &one.seen.object);
    Told {
        verdict: row.verdict.map_or("not-looked-at", |verdict| verdict.word()),
        cause: wait.and_then(|wait| wait.page).map(Page::id).unwrap_or_default(),
        controller: finalizer
            .zip(object)
            .and_then(|(finalizer, object)| controller(finalizer, object, knowledge))
            .unwrap_or_default(),
        finalizer: finalizer
            .map(|finalizer| finalizer.name.clone())
            .unwrap_or_default(),
    }
}

/// The controller as the catalogue names it. Names found in the cluster can be of single objects.
fn controller(finalizer: &Finalizer, object: &ObjectRef, knowledge: &Knowledge) -> Option<String> {
    let kind = Some(GroupKind::from(object));
    let entry = knowledge.lookup(&finalizer.name, finalizer.list, kind)?;
    Some(catalogue_name(&entry, None))
}

fn name(row: &ObjectReport, [resource, group]: [String; 2], told: Told) -> Series {
    let command = row.next.as_ref().and_then(|command| command.render().ok());
    Series {
        labels: vec![
            resource,
            group,
            row.object.namespace.clone().unwrap_or_default(),
            row.object.name.clone(),
            told.verdict.to_owned(),
            told.cause,
            told.controller,
            told.finalizer,
            command.unwrap_or_default(),
        ],
        value: 1.0,
    }
}

/// `pages` has the page about each object. A root cause has that of its first object.
fn root_causes(report: &ScanReport, pages: &[(&ObjectName, String)], fold: &mut Fold) -> [Family; 2] {
    let page = |object: &ObjectName| pages.iter().find(|(other, _)| *other == object);
    let mut causes = Counts::new();
    let mut waiting = Counts::new();
    for cause in &report.root_causes {
        let resource = cause.object.as_ref().map_or("", |object| &object.resource);
        let [resource, group] = resource_and_group(resource);
        let finalizer = cause.finalizer.as_ref().map_or("", |finalizer| &finalizer.name);
        let labels = vec![
            state(cause.state),
            resource,
            group,
            cause.controller.clone().unwrap_or_default(),
            fold.finalizer(finalizer),
            cause
                .objects
                .first()
                .and_then(page)
                .map(|(_, page)| page.clone())
                .unwrap_or_default(),
        ];
        *waiting.entry(labels.clone()).or_default() += cause.objects.len() as u64;
        *causes.entry(labels).or_default() += 1;
    }
    [fold.counted(&CAUSES, causes), fold.counted(&WAITING, waiting)]
}

/// The word of the JSON.
fn state(state: CauseState) -> String {
    state.word().to_lowercase().replace(' ', "-")
}
