//! The examples in the help. A test runs each of them.

pub(super) const ALL: &str = "\
Examples:
  # What is stuck in the cluster, and why
  kubectl finalizers scan
  # Why this claim is stuck, and what to do next
  kubectl finalizers explain pvc/data-0 -n db
  # What a finalizer protects; this needs no cluster
  kubectl finalizers explain kubernetes.io/pv-protection";

pub(super) const SCAN: &str = "\
Examples:
  # Everything that is stuck, in all namespaces
  kubectl finalizers scan
  # Claims and volumes that were deleted more than an hour ago
  kubectl finalizers scan pvc,pv --older-than 1h
  # What is stuck in a recording
  kubectl finalizers scan --from examples/stuck-cluster.snapshot";

pub(super) const EXPLAIN: &str = "\
Examples:
  # Why this claim is stuck, and what to do next
  kubectl finalizers explain pvc/data-0 -n db
  # Why this namespace is stuck
  kubectl finalizers explain ns/pay
  # What a finalizer protects; this needs no cluster
  kubectl finalizers explain kubernetes.io/pv-protection";

pub(super) const WATCH: &str = "\
Examples:
  # What still holds this claim, until it is gone
  kubectl finalizers watch pvc/data-0 -n db
  # Wait for the end of a namespace, and fail with the cause after ten minutes
  kubectl finalizers watch ns/pay --timeout 10m
  # Everything in deletion in a namespace, until nothing is
  kubectl finalizers watch -n pay
  # One line of JSON for each change
  kubectl finalizers watch pvc/data-0 pod/db-0 -n db -o json";

pub(super) const EXPORTER: &str = "\
Examples:
  # Metrics of all namespaces at http://127.0.0.1:9836/metrics
  kubectl finalizers exporter
  # Those of one namespace, with five minutes between two looks
  kubectl finalizers exporter -n db --interval 5m
  # In a Pod: reachable from outside, with the names of objects
  kubectl finalizers exporter --listen 0.0.0.0:9836 --names";

pub(super) const CATALOG: &str = "\
Examples:
  # The finalizers of volumes and claims
  kubectl finalizers catalog --kinds pv,pvc
  # Those of one project
  kubectl finalizers catalog --project longhorn
  # Those whose removal by hand can lose data
  kubectl finalizers catalog --consequence data-loss";

pub(super) const SNAPSHOT: &str = "\
Examples:
  # Save what is stuck, to look at it elsewhere
  kubectl finalizers snapshot cluster.snapshot
  # The same with names hidden, to show it to others
  kubectl finalizers snapshot hidden.snapshot --redact
  # Save one namespace, and a claim that is not stuck
  kubectl finalizers snapshot web.snapshot pvc/data-0 -n db";

pub(super) const REMOVE: &str = "\
Examples:
  # See what removing this finalizer would do
  kubectl finalizers remove challenges.acme.cert-manager.io/api-cert -n pay \\
    --finalizer finalizer.acme.cert-manager.io --plan
  # Remove it, and accept that its DNS record may stay
  kubectl finalizers remove challenges.acme.cert-manager.io/api-cert -n pay \\
    --finalizer finalizer.acme.cert-manager.io --accept leaked-infrastructure
  # The plan for a script
  kubectl finalizers remove challenges.acme.cert-manager.io/api-cert -n pay \\
    --finalizer finalizer.acme.cert-manager.io --plan -o json";

pub(super) const FINALIZE: &str = "\
Examples:
  # See whether the namespace is empty, and what would be sent
  kubectl finalizers finalize pay --plan
  # Remove the entry \"kubernetes\", after a confirmation
  kubectl finalizers finalize pay
  # The plan for a script
  kubectl finalizers finalize pay --plan -o json";

pub(super) const NUDGE: &str = "\
Examples:
  # Make the controllers look at a claim again
  kubectl finalizers nudge pvc/data-0 -n db
  # The same for two objects
  kubectl finalizers nudge pvc/data-0 pod/db-0 -n db
  # Only show what would be sent
  kubectl finalizers nudge pvc/data-0 -n db --plan";

pub(super) const RESCUE: &str = "\
Examples:
  # A claim was deleted by mistake: keep its disk
  kubectl finalizers rescue pvc/data-0 -n db --only-retain
  # Keep the disks of all volumes that are being deleted
  kubectl finalizers rescue pv --all-terminating --only-retain
  # A volume or a claim was deleted by mistake: take that back
  kubectl finalizers rescue pv/pvc-6791fdd4
  # Only show what would be sent
  kubectl finalizers rescue pvc/data-0 -n db --only-retain --plan";

pub(super) const VERSION: &str = "\
Examples:
  # The plugin, its catalogue and the server
  kubectl finalizers version
  # Without a cluster
  kubectl finalizers version --client
  # For a bug report or a script
  kubectl finalizers version --client -o json";

pub(super) const COMPLETION: &str = "\
Examples:
  # The program that kubectl runs: kubectl_complete-finalizers
  kubectl finalizers completion kubectl
  # For kubectl-finalizers in bash: source <(kubectl-finalizers completion bash)
  kubectl finalizers completion bash
  # The same in fish: kubectl-finalizers completion fish | source
  kubectl finalizers completion fish";

pub(super) const OPTIONS: &str = "\
Examples:
  # List the flags for the connection, the catalogue and colors
  kubectl finalizers options";
