//! Claims and snapshots that something is being made from: a snapshot, a clone, a restored claim.
//!
//! **Recognises** `snapshot.storage.kubernetes.io/pvc-as-source-protection` and
//! `provisioner.storage.kubernetes.io/cloning-protection` on claims, and
//! `provisioner.storage.kubernetes.io/volumesnapshot-as-source-protection` on snapshots. **Why:** the
//! snapshot-controller keeps the first while a snapshot of the claim is not `readyToUse`, and looks only when one of
//! the claim's *snapshots* changes (`kubernetes-csi/external-snapshotter:pkg/common-controller/snapshot_controller.go`
//! isPVCBeingUsed); the provisioner keeps the others while a claim with that `dataSource` is Pending
//! (`kubernetes-csi/external-provisioner:pkg/controller/clone_controller.go`). **Wants** the snapshots or claims of
//! the namespace. **Concludes** `waiting` with their names; `stalled` when there is none: an interrupted snapshot,
//! clone or restore. **Advises** to let it finish or to give it up; then to take this one finalizer off, which loses
//! nothing, and no other.

use serde_json::Value;

use crate::{
    diagnose::{
        causes::{
            advice,
            advice::{let_go, place_of},
            cause::Cause,
            storage::csi_holder::Holder,
            verdicts,
            verdicts::unknown,
        },
        model::{Blocker, Finding, Outlook, Safety, Step, Verdict},
        view::{Missing, View},
    },
    object::Finalizer,
    snapshot::{driver::names, facts::Object},
};

pub(crate) const OF_SNAPSHOT: Cause = Cause {
    group: "",
    plural: "persistentvolumeclaims",
    finalizer: "snapshot.storage.kubernetes.io/pvc-as-source-protection",
    explain: of_snapshot,
};

pub(crate) const OF_CLONE: Cause = Cause {
    group: "",
    plural: "persistentvolumeclaims",
    finalizer: "provisioner.storage.kubernetes.io/cloning-protection",
    explain: of_clone,
};

pub(crate) const OF_RESTORE: Cause = Cause {
    group: "snapshot.storage.k8s.io",
    plural: "volumesnapshots",
    finalizer: "provisioner.storage.kubernetes.io/volumesnapshot-as-source-protection",
    explain: of_restore,
};

const SNAPSHOTS: &str = "snapshot.storage.k8s.io";

/// A claim that a snapshot is being taken of.
fn of_snapshot(claim: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    let holder = Holder::of(claim, finalizer, None, view);
    let says = format!(
        "removed by the snapshot-controller{}, once no snapshot is being taken of the claim",
        holder.alive()
    );
    let snapshots = match view.list(SNAPSHOTS, "volumesnapshots", claim.namespace()) {
        Ok(snapshots) => snapshots,
        Err(missing) => return unknown(finalizer, &says, "whether one is", &missing),
    };
    let of_it: Vec<_> = snapshots
        .iter()
        .filter(|s| s.text("/spec/source/persistentVolumeClaimName") == claim.name())
        .collect();
    let busy = of_it.iter().filter(|s| !is_ready(s)).map(|snapshot| {
        let error = snapshot.text("/status/error/message");
        let says = if error.is_empty() {
            "is being taken, and not ready to use".to_owned()
        } else {
            format!("cannot be taken: {error}")
        };
        view.blocker(snapshot, says)
    });
    let busy: Vec<_> = busy.collect();
    let idle = busy.is_empty();
    let mut finding = made_from(claim, finalizer, says, busy, "snapshot", view);
    holder.testify(&mut finding);
    if finding.wait.verdict == Verdict::Stalled {
        finding.steps.insert(
            0,
            match of_it.first() {
                Some(snapshot) => Step {
                    text: "touch a snapshot of the claim: the snapshot-controller looks at the claim only when one of its \
                           snapshots changes; the annotation does no harm"
                        .into(),
                    ..advice::nudge(snapshot)
                },
                None => Step {
                    when: "what to do",
                    text: "no snapshot of the claim is left, and only a change of one makes the controller look: without \
                           help this finalizer stays for ever"
                        .into(),
                    command: None,
                    safety: Safety::Safe,
                },
            },
        );
    }
    if idle {
        holder.or_late(&mut finding, claim);
    }
    finding
}

/// A claim that is being cloned.
fn of_clone(claim: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    let (holder, whose) = match names(&claim.value).next() {
        Some(driver) => (Holder::sidecar(claim, finalizer, driver, view), driver.to_owned()),
        None => (Holder::of(claim, finalizer, None, view), "its driver".to_owned()),
    };
    let says = format!(
        "removed by the provisioner of {whose}{}, once no claim that is cloned from this one is Pending",
        holder.alive()
    );
    let busy = match pending(claim.namespace(), "PersistentVolumeClaim", claim.name(), view) {
        Ok(busy) => busy,
        Err(missing) => return unknown(finalizer, &says, "whether one is", &missing),
    };
    let idle = busy.is_empty();
    let mut finding = made_from(claim, finalizer, says, busy, "clone", view);
    holder.testify(&mut finding);
    if idle {
        holder.or_late(&mut finding, claim);
    }
    finding
}

