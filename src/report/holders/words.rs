//! What shows how alive a holder is, in one line.

use crate::diagnose::holder::{Holder, Sign, State, Tells, Trace};

/// The signs that the conclusion rests on, the strongest first.
pub(super) fn deciding(holder: &Holder) -> Vec<&Sign> {
    let tells = match holder.state() {
        State::Running => Tells::Alive,
        State::Failing => Tells::Failing,
        State::Off => Tells::Off,
        State::Gone => Tells::Gone,
        State::Elsewhere | State::Unknown => return Vec::new(),
    };
    let mut signs: Vec<_> = holder.with(tells).collect();
    signs.sort_by_key(|sign| sign.strength);
    // What it may not do is worse than what it cannot do now.
    if tells == Tells::Failing {
        signs.sort_by_key(|sign| sign.trace != Trace::Account);
    }
    signs
}

/// What shows it; where nothing does, why.
pub(super) fn says(holder: &Holder) -> String {
    let told = |sign: &Sign| format!("{}: {}", sign.source, sign.value);
    let signs = deciding(holder);
    match (holder.state(), signs.first()) {
        // That somebody is gone is told by two signs together.
        (State::Gone, _) => signs.iter().map(|sign| told(sign)).collect::<Vec<_>>().join("; "),
        (_, Some(sign)) => told(sign),
        (State::Elsewhere, None) => format!("it is one that runs {}", holder.elsewhere.unwrap_or_default()),
        (_, None) if !holder.unseen.is_empty() => holder.unseen.join("; "),
        (_, None) => match holder.with(Tells::Gone).next() {
            Some(sign) => format!("{}, which is one sign and no proof", told(sign)),
            None => "no sign of it was found, which proves nothing".to_owned(),
        },
    }
}
