//! Signs of a holder, and what they prove together.
//!
//! One sign is an observation: an object, a field, a time. That somebody is *gone* is concluded from two signs of
//! different kinds, and only where every place in which it could have shown itself was looked at. One missing
//! Lease, one failed probe, one Deployment of another name prove nothing.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::{
    diagnose::{
        cut::cut,
        model::{Blocker, Evidence, Strength},
        view::Missing,
    },
    object::ObjectRef,
};

/// A kind of sign. Two signs of one kind have one cause and count once: a Deployment that is not there has no Pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trace {
    /// The Lease that it renews.
    Lease,
    /// What it runs as.
    Workload,
    /// Who it acts as, and what that account may do.
    Account,
    /// Other parts of the same product: its webhooks and API services.
    Product,
    /// The namespace that it is installed to.
    Home,
    /// What it wrote to the object.
    Writer,
}

/// What a sign tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tells {
    /// It runs.
    Alive,
    /// It is there and was made not to run: scaled to zero.
    Off,
    /// It is there and cannot run or cannot do its work.
    Failing,
    /// It was looked for where it must show, and is not there.
    Gone,
    /// Worth knowing; decides nothing.
    Nothing,
}

/// One observation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sign {
    /// Its kind.
    pub trace: Trace,
    /// What it tells.
    pub tells: Tells,
    /// What it was read from, as it is named in a sentence: `Deployment ops/widgets`.
    pub source: String,
    /// The field of that, where the source does not say it.
    pub field: &'static str,
    /// What that said.
    pub value: String,
    /// How much it proves.
    pub strength: Strength,
    /// The object, where it is what stands in the way.
    pub object: Option<ObjectRef>,
    /// Since when it is so, or when it was last seen so; none where nothing tells.
    pub at: Option<Timestamp>,
    /// How many replicas there were before it was switched off, and what remembers that.
    pub before: Option<(i64, &'static str)>,
}

impl Sign {
    /// A sign of this kind.
    pub fn new(
        trace: Trace,
        tells: Tells,
        strength: Strength,
        source: impl Into<String>,
        value: impl Into<String>,
    ) -> Self {
        let mut value = value.into();
        cut(&mut value);
        Sign {
            trace,
            tells,
            source: source.into(),
            field: "",
            value,
            strength,
            object: None,
            at: None,
            before: None,
        }
    }

    /// The same about this object.
    #[must_use]
    pub fn about(mut self, object: ObjectRef) -> Self {
        self.object = Some(object);
        self
    }

    /// The same, read from this field.
    #[must_use]
    pub fn of(mut self, field: &'static str) -> Self {
        self.field = field;
        self
    }

    /// The same, with its time.
    #[must_use]
    pub fn at(mut self, time: Option<Timestamp>) -> Self {
        self.at = time;
        self
    }

    /// As part of the evidence.
    pub fn evidence(&self) -> Evidence {
        Evidence {
            source: format!("{} {}", self.source, self.field).trim_end().to_owned(),
            value: self.value.clone(),
            strength: self.strength,
        }
    }

    /// As what stands in the way.
    pub fn blocker(&self) -> Blocker {
        let says = match &self.object {
            Some(_) => self.value.clone(),
            None => format!("{}: {}", self.source, self.value),
        };
        Blocker::new(self.object.clone(), says)
    }
}

/// What all signs of a holder say together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It runs.
    Running,
    /// It was made not to run.
    Off,
    /// It is there and cannot run or cannot do its work.
    Failing,
    /// It is gone, by at least two independent signs.
    Gone,
    /// It does not run in this cluster, or nobody here can see it.
    Elsewhere,
    /// The signs do not suffice.
    Unknown,
}

/// What was seen of a holder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holder {
    /// All signs.
    pub signs: Vec<Sign>,
    /// What could not be looked at.
    pub unseen: Vec<String>,
    /// Whether something has been asked for and not been answered yet: nothing is final before.
    pub pending: bool,
    /// That it does not run where one could see it, and where it does.
    pub elsewhere: Option<&'static str>,
}

impl Holder {
    /// Adds a sign, once.
    pub fn add(&mut self, sign: Sign) {
        if !self.signs.contains(&sign) {
            self.signs.push(sign);
        }
    }

