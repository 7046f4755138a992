//! The one shape of the rules about an object that stays while others use it. Users are found, or there is nobody, or they
//! cannot be seen. If there is nobody, the controller may be late.

use super::{controller::Controller, verdicts};
use crate::{
    diagnose::{
        model::{Blocker, Finding, Said, Verdict},
        view::{Missing, View},
    },
    object::Finalizer,
    snapshot::facts::Object,
};

/// What was found of those that use an object.
pub(crate) enum Users {
    /// These use it. The verdict says whether they are protected, or only have work to end.
    Found(Verdict, Vec<Blocker>),
    /// All of them were looked for, and there is nobody, in these words.
    Nobody(&'static str),
    /// The question that has no answer, as the beginning of a sentence, and why.
    NotSeen(&'static str, String),
}

/// How an object stands whose users were looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It is used.
    Used,
    /// Nobody uses it, and the controller still has time.
    Free,
    /// Nobody uses it, and the controller has not acted.
    Late,
    /// Whether it is used is not known.
    NotSeen,
}

impl Users {
    /// Those that could not be read.
    pub(crate) fn not_seen(question: &'static str, missing: &Missing) -> Self {
        Users::NotSeen(question, missing.in_words())
    }

    /// These, or nobody in these words.
    pub(crate) fn of(blockers: Vec<Blocker>, verdict: Verdict, nobody: &'static str) -> Self {
        if blockers.is_empty() {
            Users::Nobody(nobody)
        } else {
            Users::Found(verdict, blockers)
        }
    }
}

/// The finding about the finalizer of an object with these users, and how the object stands.
pub(crate) fn finding(
    object: &Object,
    finalizer: &Finalizer,
    controller: &Controller,
    said: Said,
    users: Users,
    view: &View<'_>,
) -> (Finding, Standing) {
    let mut finding = Finding::new(Some(finalizer.clone()), Verdict::Unknown, said);
    controller.add_evidence(&mut finding);
    let standing = settle(&mut finding, object, users, view);
    (finding, standing)
}

/// Sets the verdict of a finding by the users of its object.
pub(crate) fn settle(finding: &mut Finding, object: &Object, users: Users, view: &View<'_>) -> Standing {
    match users {
        Users::Found(verdict, blockers) => {
            finding.wait.verdict = verdict;
            finding.wait.on.extend(blockers);
            Standing::Used
        }
        Users::Nobody(words) => {
            finding.wait.verdict = verdicts::nothing_blocks(object, view);
            finding.say(words);
            if finding.wait.verdict == Verdict::Stalled {
                Standing::Late
            } else {
                Standing::Free
            }
        }
        Users::NotSeen(question, why) => {
            finding.wait.verdict = Verdict::Unknown;
            finding.say(format!("{question} is not known: {why}"));
            Standing::NotSeen
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        diagnose::{
            testing::{
                fixtures::going,
                world::{World, object},
            },
            view,
        },
        knowledge::Knowledge,
    };

    #[test]
    fn each_answer_has_its_own_verdict() {
        let claim = object(
            "",
            "persistentvolumeclaims",
            "PersistentVolumeClaim",
            json!({"metadata": going("data", "db", &["kubernetes.io/pvc-protection"])}),
        );
        let world = World::of([claim.clone()]);
        let knowledge = Knowledge::builtin();
        let facts = world.facts();
        let view = view(&facts, &knowledge);
        let settled = |users: Users| {
            let mut finding = Finding::new(None, Verdict::Unknown, Said::default());
            let standing = settle(&mut finding, &claim, users, &view);
            (
                standing,
                finding.wait.verdict,
                finding.wait.on.len(),
                finding.wait.said.now,
            )
        };
        let user = Blocker::new(None, "a pod");
        let (standing, verdict, on, _) = settled(Users::of(vec![user], Verdict::InUse, "no pod does"));
        assert_eq!((standing, verdict, on), (Standing::Used, Verdict::InUse, 1));
        let (standing, verdict, on, now) = settled(Users::of(Vec::new(), Verdict::InUse, "no pod does"));
        assert_eq!((standing, verdict, on), (Standing::Late, Verdict::Stalled, 0));
        assert_eq!(now, ["no pod does"]);
        let (standing, verdict, _, now) =
            settled(Users::NotSeen("whether one does", "it is forbidden".into()));
        assert_eq!((standing, verdict), (Standing::NotSeen, Verdict::Unknown));
        assert_eq!(now, ["whether one does is not known: it is forbidden"]);
    }
}
