//! Disks that go with a deletion, and the step that keeps them.
//!
//! **Recognises** a volume in deletion, a claim in deletion, and a namespace in deletion that still has claims. **Why:**
//! the volume of a claim is released with it. With policy Delete its provisioner then deletes the disk
//! (`kubernetes/kubernetes:pkg/controller/volume/persistentvolume/pv_controller.go` reclaimVolume). With policy Retain
//! nobody does, whatever finalizers the objects have
//! (`kubernetes-sigs/sig-storage-lib-external-provisioner:controller/controller.go` shouldDelete). **Wants** the volumes
//! of the claims, and the claim of a volume. **Concludes** nothing about a finalizer. **Advises** to set the volumes to
//! Retain, as the first step that changes something, and to take back the deletion of a volume whose claim stays.

use crate::{
    command::Command,
    diagnose::{
        causes::{
            advice,
            storage::{
                pv_protection,
                reclaim_policy::{disk, policy, volumes_of},
            },
        },
        limits,
        model::{Finding, Outlook, Safety, Step},
        view::{Missing, View},
    },
    snapshot::facts::Object,
};

/// Adds the step in front of all others.
pub(crate) fn add_keep_disk_step(object: &Object, findings: &mut [Finding], view: &View<'_>) {
    let Some(finding) = findings.first_mut().filter(|_| object.deletion().is_some()) else {
        return;
    };
    if object.is("", "persistentvolumes") {
        finding.steps.splice(0..0, volume_steps(object, view));
    } else if object.is("", "persistentvolumeclaims") {
        finding.steps.splice(0..0, claim_step(object, view));
    } else if object.is("", "namespaces") {
        add_namespace_step(object.name(), finding, view);
    }
}

fn volume_steps(volume: &Object, view: &View<'_>) -> Vec<Step> {
    if !is_at_stake(volume) {
        return Vec::new();
    }
    if volume.text("/status/phase") != "Bound" {
        let text = format!(
            "Keep the disk {}, if it still exists: set the volume to Retain. The volume object then goes.",
            disk(volume)
        );
        return vec![advice::keep_disks(advice::MISTAKE, text, &[volume])];
    }
    let claim = pv_protection::claim_of(volume, view);
    let claim_stays = claim.is_ok_and(|claim| claim.is_some_and(|claim| claim.deletion().is_none()));
    let text = if claim_stays {
        "Keep the disk: set Retain. Without --only-retain, it takes the deletion back."
    } else {
        "Keep the disk: set the volume to Retain. The volume still goes when its claim goes."
    };
    let mut steps = vec![advice::keep_disks(advice::MISTAKE, text.into(), &[volume])];
    if claim_stays {
        steps.push(Step {
            when: advice::MISTAKE,
            text: "Take the deletion back: the volume is made again. Its disk, claim and pods stay.".into(),
            command: Some(Command::of("kubectl finalizers rescue pv/{}", [volume.name()])),
            safety: Safety::Reversible,
            lets_go: Vec::new(),
        });
    }
    steps
}

fn claim_step(claim: &Object, view: &View<'_>) -> Option<Step> {
    let volumes = volumes_of([claim], view).ok()?;
    volumes.into_iter().any(is_at_stake).then(|| {
        advice::keep_disks(
            advice::MISTAKE,
            "Keep the disk: set its volume to Retain. The claim still goes when no pod uses it.".into(),
            &[claim],
        )
    })
}

/// The claims of a namespace go with it, and may be gone when somebody reads this. So the step names their volumes.
fn add_namespace_step(namespace: &str, finding: &mut Finding, view: &View<'_>) {
    let then = match volumes_at_stake(namespace, view) {
        Ok(volumes) if volumes.is_empty() => return,
        Ok(volumes) => {
            let text = "Keep the disks of its claims: set their volumes to Retain. The claims still go.";
            let step = advice::keep_disks(advice::MISTAKE, text.into(), &volumes);
            finding.steps.insert(0, step);
            fate(&volumes)
        }
        Err(missing) => format!("what becomes of their disks is not known: {}", missing.in_words()),
    };
    finding.outlook.push(Outlook {
        when: "when its claims go".into(),
        then,
    });
}

fn volumes_at_stake<'a>(namespace: &str, view: &View<'a>) -> Result<Vec<&'a Object>, Missing> {
    let claims = "persistentvolumeclaims";
    // What could not be listed is told with the rest of the content.
    let Ok(Some(content)) = view.content(namespace) else {
        return Ok(Vec::new());
    };
    if !content.counts.contains_key(claims) {
        return Ok(Vec::new());
    }
    let mut volumes = volumes_of(view.list("", claims, namespace)?, view)?;
    volumes.retain(|volume| is_at_stake(volume));
    Ok(volumes)
}

fn fate(volumes: &[&Object]) -> String {
    let named = volumes.iter().take(limits::BLOCKERS);
    let named: Vec<_> = named.map(|volume| format!("pv/{}", volume.name())).collect();
    let more = match volumes.len().saturating_sub(named.len()) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let count = match volumes.len() {
        1 => "1 disk IS DESTROYED".to_owned(),
        count => format!("{count} disks ARE DESTROYED"),
    };
    format!("{count} (reclaim policy Delete): {}{more}", named.join(", "))
}

/// Whether somebody may delete the disk once the volume is released.
fn is_at_stake(volume: &Object) -> bool {
    policy(volume) == "Delete"
}
