//! Suggests what the user probably meant if an object does not exist: the same name in another namespace, or
//! a similar name. The suggestion is optional: it has little time, and the user may lack the permissions.

use std::{collections::BTreeSet, time::Duration};

use tokio::time::timeout;

use super::described;
use crate::run::witness::Witness;
use crate::{
    command::Command,
    error::Error,
    object::ResourceType,
    snapshot::{
        Why,
        facts::{Answer, Facts, Query, Resource},
    },
};

/// Maximum number of suggested names.
const MAX_NAMES: usize = 5;
/// Maximum time for a suggestion.
const MAX_TIME: Duration = Duration::from_secs(5);
/// A shorter name is similar to too many names.
const MIN_LETTERS: usize = 3;

/// The error for an object that does not exist, with a suggestion.
pub(super) async fn not_found(
    witness: Witness<'_>,
    ty: &ResourceType,
    namespace: Option<&str>,
    name: &str,
    facts: &mut Facts,
) -> Error {
    let no_namespace = match namespace {
        Some(namespace) => is_missing(witness, namespace, facts).await,
        None => false,
    };
    let message = match namespace {
        Some(namespace) if no_namespace => {
            format!(
                "namespace {namespace} does not exist, and so no {} {name} in it",
                ty.name()
            )
        }
        _ => format!("{} does not exist", described(ty, namespace, name)),
    };
    let hint = async {
        match (namespace, in_other_namespace(witness, ty, name).await) {
            (Some(_), Some(there)) => Some(there),
            (Some(namespace), None) if no_namespace => {
                let namespaces = facts.resource_type(&namespaces())?;
                similar(witness, namespaces, None, namespace, "namespace ").await
            }
            _ => similar(witness, ty, namespace, name, "").await,
        }
    };
    let hint = timeout(MAX_TIME, hint).await.ok().flatten();
    Error::Server {
        message,
        hint: Some(hint.unwrap_or_else(|| "if it was stuck, it is gone now".into())),
    }
}

fn namespaces() -> Resource {
    Resource::new("", "namespaces")
}

/// The command for the same name in another namespace, if the user may list there.
async fn in_other_namespace(witness: Witness<'_>, ty: &ResourceType, name: &str) -> Option<String> {
    let there = witness.names(ty, None, Some(name)).await.ok()?;
    let ((first, _), others) = there.split_first()?;
    let place = match others {
        [] => format!("namespace {first}"),
        [(second, _)] => format!("namespaces {first} and {second}"),
        more => format!("namespace {first} and {} others", more.len()),
    };
    Some(format!(
        "there is one in {place}: {}",
        Command::explain(&ty.name(), name, first)
    ))
}

async fn is_missing(witness: Witness<'_>, namespace: &str, facts: &mut Facts) -> bool {
    let query = Query::Object {
        resource: namespaces(),
        namespace: None,
        name: namespace.to_owned(),
    };
    witness.answer([query.clone()], facts).await;
    matches!(facts.answers.get(&query), Some(Ok(Answer::Object(None))))
}

/// Suggests similar names. Without the permission to list them, says so.
async fn similar(
    witness: Witness<'_>,
    ty: &ResourceType,
    namespace: Option<&str>,
    name: &str,
    what: &str,
) -> Option<String> {
    let names = match witness.names(ty, namespace, None).await {
        Ok(names) => names,
        Err(Why::Forbidden(_)) => {
            return Some(format!(
                "you may not list {} there, so no similar name can be offered",
                ty.name()
            ));
        }
        Err(_) => return None,
    };
    let near = nearest(name, names.iter().map(|(_, name)| name.as_str()));
    (!near.is_empty()).then(|| format!("did you mean {what}{}?", near.join(" or ")))
}

/// The most similar names, the most likely first.
fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted = &*wanted.to_lowercase();
    // Any two letters are similar to any other two.
    let limit = match wanted.chars().count() {
        ..MIN_LETTERS => 0,
        letters => 1 + letters / 4,
    };
    let scored = names.filter_map(|name| {
        let shorter = wanted.len().min(name.len());
        let begins = shorter >= MIN_LETTERS && (name.starts_with(wanted) || wanted.starts_with(name));
        let distance = strsim::damerau_levenshtein(wanted, name);
        // A matching prefix counts more than the same number of wrong letters, and less than one wrong
        // letter.
        let score = if begins { distance.min(2) } else { distance };
        (score <= limit || begins).then_some((score, name))
    });
    let best: BTreeSet<_> = scored.collect();
    best.into_iter().map(|(_, name)| name).take(MAX_NAMES).collect()
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn suggests_names_with_typos_and_matching_prefixes() {
        let names = [
            "data-0",
            "data-1",
            "data-10",
            "uploads",
            "scratch",
            "data-web-7f9c",
        ];
        let near = |wanted| nearest(wanted, names.into_iter());
        assert_eq!(near("dtaa-0"), ["data-0", "data-1", "data-10"]);
        assert_eq!(near("Uploads"), ["uploads"]);
        assert_eq!(near("uplaods"), ["uploads"]);
        assert_eq!(near("data-web"), ["data-web-7f9c", "data-0", "data-1", "data-10"]);
        assert_eq!(near("quux"), [] as [&str; 0]);
        assert_eq!(near("d"), [] as [&str; 0]);
        assert!(near("data").len() <= super::MAX_NAMES);
    }
}
