//! The credentials, ServiceAccount or configuration of a custom resource were deleted before it.
//!
//! # Symptom
//!
//! Status, events or the log of the controller say `secret "…" not found`, `serviceaccount "…" not found` or `cannot
//! get ProviderConfig`. Often the whole namespace is being deleted.
//!
//! ```text
//! $ kubectl finalizers explain inferenceservices.serving.kserve.io/demo-loan-nn-onnx -n trustyai-e2e --from tests/stories/odh-webhook-wants-deleted-connection/cluster.yaml
//! ```
//!
//! # Why
//!
//! The content of a namespace is deleted in no order. An operator without its credentials cannot clean up outside the
//! cluster, and tries for ever.
//!
//! # Before you act
//!
//! See what the object names in its `spec`, and whether that exists. See whether the namespace is in deletion, too.
//!
//! # If it was a mistake
//!
//! Outside the cluster nothing is deleted while the credentials are missing. Save the object.
//!
//! # If it was intended
//!
//! Create the missing object again. That is impossible in a namespace that is being deleted: there, clean up outside
//! the cluster first.
//!
//! # Do not
//!
//! Do not remove the finalizer before that. What the object stands for goes on existing and costing money.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | failing | a recent message of the controller itself, or of the program that put the finalizer on, names the missing object |
//! | (of the finalizer) | a missing reference alone proves nothing and is only mentioned |
//!
//! # What it reads
//!
//! The objects that the `spec` names (`*SecretRef`, `secretName`, `configMapRef`, `serviceAccountName`,
//! `providerConfigRef` and other `*Ref` with a kind), and a `credentialsSecret` of the `status`. Of Secrets and
//! ConfigMaps, only metadata is ever sent.
//!
//! # Sources
//!
//! - `kubernetes/kubernetes:pkg/controller/namespace/deletion/namespaced_resources_deleter.go`
//! - Azure/azure-service-operator#4679
//! - crossplane/crossplane#7801

use serde_json::Value;

use crate::{
    command::Command,
    diagnose::{
        causes::{
            advice::remove_finalizer,
            cause::{Cause, On, Reads, Stage, Subject, Tells},
            operators::resumed,
        },
        complaint::{Complaint, complaints, own_failures, says_not_found},
        holder::{Holder, Names},
        kinds::phase,
        limits,
        model::{Blocker, Evidence, Finding, Moment, Outlook, Page, Safety, Step, Strength, Verdict, When},
        removal::{Lost, Unable},
        view::View,
    },
    object::{ObjectRef, ResourceType, is_custom_group},
    snapshot::facts::Object,
};

/// Fields that the controller writes to, or that belong to a reference of another object.
const IGNORED_FIELDS: [&str; 5] = [
    "writeConnectionSecretToRef",
    "claimRef",
    "template",
    "podTemplate",
    "jobTemplate",
];

/// The ends of fields that hold the name of a Secret and do not say so. A field that only ends with `secret`, such as
/// `clientSecret`, may hold the secret itself, which must never be shown.
const NAMES_A_SECRET: [&str; 4] = ["configsecret", CREDENTIALS[0], CREDENTIALS[1], "tlssecret"];

/// The ends of fields in which a controller keeps, in the status, the name of the Secret that it signs in with. Percona's
/// backups have no other trace of it (`percona/percona-server-mysql-operator:api/v1/perconaservermysql_types.go`).
const CREDENTIALS: [&str; 2] = ["credentialsecret", "credentialssecret"];

/// The ends of fields, without `Ref`, that choose a key of a Secret: `passwordRef: {name: db, key: pw}`.
const IN_A_SECRET: [&str; 6] = [
    "password",
    "token",
    "credentials",
    "apikey",
    "accesskey",
    "privatekey",
];

/// The conditions and phases of an object that works.
const WORKING: [&str; 4] = ["Ready", "Available", "Succeeded", "Running"];

/// A name in the object, and the type that it leads to.
pub(crate) struct Reference<'a> {
    /// The path of the field.
    pub(crate) field: String,
    /// The type of the named object.
    pub(crate) ty: &'a ResourceType,
    /// The namespace of the named object. Empty for types without a namespace.
    pub(crate) namespace: &'a str,
    /// The name of the object.
    pub(crate) name: &'a str,
}

