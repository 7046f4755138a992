//! The settings of the commands that change objects.

use std::path::PathBuf;

use http::Uri;

use super::{Connection, NamespaceChoice, targets::objects, usage};
use crate::{
    cli::{ConnectionArgs, EtcdArgs, FinalizeArgs, Format, GuardArgs, NudgeArgs, RemoveArgs, RescueArgs},
    error::Error,
    knowledge::Consequence,
    object::{Finalizer, List},
    plan::Action,
};

/// The settings of `remove`, `finalize`, `nudge` or `rescue`.
#[derive(Clone, Debug)]
pub struct Guarded {
    /// The objects to change: type and name, as given.
    pub targets: Vec<(String, String)>,
    /// The type of which all objects in deletion are to be changed, as given.
    pub all_terminating: Option<String>,
    /// The namespace of the objects.
    pub place: NamespaceChoice,
    /// The change to make.
    pub wanted: Wanted,
    /// The consequences that the user accepts.
    pub accepted: Vec<Consequence>,
    /// Whether to show only the plan.
    pub only_plan: bool,
    /// The digest of the plan that the user confirmed elsewhere.
    pub confirmed: Option<String>,
    /// The directory for copies; none for the default.
    pub backup_dir: Option<PathBuf>,
    /// Whether the copy of a Secret includes its data.
    pub backup_secrets: bool,
    /// The file for receipts; none for the default.
    pub audit_file: Option<PathBuf>,
    /// Whether to create an Event for the object.
    pub event: bool,
    /// The connection to the cluster.
    pub connection: Box<Connection>,
    /// The format.
    pub format: Format,
}

/// The change to make to each object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Remove this finalizer.
    Remove(String),
    /// Remove this entry of `spec.finalizers`.
    Finalize(String),
    /// Make its controllers reconcile again.
    Nudge,
    /// Set the reclaim policy of the volume to Retain.
    Retain,
    /// Let the volume go and make it again.
    Rescue {
        /// Whether the old reclaim policy comes back at the end.
        restore_policy: bool,
        /// The receipts of a run that ended before the last step.
        resume: Option<PathBuf>,
    },
    /// Take the deletion out of what etcd has stored.
    Unmark(EtcdAccess),
}

/// How to reach etcd.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EtcdAccess {
    /// The address.
    pub url: Uri,
    /// The authority of its certificate.
    pub authority: PathBuf,
    /// The client certificate.
    pub certificate: PathBuf,
    /// The key of that certificate.
    pub key: PathBuf,
    /// The prefix of all keys; none to try the known ones.
    pub prefix: Option<String>,
}

impl EtcdAccess {
    /// How to reach etcd, if an address is given.
    fn new(words: EtcdArgs) -> Result<Option<Self>, Error> {
        let (Some(url), Some(authority), Some(certificate), Some(key)) =
            (words.etcd, words.etcd_cacert, words.etcd_cert, words.etcd_key)
        else {
            return Ok(None);
        };
        let url = url.trim_end_matches('/');
        let parsed = url.parse::<Uri>().ok().filter(|parsed| {
            parsed.scheme_str() == Some("https")
                && matches!(parsed.path(), "" | "/")
                && parsed.query().is_none()
        });
        let Some(url) = parsed else {
            return Err(usage(
                format!("--etcd: {url:?} is no address of an etcd with TLS"),
                Some("write it as https://HOST:2379"),
            ));
        };
        Ok(Some(EtcdAccess {
            url,
            authority,
            certificate,
            key,
            prefix: words.etcd_prefix,
        }))
    }
}

/// The settings of `rescue --print-etcd-commands`.
#[derive(Clone, Debug)]
pub struct EtcdCommands {
    /// The object to rescue: type and name, as given.
    pub target: (String, String),
    /// Its namespace.
    pub place: NamespaceChoice,
    /// The connection to the cluster.
    pub connection: Box<Connection>,
}

impl EtcdCommands {
    /// Interprets these arguments of `rescue`.
    pub fn new(words: &RescueArgs, connection: ConnectionArgs) -> Result<Self, Error> {
        let mut targets = targets(&words.targets)?;
        let (Some(target), true) = (targets.pop(), targets.is_empty()) else {
            return Err(usage(
                "--print-etcd-commands is for one object".into(),
                Some("name one object: TYPE/NAME"),
            ));
        };
        Ok(EtcdCommands {
            target,
            place: NamespaceChoice::of(&connection),
            connection: Box::new(Connection::new(connection)?),
        })
    }
}

impl Wanted {
    /// The action without its arguments.
    pub fn action(&self) -> Action {
        match self {
            Wanted::Remove(_) => Action::Remove,
            Wanted::Finalize(_) => Action::Finalize,
            Wanted::Nudge => Action::Nudge,
            Wanted::Retain => Action::Retain,
            Wanted::Rescue { .. } => Action::Rescue,
            Wanted::Unmark(_) => Action::Unmark,
        }
    }

    /// The finalizer to remove.
    pub fn finalizer(&self) -> Option<Finalizer> {
        let (list, name) = match self {
            Wanted::Remove(name) => (List::Metadata, name.as_str()),
            Wanted::Finalize(name) => (List::Spec, name.as_str()),
            Wanted::Nudge | Wanted::Retain | Wanted::Rescue { .. } | Wanted::Unmark(_) => return None,
        };
        Some(Finalizer {
            list,
            name: name.to_owned(),
        })
    }
}

