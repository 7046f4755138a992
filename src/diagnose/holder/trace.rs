//! Signs of a controller, and the conclusion from all of them.
//!
//! A sign is one observation: an object, a field, a time. To conclude that a controller is *gone*, two independent
//! signs are needed. An installation derives the names of its Deployment, its `ServiceAccount` and its labels from one
//! name, so all absent names are one sign. Every place where the controller could leave a sign must
//! have been read, and no running workload may be a candidate. One missing Lease, one failed probe, or one Deployment of another name
//! proves nothing.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::{
    command::Command,
    diagnose::{
        cut::shorten,
        limits,
        model::{Blocker, CauseState, Evidence, Liveness, Strength},
        view::Missing,
    },
    object::ObjectRef,
};

/// A kind of sign. Two signs of one kind have one cause and count once: a Deployment that does not exist has no
/// Pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trace {
    /// The Lease that the controller renews.
    Lease,
    /// The workload that it runs as.
    Workload,
    /// The account that it uses, and the rights of that account.
    Account,
    /// A workload with the rights to change the object, under any name.
    Rights,
    /// Other parts of the same product: webhooks and API services.
    Product,
    /// The types that it needs.
    Types,
    /// A part or an owner of its installation: the `CSIDriver`, the package of a definition.
    Installation,
    /// The namespace that it is installed in, or the node that it must run on.
    Home,
    /// The fields that it wrote to the object.
    Writer,
}

impl Trace {
    /// The observation that the sign belongs to. Two signs of one observation count once.
    fn observation(self) -> Trace {
        match self {
            Trace::Account => Trace::Workload,
            Trace::Installation => Trace::Product,
            other => other,
        }
    }
}

/// The state of the controller according to one sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tells {
    /// It runs.
    Alive,
    /// It exists and was switched off: scaled to zero.
    Off,
    /// It exists, and cannot run or cannot do its work.
    Failing,
    /// It does not exist where it must exist.
    Gone,
    /// Something runs that may be it, or a part of it exists.
    Possible,
    /// Context only; does not count for the conclusion.
    Nothing,
}

/// One observation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sign {
    /// The kind of the sign.
    pub trace: Trace,
    /// The state that the sign shows.
    pub tells: Tells,
    /// The object that was read, as a sentence names it: `Deployment ops/widgets`.
    pub source: String,
    /// The field of the object, if `source` does not name it.
    pub field: &'static str,
    /// The value that was read.
    pub value: String,
    /// The role that grants a right. It is evidence, and too much for a sentence.
    pub by_role: Option<String>,
    /// How much the sign proves.
    pub strength: Strength,
    /// The object, if it blocks the deletion.
    pub object: Option<ObjectRef>,
    /// The time since when this is so, or when it was last seen. None if no time is known.
    pub at: Option<Timestamp>,
    /// Whether a workload that does not run stays so, and is not only restarting.
    pub lasts: bool,
    /// The number of replicas before the workload was switched off, and where that number was read.
    pub before: Option<(i64, &'static str)>,
    /// The right that a ServiceAccount lacks, and a command that says `yes` once it has the right.
    pub lacks: Option<(String, Command)>,
    /// What shows why the workload does not run, if that is not in the workload itself.
    pub shown_by: Option<Command>,
    /// The version of the workload; none if it does not tell.
    pub version: Option<String>,
}

impl Sign {
    /// A sign with this kind and value, and no details.
    pub fn new(
        trace: Trace,
        tells: Tells,
        strength: Strength,
        source: impl Into<String>,
        value: impl Into<String>,
    ) -> Self {
        let mut value = value.into();
        shorten(&mut value);
        Sign {
            trace,
            tells,
            source: source.into(),
            field: "",
            value,
            by_role: None,
            strength,
            object: None,
            at: None,
            lasts: false,
            before: None,
            lacks: None,
            shown_by: None,
            version: None,
        }
    }

    /// The sign, about this object.
    #[must_use]
    pub fn about(mut self, object: ObjectRef) -> Self {
        self.object = Some(object);
        self
    }

    /// The sign, read from this field.
    #[must_use]
    pub fn of(mut self, field: &'static str) -> Self {
        self.field = field;
        self
    }

    /// The sign, with its time.
    #[must_use]
    pub fn at(mut self, time: Option<Timestamp>) -> Self {
        self.at = time;
        self
    }

