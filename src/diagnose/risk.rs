//! Whether a deletion that is not late yet will be stuck: what it needs next is known not to come.

use crate::{
    diagnose::{
        kinds::Node,
        model::{Blocker, CauseState, Finding, Verdict, Wait},
        timing,
        view::View,
    },
    snapshot::facts::Object,
};

/// What will keep the object; none if nothing is known to, or if the object is late already.
pub(super) fn risk(target: &Object, findings: &[Finding], view: &View<'_>) -> Option<String> {
    let deletion = target.deletion()?;
    let has_time = || {
        timing::is_deletion_recent(target, view)
            && findings
                .iter()
                .all(|finding| finding.wait.verdict == Verdict::Waiting)
    };
    if !deletion.in_grace(view.now()) && !has_time() {
        return None;
    }
    findings.iter().find_map(|finding| of_wait(&finding.wait, view))
}

/// What will keep this finalizer. A controller that fails may succeed the next time.
fn of_wait(wait: &Wait, view: &View<'_>) -> Option<String> {
    let name = wait.finalizer.as_ref().map(ToString::to_string);
    let name = name.unwrap_or_else(|| "the object".to_owned());
    match wait.verdict {
        Verdict::Orphaned => Some(format!("whoever removes {name} is gone")),
        Verdict::Rejected => Some(format!("the API server would refuse to remove {name}")),
        _ => wait.on.iter().find_map(|on| of_blocker(on, view)),
    }
}

fn of_blocker(on: &Blocker, view: &View<'_>) -> Option<String> {
    let is_broken = matches!(
        on.state,
        Some(CauseState::Gone | CauseState::Down | CauseState::NotReady)
    );
    if is_broken {
        return (!is_declared_off(on, view)).then(|| on.in_words());
    }
    let inner = || on.waits.iter().find_map(|wait| of_wait(wait, view));
    let found = on.on.iter().find_map(|on| of_blocker(on, view)).or_else(inner)?;
    Some(match &on.object {
        Some(object) => format!("{}: {found}", object.in_words()),
        None => found,
    })
}

/// Whether it is a node that somebody declared to be off. The pod collector then removes the Pods of that node
/// (`kubernetes/kubernetes:pkg/controller/podgc/gc_controller.go` gcTerminating).
fn is_declared_off(on: &Blocker, view: &View<'_>) -> bool {
    let node = on.object.as_ref().filter(|object| object.type_name == "nodes");
    node.is_some_and(|node| {
        matches!(view.object("", "nodes", "", &node.name), Ok(Some(found)) if Node(found).is_out_of_service())
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        diagnose::{
            self,
            testing::world::{World, object},
        },
        knowledge::Knowledge,
        object::{Finalizer, List},
    };

    fn told(kind: &str, deleted: &str, finding: Finding) -> Option<String> {
        let plural = format!("{}s", kind.to_lowercase());
        let target = object(
            "",
            &plural,
            kind,
            json!({"metadata": {"name": "a", "deletionTimestamp": deleted, "deletionGracePeriodSeconds": 30}}),
        );
        let (facts, knowledge) = (World::default().facts(), Knowledge::builtin());
        risk(&target, &[finding], &diagnose::view(&facts, &knowledge))
    }

    fn held(verdict: Verdict) -> Finding {
        let finalizer = Finalizer {
            list: List::Metadata,
            name: "x.test/f".into(),
        };
        Finding::new(Some(finalizer), verdict, "")
    }

    fn behind(state: CauseState) -> Finding {
        let mut finding = held(Verdict::Waiting);
        let down = Blocker::new(None, "API group g/v1 does not answer").in_state(state);
        let mut pod = Blocker::new(None, "is in it");
        pod.on.push(down);
        finding.wait.on.push(pod);
        finding
    }

    const IN_GRACE: &str = "2026-01-01T12:00:20Z";
    const RECENT: &str = "2026-01-01T12:00:00Z";
    const LATE: &str = "2026-01-01T11:50:00Z";

    #[test]
    fn a_pod_whose_finalizer_nobody_removes_is_at_risk_before_its_grace_period_ends() {
        let told_of = |verdict| told("Pod", IN_GRACE, held(verdict));
        assert_eq!(
            told_of(Verdict::Orphaned).as_deref(),
            Some("whoever removes x.test/f is gone")
        );
        assert!(told_of(Verdict::Rejected).is_some());
        // Each of these may end well in time.
        for verdict in [
            Verdict::Waiting,
            Verdict::Failing,
            Verdict::Unknown,
            Verdict::InUse,
        ] {
            assert_eq!(told_of(verdict), None);
        }
    }

    #[test]
    fn a_namespace_whose_next_step_fails_is_at_risk_while_it_is_not_late() {
        let down = || behind(CauseState::Down);
        assert_eq!(
            told("Namespace", RECENT, down()).as_deref(),
            Some("API group g/v1 does not answer")
        );
        assert_eq!(told("Namespace", LATE, down()), None);
        assert_eq!(told("Namespace", RECENT, behind(CauseState::Waiting)), None);
    }
}
