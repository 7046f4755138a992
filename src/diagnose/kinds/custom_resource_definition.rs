//! A CustomResourceDefinition. Its schemas describe the fields of other objects, so they are read elsewhere.

use serde_json::Value;

use crate::{
    diagnose::kinds::{
        read::{boolean, list, some_text},
        service_reference::ServiceReference,
    },
    snapshot::facts::{Object, Resource},
};

/// A CustomResourceDefinition.
#[derive(Clone, Copy)]
pub(crate) struct CustomResourceDefinition<'a>(pub(crate) &'a Object);

impl<'a> CustomResourceDefinition<'a> {
    /// The place of its versions, for a JSON patch.
    pub(crate) const VERSIONS: &'static str = "/spec/versions";

    /// Its type.
    pub(crate) fn resource(self) -> Resource {
        Resource::new(self.group(), self.plural())
    }

    /// The group of its type.
    pub(crate) fn group(self) -> &'a str {
        self.0.text("/spec/group")
    }

    /// The plural of its type.
    pub(crate) fn plural(self) -> &'a str {
        self.0.text("/spec/names/plural")
    }

    /// The versions of its type, in their order.
    pub(crate) fn versions(self) -> impl ExactSizeIterator<Item = CustomVersion<'a>> {
        list(&self.0.value, Self::VERSIONS).iter().map(CustomVersion)
    }

    /// The version with this name.
    pub(crate) fn version(self, name: &str) -> Option<CustomVersion<'a>> {
        self.versions().find(|version| version.name() == Some(name))
    }

    /// The versions in which objects were ever stored, as far as nobody has cleaned up.
    pub(crate) fn stored_versions(self) -> impl Iterator<Item = &'a str> {
        list(&self.0.value, "/status/storedVersions")
            .iter()
            .filter_map(Value::as_str)
    }

    /// Whether a webhook converts its objects between versions.
    pub(crate) fn is_converted_by_webhook(self) -> bool {
        self.0.text("/spec/conversion/strategy") == "Webhook"
    }

    /// The Service of the webhook that converts its objects; none if no webhook does, or one at a URL.
    pub(crate) fn conversion_service(self) -> Option<ServiceReference<'a>> {
        let service = || ServiceReference::at(&self.0.value, "/spec/conversion/webhook/clientConfig/service");
        self.is_converted_by_webhook().then(service).flatten()
    }
}

/// A version of a custom type.
#[derive(Clone, Copy)]
pub(crate) struct CustomVersion<'a>(&'a Value);

impl<'a> CustomVersion<'a> {
    /// Its name.
    pub(crate) fn name(self) -> Option<&'a str> {
        some_text(self.0, "/name")
    }

    /// Whether the API server serves it.
    pub(crate) fn is_served(self) -> bool {
        boolean(self.0, "/served") == Some(true)
    }

    /// Whether objects are written in it.
    pub(crate) fn is_stored(self) -> bool {
        boolean(self.0, "/storage") == Some(true)
    }

    /// The schema of its objects.
    pub(crate) fn schema(self) -> Option<&'a Value> {
        self.0.pointer("/schema/openAPIV3Schema")
    }
}

#[cfg(all(test, feature = "client"))]
mod tests {
    use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1 as extensions;

    use super::*;
    use crate::diagnose::kinds::testing::reads;

    #[test]
    fn definitions() {
        let definition = extensions::CustomResourceDefinition {
            spec: extensions::CustomResourceDefinitionSpec {
                group: "shop.example".into(),
                names: extensions::CustomResourceDefinitionNames {
                    plural: "widgets".into(),
                    ..Default::default()
                },
                versions: vec![extensions::CustomResourceDefinitionVersion {
                    name: "v1".into(),
                    served: true,
                    storage: true,
                    schema: Some(extensions::CustomResourceValidation {
                        open_api_v3_schema: Some(extensions::JSONSchemaProps {
                            type_: Some("object".into()),
                            ..Default::default()
                        }),
                    }),
                    ..Default::default()
                }],
                conversion: Some(extensions::CustomResourceConversion {
                    strategy: "Webhook".into(),
                    webhook: Some(extensions::WebhookConversion {
                        client_config: Some(extensions::WebhookClientConfig {
                            service: Some(extensions::ServiceReference {
                                namespace: "sys".into(),
                                name: "hook".into(),
                                ..Default::default()
                            }),
                            ..Default::default()
                        }),
                        ..Default::default()
                    }),
                }),
                ..Default::default()
            },
            ..Default::default()
        };
        reads!(definition => CustomResourceDefinition;
            |definition| definition.resource().name() => "widgets.shop.example", absent "";
            |definition| definition.group() => "shop.example", absent "";
            |definition| definition.plural() => "widgets", absent "";
            |definition| definition.versions().find_map(CustomVersion::name) => Some("v1"), absent None::<()>;
            |definition| definition.version("v1").is_some_and(CustomVersion::is_served) => true, absent false;
            |definition| definition.version("v1").is_some_and(CustomVersion::is_stored) => true, absent false;
            |definition| definition.version("v1").and_then(CustomVersion::schema).map(|schema| schema["type"] == "object")
                => Some(true), absent None::<()>;
            |definition| definition.is_converted_by_webhook() => true, absent false;
            |definition| definition.conversion_service().map(|service| (service.namespace, service.name))
                => Some(("sys", "hook")), absent None::<()>;
        );
    }
}
