//! Whether a request may be tried out before it is confirmed.
//!
//! A dry run is a promise of the server to store nothing. The API server keeps it for its own types and for custom
//! resources. Requests for other types go to a service (`kubernetes/kube-aggregator:pkg/apiserver/handler_proxy.go`).
//! The program behind it may not know `dryRun`, and then it stores the request.

use crate::{
    diagnose::kinds::ApiService,
    object::{ObjectRef, is_custom_group},
    snapshot::facts::{Answer, Facts, Query, Resource},
};

/// The query for the APIService of this object's type. None for the groups that the API server serves itself.
pub fn backend_query(target: &ObjectRef) -> Option<Query> {
    let (group, version) = target.api_version.split_once('/')?;
    is_custom_group(group).then(|| Query::Object {
        resource: Resource::new("apiregistration.k8s.io", "apiservices"),
        namespace: None,
        name: format!("{version}.{group}"),
    })
}

/// Why the request is not tried out before the confirmation; none if it is. What could not be read counts against the
/// dry run.
pub(super) fn untried(target: &ObjectRef, facts: &Facts) -> Option<String> {
    let query = backend_query(target)?;
    let why = match facts.answers.get(&query) {
        // Without an APIService, the aggregator sends no request elsewhere.
        Some(Ok(Answer::Object(None))) => return None,
        Some(Ok(Answer::Object(Some(found)))) => {
            if ApiService(found).is_local() {
                return None;
            }
            let service = ApiService(found).service();
            let (namespace, name) = service.map_or(("", ""), |service| (service.namespace, service.name));
            format!("service/{name} -n {namespace} serves this type")
        }
        Some(Err(why)) => format!("a service may serve this type ({})", why.message()),
        _ => "a service may serve this type".into(),
    };
    Some(format!("{why}, and such a server may store a dry run"))
}