    /// The sign, and whether it is more than one moment.
    #[must_use]
    pub fn lasting(mut self, lasts: bool) -> Self {
        self.lasts = lasts;
        self
    }

    /// The sign as evidence.
    pub fn evidence(&self) -> Evidence {
        Evidence {
            source: format!("{} {}", self.source, self.field).trim_end().to_owned(),
            value: match &self.by_role {
                Some(role) => format!("{}, by {role}", self.value),
                None => self.value.clone(),
            },
            strength: self.strength,
        }
    }

    /// The sign as a blocker.
    pub fn blocker(&self) -> Blocker {
        let says = match &self.object {
            Some(_) => self.value.clone(),
            None => format!("{}: {}", self.source, self.value),
        };
        Blocker {
            state: match self.tells {
                Tells::Off => Some(CauseState::SwitchedOff),
                Tells::Failing => Some(CauseState::Failing),
                _ => None,
            },
            ..Blocker::new(self.object.clone(), says)
        }
    }
}

/// The signs of a controller.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holder {
    /// All signs.
    pub signs: Vec<Sign>,
    /// The sources that could not be read.
    pub unseen: Vec<String>,
    /// Whether a query is not answered yet. Nothing is final before that.
    pub pending: bool,
    /// Where the controller runs, if it runs where this cluster does not show it.
    pub elsewhere: Option<String>,
}

impl Holder {
    /// Adds a sign, once.
    pub fn add(&mut self, sign: Sign) {
        if !self.signs.contains(&sign) {
            self.signs.push(sign);
        }
    }

    /// Adds the signs of the same controller that were found through another object.
    pub fn join(&mut self, other: &Holder) {
        for sign in &other.signs {
            self.add(sign.clone());
        }
        for what in &other.unseen {
            self.add_unseen(what);
        }
        if self.elsewhere.is_none() {
            self.elsewhere.clone_from(&other.elsewhere);
        }
    }

    /// Records what could not be read, or is not read yet.
    pub fn add_missing(&mut self, missing: &Missing) {
        self.wait_for(missing);
        if let Missing::Gap(_) = missing {
            self.add_unseen(&missing.in_words());
        }
    }

    /// Records what could not be read, once.
    pub fn add_unseen(&mut self, what: &str) {
        if !self.unseen.iter().any(|known| known == what) {
            self.unseen.push(what.to_owned());
        }
    }

    /// Records an answer that is not there yet, where a gap only means one sign less. Such a query cannot show
    /// that the controller is alive, so a gap hides nothing.
    pub fn wait_for(&mut self, missing: &Missing) {
        self.pending |= *missing == Missing::NotYet;
    }

    /// The conclusion from all signs. A controller that runs is not gone, whatever could not be read. Any
    /// conclusion from the absence of a running controller requires that everything was read.
    pub fn liveness(&self) -> Liveness {
        let seen_everywhere = self.unseen.is_empty();
        // A controller without the rights for its work does not do it, even if it runs.
        if self.with(Tells::Failing).any(|sign| sign.trace == Trace::Account) {
            return Liveness::Failing;
        }
        if self.with(Tells::Alive).any(|sign| sign.trace != Trace::Writer) {
            return Liveness::Running;
        }
        if !seen_everywhere {
            return Liveness::Unknown;
        }
        let wrote = self.with(Tells::Alive).filter_map(|sign| sign.at).max();
        // If the status was written after the controller was switched off, another program wrote it.
        let off = |sign: &Sign| {
            sign.at
                .is_none_or(|since| wrote.is_none_or(|wrote| wrote <= since))
        };
        if self.with(Tells::Off).any(off) {
            return Liveness::Off;
        }
        if self.with(Tells::Failing).next().is_some() {
            return Liveness::Failing;
        }
        if wrote.is_some() {
            return Liveness::Running;
        }
        if self.elsewhere.is_some() {
            return Liveness::Elsewhere;
        }
        let independent = self.observations_of_absence().len();
        if independent >= 2 && self.with(Tells::Possible).next().is_none() {
            Liveness::Gone
        } else {
            Liveness::Unknown
        }
    }

