//! What the command line means: parses durations, compiles patterns, refuses contradictions. No clap type
//! goes further than this file, and nothing here does I/O.

mod catalog;
mod clusters;
mod explain;
mod exporter;
mod guarded;
mod snapshot;
mod targets;
mod version;
mod watch;

use std::{path::PathBuf, time::Duration};

use jiff::SignedDuration;

use crate::{
    cli::{self, ConnectionArgs, Format, ScanArgs},
    command::RunFlags,
    error::Error,
    report::scan::{GroupBy, ScanView, SortBy},
    snapshot::{Filter, glob::Glob, selector::Selector},
};

pub use self::{
    catalog::Catalog,
    clusters::{Clusters, Contexts},
    explain::{Asked, Explain, NamespaceChoice},
    exporter::Exporter,
    guarded::{EtcdAccess, EtcdCommands, Guarded, Wanted},
    snapshot::Snapshot,
    targets::{Target, explained},
    version::Version,
    watch::Watch,
};

/// How to reach the API server, from the command line. Empty fields take the value of the kubeconfig.
#[derive(Clone, Debug, Default)]
pub struct Connection {
    /// `--kubeconfig`.
    pub kubeconfig: Option<PathBuf>,
    /// `--context`.
    pub context: Option<String>,
    /// `--cluster`.
    pub cluster: Option<String>,
    /// `--user`.
    pub user: Option<String>,
    /// `--server`.
    pub server: Option<String>,
    /// `--token`.
    pub token: Option<String>,
    /// `--as`.
    pub as_user: Option<String>,
    /// `--as-group`.
    pub as_groups: Vec<String>,
    /// `--as-uid`.
    pub as_uid: Option<String>,
    /// `--as-user-extra`, split at the first `=`.
    pub as_user_extra: Vec<(String, String)>,
    /// Time limit of one request; none for no limit.
    pub request_timeout: Option<Duration>,
    /// `--insecure-skip-tls-verify`.
    pub insecure_skip_tls_verify: bool,
    /// `--certificate-authority`.
    pub certificate_authority: Option<PathBuf>,
    /// `--client-certificate`.
    pub client_certificate: Option<PathBuf>,
    /// `--client-key`.
    pub client_key: Option<PathBuf>,
    /// `--tls-server-name`.
    pub tls_server_name: Option<String>,
    /// `--disable-compression`.
    pub disable_compression: bool,
}

/// Time limit of one request if `--request-timeout` is not given. kubectl waits for ever. An unavailable
/// aggregated API would then block the whole scan.
pub const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// The scope of a scan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Every namespace and the cluster-scoped types.
    All,
    /// One namespace.
    Namespace(String),
}

impl Scope {
    /// The namespace, if the scope is one namespace.
    pub fn namespace(&self) -> Option<&str> {
        match self {
            Scope::All => None,
            Scope::Namespace(name) => Some(name),
        }
    }
}

/// Where a read-only command gets its facts.
#[derive(Clone, Debug)]
pub enum Source {
    /// An API server.
    Server(Box<Connection>),
    /// The API servers of several contexts.
    Servers(Box<Clusters>),
    /// Files; `-` is stdin.
    Files(Vec<PathBuf>),
}

/// The settings of `scan`.
#[derive(Clone, Debug)]
pub struct Scan {
    /// The cluster or the files.
    pub source: Source,
    /// The namespaces to scan.
    pub scope: Scope,
    /// The types as typed; empty for all types.
    pub types: Vec<String>,
    /// The types to exclude, as typed.
    pub exclude: Vec<String>,
    /// Whether to count objects in every namespace, not only in terminating ones.
    pub every_namespace: bool,
    /// The objects to include.
    pub filter: Filter,
    /// What to report.
    pub view: ScanView,
    /// How to print it.
    pub show: Show,
    /// Whether the exit code depends on the result.
    pub exit_code: bool,
    /// The earlier snapshot to compare with.
    pub since: Option<PathBuf>,
    /// API groups that may be missing without a word of the exit code.
    pub accepted_gaps: Vec<String>,
}

/// How to print a result.
#[derive(Clone, Copy, Debug)]
pub struct Show {
    /// The format.
    pub format: Format,
    /// Whether to leave out headings and closing lines.
    pub no_headers: bool,
}

