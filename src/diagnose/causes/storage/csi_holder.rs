//! Who holds a finalizer, as rules tell it: how alive it looks, and whether a CSI driver is gone.
//!
//! **Recognises** nothing by itself. **Why:** a driver shows itself by three things that are independent of each
//! other: the `CSIDriver` object that its manifests bring, the `CSINode` entries that kubelets write for a running
//! node plugin (`kubernetes/kubernetes:pkg/volume/csi/nodeinfomanager`), and the Lease of its sidecar, which is a sign
//! of its end when nobody has renewed it for ten minutes. **Wants** these three. **Concludes** `orphaned` only if two
//! of them say that it is gone and none that it is there.

use crate::{
    diagnose::{
        causes::{advice, advice::let_go},
        holder,
        holder::Life,
        model::{Blocker, Evidence, Finding, Outlook, Safety, Step, Strength, Verdict},
        view::View,
    },
    object::{Finalizer, ObjectRef},
    snapshot::facts::Object,
};

/// Who holds a finalizer, and how alive it looks.
pub(crate) struct Holder {
    driver: String,
    life: Option<Life>,
    /// Sign after sign that the driver is not there.
    absent: Vec<Evidence>,
    /// Whether one sign says that it is.
    installed: bool,
    /// Signs that could not be looked at.
    unseen: Vec<String>,
}

impl Holder {
    /// The sidecar of `driver` that removes `finalizer`.
    pub(crate) fn sidecar(object: &Object, finalizer: &Finalizer, driver: &str, view: &View<'_>) -> Self {
        let mut holder = Holder::of(object, finalizer, Some(driver), view);
        driver.clone_into(&mut holder.driver);
        match view.object("storage.k8s.io", "csidrivers", "", driver) {
            Ok(None) => holder.absent.push(Evidence {
                source: format!("CSIDriver {driver}"),
                value: "does not exist".into(),
                strength: Strength::Moderate,
            }),
            Ok(Some(_)) => holder.installed = true,
            Err(missing) => holder.unseen.push(missing.in_words()),
        }
        match view.list("storage.k8s.io", "csinodes", "") {
            Ok(nodes) if nodes.iter().any(|node| holder::registers(node, driver)) => holder.installed = true,
            Ok(nodes) if !nodes.is_empty() => {
                holder.absent.push(Evidence {
                    source: "CSINodes spec.drivers".into(),
                    value: format!("none of {} names {driver}", nodes.len()),
                    strength: Strength::Moderate,
                });
            }
            Ok(_) => {}
            Err(missing) => holder.unseen.push(missing.in_words()),
        }
        if let Some(life) = holder.life.as_ref().filter(|life| life.is_long_dead()) {
            holder.absent.extend(life.evidence());
        }
        holder
    }

    /// One that belongs to no driver.
    pub(crate) fn of(object: &Object, finalizer: &Finalizer, driver: Option<&str>, view: &View<'_>) -> Self {
        let entry = view.knowledge.lookup(
            &finalizer.name,
            finalizer.list,
            Some((&object.reference()).into()),
        );
        Holder {
            driver: String::new(),
            life: entry.map(|entry| holder::life(&entry, driver, view)),
            absent: Vec::new(),
            installed: false,
            unseen: Vec::new(),
        }
    }

    /// `, Lease renewed 2s ago`, as part of a sentence.
    pub(crate) fn alive(&self) -> String {
        self.life
            .as_ref()
            .map(|life| format!(", {}", life.in_words()))
            .unwrap_or_default()
    }

    /// Whether two independent signs say that the driver is gone, and none says that it is there.
    pub(crate) fn is_gone(&self) -> bool {
        !self.driver.is_empty()
            && !self.installed
            && self.unseen.is_empty()
            && matches!(self.life, Some(Life::Stale { .. } | Life::NoLease))
            && self.absent.len() > 1
    }

    /// Adds what was seen of it.
    pub(crate) fn testify(&self, finding: &mut Finding) {
        finding
            .evidence
            .extend(self.life.iter().filter_map(Life::evidence));
        for evidence in &self.absent {
            if !finding.evidence.contains(evidence) {
                finding.evidence.push(evidence.clone());
            }
        }
    }

    /// The same, unless it was heard of lately: then it is there, whatever the other signs say.
    pub(crate) fn or_gone_unless(&self, lately: bool, finding: &mut Finding, object: &Object, keeps: &str) {
        if !lately {
            self.or_gone(finding, object, keeps);
        }
    }

    /// A Lease that is not renewed is no proof that its holder is gone: it may be paused, or cut off. But it does not
    /// act, and touching the object makes nobody look.
    pub(crate) fn or_late(&self, finding: &mut Finding, object: &Object) {
        let Some(Life::Stale { lease, ago }) = &self.life else {
            return;
        };
        if object.deletion().is_none() {
            return;
        }
        let (namespace, name) = lease.split_once('/').unwrap_or(("", lease));
        let who = match self.driver.as_str() {
            "" => "its holder".to_owned(),
            driver => format!("the sidecar of driver {driver}"),
        };
        finding.wait.on.push(Blocker::new(
            Some(ObjectRef {
                type_name: "leases.coordination.k8s.io".into(),
                kind: "Lease".into(),
                api_version: "coordination.k8s.io/v1".into(),
                namespace: Some(namespace.to_owned()),
                name: name.to_owned(),
                uid: String::new(),
            }),
            format!("last renewed {ago} ago: {who} does not run, hangs, or cannot reach the API server"),
        ));
        finding.steps.retain(|step| !advice::is_nudge(step));
        finding.steps.insert(
            0,
            Step {
                when: "what to do",
                text: format!(
                    "see whether {who} runs, and bring it back: it then finishes by itself. Its Lease says who held it last"
                ),
                command: Some(format!(
                    "kubectl -n {namespace} get lease {name} -o jsonpath='{{.spec.holderIdentity}}{{\"\\n\"}}'; kubectl -n \
                     {namespace} get pods -o wide"
                )),
                safety: Safety::Safe,
            },
        );
    }

    /// Nothing is in the way but that the holder has not acted: because it is gone, or for another reason.
    /// `keeps` is what stays behind if the finalizer is removed in its place.
    pub(crate) fn or_gone(&self, finding: &mut Finding, object: &Object, keeps: &str) {
        // What could not be seen may be what is in the way, or its last sign of life.
        if finding.wait.verdict == Verdict::Unknown || object.deletion().is_none() {
            return;
        }
        if !self.is_gone() {
            // It may as well be gone.
            if self.unseen.is_empty() {
                self.or_late(finding, object);
            }
            return;
        }
        let finalizer = finding.wait.finalizer.clone();
        finding.wait.verdict = Verdict::Orphaned;
        finding.say(format!("; driver {} is not installed any more", self.driver));
        finding.outlook.push(Outlook {
            when: "if nothing is done".into(),
            then: format!(
                "it stays like this until driver {} is installed again",
                self.driver
            ),
        });
        finding.steps.push(Step {
            when: GONE,
            text: format!(
                "install driver {} again, with the credentials it had: it then finishes by itself",
                self.driver
            ),
            command: None,
            safety: Safety::Safe,
        });
        if let Some(finalizer) = finalizer {
            finding.steps.push(let_go(object, &finalizer, GONE, keeps));
        }
    }
}

/// When the driver is gone.
const GONE: &str = "the driver is gone";
