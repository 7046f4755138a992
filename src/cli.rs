//! The command line: arguments and their help, nothing else. [`crate::settings`] interprets them.

mod connection;
mod examples;
mod guarded;

use std::{ffi::OsString, net::SocketAddr, path::PathBuf};

use clap::{
    Args, Command, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum, builder::StyledStr,
};

pub use self::{
    connection::{Color, ConnectionArgs, PasteInto, SharedArgs},
    guarded::{EtcdArgs, FinalizeArgs, GuardArgs, NudgeArgs, PlanFormat, RemoveArgs, RescueArgs},
};

/// Find out why Kubernetes objects are stuck in Terminating
///
/// It tells what an object really waits for, and what removing its finalizers by hand would cost. remove, finalize,
/// nudge and rescue change objects, after a plan and your confirmation. All other commands only read.
#[derive(Debug, Parser)]
#[command(
    name = "kubectl finalizers",
    bin_name = "kubectl finalizers",
    version,
    max_term_width = 100,
    subcommand_required = true,
    arg_required_else_help = true,
    infer_long_args = false,
    before_help = examples::ALL
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
    /// What all commands accept.
    #[command(flatten)]
    pub shared: SharedArgs,
}

/// The order of kubectl's own help.
const TEMPLATE: &str = "{about-with-newline}\n{before-help}{all-args}\n\nUsage:\n  {usage}{after-help}";
const AFTER: &str = "Use \"kubectl finalizers options\" for the flags that all commands accept.";

/// What can be typed. The flags that all commands accept have a page of their own.
pub fn command() -> Command {
    let layout = |command: Command| command.help_template(TEMPLATE).after_help(AFTER);
    layout(Cli::command())
        .mut_args(|arg| if arg.is_global_set() { arg.hide(true) } else { arg })
        .mut_subcommands(layout)
}

/// The page of the flags that all commands accept.
pub fn options() -> StyledStr {
    SharedArgs::augment_args(Command::new("options"))
        .disable_help_flag(true)
        .max_term_width(100)
        .help_template("The following flags can be passed to any command that uses them:\n\n{options}\n")
        .render_help()
}

/// Reads the arguments of the process.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
    let mut command = command();
    let matches = command.try_get_matches_from_mut(protect_pasted_lines(arguments))?;
    Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

