//! What was probably meant by the name of an object that is not there: the same name in another namespace, or names
//! that are nearly the same. A courtesy: it has little time, and needs rights that one may not have.

use std::{collections::BTreeSet, time::Duration};

use tokio::time::timeout;

use super::find::described;
use crate::run::witness::Witness;
use crate::{
    error::Error,
    object::ResourceType,
    snapshot::{
        Why,
        facts::{Answer, Facts, Query, Resource},
    },
};

/// As many names are read at a glance.
const OFFERED: usize = 5;
/// Nobody waits longer for a hint.
const LONGEST: Duration = Duration::from_secs(5);
/// What is shorter is like nothing and like everything.
const SHORTEST: usize = 3;

/// That there is no such object, and what there is in its stead.
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
        match (namespace, elsewhere(witness, ty, name).await) {
            (Some(_), Some(there)) => Some(there),
            (Some(namespace), None) if no_namespace => {
                let namespaces = facts.resource_type(&namespaces())?;
                similar(witness, namespaces, None, namespace, "namespace ").await
            }
            _ => similar(witness, ty, namespace, name, "").await,
        }
    };
    let hint = timeout(LONGEST, hint).await.ok().flatten();
    Error::Server {
        message,
        hint: Some(hint.unwrap_or_else(|| "if it was stuck, it is gone now".into())),
    }
}

fn namespaces() -> Resource {
    Resource::new("", "namespaces")
}

/// The command for the same name in another namespace, if one may look there.
async fn elsewhere(witness: Witness<'_>, ty: &ResourceType, name: &str) -> Option<String> {
    let there = witness.names(ty, None, Some(name)).await.ok()?;
    let ((first, _), others) = there.split_first()?;
    let place = match others {
        [] => format!("namespace {first}"),
        [(second, _)] => format!("namespaces {first} and {second}"),
        more => format!("namespace {first} and {} others", more.len()),
    };
    Some(format!(
        "there is one in {place}: kubectl finalizers explain {} {name} -n {first}",
        ty.name()
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

/// Names like this one; without the right to list them, that there is none to offer for that reason.
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

/// The names most like this one, the likeliest first.
fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted = &*wanted.to_lowercase();
    // Of two letters any other two are within reach.
    let limit = match wanted.chars().count() {
        ..SHORTEST => 0,
        letters => 1 + letters / 4,
    };
    let scored = names.filter_map(|name| {
        let shorter = wanted.len().min(name.len());
        let begins = shorter >= SHORTEST && (name.starts_with(wanted) || wanted.starts_with(name));
        let distance = strsim::damerau_levenshtein(wanted, name);
        // A beginning that fits says more than as many wrong letters, and less than one.
        let score = if begins { distance.min(2) } else { distance };
        (score <= limit || begins).then_some((score, name))
    });
    let best: BTreeSet<_> = scored.collect();
    best.into_iter().map(|(_, name)| name).take(OFFERED).collect()
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn slips_of_the_finger_and_beginnings() {
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
        assert!(near("data").len() <= super::OFFERED);
    }
}
