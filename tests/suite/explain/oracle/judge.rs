//! The claims of an explanation in a form that can be tried: the objects that must be removed by hand before
//! the target is deleted.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{
    key::{Key, Kind},
    world::{HOLD, NOBODY},
};

/// The explanation of one target.
#[derive(Debug, Default)]
pub(super) struct Said {
    /// The objects that must be removed by hand. The target itself is one if no controller removes its
    /// finalizer.
    pub(super) needs: BTreeSet<Key>,
    /// A removal by hand waits for these objects, because the controller that it replaces would wait too.
    pub(super) after: BTreeMap<Key, BTreeSet<Key>>,
    /// Part of the answer is unknown, so nothing was claimed.
    pub(super) open: bool,
}

impl Said {
    /// `going` tells whether an object is in deletion.
    pub(super) fn of(target: &Key, report: &Value, going: &dyn Fn(&Key) -> bool) -> Self {
        let mut said = Said::default();
        for wait in elements(&report["waitsFor"]) {
            let named = said.wait(target, wait, going);
            said.needs.extend(named);
        }
        said
    }

    /// What must be removed before one finalizer is.
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
                // A claim may be deleted before its Pods; an attachment is deleted after them.
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

/// A finalizer of the garbage collector with an unknown cause. Here everything can be read, so that is a fault.
pub(super) fn undecided(report: &Value) -> Option<&str> {
    elements(&report["waitsFor"]).iter().find_map(|wait| {
        let name = wait["finalizer"]["name"].as_str()?;
        (["foregroundDeletion", "orphan"].contains(&name) && wait["verdict"] == "unknown").then_some(name)
    })
}

/// Whether no controller removes it here: a finalizer of the test, a Pod without a kubelet, or one that the
/// explanation names so.
fn by_hand(finalizer: Option<&str>, verdict: &str) -> bool {
    finalizer.is_none_or(|name| [HOLD, NOBODY].contains(&name))
        || ["stalled", "orphaned", "failing"].contains(&verdict)
}

fn elements(list: &Value) -> &[Value] {
    list.as_array().map_or(&[], Vec::as_slice)
}
