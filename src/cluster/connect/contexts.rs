//! Finds the clusters of several contexts. Contexts with the same server, authority and user are one cluster, which is
//! asked once.
//!
//! kubectl merges the files of `KUBECONFIG`, and of two contexts with one name the first wins. The other one is a cluster
//! too, so it is read from its own file alone.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use kube::config::Kubeconfig;

use super::{
    choose::{self, Choice},
    config_error,
    kubeconfig::{self, LoadedKubeconfig},
    names,
    surroundings::Surroundings,
};
use crate::{
    error::Error,
    settings::{Clusters, Connection, Contexts},
};

/// A cluster of the kubeconfig, and how to reach it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundCluster {
    /// The name of its first context.
    pub context: String,
    /// The file of that context, if no other way leads to it.
    pub kubeconfig: Option<PathBuf>,
    /// The other contexts of the same cluster.
    pub others: Vec<String>,
}

/// What makes two contexts one cluster. None if the context is faulty, so that it is like no other.
type Identity = Option<String>;

/// The clusters of these contexts, in the order of the contexts.
pub fn clusters(wanted: &Clusters, surroundings: &Surroundings<'_>) -> Result<Vec<FoundCluster>, Error> {
    let flags = &wanted.connection;
    let path = flags
        .kubeconfig
        .as_deref()
        .filter(|path| !path.as_os_str().is_empty());
    let loaded = kubeconfig::load(path, surroundings)?;
    let mut found: Vec<(Identity, FoundCluster)> = Vec::new();
    match &wanted.contexts {
        Contexts::Listed(text) => {
            for name in listed(text, &loaded)? {
                add(&mut found, identity(&name, &loaded, flags), name, None);
            }
        }
        Contexts::All => {
            for name in context_names(&loaded.config) {
                add(&mut found, identity(&name, &loaded, flags), name, None);
            }
            if loaded.read.len() > 1 {
                for file in &loaded.read {
                    add_hidden(&mut found, file, flags, surroundings)?;
                }
            }
        }
    }
    if found.is_empty() {
        return Err(config_error(
            "no cluster to talk to: there is no context",
            Some("give a kubeconfig with --kubeconfig or KUBECONFIG"),
        ));
    }
    Ok(found.into_iter().map(|(_, cluster)| cluster).collect())
}

/// Adds the contexts of one file that contexts of other files hide. A context that needs another file is not hidden.
fn add_hidden(
    found: &mut Vec<(Identity, FoundCluster)>,
    file: &Path,
    flags: &Connection,
    surroundings: &Surroundings<'_>,
) -> Result<(), Error> {
    let alone = kubeconfig::load(Some(file), surroundings)?;
    for name in context_names(&alone.config) {
        let identity = identity(&name, &alone, flags);
        if identity.is_some() {
            add(found, identity, name, Some(file));
        }
    }
    Ok(())
}

fn add(
    found: &mut Vec<(Identity, FoundCluster)>,
    identity: Identity,
    context: String,
    kubeconfig: Option<&Path>,
) {
    let same = found
        .iter_mut()
        .find(|(other, _)| identity.is_some() && *other == identity);
    match same {
        Some((_, cluster)) => {
            if cluster.context != context && !cluster.others.contains(&context) {
                cluster.others.push(context);
            }
        }
        None => found.push((
            identity,
            FoundCluster {
                context,
                kubeconfig: kubeconfig.map(Path::to_owned),
                others: Vec::new(),
            },
        )),
    }
}

/// The listed contexts, each once. All of them must exist.
fn listed(text: &str, loaded: &LoadedKubeconfig) -> Result<Vec<String>, Error> {
    let existing = context_names(&loaded.config);
    if existing.iter().any(|name| name == text) {
        return Ok(vec![text.to_owned()]);
    }
    let mut names: Vec<String> = Vec::new();
    for name in text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        if !existing.iter().any(|other| other == name) {
            return Err(config_error(
                format!("context {name:?} does not exist in {}", loaded.file_names()),
                Some(names::hint(name, existing.iter().map(String::as_str), "contexts")),
            ));
        }
        if !names.iter().any(|other| other == name) {
            names.push(name.to_owned());
        }
    }
    Ok(names)
}

