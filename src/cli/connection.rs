//! The flags that all commands accept. `kubectl finalizers options` lists them, as `kubectl options` does.

use std::path::PathBuf;

use clap::{ArgAction, Args, ValueEnum};

/// The flags that all commands accept.
#[derive(Args, Debug, Default)]
pub struct SharedArgs {
    /// More entries for the catalogue: a YAML file or a directory of them; may be repeated
    ///
    /// They take the place of built-in entries with the same name on the same kinds. Files in
    /// $XDG_CONFIG_HOME/kubectl-finalizers (otherwise ~/.config/kubectl-finalizers) are read without this flag.
    #[arg(long, global = true, value_name = "PATH")]
    pub knowledge: Vec<PathBuf>,
    /// When to use colors; auto: on a terminal, unless NO_COLOR is set or TERM is dumb
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t = Color::Auto)]
    pub color: Color,
    /// The shell that printed commands are quoted for; by default powershell on Windows, and posix elsewhere
    // `completion` has another SHELL.
    #[arg(
        id = "paste-into",
        long = "shell",
        global = true,
        value_name = "SHELL",
        value_enum
    )]
    pub shell: Option<PasteInto>,
    /// kubectl's own flags.
    #[command(flatten)]
    pub connection: ConnectionArgs,
}

/// The shell that commands are pasted into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PasteInto {
    /// sh, bash, zsh and others
    Posix,
    /// Windows PowerShell 5.1, and PowerShell 7
    Powershell,
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

/// The flags that every kubectl command has, with kubectl's names.
#[derive(Args, Clone, Debug, Default)]
pub struct ConnectionArgs {
    /// Path to the kubeconfig file
    #[arg(long, global = true, value_name = "PATH")]
    pub kubeconfig: Option<PathBuf>,
    /// Context of the kubeconfig to use; scan and snapshot take several: A,B
    #[arg(long, global = true)]
    pub context: Option<String>,
    /// Cluster of the kubeconfig to use
    #[arg(long, global = true)]
    pub cluster: Option<String>,
    /// User of the kubeconfig to use
    #[arg(long, global = true)]
    pub user: Option<String>,
    /// Namespace of the objects; without it, scan reads all of them, other commands that of the context
    #[arg(short, long, global = true, conflicts_with = "all_namespaces")]
    pub namespace: Option<String>,
    /// Look in all namespaces
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

impl ConnectionArgs {
    /// The flags that were given.
    pub(crate) fn given(&self) -> impl Iterator<Item = &'static str> {
        [
            ("--kubeconfig", self.kubeconfig.is_some()),
            ("--context", self.context.is_some()),
            ("--cluster", self.cluster.is_some()),
            ("--user", self.user.is_some()),
            ("--namespace", self.namespace.is_some()),
            ("--all-namespaces", self.all_namespaces),
            ("--server", self.server.is_some()),
            ("--token", self.token.is_some()),
            ("--as", self.as_user.is_some()),
            ("--as-group", !self.as_group.is_empty()),
            ("--as-uid", self.as_uid.is_some()),
            ("--as-user-extra", !self.as_user_extra.is_empty()),
            ("--request-timeout", self.request_timeout.is_some()),
            ("--insecure-skip-tls-verify", self.insecure_skip_tls_verify),
            ("--certificate-authority", self.certificate_authority.is_some()),
            ("--client-certificate", self.client_certificate.is_some()),
            ("--client-key", self.client_key.is_some()),
            ("--tls-server-name", self.tls_server_name.is_some()),
            ("--disable-compression", self.disable_compression),
        ]
        .into_iter()
        .filter_map(|(flag, given)| given.then_some(flag))
    }
}
