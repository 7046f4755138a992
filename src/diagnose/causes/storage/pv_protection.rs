//! `kubernetes.io/pv-protection`: a volume that is bound to a claim.
//!
//! **Recognises** the finalizer on a volume. **Why:** it goes as soon as `status.phase` is not Bound, and nothing
//! else is looked at (`kubernetes/kubernetes:pkg/controller/volume/pvprotection/pv_protection_controller.go`). A
//! volume stays Bound while the claim of `spec.claimRef` exists with that uid
//! (`kubernetes/kubernetes:pkg/controller/volume/persistentvolume/pv_controller.go` syncVolume). **Wants** the
//! claim, its pods and the Lease. **Concludes** `in-use` while the claim exists; without it `waiting`, then
//! `stalled`. **Advises** Retain where the deletion was a mistake, and says what becomes of the disk: with policy
//! Delete and no reclaim finalizer it is leaked, because the object vanishes before anybody looks at its policy.

use crate::{
    diagnose::{
        causes::{
            advice,
            cause::Cause,
            pods::stop_consumers,
            storage::{
                csi_holder::Holder,
                pvc_protection,
                reclaim_policy::{disk, fate, free_fate, leaks, policy, retain},
            },
            verdicts,
            verdicts::unknown,
        },
        model::{Evidence, Finding, Outlook, Safety, Step, Strength, Verdict},
        view::{Missing, View},
    },
    object::Finalizer,
    snapshot::facts::Object,
};

pub(crate) const CAUSE: Cause = Cause {
    group: "",
    plural: "persistentvolumes",
    finalizer: "kubernetes.io/pv-protection",
    explain: bound,
};

fn bound(volume: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    let holder = Holder::of(volume, finalizer, None, view);
    let says = format!(
        "removed by kube-controller-manager (pv-protection){}, once the volume is no longer Bound",
        holder.alive()
    );
    let phase = volume.text("/status/phase");
    let mut finding = if phase == "Bound" {
        while_bound(volume, finalizer, says, view)
    } else {
        nobody_holds(volume, finalizer, format!("{says}; it is {phase}"), view)
    };
    holder.testify(&mut finding);
    finding.evidence.push(Evidence {
        source: format!("PersistentVolume {} status.phase", volume.name()),
        value: phase.to_owned(),
        strength: Strength::Proof,
    });
    finding
}

/// Bound: by a claim that exists, or by one that is gone without the volume binder having noticed.
fn while_bound(volume: &Object, finalizer: &Finalizer, says: String, view: &View<'_>) -> Finding {
    match claim_of(volume, view) {
        Ok(Some(claim)) => held_by_claim(volume, claim, finalizer, says, view),
        Ok(None) => {
            let claim = claim_name(volume);
            let says = format!(
                "{says}; its claim {claim} does not exist any more, and the volume binder has not noticed"
            );
            nobody_holds(volume, finalizer, says, view)
        }
        Err(missing) => unknown(finalizer, &says, "whether its claim still exists", &missing),
    }
}

fn nobody_holds(volume: &Object, finalizer: &Finalizer, says: String, view: &View<'_>) -> Finding {
    let mut finding = Finding::new(
        Some(finalizer.clone()),
        verdicts::nothing_blocks(volume, view),
        says,
    );
    // Of one that is not being deleted, it is said elsewhere what would become of the disk.
    if volume.deletion().is_some() {
        finding.outlook.push(Outlook {
            when: "when it goes".into(),
            then: free_fate(volume),
        });
    }
    if finding.wait.verdict == Verdict::Stalled {
        finding.steps.push(advice::nudge(volume));
    }
    finding
}

