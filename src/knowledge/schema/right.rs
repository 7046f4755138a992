//! Rights in the form `VERB TYPE`: `delete persistentvolumeclaims`, `delete widgets.example.com`. Behind that may stand for which
//! objects the controller needs it: `if spec.storage`, `unless spec.storage.keepAfterDelete`.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A right of a controller on the objects of a type.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(
    test,
    schemars(extend(
        "pattern" = r"^(get|list|watch|create|update|patch|delete|deletecollection) [a-z0-9-]+(\.[a-z0-9.-]+)?( (if|unless) [A-Za-z0-9.]+)*$"
    ))
)]
pub struct Right {
    verb: String,
    plural: String,
    group: String,
    /// For which objects its controller needs it.
    clauses: Vec<Clause>,
}

/// `if FIELD` or `unless FIELD`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Clause {
    is_set: bool,
    field: String,
}

/// The verbs of requests for objects
/// (`kubernetes/website:content/en/docs/reference/access-authn-authz/authorization.md`).
const VERBS: [&str; 8] = [
    "get",
    "list",
    "watch",
    "create",
    "update",
    "patch",
    "delete",
    "deletecollection",
];

impl Right {
    /// The verb of the request.
    pub fn verb(&self) -> &str {
        &self.verb
    }

    /// The plural of the type.
    pub fn plural(&self) -> &str {
        &self.plural
    }

    /// The group of the type; empty for the core group.
    pub fn group(&self) -> &str {
        &self.group
    }

    /// The type, `plural.group`.
    pub fn type_name(&self) -> String {
        match self.group.as_str() {
            "" => self.plural.clone(),
            group => format!("{}.{group}", self.plural),
        }
    }

    /// Whether the controller of this object needs it.
    pub fn is_needed_for(&self, object: &Value) -> bool {
        self.clauses.iter().all(|clause| {
            let pointer = format!("/{}", clause.field.replace('.', "/"));
            is_set(object.pointer(&pointer)) == clause.is_set
        })
    }
}

/// Whether a field has a value that is neither empty nor `false`.
pub fn is_set(field: Option<&Value>) -> bool {
    match field {
        None | Some(Value::Null | Value::Bool(false)) => false,
        Some(Value::String(text)) => !text.is_empty(),
        Some(_) => true,
    }
}

impl TryFrom<String> for Right {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let words: Vec<_> = text.split(' ').collect();
        let wrong = || {
            format!(
                "`{text}` is not a right: write the verb and the plural of the type, such as `delete widgets.example.com`, and perhaps `if FIELD` or `unless FIELD`"
            )
        };
        let [verb, ty, rest @ ..] = words.as_slice() else {
            return Err(wrong());
        };
        let (plural, group) = ty.split_once('.').unwrap_or((ty, ""));
        let in_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        let is_plural = !plural.is_empty() && plural.chars().all(|c| in_name(c) || c == '-');
        let in_group = |c: char| in_name(c) || "-.".contains(c);
        let has_group = group.chars().all(in_group) && ty.contains('.') != group.is_empty();
        let clause = |words: &[&str]| match words {
            ["if" | "unless", field] if !field.is_empty() => Some(Clause {
                is_set: words.first() == Some(&"if"),
                field: (*field).to_owned(),
            }),
            _ => None,
        };
        let clauses: Option<Vec<_>> = rest.chunks(2).map(clause).collect();
        match clauses {
            Some(clauses) if VERBS.contains(verb) && is_plural && has_group => Ok(Self {
                verb: (*verb).to_owned(),
                plural: plural.to_owned(),
                group: group.to_owned(),
                clauses,
            }),
            _ => Err(wrong()),
        }
    }
}

impl From<Right> for String {
    fn from(right: Right) -> Self {
        right.to_string()
    }
}

impl fmt::Display for Right {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.verb, self.type_name())?;
        for clause in &self.clauses {
            let word = if clause.is_set { "if" } else { "unless" };
            write!(f, " {word} {}", clause.field)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_right_is_read_as_it_is_written() {
        for text in [
            "delete persistentvolumeclaims",
            "list widgets.example.com",
            "delete network-attachment-definitions.k8s.cni.cncf.io",
            "delete persistentvolumeclaims if spec.storage unless spec.storage.keepAfterDelete",
        ] {
            let right = Right::try_from(text.to_owned()).expect(text);
            assert_eq!(right.to_string(), text);
        }
        for text in [
            "",
            "delete",
            "destroy widgets",
            "delete Widget",
            "delete widgets.",
            "delete widgets if",
            "delete widgets when spec.a",
            "delete widgets if spec.a unless",
        ] {
            assert!(Right::try_from(text.to_owned()).is_err(), "{text}");
        }
    }

    #[test]
    fn the_object_tells_whether_its_controller_needs_the_right() {
        let text = "delete persistentvolumeclaims if spec.storage unless spec.storage.keep";
        let right = Right::try_from(text.to_owned()).expect("a right");
        assert_eq!(right.type_name(), "persistentvolumeclaims");
        for (spec, is_needed) in [
            (json!({}), false),
            (json!({"storage": {}}), true),
            (json!({"storage": {"keep": false}}), true),
            (json!({"storage": {"keep": true}}), false),
        ] {
            assert_eq!(right.is_needed_for(&json!({"spec": spec})), is_needed, "{spec}");
        }
    }
}
