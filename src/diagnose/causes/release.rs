//! What a step lets go outside of the cluster: disks and snapshots, and what becomes of each. A step is as dangerous as
//! what follows from it, so this decides its label.

use crate::{
    diagnose::{
        kinds::{PersistentVolume, PersistentVolumeClaim, VolumeSnapshot, VolumeSnapshotContent},
        model::{Fate, Finding, Release, Safety, Step},
        reclaim_policy,
        view::{Missing, View},
    },
    object::Finalizer,
    snapshot::facts::Object,
};

const SNAPSHOTS: &str = "snapshot.storage.k8s.io";

/// The step with what it lets go. A loss makes the step destructive, and its text says so. What only reads lets nothing
/// go.
pub(crate) fn letting_go(mut step: Step, released: Vec<Release>) -> Step {
    if step.safety == Safety::ReadOnly {
        return step;
    }
    let worst = released.iter().map(|one| (rank(one.fate), one.fate)).max();
    let loss = match worst.map(|(_, fate)| fate) {
        Some(Fate::Destroyed) => "DATA LOSS",
        Some(Fate::Leaked) => "LEAKED INFRASTRUCTURE",
        Some(Fate::Unknown) => "DATA LOSS is possible",
        _ => "",
    };
    if !loss.is_empty() {
        if step.safety != Safety::Destructive {
            step.text = format!("{loss}: {}", step.text);
        }
        step.safety = Safety::Destructive;
    }
    for one in &released {
        step.text = format!("{}. {}", step.text.trim_end_matches('.'), one.in_words());
    }
    step.lets_go = released;
    step
}

fn rank(fate: Fate) -> u8 {
    match fate {
        Fate::Destroyed => 3,
        Fate::Unknown => 2,
        Fate::Leaked => 1,
        _ => 0,
    }
}

/// What the end of an object lets go, as far as the object itself says so. Nothing, while it is not being deleted.
pub(crate) fn by_end_of(object: &Object) -> Vec<Release> {
    if object.deletion().is_none() {
        return Vec::new();
    }
    if object.is("", "persistentvolumes") {
        // A volume that no claim ever held is not reclaimed.
        let is_reclaimed = matches!(PersistentVolume(object).phase(), "Released" | "Failed" | "Bound");
        return is_reclaimed.then(|| of_volume(object)).into_iter().collect();
    }
    if object.is(SNAPSHOTS, "volumesnapshotcontents") {
        return vec![of_content(object)];
    }
    Vec::new()
}

/// The snapshot that the end of its content lets go.
fn of_content(content: &Object) -> Release {
    let handle = VolumeSnapshotContent(content).handle();
    // Before the driver has answered, its snapshot may exist already.
    let (kind, name) = if handle.is_empty() {
        ("snapshot of", content.name())
    } else {
        ("snapshot", handle)
    };
    let (fate, why) = match VolumeSnapshotContent(content).deletion_policy() {
        "Retain" => (Fate::Kept, "deletion policy Retain"),
        "Delete" if handle.is_empty() => (Fate::Unknown, "its driver has named none yet"),
        "Delete" => (Fate::Destroyed, "deletion policy Delete"),
        _ => (Fate::Unknown, "it has no known deletion policy"),
    };
    let policy = VolumeSnapshotContent(content).deletion_policy();
    release(kind, name, policy, fate, why)
}

/// Everything that the end of an object lets go: its own disk or snapshot, or that of its volume or content.
pub(crate) fn by_whole_end_of(object: &Object, view: &View<'_>) -> Vec<Release> {
    let mut released = by_end_of(object);
    released.extend(by_end_of_bound(object, view));
    released
}