    /// Whether everybody was looked for, and no more was met than programs that only may be it.
    pub(super) fn was_not_met(&self) -> bool {
        let may_be = || self.unseen.is_empty() && self.with(Tells::Possible).next().is_some();
        match self.liveness() {
            Liveness::Gone => true,
            Liveness::Unknown => may_be(),
            _ => false,
        }
    }

    /// The independent observations that the controller is gone. Its names are absent only if all of them are: while
    /// its `ServiceAccount` exists, the Deployment may be deleted only to create it again.
    pub(super) fn observations_of_absence(&self) -> BTreeSet<Trace> {
        let has_a_name = self
            .with(Tells::Nothing)
            .any(|sign| sign.trace.observation() == Trace::Workload);
        self.with(Tells::Gone)
            .map(|sign| sign.trace.observation())
            .filter(|observation| !(has_a_name && *observation == Trace::Workload))
            .collect()
    }

    /// The signs that tell this.
    pub fn with(&self, tells: Tells) -> impl Iterator<Item = &Sign> {
        self.signs.iter().filter(move |sign| sign.tells == tells)
    }

    /// The signs that the controller is gone, and why they do not prove it. None if there is no such sign.
    pub fn unproved_in_words(&self) -> Option<String> {
        let signs: Vec<_> = self
            .with(Tells::Gone)
            .map(|sign| format!("{}: {}", sign.source, sign.value))
            .collect();
        match signs.as_slice() {
            [] => None,
            [one] => Some(format!("{one} (suggestive only)")),
            all => Some(format!(
                "{} (suggestive only: not two independent signs)",
                all.join("; ")
            )),
        }
    }

    /// What may be the controller, and what shows that it runs.
    pub fn candidates(&self) -> impl Iterator<Item = String> {
        let signs = self
            .signs
            .iter()
            .filter(|sign| matches!(sign.tells, Tells::Possible | Tells::Alive));
        signs.map(|sign| sign.source.clone())
    }

