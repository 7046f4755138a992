//! Answers the queries of a diagnosis: all queries of a round in parallel, and each fails alone.

use std::cell::RefCell;

use futures::{StreamExt, stream};
use jiff::Timestamp;
use serde_json::Value;

use super::{
    PARALLEL,
    discovery::discover,
    each::{Selection, object_of},
    list::{Family, Listing},
    paths::{field_value, object_path, selector_parameters},
    request::{METADATA_LIST, METADATA_OBJECT, Server, WHOLE},
};
use crate::{
    error::Error,
    object::{ObjectRef, ResourceType, escape},
    snapshot::{
        Filter, Gap, Keep, Room, What, Why,
        facts::{Answer, By, Content, Facts, Object, Owned, Query, Resource, Where},
    },
};

/// The facts before the first query: the server's types and its time.
pub async fn initial_facts(server: &Server) -> Result<Facts, Error> {
    let found = discover(server)
        .await
        .map_err(|failure| super::scan::no_discovery(server, failure))?;
    Ok(Facts {
        redacted: false,
        now: found.date.unwrap_or_else(Timestamp::now),
        types: found.types,
        gaps: found.gaps,
        answers: std::collections::BTreeMap::new(),
        kept: 0,
    })
}

/// Answers the queries. Each answer goes into the facts when it comes, so that it survives when this is stopped. All lists of
/// these facts share their room; one that has no room is a gap.
pub async fn answer(server: &Server, queries: impl IntoIterator<Item = Query>, facts: &mut Facts) {
    answer_and_tell(server, queries, facts, &|_| {}).await;
}

/// Answers the queries as [`answer`] does, and calls `tell` for each answered query.
pub async fn answer_and_tell(
    server: &Server,
    queries: impl IntoIterator<Item = Query>,
    facts: &mut Facts,
    tell: &dyn Fn(&Query),
) {
    let (known, room) = (facts.unasked(), Room::beside(facts.kept));
    let mut answers = stream::iter(queries)
        .map(|query| async {
            let answer = answer_one(server, &query, (&known, &room)).await;
            (query, answer)
        })
        .buffer_unordered(PARALLEL);
    while let Some((query, answer)) = answers.next().await {
        tell(&query);
        facts.answers.insert(query, answer);
        facts.kept = room.kept();
    }
}

/// Namespace and name of the objects of a type, in one namespace or everywhere. With `wanted_name`, only objects of
/// that name. Reads only metadata, whatever the type.
pub async fn names(
    server: &Server,
    ty: &ResourceType,
    namespace: Option<&str>,
    wanted_name: Option<&str>,
) -> Result<Vec<(String, String)>, Why> {
    let mut fields = String::new();
    if let Some(name) = wanted_name {
        fields.push_str("&fieldSelector=");
        escape(&format!("metadata.name={}", field_value(name)), &mut fields);
    }
    let objects = list(server, ty, namespace, (&fields, METADATA_LIST), &Room::default()).await?;
    let names = objects
        .iter()
        .map(|object| (object.namespace().to_owned(), object.name().to_owned()));
    // Aggregated APIs may ignore field selectors.
    Ok(names
        .filter(|(_, name)| wanted_name.is_none_or(|wanted| wanted == name))
        .collect())
}

/// The metadata of the objects of a type, in one namespace or everywhere.
pub async fn metadata(
    server: &Server,
    ty: &ResourceType,
    namespace: Option<&str>,
) -> Result<Vec<Object>, Why> {
    list(server, ty, namespace, ("", METADATA_LIST), &Room::default()).await
}

