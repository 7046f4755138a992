//! How many of a thing are shown, named or looked at, and why that many. What is beyond a limit is counted or named as
//! not looked at, never left out in silence.

/// Waits that are followed one after another. A longer chain explains nothing to a person, and the stack has an end.
pub(crate) const CHAIN: usize = 32;
/// Characters of one text. What Kubernetes itself writes is shorter.
pub(crate) const TEXT: usize = 4_000;
/// Characters of a complaint. Some controllers write whole stack traces into a condition.
pub(crate) const COMPLAINT: usize = 600;
/// Names in one effect of a deletion. The rest are counted.
pub(crate) const NAMES_IN_EFFECT: usize = 4;
/// Finalizers whose holder is looked for before a deletion. RBAC is read once for all of them, but each catalogue entry costs up to
/// a dozen requests, and a namespace may hold objects of every operator.
pub(crate) const HOLDERS_LOOKED_FOR: usize = 16;
/// Volumes that are read one by one. For more of them, all volumes are listed.
pub(crate) const VOLUMES_ONE_BY_ONE: usize = 10;
/// Custom types that one controller may change. Whoever may change more is an administrator, and reading all of them is a scan.
pub(crate) const TYPES_OF_ONE_CONTROLLER: usize = 40;
/// ServiceAccounts that are looked into. A type that more accounts may change belongs to nobody in particular.
pub(crate) const ACCOUNTS: usize = 4;
/// Groups of objects that are left in a namespace. The rest are summed up.
pub(crate) const CONTENT_GROUPS: usize = 8;
/// Groups of which one object is explained in full. Each costs a few requests.
pub(crate) const EXPLAINED_IN_FULL: usize = 3;
/// Objects of one type that one request of the namespace controller surely deletes in time.
pub(crate) const OBJECTS_IN_ONE_REQUEST: u64 = 1000;
/// Objects that one advised command deletes: a few seconds of work for a server.
pub(crate) const OBJECTS_IN_ONE_STEP: u64 = 500;
/// Types named in one sentence. The rest are counted.
pub(crate) const TYPES_IN_SENTENCE: usize = 4;
/// Dependents that are looked at one by one. The rest are counted.
pub(crate) const DEPENDENTS: usize = 10;
/// Objects that get a step of their own.
pub(crate) const STEPS_FOR_EACH: usize = 3;
/// Levels of fields that are searched for references. No real type has one deeper.
pub(crate) const FIELD_DEPTH: usize = 8;
/// References that are followed.
pub(crate) const REFERENCES: usize = 6;
/// Names or addresses in one sentence. More of them add nothing.
pub(crate) const NAMES_IN_SENTENCE: usize = 3;
/// Blockers of one kind that are named. The rest are summed up.
pub(crate) const BLOCKERS: usize = 5;
/// Types that a pattern of the catalogue may fit. A wider one is not looked up.
pub(crate) const TYPES_OF_PATTERN: usize = 12;
/// Objects that one deployer deployed and that are looked at. The rest are not.
pub(crate) const DEPLOYED_OBJECTS: usize = 20;
/// Webhooks and policies that may reject an update and are named.
pub(crate) const POSSIBLE_REJECTIONS: usize = 4;
/// Webhooks and policies that do reject an update and are explained in full.
pub(crate) const REJECTIONS_IN_FULL: usize = 3;
/// Consumers of a ResourceClaim that are looked at one by one.
pub(crate) const CONSUMERS: usize = 16;
/// Owners of Pods that are named. The rest are summed up.
pub(crate) const OWNERS: usize = 5;
/// Names in one command. Nobody pastes a longer one.
pub(crate) const NAMES_IN_COMMAND: usize = 50;
/// Services of webhooks that are looked at. A webhook beyond this may reject; looking at thousands would starve the rest of a scan.
pub(crate) const WEBHOOK_SERVICES: usize = 32;
