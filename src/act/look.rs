//! Reading back: what there is now under the name of what was written to.

use serde_json::Value;

use crate::{
    cluster::{self, Server},
    object::Finalizer,
    plan::{Action, Plan},
    snapshot::{
        Why,
        facts::{Answer, Facts, Object, Query},
    },
};

/// How it stands after a write, or after one whose answer was lost.
#[derive(Clone, Debug, PartialEq)]
pub enum After {
    /// There is no such object any more.
    Gone,
    /// What was to be taken out is out, and the object is still there.
    Out(Box<Object>),
    /// What was to be taken out is still, or again, on it.
    StillOn(Box<Object>),
    /// Another object of that name is there.
    Another(Box<Object>),
    /// It could not be read.
    NotKnown(Why),
}

/// Looks again at one object.
pub struct Look<'a> {
    server: &'a Server,
    facts: Facts,
    plan: &'a Plan,
}

impl<'a> Look<'a> {
    /// At the object of a plan.
    pub fn at(server: &'a Server, facts: &Facts, plan: &'a Plan) -> Self {
        Look {
            server,
            facts: facts.unasked(),
            plan,
        }
    }

    /// How it stands now. The server reads a single object from etcd and not from a cache.
    pub async fn now(&mut self) -> After {
        let query = Query::of(&self.plan.target);
        cluster::answer(self.server, [query.clone()], &mut self.facts).await;
        match self.facts.answers.remove(&query) {
            Some(Ok(Answer::Object(None))) => After::Gone,
            Some(Ok(Answer::Object(Some(object)))) => self.judge(object),
            Some(Err(why)) => After::NotKnown(why),
            _ => After::NotKnown(Why::Interrupted),
        }
    }

    fn judge(&self, object: Box<Object>) -> After {
        if object.uid() != self.plan.target.uid {
            return After::Another(object);
        }
        let still_on = match (&self.plan.finalizer, self.plan.action) {
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

/// Who added a finalizer, by `metadata.managedFields`, and when at the latest; none where nobody is on record, as for what
/// an admission plugin or a webhook adds.
pub fn added_by<'a>(object: &'a Object, finalizer: &str) -> Option<(&'a str, &'a str)> {
    let key = format!("v:{}", Value::from(finalizer));
    object.list("/metadata/managedFields").iter().find_map(|entry| {
        entry.pointer("/fieldsV1/f:metadata/f:finalizers")?.get(&key)?;
        let field = |name: &str| entry.get(name).and_then(Value::as_str);
        Some((field("manager")?, field("time").unwrap_or_default()))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::added_by;
    use crate::snapshot::facts::{Object, Resource};

    #[test]
    fn who_added_a_finalizer_stands_in_managed_fields() {
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
