//! Other parts of the controller's product: its webhooks, its API services, and what installed it.
//!
//! A webhook configuration or an `APIService` points at a Service. If that Service does not exist, the product
//! was uninstalled in the wrong order. Missing configurations prove nothing: most products have none.

use crate::{
    diagnose::{
        holder::{
            names::is_telling,
            trace::{Holder, Sign, Tells, Trace},
        },
        kinds::{
            ApiService, CustomResourceDefinition, OwnerReference, ServiceReference, WebhookConfiguration,
        },
        model::Strength,
        view::{Missing, View},
    },
    knowledge,
    knowledge::{
        Entry,
        schema::{Installed, MarkPlace, fill, glob},
    },
    object::{is_custom_group, is_product_group, pasteable},
    snapshot::facts::Object,
};

/// Adds signs of the webhooks and API services that the entry names.
pub(super) fn add_product_parts(entry: &Entry, holder: &mut Holder, view: &View<'_>) {
    let admission = "admissionregistration.k8s.io";
    for name in entry.holder.webhooks.iter().filter(|name| !name.contains('*')) {
        for plural in ["validatingwebhookconfigurations", "mutatingwebhookconfigurations"] {
            let found = view.object(admission, plural, "", name);
            let Some(configuration) = seen_object(found, holder) else {
                continue;
            };
            for webhook in WebhookConfiguration(configuration).webhooks() {
                add_missing_service(configuration, webhook.service(), holder, view);
            }
        }
    }
    for name in entry
        .holder
        .api_services
        .iter()
        .filter(|name| !name.contains('*'))
    {
        let found = view.object("apiregistration.k8s.io", "apiservices", "", name);
        if let Some(service) = seen_object(found, holder) {
            let points_at = ApiService(service).service();
            if is_of_product(name, points_at, entry) {
                add_missing_service(service, points_at, holder, view);
            }
        }
    }
}

/// Adds that the API server has none of the types that the controller needs. Groups have the name of the product in every
/// installation, so this does not depend on what somebody called the release.
pub(super) fn add_missing_types(object: &Object, entry: &Entry, holder: &mut Holder, view: &View<'_>) {
    let groups = &entry.holder.api_groups;
    let is_of_product = |group: &str| groups.iter().any(|known| known == group);
    if !entry.holder.needs_types || is_of_product(&object.resource.group) {
        return;
    }
    let is_hidden = || {
        let mut silent = view.silent_groups().iter();
        silent.any(|gap| groups.iter().any(|group| gap.what.hides_types_of(group)))
    };
    let is_served = if view.types().iter().any(|ty| is_of_product(&ty.group)) {
        true
    } else if view.types().is_empty() || is_hidden() {
        // A recording may have no list of the types, but the definitions of all custom ones.
        match view.list("apiextensions.k8s.io", "customresourcedefinitions", "") {
            Ok(all) => all
                .iter()
                .any(|definition| is_of_product(CustomResourceDefinition(definition).group())),
            // They would show that the product is installed.
            Err(missing) => return holder.add_missing(&missing),
        }
    } else {
        false
    };
    if !is_served {
        let source = format!("types of {}", groups.join(" and "));
        let value = "the API server has none, and the controller needs them";
        holder.add(Sign::new(
            Trace::Types,
            Tells::Gone,
            Strength::Strong,
            source,
            value,
        ));
    }
}

/// Whether the product serves this API. One in Kubernetes' own domain, such as `external.metrics.k8s.io`, is served by
/// whoever was installed last. So its Service must bear a name of this product, or stand in its namespace.
fn is_of_product(api: &str, service: Option<ServiceReference<'_>>, entry: &Entry) -> bool {
    let group = api.split_once('.').map_or(api, |(_, group)| group);
    let (namespace, name) = service.map_or(("", ""), |service| (service.namespace, service.name));
    let known = &entry.holder;
    is_product_group(group)
        || known.namespaces.iter().any(|known| glob(known, namespace))
        || known
            .service_accounts
            .iter()
            .any(|account| is_telling(account) && name.starts_with(account.as_str()))
}

/// Reads the definition of the object's type: its owners, and whether its conversion webhook has a Service.
pub(super) fn add_definition<'a>(
    object: &Object,
    holder: &mut Holder,
    view: &View<'a>,
) -> Option<&'a Object> {
    if !is_custom_group(&object.resource.group) {
        return None;
    }
    let name = object.resource.name();
    let found = view.definition(&name);
    let definition = seen_object(found, holder)?;
    let service = CustomResourceDefinition(definition).conversion_service();
    add_missing_service(definition, service, holder, view);
    add_missing_owners(definition, holder, view);
    add_missing_home(definition, holder, view);
    Some(definition)
}

