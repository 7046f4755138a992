//! Chooses the cluster and the user, and applies the flags.
//!
//! This is client-go's `DirectClientConfig` (`tools/clientcmd/client_config.go`: `getContext`, `getCluster`,
//! `getAuthInfo`) with its precedence. A flag wins over the file, and an empty flag is no flag. `--server` drops the
//! file's `tls-server-name`. `--certificate-authority` and `--insecure-skip-tls-verify` drop the file's CA. Two things
//! differ on purpose:
//! * A name that does not exist is an error that lists the existing names, not "localhost:8080 was refused".
//! * `--token` replaces all credentials that the user has in the file. kubectl keeps the file's client certificate. An
//!   API server checks certificates first, so `--token` then has no effect.

use kube::config::{AuthInfo, Cluster, Context};
use secrecy::SecretString;

use super::{config_error, kubeconfig::LoadedKubeconfig, names};
use crate::{error::Error, settings::Connection};

/// The chosen cluster and user, flags applied.
#[derive(Debug, Default)]
pub(super) struct Choice {
    pub(super) cluster: Cluster,
    pub(super) user: AuthInfo,
    /// The name of the user, if there is one.
    pub(super) user_name: Option<String>,
    /// Whether the kubeconfig lacks that user. kubectl then continues without credentials.
    pub(super) user_missing: bool,
    pub(super) namespace: Option<String>,
}

/// The value of a flag. An empty flag counts as not set (`--context "$UNSET"`), as in kubectl.
pub(super) fn given(flag: Option<&String>) -> Option<&str> {
    flag.map(String::as_str).filter(|value| !value.is_empty())
}

/// Chooses cluster and user. `None` if neither the files nor the flags name a cluster.
pub(super) fn choose(kubeconfig: &LoadedKubeconfig, flags: &Connection) -> Result<Option<Choice>, Error> {
    let context = context(kubeconfig, flags)?;
    let (context_name, context) = match context {
        Some((name, context)) => (Some(name), context),
        None => (None, Context::default()),
    };
    let Some(mut cluster) = cluster(kubeconfig, flags, context_name, &context)? else {
        return Ok(None);
    };
    flag_cluster(&mut cluster, flags)?;

    let name = given(flags.user.as_ref()).or(given(context.user.as_ref()));
    let known = |user: &str| {
        kubeconfig
            .config
            .auth_infos
            .iter()
            .find(|named| named.name == user)
    };
    if let Some(flag) = given(flags.user.as_ref())
        && known(flag).is_none()
    {
        let users = kubeconfig
            .config
            .auth_infos
            .iter()
            .map(|named| named.name.as_str());
        return Err(config_error(
            format!("user {flag:?} does not exist in {}", kubeconfig.file_names()),
            Some(names::hint(flag, users, "users")),
        ));
    }
    let entry = name.and_then(known);
    let mut user = entry
        .and_then(|named| named.auth_info.clone())
        .unwrap_or_default();
    flag_user(&mut user, flags);
    impersonation_is_complete(&user, name)?;
    Ok(Some(Choice {
        cluster,
        user,
        user_name: name.map(str::to_owned),
        user_missing: name.is_some() && entry.is_none(),
        namespace: context.namespace.filter(|name| !name.is_empty()),
    }))
}

/// The context, from the flag or from the file.
fn context<'a>(
    kubeconfig: &'a LoadedKubeconfig,
    flags: &'a Connection,
) -> Result<Option<(&'a str, Context)>, Error> {
    let flag = given(flags.context.as_ref());
    let Some(name) = flag.or(given(kubeconfig.config.current_context.as_ref())) else {
        return Ok(None);
    };
    let Some(named) = kubeconfig.config.contexts.iter().find(|named| named.name == name) else {
        if kubeconfig.read.is_empty() {
            return Err(config_error(
                format!(
                    "context {name:?} does not exist: there is no {}",
                    kubeconfig.missing_names()
                ),
                Some("give the kubeconfig that has it with --kubeconfig or KUBECONFIG"),
            ));
        }
        let which = if flag.is_some() {
            "context"
        } else {
            "the current context"
        };
        let existing = kubeconfig.config.contexts.iter().map(|named| named.name.as_str());
        return Err(config_error(
            format!("{which} {name:?} does not exist in {}", kubeconfig.file_names()),
            Some(names::hint(name, existing, "contexts")),
        ));
    };
    Ok(Some((name, named.context.clone().unwrap_or_default())))
}

