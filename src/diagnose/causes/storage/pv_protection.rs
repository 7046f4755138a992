//! `kubernetes.io/pv-protection`: a volume that is bound to a claim.
//!
//! # Symptom
//!
//! A PersistentVolume was deleted while it is `Bound`. It stays `Terminating`, with the finalizer
//! `kubernetes.io/pv-protection`.
//!
//! ```text
//! $ kubectl get pv
//! NAME           CAPACITY   RECLAIM POLICY   STATUS        CLAIM       AGE
//! pvc-6791fdd4   1Gi        Delete           Terminating   db/data-0   5d
//! ```
//!
//! ```text
//! $ kubectl finalizers explain pv/pvc-6791fdd4 --from examples/stuck-cluster.snapshot
//! ```
//!
//! # Why
//!
//! The controller removes the finalizer as soon as `status.phase` is not `Bound`, and checks nothing else. A volume
//! stays `Bound` while the claim in `spec.claimRef` exists with that uid. So the volume waits for its claim, and the
//! claim waits for its pods.
//!
//! # Before you act
//!
//! Nothing is lost yet: pods keep their data while the claim exists. Find out what happens to the disk when the claim
//! goes. With policy `Delete` and no reclaim finalizer the disk is leaked, because the volume vanishes before a
//! controller reads its policy.
//!
//! # If it was a mistake
//!
//! Set the volume to `Retain` now: `kubectl finalizers rescue pv/NAME --only-retain`. The deletion of the volume stays,
//! but its disk is kept. Without `--only-retain`, `rescue` makes the volume again for the same disk.
//!
//! # If it was intended
//!
//! Stop the pods, then delete the claim. The volume goes after its claim. If the explanation says that the disk leaks,
//! note its name and delete it at the provider.
//!
//! # Do not
//!
//! Do not remove the finalizer by hand. The claim becomes `Lost`, and its pods cannot start again.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | in-use | the claim exists and binds the volume |
//! | waiting | the claim is gone, and the volume controller had little time to act |
//! | stalled | the claim is gone, and nobody acts |
//! | unknown | the claim could not be read |
//!
//! # What it reads
//!
//! The claim, its pods, and the Lease of kube-controller-manager.
//!
//! # Sources
//!
//! - `kubernetes/kubernetes:pkg/controller/volume/pvprotection/pv_protection_controller.go`
//! - `kubernetes/kubernetes:pkg/controller/volume/persistentvolume/pv_controller.go` syncVolume

use crate::{
    command::Command,
    diagnose::{
        causes::{
            advice,
            cause::{Cause, On, Reads, Tells},
            controller::Controller,
            release,
            storage::{pvc_protection, stop_consumers},
            verdicts,
            verdicts::unknown,
        },
        kinds::{PersistentVolume, PersistentVolumeClaim},
        model::{Evidence, Finding, Moment, Outlook, Page, Safety, Said, Step, Strength, Verdict, When},
        reclaim_policy::{disk, fate, fate_without_claim, is_leaked},
        view::{Missing, View},
    },
    object::Finalizer,
    snapshot::facts::Object,
};

pub(crate) const CAUSE: Cause = Cause {
    page: Page::of(module_path!()),
    types: &[("", "persistentvolumes")],
    finalizer: On::Named("kubernetes.io/pv-protection"),
    reads: Reads::Whole,
    tells: Tells::Finalizer(volume_bound),
};

/// Answers for the finalizer on a volume.
fn volume_bound(volume: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    let controller = Controller::of(volume, finalizer, None, view);
    let says = controller
        .removes("kube-controller-manager")
        .part("pv-protection")
        .once("the volume is no longer Bound");
    let phase = PersistentVolume(volume).phase();
    let mut finding = if phase == "Bound" {
        phase_bound(volume, finalizer, says, view)
    } else {
        nothing_blocks(volume, finalizer, says.now(format!("it is {phase}")), view)
    };
    controller.add_evidence(&mut finding);
    finding.evidence.push(Evidence {
        source: format!("PersistentVolume {} status.phase", volume.name()),
        value: phase.to_owned(),
        strength: Strength::Proof,
    });
    finding
}

/// The volume is Bound: its claim exists, or is gone and the volume binder has not noticed.
fn phase_bound(volume: &Object, finalizer: &Finalizer, says: Said, view: &View<'_>) -> Finding {
    match claim_of(volume, view) {
        Ok(Some(claim)) => claim_exists(volume, claim, finalizer, says, view),
        Ok(None) => {
            let claim = claim_name(volume);
            let says = says.now(format!(
                "its claim {claim} does not exist any more, and the volume binder has not noticed"
            ));
            nothing_blocks(volume, finalizer, says, view)
        }
        Err(missing) => unknown(finalizer, &says, "whether its claim still exists", &missing),
    }
}