async fn answer_one(server: &Server, query: &Query, (facts, room): (&Facts, &Room)) -> Result<Answer, Why> {
    match query {
        Query::Object {
            resource,
            namespace,
            name,
        } => match facts.resource_type(resource) {
            Some(ty) => object(server, ty, namespace.as_deref(), name).await,
            None => no_such_type(resource, facts).map(|()| Answer::Object(None)),
        },
        Query::List { resource, namespace } => match facts.resource_type(resource) {
            Some(ty) => list(server, ty, namespace.as_deref(), ("", accept_for_list(ty)), room)
                .await
                .map(Answer::List),
            None => no_such_type(resource, facts).map(|()| Answer::List(Vec::new())),
        },
        Query::Search {
            resource,
            namespace,
            by: By::Held,
        } => match facts.resource_type(resource) {
            Some(ty) => with_finalizers(server, ty, namespace.as_deref(), room)
                .await
                .map(Answer::List),
            None => no_such_type(resource, facts).map(|()| Answer::List(Vec::new())),
        },
        Query::Search {
            resource,
            namespace,
            by,
        } => match facts.resource_type(resource) {
            Some(ty) => list(
                server,
                ty,
                namespace.as_deref(),
                (&selector_parameters(by), accept_for_list(ty)),
                room,
            )
            .await
            .map(Answer::List),
            None => no_such_type(resource, facts).map(|()| Answer::List(Vec::new())),
        },
        Query::Events {
            kind,
            namespace,
            name,
        } => {
            let events = Resource::new("", "events");
            let Some(ty) = facts.resource_type(&events) else {
                return no_such_type(&events, facts).map(|()| Answer::List(Vec::new()));
            };
            let mut fields = String::from("&fieldSelector=");
            escape(
                &format!(
                    "involvedObject.kind={},involvedObject.name={}",
                    field_value(kind),
                    field_value(name)
                ),
                &mut fields,
            );
            list(
                server,
                ty,
                Some(namespace.as_deref().unwrap_or("default")),
                (&fields, WHOLE),
                room,
            )
            .await
            .map(Answer::List)
        }
        Query::Content { namespace } => Ok(Answer::Content(Box::new(
            content(server, namespace, facts, room).await,
        ))),
        Query::Owned(scope) => Ok(Answer::Owned(owned(server, scope, facts, room).await)),
        Query::Version => version(server).await.map(Answer::Version),
    }
}

/// The version of the server, which each may read who may read anything
/// (`kubernetes/kubernetes:plugin/pkg/auth/authorizer/rbac/bootstrappolicy/policy.go`, system:public-info-viewer).
async fn version(server: &Server) -> Result<String, Why> {
    let answer = server
        .get("/version", WHOLE)
        .await
        .map_err(|failure| failure.why())?;
    let value: Value =
        serde_json::from_slice(&answer.body).map_err(|error| Why::Undecodable(error.to_string()))?;
    let version = value.get("gitVersion").and_then(Value::as_str);
    version
        .map(str::to_owned)
        .ok_or_else(|| Why::Undecodable("the answer has no gitVersion".into()))
}

/// Succeeds if the type certainly does not exist, and so has no objects. A group that could not list its types may have
/// it. A server without EndpointSlices has the endpoints of Services elsewhere, so that type proves nothing.
fn no_such_type(resource: &Resource, facts: &Facts) -> Result<(), Why> {
    if *resource == Resource::new("discovery.k8s.io", "endpointslices") {
        return Err(Why::Unavailable("this API server does not serve them".into()));
    }
    let silent = facts
        .gaps
        .iter()
        .find(|gap| gap.what.hides_types_of(&resource.group));
    silent.map_or(Ok(()), |gap| Err(gap.why.clone()))
}

async fn object(
    server: &Server,
    ty: &ResourceType,
    namespace: Option<&str>,
    name: &str,
) -> Result<Answer, Why> {
    let accept = if ty.is_confidential() {
        METADATA_OBJECT
    } else {
        WHOLE
    };
    let object = get(server, ty, namespace, name, accept).await?;
    Ok(Answer::Object(object.map(Box::new)))
}

async fn get(
    server: &Server,
    ty: &ResourceType,
    namespace: Option<&str>,
    name: &str,
    accept: &'static str,
) -> Result<Option<Object>, Why> {
    match server.get(&object_path(ty, namespace, name), accept).await {
        Ok(answer) => {
            let value: Value =
                serde_json::from_slice(&answer.body).map_err(|error| Why::Undecodable(error.to_string()))?;
            if !value.is_object() {
                return Err(Why::Undecodable("the answer is not an object".into()));
            }
            Ok(Some(object_of(ty, value)))
        }
        Err(failure) if failure.is_not_found() => Ok(None),
        Err(failure) => Err(failure.why()),
    }
}

/// Reads the whole object, including the data of a Secret or ConfigMap. Only for the backup before a change. None if
/// the object no longer exists.
pub async fn whole(server: &Server, ty: &ResourceType, target: &ObjectRef) -> Result<Option<Object>, Why> {
    get(server, ty, target.namespace.as_deref(), &target.name, WHOLE).await
}

/// The media type for lists of a type.
fn accept_for_list(ty: &ResourceType) -> &'static str {
    if ty.is_confidential() {
        METADATA_LIST
    } else {
        WHOLE
    }
}

