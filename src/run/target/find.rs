//! Finds the object that the user typed.

use std::collections::BTreeSet;

use super::{Named, described, near};
use crate::run::witness::Witness;
use crate::{
    command::Command,
    diagnose::is_definition_failure,
    error::Error,
    object::{ResourceType, pasteable},
    settings::NamespaceChoice,
    snapshot::{
        Why,
        facts::{Answer, Facts, Object, Query, Resource},
        select::select,
    },
};

/// Maximum number of objects with one name. `scan` lists more.
const MAX_OBJECTS: usize = 20;

/// Where an object can be: its type, and its namespaces.
pub(in crate::run) struct Places {
    pub(in crate::run) ty: ResourceType,
    pub(in crate::run) namespaces: Vec<Option<String>>,
}

/// Finds the object, or with `-A` all objects of that name; never none. `notes` gets the other types that the
/// word could mean.
pub(in crate::run) async fn find(
    witness: Witness<'_>,
    target: Named<'_>,
    place: &NamespaceChoice,
    facts: &mut Facts,
    notes: &mut BTreeSet<String>,
) -> Result<Vec<Object>, Error> {
    let Places { ty, namespaces } = places(witness, target, place, facts, notes).await?;
    if namespaces.is_empty() {
        return Err(Error::Server {
            message: format!("there is no {} {} in any namespace", ty.name(), target.name),
            hint: Some("if it was stuck, it is gone now".into()),
        });
    }
    let mut found = Vec::new();
    for namespace in &namespaces {
        match read(witness, &ty, namespace.as_deref(), target.name, facts).await? {
            Some(object) => found.push(object),
            // It was listed a moment ago and is gone now.
            None if namespaces.len() > 1 => {}
            None => {
                return Err(near::not_found(witness, &ty, namespace.as_deref(), target.name, facts).await);
            }
        }
    }
    Ok(found)
}

/// The namespaces in which the object is, or for a single namespace, can be.
pub(in crate::run) async fn places(
    witness: Witness<'_>,
    target: Named<'_>,
    place: &NamespaceChoice,
    facts: &Facts,
    notes: &mut BTreeSet<String>,
) -> Result<Places, Error> {
    let ty = type_of(target.resource, facts, notes)?;
    let namespaces = match place {
        _ if !ty.namespaced => vec![None],
        NamespaceChoice::In(namespace) => vec![Some(namespace.clone())],
        NamespaceChoice::OfContext => vec![Some(witness.namespace().to_owned())],
        NamespaceChoice::Anywhere => namespaces_with(witness, &ty, target.name).await?,
    };
    Ok(Places { ty, namespaces })
}

/// The type that a word means to kubectl.
pub(in crate::run) fn type_of(
    word: &str,
    facts: &Facts,
    notes: &mut BTreeSet<String>,
) -> Result<ResourceType, Error> {
    let selection = select(&[word.to_owned()], &facts.types).map_err(|unknown| unknown.error(&facts.gaps))?;
    notes.extend(selection.notes);
    let mut types = selection.types;
    match (types.pop(), types.as_slice()) {
        (Some(ty), []) => Ok(ty),
        _ => Err(Error::Usage {
            message: format!("{word} is a category of types: which type is it?"),
            hint: Some(format!(
                "what is stuck among them: {}",
                Command::of("kubectl finalizers scan {}", [word])
            )),
        }),
    }
}

/// The query for an object.
pub(in crate::run) fn query_for(ty: &ResourceType, namespace: Option<&str>, name: &str) -> Query {
    Query::Object {
        resource: Resource::new(&ty.group, &ty.plural),
        namespace: namespace.filter(|_| ty.namespaced).map(str::to_owned),
        name: name.to_owned(),
    }
}

async fn namespaces_with(
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
        many if many > MAX_OBJECTS => Err(Error::Usage {
            message: format!("there are {many} {} {name}: which one is it?", ty.name()),
            hint: Some(format!(
                "name one namespace with -n; what is stuck among them: {}",
                Command::of("kubectl finalizers scan {}", [&ty.name()])
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
    let found = look_up(witness, ty, namespace, name, facts).await;
    found.map_err(|why| match why {
        Why::NotInDump => not_recorded(witness, &pasteable(&ty.name(), namespace, name)),
        why => unreadable(ty, &described(ty, namespace, name), &why),
    })
}

/// The error about an object that the files do not have.
fn not_recorded(witness: Witness<'_>, object: &str) -> Error {
    let (message, hint) = match witness {
        Witness::Dump(..) => (
            format!("{object} is not in these files"),
            "save it too: kubectl get TYPE -A -o yaml",
        ),
        _ => (
            format!("{object} is not in this snapshot"),
            "a snapshot keeps stuck objects, what they wait for, and those named when it was taken",
        ),
    };
    Error::Server {
        message,
        hint: Some(hint.to_owned()),
    }
}

/// Reads the object, unless the facts have it; none if it does not exist.
pub(in crate::run) async fn look_up(
    witness: Witness<'_>,
    ty: &ResourceType,
    namespace: Option<&str>,
    name: &str,
    facts: &mut Facts,
) -> Result<Option<Object>, Why> {
    let query = query_for(ty, namespace, name);
    if !facts.answers.contains_key(&query) {
        witness.answer([query.clone()], facts).await;
    }
    match facts.answers.get(&query) {
        Some(Ok(Answer::Object(None))) => Ok(None),
        Some(Ok(Answer::Object(Some(object)))) if object.name() == name => Ok(Some((**object).clone())),
        Some(Ok(_)) => Err(Why::Undecodable("the answer is something else".into())),
        Some(Err(why)) => match witness {
            Witness::Saved(saved) => saved.listed(&query).cloned().map(Some).ok_or_else(|| why.clone()),
            _ => Err(why.clone()),
        },
        None => Err(Why::Interrupted),
    }
}

/// The error about an object that could not be read.
pub(in crate::run) fn unreadable(ty: &ResourceType, what: &str, why: &Why) -> Error {
    Error::Server {
        message: format!("cannot read {what}: {}", why.message()),
        hint: match why {
            Why::TimedOut(_) => Some("--request-timeout gives the server more time".into()),
            _ if is_definition_failure(&why.message()) => Some(format!(
                "its definition stops that, and what to do is said of it: {}",
                Command::explain("crd", &ty.name(), "")
            )),
            _ => None,
        },
    }
}
