//! One removal for all objects of a cause that hold the same finalizer: one plan and one confirmation for each namespace.

use std::collections::BTreeMap;

use super::{ExplainReport, ObjectName, ObjectReport, causes::Examined, root_causes::Together};
use crate::{
    command::{Command, RunFlags},
    diagnose::TARGETS_OF_ONE_PLAN,
    object::{Finalizer, List, short_type},
};

/// So many plans are shown for one cause. What is beyond them is counted.
const PLANS: usize = 10;

/// The objects of which a removal of one finalizer is advised, as words of a command, by namespace.
type Places<'r> = BTreeMap<&'r str, Vec<String>>;

/// The plans for the objects of a cause of which a removal of the finalizer is advised; none if that is one object.
pub(super) fn together(
    objects: &[(&Examined<'_>, &ObjectReport)],
    finalizer: &Finalizer,
    there: &RunFlags,
) -> Option<Together> {
    let mut places = Places::new();
    for (one, report) in objects {
        if is_advised(one, &finalizer.name) {
            add(&mut places, &report.kubectl_type, &report.object);
        }
    }
    plans(&places, finalizer, there)
}

/// The plans for objects that were explained in one run, for each finalizer that several of them have.
pub fn of_explained(reports: &[ExplainReport], there: &RunFlags) -> Vec<Together> {
    let mut held: BTreeMap<&Finalizer, Places<'_>> = BTreeMap::new();
    for report in reports {
        for finalizer in report.waits_for.iter().filter_map(|wait| wait.finalizer.as_ref()) {
            let mut steps = report.steps.iter();
            if steps.any(|step| {
                step.command
                    .argv
                    .as_deref()
                    .is_some_and(|argv| removes(argv, &finalizer.name))
            }) {
                add(
                    held.entry(finalizer).or_default(),
                    &report.target.resource,
                    &report.target,
                );
            }
        }
    }
    held.into_iter()
        .filter_map(|(finalizer, places)| plans(&places, finalizer, there))
        .collect()
}

fn add<'r>(places: &mut Places<'r>, type_name: &str, object: &'r ObjectName) {
    let words = format!("{}/{}", short_type(type_name), object.name);
    let place = object.namespace.as_deref().unwrap_or_default();
    places.entry(place).or_default().push(words);
}

/// A plan for each namespace, because a command has one, and for as many objects as a person reads in one plan. The plans with
/// most objects come first.
fn plans(places: &Places<'_>, finalizer: &Finalizer, there: &RunFlags) -> Option<Together> {
    let all: usize = places.values().map(Vec::len).sum();
    if finalizer.list != List::Metadata || all < 2 {
        return None;
    }
    let mut parts: Vec<(&str, &[String])> = places
        .iter()
        .flat_map(|(place, names)| names.chunks(TARGETS_OF_ONE_PLAN).map(|names| (*place, names)))
        .collect();
    parts.sort_by_key(|(_, names)| std::cmp::Reverse(names.len()));
    parts.truncate(PLANS);
    let objects = parts.iter().map(|(_, names)| names.len()).sum();
    let mut commands = parts.into_iter().map(|(namespace, names)| {
        let mut command = Command::of("kubectl finalizers remove", []).arguments(names.to_vec());
        if !namespace.is_empty() {
            command = command.flag("-n", namespace);
        }
        let command = command.flag("--finalizer", &finalizer.name).with("--plan");
        command.in_run(there)
    });
    Some(Together {
        command: commands.next()?,
        more: commands.collect(),
        objects,
        rest: all.saturating_sub(objects),
    })
}

/// Whether a step of the diagnosis removes this finalizer.
fn is_advised(one: &Examined<'_>, finalizer: &str) -> bool {
    let steps = one.diagnosis().into_iter().flat_map(|diagnosis| &diagnosis.steps);
    let mut commands = steps.filter_map(|step| step.command.as_ref());
    commands.any(|command| removes(&command.argv(), finalizer))
}

/// Whether these are the words of a command that removes this finalizer.
fn removes(argv: &[String], finalizer: &str) -> bool {
    let names = |word: &String| word == finalizer || word.strip_prefix("--finalizer=") == Some(finalizer);
    let is_remove = argv
        .iter()
        .map(String::as_str)
        .take(3)
        .eq(["kubectl", "finalizers", "remove"]);
    is_remove && argv.iter().any(names)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        diagnose::testing::{
            fixtures::going,
            scanned::snapshot,
            world::{World, object},
        },
        knowledge::Knowledge,
        report::{ScanReport, causes::Examination, scan::ScanView},
        snapshot::facts::Object,
    };

    const FINALIZER: &str = "karpenter.sh/termination";

    /// Machines whose controller is gone.
    fn machine(name: &str) -> Object {
        machine_in("", name)
    }

    fn machine_in(namespace: &str, name: &str) -> Object {
        let metadata = going(name, namespace, &[FINALIZER]);
        object(
            "karpenter.sh",
            "nodeclaims",
            "NodeClaim",
            json!({"metadata": metadata, "spec": {}, "status": {}}),
        )
    }

    fn scan(machines: &[Object], node: Object) -> ScanReport {
        let world = World::of([node]);
        let mut seen = snapshot(&world.facts(), &machines[0]);
        for machine in &machines[1..] {
            seen.tally
                .kept
                .extend(snapshot(&world.facts(), machine).tally.kept);
        }
        let knowledge = Knowledge::builtin();
        let examined: Vec<_> = (seen.tally.kept.iter().zip(machines))
            .map(|(seen, machine)| {
                let (diagnosis, _) = world.read_for(|facts| {
                    let progress = crate::diagnose::diagnose(machine, facts, &knowledge);
                    (progress.diagnosis, progress.wanted)
                });
                Examined {
                    seen,
                    result: Examination::Explained(Box::new(diagnosis)),
                    content: Vec::new(),
                }
            })
            .collect();
        let mut report = ScanReport::new(&seen, &knowledge, &ScanView::default());
        report.add_causes(&examined, &knowledge, &RunFlags::default());
        report
    }

    fn node(labels: &serde_json::Value) -> Object {
        object(
            "",
            "nodes",
            "Node",
            json!({"metadata": {"name": "n", "labels": labels}}),
        )
    }

    #[test]
    fn a_cause_with_many_objects_has_one_plan_for_all() {
        let machines: Vec<_> = ["a", "b", "c"].map(machine).into();
        let report = scan(&machines, node(&json!({})));
        let [cause] = &report.root_causes[..] else {
            panic!("{:#?}", report.root_causes);
        };
        let together = cause.together.as_ref().expect("a plan for all");
        assert_eq!(
            together.command.to_string(),
            "kubectl finalizers remove nodeclaims.karpenter.sh/a nodeclaims.karpenter.sh/b \
             nodeclaims.karpenter.sh/c --finalizer karpenter.sh/termination --plan"
        );
        assert_eq!((together.objects, together.rest), (3, 0));
    }

    #[test]
    fn each_plan_is_for_one_namespace_and_for_no_more_than_a_person_reads() {
        let many = (0..TARGETS_OF_ONE_PLAN + 7).map(|at| machine_in("a", &format!("m-{at}")));
        let machines: Vec<_> = many.chain([machine_in("b", "m")]).collect();
        let report = scan(&machines, node(&json!({})));
        let [cause] = &report.root_causes[..] else {
            panic!("{:#?}", report.root_causes);
        };
        let together = cause.together.as_ref().expect("a plan");
        assert_eq!((together.objects, together.rest), (TARGETS_OF_ONE_PLAN + 8, 0));
        let targets = |command: &Command| {
            let argv = command.argv();
            let names = argv.iter().filter(|word| word.contains("nodeclaims")).count();
            let place = argv
                .iter()
                .find(|word| matches!(word.as_str(), "a" | "b"))
                .cloned();
            (names, place.expect("a namespace"))
        };
        assert_eq!(targets(&together.command), (TARGETS_OF_ONE_PLAN, "a".into()));
        let more: Vec<_> = together.more.iter().map(targets).collect();
        assert_eq!(more, [(7, "a".into()), (1, "b".into())]);
    }

    #[test]
    fn what_is_beyond_the_plans_that_are_shown_is_counted() {
        let machines: Vec<_> = (0..PLANS + 3)
            .map(|at| machine_in(&format!("n-{at}"), "m"))
            .collect();
        let report = scan(&machines, node(&json!({})));
        let together = report.root_causes[0].together.as_ref().expect("a plan");
        assert_eq!(
            (together.more.len(), together.objects, together.rest),
            (PLANS - 1, PLANS, 3)
        );
    }

    #[test]
    fn objects_that_are_explained_in_one_run_have_one_plan() {
        let world = World::of([node(&json!({}))]);
        let knowledge = Knowledge::builtin();
        let explained = |name: &str| {
            let machine = machine(name);
            let (diagnosis, _) = world.read_for(|facts| {
                let progress = crate::diagnose::diagnose(&machine, facts, &knowledge);
                (progress.diagnosis, progress.wanted)
            });
            ExplainReport::new(&diagnosis, &RunFlags::default())
        };
        let plans = of_explained(&["a", "b"].map(explained), &RunFlags::default());
        let [plan] = &plans[..] else { panic!("{plans:?}") };
        assert_eq!(
            plan.command.to_string(),
            "kubectl finalizers remove nodeclaims.karpenter.sh/a nodeclaims.karpenter.sh/b --finalizer \
             karpenter.sh/termination --plan"
        );
        assert!(of_explained(&[explained("a")], &RunFlags::default()).is_empty());
    }

    #[test]
    fn one_object_and_a_controller_that_may_live_have_no_plan_for_all() {
        let one = scan(&[machine("a")], node(&json!({})));
        assert!(one.root_causes[0].together.is_none());
        let machines: Vec<_> = ["a", "b"].map(machine).into();
        let hidden = scan(
            &machines,
            node(&json!({"eks.amazonaws.com/compute-type": "auto"})),
        );
        assert!(hidden.root_causes.iter().all(|cause| cause.together.is_none()));
    }
}