/// A line pasted from a manifest, such as `"- kubernetes.io/pv-protection"`, is not taken for a flag: no flag has a
/// space after its hyphens.
fn protect_pasted_lines(arguments: impl IntoIterator<Item = OsString>) -> impl Iterator<Item = OsString> {
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
    /// List objects stuck in deletion, and the finalizers in use
    ///
    /// Reads the metadata of every type that the API server lists, in all namespaces unless -n is given. What cannot be
    /// read is listed under NOT READ, because it may hide stuck objects.
    #[command(before_help = examples::SCAN)]
    Scan(ScanArgs),
    /// Explain why an object is stuck, or what a finalizer protects
    ///
    /// Types and names are written as for kubectl get: TYPE/NAME, TYPE NAME or TYPE.GROUP NAME. Without -n, an object
    /// is looked for in the namespace of the context, which is "default" if the context names none. With -A, it is
    /// looked for in all namespaces. An object that is not being deleted gets what its deletion would do.
    ///
    /// A finalizer needs no cluster. Its name may be pasted: with or without quotes, as `["a","b"]`, as
    /// `metadata.finalizers: - x`, or inside an error message. `-` reads a manifest on standard input. If the catalogue
    /// does not have the name, the answer says what the name suggests.
    #[command(before_help = examples::EXPLAIN)]
    Explain(ExplainArgs),
    /// Watch what still holds objects, until they are gone
    ///
    /// Shows why each object is stuck and what to do next, and tells each change with its time. It waits for the end of
    /// objects that are not being deleted, too. Exits with 0 when all objects are gone or do not exist, and with 4 after
    /// --timeout. It replaces kubectl wait --for=delete.
    ///
    /// Without a target it follows everything in deletion in the namespace, or with -A in the cluster. Objects whose
    /// deletion begins later join. It ends when nothing is in deletion, with 5 if not everything could be read.
    #[command(before_help = examples::WATCH)]
    Watch(WatchArgs),
    /// Serve metrics of stuck deletions for Prometheus
    ///
    /// Watches the metadata of all types, and explains what is stuck when something changes. It serves what it found at
    /// /metrics until it is stopped. If a look at the cluster fails, the last values stay, and another metric tells of the
    /// failure. It only reads. /readyz answers 200 after the first look, /healthz always.
    #[command(before_help = examples::EXPORTER)]
    Exporter(ExporterArgs),
    /// List the known finalizers, without a cluster
    #[command(before_help = examples::CATALOG)]
    Catalog(CatalogArgs),
    /// Save what scan and explain read in a file
    ///
    /// The file holds the objects that are being deleted and what they wait for, the metadata of objects with
    /// finalizers, what could not be read, and the time. It never holds data of a Secret or ConfigMap.
    #[command(before_help = examples::SNAPSHOT)]
    Snapshot(SnapshotArgs),
    /// Remove one finalizer from an object, after a check and a confirmation
    ///
    /// Shows a plan first. Refuses if the finalizer protects something in use, if its controller is at work, or if too
    /// little could be read. The cost must be accepted by its name. The object is saved to a file first. Without -n,
    /// the object is looked for in the namespace of the context.
    #[command(before_help = examples::REMOVE)]
    Remove(RemoveArgs),
    /// Remove one entry from the spec.finalizers of an empty Namespace
    ///
    /// Refuses while anything is left in the namespace, or if any type cannot be listed there.
    #[command(before_help = examples::FINALIZE)]
    Finalize(FinalizeArgs),
    /// Wake an object's controllers with a harmless annotation
    ///
    /// No controller reads the annotation, but its change makes them look at the object again. The command then watches
    /// for half a minute whether one of them acts.
    #[command(before_help = examples::NUDGE)]
    Nudge(NudgeArgs),
    /// Keep the disks of deleted volumes, or take a deletion back
    ///
    /// Saves the volume and its claim to files, and sets the reclaim policy to Retain, so that nothing deletes the disk.
    /// With --only-retain that is all, and the deletion goes on. Otherwise it lets the volume go and makes it again, for
    /// the same disk and the same claim.
    #[command(before_help = examples::RESCUE)]
    Rescue(RescueArgs),
    /// Print the versions of the plugin, the catalogue and the server
    ///
    /// Says, too, whether the plugin was tested with this version of Kubernetes. As in kubectl version, a server that
    /// does not answer is an error, after the rest was printed.
    #[command(before_help = examples::VERSION)]
    Version(VersionArgs),
    /// Print the script that completes commands in a shell
    ///
    /// Types, objects and namespaces come from the cluster, those in deletion first. "kubectl" prints the program that
    /// kubectl runs to complete kubectl finalizers: save it in the PATH as kubectl_complete-finalizers, executable.
    #[command(before_help = examples::COMPLETION)]
    Completion(CompletionArgs),
    /// List the flags that all commands accept
    #[command(before_help = examples::OPTIONS)]
    Options,
    /// Answers kubectl_complete-finalizers, in the form of kubectl's own `__complete`.
    #[command(name = "__complete", hide = true, disable_help_flag = true)]
    Complete {
        /// The words behind the plugin's name. The last one is not yet complete.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<OsString>,
    },
}

/// Words of `completion`.
#[derive(Debug, Args)]
pub struct CompletionArgs {
    /// The shell, or kubectl
    #[arg(value_enum)]
    pub shell: Shell,
}

/// What has a script for completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    /// Completes kubectl-finalizers in bash
    Bash,
    /// Completes kubectl-finalizers in zsh
    Zsh,
    /// Completes kubectl-finalizers in fish
    Fish,
    /// Completes kubectl-finalizers in PowerShell
    Powershell,
    /// Completes kubectl finalizers in every shell that completes kubectl
    Kubectl,
}

/// Words of `snapshot`.
#[derive(Debug, Args)]
pub struct SnapshotArgs {
    /// File to write, which must not exist; with several contexts a directory, for one file each
    pub file: PathBuf,
    /// More objects to save, written as for explain
    #[arg(value_name = "TARGET")]
    pub targets: Vec<String>,
    /// Save the clusters of all contexts, side by side; --context A,B saves those of a few
    #[arg(long)]
    pub all_contexts: bool,
    /// Hide names, addresses and unknown words; the same name is hidden in the same way
    #[arg(long)]
    pub redact: bool,
}

