//! Volumes: `kubernetes.io/pv-protection`, and the finalizer that keeps a volume until its disk is deleted.
//!
//! **Why.** `kubernetes.io/pv-protection` goes as soon as `status.phase` is not Bound, and nothing else is
//! looked at (`kubernetes/kubernetes:pkg/controller/volume/pvprotection/pv_protection_controller.go`). A volume
//! stays Bound while the claim of `spec.claimRef` exists with that uid. The provisioner deletes the disk only in
//! phase Released with policy Delete, and lets go at once with policy Retain; Failed and Available are never
//! reclaimed (`kubernetes-sigs/sig-storage-lib-external-provisioner:controller/controller.go` shouldDelete).
//! **Wants** the claim, its pods, the attachments, events and Leases.

use serde_json::Value;

use crate::{
    diagnose::{
        holder,
        model::{Blocker, Evidence, Finding, Outlook, Safety, Step, Strength, Verdict},
        view::{Missing, View},
    },
    object::{Age, Finalizer},
    snapshot::facts::Object,
};

pub(super) fn bound(volume: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    let entry = view.knowledge.lookup(
        &finalizer.name,
        finalizer.list,
        Some((&volume.reference()).into()),
    );
    let life = entry.map(|entry| holder::life(&entry, None, view));
    let alive = life
        .as_ref()
        .map(|life| format!(", {}", life.in_words()))
        .unwrap_or_default();
    let says = format!(
        "removed by kube-controller-manager (pv-protection){alive}, once the volume is no longer Bound"
    );
    let phase = volume.text("/status/phase");
    let mut finding = if phase == "Bound" {
        while_bound(volume, finalizer, says, view)
    } else {
        nobody_holds(volume, finalizer, format!("{says}; it is {phase}"), view)
    };
    finding
        .evidence
        .extend(life.iter().filter_map(holder::Life::evidence));
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
        Err(missing) => Finding::new(
            Some(finalizer.clone()),
            Verdict::Unknown,
            format!(
                "{says}; whether its claim still exists is not known: {}",
                missing.in_words()
            ),
        ),
    }
}

