//! Real operators, installed with their own manifests: each thing that happens to an operator, and what is said then.
//!
//! What a right answer is was read from the source of the operator before. Each scenario has a cluster of its own,
//! because it breaks the operator for everybody else there.

mod cluster_api;
mod kueue;

use serde_json::Value;

use crate::{
    explain::{
        replayed::replayed,
        told::{Told, delete, goes, told},
    },
    harness::{Cluster, Namespace, Operator, Product, wait},
};

/// One type of an operator's objects.
struct Case {
    product: &'static Product,
    plural: &'static str,
    group: &'static str,
    finalizer: &'static str,
    /// An object with this name, in a namespace if its type has them.
    object: fn(&str) -> String,
    /// The object `used` and what keeps it, which is there before.
    used: fn(&Cluster, &Namespace<'_>),
    /// What keeps it, as `KIND NAME`.
    keeper: &'static str,
    /// Ends the wait for it.
    frees: fn(&Cluster, &Namespace<'_>),
    /// Texts of the manifests, and what stands there under another name and namespace.
    renamed: &'static [(&'static str, &'static str)],
    namespaced: bool,
}

impl Case {
    fn target(&self, name: &str) -> String {
        format!("{}.{}/{name}", self.plural, self.group)
    }

    fn place<'a>(&self, ns: &'a Namespace<'_>) -> &'a str {
        if self.namespaced { ns.name() } else { "" }
    }

    /// Creates an object, and waits until the operator has put its finalizer on.
    fn held(&self, ns: &Namespace<'_>, operator: &Operator<'_>, name: &str) {
        ns.apply(&(self.object)(name));
        self.is_held(ns, operator, name);
    }

    fn is_held(&self, ns: &Namespace<'_>, operator: &Operator<'_>, name: &str) {
        let limit = std::time::Duration::from_secs(90);
        let has_it = || {
            let found = ns.get([self.target(name)])?;
            let finalizers = found["metadata"]["finalizers"].as_array()?;
            finalizers.iter().any(|each| each == self.finalizer).then_some(())
        };
        wait(
            &format!("the operator protects {name}\n{}", last(&operator.log())),
            limit,
            || has_it().is_some(),
        );
    }

    /// The controller is named like its Deployment, and is in this state. The catalogue may name a part of it behind that.
    #[track_caller]
    fn is_controller(&self, story: &Told, operator: &Operator<'_>, state: &str) {
        let (name, found) = story.controller(self.finalizer);
        let name = name.split_once(", ").map_or(name, |(name, _)| name);
        assert_eq!((name, found), (&*operator.deployment, state), "{story}");
    }

    /// Deletes an object, and explains it.
    fn deleted(&self, cluster: &Cluster, ns: &Namespace<'_>, name: &str) -> Told {
        delete(cluster, &self.target(name), self.place(ns));
        self.told(cluster, ns, name)
    }

    /// The same, ten minutes later: only then are the rights of a controller checked.
    fn deleted_long_ago(&self, cluster: &Cluster, ns: &Namespace<'_>, name: &str) -> Told {
        delete(cluster, &self.target(name), self.place(ns));
        let key = [self.group, self.plural, self.place(ns), name];
        let key: Vec<_> = key.into_iter().filter(|part| !part.is_empty()).collect();
        cluster.deleted_earlier(&key.join("/"), 600);
        self.told(cluster, ns, name)
    }

    fn told(&self, cluster: &Cluster, ns: &Namespace<'_>, name: &str) -> Told {
        told(cluster, &self.target(name), self.place(ns))
    }

    /// The plan to remove the finalizer by hand: the exit code, and what is refused.
    fn removal(&self, cluster: &Cluster, ns: &Namespace<'_>, name: &str) -> (i32, String) {
        let (target, namespace) = (self.target(name), format!("--namespace={}", ns.name()));
        let words = [
            "remove",
            &target,
            "--finalizer",
            self.finalizer,
            "--plan",
            "-o=json",
            &namespace,
        ];
        let output = cluster.plugin(words).run();
        let plan: Value =
            serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output}"));
        (output.code, plan["refused"].to_string())
    }

    #[track_caller]
    fn removal_is_refused(&self, cluster: &Cluster, ns: &Namespace<'_>, name: &str) {
        let (code, refused) = self.removal(cluster, ns, name);
        assert_eq!(code, 3, "{refused}");
    }

    #[track_caller]
    fn goes(&self, cluster: &Cluster, ns: &Namespace<'_>, name: &str) {
        goes(cluster, &self.target(name), self.place(ns));
    }

    /// It runs, and its object waits for another one. That is no fault, and ends with the other one.
    fn an_operator_that_runs(&self) {
        let cluster = &Cluster::start();
        let ns = &cluster.namespace("operated");
        let operator = &Operator::install(cluster, self.product);
        (self.used)(cluster, ns);
        self.is_held(ns, operator, "used");
        let story = self.deleted(cluster, ns, "used");
        self.waits_for_its_keeper(&story, operator);
        self.removal_is_refused(cluster, ns, "used");
        replayed(cluster, &self.target("used"), self.place(ns));
        (self.frees)(cluster, ns);
        self.goes(cluster, ns, "used");
    }

    #[track_caller]
    fn waits_for_its_keeper(&self, story: &Told, operator: &Operator<'_>) {
        let verdict = story.verdict(self.finalizer);
        assert!(["in-use", "waiting"].contains(&verdict), "{story}");
        assert_eq!(story.controller(self.finalizer).1, "running", "{story}");
        assert!(story.blockers().iter().any(|name| name == self.keeper), "{story}");
        assert_eq!(story.first_label(), "read-only", "{story}");
        story
            .never_says("It is gone")
            .says(&format!(
                "Deployment {}/{}",
                operator.namespace, operator.deployment
            ))
            .never_advises("finalizers remove")
            .never_advises("scale deployments.apps")
            .never_advises("HOLDER")
            .is_careful();
    }

    /// Its process ends again and again. It is repaired, and not passed over.
    fn an_operator_that_crashes(&self) {
        let cluster = &Cluster::start();
        let ns = &cluster.namespace("operated");
        let operator = &Operator::install(cluster, self.product);
        self.held(ns, operator, "spare");
        operator.crashes();
        let story = self.deleted(cluster, ns, "spare");
        assert_eq!(story.verdict(self.finalizer), "failing", "{story}");
        self.is_controller(&story, operator, "failing");
        assert_eq!(story.first_label(), "read-only", "{story}");
        story
            .has_root(&format!("Deployment {}: 0 of 1 ready", operator.deployment))
            .says("CrashLoopBackOff")
            .never_says("It is gone")
            .never_advises("finalizers remove")
            .never_advises("finalizers nudge")
            .is_careful();
        self.removal_is_refused(cluster, ns, "spare");
        replayed(cluster, &self.target("spare"), self.place(ns));
        operator.start();
        self.goes(cluster, ns, "spare");
    }

    /// Its Deployment is scaled to zero. The first step that changes something scales it up.
    fn an_operator_that_is_scaled_to_zero(&self) {
        let cluster = &Cluster::start();
        let ns = &cluster.namespace("operated");
        let operator = &Operator::install(cluster, self.product);
        self.held(ns, operator, "spare");
        operator.is_scaled_to_zero();
        let story = self.deleted(cluster, ns, "spare");
        assert_eq!(story.verdict(self.finalizer), "waiting", "{story}");
        self.is_controller(&story, operator, "off");
        story
            .has_root(&format!(
                "Deployment {}: is scaled to 0 replicas",
                operator.deployment
            ))
            .never_says("It runs")
            .never_says("It is gone")
            .never_advises("finalizers remove")
            .never_advises("finalizers nudge")
            .is_careful();
        self.removal_is_refused(cluster, ns, "spare");
        replayed(cluster, &self.target("spare"), self.place(ns));
        story.follow(
            cluster,
            &format!("scale deployments.apps/{}", operator.deployment),
        );
        operator.start();
        self.goes(cluster, ns, "spare");
    }

    /// Its role loses the right to change its objects. The right is the root cause, although nothing reports it.
    fn an_operator_without_a_right(&self) {
        let cluster = &Cluster::start();
        let ns = &cluster.namespace("operated");
        let operator = &Operator::install(cluster, self.product);
        self.held(ns, operator, "spare");
        operator.may_change(self.plural, self.group, false);
        let story = self.deleted_long_ago(cluster, ns, "spare");
        assert_eq!(story.verdict(self.finalizer), "failing", "{story}");
        assert_eq!(story.first_label(), "read-only", "{story}");
        story
            .has_root(&format!(
                "may neither update nor patch {}.{}",
                self.plural, self.group
            ))
            .says("It runs")
            .never_says("It is gone")
            .never_advises("finalizers remove")
            .never_advises("scale deployments.apps")
            .is_careful();
        self.removal_is_refused(cluster, ns, "spare");
        replayed(cluster, &self.target("spare"), self.place(ns));
        operator.may_change(self.plural, self.group, true);
        // It retries by itself.
        self.goes(cluster, ns, "spare");
    }

    /// It is uninstalled, and its types and objects are left. It is gone, so its finalizer may be removed by hand.
    fn an_uninstalled_operator(&self) {
        let cluster = &Cluster::start();
        let ns = &cluster.namespace("operated");
        let operator = Operator::install(cluster, self.product);
        self.held(ns, &operator, "spare");
        operator.uninstall();
        let story = self.deleted(cluster, ns, "spare");
        assert_eq!(story.verdict(self.finalizer), "orphaned", "{story}");
        story
            .says("It is gone")
            .never_says("It runs")
            .never_advises("finalizers nudge")
            .never_advises("scale deployments.apps")
            .is_careful();
        replayed(cluster, &self.target("spare"), self.place(ns));
        story.follow(cluster, "finalizers remove");
        self.goes(cluster, ns, "spare");
    }

    /// It runs under another name in another namespace. It is found there, and never gone.
    fn a_renamed_operator(&self) {
        let cluster = &Cluster::start();
        let ns = &cluster.namespace("operated");
        let operator = &Operator::install_as(cluster, self.product, self.renamed);
        (self.used)(cluster, ns);
        self.is_held(ns, operator, "used");
        let story = self.deleted_long_ago(cluster, ns, "used");
        self.waits_for_its_keeper(&story, operator);
        self.removal_is_refused(cluster, ns, "used");
        replayed(cluster, &self.target("used"), self.place(ns));
        (self.frees)(cluster, ns);
        self.goes(cluster, ns, "used");
    }
}

/// The end of a log, for a test that fails.
fn last(log: &str) -> String {
    let lines: Vec<_> = log.lines().collect();
    lines
        .iter()
        .rev()
        .take(5)
        .rev()
        .copied()
        .collect::<Vec<_>>()
        .join("\n")
}
