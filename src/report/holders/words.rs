//! What shows how alive a holder is, in one line.

use crate::diagnose::holder::{Holder, Liveness, Sign, Tells, Trace};

/// The signs that the conclusion rests on, the strongest first.
pub(super) fn deciding(holder: &Holder) -> Vec<&Sign> {
    let tells = match holder.liveness() {
        Liveness::Running => Tells::Alive,
        Liveness::Failing => Tells::Failing,
        Liveness::Off => Tells::Off,
        Liveness::Gone => Tells::Gone,
        Liveness::Elsewhere | Liveness::Unknown => return Vec::new(),
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
    match (holder.liveness(), signs.first()) {
        // That somebody is gone is told by two signs together.
        (Liveness::Gone, _) => signs.iter().map(|sign| told(sign)).collect::<Vec<_>>().join("; "),
        (_, Some(sign)) => told(sign),
        (Liveness::Elsewhere, None) => {
            format!("it is one that runs {}", holder.elsewhere.unwrap_or_default())
        }
        (_, None) if !holder.unseen.is_empty() => holder.unseen.join("; "),
        (_, None) => match holder.with(Tells::Gone).next() {
            Some(sign) => format!("{}, which is one sign and no proof", told(sign)),
            None => "no sign of it was found, which proves nothing".to_owned(),
        },
    }
}
