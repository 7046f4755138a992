//! Whether the controller that must remove a finalizer is alive, by its Lease.
//!
//! A renewed Lease is the best sign of life that objects give. A missing Lease is inconclusive: leader election
//! may be off, the Lease may have another name, or the control plane may be hidden. A stale Lease is evidence,
//! but no proof. Names: `kubernetes-csi/external-provisioner:cmd/csi-provisioner/csi-provisioner.go`,
//! `kubernetes-csi/external-attacher:cmd/csi-attacher/main.go`,
//! `kubernetes/kubernetes:cmd/kube-controller-manager/app/options/options.go`.

use jiff::{SignedDuration, Timestamp};

use crate::{
    diagnose::{
        holder::{
            bystander::Wanted,
            trace::{Holder, Sign, Tells, Trace},
        },
        kinds::Lease,
        model::{Evidence, Strength},
        timing,
        view::{Missing, View},
    },
    knowledge::{Entry, schema::glob},
    object::{Age, Finalizer},
    snapshot::{driver::plain, facts::Object},
};

/// The state of the controller according to its Lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Life {
    /// The controller renews its Lease.
    Renewing {
        /// `namespace/name`.
        lease: String,
        /// Since the last renewal.
        ago: Age,
        /// Its leader, which is the name of a Pod unless the Pod uses the network of its node; empty if none is named
        /// (`kubernetes-csi/csi-lib-utils:leaderelection/leader_election.go`).
        leader: String,
    },
    /// The controller has not renewed its Lease in time.
    Stale {
        /// `namespace/name`.
        lease: String,
        /// Since the last renewal.
        ago: Age,
    },
    /// No Lease of that name exists, which is inconclusive.
    NoLease,
    /// The Lease could not be read.
    NotSeen(String),
}

/// Whether the controller that `entry` describes is alive. `driver` replaces `{driver}` in the names of the
/// entry.
pub fn life(entry: &Entry, driver: Option<&str>, view: &View<'_>) -> Life {
    let mut worst = Life::NoLease;
    let mut best: Option<(Timestamp, Life)> = None;
    for lease in &entry.holder.leases {
        let Some(name) = with_driver(&lease.name, driver) else {
            continue;
        };
        let found = leases_named(lease.namespace.as_deref(), &name, view);
        match found {
            Ok(leases) => {
                for lease in leases {
                    if let Some((renewed, life)) = life_of_lease(lease, view.now())
                        && best.as_ref().is_none_or(|(known, _)| *known < renewed)
                    {
                        best = Some((renewed, life));
                    }
                }
            }
            Err(Missing::NotYet) => return Life::NotSeen("not looked at yet".into()),
            Err(missing) => worst = Life::NotSeen(missing.in_words()),
        }
    }
    best.map_or(worst, |(_, life)| life)
}

/// The Leases with this name or pattern.
fn leases_named<'a>(
    namespace: Option<&str>,
    name: &str,
    view: &View<'a>,
) -> Result<Vec<&'a Object>, Missing> {
    match namespace {
        Some(namespace) if !name.contains('*') => view
            .object("coordination.k8s.io", "leases", namespace, name)
            .map(|lease| lease.into_iter().collect()),
        _ => Ok(view
            .list("coordination.k8s.io", "leases", namespace.unwrap_or_default())?
            .iter()
            .filter(|lease| glob(name, lease.name()))
            .collect()),
    }
}

/// The name with `{driver}` filled in as csi-lib-utils writes it: every character but letters, digits and `-`
/// becomes `-`.
fn with_driver(name: &str, driver: Option<&str>) -> Option<String> {
    if !name.contains("{driver}") {
        return Some(name.to_owned());
    }
    Some(name.replace("{driver}", &plain(driver?)))
}

/// The state that a Lease shows, and the time of its last renewal.
pub(in crate::diagnose) fn life_of_lease(lease: &Object, now: Timestamp) -> Option<(Timestamp, Life)> {
    let renewed = Lease(lease).renewed()?;
    let seconds = Lease(lease).seconds().unwrap_or(15);
    let late = SignedDuration::from_secs(seconds.max(0)).saturating_add(timing::LEASE_LATE);
    let ago = Age::between(renewed, now);
    let name = format!("{}/{}", lease.namespace(), lease.name());
    let life = if ago.0 > late {
        Life::Stale { lease: name, ago }
    } else {
        let leader = Lease(lease).leader().to_owned();
        Life::Renewing {
            lease: name,
            ago,
            leader,
        }
    };
    Some((renewed, life))
}

