//! The controller that removes a built-in or CSI finalizer, and how alive it looks.

use crate::{
    command::Command,
    diagnose::{
        causes::{advice, release},
        holder,
        holder::{DriverInstallation, Holder, Life, Sign, Tells},
        model::{
            Blocker, CauseState, Finding, Liveness, Moment, Outlook, Safety, Said, Step, StepKind, Verdict,
            When,
        },
        view::View,
    },
    object::{Finalizer, ObjectRef},
    snapshot::facts::Object,
};

/// The controller that removes a finalizer, and what its Lease shows.
pub(crate) struct Controller {
    /// None if the catalogue does not have the finalizer.
    life: Option<Life>,
    /// The driver, if the controller is a sidecar of a CSI driver.
    driver: Option<DriverInstallation>,
    /// The result of the search for the sidecar. None if the cluster knows the driver.
    found: Option<Holder>,
    /// Whether names are hidden, which would tell whose sidecar a workload runs.
    are_names_hidden: bool,
}

impl Controller {
    /// The sidecar of `driver` that removes `finalizer`.
    pub(crate) fn sidecar(object: &Object, finalizer: &Finalizer, driver: &str, view: &View<'_>) -> Self {
        let controller = Controller::of(object, finalizer, Some(driver), view);
        let read = DriverInstallation::read(driver, view);
        // An unregistered driver can still have a sidecar that runs, so the sidecar is searched for.
        let found = read
            .is_unknown_to_the_cluster(controller.life.as_ref())
            .then(|| holder::sidecar_of(driver, object, finalizer, view));
        Controller {
            driver: Some(read),
            found: found.flatten(),
            ..controller
        }
    }

    /// The controller of a finalizer that no CSI driver removes. `driver` is part of the Lease names of other
    /// provisioners.
    pub(crate) fn of(object: &Object, finalizer: &Finalizer, driver: Option<&str>, view: &View<'_>) -> Self {
        let entry = view.entry(object, finalizer);
        Controller {
            life: entry.map(|entry| holder::life(&entry, driver, view)),
            driver: None,
            found: None,
            are_names_hidden: view.is_redacted(),
        }
    }

    /// The wait for this controller, with what its Lease shows. `name` says who it is.
    pub(crate) fn removes(&self, name: impl Into<String>) -> Said {
        let state = match &self.life {
            Some(Life::Renewing { .. }) => Liveness::Running,
            _ => Liveness::Unknown,
        };
        Said::removed_by(name, state, self.life.iter().map(Life::in_words).collect())
    }

    /// Whether the controller is a sidecar of a driver that is gone.
    pub(crate) fn is_gone(&self) -> bool {
        matches!(self.life, Some(Life::Stale { .. } | Life::NoLease))
            && self
                .found
                .as_ref()
                .is_some_and(|found| found.liveness() == Liveness::Gone)
    }

    /// Whether something shows that the controller runs, or that its driver is installed while it has no Lease.
    pub(crate) fn looks_alive(&self) -> bool {
        match &self.life {
            Some(Life::Renewing { .. }) => true,
            Some(Life::NoLease) => self.driver.as_ref().is_some_and(|driver| driver.is_installed),
            _ => false,
        }
    }