/// A snapshot that a claim is being restored from.
fn of_restore(snapshot: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    let (holder, whose) = match driver_of(snapshot, view) {
        Ok(Some(driver)) => (
            Holder::sidecar(snapshot, finalizer, driver, view),
            driver.to_owned(),
        ),
        Ok(None) => (
            Holder::of(snapshot, finalizer, None, view),
            "its driver".to_owned(),
        ),
        Err(missing) => (
            Holder::of(snapshot, finalizer, None, view),
            format!("its driver (which one is not known: {})", missing.in_words()),
        ),
    };
    let says = format!(
        "removed by the csi-provisioner of {whose}{}, once no claim that is restored from this snapshot is Pending",
        holder.alive()
    );
    let busy = match pending(snapshot.namespace(), "VolumeSnapshot", snapshot.name(), view) {
        Ok(busy) => busy,
        Err(missing) => return unknown(finalizer, &says, "whether one is", &missing),
    };
    let idle = busy.is_empty();
    let mut finding = made_from(snapshot, finalizer, says, busy, "restore", view);
    holder.testify(&mut finding);
    if idle {
        // Nobody watches for this one: it is swept up, or it stays.
        finding.steps.retain(|step| !advice::is_nudge(step));
        finding.outlook.push(Outlook {
            when: "if nothing is done".into(),
            then:
                "a csi-provisioner of v6.3 or later takes it off within five minutes; one of v6.2 never does"
                    .into(),
        });
        holder.or_late(&mut finding, snapshot);
    }
    finding
}

/// The driver that took the snapshot, which its content names, or its class where the content is gone already.
fn driver_of<'a>(snapshot: &Object, view: &View<'a>) -> Result<Option<&'a str>, Missing> {
    let look = |plural: &str, field: &str| match snapshot.text(field) {
        "" => Ok(None),
        name => view.object(SNAPSHOTS, plural, "", name),
    };
    let driver = match look("volumesnapshotcontents", "/status/boundVolumeSnapshotContentName")? {
        Some(content) => content.text("/spec/driver"),
        None => look("volumesnapshotclasses", "/spec/volumeSnapshotClassName")?
            .map_or("", |class| class.text("/driver")),
    };
    Ok(Some(driver).filter(|driver| !driver.is_empty()))
}

fn made_from(
    object: &Object,
    finalizer: &Finalizer,
    says: String,
    busy: Vec<Blocker>,
    what: &str,
    view: &View<'_>,
) -> Finding {
    let mut finding = Finding::new(
        Some(finalizer.clone()),
        verdicts::nothing_blocks(object, view),
        says,
    );
    if busy.is_empty() {
        finding.say("; there is none");
        if finding.wait.verdict == Verdict::Stalled {
            finding.steps.push(advice::nudge(object));
            finding.steps.push(Step {
                safety: Safety::Safe,
                ..let_go(
                    object,
                    finalizer,
                    "what to do",
                    &format!(
                        "if it stays: take off this one finalizer, which an interrupted {what} left behind; it guards \
                         nothing any more. Leave the others alone"
                    ),
                )
            });
        }
        return finding;
    }
    finding.wait.verdict = Verdict::Waiting;
    finding.outlook.push(Outlook {
        when: format!("when the {what} is done"),
        then: "this finalizer goes by itself".into(),
    });
    for blocker in busy.iter().take(3) {
        let Some(other) = &blocker.object else { continue };
        let (kind, name) = (&other.kind, &other.name);
        let (text, safety) = if what == "snapshot" {
            (
                format!(
                    "DATA LOSS: let the snapshot finish; only if it cannot, delete {kind} {name}, with what was taken so \
                     far"
                ),
                Safety::Destructive,
            )
        } else {
            (
                format!(
                    "let the {what} finish; if it cannot, delete {kind} {name}, which is still Pending and has no volume: \
                     it can be made again"
                ),
                Safety::Reversible,
            )
        };
        finding.steps.push(Step {
            when: "give it up?",
            text,
            command: Some(format!(
                "kubectl{} delete {}/{name}",
                place_of(object),
                other.type_name
            )),
            safety,
        });
    }
    finding.wait.on = busy;
    finding.do_not.push(format!(
        "remove {} by hand while the {what} runs: it fails, or what it makes is incomplete",
        finalizer.name
    ));
    finding
}

/// Claims of a namespace that are being made from something.
pub(crate) fn pending(
    namespace: &str,
    kind: &str,
    name: &str,
    view: &View<'_>,
) -> Result<Vec<Blocker>, Missing> {
    let claims = view.list("", "persistentvolumeclaims", namespace)?;
    Ok(claims
        .iter()
        .filter(|claim| {
            claim.text("/spec/dataSource/kind") == kind
                && claim.text("/spec/dataSource/name") == name
                && matches!(claim.text("/status/phase"), "Pending" | "")
        })
        .map(|claim| {
            let class = claim.text("/spec/storageClassName");
            view.blocker(claim, format!("Pending, is made from it (storage class {class})"))
        })
        .collect())
}

fn is_ready(snapshot: &Object) -> bool {
    let status = snapshot.value.pointer("/status");
    status.and_then(|status| status.get("readyToUse")) == Some(&Value::Bool(true))
}