impl Scan {
    /// Interprets the arguments of `scan`.
    pub fn new(words: ScanArgs, connection: ConnectionArgs) -> Result<Self, Error> {
        // `-n "$NAMESPACE"` with an unset variable: kubectl also takes an empty name as none.
        let namespace = connection.namespace.clone().filter(|name| !name.is_empty());
        let scope = namespace.clone().map_or(Scope::All, Scope::Namespace);
        let there = RunFlags::of(
            &words.from,
            connection.kubeconfig.as_deref(),
            connection.context.as_deref(),
        );
        let source = if !words.from.is_empty() {
            without_server(&connection)?;
            Source::Files(words.from.clone())
        } else if let Some(clusters) = Clusters::of(words.all_contexts, &connection)? {
            Source::Servers(Box::new(clusters))
        } else {
            Source::Server(Box::new(Connection::new(connection)?))
        };
        let filter = Filter {
            finalizers: words.finalizer.iter().map(|glob| Glob::new(glob)).collect(),
            selector: words
                .selector
                .as_deref()
                .map(Selector::parse)
                .transpose()
                .map_err(|message| {
                    usage(
                        format!("--selector: {message}"),
                        Some("for example: -l 'app=web,tier!=cache,env in (a,b)'"),
                    )
                })?,
            older_than: words
                .older_than
                .as_deref()
                .map(|text| duration("--older-than", text))
                .transpose()?,
        };
        let by = match words.by {
            cli::GroupBy::Cause => GroupBy::Cause,
            cli::GroupBy::Holder => GroupBy::Holder,
        };
        let by_holder = by == GroupBy::Holder;
        if by_holder && words.output == Format::Name {
            return Err(usage(
                "--by holder has no form of names alone: who holds something need not be an object".into(),
                Some("use -o json, and take what you need of it"),
            ));
        }
        if words.since.is_some() {
            compares_one_cluster(&words, &source)?;
        }
        if by_holder && words.output.is_picture() {
            return Err(usage(
                "--by holder has no picture: it shows controllers, not what objects wait for".into(),
                Some("leave out --by holder"),
            ));
        }
        if by_holder && words.all {
            return Err(usage(
                "--by holder counts objects, --all lists them".into(),
                Some("leave one of them out"),
            ));
        }
        let (types, exclude) = (trimmed(words.types), trimmed(words.exclude));
        let view = ScanView {
            all: words.all,
            terminating: words.terminating,
            by,
            narrowed: !(types.is_empty() && exclude.is_empty() && filter.selector.is_none()),
            namespace,
            sort_by: match words.sort_by {
                cli::SortBy::Age => SortBy::Age,
                cli::SortBy::Name => SortBy::Name,
                cli::SortBy::Namespace => SortBy::Namespace,
                cli::SortBy::Type => SortBy::Type,
                cli::SortBy::Finalizer => SortBy::Finalizer,
            },
            is_recorded: false,
            there,
        };
        Ok(Scan {
            source,
            scope,
            types,
            exclude,
            every_namespace: false,
            filter,
            view,
            show: Show {
                format: words.output,
                no_headers: words.no_headers,
            },
            exit_code: words.exit_code,
            since: words.since,
            accepted_gaps: words.accept_gap,
        })
    }

    /// Reads every type of a cluster, or of one of its namespaces.
    fn of_cluster(connection: &Connection, namespace: Option<&str>) -> Self {
        let namespace = namespace.map(str::to_owned);
        Scan {
            source: Source::Server(Box::new(connection.clone())),
            scope: namespace.clone().map_or(Scope::All, Scope::Namespace),
            types: Vec::new(),
            exclude: Vec::new(),
            every_namespace: false,
            filter: Filter::default(),
            view: ScanView {
                namespace,
                ..ScanView::default()
            },
            show: Show {
                format: Format::Table,
                no_headers: false,
            },
            since: None,
            exit_code: false,
            accepted_gaps: Vec::new(),
        }
    }

    /// Whether the scan can miss content of a namespace.
    pub fn is_narrowed(&self) -> bool {
        let Filter {
            finalizers,
            selector,
            older_than,
        } = &self.filter;
        let chosen = !self.types.is_empty() || !self.exclude.is_empty();
        chosen || !finalizers.is_empty() || selector.is_some() || older_than.is_some()
    }

    /// Whether the scan can read objects without counting them.
    pub fn is_filtered(&self) -> bool {
        self.is_narrowed() || self.scope != Scope::All
    }
}

/// Refuses what `--since` cannot compare.
fn compares_one_cluster(words: &ScanArgs, source: &Source) -> Result<(), Error> {
    let other = match source {
        Source::Servers(_) => "several contexts",
        _ if words.by == cli::GroupBy::Holder => "--by holder",
        _ if words.output == Format::Name => "-o name",
        _ if words.output.is_picture() => "-o html, dot or mermaid",
        // An object that lost this finalizer may still be there.
        _ if !words.finalizer.is_empty() => "--finalizer",
        _ => return Ok(()),
    };
    Err(usage(
        format!("--since compares the stuck objects of one cluster, and does not go with {other}"),
        Some("leave one of them out"),
    ))
}

