//! Plans for several objects, in words.

use super::number::count;
use crate::report::root_causes::Together;

/// What the plan for all objects of a cause does, and when it is right.
pub(super) fn together_in_words(together: &Together) -> String {
    let rest = match together.rest {
        0 => String::new(),
        more => format!(" … and {more} more need others."),
    };
    let objects = count(together.objects as u64, "object");
    let plans = match together.more.len() {
        0 => "one plan".to_owned(),
        more => format!("{} plans", more + 1),
    };
    format!(
        "Will it never come back? [destructive] See {plans} for {objects}, and what is to be accepted.{rest}"
    )
}