/// Adds that the namespace is gone, or is being deleted, into which the product was installed. No Pod starts there.
fn add_missing_home(definition: &Object, holder: &mut Holder, view: &View<'_>) {
    let Some(home) = home(definition) else { return };
    let state = match view.object("", "namespaces", "", &home) {
        Ok(None) => "does not exist",
        Ok(Some(namespace)) if namespace.deletion().is_some() => "is being deleted",
        Ok(Some(_)) => return,
        Err(missing) => return holder.wait_for(&missing),
    };
    holder.add(
        Sign::new(
            Trace::Home,
            Tells::Gone,
            Strength::Moderate,
            format!("{} {}", definition.kind, definition.name()),
            format!("was installed with namespace {home}, which {state}"),
        )
        .about(definition.reference()),
    );
}

/// The namespace that the product was installed into, if the definition of its type tells.
fn home(definition: &Object) -> Option<String> {
    let homes = installations(definition).filter(|(installed, _)| installed.home);
    homes.map(|(_, package)| package.namespace).next()
}

/// Adds that an owner of the definition is gone. A package manager makes its package the owner of a definition,
/// such as a `ProviderRevision` of a Crossplane provider. The controller is uninstalled with that package.
fn add_missing_owners(definition: &Object, holder: &mut Holder, view: &View<'_>) {
    for owner in OwnerReference::all(definition) {
        let (kind, name, group) = (owner.kind(), owner.name(), owner.group());
        if group.is_empty() {
            continue;
        }
        let gone = match view.kind(group, kind) {
            Some(ty) => match view.object(&ty.group, &ty.plural, "", name) {
                Ok(found) => found.is_none(),
                Err(missing) => {
                    holder.wait_for(&missing);
                    false
                }
            },
            None => view.knows_all_types(),
        };
        if gone {
            holder.add(
                Sign::new(
                    Trace::Installation,
                    Tells::Gone,
                    Strength::Strong,
                    format!("{} {}", definition.kind, definition.name()),
                    format!("belongs to {kind} {name}, which does not exist"),
                )
                .of("metadata.ownerReferences")
                .about(definition.reference()),
            );
        }
    }
}

/// The object, if it exists. An object that could not be read is only one sign less.
fn seen_object<'a>(found: Result<Option<&'a Object>, Missing>, holder: &mut Holder) -> Option<&'a Object> {
    found.unwrap_or_else(|missing| {
        holder.wait_for(&missing);
        None
    })
}

/// Adds that the Service does not exist that a part of the product points at.
fn add_missing_service(
    of: &Object,
    service: Option<ServiceReference<'_>>,
    holder: &mut Holder,
    view: &View<'_>,
) {
    let Some(service) = service else {
        return;
    };
    match view.object("", "services", service.namespace, service.name) {
        Ok(None) => holder.add(
            Sign::new(
                Trace::Product,
                Tells::Gone,
                Strength::Strong,
                format!("{} {}", of.kind, of.name()),
                format!(
                    "points at {}, which does not exist",
                    pasteable("services", Some(service.namespace), service.name)
                ),
            )
            .about(of.reference()),
        ),
        Ok(Some(_)) => {}
        Err(missing) => holder.wait_for(&missing),
    }
}

/// What installed a definition or a workload, if its metadata tells.
pub fn installer(definition: &Object) -> Option<String> {
    let in_words = |(installed, package): (&Installed, Package)| {
        fill(&installed.r#as, |word| match word {
            "name" => Some(package.name.clone()),
            "namespace" => Some(package.namespace.clone()),
            _ => None,
        })
    };
    if let Some(package) = installations(definition).next() {
        return Some(in_words(package));
    }
    let owner = OwnerReference::all(definition).next()?;
    Some(format!("{} {}", owner.kind(), owner.name()))
}

/// A package that a program installed.
struct Package {
    name: String,
    namespace: String,
}

/// How programs installed this object (`knowledge/deployers.yaml`). A package manager tells more than who called it.
fn installations(object: &Object) -> impl Iterator<Item = (&'static Installed, Package)> {
    let installed = || knowledge::deployers().iter().flat_map(|one| &one.installed);
    let managers = installed().filter(|one| one.home);
    let others = installed().filter(|one| !one.home);
    let all = managers.chain(others);
    all.filter_map(|installed| Some((installed, package(installed, object)?)))
}

/// The package that the metadata of the object names in this way.
fn package(installed: &Installed, object: &Object) -> Option<Package> {
    let labels = object.labels();
    let value = |name: &str| match installed.place {
        MarkPlace::Label(_) => labels.get(name).map_or("", String::as_str),
        _ => object.annotation(name),
    };
    let place = installed.place.name();
    if let Some(prefix) = place.strip_suffix('*') {
        let (name, namespace) = labels
            .keys()
            .find_map(|key| key.strip_prefix(prefix)?.split_once('.'))?;
        return Some(Package {
            name: name.to_owned(),
            namespace: namespace.to_owned(),
        });
    }
    let name = match &installed.until {
        Some(end) => value(place).split_once(&**end)?.0,
        None => value(place),
    };
    let namespace = installed.namespace.as_deref().map_or("", value);
    let is_whole = !name.is_empty() && (installed.namespace.is_none() || !namespace.is_empty());
    is_whole.then(|| Package {
        name: name.to_owned(),
        namespace: namespace.to_owned(),
    })
}