/// Accepts `pvc,,pv` and `pvc, pv`.
fn trimmed(words: Vec<String>) -> Vec<String> {
    words
        .into_iter()
        .map(|word| word.trim().to_owned())
        .filter(|word| !word.is_empty())
        .collect()
}

impl Connection {
    /// Interprets kubectl's connection flags.
    pub fn new(words: ConnectionArgs) -> Result<Self, Error> {
        let request_timeout = match words.request_timeout.as_deref() {
            None => Some(REQUEST_TIMEOUT),
            Some(text) => {
                Some(duration("--request-timeout", text)?.unsigned_abs()).filter(|limit| !limit.is_zero())
            }
        };
        let as_user_extra = words
            .as_user_extra
            .iter()
            .map(|pair| {
                pair.split_once('=')
                    .map(|(key, value)| (key.to_owned(), value.to_owned()))
                    .ok_or_else(|| usage(format!("--as-user-extra: {pair:?} is not KEY=VALUE"), None))
            })
            .collect::<Result<_, _>>()?;
        Ok(Connection {
            kubeconfig: words.kubeconfig,
            context: words.context,
            cluster: words.cluster,
            user: words.user,
            server: words.server,
            token: words.token,
            as_user: words.as_user,
            as_groups: words.as_group,
            as_uid: words.as_uid,
            as_user_extra,
            request_timeout,
            insecure_skip_tls_verify: words.insecure_skip_tls_verify,
            certificate_authority: words.certificate_authority,
            client_certificate: words.client_certificate,
            client_key: words.client_key,
            tls_server_name: words.tls_server_name,
            disable_compression: words.disable_compression,
        })
    }
}

/// Refuses flags for a cluster in a command that asks none: whoever gives them expects an answer about that cluster.
pub fn without_cluster(words: &ConnectionArgs) -> Result<(), Error> {
    refuse(words.given(), "this command asks no cluster")
}

/// The same for a command that reads files. A namespace then selects among their objects.
fn without_server(words: &ConnectionArgs) -> Result<(), Error> {
    let place = ["--namespace", "--all-namespaces"];
    refuse(
        words.given().filter(|flag| !place.contains(flag)),
        "--from reads files and asks no cluster",
    )
}

fn refuse(mut given: impl Iterator<Item = &'static str>, why: &str) -> Result<(), Error> {
    given.next().map_or(Ok(()), |flag| {
        Err(usage(
            format!("{flag} has no use here: {why}"),
            Some("leave it out"),
        ))
    })
}

/// Parses a duration in kubectl's form (`1h30m`, `90s`, a bare number of seconds), or with days.
fn duration(flag: &str, text: &str) -> Result<SignedDuration, Error> {
    parse_duration(text).ok_or_else(|| {
        usage(
            format!("{flag}: {text:?} is not a duration"),
            Some("write it as 90s, 10m, 2h, 3d or 1h30m"),
        )
    })
}

fn parse_duration(text: &str) -> Option<SignedDuration> {
    if let Ok(seconds) = text.parse::<u32>() {
        return Some(SignedDuration::from_secs(seconds.into()));
    }
    let mut total = SignedDuration::ZERO;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        let (number, after) = rest.split_at_checked(digits)?;
        let number: i64 = number.parse().ok()?;
        let (unit, next) =
            after.split_at_checked(after.find(|c: char| c.is_ascii_digit()).unwrap_or(after.len()))?;
        let step = match unit {
            "ms" => SignedDuration::from_millis(number),
            "s" => SignedDuration::from_secs(number),
            "m" => SignedDuration::from_secs(number.checked_mul(60)?),
            "h" => SignedDuration::from_secs(number.checked_mul(3600)?),
            "d" => SignedDuration::from_secs(number.checked_mul(86_400)?),
            _ => return None,
        };
        total = total.checked_add(step)?;
        rest = next;
    }
    (!text.is_empty()).then_some(total)
}

fn usage(message: String, hint: Option<&str>) -> Error {
    Error::Usage {
        message,
        hint: hint.map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_durations_as_kubectl_does() {
        let seconds = |text| parse_duration(text).map(|d| d.as_secs());
        assert_eq!(seconds("90s"), Some(90));
        assert_eq!(seconds("1h30m"), Some(5400));
        assert_eq!(seconds("3d"), Some(259_200));
        assert_eq!(seconds("15"), Some(15));
        assert_eq!(seconds("0"), Some(0));
        for wrong in ["", "soon", "1x", "m", "-5s", "99999999999999999999s", "5m3"] {
            assert_eq!(seconds(wrong), None, "{wrong:?}");
        }
    }
}
