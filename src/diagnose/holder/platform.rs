//! Platforms that run a part of the cluster where its users cannot see it.
//!
//! A hidden controller has no workload and no account in the cluster, so there their absence is inconclusive. An installation
//! in the cluster leaves more behind: a Lease that it renewed after the object was created, or a webhook without a Service.
//! An object that names a type of the platform always belongs to the hidden controller.

use jiff::Timestamp;
use serde_json::Value;

use crate::{
    diagnose::{
        holder::trace::{Holder, Tells, Trace},
        kinds::Node,
        view::{Missing, View},
    },
    knowledge::{Entry, Platform, schema::glob},
    object::Finalizer,
    snapshot::{Gap, facts::Object},
};

/// Records that the controller runs out of sight, if the cluster is on a platform that hides it and only absence speaks
/// for its being gone.
pub(super) fn add_hiding_platform(object: &Object, entry: &Entry, holder: &mut Holder, view: &View<'_>) {
    // A controller whose last sign is older than the object never had this object.
    let created = object.created();
    let is_after = |time: Timestamp| created.is_some_and(|created| created <= time);
    let left_behind = holder.with(Tells::Gone).any(|sign| match sign.trace {
        Trace::Lease => sign.at.is_some_and(is_after),
        Trace::Product => true,
        _ => false,
    });
    let is_own = |platform: &Platform| platform.groups.iter().any(|group| names(&object.value, group));
    let hides = |platform: &Platform| {
        entry.holder.hidden_on.contains(&platform.name) && (!left_behind || is_own(platform))
    };
    if !view.knowledge.platforms().iter().any(hides) {
        return;
    }
    add_platform(hides, holder, view);
}

/// Like [`add_hiding_platform`], for a finalizer that the catalogue does not describe: a platform may hide what is in a
/// domain of its provider.
pub(super) fn add_platform_of_domain(
    object: &Object,
    finalizer: &Finalizer,
    holder: &mut Holder,
    view: &View<'_>,
) {
    let domain = finalizer
        .name
        .split_once('/')
        .map_or(&*finalizer.name, |(domain, _)| domain);
    let is_in = |name: &str, domain: &str| {
        name.strip_suffix(domain)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    let hides = |platform: &Platform| {
        let mut domains = platform.domains.iter();
        domains.any(|known| is_in(domain, known) || is_in(&object.resource.group, known))
    };
    if view.knowledge.platforms().iter().any(hides) {
        add_platform(hides, holder, view);
    }
}

/// Whether a field of the object has this API group, alone or in an `apiVersion`.
fn names(value: &Value, group: &str) -> bool {
    match value {
        Value::String(text) => text.split('/').next() == Some(group),
        Value::Array(items) => items.iter().any(|item| names(item, group)),
        Value::Object(fields) => fields.values().any(|field| names(field, group)),
        _ => false,
    }
}

fn add_platform(hides: impl Fn(&Platform) -> bool, holder: &mut Holder, view: &View<'_>) {
    match hiding_platform(hides, view) {
        Ok(Some(platform)) => {
            holder.elsewhere = Some(format!("where {} hides it", platform.name));
        }
        Ok(None) => {}
        Err(missing) => holder.add_missing(&missing),
    }
}

/// The platform of this cluster, if it is one that hides the controller. A platform may have no nodes at the moment, so
/// its types and the version of its API server are looked at, too.
fn hiding_platform<'a>(
    hides: impl Fn(&Platform) -> bool,
    view: &View<'a>,
) -> Result<Option<&'a Platform>, Missing> {
    let platforms = || {
        let all = view.knowledge.platforms().iter();
        all.filter(|platform| hides(platform))
    };
    let serves = |platform: &&Platform| {
        let mut types = view.types().iter();
        types.any(|ty| platform.groups.contains(&ty.group))
    };
    if let Some(platform) = platforms().find(serves) {
        return Ok(Some(platform));
    }
    // One round reads both.
    let (version, nodes) = (view.server_version(), view.list("", "nodes", ""));
    if let Ok(version) = version
        && let Some(platform) = platforms().find(|platform| is_version_of(version, platform))
    {
        return Ok(Some(platform));
    }
    let nodes = nodes?;
    let by_node = platforms().find(|platform| nodes.iter().any(|node| is_node_of(node, platform)));
    if by_node.is_none() {
        // No node shows the platform. Its version or its types could have.
        version?;
        let could_be = |gap: &&Gap| {
            let groups = platforms().flat_map(|platform| &platform.groups);
            groups.into_iter().any(|group| gap.what.hides_types_of(group))
        };
        if let Some(gap) = view.silent_groups().iter().find(could_be) {
            view.miss(gap);
            return Err(Missing::Gap(gap.clone()));
        }
    }
    Ok(by_node)
}

/// Whether this version, of the API server or of a kubelet, has the part by which the platform names its builds.
fn is_version_of(version: &str, platform: &Platform) -> bool {
    platform
        .versions
        .iter()
        .any(|part| version.contains(part.as_str()))
}

fn is_node_of(node: &Object, platform: &Platform) -> bool {
    let provider_id = Node(node).provider_id().to_lowercase();
    let labels = node.labels();
    is_version_of(Node(node).kubelet_version(), platform)
        || platform
            .node_labels
            .iter()
            .any(|wanted| labels.keys().any(|label| glob(wanted, label)))
        || platform
            .provider_ids
            .iter()
            .any(|wanted| glob(wanted, &provider_id))
}
