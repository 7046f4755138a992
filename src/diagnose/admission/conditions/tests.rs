use serde_json::json;

use super::*;
use crate::{
    diagnose::admission::NamespaceLabels,
    snapshot::facts::{Object, Resource},
};

#[test]
fn evaluates_only_what_is_certain() {
    let object = Object {
        resource: Resource::new("x.test", "widgets"),
        kind: "Widget".into(),
        api_version: "x.test/v1".into(),
        value: json!({"metadata": {"name": "w", "namespace": "a", "resourceVersion": "7", "finalizers": ["x.test/f"],
                "labels": {"app": "w", "x.test/done": ""}},
            "spec": {"phases": ["a"], "none": null, "replicas": 3, "deep": {"names": [1]}, "empty": ""},
            "status": {"completionTime": "2026-01-01T00:00:00Z", "succeeded": true}}),
    };
    let change = Change {
        object: &object,
        subresource: "",
        served: vec![("x.test", "v1")],
        namespace_labels: NamespaceLabels::Nothing,
        labels: None,
    };
    let of = |text: &str| expression(Some(text), &change);
    for (truth, texts) in [
        (
            Truth::Yes,
            &[
                "true",
                " has( object.metadata.deletionTimestamp ) ",
                "oldObject.metadata.deletionTimestamp != null",
                "(request.operation == \"UPDATE\") && !(request.name != 'w')",
                "request.operation in ['CREATE', 'UPDATE'] || object.spec.x > 3",
                "'a||b' != 'a&&b'",
                "!(!(true))",
                "has(oldObject.status.completionTime)",
                "!has(object.status.reason) && oldObject.status.succeeded",
                "oldObject.status.succeeded == true && object.spec.replicas == 3",
                "object.spec['empty'] == ''",
                "'app' in object.metadata.labels && 'a' in object.spec.phases",
                "object.metadata.labels[\"x.test/done\"] != 'yes'",
                "object.spec == oldObject.spec && object.spec.deep == oldObject.spec.deep",
                "object.spec.replicas != null",
                "object.spec.replicas in [2, 3]",
            ][..],
        ),
        (
            Truth::No,
            &[
                "!has(object.metadata.deletionTimestamp)",
                "object.spec.replicas > 3 && request.operation == 'DELETE'",
                "request.resource.group == 'apps' || request.namespace in ['b']",
                "object.metadata.deletionTimestamp == null",
                "!has(oldObject.status.completionTime)",
                "has(object.status.reason)",
                "!(has(object.status) && has(object.status.succeeded) && object.status.succeeded)",
                "'b' in object.spec.phases || object.spec.replicas == -1",
                "object.spec.replicas == null",
            ],
        ),
        (
            Truth::Unknown,
            &[
                "",
                "object.spec.done",
                "!object.spec.done",
                "has(object.spec.no.done)",
                "has(object.spec.none)",
                "has(object.metadata.finalizers)",
                "object.metadata == oldObject.metadata",
                "object == oldObject",
                "object.metadata.resourceVersion == '7'",
                "object.spec.replicas == '3'",
                "object.spec.replicas == 3.0",
                "object.spec.replicas > 2",
                "object.spec.phases[0] == 'a'",
                "object.spec.phases.size() == 1",
                "object.spec.deep == object.status.deep",
                "object.status.succeeded.not == true",
                "has(objects.spec)",
                "params.name == 'a'",
                "request.userInfo.username == 'me'",
                "request.subResource == ''",
                "request.operation == 'DELETE' ? true : false",
                "!request.name == 'w'",
                "request.name == 'w' == true",
                "(true) + (false)",
                "request.name == 'it\\'s'",
                "true // && false",
                "request.name in names",
                "'a",
                "(true",
                "true)",
                "é == 'ü'",
            ],
        ),
    ] {
        for text in texts {
            assert_eq!(of(text), truth, "{text}");
        }
    }
    assert_eq!(
        of(&format!("{}true{}", "(".repeat(500), ")".repeat(500))),
        Truth::Unknown
    );
    assert_eq!(expression(None, &change), Truth::Unknown);
}
