//! The command line: arguments and their help, nothing else. [`crate::settings`] interprets them.

mod guarded;

use std::{ffi::OsString, path::PathBuf};

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};

pub use self::guarded::{FinalizeArgs, GuardArgs, NudgeArgs, PlanFormat, RemoveArgs, RescueArgs};

/// Tells why Kubernetes objects will not go away, what they really wait for, and what forcing them would cost.
#[derive(Debug, Parser)]
#[command(
    name = "kubectl finalizers",
    bin_name = "kubectl finalizers",
    version,
    max_term_width = 100
)]
#[command(
    infer_long_args = false,
    subcommand_required = true,
    arg_required_else_help = true
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
    /// More entries for the catalogue: a YAML file or a directory of them; may be repeated
    ///
    /// They take the place of built-in entries with the same name on the same kinds. Files in
    /// $XDG_CONFIG_HOME/kubectl-finalizers (otherwise ~/.config/kubectl-finalizers) are read without this flag.
    #[arg(long, global = true, value_name = "PATH")]
    pub knowledge: Vec<PathBuf>,
    /// kubectl's own flags.
    #[command(flatten, next_help_heading = "Connection (as in kubectl)")]
    pub connection: ConnectionArgs,
    /// When to use colours; auto: on a terminal, unless NO_COLOR is set or TERM is dumb
    #[arg(long, global = true, help_heading = "Output", value_name = "WHEN", value_enum, default_value_t = Color::Auto)]
    pub color: Color,
}

/// When the output has colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// If the terminal and the environment allow them
    #[default]
    Auto,
    /// Also in a pipe
    Always,
    /// Not at all
    Never,
}

/// The arguments of the process. A line pasted from a manifest, such as `"- kubernetes.io/pv-protection"`, is
/// not taken for a flag: no flag has a space after its hyphens.
pub fn protect_pasted_lines(arguments: impl IntoIterator<Item = OsString>) -> impl Iterator<Item = OsString> {
    arguments.into_iter().map(|argument| {
        let is_line = argument.to_str().is_some_and(|text| {
            let rest = text.trim_start_matches('-');
            rest.len() < text.len() && rest.starts_with(char::is_whitespace)
        });
        if !is_line {
            return argument;
        }
        let mut indented = OsString::from(" ");
        indented.push(argument);
        indented
    })
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// List what is being deleted and does not go, and the finalizers in use
    ///
    /// Reads the metadata of every type that the API server lists, in all namespaces unless -n is given.
    /// What could not be read is named at the end, and is never taken for "nothing there".
    Scan(ScanArgs),
    /// Say why an object does not go, or what a finalizer protects and what cutting it costs
    ///
    /// Objects are written as for kubectl: TYPE/NAME, TYPE NAME, TYPE.GROUP NAME, several at once too. What they really wait for is read from
    /// the cluster; on an object that is not being deleted, what would hold it.
    ///
    /// Finalizers are explained without any cluster, and no kubeconfig is read. They may be given as people have them
    /// at hand: with or without quotes, `["a","b"]`, `metadata.finalizers: - x`, an error message, or `-` for a manifest
    /// on standard input. A name that is not in the catalogue gets what can be deduced from it, marked as deduced.
    Explain(ExplainArgs),
    /// List the finalizers that are known without asking a cluster
    Catalog(CatalogArgs),
    /// Save what scan and explain read, to be looked at later and elsewhere with --from FILE
    ///
    /// The file holds what was read of every object that is being deleted, the metadata of those that have finalizers,
    /// what could not be read, and the time. It never holds data of a Secret or ConfigMap.
    Snapshot(SnapshotArgs),
    /// Take one finalizer out of an object that is being deleted, once confirmed
    ///
    /// Shows a plan first, and refuses where the finalizer protects something that is in use, where its holder is at work, and where not enough
    /// could be read to know. What it costs must be accepted by its name. The objects are saved to files first.
    Remove(RemoveArgs),
    /// Take one entry out of the spec.finalizers of an empty Namespace
    ///
    /// Refuses while anything is left in the namespace or any type cannot be listed there.
    Finalize(FinalizeArgs),
    /// Touch an object that is being deleted, so that its controllers look again
    ///
    /// Sets an annotation that nobody reads, and watches for half a minute whether somebody acts.
    Nudge(NudgeArgs),
    /// Keep the disks of volumes that are being deleted, or whose claims are
    ///
    /// Sets the reclaim policy of the volume to Retain, so that nothing deletes its disk. Saves the
    /// volume and its claim to files first. It does not stop the deletion of the volume or the claim.
    ///
    /// A claim was deleted by mistake? Type this first:
    ///
    ///   kubectl finalizers rescue pvc/NAME -n NAMESPACE --only-retain
    #[command(verbatim_doc_comment)]
    Rescue(RescueArgs),
}