/// The references in the `spec` of the object that can be followed, and the credentials that its status names.
pub(crate) fn references<'a>(object: &'a Object, view: &View<'a>) -> Vec<Reference<'a>> {
    let mut found = Vec::new();
    for (field, value) in wishes(object) {
        collect_references(value, field, object, view, &mut found);
    }
    if let Some(status) = object.value.get("status") {
        let mut named = Vec::new();
        collect_references(status, "status", object, view, &mut named);
        let of_credentials = |field: &str| CREDENTIALS.iter().any(|end| field.to_lowercase().ends_with(end));
        found.extend(named.into_iter().filter(|one| of_credentials(&one.field)));
    }
    found
}

/// The fields in which a person writes what the object is meant to be: `spec`, and those that a custom type has beside it.
pub(super) fn wishes(object: &Object) -> impl Iterator<Item = (&str, &Value)> {
    let is_custom = is_custom_group(&object.resource.group);
    let fields = object.value.as_object().into_iter().flatten();
    fields
        .map(|(field, value)| (field.as_str(), value))
        .filter(move |(field, _)| match *field {
            "spec" => true,
            "apiVersion" | "kind" | "metadata" | "status" => false,
            _ => is_custom,
        })
}

pub(crate) const CAUSE: Cause = Cause {
    types: &[],
    finalizer: On::Any,
    reads: Reads::Whole,
    page: Page::of(module_path!()),
    tells: Tells::More(Stage::References, add_missing_references),
};

/// Adds the references of the object that lead nowhere, to the first finding about an operator's finalizer.
fn add_missing_references(subject: &Subject<'_>, findings: &mut [Finding], view: &View<'_>) {
    if subject.object.is("", "namespaces") {
        return;
    }
    let mut findings = findings.iter_mut();
    if let Some(first) = findings.find(|finding| finding.is_about(&subject.of_operators)) {
        let complaints = complaints(subject.object, view);
        add_to(subject.object, first, &complaints, view);
    }
}

fn add_to(object: &Object, finding: &mut Finding, complaints: &[Complaint], view: &View<'_>) {
    for reference in references(object, view).into_iter().take(limits::REFERENCES) {
        let Reference {
            field,
            ty,
            namespace,
            name,
        } = &reference;
        if !matches!(view.object(&ty.group, &ty.plural, namespace, name), Ok(None)) {
            continue;
        }
        finding.evidence.push(Evidence {
            source: format!("{} {} {field}", object.kind, object.name()),
            value: format!("names {} {name}, which does not exist", ty.kind),
            strength: Strength::Moderate,
        });
        if let Some(complaint) = complaints
            .iter()
            .find(|complaint| reports_missing(&complaint.text, name))
        {
            add_missing_object(object, finding, complaint, &reference, view);
        } else if !object.is("", "pods") && tells_more(object, field, name, view) {
            // A Pod needs what it names to start, and not to end.
            finding.say(format!(
                "its {field} names {} {name}, which does not exist",
                ty.kind
            ));
        }
    }
    // For built-in objects, the complaints come from Kubernetes itself and have nothing to do with the finalizer.
    let complaints = if is_custom_group(&object.resource.group) {
        complaints
    } else {
        &[]
    };
    let reported = complaints.iter().flat_map(|complaint| {
        let missing = reported_missing(&complaint.text, view);
        missing.into_iter().map(move |(ty, name)| (complaint, ty, name))
    });
    for (complaint, ty, name) in reported {
        let is_known = |on: &Blocker| on.object.as_ref().is_some_and(|object| object.name == name);
        let namespace = if ty.namespaced { object.namespace() } else { "" };
        let is_absent = || matches!(view.object(&ty.group, &ty.plural, namespace, &name), Ok(None));
        if !finding.wait.on.iter().any(is_known) && is_absent() {
            let reference = Reference {
                field: String::new(),
                ty,
                namespace,
                name: &name,
            };
            add_missing_object(object, finding, complaint, &reference, view);
        }
    }
}

/// Whether a missing object that this field names may be what the object lacks: no object that works names it as well.
pub(super) fn tells_more(object: &Object, field: &str, name: &str, view: &View<'_>) -> bool {
    !is_shared_with_sibling(object, view, |other| names_in_field(other, field, name))
}