fn context_names(config: &Kubeconfig) -> Vec<String> {
    let mut seen = BTreeSet::new();
    config
        .contexts
        .iter()
        .map(|named| named.name.clone())
        .filter(|name| seen.insert(name.clone()))
        .collect()
}

/// The server, the authority and the user behind a context. It holds credentials, and is only compared.
fn identity(context: &str, loaded: &LoadedKubeconfig, flags: &Connection) -> Identity {
    let flags = Connection {
        context: Some(context.to_owned()),
        ..flags.clone()
    };
    let Choice {
        cluster,
        user,
        user_missing,
        ..
    } = choose::choose(loaded, &flags).ok()??;
    let server = cluster.server.as_deref()?.trim_end_matches('/');
    let authority = (
        &cluster.certificate_authority,
        &cluster.certificate_authority_data,
        &cluster.tls_server_name,
        &cluster.proxy_url,
    );
    let user = serde_json::to_string(&user).ok().filter(|_| !user_missing)?;
    Some(format!("{server} {authority:?} {user}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::connect::testing::Sandbox;

    const FILE: &str = "apiVersion: v1
kind: Config
clusters:
- {name: one, cluster: {server: 'https://one'}}
- {name: two, cluster: {server: 'https://two'}}
users:
- {name: me, user: {token: t}}
- {name: admin, user: {token: a}}
contexts:
- {name: first, context: {cluster: one, user: me, namespace: x}}
- {name: again, context: {cluster: one, user: me, namespace: y}}
- {name: admin, context: {cluster: one, user: admin}}
- {name: second, context: {cluster: two, user: me}}
- {name: broken, context: {cluster: gone, user: me}}
";
    const OTHER: &str = "apiVersion: v1
kind: Config
clusters: [{name: one, cluster: {server: 'https://three'}}]
users: [{name: me, user: {token: t}}]
contexts: [{name: first, context: {cluster: one, user: me}}]
";

    fn found(sandbox: &Sandbox, contexts: Contexts) -> Result<Vec<FoundCluster>, Error> {
        let wanted = Clusters {
            contexts,
            connection: Connection::default(),
            first_answer: None,
        };
        sandbox.with(|surroundings| clusters(&wanted, surroundings))
    }

    fn cluster(context: &str, others: &[&str]) -> FoundCluster {
        FoundCluster {
            context: context.into(),
            kubeconfig: None,
            others: others.iter().map(|&name| name.to_owned()).collect(),
        }
    }

    #[test]
    fn contexts_of_one_server_and_user_are_one_cluster() {
        let sandbox = Sandbox::new();
        let file = sandbox.file("config", FILE);
        sandbox.set("KUBECONFIG", file.to_str().expect("UTF-8"));
        assert_eq!(
            found(&sandbox, Contexts::All).expect("contexts"),
            [
                cluster("first", &["again"]),
                cluster("admin", &[]),
                cluster("second", &[]),
                cluster("broken", &[]),
            ]
        );
    }

    #[test]
    fn a_list_names_contexts_that_exist() {
        let sandbox = Sandbox::new();
        let file = sandbox.file("config", FILE);
        sandbox.set("KUBECONFIG", file.to_str().expect("UTF-8"));
        assert_eq!(
            found(&sandbox, Contexts::Listed("second, first,second".into())).expect("contexts"),
            [cluster("second", &[]), cluster("first", &[])]
        );
        let error = found(&sandbox, Contexts::Listed("second,frist".into())).expect_err("missing");
        assert_eq!(error.hint(), Some("did you mean \"first\"?"));
    }

    #[test]
    fn a_context_that_another_file_hides_is_read_from_its_own_file() {
        let sandbox = Sandbox::new();
        let (file, other) = (sandbox.file("config", FILE), sandbox.file("other", OTHER));
        let files = std::env::join_paths([&file, &other]).expect("no separator in the paths");
        sandbox.set("KUBECONFIG", files.to_str().expect("UTF-8"));
        let found = found(&sandbox, Contexts::All).expect("contexts");
        assert_eq!(found.len(), 5);
        assert_eq!(
            found.last(),
            Some(&FoundCluster {
                kubeconfig: Some(other),
                ..cluster("first", &[])
            })
        );
    }
}
