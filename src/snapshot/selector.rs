//! Label selectors. They are checked before they are sent, and applied here to files.
//!
//! Grammar and semantics: `kubernetes/apimachinery:pkg/labels/selector.go`.

use std::collections::BTreeMap;

use serde_json::Value;

/// A parsed selector. All its requirements must hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selector {
    text: String,
    requirements: Vec<Requirement>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Requirement {
    key: String,
    test: Test,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Test {
    In(Vec<String>),
    /// Also holds if the label is missing, as in the API server.
    NotIn(Vec<String>),
    Exists,
    Missing,
}

impl Selector {
    /// Parses `a=b,c!=d,e in (f,g),h notin (i),j,!k`. The error says what is wrong with the text.
    pub fn parse(text: &str) -> Result<Self, String> {
        let requirements = split_outside_parentheses(text)?
            .into_iter()
            .map(requirement)
            .collect::<Result<Vec<_>, _>>()?;
        if requirements.is_empty() {
            return Err("is empty".into());
        }
        Ok(Selector {
            text: text.trim().to_owned(),
            requirements,
        })
    }

    /// Parses a `LabelSelector` of an object: `matchLabels` and `matchExpressions`. None if it is invalid. An empty one
    /// selects everything, as a missing one does in most places (`kubernetes/apimachinery:pkg/apis/meta/v1/helpers.go`
    /// LabelSelectorAsSelector).
    pub fn of_object(value: &Value) -> Option<Self> {
        if value.is_null() {
            return Some(Selector {
                text: String::new(),
                requirements: Vec::new(),
            });
        }
        let labels = match value.as_object()?.get("matchLabels") {
            None | Some(Value::Null) => None,
            Some(labels) => Some(labels.as_object()?),
        };
        let expressions = match value.get("matchExpressions") {
            None | Some(Value::Null) => None,
            Some(expressions) => Some(expressions.as_array()?),
        };
        let labels = labels.into_iter().flatten().map(|(key, value)| {
            Some(Requirement {
                key: key.clone(),
                test: Test::In(vec![value.as_str()?.to_owned()]),
            })
        });
        let requirements: Option<Vec<_>> = labels
            .chain(expressions.into_iter().flatten().map(expression))
            .collect();
        Some(Selector {
            text: value.to_string(),
            requirements: requirements?,
        })
    }

    /// Whether it has no requirements, and so selects everything.
    pub fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }

    /// The selector as text, for `labelSelector=`.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether the selector matches these labels.
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        self.requirements.iter().all(|requirement| {
            let value = labels.get(&requirement.key);
            match &requirement.test {
                Test::In(values) => value.is_some_and(|value| values.contains(value)),
                Test::NotIn(values) => value.is_none_or(|value| !values.contains(value)),
                Test::Exists => value.is_some(),
                Test::Missing => value.is_none(),
            }
        })
    }
}

/// Parses one entry of `matchExpressions`.
fn expression(value: &Value) -> Option<Requirement> {
    let values = || -> Option<Vec<String>> {
        let values = value.get("values")?.as_array()?.iter();
        values.map(|value| Some(value.as_str()?.to_owned())).collect()
    };
    Some(Requirement {
        key: value.get("key")?.as_str()?.to_owned(),
        test: match value.get("operator")?.as_str()? {
            "In" => Test::In(values()?),
            "NotIn" => Test::NotIn(values()?),
            "Exists" => Test::Exists,
            "DoesNotExist" => Test::Missing,
            _ => return None,
        },
    })
}

fn split_outside_parentheses(text: &str) -> Result<Vec<&str>, String> {
    let (mut depth, mut closed_too_often) = (0_u32, false);
    let mut parts: Vec<_> = text
        .split(|c| {
            match c {
                '(' => depth += 1,
                ')' => match depth.checked_sub(1) {
                    Some(less) => depth = less,
                    None => closed_too_often = true,
                },
                _ => {}
            }
            c == ',' && depth == 0
        })
        .map(str::trim)
        .collect();
    if closed_too_often {
        return Err("has a `)` without its `(`".into());
    }
    if depth > 0 {
        return Err("has a `(` without its `)`".into());
    }
    if parts.iter().any(|part| part.is_empty()) && parts.len() != 1 {
        return Err("has an empty part between commas".into());
    }
    parts.retain(|part| !part.is_empty());
    Ok(parts)
}