/// Whether another object of the type works, and names the same, as `names_it` says. It works without what is named, so that is
/// not what this object lacks.
pub(super) fn is_shared_with_sibling(
    object: &Object,
    view: &View<'_>,
    names_it: impl Fn(&Object) -> bool,
) -> bool {
    let works = |other: &Object| {
        let is_true = |state: &&str| matches!(other.condition(state), Some(("True", ..)));
        other.deletion().is_none()
            && (WORKING.iter().any(is_true) || phase(other).is_some_and(|phase| WORKING.contains(&phase)))
    };
    let resource = &object.resource;
    let siblings = view.list(&resource.group, &resource.plural, object.namespace());
    siblings.is_ok_and(|siblings| siblings.iter().any(|other| names_it(other) && works(other)))
}

/// Whether this object has the name in that field.
fn names_in_field(object: &Object, field: &str, name: &str) -> bool {
    let pointer = format!("/{}", field.replace(['.', '['], "/").replace(']', ""));
    let value = object.field(&pointer);
    value.and_then(|value| value.as_str().or_else(|| value.get("name")?.as_str())) == Some(name)
}

/// The objects that a message reports as missing, in the form of the API server: `secrets "a" not found`
/// (`kubernetes/apimachinery:pkg/api/errors/errors.go` NewNotFound). The type is in the plural or in the singular.
fn reported_missing<'a>(text: &str, view: &View<'a>) -> Vec<(&'a ResourceType, String)> {
    let parts: Vec<_> = text.split('"').collect();
    parts
        .windows(3)
        .filter_map(|part| {
            let [before, name, after] = part else {
                return None;
            };
            after.starts_with(" not found").then_some(())?;
            let word = before.trim_end().rsplit(' ').next()?.to_lowercase();
            let (plural, group) = word.split_once('.').unwrap_or((&word, ""));
            let is_it = |ty: &&ResourceType| {
                ty.group == group && (ty.plural == plural || ty.kind.to_lowercase() == plural)
            };
            let ty = view.types().iter().find(is_it)?;
            Some((ty, (*name).to_owned()))
        })
        .collect()
}

/// Whether a message reports this name as missing: `secrets "aws" not found` and similar forms.
fn reports_missing(text: &str, name: &str) -> bool {
    let lower = text.to_lowercase();
    has_name(text, name)
        && ["not found", "notfound", "not exist", "no such"]
            .iter()
            .any(|sign| lower.contains(sign))
}

/// Whether a text has this name, and not only as a part of a longer one: `nginx` is no part of `nginx-tls`.
fn has_name(text: &str, name: &str) -> bool {
    let is_of_name = |c: char| c.is_alphanumeric() || c == '-';
    text.match_indices(name).any(|(at, _)| {
        let before = text.get(..at).and_then(|text| text.chars().next_back());
        let mut after = text.get(at + name.len()..).unwrap_or_default().chars();
        let goes_on = match after.next() {
            // A full stop ends a sentence, or goes on with a longer name.
            Some('.') => after.next().is_some_and(is_of_name),
            next => next.is_some_and(is_of_name),
        };
        !goes_on && !before.is_some_and(|c| is_of_name(c) || c == '.')
    })
}