/// Words of `snapshot`.
#[derive(Debug, Args)]
pub struct SnapshotArgs {
    /// The file to write; it must not exist
    pub file: PathBuf,
    /// Objects to look at besides those that are being deleted, as for explain
    #[arg(value_name = "TARGET")]
    pub targets: Vec<String>,
    /// Hide names, addresses and unknown words, each in the same way in the whole file
    #[arg(long)]
    pub redact: bool,
}

/// Words of `explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// Objects, or names of finalizers as they were pasted, or `-` to read the latter from standard input
    #[arg(value_name = "TARGET|FINALIZER", required = true)]
    pub words: Vec<String>,
    /// Read a snapshot instead of a cluster, or the output of `kubectl get -o yaml|json`, directories, `-` for stdin
    #[arg(long, value_name = "PATH")]
    pub from: Vec<PathBuf>,
    /// Form of the output; wide leaves nothing out
    #[arg(short, long, value_enum, default_value_t = Format::Table)]
    pub output: Format,
}

/// Words of `catalog`.
#[derive(Debug, Args)]
pub struct CatalogArgs {
    /// Only entries whose name or project contains this, or whose name has this form (`*` as in a shell)
    pub pattern: Option<String>,
    /// Only entries of projects whose name contains this
    #[arg(long, value_name = "WORDS")]
    pub project: Option<String>,
    /// Only entries that may appear on these types, written as for kubectl (`pv,pvc`, `challenges`, TYPE.GROUP)
    #[arg(long, alias = "kind", value_name = "TYPE[,TYPE...]", value_delimiter = ',')]
    pub kinds: Vec<String>,
    /// Only entries that cost this if cut by hand: none, metadata, orphaned-objects, leaked-infrastructure, data-loss
    #[arg(long, value_name = "WORD")]
    pub consequence: Option<String>,
    /// The table without headings and without the closing line
    #[arg(long)]
    pub no_headers: bool,
    /// Form of the output
    #[arg(short, long, value_enum, default_value_t = Format::Table)]
    pub output: Format,
}

/// Words of `scan`.
#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag that can be typed")]
pub struct ScanArgs {
    /// Only these types: plurals, short names, kinds, TYPE.GROUP, or categories such as `all`
    #[arg(value_name = "TYPE[,TYPE...]", value_delimiter = ',')]
    pub types: Vec<String>,
    /// Read a snapshot instead of a cluster, or the output of `kubectl get -o yaml|json`, directories, `-` for stdin
    #[arg(long, value_name = "PATH")]
    pub from: Vec<PathBuf>,
    /// Also list every object that has a finalizer
    #[arg(long)]
    pub all: bool,
    /// Only objects that are being deleted
    #[arg(long, conflicts_with = "all")]
    pub terminating: bool,
    /// Only objects with a finalizer that matches (`*` and `?` as in a shell)
    #[arg(long, value_name = "GLOB")]
    pub finalizer: Vec<String>,
    /// Only objects with these labels (`app=web,tier!=cache,env in (a,b)`)
    #[arg(short = 'l', long, value_name = "SELECTOR")]
    pub selector: Option<String>,
    /// Only objects whose deletion was asked for longer ago than this (`90s`, `10m`, `2h`, `3d`)
    #[arg(long, value_name = "DURATION")]
    pub older_than: Option<String>,
    /// Types to leave out, written as for TYPE
    #[arg(long, value_name = "TYPE", value_delimiter = ',')]
    pub exclude: Vec<String>,
    /// What the objects are sorted under; `holder` lists who must remove the finalizers, and whether each is alive
    #[arg(long, value_enum, default_value_t = GroupBy::Cause)]
    pub by: GroupBy,
    /// Order of the objects
    #[arg(long, value_enum, default_value_t = SortBy::Age)]
    pub sort_by: SortBy,
    /// Tables without headings and without the closing lines
    #[arg(long)]
    pub no_headers: bool,
    /// Exit 4 if something is stuck, 5 if nothing is but not everything could be read. What was left behind does not
    /// count
    #[arg(long)]
    pub exit_code: bool,
    /// Form of the output
    #[arg(short, long, value_enum, default_value_t = Format::Table)]
    pub output: Format,
}

