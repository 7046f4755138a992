//! What is told of the same object elsewhere: as a leftover, by a watch, and after a change.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Told, plans_and_refusals, snapshot, style, text_of, told};
use crate::{
    command::RunFlags,
    diagnose::{
        Diagnosis,
        leftovers::{self, Leftover},
        testing::world::World,
    },
    knowledge::Knowledge,
    output,
    plan::Seen,
    report::{
        ExplainReport, ObjectName, OutcomeReport, ScanReport,
        leftovers::{LeftoverObjects, Leftovers, MissingNamespace},
        outcome::{Outcome, OutcomeResult},
        scan::ScanView,
        watch::{self, Change},
    },
    snapshot::{
        LeftoverCount,
        facts::{Facts, Object},
    },
};

/// The ends of a change that print different commands.
const ENDS: [OutcomeResult; 3] = [
    OutcomeResult::Gone,
    OutcomeResult::Held,
    OutcomeResult::Unfinished,
];
/// The object as a leftover of each kind.
pub(super) fn left_behind(world: &World, target: &Object, facts: &Facts, knowledge: &Knowledge) -> Told {
    let object = target.reference();
    let (found, _) = world.read_more(facts.clone(), |facts| {
        let volume = leftovers::unreclaimed(target, Some(&[]), facts, knowledge);
        let attachment = leftovers::attachment(target, facts, knowledge);
        let found = volume.leftover.into_iter().chain(attachment.leftover).collect();
        (found, &volume.wanted | &attachment.wanted)
    });
    let found: Vec<Leftover> = found;
    let objects = || LeftoverObjects {
        count: found.len() as u64,
        first: found.iter().map(|each| (object.clone(), each.clone())).collect(),
    };
    // Where the namespace has a name, its content may be being deleted or not.
    let namespaces = [target.namespace(), target.name()].into_iter().map(|name| {
        let count = LeftoverCount {
            objects: 2,
            terminating: 1,
            first: vec![object.clone()],
            held: (!target.namespace().is_empty()).then(|| object.clone()),
        };
        MissingNamespace {
            name: name.to_owned(),
            types: BTreeMap::from([(target.resource.name(), count)]),
            leftover: leftovers::in_missing_namespace(name),
        }
    });
    let mut report = ScanReport::new(&snapshot(facts, target), knowledge, &ScanView::default());
    let found = Leftovers {
        namespaces: Some(namespaces.filter(|each| !each.name.is_empty()).collect()),
        volumes: Some(objects()),
        attachments: Some(objects()),
        gaps: Vec::new(),
    };
    report.add_leftovers(found, &RunFlags::default());
    told(&report)
}

/// The lines and the screen of a watch that sees the object held, and then released.
pub(super) fn watched(diagnosis: &Diagnosis) -> Told {
    let held = ExplainReport::new(diagnosis, &RunFlags::default());
    let free = ExplainReport {
        waits_for: Vec::new(),
        ..held.clone()
    };
    let mut changes = watch::changes(None, &held, |_| false);
    changes.extend(watch::changes(Some(&held), &free, |_| false));
    changes.extend(watch::changes(Some(&free), &held, |_| false));
    changes.push(Change::TimedOut {
        explanation: Some(Box::new(held.clone())),
    });
    let name: ObjectName = held.target.clone();
    let changes: Vec<_> = changes
        .into_iter()
        .map(|change| change.report(Some(name.clone()), diagnosis.observed_at, 1))
        .collect();
    let lines = text_of(|out| {
        for change in &changes {
            output::watch::write_line(change, out).expect("written");
        }
    });
    Told {
        texts: vec![lines, output::watch::screen(&[&held], &changes, 100, &style())],
        yaml: String::new(),
        names: String::new(),
        // The explanations in it are checked already, and the rest of it has no commands.
        json: Value::Null,
    }
}

/// The end of each change that can be planned. What a server says then holds the name of the object. The JSON of an
/// outcome has no commands.
pub(super) fn ended(seen: &Seen<'_>) -> Told {
    let (plans, _) = plans_and_refusals(seen);
    let name = seen.object.name();
    let outcomes = plans.iter().flat_map(|plan| {
        ENDS.into_iter().map(|result| Outcome {
            target: (&plan.target).into(),
            finalizer: plan.finalizer.clone(),
            result,
            says: format!("The server refused it: {name}."),
            held_by: seen.object.finalizers(),
            differences: vec![name.to_owned()],
            outside: Vec::new(),
            backup: Some(format!("./{name}.yaml")),
            claim_backup: Some(format!("./{name}-claim.yaml")),
            stored_backup: Some(format!("./{name}.value")),
            event: Some(name.to_owned()),
        })
    });
    let report = OutcomeReport::new("0".repeat(16), outcomes.collect(), format!("./{name}.jsonl"));
    let text = text_of(|out| output::plan::write_outcome(&report, &style(), out).expect("written"));
    Told {
        texts: vec![text],
        yaml: String::new(),
        names: String::new(),
        json: Value::Null,
    }
}
