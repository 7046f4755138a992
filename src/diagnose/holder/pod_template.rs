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
