//! Whether the one who must remove a finalizer is alive, by its Lease.
//!
//! A Lease that is renewed is the best sign of life that objects give. A Lease that is missing proves nothing:
//! leader election may be off, the name may be another, the control plane may be hidden. A stale one is
//! evidence, and not yet proof. Names: `kubernetes-csi/external-provisioner:cmd/csi-provisioner/csi-provisioner.go`,
//! `kubernetes-csi/external-attacher:cmd/csi-attacher/main.go`,
//! `kubernetes/kubernetes:cmd/kube-controller-manager/app/options/options.go`.

use jiff::{SignedDuration, Timestamp};

use crate::{
    diagnose::{
        holder::trace::{Holder, Sign, Tells, Trace},
        model::{Evidence, Strength},
        timing,
        view::{Missing, View},
    },
    knowledge::{Entry, schema::glob},
    object::{Age, Finalizer},
    snapshot::{driver::plain, facts::Object},
};

/// What is known of the holder's life.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Life {
    /// It renews its Lease.
    Renewing {
        /// `namespace/name`.
        lease: String,
        /// Since the last renewal.
        ago: Age,
    },
    /// It had a Lease and has not renewed it in time.
    Stale {
        /// `namespace/name`.
        lease: String,
        /// Since the last renewal.
        ago: Age,
    },
    /// No Lease of that name is there, which proves nothing.
    NoLease,
    /// It could not be looked at.
    NotSeen(String),
}

/// The life of whoever removes what `entry` describes. `driver` stands for `{driver}` in its names.
pub fn life(entry: &Entry, driver: Option<&str>, view: &View<'_>) -> Life {
    let mut worst = Life::NoLease;
    let mut best: Option<(Timestamp, Life)> = None;
    for lease in &entry.holder.leases {
        let Some(name) = filled(&lease.name, driver) else {
            continue;
        };
        let found = looked_up(lease.namespace.as_deref(), &name, view);
        match found {
            Ok(leases) => {
                for lease in leases {
                    if let Some((renewed, life)) = of(lease, view.now())
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

/// The Leases of this name, or of this pattern.
fn looked_up<'a>(namespace: Option<&str>, name: &str, view: &View<'a>) -> Result<Vec<&'a Object>, Missing> {
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

/// A name with `{driver}` as csi-lib-utils writes it: everything but letters, digits and `-` becomes `-`.
fn filled(name: &str, driver: Option<&str>) -> Option<String> {
    if !name.contains("{driver}") {
        return Some(name.to_owned());
    }
    Some(name.replace("{driver}", &plain(driver?)))
}

/// What a Lease tells, and when it was renewed.
pub(in crate::diagnose) fn of(lease: &Object, now: Timestamp) -> Option<(Timestamp, Life)> {
    let renewed = lease.time("/spec/renewTime")?;
    let lasts = SignedDuration::from_secs(lease.number("/spec/leaseDurationSeconds").unwrap_or(15));
    let ago = Age::between(renewed, now);
    let name = format!("{}/{}", lease.namespace(), lease.name());
    let life = if ago.0 > lasts + timing::LEASE_LATE {
        Life::Stale { lease: name, ago }
    } else {
        Life::Renewing { lease: name, ago }
    };
    Some((renewed, life))
}

impl Life {
    /// As part of a sentence about the holder.
    pub fn in_words(&self) -> String {
        match self {
            Life::Renewing { ago, .. } => format!("Lease renewed {ago} ago"),
            Life::Stale { lease, ago } => format!("its Lease {lease} was last renewed {ago} ago"),
            Life::NoLease => "no Lease of it was found, which proves nothing".into(),
            Life::NotSeen(why) => format!("whether it is alive is not known: {why}"),
        }
    }

    /// Whether it has been silent for so long that this is a sign of its end.
    pub fn is_long_dead(&self) -> bool {
        matches!(self, Life::Stale { ago, .. } if ago.0 >= timing::LEASE_LONG_STALE)
    }

    /// The observation, where there is one.
    pub fn evidence(&self) -> Option<Evidence> {
        let (lease, ago, strength) = match self {
            Life::Renewing { lease, ago } => (lease, ago, Strength::Strong),
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

/// The Leases that the entry names, as signs of life. What the holder runs as has been looked for before. `driver` stands
/// for `{driver}` in their names.
pub(super) fn named(entry: &Entry, driver: Option<&str>, holder: &mut Holder, view: &View<'_>) {
    for lease in &entry.holder.leases {
        let Some(name) = filled(&lease.name, driver) else {
            continue;
        };
        match looked_up(lease.namespace.as_deref(), &name, view) {
            Ok(leases) => {
                for found in leases {
                    // No two drivers have one name.
                    let is_placed = lease.namespace.is_some() || lease.name.contains("{driver}");
                    sign(found, is_placed, Strength::Strong, holder, view);
                }
            }
            Err(missing) => holder.miss(&missing),
        }
    }
}

/// What one Lease tells. One that may be in any namespace is that of another instance, if what we look for was found
/// elsewhere and does not run; and nobody knows whose it is where workloads could not be looked at.
fn sign(lease: &Object, is_placed: bool, strength: Strength, holder: &mut Holder, view: &View<'_>) {
    let Some((renewed, life)) = of(lease, view.now()) else {
        return;
    };
    // Leader election names the Pod first, and that begins with the name of its Deployment.
    let leader = lease.text("/spec/holderIdentity");
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

/// Leases whose name ends in the finalizer's domain or the object's group, as operators made with Kubebuilder name
/// them (`8f2a.example.com`).
pub(super) fn by_domain(object: &Object, finalizer: &Finalizer, holder: &mut Holder, view: &View<'_>) {
    let domain = finalizer.name.split('/').next().unwrap_or_default();
    let words: Vec<_> = [domain, object.resource.group.as_str()]
        .into_iter()
        .filter(|word| word.contains('.') && !word.ends_with("k8s.io") && !word.ends_with("kubernetes.io"))
        .collect();
    if words.is_empty() {
        return;
    }
    let leases = match view.list("coordination.k8s.io", "leases", "") {
        Ok(leases) => leases,
        Err(missing) => return holder.miss(&missing),
    };
    for lease in leases {
        let fits = |word: &&str| {
            let rest = lease.name().strip_suffix(*word);
            rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        };
        if words.iter().any(fits) {
            sign(lease, false, Strength::Moderate, holder, view);
        }
    }
}
