//! `kubernetes.io/vac-protection`: a volume attributes class that claims or volumes name.
//!
//! # Symptom
//!
//! A VolumeAttributesClass (1.34 and later without a feature gate) stays in deletion, with the finalizer
//! `kubernetes.io/vac-protection`.
//!
//! ```text
//! $ kubectl finalizers explain volumeattributesclasses/gold --from tests/causes/storage.yaml
//! ```
//!
//! # Why
//!
//! The controller keeps it while a volume or a claim uses the class. A volume uses the class of its `spec`. A claim
//! also uses its current class and the target of a change.
//!
//! # Before you act
//!
//! This is no fault. List the claims that name the class. Their data does not depend on it.
//!
//! # If it was a mistake
//!
//! The deletion cannot be withdrawn. Save the class. Make it again with the same name after it is gone.
//!
//! # If it was intended
//!
//! Give the claims another class: `kubectl patch pvc NAME -p '{"spec":{"volumeAttributesClassName":"OTHER"}}'`. The
//! driver then changes the volumes, and their data stays.
//!
//! # Do not
//!
//! Do not remove the finalizer by hand. Claims that name a missing class can be neither provisioned nor changed.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | in-use | a claim or volume names the class |
//! | stalled | nothing names it, and the controller has not acted |
//! | unknown | claims or volumes could not be listed |
//!
//! # What it reads
//!
//! All claims and all volumes.
//!
//! # Sources
//!
//! - `kubernetes/kubernetes:pkg/controller/volume/vacprotection/vac_protection_controller.go` getPVCReferencedVACNames,
//!   getPVReferencedVACNames

use crate::{
    command::Command,
    diagnose::{
        causes::{
            advice,
            cause::{Cause, On, Reads, Tells},
            controller::Controller,
            in_use,
            in_use::{Standing, Users},
            storage::pv_protection,
        },
        kinds::{PersistentVolume, PersistentVolumeClaim},
        limits,
        model::{Blocker, Evidence, Finding, Moment, Outlook, Page, Safety, Step, Strength, Verdict, When},
        view::View,
    },
    object::Finalizer,
    snapshot::facts::Object,
};

pub(crate) const CAUSE: Cause = Cause {
    page: Page::of(module_path!()),
    types: &[("storage.k8s.io", "volumeattributesclasses")],
    finalizer: On::Named("kubernetes.io/vac-protection"),
    reads: Reads::Whole,
    tells: Tells::Finalizer(class_in_use),
};

/// Answers for the finalizer on a class.
fn class_in_use(class: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    let controller = Controller::of(class, finalizer, None, view);
    let says = controller
        .removes("kube-controller-manager")
        .part("volumeattributesclass-protection")
        .once("no claim and no volume names the class");
    let claims = view.list("", "persistentvolumeclaims", "");
    let volumes = view.list("", "persistentvolumes", "");
    let users = |all: &'_ [Object], names: fn(&Object) -> [&str; 3]| -> Vec<Object> {
        all.iter()
            .filter(|object| names(object).contains(&class.name()))
            .cloned()
            .collect()
    };
    let used_by_claims = users(claims.as_deref().unwrap_or_default(), classes_of_claim);
    let used_by_volumes = users(volumes.as_deref().unwrap_or_default(), classes_of_volume);
    let using = blockers(&used_by_claims, &used_by_volumes, view);
    let users = match claims.as_ref().err().or(volumes.as_ref().err()) {
        Some(missing) if using.is_empty() => Users::not_seen("whether one does", missing),
        _ => Users::of(using, Verdict::InUse, "none does"),
    };
    let (mut finding, standing) = in_use::finding(class, finalizer, &controller, says, users, view);
    if standing == Standing::NotSeen {
        return finding;
    }
    finding.evidence.push(Evidence {
        source: "PersistentVolumeClaims and PersistentVolumes, volumeAttributesClassName".into(),
        value: format!(
            "{} claims and {} volumes name {}",
            used_by_claims.len(),
            used_by_volumes.len(),
            class.name()
        ),
        strength: Strength::Proof,
    });
    if standing != Standing::Used {
        if standing == Standing::Late {
            finding.steps.push(advice::nudge(class));
        }
        return finding;
    }
    finding.outlook.push(Outlook {
        when: if class.deletion().is_some() {
            Moment::NothingDone
        } else {
            Moment::DeletedNow
        },
        then: "it stays, Terminating, until nothing names it; volumes keep their data and their settings"
            .into(),
    });
    if class.deletion().is_some() {
        finding.steps.extend(
            used_by_claims
                .iter()
                .take(limits::BLOCKERS)
                .map(change_class_step),
        );
    }
    finding.do_not.push(format!(
        "remove {} by hand: claims that name the class can then be neither provisioned nor changed",
        finalizer.name
    ));
    finding
}

/// The wanted class, the current class and the target class of a claim.
fn classes_of_claim(claim: &Object) -> [&str; 3] {
    PersistentVolumeClaim(claim).attributes_classes()
}

/// The class of a volume.
fn classes_of_volume(volume: &Object) -> [&str; 3] {
    [PersistentVolume(volume).attributes_class(), "", ""]
}

fn blockers(claims: &[Object], volumes: &[Object], view: &View<'_>) -> Vec<Blocker> {
    let of_claims = claims.iter().map(|claim| {
        let [wanted, current, target] = classes_of_claim(claim);
        view.blocker(
            claim,
            format!(
                "names the class: wanted {}, current {}{}",
                name_or_none(wanted),
                name_or_none(current),
                if target.is_empty() {
                    String::new()
                } else {
                    format!(", changing to {target}")
                }
            ),
        )
    });
    // The claims stand first, because each volume follows its claim.
    let of_volumes = volumes.iter().map(|volume| {
        let claim = pv_protection::claim_name(volume);
        let bound = if claim == "/" {
            "no claim".to_owned()
        } else {
            format!("claim {claim}")
        };
        view.blocker(volume, format!("has the class in its spec; {bound}"))
    });
    let all = claims.len() + volumes.len();
    let mut shown: Vec<_> = of_claims.chain(of_volumes).take(limits::BLOCKERS).collect();
    if all > limits::BLOCKERS {
        shown.push(Blocker::new(
            None,
            format!("{} more claims and volumes", all - limits::BLOCKERS),
        ));
    }
    shown
}

fn name_or_none(class: &str) -> &str {
    if class.is_empty() { "none" } else { class }
}

fn change_class_step(claim: &Object) -> Step {
    Step {
        when: When::Intended,
        text: format!(
            "give {} another class, in place of OTHER-CLASS; the driver's csi-resizer then changes its volume",
            claim.reference().pasteable()
        ),
        command: Some(Command::of(
            "kubectl -n {} patch pvc {} -p {}",
            [
                claim.namespace(),
                claim.name(),
                r#"{"spec":{"volumeAttributesClassName":"OTHER-CLASS"}}"#,
            ],
        )),
        safety: Safety::Reversible,
        lets_go: Vec::new(),
    }
}
