//! Runs a credential plugin, once.
//!
//! kube runs an exec plugin three times while it builds one client (authentication layer, TLS identity, expiry). For
//! `aws`, `gke-gcloud-auth-plugin` or `kubelogin` these are three logins. Here it runs once, by the rules of
//! client-go's `plugin/pkg/client/auth/exec/exec.go`. Its result becomes a plain token or certificate, and kube does
//! not know about the plugin. The drawback: credentials that expire during a run are not renewed.
//!
//! The output may be YAML, because client-go's decoder accepts it. The output is a secret, so neither it nor a parser
//! error about it is ever shown.

use std::{collections::HashMap, io, process::Stdio};

use jiff::Timestamp;
use kube::config::{Cluster, ExecAuthCluster, ExecConfig, ExecInteractiveMode};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::process::Command;

use super::{config_error, surroundings::Surroundings};
use crate::error::Error;

/// The protocol versions that client-go still supports.
const VERSIONS: [&str; 2] = [
    "client.authentication.k8s.io/v1",
    "client.authentication.k8s.io/v1beta1",
];

/// The extension of a cluster that holds its settings for plugins (`client-go/tools/clientcmd/api/types.go`).
const EXTENSION: &str = "client.authentication.k8s.io/exec";

/// The credentials from a plugin.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Credential {
    pub(super) token: Option<String>,
    pub(super) client_certificate_data: Option<String>,
    pub(super) client_key_data: Option<String>,
    pub(super) expiration_timestamp: Option<Timestamp>,
}

/// A run of a plugin.
pub(super) struct Request<'a> {
    pub(super) plugin: &'a ExecConfig,
    pub(super) user: Option<&'a str>,
    pub(super) cluster: &'a Cluster,
    /// The cluster's CA as PEM. The plugin might not find its file.
    pub(super) authority: Option<&'a [u8]>,
}