impl Life {
    /// The state as a part of a sentence about the controller.
    pub fn in_words(&self) -> String {
        match self {
            Life::Renewing { ago, .. } => format!("Lease renewed {ago} ago"),
            Life::Stale { lease, ago } => format!("its Lease {lease} was last renewed {ago} ago"),
            Life::NoLease => "its Lease is not found (inconclusive)".into(),
            Life::NotSeen(why) => format!("whether it is alive is not known: {why}"),
        }
    }

    /// Whether the Lease has been stale for so long that this is a sign that the controller is gone.
    pub fn is_long_dead(&self) -> bool {
        matches!(self, Life::Stale { ago, .. } if ago.0 >= timing::LEASE_LONG_STALE)
    }

    /// The observation as evidence, if there is one.
    pub fn evidence(&self) -> Option<Evidence> {
        let (lease, ago, strength) = match self {
            Life::Renewing { lease, ago, .. } => (lease, ago, Strength::Strong),
            Life::Stale { lease, ago } => (lease, ago, Strength::Moderate),
            Life::NoLease | Life::NotSeen(_) => return None,
        };
        Some(Evidence {
            source: format!("Lease {lease} spec.renewTime"),
            value: format!("{ago} ago"),
            strength,
        })
    }
}

/// Adds the Leases that the entry names as signs of life. The workloads of the controller must have been added
/// before. `driver` replaces `{driver}` in the names.
pub(super) fn add_named_leases(entry: &Entry, driver: Option<&str>, holder: &mut Holder, view: &View<'_>) {
    for lease in &entry.holder.leases {
        let Some(name) = with_driver(&lease.name, driver) else {
            continue;
        };
        match leases_named(lease.namespace.as_deref(), &name, view) {
            Ok(leases) => {
                for found in leases {
                    // No two drivers have the same name.
                    let is_placed = lease.namespace.is_some() || lease.name.contains("{driver}");
                    add_lease(found, is_placed, Strength::Strong, holder, view);
                }
            }
            Err(missing) => holder.add_missing(&missing),
        }
    }
}

/// Adds what one Lease tells. A Lease without a fixed namespace belongs to another instance if the workload was
/// found in another namespace and does not run. If workloads could not be read, it is unknown whose Lease it
/// is.
fn add_lease(lease: &Object, is_placed: bool, strength: Strength, holder: &mut Holder, view: &View<'_>) {
    let Some((renewed, life)) = life_of_lease(lease, view.now()) else {
        return;
    };
    // Leader election writes the name of the Pod first, which begins with the name of its Deployment.
    let leader = Lease(lease).leader();
    let mut others = holder
        .signs
        .iter()
        .filter(|sign| sign.trace == Trace::Workload && sign.tells != Tells::Nothing)
        .filter_map(|sign| Some((sign.tells, sign.object.as_ref()?)))
        .map(|(tells, object)| {
            let leads = leader
                .strip_prefix(&object.name)
                .is_some_and(|rest| rest.starts_with('-'));
            let at_home = object.namespace.as_deref() == Some(lease.namespace());
            tells != Tells::Alive && !at_home && !leads
        })
        .peekable();
    let of_another = others.peek().is_some() && others.all(|other| other);
    let is_ours = is_placed || !of_another && holder.unseen.is_empty();
    let (tells, strength) = match &life {
        Life::Renewing { .. } if is_ours => (Tells::Alive, strength),
        life if life.is_long_dead() => (Tells::Gone, Strength::Moderate),
        _ => (Tells::Nothing, Strength::Moderate),
    };
    let (source, value) = match life.evidence() {
        Some(evidence) => (evidence.source, format!("renewed {}", evidence.value)),
        None => return,
    };
    holder.add(Sign::new(Trace::Lease, tells, strength, &source, value).at(Some(renewed)));
    if of_another && !is_placed {
        let value = "is that of another instance: what was looked for is in another namespace";
        holder.add(Sign::new(
            Trace::Lease,
            Tells::Nothing,
            Strength::Hint,
            source,
            value,
        ));
    }
}

/// Adds the renewed Leases of any name and namespace that have a word of the product. Their owner may be the
/// controller, under a name that the catalogue does not have.
pub(super) fn add_renewed_leases(wanted: &Wanted, holder: &mut Holder, view: &View<'_>) {
    let leases = match view.list("coordination.k8s.io", "leases", "") {
        Ok(leases) => leases,
        Err(missing) => return holder.add_missing(&missing),
    };
    for lease in leases {
        // Kubelets renew these. They have the names of nodes.
        let is_of_node = lease.namespace() == "kube-node-lease";
        let is_named = || wanted.is_named_in(lease.name()) || wanted.is_named_in(Lease(lease).leader());
        let sign = renewing(lease, view.now()).filter(|_| !is_of_node && is_named());
        if let Some(sign) = sign {
            holder.add(sign);
        }
    }
}