/// No claim holds the volume.
fn nothing_blocks(volume: &Object, finalizer: &Finalizer, says: Said, view: &View<'_>) -> Finding {
    let mut finding = Finding::new(
        Some(finalizer.clone()),
        verdicts::nothing_blocks(volume, view),
        says,
    );
    // The diagnosis says elsewhere what happens to the disk of a volume that is not being deleted.
    if volume.deletion().is_some() {
        finding.outlook.push(Outlook {
            when: Moment::Goes,
            then: fate_without_claim(volume),
        });
    }
    if finding.wait.verdict == Verdict::Stalled {
        finding.steps.push(advice::nudge(volume));
    }
    finding
}

/// The claim holds the volume.
fn claim_exists(
    volume: &Object,
    claim: &Object,
    finalizer: &Finalizer,
    says: Said,
    view: &View<'_>,
) -> Finding {
    let phase = PersistentVolumeClaim(claim).phase();
    let users = pvc_protection::users(claim, view);
    // A claim that is being deleted and has no users is not in use: it waits for its own finalizers.
    let verdict = match &users {
        Ok(users) if users.is_empty() && claim.deletion().is_some() => Verdict::Waiting,
        Err(_) if claim.deletion().is_some() => Verdict::Waiting,
        _ => Verdict::InUse,
    };
    let mut finding = Finding::new(Some(finalizer.clone()), verdict, says);
    let deletion = if claim.deletion().is_some() {
        "being deleted too"
    } else {
        "not being deleted"
    };
    let mut blocker = view.blocker(claim, format!("{phase}, {deletion}"));
    // The pods stand directly below the claim, so its pvc-protection is left out. Its other waits stay.
    blocker.waits.retain(|wait| {
        let name = wait.finalizer.as_ref().map(|finalizer| finalizer.name.as_str());
        name != Some("kubernetes.io/pvc-protection")
    });
    match &users {
        Ok(users) => blocker.on = pvc_protection::blockers(users, view),
        Err(missing) => {
            blocker.says = format!(
                "{}; which pods use it is not known: {}",
                blocker.says,
                missing.in_words()
            )
            .into();
        }
    }
    finding.wait.on.push(blocker);
    if volume.deletion().is_none() {
        finding.outlook.push(Outlook {
            when: Moment::DeletedNow,
            then: "it stays, Terminating, as long as the claim exists, and pods keep their data. That cannot be taken back"
                .into(),
        });
        return finding;
    }
    finding.outlook.push(Outlook {
        when: Moment::NothingDone,
        then: if claim.deletion().is_some() {
            "it goes when the claim goes".into()
        } else {
            "it stays like this, and pods keep their data".into()
        },
    });
    finding.outlook.push(Outlook {
        when: Moment::ClaimGoes,
        then: fate(volume),
    });
    if is_leaked(volume) {
        finding.steps.push(write_down_disk(volume));
    }
    finding.steps.extend(stop_consumers::steps(
        claim,
        users.as_deref().unwrap_or_default(),
        view,
    ));
    if claim.deletion().is_none() {
        finding.steps.push(delete_claim(volume, claim));
    }
    finding.do_not.push(format!(
        "remove kubernetes.io/pv-protection by hand: {} becomes Lost, and its pods cannot start again",
        claim.reference().pasteable()
    ));
    finding
}

/// The step that writes down the disk, because no object will name it any more.
fn write_down_disk(volume: &Object) -> Step {
    Step {
        when: When::Intended,
        text: format!(
            "write down which disk it is ({}): nothing in the cluster will name it any more, and it must be deleted at \
             the provider by hand",
            disk(volume)
        ),
        command: Some(Command::of("kubectl get pv {} -o yaml", [volume.name()])),
        safety: Safety::ReadOnly,
        lets_go: Vec::new(),
    }
}

/// The step that deletes the claim, with what becomes of the disk.
pub(crate) fn delete_claim(volume: &Object, claim: &Object) -> Step {
    let step = Step {
        when: When::Intended,
        text: "delete the claim".into(),
        command: Some(Command::of(
            "kubectl -n {} delete pvc {}",
            [claim.namespace(), claim.name()],
        )),
        safety: Safety::Reversible,
        lets_go: Vec::new(),
    };
    let mut step = release::letting_go(step, vec![release::of_volume(volume)]);
    if step.safety != Safety::Destructive {
        step.text = format!("LOSES THE CLAIM, unless you save it before: {}", step.text);
        step.safety = Safety::Destructive;
    }
    step
}

/// The claim of `spec.claimRef`, if it exists with that uid.
pub(crate) fn claim_of<'a>(volume: &Object, view: &View<'a>) -> Result<Option<&'a Object>, Missing> {
    let (namespace, name) = (
        PersistentVolume(volume).claim_namespace(),
        PersistentVolume(volume).claim_name(),
    );
    let claim = view.object("", "persistentvolumeclaims", namespace, name)?;
    let uid = PersistentVolume(volume).claim_uid();
    Ok(claim.filter(|claim| uid.is_empty() || claim.uid() == uid))
}

/// `NAMESPACE/NAME` of the claim in `spec.claimRef`.
pub(crate) fn claim_name(volume: &Object) -> String {
    format!(
        "{}/{}",
        PersistentVolume(volume).claim_namespace(),
        PersistentVolume(volume).claim_name()
    )
}
