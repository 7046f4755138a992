//! Resolves the user of a kubeconfig to credentials that kube can use without reading a file or running a program.
//!
//! The precedence is client-go's (`getUserIdentificationPartialConfig`, and `UpdateTransportConfig` of the exec
//! authenticator). A token file wins over a token. A plugin runs only if there is neither token, password nor client
//! certificate. Over plain HTTP, no credentials are sent.

use kube::config::{AuthInfo, AuthProviderConfig, Cluster};
use secrecy::{ExposeSecret, SecretString};

use super::{
    choose::{Choice, given},
    config_error,
    identity::Identity,
    material,
    plugin::Request,
    surroundings::Surroundings,
    validity,
};
use crate::error::Error;

/// The credentials to send, and their description.
#[derive(Debug)]
pub(super) struct Credentials {
    pub(super) auth: AuthInfo,
    pub(super) identity: Identity,
}

/// Reads the files and runs the plugin of the chosen user.
pub(super) async fn resolve(
    choice: Choice,
    https: bool,
    authority: Option<&[u8]>,
    surroundings: &Surroundings<'_>,
) -> Result<(Credentials, Cluster), Error> {
    let Choice {
        cluster,
        user,
        user_name,
        user_missing,
        ..
    } = choice;
    let whose = user_name
        .as_deref()
        .map(|name| format!(" of user {name:?}"))
        .unwrap_or_default();
    let mut auth = AuthInfo {
        impersonate: user.impersonate.clone().filter(|name| !name.is_empty()),
        impersonate_uid: user.impersonate_uid.clone().filter(|uid| !uid.is_empty()),
        impersonate_groups: user.impersonate_groups.clone(),
        impersonate_user_extra: user.impersonate_user_extra.clone(),
        ..AuthInfo::default()
    };
    if !https {
        let identity = Identity::new(
            "a request without credentials, and over http:// none are sent",
            None,
            "use the https:// address of the server",
        );
        return Ok((Credentials { auth, identity }, cluster));
    }

    let mut identity = anonymous(user_name.as_deref(), user_missing);
    if let Some(provider) = &user.auth_provider {
        refuse_removed_provider(provider, &whose)?;
        auth.auth_provider = Some(provider.clone());
        identity = Identity::new(
            format!("the OpenID Connect token{whose}"),
            None,
            "log in again with your identity provider",
        );
    }
    if let Some(by_password) = password(&user, &mut auth, &whose)? {
        identity = by_password;
    }
    if let Some(by_token) = token(&user, &mut auth, &whose)? {
        identity = by_token;
    }
    if let Some(by_certificate) = certificate(&user, &mut auth, &whose)? {
        identity = by_certificate;
    }
    let has_credentials = auth.token.is_some()
        || auth.token_file.is_some()
        || auth.username.is_some()
        || auth.client_certificate_data.is_some();
    if let Some(plugin) = user.exec.as_ref().filter(|_| !has_credentials) {
        let request = Request {
            plugin,
            user: user_name.as_deref(),
            cluster: &cluster,
            authority,
        };
        let credential = request.run(surroundings).await?;
        let pem = credential.client_certificate_data.filter(|pem| !pem.is_empty());
        let from_certificate = pem
            .as_ref()
            .and_then(|pem| validity::of_certificate(pem.as_bytes()));
        let command = plugin.command.as_deref().unwrap_or_default();
        identity = Identity::new(
            format!("what the credential plugin {command:?}{whose} returned"),
            credential.expiration_timestamp.or(from_certificate),
            format!(
                "log in again with the tool behind {command:?}, or check that its account may use this cluster"
            ),
        );
        auth.token = credential
            .token
            .filter(|token| !token.is_empty())
            .map(SecretString::from);
        auth.client_certificate_data = pem.map(|pem| material::encode(pem.as_bytes()));
        auth.client_key_data = credential
            .client_key_data
            .filter(|key| !key.is_empty())
            .map(|key| SecretString::from(material::encode(key.as_bytes())));
    }
    Ok((Credentials { auth, identity }, cluster))
}

fn anonymous(user: Option<&str>, missing: bool) -> Identity {
    match user {
        Some(name) if missing => Identity::new(
            format!("a request without credentials: the kubeconfig has no user {name:?}"),
            None,
            "choose a user with --user, or write the kubeconfig again",
        ),
        Some(name) => Identity::new(
            format!("a request without credentials: user {name:?} has none"),
            None,
            "add some with `kubectl config set-credentials`, or log in",
        ),
        None => Identity::new(
            "a request without credentials",
            None,
            "give a token with --token, or a user with --user",
        ),
    }
}

