//! What an explanation claims, in a form that can be tried: which objects must go, by somebody's hand, before the
//! target does; and that it then does.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{
    key::{Key, Kind},
    world::{HOLD, NOBODY},
};

/// What was said of one target.
#[derive(Debug, Default)]
pub(super) struct Said {
    /// What must be removed by hand; the target itself if a finalizer of its own is nobody's.
    pub(super) needs: BTreeSet<Key>,
    /// What is removed by hand must wait for these: the hand stands for a controller that would wait, too.
    pub(super) after: BTreeMap<Key, BTreeSet<Key>>,
    /// It was said that something about it is not known; then nothing was claimed.
    pub(super) open: bool,
}

impl Said {
    /// `going` tells of an object whether it is being deleted.
    pub(super) fn of(target: &Key, report: &Value, going: &dyn Fn(&Key) -> bool) -> Self {
        let mut said = Said::default();
        for wait in elements(&report["waitsFor"]) {
            let named = said.wait(target, wait, going);
            said.needs.extend(named);
        }
        said
    }

    /// What must go for one finalizer to go.
    fn wait(&mut self, of: &Key, wait: &Value, going: &dyn Fn(&Key) -> bool) -> BTreeSet<Key> {
        let mut named = self.blockers(&wait["blockers"], going);
        let verdict = wait["verdict"].as_str().unwrap();
        if by_hand(wait["finalizer"]["name"].as_str(), verdict) {
            self.after.entry(of.clone()).or_default().extend(named.clone());
            named.insert(of.clone());
        } else if named.is_empty() && verdict == "unknown" {
            self.open = true;
        }
        named
    }

    fn blockers(&mut self, blockers: &Value, going: &dyn Fn(&Key) -> bool) -> BTreeSet<Key> {
        let mut all = BTreeSet::new();
        for blocker in elements(blockers) {
            let mut named = self.blockers(&blocker["blockers"], going);
            let key = Key::said(&blocker["object"]);
            if let Some(key) = &key {
                for wait in elements(&blocker["waitsFor"]) {
                    named.extend(self.wait(key, wait, going));
                }
            }
            if let Some(key) = key.filter(|key| named.is_empty() || !going(key)) {
                // Who deletes a claim may do so before its pods go; an attachment is deleted when its pods are gone.
                if key.kind == Kind::Attachment {
                    self.after.entry(key.clone()).or_default().extend(named.clone());
                }
                named.insert(key);
            }
            all.extend(named);
        }
        all
    }
}

/// A finalizer of the garbage collector of which it was said that nothing is known: here all can be seen.
pub(super) fn undecided(report: &Value) -> Option<&str> {
    elements(&report["waitsFor"]).iter().find_map(|wait| {
        let name = wait["finalizer"]["name"].as_str()?;
        (["foregroundDeletion", "orphan"].contains(&name) && wait["verdict"] == "unknown").then_some(name)
    })
}

/// Whether nobody removes it here by himself: made by hand, a pod's own end without a kubelet, or said to be so.
fn by_hand(finalizer: Option<&str>, verdict: &str) -> bool {
    finalizer.is_none_or(|name| [HOLD, NOBODY].contains(&name))
        || ["stalled", "orphaned", "failing"].contains(&verdict)
}

fn elements(list: &Value) -> &[Value] {
    list.as_array().map_or(&[], Vec::as_slice)
}