    /// Adds what was seen of the same holder by way of another object.
    pub fn join(&mut self, other: &Holder) {
        for sign in &other.signs {
            self.add(sign.clone());
        }
        for what in &other.unseen {
            self.unsee(what);
        }
        self.elsewhere = self.elsewhere.or(other.elsewhere);
    }

    /// Remembers what could not be looked at, or not yet.
    pub fn miss(&mut self, missing: &Missing) {
        self.wait_for(missing);
        if let Missing::Gap(_) = missing {
            self.unsee(&missing.in_words());
        }
    }

    /// Remembers that something could not be looked at, once.
    pub fn unsee(&mut self, what: &str) {
        if !self.unseen.iter().any(|known| known == what) {
            self.unseen.push(what.to_owned());
        }
    }

    /// Remembers what has not been answered yet, of something that could not show it alive: that it cannot be seen
    /// leaves one sign less, and hides nothing.
    pub fn wait_for(&mut self, missing: &Missing) {
        self.pending |= *missing == Missing::NotYet;
    }

    /// The conclusion. What runs is not gone, whatever else is missing. Whatever is concluded from not having seen it
    /// run needs to have looked everywhere.
    pub fn state(&self) -> State {
        let seen_everywhere = self.unseen.is_empty();
        // One that may not do its work does not do it, however alive it is.
        if self.with(Tells::Failing).any(|sign| sign.trace == Trace::Account) {
            return State::Failing;
        }
        if self.with(Tells::Alive).any(|sign| sign.trace != Trace::Writer) {
            return State::Running;
        }
        if !seen_everywhere {
            return State::Unknown;
        }
        let wrote = self.with(Tells::Alive).filter_map(|sign| sign.at).max();
        // Somebody else is at work if that was after this one had been switched off.
        let off = |sign: &Sign| {
            sign.at
                .is_none_or(|since| wrote.is_none_or(|wrote| wrote <= since))
        };
        if self.with(Tells::Off).any(off) {
            return State::Off;
        }
        if self.with(Tells::Failing).next().is_some() {
            return State::Failing;
        }
        if wrote.is_some() {
            return State::Running;
        }
        if self.elsewhere.is_some() {
            return State::Elsewhere;
        }
        let mut gone: Vec<_> = self.with(Tells::Gone).map(|sign| sign.trace).collect();
        gone.sort_unstable();
        gone.dedup();
        if gone.len() >= 2 {
            State::Gone
        } else {
            State::Unknown
        }
    }

    /// The signs that tell this.
    pub fn with(&self, tells: Tells) -> impl Iterator<Item = &Sign> {
        self.signs.iter().filter(move |sign| sign.tells == tells)
    }

    /// The workloads that run and are taken for it, each once, in however many ways it was found.
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
    fn gone_needs_two_kinds_of_sign_and_no_blind_spot() {
        let one = holder(&[(Trace::Workload, Tells::Gone)]);
        assert_eq!(one.state(), State::Unknown);
        let twice_the_same = holder(&[(Trace::Workload, Tells::Gone), (Trace::Workload, Tells::Gone)]);
        assert_eq!(twice_the_same.state(), State::Unknown);
        let mut two = holder(&[(Trace::Workload, Tells::Gone), (Trace::Account, Tells::Gone)]);
        assert_eq!(two.state(), State::Gone);
        two.unseen.push("leases could not be read".into());
        assert_eq!(two.state(), State::Unknown);
    }

    #[test]
    fn what_shows_itself_is_not_gone() {
        let gone = [(Trace::Workload, Tells::Gone), (Trace::Account, Tells::Gone)];
        for (tells, state) in [
            (Tells::Alive, State::Running),
            (Tells::Off, State::Off),
            (Tells::Failing, State::Failing),
        ] {
            let mut signs = gone.to_vec();
            signs.push((Trace::Lease, tells));
            assert_eq!(holder(&signs).state(), state);
        }
    }

    #[test]
    fn one_that_runs_elsewhere_cannot_be_missed_here() {
        let mut hidden = holder(&[(Trace::Workload, Tells::Gone), (Trace::Account, Tells::Gone)]);
        hidden.elsewhere = Some("in another cluster");
        assert_eq!(hidden.state(), State::Elsewhere);
    }
}