fn requirement(part: &str) -> Result<Requirement, String> {
    if let Some(key) = part.strip_prefix('!') {
        return Ok(Requirement {
            key: label_key(key)?,
            test: Test::Missing,
        });
    }
    if let Some((key, values)) = part.split_once('(') {
        let values = values
            .strip_suffix(')')
            .ok_or_else(|| format!("{part:?} does not end in `)`"))?;
        let values = values.split(',').map(|value| value.trim().to_owned()).collect();
        let mut words = key.split_whitespace();
        let (key, operator) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
        let test = match (operator, words.next()) {
            ("in", None) => Test::In(values),
            ("notin", None) => Test::NotIn(values),
            _ => return Err(format!("{part:?}: expected `KEY in (…)` or `KEY notin (…)`")),
        };
        return Ok(Requirement {
            key: label_key(key)?,
            test,
        });
    }
    let (key, value, test): (_, _, fn(Vec<String>) -> Test) =
        if let Some((key, value)) = part.split_once("!=") {
            (key, value, Test::NotIn)
        } else if let Some((key, value)) = part.split_once('=') {
            (key, value, Test::In)
        } else {
            return Ok(Requirement {
                key: label_key(part)?,
                test: Test::Exists,
            });
        };
    let value = value.trim_start_matches('=').trim();
    if value.contains(|c: char| c.is_whitespace() || "=!()".contains(c)) {
        return Err(format!("{value:?} is not a label value"));
    }
    Ok(Requirement {
        key: label_key(key)?,
        test: test(vec![value.to_owned()]),
    })
}

fn label_key(text: &str) -> Result<String, String> {
    let key = text.trim();
    let (prefix, name) = key.split_once('/').unwrap_or(("a", key));
    let good = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphanumeric())
            && part.ends_with(|c: char| c.is_ascii_alphanumeric())
            && part
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
    };
    if good(prefix) && good(name) {
        Ok(key.to_owned())
    } else {
        Err(format!("{key:?} is not a label key"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn selects(selector: &str, labels: &[(&str, &str)]) -> bool {
        let labels = labels
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect();
        Selector::parse(selector).expect(selector).matches(&labels)
    }

    #[test]
    fn each_operator_works_as_in_the_api_server() {
        assert!(selects("app=web", &[("app", "web")]));
        assert!(selects("app==web, tier!=db", &[("app", "web")]));
        assert!(!selects("tier!=db", &[("tier", "db")]));
        assert!(selects("env in (a, b),!gone", &[("env", "b")]));
        assert!(selects("env notin (a,b)", &[]));
        assert!(!selects("app", &[]));
        assert!(selects(
            "app.kubernetes.io/name",
            &[("app.kubernetes.io/name", "")]
        ));
    }

    #[test]
    fn a_selector_in_an_object_works_the_same() {
        let selects = |selector: Value, labels: &[(&str, &str)]| {
            let labels = labels
                .iter()
                .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
                .collect();
            Selector::of_object(&selector).map(|selector| selector.matches(&labels))
        };
        let both = json!({"matchLabels": {"a": "b"}, "matchExpressions": [{"key": "c", "operator": "NotIn", "values": ["d"]}]});
        assert_eq!(selects(both.clone(), &[("a", "b")]), Some(true));
        assert_eq!(selects(both.clone(), &[("a", "b"), ("c", "d")]), Some(false));
        assert_eq!(selects(both, &[]), Some(false));
        for everything in [
            json!(null),
            json!({}),
            json!({"matchLabels": {}, "matchExpressions": null}),
        ] {
            assert_eq!(selects(everything.clone(), &[]), Some(true), "{everything}");
            assert!(Selector::of_object(&everything).is_some_and(|selector| selector.is_empty()));
        }
        let exists = |operator: &str| json!({"matchExpressions": [{"key": "a", "operator": operator}]});
        assert_eq!(selects(exists("Exists"), &[("a", "")]), Some(true));
        assert_eq!(selects(exists("DoesNotExist"), &[("a", "")]), Some(false));
        for nonsense in [
            exists("In"),
            exists("Like"),
            json!("a"),
            json!({"matchLabels": {"a": 1}}),
        ] {
            assert_eq!(selects(nonsense.clone(), &[]), None, "{nonsense}");
        }
    }

    #[test]
    fn rejects_invalid_selectors() {
        for wrong in [
            "",
            "a=b,,c",
            "env in (a",
            "env on (a)",
            "a=b=c",
            "a b",
            "=",
            "a)",
            "!",
            "a/b/c=d",
            "/a=b",
            "-a=b",
        ] {
            assert!(Selector::parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