/// Adds Leases of the finalizer's domain or the object's group. Where several are renewed, they are of several programs, and
/// one of these may be the controller.
pub(super) fn add_leases_of_domain(
    object: &Object,
    finalizer: &Finalizer,
    holder: &mut Holder,
    view: &View<'_>,
) {
    match leases_of(&[domain_of(finalizer), &object.resource.group], view) {
        Ok(leases) => {
            let renewed = leases.iter().filter_map(|lease| renewing(lease, view.now()));
            let renewed: Vec<_> = renewed.collect();
            if renewed.len() > 1 {
                for sign in renewed {
                    holder.add(sign);
                }
                return;
            }
            for lease in leases {
                add_lease(lease, false, Strength::Moderate, holder, view);
            }
        }
        Err(missing) => holder.add_missing(&missing),
    }
}

/// That a Lease is renewed by a program that may be the controller.
fn renewing(lease: &Object, now: Timestamp) -> Option<Sign> {
    let (renewed, life @ Life::Renewing { .. }) = life_of_lease(lease, now)? else {
        return None;
    };
    let evidence = life.evidence()?;
    let sign = Sign::new(
        Trace::Lease,
        Tells::Possible,
        Strength::Moderate,
        evidence.source,
        format!("renewed {}", evidence.value),
    );
    Some(sign.at(Some(renewed)))
}

/// The Pod that leads by the one Lease of the finalizer's domain, as far as a Lease tells.
#[derive(Debug)]
pub struct Leader<'a> {
    /// The Lease.
    pub lease: &'a Object,
    /// The name of the Pod. Leader election writes it first, and the Pod may be gone.
    pub pod: &'a str,
    /// Whether it renews the Lease.
    pub leads: bool,
}

/// Who leads by the one Lease of the finalizer's domain. Several Leases are of several programs, so they tell nothing.
/// The group of the object may be of another product than the finalizer.
pub fn leader_of_domain<'a>(finalizer: &Finalizer, view: &View<'a>) -> Option<Leader<'a>> {
    let leases = leases_of(&[domain_of(finalizer)], view).ok()?;
    let &[lease] = leases.as_slice() else {
        return None;
    };
    let pod = Lease(lease).leader().split('_').next().unwrap_or_default();
    let (_, life) = life_of_lease(lease, view.now())?;
    let leads = matches!(life, Life::Renewing { .. });
    // A program may write anything there. Of one that leads, the Pod must be there.
    let is_pod = || matches!(view.object("", "pods", lease.namespace(), pod), Ok(Some(_)));
    (!pod.is_empty() && (!leads || is_pod())).then_some(Leader { lease, pod, leads })
}

/// The part of a finalizer before the slash.
fn domain_of(finalizer: &Finalizer) -> &str {
    finalizer.name.split('/').next().unwrap_or_default()
}

/// The Leases whose name ends in one of these domains, as operators made with Kubebuilder name them (`8f2a.example.com`).
fn leases_of<'a>(domains: &[&str], view: &View<'a>) -> Result<Vec<&'a Object>, Missing> {
    let words: Vec<_> = domains
        .iter()
        .filter(|word| word.contains('.') && !word.ends_with("k8s.io") && !word.ends_with("kubernetes.io"))
        .collect();
    if words.is_empty() {
        return Ok(Vec::new());
    }
    let fits = |lease: &&Object| {
        words.iter().any(|word| {
            let rest = lease.name().strip_suffix(**word);
            rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        })
    };
    let leases = view.list("coordination.k8s.io", "leases", "")?;
    Ok(leases.iter().filter(fits).collect())
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use serde_json::json;

    use super::{Life, life_of_lease};
    use crate::diagnose::testing::world::bare;

    #[test]
    fn no_duration_of_a_lease_is_too_long() {
        let now: Timestamp = "2026-01-01T12:00:00Z".parse().expect("a time");
        for (seconds, renewed, is_renewing) in [
            (i64::MAX, "2020-01-01T00:00:00Z", true),
            (i64::MIN, "2026-01-01T11:59:59Z", true),
            (i64::MIN, "2020-01-01T00:00:00Z", false),
            (15, "9999-12-30T21:59:59Z", true),
            (15, "-009999-01-02T02:00:00Z", false),
        ] {
            let spec = json!({"renewTime": renewed, "leaseDurationSeconds": seconds});
            let lease = bare(
                "coordination.k8s.io",
                "leases",
                "Lease",
                json!({"metadata": {"name": "l"}, "spec": spec}),
            );
            let (_, life) = life_of_lease(&lease, now).expect("it was renewed");
            assert_eq!(
                matches!(life, Life::Renewing { .. }),
                is_renewing,
                "{seconds} {renewed}"
            );
        }
    }
}
