//! Every form in which a diagnosis is told: `explain`, `scan`, `scan --by holder`, plans, questions, refusals and outcomes,
//! leftovers and the lines of `watch`, as text and as JSON. Only tests use these higher layers from here.

mod later;

use serde::Serialize;
use serde_json::{Value, json};

use super::{
    scanned::snapshot,
    world::{World, bare},
};
use crate::{
    command::{Command, RunFlags},
    diagnose::{
        self, Diagnosis,
        holder::{distinguishing_driver, find},
    },
    knowledge::Knowledge,
    object::List,
    output::{self, Style, scan::Options},
    plan::{self, Action, Claim, Entry, Plan, Refusal, Rescue, Seen},
    report::{
        ExplainReport, PlanReport, ScanReport,
        causes::{Examination, Examined},
        finalizer::FinalizersReport,
        holders::{HolderSearch, HolderSearchResult},
        scan::{GroupBy, ScanView},
    },
    snapshot::{
        Snapshot,
        facts::{Facts, Object},
    },
};

/// One report, in its forms.
pub(crate) struct Told {
    /// As text for people.
    pub(crate) texts: Vec<String>,
    /// As YAML; only an explanation, because all go through the same writer.
    pub(crate) yaml: String,
    /// As names for kubectl.
    pub(crate) names: String,
    /// As JSON.
    pub(crate) json: Value,
}

/// What the diagnosis of `target`, made of `facts`, is told as.
pub(crate) fn every_output(
    world: &World,
    target: &Object,
    (diagnosis, facts): (&Diagnosis, &Facts),
    knowledge: &Knowledge,
) -> Vec<Told> {
    let snapshot = snapshot(facts, target);
    let twin = twin(target);
    let seen = seen(target, diagnosis, facts, knowledge);
    vec![
        explained(diagnosis),
        scanned(facts, [target, &twin], diagnosis, knowledge),
        by_holder(world, target, (facts, &snapshot), knowledge),
        planned(&seen),
        catalogued(&seen),
    ]
}

/// What is told of the same object elsewhere: as a leftover, by a watch, and after a change.
pub(crate) fn later_output(
    world: &World,
    target: &Object,
    (diagnosis, facts): (&Diagnosis, &Facts),
    knowledge: &Knowledge,
) -> Vec<Told> {
    let seen = seen(target, diagnosis, facts, knowledge);
    vec![
        later::left_behind(world, target, facts, knowledge),
        later::watched(diagnosis),
        later::ended(&seen),
    ]
}

fn seen<'a>(
    object: &'a Object,
    diagnosis: &'a Diagnosis,
    facts: &'a Facts,
    knowledge: &'a Knowledge,
) -> Seen<'a> {
    Seen {
        object,
        diagnosis,
        complete: true,
        facts,
        knowledge,
    }
}

fn style() -> Style {
    Style {
        width: Some(100),
        ..Style::default()
    }
}

fn text_of(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    write(&mut out);
    String::from_utf8(out).expect("UTF-8")
}

fn data(report: &impl Serialize) -> Value {
    let json = text_of(|out| output::json::write(report, out).expect("written"));
    serde_json::from_str(&json).expect("JSON")
}

fn explained(diagnosis: &Diagnosis) -> Told {
    let report = ExplainReport::new(diagnosis, &RunFlags::default());
    let json = data(&report);
    let yaml = text_of(|out| output::yaml::write(&report, out).expect("written"));
    let text = |wide| text_of(|out| output::explain::write(&report, wide, &style(), out).expect("written"));
    Told {
        texts: vec![text(true), text(false)],
        yaml,
        names: text_of(|out| {
            output::explain::write_name(&report, out).expect("written");
        }),
        json,
    }
}

/// Another object that is stuck like this one. Some commands are only for several.
fn twin(target: &Object) -> Object {
    let mut twin = target.clone();
    let name = format!("{}-2", target.name());
    if let Some(metadata) = twin.value.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.insert("name".into(), name.into());
    }
    twin
}

/// Both objects have the same cause, so one command for both is told, too.
fn scanned(facts: &Facts, objects: [&Object; 2], diagnosis: &Diagnosis, knowledge: &Knowledge) -> Told {
    let view = ScanView {
        all: true,
        ..ScanView::default()
    };
    let [mut snapshot, other] = objects.map(|object| snapshot(facts, object));
    snapshot.tally.kept.extend(other.tally.kept);
    let mut report = ScanReport::new(&snapshot, knowledge, &view);
    let examined: Vec<_> = snapshot
        .tally
        .kept
        .iter()
        .map(|seen| Examined {
            seen,
            result: Examination::Explained(Box::new(diagnosis.clone())),
            content: Vec::new(),
        })
        .collect();
    report.add_causes(&examined, knowledge, &view.there);
    told(&report)
}