fn add_missing_object(
    object: &Object,
    finding: &mut Finding,
    complaint: &Complaint,
    reference: &Reference<'_>,
    view: &View<'_>,
) {
    let Reference {
        field,
        ty,
        namespace,
        name,
    } = reference;
    // The program that put the finalizer on tells why it cannot go on, and that is still so. Then the reason is known, whatever
    // the name of that program is, and even if it said so before the deletion.
    let is_open = matches!(
        finding.wait.verdict,
        Verdict::Unknown | Verdict::Waiting | Verdict::Stalled
    );
    if is_open && complaint.is_failure_of_holder() {
        finding.wait.verdict = Verdict::Failing;
    }
    if holds_credentials(ty) && is_own_complaint(object, finding, name, view) {
        finding.wait.unable = Some(Unable::Without(Lost::Credentials));
    }
    finding.tell_of(Page::of(module_path!()));
    finding.wait.on.push(Blocker::new(
        Some(ObjectRef {
            type_name: ty.name(),
            kind: ty.kind.clone(),
            api_version: ty.api_version(),
            namespace: Some((*namespace).to_owned()).filter(|namespace| !namespace.is_empty()),
            name: (*name).to_owned(),
            uid: String::new(),
        }),
        if field.is_empty() {
            "does not exist, and its controller complains of that".to_owned()
        } else {
            format!("does not exist; {field} names it, and its controller complains of that")
        },
    ));
    let finalizer = finding.wait.finalizer.as_ref();
    let then = match finalizer.map(|finalizer| resumed::ending(object, finalizer, view)) {
        Some(resumed::Ending::Deletes) => ", and DELETES what it stands for",
        Some(resumed::Ending::MayDelete) => ", and may DELETE what it stands for",
        _ => "",
    };
    let text = if view.is_terminating_namespace(namespace) {
        format!(
            "see what names {} {name}. It cannot be made again (\"unable to create new content in namespace {namespace} because \
             it is being terminated\"). Its controller may get the same from elsewhere. It then finishes the deletion{then}",
            ty.kind
        )
    } else if ty.name() == "pods" {
        format!(
            "see what names Pod {name}. A Pod that is gone seldom comes back under its name, so its controller may fail for \
             ever. See what runs in its place"
        )
    } else {
        format!(
            "see what names {} {name}. Once that exists again, with what it held, its controller finishes the deletion{then}",
            ty.kind
        )
    };
    let (type_name, namespace) = (object.resource.name(), object.namespace());
    let command = if field.is_empty() {
        Command::of(
            "kubectl -n {} get {}/{} -o yaml",
            [namespace, &type_name, object.name()],
        )
    } else {
        Command::of(
            "kubectl -n {} get {}/{} -o jsonpath={.{}}",
            [namespace, &type_name, object.name(), field],
        )
    };
    finding.steps.insert(
        0,
        Step {
            when: When::Now,
            text,
            command: Some(command),
            safety: Safety::ReadOnly,
            lets_go: Vec::new(),
        },
    );
    finding.outlook.push(Outlook {
        when: Moment::NothingDone,
        then: format!(
            "its controller tries again and again, and fails for want of {} {name}",
            ty.kind
        ),
    });
    // While its controller may get the missing object back, the finalizer stays.
    let is_lost = finding.wait.unable.is_some() || finding.wait.verdict == Verdict::Orphaned;
    if let Some(finalizer) = finding.wait.finalizer.clone().filter(|_| is_lost) {
        finding.steps.push(remove_finalizer(
            object,
            &finalizer,
            When::NeverBack,
            &format!(
                "LEAKED INFRASTRUCTURE: what {} {} stands for outside the cluster stays, and is paid for, unless you \
                 delete it there first; then remove this one finalizer",
                object.kind,
                object.name()
            ),
        ));
    }
}

/// Whether objects of this type hold credentials, or name them.
fn holds_credentials(ty: &ResourceType) -> bool {
    ty.group.is_empty() && matches!(ty.kind.as_str(), "Secret" | "ServiceAccount")
        || ty.kind.ends_with("ProviderConfig")
}

/// Whether the controller itself complains, and recently, that an object of this name is missing. Only names that are
/// known without a search of the controller count.
fn is_own_complaint(object: &Object, finding: &Finding, name: &str, view: &View<'_>) -> bool {
    let Some(finalizer) = finding.wait.finalizer.as_ref() else {
        return false;
    };
    let entry = view.entry(object, finalizer);
    let names = Names::of(object, finalizer, entry.as_ref(), &Holder::default());
    finding.wait.verdict == Verdict::Failing
        && own_failures(object, &names, false, view)
            .iter()
            .any(|complaint| says_not_found(&complaint.text, name))
}