    /// The candidates for the controller, as a sentence. The first few are named.
    pub fn possible_in_words(&self) -> String {
        let all: Vec<_> = self
            .with(Tells::Possible)
            .map(|sign| format!("{}: {}", sign.source, sign.value))
            .collect();
        let named: Vec<_> = all
            .iter()
            .take(limits::NAMES_IN_SENTENCE)
            .map(String::as_str)
            .collect();
        let more = match all.len().saturating_sub(named.len()) {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        format!("{}{more}. That may be it, under another name", named.join("; "))
    }

    /// Takes back that workloads are likely the controller, if many of one product may be it. One more of them may be the
    /// one that is gone.
    pub(super) fn doubt_many(&mut self) {
        if self.running().len() > limits::LIKELY_CONTROLLERS {
            self.take_back(Tells::Possible);
        }
    }

    /// Takes back that the workloads that run are likely the controller. They tell only this.
    pub(super) fn take_back(&mut self, tells: Tells) {
        for sign in &mut self.signs {
            if sign.trace == Trace::Workload && sign.tells == Tells::Alive {
                sign.tells = tells;
            }
        }
    }

    /// The workload that is taken for the controller, whether it runs or not, if it is only one.
    pub fn workload(&self) -> Option<&ObjectRef> {
        let found: BTreeSet<_> = self
            .signs
            .iter()
            .filter(|sign| sign.trace == Trace::Workload)
            .filter(|sign| matches!(sign.tells, Tells::Alive | Tells::Off | Tells::Failing))
            .filter_map(|sign| sign.object.as_ref())
            .collect();
        match found.len() {
            1 => found.into_iter().next(),
            _ => None,
        }
    }

    /// The workload that has the name of the controller and may change the object, if it is only one. By itself that does not
    /// prove that it is the controller.
    pub fn able_namesake(&self) -> Option<&ObjectRef> {
        let objects_of = |trace: Trace, tells: Tells| -> BTreeSet<_> {
            let signs = self.with(tells).filter(move |sign| sign.trace == trace);
            signs.filter_map(|sign| sign.object.as_ref()).collect()
        };
        let named = objects_of(Trace::Workload, Tells::Nothing);
        let able = objects_of(Trace::Rights, Tells::Possible);
        let mut both = named.intersection(&able);
        both.next().copied().filter(|_| both.next().is_none())
    }

    /// The version of the workload that is taken for the controller; none if it does not tell.
    pub fn version(&self) -> Option<&str> {
        let workload = self.workload()?;
        let mut signs = self
            .signs
            .iter()
            .filter(|sign| sign.object.as_ref() == Some(workload));
        signs.find_map(|sign| sign.version.as_deref())
    }

    /// The running workloads that are taken for the controller, each once.
    pub fn running(&self) -> BTreeSet<&ObjectRef> {
        self.with(Tells::Alive)
            .filter(|sign| sign.trace == Trace::Workload)
            .filter_map(|sign| sign.object.as_ref())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holder(signs: &[(Trace, Tells)]) -> Holder {
        let mut holder = Holder::default();
        for (at, (trace, tells)) in signs.iter().enumerate() {
            holder.add(Sign::new(*trace, *tells, Strength::Strong, at.to_string(), ""));
        }
        holder
    }

    #[test]
    fn gone_requires_two_independent_signs_and_no_gap() {
        let one = holder(&[(Trace::Workload, Tells::Gone)]);
        assert_eq!(one.liveness(), Liveness::Unknown);
        let names = holder(&[(Trace::Workload, Tells::Gone), (Trace::Account, Tells::Gone)]);
        assert_eq!(names.liveness(), Liveness::Unknown, "one name, one sign");
        let mut two = holder(&[(Trace::Workload, Tells::Gone), (Trace::Lease, Tells::Gone)]);
        assert_eq!(two.liveness(), Liveness::Gone);
        let mut with_account = two.clone();
        with_account.add(Sign::new(
            Trace::Account,
            Tells::Nothing,
            Strength::Hint,
            "a",
            "exists",
        ));
        assert_eq!(with_account.liveness(), Liveness::Unknown, "it may come back");
        let mut with_another = two.clone();
        with_another.add(Sign::new(
            Trace::Rights,
            Tells::Possible,
            Strength::Hint,
            "p",
            "runs",
        ));
        assert_eq!(with_another.liveness(), Liveness::Unknown, "that may be it");
        two.unseen.push("leases could not be read".into());
        assert_eq!(two.liveness(), Liveness::Unknown);
    }

    #[test]
    fn only_one_workload_that_has_the_name_and_the_rights_is_an_able_namesake() {
        let of = |signs: &[(Trace, Tells, &str)]| {
            let mut holder = Holder::default();
            for (trace, tells, name) in signs {
                let sign = Sign::new(*trace, *tells, Strength::Hint, *name, "");
                holder.add(sign.about(ObjectRef {
                    name: (*name).to_owned(),
                    ..ObjectRef::default()
                }));
            }
            holder.able_namesake().map(|found| found.name.clone())
        };
        let (named, able) = (
            (Trace::Workload, Tells::Nothing),
            (Trace::Rights, Tells::Possible),
        );
        let signs = |all: &[((Trace, Tells), &'static str)]| -> Vec<_> {
            all.iter()
                .map(|((trace, tells), name)| (*trace, *tells, *name))
                .collect()
        };
        let one = signs(&[(named, "a"), (able, "a"), (able, "b"), (named, "c")]);
        assert_eq!(of(&one).as_deref(), Some("a"));
        assert_eq!(of(&signs(&[(named, "a"), (able, "b")])), None);
        let two = signs(&[(named, "a"), (able, "a"), (named, "b"), (able, "b")]);
        assert_eq!(of(&two), None);
    }

    #[test]
    fn a_controller_with_a_sign_of_life_is_not_gone() {
        let gone = [(Trace::Workload, Tells::Gone), (Trace::Product, Tells::Gone)];
        for (tells, liveness) in [
            (Tells::Alive, Liveness::Running),
            (Tells::Off, Liveness::Off),
            (Tells::Failing, Liveness::Failing),
        ] {
            let mut signs = gone.to_vec();
            signs.push((Trace::Lease, tells));
            assert_eq!(holder(&signs).liveness(), liveness);
        }
    }

    #[test]
    fn a_controller_in_another_cluster_is_never_gone() {
        let mut hidden = holder(&[(Trace::Workload, Tells::Gone), (Trace::Lease, Tells::Gone)]);
        hidden.elsewhere = Some("in another cluster".into());
        assert_eq!(hidden.liveness(), Liveness::Elsewhere);
    }
}