/// Forms of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people, fitted to the terminal
    Table,
    /// The table with every column
    Wide,
    /// Everything, in a versioned schema
    Json,
    /// The same as YAML
    Yaml,
    /// Names alone: finalizers a line each, objects as `TYPE/NAME -n NAMESPACE`; `scan -n` leaves the latter out
    Name,
}

/// What `scan` sorts objects under.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GroupBy {
    /// What they wait for in the end
    Cause,
    /// Who must remove their finalizers: what each holds, and whether it is alive
    Holder,
}

/// Orders of the objects in `scan`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SortBy {
    /// Longest in deletion first
    Age,
    /// By name
    Name,
    /// By namespace, then type, then name
    Namespace,
    /// By type, then namespace, then name
    Type,
    /// By first finalizer
    Finalizer,
}

/// The flags that every kubectl command has, with kubectl's names.
#[derive(Args, Clone, Debug, Default)]
pub struct ConnectionArgs {
    /// Path to the kubeconfig file
    #[arg(long, global = true, value_name = "PATH")]
    pub kubeconfig: Option<PathBuf>,
    /// Context of the kubeconfig to use
    #[arg(long, global = true)]
    pub context: Option<String>,
    /// Cluster of the kubeconfig to use
    #[arg(long, global = true)]
    pub cluster: Option<String>,
    /// User of the kubeconfig to use
    #[arg(long, global = true)]
    pub user: Option<String>,
    /// Only this namespace
    #[arg(short, long, global = true, conflicts_with = "all_namespaces")]
    pub namespace: Option<String>,
    /// All namespaces
    #[arg(short = 'A', long, global = true)]
    pub all_namespaces: bool,
    /// Address of the API server
    #[arg(short, long, global = true, value_name = "URL")]
    pub server: Option<String>,
    /// Bearer token
    #[arg(long, global = true)]
    pub token: Option<String>,
    /// User to impersonate
    #[arg(long = "as", global = true, value_name = "USER")]
    pub as_user: Option<String>,
    /// Group to impersonate; may be repeated
    #[arg(long, global = true, value_name = "GROUP")]
    pub as_group: Vec<String>,
    /// UID to impersonate
    #[arg(long, global = true, value_name = "UID")]
    pub as_uid: Option<String>,
    /// Extra of the user to impersonate, `KEY=VALUE`; may be repeated
    #[arg(long, global = true, value_name = "KEY=VALUE")]
    pub as_user_extra: Vec<String>,
    /// How long one request may take (`30s`, `2m`); 0 for no limit. Without it: 30 s
    #[arg(long, global = true, value_name = "DURATION")]
    pub request_timeout: Option<String>,
    /// Do not check the server's certificate
    #[arg(long, global = true, num_args = 0..=1, require_equals = true, default_value_t = false, default_missing_value = "true", action = ArgAction::Set, hide_default_value = true, hide_possible_values = true)]
    pub insecure_skip_tls_verify: bool,
    /// File with the certificate authority
    #[arg(long, global = true, value_name = "PATH")]
    pub certificate_authority: Option<PathBuf>,
    /// File with the client certificate
    #[arg(long, global = true, value_name = "PATH")]
    pub client_certificate: Option<PathBuf>,
    /// File with the client key
    #[arg(long, global = true, value_name = "PATH")]
    pub client_key: Option<PathBuf>,
    /// Name to expect in the server's certificate
    #[arg(long, global = true, value_name = "NAME")]
    pub tls_server_name: Option<String>,
    /// Do not ask for compressed answers
    #[arg(long, global = true, num_args = 0..=1, require_equals = true, default_value_t = false, default_missing_value = "true", action = ArgAction::Set, hide_default_value = true, hide_possible_values = true)]
    pub disable_compression: bool,
}
