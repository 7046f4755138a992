//! Words of the verbs that change something.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Words of `remove`.
#[derive(Debug, Args)]
pub struct RemoveArgs {
    /// Objects, written as for explain
    #[arg(value_name = "TARGET", required = true)]
    pub targets: Vec<String>,
    /// The finalizer to remove, as it stands in metadata.finalizers
    #[arg(long, value_name = "NAME")]
    pub finalizer: String,
    /// Accept a cost of the plan: orphaned-objects, leaked-infrastructure, data-loss
    #[arg(long, value_name = "CONSEQUENCE")]
    pub accept: Vec<String>,
    /// How it is guarded.
    #[command(flatten)]
    pub guard: GuardArgs,
}

/// Words of `finalize`.
#[derive(Debug, Args)]
pub struct FinalizeArgs {
    /// The namespace
    #[arg(value_name = "NAMESPACE")]
    pub name: String,
    /// The entry of spec.finalizers to remove
    #[arg(long, value_name = "NAME", default_value = "kubernetes")]
    pub finalizer: String,
    /// Accept a cost of the plan: orphaned-objects, leaked-infrastructure, data-loss
    #[arg(long, value_name = "CONSEQUENCE")]
    pub accept: Vec<String>,
    /// How it is guarded.
    #[command(flatten)]
    pub guard: GuardArgs,
}

/// Words of `nudge`.
#[derive(Debug, Args)]
pub struct NudgeArgs {
    /// Objects, written as for explain
    #[arg(value_name = "TARGET", required = true)]
    pub targets: Vec<String>,
    /// How it is guarded.
    #[command(flatten)]
    pub guard: GuardArgs,
}

/// Words of `rescue`.
#[derive(Debug, Args)]
pub struct RescueArgs {
    /// Volumes (pv/NAME), or claims (pvc/NAME). With --all-terminating: pv. With --etcd: any object
    #[arg(value_name = "TARGET", required = true)]
    pub targets: Vec<String>,
    /// Set the reclaim policy to Retain, and change nothing else
    #[arg(long)]
    pub only_retain: bool,
    /// All volumes that are being deleted
    #[arg(long, requires = "only_retain")]
    pub all_terminating: bool,
    /// Bring the old reclaim policy back at the end
    #[arg(long, conflicts_with = "only_retain")]
    pub restore_policy: bool,
    /// Go on with a rescue that ended early
    #[arg(long, value_name = "RECEIPTS", conflicts_with_all = ["only_retain", "restore_policy"])]
    pub resume: Option<PathBuf>,
    /// How etcd is reached.
    #[command(flatten)]
    pub etcd: EtcdArgs,
    /// How it is guarded.
    #[command(flatten)]
    pub guard: GuardArgs,
}

/// Words of `rescue` for a cluster whose etcd can be reached.
#[derive(Debug, Args)]
pub struct EtcdArgs {
    /// Take a deletion back in etcd: https://HOST:2379
    #[arg(
        long,
        value_name = "URL",
        requires_all = ["etcd_cacert", "etcd_cert", "etcd_key"],
        conflicts_with_all = ["only_retain", "restore_policy", "resume"]
    )]
    pub etcd: Option<String>,
    /// The authority of etcd's certificate
    #[arg(long, value_name = "FILE", requires = "etcd", hide_short_help = true)]
    pub etcd_cacert: Option<PathBuf>,
    /// A client certificate for etcd
    #[arg(long, value_name = "FILE", requires = "etcd", hide_short_help = true)]
    pub etcd_cert: Option<PathBuf>,
    /// The key of that certificate
    #[arg(long, value_name = "FILE", requires = "etcd", hide_short_help = true)]
    pub etcd_key: Option<PathBuf>,
    /// The API server's --etcd-prefix; /registry and /kubernetes.io are found
    #[arg(long, value_name = "PREFIX", requires = "etcd", hide_short_help = true)]
    pub etcd_prefix: Option<String>,
    /// Print how to reach the etcd of this cluster, and change nothing
    #[arg(
        long,
        hide_short_help = true,
        conflicts_with_all = [
            "etcd", "only_retain", "all_terminating", "restore_policy", "resume", "plan", "confirm", "backup_dir",
            "backup_secrets", "audit_file", "event", "output"
        ]
    )]
    pub print_etcd_commands: bool,
}

/// What all verbs share that change something.
#[derive(Debug, Args)]
pub struct GuardArgs {
    /// Show the plan and its digest, and change nothing
    #[arg(long, conflicts_with = "confirm")]
    pub plan: bool,
    /// Confirm the plan with its digest, where no person can be asked
    #[arg(long, value_name = "DIGEST")]
    pub confirm: Option<String>,
    /// Directory for the copies of objects before they change
    #[arg(long, value_name = "DIR")]
    pub backup_dir: Option<PathBuf>,
    /// Copy the data of Secrets, too, not only their metadata
    #[arg(long)]
    pub backup_secrets: bool,
    /// File that gets a receipt of each change
    #[arg(long, value_name = "FILE")]
    pub audit_file: Option<PathBuf>,
    /// Leave a Kubernetes Event on the object when done
    #[arg(long)]
    pub event: bool,
    /// Format of the output
    #[arg(short, long, value_enum, default_value_t = PlanFormat::Table)]
    pub output: PlanFormat,
}

/// Forms of a plan and its outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PlanFormat {
    /// For people
    Table,
    /// Everything, in a versioned schema
    Json,
    /// The same as YAML
    Yaml,
}
