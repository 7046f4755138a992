//! Makes sentences of the clauses about a wait. The texts of reports, and the fields `says` and `reason` of the JSON, are
//! made here alone.

use std::fmt::{Display, Formatter, Result};

use crate::{
    diagnose::model::{Actor, Said},
    report::causes::Reason,
};

/// `kube-controller-manager (pvc-protection)`.
impl Display for Actor {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(&self.name)?;
        match &self.part {
            Some(part) => write!(f, " ({part})"),
            None => Ok(()),
        }
    }
}

/// All clauses, in the order of a sentence.
impl Display for Said {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let mut sentences = Vec::new();
        if let Some(controller) = &self.controller {
            let once = self.once.as_ref();
            let once = once.map_or_else(String::new, |once| format!(", once {once}"));
            sentences.push(format!("removed by {controller}{once}"));
            sentences.extend(controller.signs.iter().cloned());
        } else {
            sentences.push(self.now.join("; "));
        }
        if let Some(work) = &self.work {
            sentences.push(format!("In general: {}", work.trim_end_matches('.')));
        }
        if self.controller.is_some() && !self.now.is_empty() {
            sentences.push(self.now.join("; "));
        }
        f.write_str(&sentences.join(". "))
    }
}

/// One line.
impl Display for Reason<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Reason::Blocked { verb, by, more: 0 } => write!(f, "{verb} {by}"),
            Reason::Blocked { verb, by, more } => write!(f, "{verb} {by}, and {more} more"),
            // The facts about this object come first. The rest is true of every object with this finalizer.
            Reason::NotActing(said) if said.controller.is_some() && !said.now.is_empty() => {
                write!(f, "{} ({})", said.facts(), said.summary())
            }
            Reason::NotActing(said) => said.fmt(f),
            Reason::Gone(said) => write!(f, "{}. It is gone", said.summary()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::model::Liveness;

    #[test]
    fn joins_the_clauses_in_the_order_of_a_sentence() {
        let signs = vec!["Lease renewed 2s ago".into()];
        let said = Said::removed_by("the-controller", Liveness::Running, signs)
            .once("no pod uses it")
            .now("one does")
            .now("it is Running");
        assert_eq!(
            said.to_string(),
            "removed by the-controller, once no pod uses it. Lease renewed 2s ago. one does; it is Running"
        );
        assert_eq!(said.about_object().to_string(), "one does; it is Running");
        assert_eq!(
            Reason::NotActing(&said).to_string(),
            "one does; it is Running (removed by the-controller, once no pod uses it)"
        );
        assert_eq!(
            Reason::Gone(&said).to_string(),
            "removed by the-controller, once no pod uses it. It is gone"
        );
        assert_eq!(Said::from("nobody is left").to_string(), "nobody is left");
    }
}