fn nobody_holds(volume: &Object, finalizer: &Finalizer, says: String, view: &View<'_>) -> Finding {
    let mut finding = Finding::new(Some(finalizer.clone()), super::nothing_blocks(volume, view), says);
    if finding.wait.verdict == Verdict::Stalled {
        finding.steps.push(super::nudge(volume));
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
    let mut finding = Finding::new(Some(finalizer.clone()), Verdict::InUse, says);
    let phase = claim.text("/status/phase");
    let users = super::claim::users(claim, view);
    let going = if claim.deletion().is_some() {
        "being deleted too"
    } else {
        "not being deleted"
    };
    let mut blocker = Blocker::new(Some(claim.reference()), format!("{phase}, {going}"));
    match &users {
        Ok(users) => blocker.on = super::claim::blockers(users, view),
        Err(missing) => {
            blocker.says = format!(
                "{}; which pods use it is not known: {}",
                blocker.says,
                missing.in_words()
            );
        }
    }
    finding.wait.on.push(blocker);
    finding.outlook.push(Outlook {
        when: "if nothing is done".into(),
        then: "it stays like this, and pods keep their data".into(),
    });
    finding.outlook.push(Outlook {
        when: "when the claim goes".into(),
        then: fate(volume),
    });
    if policy(volume) == "Delete" {
        finding.steps.push(Step {
            when: super::MISTAKE,
            text: "keep the disk: with policy Retain nothing deletes it when the claim goes. The deletion of the volume \
                   itself cannot be taken back through the API"
                .into(),
            command: Some(format!(
                "kubectl patch pv {} -p '{{\"spec\":{{\"persistentVolumeReclaimPolicy\":\"Retain\"}}}}'",
                volume.name()
            )),
            safety: Safety::Reversible,
        });
    }
    finding
        .steps
        .extend(super::claim::release(claim, users.as_deref().unwrap_or_default()));
    if claim.deletion().is_none() {
        let destroys = policy(volume) == "Delete";
        finding.steps.push(Step {
            when: super::INTENDED,
            text: if destroys {
                format!(
                    "DATA LOSS: delete the claim; the disk {} is destroyed with it",
                    disk(volume)
                )
            } else {
                format!(
                    "delete the claim; the disk {} stays (policy {})",
                    disk(volume),
                    policy(volume)
                )
            },
            command: Some(format!(
                "kubectl -n {} delete pvc {}",
                claim.namespace(),
                claim.name()
            )),
            safety: if destroys {
                Safety::Destructive
            } else {
                Safety::Reversible
            },
        });
    }
    finding.do_not.push(format!(
        "remove kubernetes.io/pv-protection by hand: claim {}/{} becomes Lost, and its pods cannot start again",
        claim.namespace(),
        claim.name()
    ));
    finding
}

pub(super) fn reclaim(volume: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    let driver = driver(volume);
    let entry = view.knowledge.lookup(
        &finalizer.name,
        finalizer.list,
        Some((&volume.reference()).into()),
    );
    let life = entry.map(|entry| holder::life(&entry, Some(&driver), view));
    let alive = life
        .as_ref()
        .map(|life| format!(", {}", life.in_words()))
        .unwrap_or_default();
    let (phase, policy) = (volume.text("/status/phase"), policy(volume));
    let says = format!("removed by the provisioner of {driver}{alive}, ");
    let mut finding = match (policy, phase) {
        ("Retain" | "Recycle", _) => {
            let verdict = super::nothing_blocks(volume, view);
            Finding::new(
                Some(finalizer.clone()),
                verdict,
                format!("{says}at once: the policy is {policy}, and the disk stays"),
            )
        }
        (_, "Released") => released(volume, finalizer, &says, view),
        (_, "Bound") => Finding::new(
            Some(finalizer.clone()),
            Verdict::Waiting,
            format!(
                "{says}after the disk has been deleted; it only acts once the volume is Released, and it is Bound"
            ),
        ),
        _ => deadlock(volume, finalizer, &says, phase),
    };
    finding
        .evidence
        .extend(life.iter().filter_map(holder::Life::evidence));
    finding.do_not.push(format!(
        "remove {} by hand: the disk {} stays at the provider with nothing that points to it",
        finalizer.name,
        disk(volume)
    ));
    finding
}

/// Released, policy Delete: the provisioner's turn. What keeps it is an attachment, or what its events say.
fn released(volume: &Object, finalizer: &Finalizer, says: &str, view: &View<'_>) -> Finding {
    let says = format!("{says}after the disk {} has been deleted", disk(volume));
    let attachments = view.list("storage.k8s.io", "volumeattachments", "");
    let events = view.events(volume);
    let failure = events.ok().and_then(|events| {
        events
            .iter()
            .rev()
            .find(|event| event.text("/reason") == "VolumeFailedDelete")
    });
    let mut finding = Finding::new(Some(finalizer.clone()), super::nothing_blocks(volume, view), says);
    match attachments {
        Ok(all) => {
            let name = Some(volume.name());
            let mine = all.iter().filter(|a| {
                a.value
                    .pointer("/spec/source/persistentVolumeName")
                    .and_then(Value::as_str)
                    == name
            });
            finding.wait.on = mine
                .map(|attachment| {
                    let node = attachment.text("/spec/nodeName");
                    let error = attachment.text("/status/detachError/message");
                    let says = if error.is_empty() {
                        format!("still attached to node {node}")
                    } else {
                        format!("cannot be detached from node {node}: {error}")
                    };
                    super::as_blocker(attachment, says, view)
                })
                .collect();
            if !finding.wait.on.is_empty() {
                finding.wait.verdict = Verdict::Waiting;
            }
        }
        Err(Missing::NotYet) => {}
        Err(missing) => {
            finding.wait.verdict = Verdict::Unknown;
            finding.say(format!(
                "; whether it is still attached is not known: {}",
                missing.in_words()
            ));
        }
    }
    if let Some(event) = failure {
        let message = event.text("/message");
        finding.wait.verdict = Verdict::Failing;
        let ago = event
            .time("/lastTimestamp")
            .map(|time| format!(" {} ago", Age::between(time, view.now())))
            .unwrap_or_default();
        finding.say(format!("; it fails{ago}: {message}"));
        finding.evidence.push(Evidence {
            source: format!("Event VolumeFailedDelete on PersistentVolume {}", volume.name()),
            value: message.to_owned(),
            strength: Strength::Strong,
        });
    }
    finding.outlook.push(Outlook {
        when: "when it succeeds".into(),
        then: fate(volume),
    });
    finding.steps.push(keep_disk(volume));
    finding
}

/// Policy Delete in a phase that the provisioner never reclaims: it waits for ever.
fn deadlock(volume: &Object, finalizer: &Finalizer, says: &str, phase: &str) -> Finding {
    let shown = if phase.is_empty() { "in no phase" } else { phase };
    let says = format!(
        "{says}after the disk has been deleted; but it never deletes one of a volume that is {shown}"
    );
    let mut finding = Finding::new(Some(finalizer.clone()), Verdict::Stalled, says);
    finding.evidence.push(Evidence {
        source: format!(
            "PersistentVolume {} status.phase, spec.persistentVolumeReclaimPolicy",
            volume.name()
        ),
        value: format!("{shown}, Delete"),
        strength: Strength::Proof,
    });
    finding.outlook.push(Outlook {
        when: "if nothing is done".into(),
        then: "it stays for ever".into(),
    });
    finding.steps.push(keep_disk(volume));
    finding
}

fn keep_disk(volume: &Object) -> Step {
    Step {
        when: "keep the disk?",
        text: format!(
            "set policy Retain: the provisioner then lets go, and the disk {} stays at the provider",
            disk(volume)
        ),
        command: Some(format!(
            "kubectl patch pv {} -p '{{\"spec\":{{\"persistentVolumeReclaimPolicy\":\"Retain\"}}}}'",
            volume.name()
        )),
        safety: Safety::Reversible,
    }
}

fn claim_of<'a>(volume: &Object, view: &View<'a>) -> Result<Option<&'a Object>, Missing> {
    let (namespace, name) = (
        volume.text("/spec/claimRef/namespace"),
        volume.text("/spec/claimRef/name"),
    );
    let claim = view.object("", "persistentvolumeclaims", namespace, name)?;
    let uid = volume.text("/spec/claimRef/uid");
    Ok(claim.filter(|claim| uid.is_empty() || claim.uid() == uid))
}

