//! The clauses about one wait. Each clause is a value. Their sentences are made in `output/said.rs`.

use serde::Serialize;

/// The conclusion from all signs of a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
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
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Actor {
    /// Its name: `kube-controller-manager`.
    pub name: String,
    /// Which part of it acts: `pvc-protection`.
    pub part: Option<String>,
    /// Whether it lives.
    pub state: Liveness,
    /// Whether that is likely only: what was seen may be of another program.
    pub likely: bool,
    /// Its version, as its image is tagged; none if that is not known.
    pub version: Option<String>,
    /// The evidence for that, one sentence each: `Lease renewed 2s ago`.
    pub signs: Vec<String>,
}

/// The clauses about one wait.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
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
                likely: false,
                version: None,
                signs,
            }),
            ..Said::default()
        }
    }

    /// The state of the controller is likely only.
    #[must_use]
    pub fn likely(mut self, is_likely: bool) -> Self {
        if let Some(controller) = &mut self.controller {
            controller.likely = is_likely;
        }
        self
    }

    /// The controller has this version.
    #[must_use]
    pub fn version(mut self, version: Option<&str>) -> Self {
        if let Some(controller) = &mut self.controller {
            controller.version = version.map(str::to_owned);
        }
        self
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

    /// Only the controller and its condition; the present facts if no controller is known.
    #[must_use]
    pub fn summary(&self) -> Said {
        match &self.controller {
            Some(controller) => Said {
                controller: Some(Actor {
                    signs: Vec::new(),
                    ..controller.clone()
                }),
                once: self.once.clone(),
                ..Said::default()
            },
            None => self.facts(),
        }
    }

    /// Only the present facts about this object; the controller and its condition if there are none.
    #[must_use]
    pub fn about_object(&self) -> Said {
        if self.now.is_empty() {
            self.summary()
        } else {
            self.facts()
        }
    }

    /// Only the present facts.
    #[must_use]
    pub fn facts(&self) -> Said {
        Said::of_facts(self.now.clone())
    }

    /// The present facts that are true of both; none if there are none.
    #[must_use]
    pub fn in_common(&self, other: &Said) -> Option<Said> {
        let facts = self.now.iter().filter(|fact| other.now.contains(fact));
        let facts: Vec<_> = facts.cloned().collect();
        (!facts.is_empty()).then(|| Said::of_facts(facts))
    }

    /// These facts, and no controller.
    pub fn of_facts(now: Vec<String>) -> Said {
        Said {
            now,
            ..Said::default()
        }
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
