//! Diagnoses objects of a dump with two sets of facts: what the files contain, and what that proves. `explain` and
//! `scan` both ask here, so that they say the same.

use crate::{
    diagnose::{Diagnosis, diagnose_partly},
    knowledge::Knowledge,
    snapshot::{
        facts::{Facts, Object},
        load::Dump,
    },
};

/// Maximum number of rounds. A chain of waits is rarely longer than four. Anything not read by then is a gap.
const MAX_ROUNDS: usize = 12;

/// A dump, and what was read from it so far.
pub(super) struct Dumped<'a> {
    dump: &'a Dump,
    /// What the files contain: a list that may lack objects counts.
    seen: Facts,
    /// What the files prove: such a list is a gap.
    proved: Facts,
}

impl<'a> Dumped<'a> {
    pub(super) fn new(dump: &'a Dump) -> Self {
        Dumped {
            dump,
            seen: dump.initial_facts(),
            proved: dump.initial_facts(),
        }
    }

    /// Explains one object.
    pub(super) fn diagnose(&mut self, object: &Object, knowledge: &Knowledge) -> Diagnosis {
        let mut progress = diagnose_partly(object, &self.seen, &self.proved, knowledge);
        for _ in 0..MAX_ROUNDS {
            let (now, also) = &progress;
            if now.wanted.is_empty() && also.is_empty() {
                break;
            }
            let (now, also) = (now.wanted.clone(), also.clone());
            self.dump.add_answers(now, false, &mut self.proved);
            self.dump.add_answers(also, true, &mut self.seen);
            progress = diagnose_partly(object, &self.seen, &self.proved, knowledge);
        }
        progress.0.diagnosis
    }

    /// What the answers so far prove.
    pub(super) fn proved(&self) -> &Facts {
        &self.proved
    }
}