/// Words of `explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// Objects as for kubectl get, or names of finalizers; `-` reads names from standard input
    #[arg(value_name = "TARGET|FINALIZER", required = true)]
    pub words: Vec<String>,
    /// Read a snapshot or the output of kubectl get -o yaml|json instead of a cluster; `-` is stdin
    #[arg(long, value_name = "PATH")]
    pub from: Vec<PathBuf>,
    /// Exit with 4 if an object is stuck, or with 5 if none is but not everything was read
    #[arg(long)]
    pub exit_code: bool,
    /// A silent API group that --exit-code ignores
    ///
    /// For a group that is known not to answer, such as metrics.k8s.io. It stays in the output. May be repeated.
    #[arg(long, value_name = "GROUP", requires = "exit_code")]
    pub accept_gap: Vec<String>,
    /// Format of the output
    #[arg(short, long, value_enum, default_value_t = Format::Table)]
    pub output: Format,
}

/// Words of `watch`.
#[derive(Debug, Args)]
pub struct WatchArgs {
    /// Objects, written as for explain. Without one: everything in deletion in the namespace, or with -A everywhere
    #[arg(value_name = "TARGET")]
    pub targets: Vec<String>,
    /// Stop after this time, and exit with 4: 90s, 10m, 2h
    #[arg(long, value_name = "DURATION")]
    pub timeout: Option<String>,
    /// The condition to wait for, as in kubectl wait. It can only be delete
    #[arg(long = "for", value_name = "CONDITION", value_parser = ["delete"], hide_possible_values = true, requires = "targets")]
    pub condition: Option<String>,
    /// Format of the output
    #[arg(short, long, value_enum, default_value_t = WatchFormat::Table)]
    pub output: WatchFormat,
}

/// Forms of output of `watch`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WatchFormat {
    /// On a terminal the present state, in a pipe one line for each change
    Table,
    /// One JSON object on a line for each change, in a versioned schema
    Json,
}

/// Words of `exporter`.
#[derive(Debug, Args)]
pub struct ExporterArgs {
    /// Address and port to listen at; 0 takes a free port
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:9836")]
    pub listen: SocketAddr,
    /// The shortest time from one look at the cluster to the next: 30s, 5m
    #[arg(long, value_name = "DURATION", default_value = "60s")]
    pub interval: String,
    /// Name the objects in deletion, each in a series of its own
    #[arg(long)]
    pub names: bool,
}

/// Words of `catalog`.
#[derive(Debug, Args)]
pub struct CatalogArgs {
    /// Part of a name or project, or a pattern of names with `*`
    pub pattern: Option<String>,
    /// Only projects whose name contains this
    #[arg(long, value_name = "WORDS")]
    pub project: Option<String>,
    /// Only finalizers of these types, written as for kubectl get
    #[arg(long, alias = "kind", value_name = "TYPE[,TYPE...]", value_delimiter = ',')]
    pub kinds: Vec<String>,
    /// Only finalizers whose removal by hand costs this: none, metadata, orphaned-objects, leaked-infrastructure,
    /// data-loss
    #[arg(long, value_name = "WORD")]
    pub consequence: Option<String>,
    /// Print no headings and no closing line
    #[arg(long)]
    pub no_headers: bool,
    /// Format of the output
    #[arg(short, long, value_enum, default_value_t = CatalogFormat::Table)]
    pub output: CatalogFormat,
}

/// Forms of output of `catalog`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CatalogFormat {
    /// For people, in the width of the terminal
    Table,
    /// The table, and nothing left out
    Wide,
    /// Everything, in a versioned schema
    Json,
    /// The same as YAML
    Yaml,
    /// Only names of finalizers
    Name,
}

/// Words of `version`.
#[derive(Debug, Args)]
pub struct VersionArgs {
    /// Only the plugin and its catalogue; ask no server
    #[arg(long)]
    pub client: bool,
    /// Format of the output
    #[arg(short, long, value_enum, default_value_t = VersionFormat::Table)]
    pub output: VersionFormat,
}

/// Forms of output of `version`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum VersionFormat {
    /// For people
    Table,
    /// Everything, in a versioned schema
    Json,
    /// The same as YAML
    Yaml,
}

