//! Several clusters in one run: `--all-contexts`, or a list in `--context`.

use std::time::Duration;

use super::{Connection, usage};
use crate::{cli::ConnectionArgs, error::Error};

/// How long a cluster may take to its first answer, unless `--request-timeout` says otherwise. One that is off must not
/// hold up the others.
const FIRST_ANSWER: Duration = Duration::from_secs(10);

/// What describes one cluster or one user, and would send the credentials of one cluster to another.
const OF_ONE_CLUSTER: [&str; 8] = [
    "--cluster",
    "--user",
    "--server",
    "--token",
    "--certificate-authority",
    "--client-certificate",
    "--client-key",
    "--tls-server-name",
];

/// Several clusters, and how to reach them.
#[derive(Clone, Debug)]
pub struct Clusters {
    /// Which contexts.
    pub contexts: Contexts,
    /// What is the same for all. It names no context.
    pub connection: Connection,
    /// How long each may take to its first answer; none for no limit.
    pub first_answer: Option<Duration>,
}

/// Which contexts of the kubeconfig.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Contexts {
    /// Every context of every kubeconfig.
    All,
    /// A list with commas. A context of that whole name comes first.
    Listed(String),
}

impl Clusters {
    /// Several clusters, if the words ask for them.
    pub(super) fn of(all: bool, words: &ConnectionArgs) -> Result<Option<Self>, Error> {
        let named = words.context.as_ref().filter(|names| !names.is_empty());
        let listed = named.filter(|names| names.contains(','));
        let contexts = match (all, listed) {
            (true, _) if named.is_some() => {
                return Err(usage(
                    "--all-contexts and --context exclude each other".into(),
                    Some("leave one of them out"),
                ));
            }
            (true, _) => Contexts::All,
            (false, Some(list)) => Contexts::Listed(list.clone()),
            (false, None) => return Ok(None),
        };
        if let Some(flag) = words.given().find(|flag| OF_ONE_CLUSTER.contains(flag)) {
            return Err(usage(
                format!("{flag} is for one cluster, and several contexts are to be read"),
                Some("leave it out, or name one context"),
            ));
        }
        let connection = Connection::new(ConnectionArgs {
            context: None,
            ..words.clone()
        })?;
        let first_answer = match words.request_timeout {
            Some(_) => connection.request_timeout,
            None => Some(FIRST_ANSWER),
        };
        Ok(Some(Clusters {
            contexts,
            connection,
            first_answer,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_context(names: &str) -> ConnectionArgs {
        ConnectionArgs {
            context: Some(names.into()),
            ..ConnectionArgs::default()
        }
    }

    #[test]
    fn one_name_is_one_cluster_and_a_list_is_several() {
        assert!(Clusters::of(false, &with_context("a")).expect("one").is_none());
        assert!(
            Clusters::of(false, &ConnectionArgs::default())
                .expect("one")
                .is_none()
        );
        let several = Clusters::of(false, &with_context("a,b"))
            .expect("several")
            .expect("several");
        assert_eq!(several.contexts, Contexts::Listed("a,b".into()));
        assert_eq!(several.connection.context, None);
        assert_eq!(several.first_answer, Some(FIRST_ANSWER));
        let all = Clusters::of(true, &ConnectionArgs::default())
            .expect("all")
            .expect("all");
        assert_eq!(all.contexts, Contexts::All);
        assert!(Clusters::of(true, &with_context("a")).is_err());
    }

    #[test]
    fn credentials_of_one_cluster_go_to_no_other() {
        let words = ConnectionArgs {
            token: Some("secret".into()),
            ..with_context("a,b")
        };
        let error = Clusters::of(false, &words)
            .expect_err("a token for two")
            .to_string();
        assert!(error.starts_with("--token is for one cluster"), "{error}");
    }

    #[test]
    fn a_given_time_limit_is_also_that_of_the_first_answer() {
        let words = |limit: &str| ConnectionArgs {
            request_timeout: Some(limit.into()),
            ..ConnectionArgs::default()
        };
        let limit = |text| {
            Clusters::of(true, &words(text))
                .expect("all")
                .expect("all")
                .first_answer
        };
        assert_eq!(limit("2m"), Some(Duration::from_secs(120)));
        assert_eq!(limit("0"), None);
    }
}