/// Rejects the providers that were compiled into kubectl before 1.26, except the one that still is.
fn refuse_removed_provider(provider: &AuthProviderConfig, whose: &str) -> Result<(), Error> {
    let hint = match provider.name.as_str() {
        "oidc" => return Ok(()),
        "gcp" => {
            "install gke-gcloud-auth-plugin, then run `gcloud container clusters get-credentials CLUSTER`"
        }
        "azure" => "install kubelogin, then run `kubelogin convert-kubeconfig`",
        _ => "use a credential plugin instead: users[].user.exec",
    };
    Err(config_error(
        format!(
            "the auth-provider {:?}{whose} no longer exists, in kubectl neither",
            provider.name
        ),
        Some(hint),
    ))
}

fn password(user: &AuthInfo, auth: &mut AuthInfo, whose: &str) -> Result<Option<Identity>, Error> {
    let password = user
        .password
        .as_ref()
        .filter(|password| !password.expose_secret().is_empty());
    let name = given(user.username.as_ref());
    if name.is_none() && password.is_none() {
        return Ok(None);
    }
    if secret(user.token.as_ref()).is_some() {
        return Err(config_error(
            format!("there are two ways to log in{whose}, a token and a password; only one is allowed"),
            Some("remove one of them with `kubectl config unset`"),
        ));
    }
    auth.username = Some(name.unwrap_or_default().to_owned());
    auth.password = Some(password.cloned().unwrap_or_default());
    Ok(Some(Identity::new(
        format!("the password{whose}"),
        None,
        "API servers dropped passwords in Kubernetes 1.19; use a token or a client certificate",
    )))
}

fn token(user: &AuthInfo, auth: &mut AuthInfo, whose: &str) -> Result<Option<Identity>, Error> {
    let inline = secret(user.token.as_ref());
    if let Some(file) = given(user.token_file.as_ref()) {
        match material::read("token file", std::path::Path::new(file)) {
            Ok(bytes) => {
                let content = String::from_utf8_lossy(&bytes);
                let token = content.trim();
                if token == content {
                    auth.token_file = Some(file.to_owned()); // kube reads it again every minute
                } else {
                    auth.token = Some(SecretString::from(token.to_owned()));
                }
                return Ok(Some(Identity::new(
                    format!("the token in {file}"),
                    validity::of_token(token),
                    "write a new token into that file, for example with `kubectl create token`",
                )));
            }
            Err(error) if inline.is_none() => return Err(error),
            Err(_) => {}
        }
    }
    let Some(token) = inline else { return Ok(None) };
    auth.token = Some(SecretString::from(token.to_owned()));
    Ok(Some(Identity::new(
        format!("the token{whose}"),
        validity::of_token(token),
        "log in again, or get a new token with `kubectl create token`",
    )))
}

fn secret(field: Option<&SecretString>) -> Option<&str> {
    field
        .map(ExposeSecret::expose_secret)
        .filter(|text| !text.is_empty())
}

fn certificate(user: &AuthInfo, auth: &mut AuthInfo, whose: &str) -> Result<Option<Identity>, Error> {
    let file = user.client_certificate.as_deref();
    let pem = material::load(
        "client certificate",
        user.client_certificate_data.as_deref(),
        file,
    )?;
    // A key without a certificate is useless; client-go ignores it.
    let Some(pem) = pem else { return Ok(None) };
    let key = material::load(
        "client key",
        secret(user.client_key_data.as_ref()),
        user.client_key.as_deref(),
    )?;
    let Some(key) = key else {
        return Err(config_error(
            format!("the client certificate{whose} has no key"),
            Some("set client-key or client-key-data, or give --client-key"),
        ));
    };
    auth.client_certificate_data = Some(material::encode(&pem));
    auth.client_key_data = Some(SecretString::from(material::encode(&key)));
    let origin = match given(user.client_certificate.as_ref()) {
        Some(file) if user.client_certificate_data.is_none() => format!(" {file}"),
        _ => whose.to_owned(),
    };
    Ok(Some(Identity::new(
        format!("the client certificate{origin}"),
        validity::of_certificate(&pem),
        "get a new client certificate; on kubeadm clusters `kubeadm certs renew admin.conf`",
    )))
}

#[cfg(test)]
mod tests;
