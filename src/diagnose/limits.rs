//! How many items are shown, named or checked, and why. Items beyond a limit are counted or named as not checked,
//! never left out silently.

/// Waits that are followed in one chain. A longer chain explains nothing to a person, and the stack is limited.
pub(crate) const CHAIN: usize = 32;
/// Characters of one text. The texts of Kubernetes itself are shorter.
pub(crate) const TEXT: usize = 4_000;
/// Characters of an error message. Some controllers write whole stack traces into a condition.
pub(crate) const COMPLAINT: usize = 600;
/// Texts of one status that are read. A status with more repeats itself for each component.
pub(crate) const STATUS_TEXTS: usize = 24;
/// Names in one effect of a deletion. The rest is counted.
pub(crate) const NAMES_IN_EFFECT: usize = 4;
/// Finalizers whose controller is searched for before a deletion. RBAC is read once for all of them. Each catalogue
/// entry costs up to a dozen requests, and a namespace may contain objects of every operator.
pub(crate) const HOLDERS_SEARCHED: usize = 16;
/// Workloads of one product that may be its controller: an operator, and its webhook server. Of more, it may be any.
pub(crate) const LIKELY_CONTROLLERS: usize = 2;
/// Volumes that are read one by one. If there are more, all volumes are listed.
pub(crate) const VOLUMES_ONE_BY_ONE: usize = 10;
/// Custom types that one controller may change. An account that may change more is an administrator, and reading all
/// of them is a scan.
pub(crate) const TYPES_OF_ONE_CONTROLLER: usize = 40;
/// Namespaces whose workloads are read one by one. The workloads of more namespaces are listed together.
pub(crate) const NAMESPACES_ONE_BY_ONE: usize = 8;
/// Groups of remaining objects in a namespace. The rest is summed up.
pub(crate) const CONTENT_GROUPS: usize = 8;
/// Groups for which one object is explained in full. Each costs a few requests.
pub(crate) const EXPLAINED_IN_FULL: usize = 4;
/// Objects of one type that the namespace controller deletes in time with one request.
pub(crate) const OBJECTS_IN_ONE_REQUEST: u64 = 1000;
/// Objects that one advised command deletes: a few seconds of work for a server.
pub(crate) const OBJECTS_IN_ONE_STEP: u64 = 500;
/// Types named in one sentence. The rest is counted.
pub(crate) const TYPES_IN_SENTENCE: usize = 4;
/// Dependents that are checked one by one. The rest is counted.
pub(crate) const DEPENDENTS: usize = 10;
/// Objects that get a step of their own.
pub(crate) const STEPS_FOR_EACH: usize = 3;
/// Controllers above a Pod: a Job of a CronJob, or a ReplicaSet of a Deployment, and what made that.
pub(crate) const CONTROLLERS_ABOVE_POD: usize = 3;
/// Pods in trouble whose controllers are followed upwards. Each may cost a request.
pub(crate) const PODS_FOLLOWED_UP: usize = 20;
/// Levels of fields that are searched for references. No real type nests references deeper.
pub(crate) const FIELD_DEPTH: usize = 8;
/// Letters of the shortest field name that can stand for a kind. A shorter name fits too many kinds.
pub(crate) const FIELD_NAME: usize = 4;
/// Bytes of an expression in CEL that is evaluated. Longer ones are no common idiom.
pub(crate) const EXPRESSION: usize = 1024;
/// Levels of an expression in CEL that is evaluated. Deeper ones are no common idiom, and may be meant to exhaust the
/// stack.
pub(crate) const EXPRESSION_DEPTH: usize = 12;
/// References that are followed. Each costs a request.
pub(crate) const REFERENCES: usize = 6;
/// References that are counted. A spec with more repeats itself.
pub(crate) const REFERENCES_COUNTED: usize = 100;
/// Names or addresses in one sentence. More add nothing.
pub(crate) const NAMES_IN_SENTENCE: usize = 3;
/// Blockers of one kind that are named. The rest is summed up.
pub(crate) const BLOCKERS: usize = 5;
/// Types that a pattern of the catalogue may match. A wider pattern is not looked up.
pub(crate) const TYPES_OF_PATTERN: usize = 12;
/// Types whose objects are read for a report about one object. A policy engine has a type for each kind of rule.
pub(crate) const TYPES_OF_POLICIES: usize = 60;
/// Deployed objects that are checked for one deployer. The rest is not checked.
pub(crate) const DEPLOYED_OBJECTS: usize = 20;
/// Webhooks and policies that are named because they may reject an update.
pub(crate) const POSSIBLE_REJECTIONS: usize = 4;
/// Webhooks and policies that are explained in full because they reject an update.
pub(crate) const REJECTIONS_IN_FULL: usize = 3;
/// Consumers of a ResourceClaim that are checked one by one.
pub(crate) const CONSUMERS: usize = 16;
/// Owners of Pods that are named. The rest is summed up.
pub(crate) const OWNERS: usize = 5;
/// Names in one command. Nobody pastes a longer command.
pub(crate) const NAMES_IN_COMMAND: usize = 50;
/// Objects that one advised removal names. A person reads the plan of each before confirming all.
pub(crate) const TARGETS_OF_ONE_PLAN: usize = 20;
/// Services of webhooks that are checked. A webhook beyond this limit may reject. Checking thousands would starve the
/// rest of a scan.
pub(crate) const WEBHOOK_SERVICES: usize = 32;

/// The first `most` names, and the number of the others.
pub fn first_names(names: &[String], most: usize) -> String {
    match names.split_at_checked(most) {
        Some((first, rest)) if !rest.is_empty() => format!("{} and {} more", first.join(", "), rest.len()),
        _ => names.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_beyond_the_limit_are_counted() {
        let named = |count: usize| {
            let names: Vec<_> = (1..=count).map(|number| format!("n{number}")).collect();
            first_names(&names, 3)
        };
        assert_eq!(named(3), "n1, n2, n3");
        assert_eq!(named(5), "n1, n2, n3 and 2 more");
    }
}