fn by_holder(
    world: &World,
    target: &Object,
    (facts, snapshot): (&Facts, &Snapshot),
    knowledge: &Knowledge,
) -> Told {
    let view = ScanView {
        by: GroupBy::Holder,
        ..ScanView::default()
    };
    let mut searches = Vec::new();
    for (on, crowds) in &snapshot.tally.crowds.0 {
        for alike in crowds.keys() {
            for finalizer in &alike.finalizers {
                let driver = distinguishing_driver(finalizer, on, alike, knowledge);
                let (result, _) = world.read_more(facts.clone(), |facts| {
                    let view = diagnose::view(facts, knowledge);
                    view.begin();
                    let found = find(target, finalizer, driver, &view);
                    let gaps = view.gaps();
                    (HolderSearchResult { found, gaps }, view.wanted())
                });
                searches.push(HolderSearch {
                    type_name: on.name.clone(),
                    finalizer: finalizer.clone(),
                    driver: driver.map(str::to_owned),
                    result: Some(result),
                });
            }
        }
    }
    let mut report = ScanReport::new(snapshot, knowledge, &view);
    report.add_holders(snapshot, knowledge, Some(&searches), true);
    told(&report)
}

fn told(report: &ScanReport) -> Told {
    let json = data(report);
    let text = |wide| {
        let options = Options {
            wide,
            ..Options::default()
        };
        text_of(|out| output::scan::write(report, options, &style(), out).expect("written"))
    };
    Told {
        texts: vec![text(true), text(false)],
        yaml: String::new(),
        names: text_of(|out| {
            output::name::write(report.all_objects(), false, &[], out).expect("written");
        }),
        json,
    }
}

/// The plan or the refusal of each verb that changes something.
fn plans_and_refusals(seen: &Seen<'_>) -> (Vec<Plan>, Vec<Refusal>) {
    let mut made: Vec<Result<Plan, Refusal>> = vec![plan::nudge(seen)];
    for finalizer in seen.object.finalizers() {
        made.push(match finalizer.list {
            List::Metadata => plan::remove(seen, &finalizer.name),
            List::Spec => plan::finalize(seen, &finalizer.name),
        });
    }
    if seen.object.is("", "persistentvolumes") {
        made.push(Ok(plan::retain(seen.object, Claim::None)));
        made.push(rescued(seen));
    }
    made.push(undeleted(seen));
    let (mut plans, mut refusals) = (Vec::new(), Vec::new());
    for one in made {
        match one {
            Ok(plan) => plans.push(plan),
            Err(refusal) => refusals.push(refusal),
        }
    }
    (plans, refusals)
}

/// The rescue of a volume, whose claim has the names in its reference and is used by a Pod of that name.
fn rescued(seen: &Seen<'_>) -> Result<Plan, Refusal> {
    let volume = seen.object;
    let of_claim = |field: &str| volume.text(&format!("/spec/claimRef/{field}"));
    let (name, namespace) = (of_claim("name"), of_claim("namespace"));
    let metadata = json!({"name": name, "namespace": namespace, "uid": of_claim("uid")});
    let spec = json!({"volumeName": volume.name()});
    let value = json!({"metadata": metadata, "spec": spec, "status": {"phase": "Bound"}});
    let claim = bare("", "persistentvolumeclaims", "PersistentVolumeClaim", value);
    let pod = json!({"metadata": {"name": name, "namespace": namespace}});
    let users = Ok(vec![bare("", "pods", "Pod", pod).reference()]);
    let rescue = Rescue::new(volume, Claim::Found(Box::new(claim)), true)?;
    Ok(rescue.plan(&users, seen.knowledge))
}

/// The change in etcd that takes the deletion out of the object.
fn undeleted(seen: &Seen<'_>) -> Result<Plan, Refusal> {
    let mut object = seen.object.clone();
    if let Some(metadata) = object.value.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.insert("resourceVersion".into(), "7".into());
    }
    let mut stored = seen.object.value.clone();
    if let Some(fields) = stored.as_object_mut() {
        fields.insert("kind".into(), object.kind.clone().into());
        fields.insert("apiVersion".into(), object.api_version.clone().into());
    }
    let entry = Entry {
        key: format!("/registry/{}/{}", object.resource.plural, object.name()),
        mod_revision: 7,
        value: stored.to_string().into_bytes(),
    };
    plan::unmark(&object, entry, seen.knowledge)
}

/// What is known of its finalizers without a cluster.
fn catalogued(seen: &Seen<'_>) -> Told {
    let finalizers = seen.object.finalizers();
    let names = finalizers.iter().map(|finalizer| finalizer.name.as_str());
    let report = FinalizersReport::new(names, seen.knowledge);
    Told {
        texts: vec![text_of(|out| {
            output::finalizer::write(&report, true, &style(), out).expect("written");
        })],
        yaml: String::new(),
        names: text_of(|out| output::finalizer::write_names(&report, out).expect("written")),
        json: data(&report),
    }
}

fn planned(seen: &Seen<'_>) -> Told {
    let (plans, refusals) = plans_and_refusals(seen);
    let plans: Vec<(Plan, Option<Command>)> = plans
        .into_iter()
        .map(|plan| {
            let command = plan.request.as_kubectl(seen.object);
            (plan, Some(command))
        })
        .collect();
    let digest = Some("0".repeat(16));
    let report = PlanReport::new(Action::Remove, "a test", digest, &plans, &refusals, Vec::new());
    let json = data(&report);
    let text = text_of(|out| output::plan::write(&report, &style(), out).expect("written"));
    let mut texts = vec![text];
    for (plan, _) in plans {
        texts.push(output::plan::question(&[plan], "data-loss", &style()));
    }
    Told {
        texts,
        yaml: String::new(),
        names: String::new(),
        json,
    }
}