    /// The Pod that leads, as its Lease names it. A leader on the network of its node has the node's name instead.
    pub(crate) fn leader<'a>(&self, view: &View<'a>) -> Option<&'a Object> {
        let Some(Life::Renewing { lease, leader, .. }) = &self.life else {
            return None;
        };
        let (namespace, _) = lease.split_once('/')?;
        let is_named = !leader.is_empty() && !view.is_redacted();
        is_named.then(|| view.object("", "pods", namespace, leader).ok().flatten())?
    }

    /// Adds the evidence about the controller and its driver.
    pub(crate) fn add_evidence(&self, finding: &mut Finding) {
        finding
            .evidence
            .extend(self.life.iter().filter_map(Life::evidence));
        if let Some(Life::Renewing { lease, .. }) = &self.life {
            finding.wait.may_be.insert(format!("Lease {lease}"));
        }
        finding
            .wait
            .may_be
            .extend(self.found.iter().flat_map(Holder::candidates));
        for evidence in self.driver.iter().flat_map(DriverInstallation::evidence) {
            if !finding.evidence.contains(&evidence) {
                finding.evidence.push(evidence);
            }
        }
    }

    /// Adds a stale Lease as a blocker, and the step to bring the controller back.
    ///
    /// A stale Lease does not prove that the controller is gone: it may be paused or disconnected. But it does not act,
    /// so an annotation on the object has no effect, and the step that sets one is removed.
    pub(crate) fn add_if_late(&self, finding: &mut Finding, object: &Object) {
        let Some(Life::Stale { lease, ago }) = &self.life else {
            return;
        };
        if object.deletion().is_none() {
            return;
        }
        let (namespace, name) = lease.split_once('/').unwrap_or(("", lease));
        let who = match self.driver_name() {
            "" => "its holder".to_owned(),
            driver => format!("the sidecar of driver {driver}"),
        };
        let blocker = Blocker::new(
            Some(ObjectRef {
                type_name: "leases.coordination.k8s.io".into(),
                kind: "Lease".into(),
                api_version: "coordination.k8s.io/v1".into(),
                namespace: Some(namespace.to_owned()),
                name: name.to_owned(),
                uid: String::new(),
            }),
            format!("last renewed {ago} ago: {who} does not run, hangs, or cannot reach the API server"),
        );
        finding.wait.on.push(blocker.in_state(CauseState::Down));
        finding.steps.retain(|step| step.kind() != StepKind::Nudge);
        finding.steps.insert(
            0,
            Step {
                when: When::Now,
                text: format!(
                    "see whether {who} runs. Once it does, it finishes by itself. Its Lease says who held it last"
                ),
                command: Some(Command::get_yaml("lease", name, namespace)),
                safety: Safety::ReadOnly,
                lets_go: Vec::new(),
            },
        );
    }

    /// Adds why the controller has not acted although nothing blocks it: its driver is gone, or its Lease is stale.
    /// `cost` says what removing the finalizer by hand leaves behind.
    pub(crate) fn add_if_gone_or_late(&self, finding: &mut Finding, object: &Object, cost: &str) {
        // An unread object may be the blocker, or the last sign of life of the controller.
        if finding.wait.verdict == Verdict::Unknown || object.deletion().is_none() {
            return;
        }
        if !self.is_gone() {
            if let Some(found) = &self.found {
                self.add_unproved(found, finding);
            }
            let is_searched = self.found.as_ref().is_none_or(|found| found.unseen.is_empty());
            let is_read = self
                .driver
                .as_ref()
                .is_none_or(|driver| driver.missing.is_empty());
            if is_searched && is_read {
                self.add_if_late(finding, object);
            }
            return;
        }
        let driver = self.driver_name();
        let finalizer = finding.wait.finalizer.clone();
        finding.wait.verdict = Verdict::Orphaned;
        finding.say(format!("driver {driver} is not installed any more"));
        finding.outlook.push(Outlook {
            when: Moment::NothingDone,
            then: format!("it stays like this until driver {driver} is installed again"),
        });
        let install = Step {
            when: When::DriverGone,
            text: format!(
                "install driver {driver} again, with the credentials it had: it then finishes by itself"
            ),
            command: None,
            safety: Safety::Safe,
            lets_go: Vec::new(),
        };
        let released = release::by_end_of(object);
        finding.steps.push(release::letting_go(install, released));
        if let Some(finalizer) = finalizer {
            finding.steps.push(advice::remove_finalizer(
                object,
                &finalizer,
                When::DriverGone,
                cost,
            ));
        }
    }

    /// Adds what may be the sidecar of a driver that no node and no `CSIDriver` has.
    fn add_unproved(&self, found: &Holder, finding: &mut Finding) {
        let why = match (&found.elsewhere, found.with(Tells::Possible).next()) {
            (Some(place), Some(_)) => format!("{}. Or it may run {place}", found.possible_in_words()),
            (None, Some(_)) => found.possible_in_words(),
            (Some(place), None) if found.unseen.is_empty() => format!("it may run {place}"),
            _ => return,
        };
        if self.are_names_hidden {
            finding.wait.verdict = Verdict::Unknown;
        }
        let driver = self.driver_name();
        finding.say(format!("no node and no CSIDriver has driver {driver}"));
        finding.say(why);
        let possible = found.with(Tells::Possible);
        finding.evidence.extend(possible.map(Sign::evidence));
        finding.steps.retain(|step| step.kind() != StepKind::Nudge);
    }

    /// The name of the driver, empty if the controller belongs to none.
    fn driver_name(&self) -> &str {
        self.driver.as_ref().map_or("", |read| &read.driver)
    }
}