async fn list(
    server: &Server,
    ty: &ResourceType,
    namespace: Option<&str>,
    (more, accept): (&str, &'static str),
    room: &Room,
) -> Result<Vec<Object>, Why> {
    let mut objects = Vec::new();
    let selection = Selection {
        server,
        ty,
        namespace,
        parameters: more,
        accept,
        room: Some(room),
    };
    selection.visit(&mut |object| objects.push(object)).await?;
    Ok(objects)
}

/// Metadata of some objects of a type, and why others are missing. Each page is dropped except for these.
async fn metadata_of_some(
    server: &Server,
    ty: &ResourceType,
    namespace: Option<&str>,
    is_wanted: impl Fn(&Object) -> bool,
    room: &Room,
) -> (Vec<Object>, Option<Why>) {
    let (mut objects, mut has_room) = (Vec::new(), true);
    let mut keep = |object: Object| {
        if is_wanted(&object) && has_room {
            let object = object.as_owned();
            has_room = room.take_bytes(object.value.to_string().len());
            objects.push(object);
        }
    };
    let all = Selection {
        server,
        ty,
        namespace,
        parameters: "",
        accept: METADATA_LIST,
        room: None,
    };
    let fault = all.visit(&mut keep).await.err();
    let too_large = || Why::Undecodable("it has more to keep than there is room for".into());
    (objects, fault.or_else(|| (!has_room).then(too_large)))
}

/// Metadata of the objects that have finalizers.
async fn with_finalizers(
    server: &Server,
    ty: &ResourceType,
    namespace: Option<&str>,
    room: &Room,
) -> Result<Vec<Object>, Why> {
    let is_held = |object: &Object| !object.finalizers().is_empty();
    let (objects, fault) = metadata_of_some(server, ty, namespace, is_held, room).await;
    fault.map_or(Ok(objects), Err)
}

async fn content(server: &Server, namespace: &str, facts: &Facts, room: &Room) -> Content {
    let keep = Keep {
        all: true,
        crowds: false,
        filter: Filter::default(),
        now: facts.now,
        content_of: Some([namespace.to_owned()].into()),
        known_namespaces: None,
    };
    let namespaced = facts.types.iter().filter(|ty| ty.namespaced);
    let keep = &keep;
    let listed: Vec<_> = stream::iter(namespaced)
        .map(|ty| async move {
            let tally = RefCell::default();
            let listing = Listing {
                server,
                ty,
                namespace: Some(namespace),
                keep,
                room,
                tally: &tally,
                observe: &|_| {},
            };
            let listed = listing.run(&mut Family::of(1)).await;
            (ty, listed.fault, tally.into_inner())
        })
        .buffer_unordered(PARALLEL)
        .collect()
        .await;
    let mut content = Content::default();
    for (ty, fault, tally) in listed {
        if let Some(why) = fault {
            let what = What::TypeIn {
                name: ty.name(),
                namespace: namespace.to_owned(),
                read: tally.objects,
            };
            content.gaps.push(Gap { what, why });
        }
        if tally.objects > 0 {
            content.counts.insert(ty.name(), tally.objects);
        }
        content.kept.extend(tally.kept);
    }
    content
        .kept
        .sort_by_cached_key(|seen| (seen.object.type_name.clone(), seen.object.name.clone()));
    content
}

/// Metadata of the objects that have owners. Each page is dropped except for these, so that memory does not grow with
/// the cluster.
async fn owned(server: &Server, scope: &Where, facts: &Facts, room: &Room) -> Owned {
    let (namespace, owner) = match scope {
        Where::Namespace(namespace) => (Some(namespace.as_str()), None),
        Where::Owner(uid) => (None, Some(uid.as_str())),
    };
    let types = facts
        .types
        .iter()
        .filter(|ty| (ty.namespaced || namespace.is_none()) && Object::may_be_owned(ty));
    let listed: Vec<_> = stream::iter(types)
        .map(|ty| async move {
            let is_one = |object: &Object| match owner {
                Some(uid) => object.is_owned_by(uid),
                None => !object.owners().is_empty(),
            };
            let (objects, fault) = metadata_of_some(server, ty, namespace, is_one, room).await;
            (ty, objects, fault)
        })
        .buffer_unordered(PARALLEL)
        .collect()
        .await;
    let mut all = Owned::default();
    for (ty, objects, fault) in listed {
        if let Some(why) = fault {
            let (name, read) = (ty.name(), objects.len() as u64);
            let what = match namespace {
                Some(namespace) => What::TypeIn {
                    name,
                    namespace: namespace.to_owned(),
                    read,
                },
                None => What::Type { name, read },
            };
            all.gaps.push(Gap { what, why });
        }
        all.objects.extend(objects);
    }
    // Lists end in any order, and objects that two groups share are listed twice.
    all.objects.sort_by_cached_key(Object::reference);
    let mut known = std::collections::BTreeSet::new();
    all.objects.retain(|object| known.insert(object.uid().to_owned()));
    all.gaps.sort();
    all
}