impl Guarded {
    /// Interprets the arguments of `remove`.
    pub fn remove(words: RemoveArgs, connection: ConnectionArgs) -> Result<Self, Error> {
        let wanted = Wanted::Remove(single_finalizer(&words.finalizer)?);
        let targets = targets(&words.targets)?;
        Guarded::new(wanted, targets, accepted(&words.accept)?, words.guard, connection)
    }

    /// Interprets the arguments of `finalize`.
    pub fn finalize(words: FinalizeArgs, connection: ConnectionArgs) -> Result<Self, Error> {
        let name = match words.name.split_once('/') {
            Some(("ns" | "namespace" | "namespaces", name)) => name.to_owned(),
            _ => words.name,
        };
        let targets = vec![("namespaces".to_owned(), name)];
        let wanted = Wanted::Finalize(single_finalizer(&words.finalizer)?);
        Guarded::new(wanted, targets, accepted(&words.accept)?, words.guard, connection)
    }

    /// Interprets the arguments of `nudge`.
    pub fn nudge(words: NudgeArgs, connection: ConnectionArgs) -> Result<Self, Error> {
        let targets = targets(&words.targets)?;
        Guarded::new(Wanted::Nudge, targets, Vec::new(), words.guard, connection)
    }

    /// Interprets the arguments of `rescue`.
    pub fn rescue(words: RescueArgs, connection: ConnectionArgs) -> Result<Self, Error> {
        if let Some(access) = EtcdAccess::new(words.etcd)? {
            let targets = targets(&words.targets)?;
            return Guarded::new(
                Wanted::Unmark(access),
                targets,
                Vec::new(),
                words.guard,
                connection,
            );
        }
        if !words.only_retain {
            let targets = targets(&words.targets)?;
            if targets.len() > 1 {
                return Err(usage(
                    "rescue makes one volume again at a time".into(),
                    Some("to keep the disks of several volumes at once, add --only-retain"),
                ));
            }
            let wanted = Wanted::Rescue {
                restore_policy: words.restore_policy,
                resume: words.resume,
            };
            return Guarded::new(wanted, targets, Vec::new(), words.guard, connection);
        }
        if !words.all_terminating {
            let targets = targets(&words.targets)?;
            return Guarded::new(Wanted::Retain, targets, Vec::new(), words.guard, connection);
        }
        let [resource] = &words.targets[..] else {
            return Err(all_terminating_takes_a_type(&words.targets.join(" ")));
        };
        if resource.contains('/') {
            return Err(all_terminating_takes_a_type(resource));
        }
        let mut rescue = Guarded::new(Wanted::Retain, Vec::new(), Vec::new(), words.guard, connection)?;
        rescue.all_terminating = Some(resource.clone());
        Ok(rescue)
    }

    fn new(
        wanted: Wanted,
        targets: Vec<(String, String)>,
        accepted: Vec<Consequence>,
        guard: GuardArgs,
        connection: ConnectionArgs,
    ) -> Result<Self, Error> {
        let place = NamespaceChoice::of(&connection);
        if place == NamespaceChoice::Anywhere {
            return Err(usage(
                format!("{} takes no --all-namespaces", wanted.action().word()),
                Some("name the namespace with -n: what is changed is named, not found"),
            ));
        }
        Ok(Guarded {
            targets,
            all_terminating: None,
            place,
            wanted,
            accepted,
            only_plan: guard.plan,
            confirmed: guard.confirm,
            backup_dir: guard.backup_dir,
            backup_secrets: guard.backup_secrets,
            audit_file: guard.audit_file,
            event: guard.event,
            connection: Box::new(Connection::new(connection)?),
            format: guard.output.into(),
        })
    }
}

fn all_terminating_takes_a_type(given: &str) -> Error {
    usage(
        format!("--all-terminating takes a type and no names, and {given:?} is not one type"),
        Some("kubectl finalizers rescue pv --all-terminating --only-retain"),
    )
}

/// Only objects can be changed.
fn targets(words: &[String]) -> Result<Vec<(String, String)>, Error> {
    let targets = objects(words).map_err(|word| {
        usage(
            format!("{word:?} names no object"),
            Some("write TYPE/NAME, as for kubectl finalizers explain"),
        )
    })?;
    if targets.is_empty() {
        return Err(usage("no object is named".into(), Some("write TYPE/NAME")));
    }
    Ok(targets)
}

/// Checks that the word names one finalizer.
fn single_finalizer(word: &str) -> Result<String, Error> {
    let name = word.trim();
    if name.is_empty() || name.contains(['*', ',']) || name.contains(char::is_whitespace) {
        return Err(usage(
            format!("--finalizer: {name:?} is not the name of one finalizer"),
            Some("each finalizer is a promise of its own: name the one, as it stands on the object"),
        ));
    }
    Ok(name.to_owned())
}

fn accepted(words: &[String]) -> Result<Vec<Consequence>, Error> {
    words.iter().map(|word| accept(word)).collect()
}

fn accept(word: &str) -> Result<Consequence, Error> {
    Consequence::from_typed(word)
        .filter(|known| *known > Consequence::Metadata)
        .ok_or_else(|| {
            usage(
                format!("--accept: {word:?} is no consequence that could be accepted"),
                Some("one of orphaned-objects, leaked-infrastructure, data-loss"),
            )
        })
}