/// Words of `scan`.
#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag that can be typed")]
pub struct ScanArgs {
    /// Only these types or categories, as for kubectl get
    #[arg(value_name = "TYPE[,TYPE...]", value_delimiter = ',')]
    pub types: Vec<String>,
    /// Read a snapshot or kubectl's output; `-` is stdin
    ///
    /// Instead of a cluster. The output is that of kubectl get -o yaml|json. A directory with snapshots is read as one
    /// cluster for each of them, a directory with other files as one cluster.
    #[arg(long, value_name = "PATH")]
    pub from: Vec<PathBuf>,
    /// Scan the clusters of all contexts, side by side
    ///
    /// --context A,B scans those of a few. Contexts with the same server, authority and user are one cluster.
    #[arg(long, conflicts_with = "from")]
    pub all_contexts: bool,
    /// Say what changed since this snapshot
    ///
    /// What is stuck is new, went or stays. What was not read at both times is not known.
    #[arg(long, value_name = "FILE")]
    pub since: Option<PathBuf>,
    /// List every object that has a finalizer, too
    #[arg(long)]
    pub all: bool,
    /// Only objects that are being deleted
    #[arg(long, conflicts_with = "all")]
    pub terminating: bool,
    /// Only objects with a finalizer like this
    #[arg(long, value_name = "GLOB")]
    pub finalizer: Vec<String>,
    /// Only objects with these labels
    #[arg(short = 'l', long, value_name = "SELECTOR")]
    pub selector: Option<String>,
    /// Only what was deleted earlier: 90s, 2h, 3d ago
    #[arg(long, value_name = "DURATION")]
    pub older_than: Option<String>,
    /// Leave out these types
    #[arg(long, value_name = "TYPE", value_delimiter = ',')]
    pub exclude: Vec<String>,
    /// Group by cause or controller (holder)
    #[arg(long, value_enum, default_value_t = GroupBy::Cause)]
    pub by: GroupBy,
    /// Order of the objects
    #[arg(long, value_enum, default_value_t = SortBy::Age)]
    pub sort_by: SortBy,
    /// Print no headings and no closing lines
    #[arg(long)]
    pub no_headers: bool,
    /// Exit with 4 if something is stuck, 5 if parts were not read
    #[arg(long)]
    pub exit_code: bool,
    /// A silent API group that --exit-code ignores
    ///
    /// For a group that is known not to answer, such as metrics.k8s.io. It stays in the output. May be repeated.
    #[arg(long, value_name = "GROUP", requires = "exit_code")]
    pub accept_gap: Vec<String>,
    /// Format of the output
    #[arg(short, long, value_enum, default_value_t = Format::Table)]
    pub output: Format,
}

/// Forms of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people, in the width of the terminal
    Table,
    /// The table, and nothing left out
    Wide,
    /// Everything, in a versioned schema
    Json,
    /// The same as YAML
    Yaml,
    /// Only names: finalizers, or objects as `TYPE/NAME -n NAMESPACE`; scan -n prints no namespace
    Name,
    /// One page for a browser, which needs no network
    Html,
    /// What waits for what, as a graph for Graphviz
    Dot,
    /// The same graph for Mermaid, which Markdown shows
    Mermaid,
}

impl Format {
    /// Whether it shows what objects wait for, so that finalizers alone have no such form.
    pub fn is_picture(self) -> bool {
        matches!(self, Format::Html | Format::Dot | Format::Mermaid)
    }

    /// Whether programs read all of the report in it.
    pub fn is_document(self) -> bool {
        matches!(self, Format::Json | Format::Yaml)
    }
}

impl From<CatalogFormat> for Format {
    fn from(format: CatalogFormat) -> Self {
        match format {
            CatalogFormat::Table => Format::Table,
            CatalogFormat::Wide => Format::Wide,
            CatalogFormat::Json => Format::Json,
            CatalogFormat::Yaml => Format::Yaml,
            CatalogFormat::Name => Format::Name,
        }
    }
}

impl From<VersionFormat> for Format {
    fn from(format: VersionFormat) -> Self {
        match format {
            VersionFormat::Table => Format::Table,
            VersionFormat::Json => Format::Json,
            VersionFormat::Yaml => Format::Yaml,
        }
    }
}

impl From<PlanFormat> for Format {
    fn from(format: PlanFormat) -> Self {
        match format {
            PlanFormat::Table => Format::Table,
            PlanFormat::Json => Format::Json,
            PlanFormat::Yaml => Format::Yaml,
        }
    }
}

/// What `scan` sorts objects under.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GroupBy {
    /// By what they wait for in the end
    Cause,
    /// By the controller that must remove their finalizers, and whether it runs
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
