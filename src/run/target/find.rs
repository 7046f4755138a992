//! From what was typed to the object that is there.

use std::collections::BTreeSet;

use super::{Named, near};
use crate::run::witness::Witness;
use crate::{
    diagnose::is_definition_failure,
    error::Error,
    object::ResourceType,
    settings::Place,
    snapshot::{
        Why,
        facts::{Answer, Facts, Object, Query, Resource},
        select::select,
    },
};

/// More objects of one name, wherever they are, are a list, and `scan` makes lists.
const MOST: usize = 20;

/// The object, or with `-A` all of that name; never none. What else could have been meant is said in `notes`.
pub(in crate::run) async fn find(
    witness: Witness<'_>,
    target: Named<'_>,
    place: &Place,
    facts: &mut Facts,
    notes: &mut BTreeSet<String>,
) -> Result<Vec<Object>, Error> {
    let ty = type_of(target.resource, facts, notes)?;
    let places = match place {
        _ if !ty.namespaced => vec![None],
        Place::In(namespace) => vec![Some(namespace.clone())],
        Place::OfContext => vec![Some(witness.namespace().to_owned())],
        Place::Anywhere => everywhere(witness, &ty, target.name).await?,
    };
    let mut found = Vec::new();
    for namespace in &places {
        match read(witness, &ty, namespace.as_deref(), target.name, facts).await? {
            Some(object) => found.push(object),
            // It was listed a moment ago.
            None if places.len() > 1 => {}
            None => {
                return Err(near::not_found(witness, &ty, namespace.as_deref(), target.name, facts).await);
            }
        }
    }
    Ok(found)
}

/// The type that a word names, as kubectl would take it.
pub(in crate::run) fn type_of(
    word: &str,
    facts: &Facts,
    notes: &mut BTreeSet<String>,
) -> Result<ResourceType, Error> {
    let selection = select(&[word.to_owned()], &facts.types)
        .map_err(|unknown| Error::unknown_type(&unknown, &facts.gaps))?;
    notes.extend(selection.notes);
    let mut types = selection.types;
    match (types.pop(), types.as_slice()) {
        (Some(ty), []) => Ok(ty),
        _ => Err(Error::Usage {
            message: format!("{word} is a category of types: which type is it?"),
            hint: Some(format!(
                "what is stuck among them: kubectl finalizers scan {word}"
            )),
        }),
    }
}

/// The question after an object.
pub(in crate::run) fn question(ty: &ResourceType, namespace: Option<&str>, name: &str) -> Query {
    Query::Object {
        resource: Resource::new(&ty.group, &ty.plural),
        namespace: namespace.filter(|_| ty.namespaced).map(str::to_owned),
        name: name.to_owned(),
    }
}

async fn everywhere(
    witness: Witness<'_>,
    ty: &ResourceType,
    name: &str,
) -> Result<Vec<Option<String>>, Error> {
    let what = format!("{} {name} in any namespace", ty.name());
    let names = witness
        .names(ty, None, Some(name))
        .await
        .map_err(|why| unreadable(ty, &what, &why))?;
    match names.len() {
        0 => Err(Error::Server {
            message: format!("there is no {what}"),
            hint: Some("if it was stuck, it is gone now".into()),
        }),
        many if many > MOST => Err(Error::Usage {
            message: format!("there are {many} {} {name}: which one is it?", ty.name()),
            hint: Some(format!(
                "name one namespace with -n; what is stuck among them: kubectl finalizers scan {}",
                ty.name()
            )),
        }),
        _ => Ok(names.into_iter().map(|(namespace, _)| Some(namespace)).collect()),
    }
}

async fn read(
    witness: Witness<'_>,
    ty: &ResourceType,
    namespace: Option<&str>,
    name: &str,
    facts: &mut Facts,
) -> Result<Option<Object>, Error> {
    let query = question(ty, namespace, name);
    if !facts.answers.contains_key(&query) {
        witness.answer([query.clone()], facts).await;
    }
    let what = described(ty, namespace, name);
    match facts.answers.get(&query) {
        Some(Ok(Answer::Object(None))) => Ok(None),
        Some(Ok(Answer::Object(Some(object)))) if object.name() == name => Ok(Some((**object).clone())),
        Some(Ok(_)) => Err(unreadable(
            ty,
            &what,
            &Why::Undecodable("the answer is something else".into()),
        )),
        Some(Err(why)) => Err(unreadable(ty, &what, why)),
        _ => Err(unreadable(ty, &what, &Why::Interrupted)),
    }
}

/// `persistentvolumeclaims data-0 in namespace db`.
pub(super) fn described(ty: &ResourceType, namespace: Option<&str>, name: &str) -> String {
    match namespace {
        Some(namespace) => format!("{} {name} in namespace {namespace}", ty.name()),
        None => format!("{} {name}", ty.name()),
    }
}

fn unreadable(ty: &ResourceType, what: &str, why: &Why) -> Error {
    Error::Server {
        message: format!("cannot read {what}: {}", why.message()),
        hint: match why {
            Why::TimedOut(_) => Some("--request-timeout gives the server more time".into()),
            _ if is_definition_failure(&why.message()) => Some(format!(
                "its definition stops that, and what to do is said of it: kubectl finalizers explain crd/{}",
                ty.name()
            )),
            _ => None,
        },
    }
}