fn claim_name(volume: &Object) -> String {
    format!(
        "{}/{}",
        volume.text("/spec/claimRef/namespace"),
        volume.text("/spec/claimRef/name")
    )
}

fn policy(volume: &Object) -> &str {
    volume.text("/spec/persistentVolumeReclaimPolicy")
}

/// Which provisioner acts on it (`kubernetes-sigs/sig-storage-lib-external-provisioner:controller/controller.go`).
fn driver(volume: &Object) -> String {
    let migrated = volume.annotation("pv.kubernetes.io/migrated-to");
    let provisioned = volume.annotation("pv.kubernetes.io/provisioned-by");
    let first = [migrated, provisioned, volume.text("/spec/csi/driver")]
        .into_iter()
        .find(|name| !name.is_empty());
    first.unwrap_or("an unknown driver").to_owned()
}

fn disk(volume: &Object) -> String {
    match volume.text("/spec/csi/volumeHandle") {
        "" => format!("of {}", volume.name()),
        handle => handle.to_owned(),
    }
}

/// What becomes of the disk once nothing holds the volume any more.
pub(super) fn fate(volume: &Object) -> String {
    let disk = disk(volume);
    let reclaimed = volume.finalizers().iter().any(|finalizer| {
        matches!(
            finalizer.name.as_str(),
            "external-provisioner.volume.kubernetes.io/finalizer" | "kubernetes.io/pv-controller"
        )
    });
    match policy(volume) {
        "Delete" if volume.deletion().is_some() && !reclaimed => format!(
            "the volume object goes, and the disk {disk} IS LEAKED: the volume was deleted first, and no finalizer \
             makes the provisioner delete it"
        ),
        "Delete" => format!("the disk {disk} IS DESTROYED (reclaim policy Delete)"),
        policy => format!("the disk {disk} stays (reclaim policy {policy})"),
    }
}