/// The cluster, from the flag or from the context.
fn cluster(
    kubeconfig: &LoadedKubeconfig,
    flags: &Connection,
    context_name: Option<&str>,
    context: &Context,
) -> Result<Option<Cluster>, Error> {
    let flag = given(flags.cluster.as_ref());
    let server = given(flags.server.as_ref());
    let existing = || kubeconfig.config.clusters.iter().map(|named| named.name.as_str());
    let Some(name) = flag.or(given(Some(&context.cluster))) else {
        return match (server, context_name) {
            (Some(_), _) => Ok(Some(Cluster::default())),
            (None, None) => Ok(None),
            (None, Some(context)) => Err(config_error(
                format!(
                    "context {context:?} of {} names no cluster",
                    kubeconfig.file_names()
                ),
                Some(format!(
                    "choose one with --cluster; {}",
                    names::hint("", existing(), "clusters")
                )),
            )),
        };
    };
    let entry = kubeconfig.config.clusters.iter().find(|named| named.name == name);
    let cluster = match (entry, flag, server) {
        (Some(entry), _, _) => entry.cluster.clone().unwrap_or_default(),
        (None, None, Some(_)) => Cluster::default(),
        (None, Some(_), _) => {
            return Err(config_error(
                format!("cluster {name:?} does not exist in {}", kubeconfig.file_names()),
                Some(names::hint(name, existing(), "clusters")),
            ));
        }
        (None, None, None) => {
            let context = context_name.unwrap_or_default();
            return Err(config_error(
                format!(
                    "context {context:?} names the cluster {name:?}, which does not exist in {}",
                    kubeconfig.file_names()
                ),
                Some(names::hint(name, existing(), "clusters")),
            ));
        }
    };
    if server.is_none() && given(cluster.server.as_ref()).is_none() {
        return Err(config_error(
            format!(
                "cluster {name:?} of {} has no server address",
                kubeconfig.file_names()
            ),
            Some("set it with `kubectl config set-cluster` or give one with --server"),
        ));
    }
    Ok(Some(cluster))
}

/// Applies the flags to the cluster.
pub(super) fn flag_cluster(cluster: &mut Cluster, flags: &Connection) -> Result<(), Error> {
    let authority = flags
        .certificate_authority
        .as_ref()
        .filter(|path| !path.as_os_str().is_empty());
    if flags.insecure_skip_tls_verify || authority.is_some() {
        cluster.insecure_skip_tls_verify = Some(flags.insecure_skip_tls_verify);
        cluster.certificate_authority = authority.map(|path| path.to_string_lossy().into_owned());
        cluster.certificate_authority_data = None;
    }
    let server_name = given(flags.tls_server_name.as_ref());
    if let Some(server) = given(flags.server.as_ref()) {
        cluster.server = Some(server.to_owned());
        cluster.tls_server_name = None;
    }
    if let Some(name) = server_name {
        cluster.tls_server_name = Some(name.to_owned());
    }
    if flags.disable_compression {
        cluster.disable_compression = Some(true);
    }
    let has_authority = given(cluster.certificate_authority.as_ref()).is_some()
        || given(cluster.certificate_authority_data.as_ref()).is_some();
    if cluster.insecure_skip_tls_verify == Some(true) && has_authority {
        // client-go refuses this too (`transport/transport.go`), because it is ambiguous.
        return Err(config_error(
            "a certificate authority and insecure-skip-tls-verify exclude each other",
            Some(
                "leave one of them out; --certificate-authority and --insecure-skip-tls-verify each replace what the kubeconfig has",
            ),
        ));
    }
    Ok(())
}

/// Applies the flags to the user.
pub(super) fn flag_user(user: &mut AuthInfo, flags: &Connection) {
    let path = |flag: &Option<std::path::PathBuf>| {
        flag.as_ref()
            .map(|path| path.to_string_lossy().into_owned())
            .filter(|path| !path.is_empty())
    };
    if let Some(token) = given(flags.token.as_ref()) {
        *user = AuthInfo {
            token: Some(SecretString::from(token.to_owned())),
            impersonate: user.impersonate.take(),
            impersonate_uid: user.impersonate_uid.take(),
            impersonate_groups: user.impersonate_groups.take(),
            impersonate_user_extra: user.impersonate_user_extra.take(),
            ..AuthInfo::default()
        };
    }
    if let Some(certificate) = path(&flags.client_certificate) {
        user.client_certificate = Some(certificate);
        user.client_certificate_data = None;
    }
    if let Some(key) = path(&flags.client_key) {
        user.client_key = Some(key);
        user.client_key_data = None;
    }
    if let Some(name) = given(flags.as_user.as_ref()) {
        user.impersonate = Some(name.to_owned());
    }
    if let Some(uid) = given(flags.as_uid.as_ref()) {
        user.impersonate_uid = Some(uid.to_owned());
    }
    if !flags.as_groups.is_empty() {
        user.impersonate_groups = Some(flags.as_groups.clone());
    }
    if !flags.as_user_extra.is_empty() {
        let extra = user
            .impersonate_user_extra
            .insert(std::collections::HashMap::new());
        for (key, value) in &flags.as_user_extra {
            extra.entry(key.clone()).or_default().push(value.clone());
        }
    }
}

/// Checks that impersonation names a user, as client-go does (`validateAuthInfo`). The API server's own error is less
/// clear.
pub(super) fn impersonation_is_complete(user: &AuthInfo, name: Option<&str>) -> Result<(), Error> {
    let acts_as = given(user.impersonate.as_ref()).is_some();
    let more = given(user.impersonate_uid.as_ref()).is_some()
        || user
            .impersonate_groups
            .as_ref()
            .is_some_and(|groups| !groups.is_empty())
        || user
            .impersonate_user_extra
            .as_ref()
            .is_some_and(|extra| !extra.is_empty());
    if more && !acts_as {
        let whose = name.map(|name| format!(" (user {name:?})")).unwrap_or_default();
        return Err(config_error(
            format!("groups, a UID or extras to impersonate, but no user{whose}"),
            Some("add --as USER"),
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