/// The disk of a claim's volume, or the snapshot of a VolumeSnapshot's content. Nothing, while the object is not being
/// deleted.
fn by_end_of_bound(object: &Object, view: &View<'_>) -> Option<Release> {
    let (name, group, plural, kind, of): (_, _, _, _, fn(&Object) -> Release) =
        if object.is("", "persistentvolumeclaims") {
            let name = PersistentVolumeClaim(object).volume();
            (name, "", "persistentvolumes", "disk of volume", of_volume)
        } else if object.is(SNAPSHOTS, "volumesnapshots") {
            let name = VolumeSnapshot(object).content();
            (
                name,
                SNAPSHOTS,
                "volumesnapshotcontents",
                "snapshot of",
                of_content,
            )
        } else {
            return None;
        };
    if object.deletion().is_none() || name.is_empty() {
        return None;
    }
    match view.object(group, plural, "", name) {
        Ok(bound) => bound.map(of),
        Err(Missing::NotYet) => None,
        Err(missing) => Some(release(kind, name, "", Fate::Unknown, &missing.in_words())),
    }
}

/// Adds to the steps what the end of the object lets go. Each step that can bring the end gets it: one that wakes
/// controllers, and one that removes a finalizer.
pub(crate) fn add_ends(object: &Object, findings: &mut [Finding], view: &View<'_>) {
    let of_bound: Vec<_> = by_end_of_bound(object, view).into_iter().collect();
    for finding in findings {
        for step in &mut finding.steps {
            let Some(command) = step.command.as_ref().filter(|_| step.lets_go.is_empty()) else {
                continue;
            };
            let released = match &finding.wait.finalizer {
                Some(finalizer) if command.is_remove() && of_bound.is_empty() => {
                    by_removal(object, finalizer)
                }
                _ if command.is_remove() || command.wakes() => of_bound.clone(),
                _ => Vec::new(),
            };
            if !released.is_empty() {
                *step = letting_go(step.clone(), released);
            }
        }
    }
}

/// The disk or snapshot that is let go if this finalizer is removed by hand. Nobody deletes it once the finalizer of its
/// controller is removed.
fn by_removal(object: &Object, finalizer: &Finalizer) -> Vec<Release> {
    let mut released = by_end_of(object);
    let names = object.finalizers();
    let deletes = |name: &str| {
        reclaim_policy::is_reclaim_finalizer(name) || object.is(SNAPSHOTS, "volumesnapshotcontents")
    };
    let is_last = names
        .iter()
        .filter(|each| deletes(&each.name))
        .all(|each| each == finalizer);
    if deletes(&finalizer.name) && is_last {
        for one in released.iter_mut().filter(|one| one.fate == Fate::Destroyed) {
            one.fate = Fate::Leaked;
            one.why = format!("without {} it goes before its driver is asked", finalizer.name);
        }
    }
    released
}

/// What the end of a volume that was held by a claim lets go.
pub(crate) fn of_volume(volume: &Object) -> Release {
    let policy = reclaim_policy::policy(volume);
    let (fate, why) = match (policy, reclaim_policy::disk_fate(volume)) {
        ("Delete", Fate::Leaked) => (
            Fate::Leaked,
            "the volume was deleted first, and no finalizer makes the provisioner delete the disk".to_owned(),
        ),
        ("Delete", Fate::Kept) => (Fate::Kept, "nothing deletes disks of its type".to_owned()),
        ("Delete" | "Recycle" | "Retain", fate) => (fate, format!("reclaim policy {policy}")),
        _ => (Fate::Unknown, "its volume has no known reclaim policy".to_owned()),
    };
    release("disk", &reclaim_policy::disk(volume), policy, fate, &why)
}

fn release(kind: &str, name: &str, policy: &str, fate: Fate, why: &str) -> Release {
    Release {
        what: format!("{kind} {name}"),
        policy: Some(policy.to_owned()).filter(|policy| !policy.is_empty()),
        fate,
        why: why.to_owned(),
    }
}

impl Release {
    fn in_words(&self) -> String {
        let Release { what, why, .. } = self;
        match self.fate {
            Fate::Destroyed => format!("The {what} is DESTROYED ({why})."),
            // Why is told once, where the explanation says what becomes of the data.
            Fate::Leaked => format!("The {what} LEAKS: it stays at the provider."),
            Fate::Kept => format!("The {what} stays ({why})."),
            _ => format!("Whether the {what} is DESTROYED is not known: {why}."),
        }
    }
}
