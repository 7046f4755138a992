//! Reads a workload and the template of its Pods: its name in a sentence, its account and its images.

use crate::{diagnose::kinds::PodSpec, snapshot::facts::Object};

/// The workload in a sentence: `Deployment cert-manager/cert-manager`.
pub(super) fn name_of(object: &Object) -> String {
    format!("{} {}/{}", object.kind, object.namespace(), object.name())
}

/// The `ServiceAccount` of a Pod or of the Pods of a workload; `default` if none is named.
pub(super) fn account_of(object: &Object) -> &str {
    match PodSpec::of(object).service_account() {
        "" => "default",
        account => account,
    }
}

/// The version that the image of its program is tagged with. Of several containers, that is the one that is called like the
/// usual main container; none if nothing tells which one.
pub(super) fn version_of(object: &Object) -> Option<String> {
    const MAIN: [&str; 2] = ["manager", "controller"];
    let all: Vec<_> = PodSpec::of(object).containers().collect();
    let is_main = |name: Option<&str>| name.is_some_and(|name| MAIN.contains(&name));
    let image = match all.as_slice() {
        [(_, only)] => *only,
        several => several
            .iter()
            .find(|(name, _)| is_main(*name))
            .and_then(|(_, image)| *image),
    };
    let (_, tag) = image?.split('@').next()?.rsplit_once(':')?;
    let is_version = tag
        .trim_start_matches('v')
        .starts_with(|c: char| c.is_ascii_digit());
    // A colon before a slash belongs to the port of the registry.
    (is_version && tag.contains('.') && !tag.contains('/')).then(|| tag.to_owned())
}

/// The repositories of all images, without tag and digest.
pub(super) fn images(object: &Object) -> Vec<String> {
    PodSpec::of(object)
        .images()
        .map(|image| {
            let image = image.split('@').next().unwrap_or_default();
            match image.rsplit_once(':') {
                // A colon before a slash belongs to the port of the registry.
                Some((repository, tag)) if !tag.contains('/') => repository.to_owned(),
                _ => image.to_owned(),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::diagnose::testing::world::bare;

    fn version(containers: &Value) -> Option<String> {
        let value =
            json!({"metadata": {"name": "a"}, "spec": {"template": {"spec": {"containers": containers}}}});
        version_of(&bare("apps", "deployments", "Deployment", value))
    }

    #[test]
    fn the_version_is_that_of_the_main_container() {
        for (image, expected) in [
            ("ghcr.io/x/operator:v1.2.3", Some("v1.2.3")),
            ("registry:5000/operator:1.2@sha256:1f", Some("1.2")),
            ("registry:5000/operator", None),
            ("operator:latest", None),
            ("operator:sha-1f2e", None),
            ("operator@sha256:1f", None),
        ] {
            let one = json!([{"name": "a", "image": image}]);
            assert_eq!(version(&one).as_deref(), expected, "{image}");
        }
        let proxy = json!({"name": "kube-rbac-proxy", "image": "proxy:v0.8.0"});
        let main = json!({"name": "manager", "image": "operator:v2.0.0"});
        assert_eq!(version(&json!([proxy, main])).as_deref(), Some("v2.0.0"));
        let other = json!({"name": "hooks", "image": "operator:v2.0.0"});
        assert_eq!(version(&json!([proxy, other])), None);
    }
}