impl Request<'_> {
    /// Runs the plugin and reads its answer.
    pub(super) async fn run(&self, surroundings: &Surroundings<'_>) -> Result<Credential, Error> {
        let command = self.plugin.command.as_deref().unwrap_or_default();
        if command.is_empty() {
            return Err(self.error("names no command", Some("set users[].user.exec.command")));
        }
        let version = self.version()?;
        let interactive = self.is_interactive(surroundings)?;

        let mut process = Command::new(command);
        process
            .args(self.plugin.args.iter().flatten())
            .envs(self.plugin.env.iter().flatten().filter_map(variable))
            .env(
                "KUBERNETES_EXEC_INFO",
                self.info(version, interactive).to_string(),
            )
            .stdin(if interactive {
                Stdio::inherit()
            } else {
                Stdio::null()
            })
            .stdout(Stdio::piped())
            .stderr(if surroundings.is_silent {
                Stdio::null()
            } else {
                Stdio::inherit()
            })
            .kill_on_drop(true);
        let output = match process.spawn() {
            Ok(child) => child.wait_with_output().await,
            Err(error) => Err(error),
        };
        let output = output.map_err(|error| self.not_started(&error))?;
        if !output.status.success() {
            let how = match output.status.code() {
                Some(code) => format!("failed with exit code {code}"),
                None => "was ended by a signal".to_owned(),
            };
            return Err(self.error(
                &how,
                Some("its own message is above; run it by hand to log in again"),
            ));
        }
        self.read(&output.stdout, version)
    }

    fn version(&self) -> Result<&'static str, Error> {
        let wanted = self.plugin.api_version.as_deref().unwrap_or_default();
        VERSIONS.into_iter().find(|version| *version == wanted).ok_or_else(|| {
            let what = match wanted {
                "" => "has no apiVersion".to_owned(),
                wanted => format!("has the apiVersion {wanted:?}, which no current client speaks"),
            };
            self.error(
                &what,
                Some("update the plugin, then write the kubeconfig again with it; apiVersion must be client.authentication.k8s.io/v1 or v1beta1"),
            )
        })
    }

    /// Whether the plugin may ask questions, as client-go's `isInteractive`. A missing mode means `IfAvailable`, the
    /// default of v1beta1.
    fn is_interactive(&self, surroundings: &Surroundings<'_>) -> Result<bool, Error> {
        match self.plugin.interactive_mode {
            Some(ExecInteractiveMode::Never) => Ok(false),
            Some(ExecInteractiveMode::Always) if !surroundings.stdin_is_terminal => Err(self.error(
                "wants to ask questions (interactiveMode: Always), but standard input is not a terminal",
                Some("run this in a terminal"),
            )),
            _ => Ok(surroundings.stdin_is_terminal),
        }
    }

    fn info(&self, version: &str, interactive: bool) -> Value {
        let mut info = json!({
            "kind": "ExecCredential",
            "apiVersion": version,
            "spec": { "interactive": interactive },
        });
        if self.plugin.provide_cluster_info {
            let cluster = self.cluster;
            let extensions = cluster.extensions.iter().flatten();
            let known = ExecAuthCluster {
                server: cluster.server.clone(),
                insecure_skip_tls_verify: cluster.insecure_skip_tls_verify,
                certificate_authority_data: self.authority.map(<[u8]>::to_vec),
                proxy_url: cluster.proxy_url.clone(),
                tls_server_name: cluster.tls_server_name.clone(),
                config: extensions
                    .filter(|extension| extension.name == EXTENSION)
                    .map(|extension| extension.extension.clone())
                    .next(),
            };
            let mut known = json!(known);
            if let Some(fields) = known.as_object_mut()
                && cluster.disable_compression == Some(true)
            {
                fields.insert("disable-compression".into(), true.into());
            }
            if let Some(spec) = info.get_mut("spec").and_then(Value::as_object_mut) {
                spec.insert("cluster".into(), known);
            }
        }
        info
    }

    fn read(&self, output: &[u8], version: &str) -> Result<Credential, Error> {
        let hint = Some("run it by hand; it must print one ExecCredential with a status and nothing else");
        let answer: Value = serde_saphyr::from_slice(output).unwrap_or_default();
        let text = |field: &str| answer.get(field).and_then(Value::as_str);
        if text("kind") != Some("ExecCredential") {
            return Err(self.error("printed something that is not an ExecCredential", hint));
        }
        let theirs = text("apiVersion").unwrap_or("none");
        if theirs != version {
            return Err(self.error(
                &format!("answered with apiVersion {theirs:?}, but the kubeconfig asks for {version:?}"),
                Some("set users[].user.exec.apiVersion to what the plugin speaks"),
            ));
        }
        let Some(status) = answer.get("status").filter(|status| !status.is_null()) else {
            return Err(self.error("returned an ExecCredential without a status", hint));
        };
        let Ok(credential) = Credential::deserialize(status) else {
            return Err(self.error("returned a status that cannot be read", hint));
        };
        let has = |field: &Option<String>| field.as_ref().is_some_and(|text| !text.is_empty());
        match (
            has(&credential.token),
            has(&credential.client_certificate_data),
            has(&credential.client_key_data),
        ) {
            (false, false, false) => {
                Err(self.error("returned neither a token nor a client certificate", hint))
            }
            (_, true, false) | (_, false, true) => {
                Err(self.error("returned a client certificate or a key, but not both", hint))
            }
            _ => Ok(credential),
        }
    }

    fn not_started(&self, error: &io::Error) -> Error {
        if error.kind() != io::ErrorKind::NotFound {
            return self.error(&format!("cannot be started: {error}"), None);
        }
        // The author of the kubeconfig wrote this text, and it goes to a terminal. client-go removes control characters
        // too.
        let hint = self.plugin.install_hint.as_deref().map(|hint| {
            hint.trim()
                .chars()
                .filter(|c| *c == '\n' || !c.is_control())
                .collect::<String>()
        });
        let hint = hint.filter(|hint| !hint.is_empty());
        let hint = hint
            .as_deref()
            .unwrap_or("install it, or put its directory on PATH");
        self.error("is not installed", Some(hint))
    }

    fn error(&self, what: &str, hint: Option<&str>) -> Error {
        let command = self.plugin.command.as_deref().unwrap_or_default();
        let user = self
            .user
            .map(|name| format!(" of user {name:?}"))
            .unwrap_or_default();
        config_error(format!("the credential plugin {command:?}{user} {what}"), hint)
    }
}

/// A variable as the kubeconfig has it: `{name: …, value: …}`.
fn variable(entry: &HashMap<String, String>) -> Option<(&String, &String)> {
    Some((entry.get("name")?, entry.get("value")?))
}

#[cfg(all(test, unix))]
mod tests;
