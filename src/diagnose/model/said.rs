//! The clauses about one wait. Each clause is a value; only the output makes sentences of them.

use serde::Serialize;

/// The conclusion from all signs of a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Liveness {
    /// It runs.
    Running,
    /// It was switched off.
    Off,
    /// It exists, and cannot run or cannot do its work.
    Failing,
    /// It is gone: at least two independent signs say so, and nothing runs that may be it.
    Gone,
    /// It does not run in this cluster, or no user of this cluster can see it.
    Elsewhere,
    /// There are not enough signs.
    Unknown,
}

/// The controller that must remove a finalizer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actor {
    /// Its name: `kube-controller-manager`.
    pub name: String,
    /// Which part of it acts: `pvc-protection`.
    pub part: Option<String>,
    /// Whether it lives.
    pub state: Liveness,
    /// The evidence for that, one sentence each: `Lease renewed 2s ago`.
    pub signs: Vec<String>,
}

impl Actor {
    /// `kube-controller-manager (pvc-protection)`.
    pub fn in_words(&self) -> String {
        match &self.part {
            Some(part) => format!("{} ({part})", self.name),
            None => self.name.clone(),
        }
    }
}

/// The clauses about one wait.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// The controller that removes the finalizer; none if the cause names none.
    pub controller: Option<Actor>,
    /// When the controller removes it: `no pod that has a node names the claim`.
    pub once: Option<String>,
    /// The work that the controller must do before, in sentences of the catalogue.
    pub work: Option<String>,
    /// The present facts, one clause each.
    pub now: Vec<String>,
}

impl Said {
    /// The wait for this controller.
    pub fn removed_by(name: impl Into<String>, state: Liveness, signs: Vec<String>) -> Self {
        Said {
            controller: Some(Actor {
                name: name.into(),
                part: None,
                state,
                signs,
            }),
            ..Said::default()
        }
    }

    /// This part of the controller acts.
    #[must_use]
    pub fn part(mut self, part: impl Into<String>) -> Self {
        if let Some(controller) = &mut self.controller {
            controller.part = Some(part.into());
        }
        self
    }

    /// The controller removes the finalizer on this condition.
    #[must_use]
    pub fn once(mut self, condition: impl Into<String>) -> Self {
        self.once = Some(condition.into());
        self
    }

    /// This is true now.
    #[must_use]
    pub fn now(mut self, fact: impl Into<String>) -> Self {
        self.now.push(fact.into());
        self
    }

    /// The controller and its condition; the present facts if no controller is known.
    pub fn summary(&self) -> String {
        match &self.controller {
            Some(controller) => {
                let once = self.once.as_ref();
                let once = once.map_or_else(String::new, |once| format!(", once {once}"));
                format!("removed by {}{once}", controller.in_words())
            }
            None => self.now.join("; "),
        }
    }

    /// The present facts about this object; the controller and its condition if there are none.
    pub fn about_object(&self) -> String {
        if self.now.is_empty() {
            self.summary()
        } else {
            self.now.join("; ")
        }
    }

    /// All clauses as one text: the field `says` of the JSON.
    pub fn in_words(&self) -> String {
        let mut sentences = vec![self.summary()];
        let signs = self.controller.iter().flat_map(|controller| &controller.signs);
        sentences.extend(signs.cloned());
        if let Some(work) = &self.work {
            sentences.push(format!("It waits for this: {}", work.trim_end_matches('.')));
        }
        if self.controller.is_some() && !self.now.is_empty() {
            sentences.push(self.now.join("; "));
        }
        sentences.join(". ")
    }
}

impl From<String> for Said {
    fn from(fact: String) -> Self {
        Said::default().now(fact)
    }
}

impl From<&str> for Said {
    fn from(fact: &str) -> Self {
        fact.to_owned().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joins_the_clauses_in_the_order_of_a_sentence() {
        let said = Said::removed_by(
            "the-controller",
            Liveness::Running,
            vec!["Lease renewed 2s ago".into()],
        )
        .once("no pod uses it")
        .now("one does")
        .now("it is Running");
        assert_eq!(
            said.in_words(),
            "removed by the-controller, once no pod uses it. Lease renewed 2s ago. one does; it is Running"
        );
        assert_eq!(Said::from("nobody is left").in_words(), "nobody is left");
    }
}
