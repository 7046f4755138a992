//! Reads an object again after a write.

use serde_json::Value;

use crate::{
    cluster::{self, Server},
    diagnose::{kinds::ManagedFields, reclaim_policy},
    object::Finalizer,
    plan::{Action, Plan, RETAIN},
    snapshot::{
        Why,
        facts::{Answer, Facts, Object, Query},
    },
};

/// The state of the object after a write, or after one whose response was lost.
#[derive(Clone, Debug, PartialEq)]
pub enum After {
    /// The object does not exist any more.
    Gone,
    /// The change is made (the finalizer is removed, the policy is Retain), and the object still exists.
    Out(Box<Object>),
    /// The change is not made, or not any more.
    StillOn(Box<Object>),
    /// Another object has that name.
    Another(Box<Object>),
    /// The object could not be read.
    NotKnown(Why),
}

/// Reads one object again.
pub struct ReadBack<'a> {
    server: &'a Server,
    facts: Facts,
    plan: &'a Plan,
}

impl<'a> ReadBack<'a> {
    /// Prepares to read the object of a plan.
    pub fn of(server: &'a Server, facts: &Facts, plan: &'a Plan) -> Self {
        ReadBack {
            server,
            facts: facts.unasked(),
            plan,
        }
    }

    /// The current state. The server reads a single object from etcd, not from a cache.
    pub async fn state(&mut self) -> After {
        let query = Query::of(&self.plan.target);
        cluster::answer(self.server, [query.clone()], &mut self.facts).await;
        match self.facts.answers.remove(&query) {
            Some(Ok(Answer::Object(None))) => After::Gone,
            Some(Ok(Answer::Object(Some(object)))) => self.compare(object),
            Some(Err(why)) => After::NotKnown(why),
            _ => After::NotKnown(Why::Interrupted),
        }
    }

    fn compare(&self, object: Box<Object>) -> After {
        if object.uid() != self.plan.target.uid {
            return After::Another(object);
        }
        let still_on = match (&self.plan.finalizer, self.plan.action) {
            // Such a rescue looks for itself.
            (_, Action::Rescue | Action::Unmark) => true,
            (_, Action::Retain) => reclaim_policy::policy(&object) != RETAIN,
            (Some(finalizer), Action::Remove | Action::Finalize) => {
                let count = |all: &[Finalizer]| all.iter().filter(|one| *one == finalizer).count();
                count(&object.finalizers()) > count(&self.plan.stays)
            }
            _ => object.annotation(crate::diagnose::NUDGED) != self.plan.resource_version,
        };
        if still_on {
            After::StillOn(object)
        } else {
            After::Out(object)
        }
    }
}

/// The field manager that added a finalizer, and the latest possible time, from `metadata.managedFields`. None if no manager
/// owns it, as with a finalizer from an admission plugin or a webhook.
pub fn added_by<'a>(object: &'a Object, finalizer: &str) -> Option<(&'a str, &'a str)> {
    let key = format!("v:{}", Value::from(finalizer));
    manager_of(object, &["f:metadata", "f:finalizers", &key])
}

/// The same for the reclaim policy of a volume.
pub fn policy_set_by(volume: &Object) -> Option<(&str, &str)> {
    manager_of(volume, &["f:spec", "f:persistentVolumeReclaimPolicy"])
}

fn manager_of<'a>(object: &'a Object, path: &[&str]) -> Option<(&'a str, &'a str)> {
    ManagedFields::all(object).find_map(|entry| {
        entry.below(path)?;
        Some((entry.manager()?, entry.time_in_words()))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::added_by;
    use crate::snapshot::facts::{Object, Resource};

    #[test]
    fn reads_who_added_a_finalizer_from_managed_fields() {
        let owns = |manager: &str, name: &str| {
            json!({"manager": manager, "time": "2026-01-01T00:00:00Z",
                "fieldsV1": {"f:metadata": {"f:finalizers": {format!("v:\"{name}\""): {}}}}})
        };
        let object = Object {
            resource: Resource::new("", "configmaps"),
            kind: "ConfigMap".into(),
            api_version: "v1".into(),
            value: json!({"metadata": {"managedFields": [
                {"manager": "kubectl", "fieldsV1": {"f:data": {}}},
                owns("operator", "x.test/hold"),
            ]}}),
        };
        assert_eq!(
            added_by(&object, "x.test/hold"),
            Some(("operator", "2026-01-01T00:00:00Z"))
        );
        assert_eq!(added_by(&object, "x.test/else"), None);
    }
}