fn held_by_claim(
    volume: &Object,
    claim: &Object,
    finalizer: &Finalizer,
    says: String,
    view: &View<'_>,
) -> Finding {
    let phase = claim.text("/status/phase");
    let users = pvc_protection::users(claim, view);
    // A claim on its way out that nobody uses is not in use any more; it waits for its own finalizers.
    let verdict = match &users {
        Ok(users) if users.is_empty() && claim.deletion().is_some() => Verdict::Waiting,
        Err(_) if claim.deletion().is_some() => Verdict::Waiting,
        _ => Verdict::InUse,
    };
    let mut finding = Finding::new(Some(finalizer.clone()), verdict, says);
    let going = if claim.deletion().is_some() {
        "being deleted too"
    } else {
        "not being deleted"
    };
    let mut blocker = view.blocker(claim, format!("{phase}, {going}"));
    // Its users are named at once, without a word about protection in between; what else holds it is not left out.
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
            );
        }
    }
    finding.wait.on.push(blocker);
    if volume.deletion().is_none() {
        finding.outlook.push(Outlook {
            when: "if it is deleted now".into(),
            then: "it stays, Terminating, as long as the claim exists; that cannot be taken back, and pods keep their data"
                .into(),
        });
        return finding;
    }
    finding.outlook.push(Outlook {
        when: "if nothing is done".into(),
        then: if claim.deletion().is_some() {
            "it goes when the claim goes".into()
        } else {
            "it stays like this, and pods keep their data".into()
        },
    });
    finding.outlook.push(Outlook {
        when: "when the claim goes".into(),
        then: fate(volume),
    });
    finding.steps.extend(keep(volume));
    if leaks(volume) {
        finding.steps.push(write_down(volume));
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
        "remove kubernetes.io/pv-protection by hand: claim {}/{} becomes Lost, and its pods cannot start again",
        claim.namespace(),
        claim.name()
    ));
    finding
}

fn keep(volume: &Object) -> Option<Step> {
    (policy(volume) == "Delete").then(|| Step {
        when: advice::MISTAKE,
        text: "keep the disk: with policy Retain nothing deletes it when the claim goes. The deletion of the volume \
               itself cannot be taken back through the API"
            .into(),
        command: Some(retain(volume)),
        safety: Safety::Reversible,
    })
}

/// The disk is about to lose the last object that names it.
fn write_down(volume: &Object) -> Step {
    Step {
        when: advice::INTENDED,
        text: format!(
            "write down which disk it is ({}): nothing in the cluster will name it any more, and it must be deleted at \
             the provider by hand",
            disk(volume)
        ),
        command: Some(format!("kubectl get pv {} -o yaml", volume.name())),
        safety: Safety::Safe,
    }
}

pub(crate) fn delete_claim(volume: &Object, claim: &Object) -> Step {
    let disk = disk(volume);
    let (text, safety) = if leaks(volume) {
        (
            format!(
                "LEAKED INFRASTRUCTURE: delete the claim; the volume goes with it, and the disk {disk} stays at the \
                 provider with nothing that points to it"
            ),
            Safety::Destructive,
        )
    } else if policy(volume) == "Delete" {
        (
            format!("DATA LOSS: delete the claim; the disk {disk} is destroyed with it"),
            Safety::Destructive,
        )
    } else {
        (
            format!(
                "delete the claim; the disk {disk} stays (policy {})",
                policy(volume)
            ),
            Safety::Reversible,
        )
    };
    Step {
        when: advice::INTENDED,
        text,
        command: Some(format!(
            "kubectl -n {} delete pvc {}",
            claim.namespace(),
            claim.name()
        )),
        safety,
    }
}

pub(crate) fn claim_of<'a>(volume: &Object, view: &View<'a>) -> Result<Option<&'a Object>, Missing> {
    let (namespace, name) = (
        volume.text("/spec/claimRef/namespace"),
        volume.text("/spec/claimRef/name"),
    );
    let claim = view.object("", "persistentvolumeclaims", namespace, name)?;
    let uid = volume.text("/spec/claimRef/uid");
    Ok(claim.filter(|claim| uid.is_empty() || claim.uid() == uid))
}

pub(crate) fn claim_name(volume: &Object) -> String {
    format!(
        "{}/{}",
        volume.text("/spec/claimRef/namespace"),
        volume.text("/spec/claimRef/name")
    )
}
