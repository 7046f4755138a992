//! The evidence for the state of a controller, in one line.

use crate::diagnose::holder::{Holder, Liveness, Sign, Tells, Trace};

/// The signs that decide the state, the strongest first.
pub(super) fn deciding_signs(holder: &Holder) -> Vec<&Sign> {
    let tells = match holder.liveness() {
        Liveness::Running => Tells::Alive,
        Liveness::Failing => Tells::Failing,
        Liveness::Off => Tells::Off,
        Liveness::Gone => Tells::Gone,
        Liveness::Elsewhere | Liveness::Unknown => return Vec::new(),
    };
    let mut signs: Vec<_> = holder.with(tells).collect();
    signs.sort_by_key(|sign| sign.strength);
    // A missing permission is worse than a temporary failure.
    if tells == Tells::Failing {
        signs.sort_by_key(|sign| sign.trace != Trace::Account);
    }
    signs
}

/// The evidence, or why there is none.
pub(super) fn evidence_line(holder: &Holder) -> String {
    let sign_in_words = |sign: &Sign| format!("{}: {}", sign.source, sign.value);
    let signs = deciding_signs(holder);
    match (holder.liveness(), signs.first()) {
        // Two signs together prove that a controller is gone.
        (Liveness::Gone, _) => signs
            .iter()
            .map(|sign| sign_in_words(sign))
            .collect::<Vec<_>>()
            .join("; "),
        (_, Some(sign)) => sign_in_words(sign),
        (Liveness::Elsewhere, None) => {
            format!(
                "it is one that runs {}",
                holder.elsewhere.as_deref().unwrap_or_default()
            )
        }
        (_, None) if !holder.unseen.is_empty() => holder.unseen.join("; "),
        (_, None) if holder.with(Tells::Possible).next().is_some() => holder.possible_in_words(),
        (_, None) => holder
            .unproved_in_words()
            .unwrap_or_else(|| "not found (inconclusive)".to_owned()),
    }
}