fn collect_references<'a>(
    value: &'a Value,
    path: &str,
    object: &'a Object,
    view: &View<'a>,
    found: &mut Vec<Reference<'a>>,
) {
    if found.len() >= limits::REFERENCES_COUNTED || path.split('.').count() > limits::FIELD_DEPTH {
        return;
    }
    match value {
        Value::Object(fields) => {
            for (key, value) in fields
                .iter()
                .filter(|(key, _)| !IGNORED_FIELDS.contains(&key.as_str()))
            {
                let path = format!("{path}.{key}");
                match reference_target(key, value, object, view) {
                    Some((ty, namespace, name)) if found.len() < limits::REFERENCES_COUNTED => {
                        found.push(Reference {
                            field: path,
                            ty,
                            namespace,
                            name,
                        });
                    }
                    _ => collect_references(value, &path, object, view, found),
                }
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate().take(limits::REFERENCES_COUNTED) {
                collect_references(item, &format!("{path}[{index}]"), object, view, found);
            }
        }
        _ => {}
    }
}

/// The type, namespace and name that a field names, if it is a reference that can be followed.
fn reference_target<'a>(
    key: &str,
    value: &'a Value,
    object: &'a Object,
    view: &View<'a>,
) -> Option<(&'a ResourceType, &'a str, &'a str)> {
    let field = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default();
    if value.get("optional") == Some(&Value::Bool(true)) {
        return None;
    }
    let key = key.to_lowercase();
    let (name, bare) = match value.as_str() {
        Some(name) if NAMES_A_SECRET.iter().any(|end| key.ends_with(end)) => (name, &*key),
        Some(name) => (name, key.strip_suffix("name")?),
        // `importCredentialsSecret: {name: …}` is one too.
        None if key.ends_with("secret") || key.ends_with("configmap") => (field("name"), &*key),
        None => (
            field("name"),
            key.strip_suffix("keyref").or(key.strip_suffix("ref"))?,
        ),
    };
    let plain = |plural: &str| view.resource_type("", plural);
    let is_key_of_secret = || {
        let word = key.strip_suffix("ref").unwrap_or_default();
        let may_be_secret = matches!(field("kind"), "" | "Secret");
        may_be_secret && !field("key").is_empty() && IN_A_SECRET.iter().any(|end| word.ends_with(end))
    };
    let ty = if bare.ends_with("secret") || is_key_of_secret() {
        plain("secrets")
    } else if bare.ends_with("configmap") {
        plain("configmaps")
    } else if bare.ends_with("serviceaccount") {
        plain("serviceaccounts")
    } else if value.is_string() {
        class_called(bare, view)
    } else {
        type_by_kind(bare, &field, object, view)
    }?;
    let namespace = match field("namespace") {
        _ if !ty.namespaced => "",
        "" => object.namespace(),
        other => other,
    };
    (is_object_name(name) && ty.namespaced != namespace.is_empty()).then_some((ty, namespace, name))
}

/// Whether an object can have this name. Names at a provider, such as the virtual host `/`, stand in fields like those of objects
/// (`kubernetes/apimachinery:pkg/api/validation/path/name.go`).
fn is_object_name(name: &str) -> bool {
    !name.is_empty() && !matches!(name, "." | "..") && !name.contains(['/', '%'])
}

/// The class that a field ending in `ClassName` names, if a clean-up needs it. A StorageClass may be missing: it is also only a
/// word by which claims and volumes find each other.
fn class_called<'a>(bare: &str, view: &View<'a>) -> Option<&'a ResourceType> {
    (bare == "ingressclass").then(|| view.resource_type("networking.k8s.io", "ingressclasses"))?
}

/// The type of a reference by its kind: the `kind` of the reference, or the kind that Crossplane uses for
/// credentials.
fn type_by_kind<'a>(
    bare: &str,
    field: &impl Fn(&str) -> &'a str,
    object: &Object,
    view: &View<'a>,
) -> Option<&'a ResourceType> {
    let own = object.resource.group.as_str();
    let kind = match field("kind") {
        "" if bare == "providerconfig" => "ProviderConfig",
        kind => kind,
    };
    let named = [field("apiVersion"), field("apiGroup"), field("group")]
        .into_iter()
        .find(|text| !text.is_empty())
        .map(|text| text.split_once('/').map_or(text, |(group, _)| group));
    // The types of a provider are in subdomains of its group: s3.aws.upbound.io and aws.upbound.io.
    let fits = |ty: &&ResourceType| match named {
        Some(group) => ty.group == group,
        None => ty.group == own || !ty.group.is_empty() && own.ends_with(&format!(".{}", ty.group)),
    };
    // A kind of Kubernetes itself is often named without its group.
    let is_built_in = |ty: &&ResourceType| !kind.is_empty() && named.is_none() && !is_custom_group(&ty.group);
    let mut types = view.types().iter().filter(|ty| ty.kind == kind);
    types.clone().find(fits).or_else(|| types.find(is_built_in))
}

#[cfg(test)]
mod tests;
