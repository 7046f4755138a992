//! One removal for all objects of a cause that hold the same finalizer: one plan and one confirmation.

use std::collections::BTreeMap;

use super::{ObjectReport, causes::Examined, root_causes::Together};
use crate::{
    command::{Command, RunFlags},
    diagnose::TARGETS_OF_ONE_PLAN,
    object::{Finalizer, List, short_type},
};

/// The plan for the objects of which a removal of the finalizer is advised; none if that is one object. A command has one
/// namespace, so the namespace with most objects gets it.
pub(super) fn together(
    objects: &[(&Examined<'_>, &ObjectReport)],
    finalizer: &Finalizer,
    there: &RunFlags,
) -> Option<Together> {
    if finalizer.list != List::Metadata {
        return None;
    }
    let mut places: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (one, report) in objects {
        if is_advised(one, &finalizer.name) {
            let name = &report.object;
            let words = format!("{}/{}", short_type(&report.kubectl_type), name.name);
            let place = name.namespace.as_deref().unwrap_or_default();
            places.entry(place).or_default().push(words);
        }
    }
    let all: usize = places.values().map(Vec::len).sum();
    let most = places.values().map(Vec::len).max()?;
    let (namespace, mut names) = places.into_iter().find(|(_, names)| names.len() == most)?;
    if names.len() < 2 {
        return None;
    }
    names.truncate(TARGETS_OF_ONE_PLAN);
    let objects = names.len();
    let mut command = Command::of("kubectl finalizers remove", []).arguments(names);
    if !namespace.is_empty() {
        command = command.flag("-n", namespace);
    }
    let command = command.flag("--finalizer", &finalizer.name).with("--plan");
    Some(Together {
        command: command.in_run(there),
        objects,
        rest: all - objects,
    })
}

/// Whether a step of the diagnosis removes this finalizer.
fn is_advised(one: &Examined<'_>, finalizer: &str) -> bool {
    let steps = one.diagnosis().into_iter().flat_map(|diagnosis| &diagnosis.steps);
    let mut commands = steps.filter_map(|step| step.command.as_ref());
    commands.any(|command| {
        let names = |word: &String| word == finalizer || word.strip_prefix("--finalizer=") == Some(finalizer);
        command.is_remove() && command.argv().iter().any(names)
    })
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
        let metadata = going(name, "", &[FINALIZER]);
        object(
            "karpenter.sh",
            "nodeclaims",
            "NodeClaim",
            json!({"metadata": metadata}),
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
    fn one_confirmation_covers_only_as_many_plans_as_a_person_reads() {
        let machines: Vec<_> = (0..TARGETS_OF_ONE_PLAN + 7)
            .map(|at| machine(&format!("m-{at}")))
            .collect();
        let report = scan(&machines, node(&json!({})));
        let together = report.root_causes[0].together.as_ref().expect("a plan");
        assert_eq!((together.objects, together.rest), (TARGETS_OF_ONE_PLAN, 7));
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
