//! The commands that many causes advise, each made in one way. A type is `plural.group`, or a word that kubectl takes
//! for it; the namespace of a cluster-scoped object is empty.

use super::{Command, Part, Word};

impl Command {
    /// Explains an object.
    pub fn explain(type_name: &str, name: &str, namespace: &str) -> Self {
        Command::of(
            "kubectl finalizers explain {}/{} -n {}",
            [type_name, name, namespace],
        )
    }

    /// Shows an object's state and events.
    pub fn describe(type_name: &str, name: &str, namespace: &str) -> Self {
        Command::of("kubectl -n {} describe {} {}", [namespace, type_name, name])
    }

    /// Shows an object in full.
    pub fn get_yaml(type_name: &str, name: &str, namespace: &str) -> Self {
        Command::of("kubectl -n {} get {} {} -o yaml", [namespace, type_name, name])
    }

    /// Asks the API server whether a ServiceAccount, given by its namespace and its name, may act so on the objects of a type.
    pub fn may(verb: &str, type_name: &str, namespace: &str, (place, account): (&str, &str)) -> Self {
        Command::of(
            "kubectl auth can-i {} {} -n {} --as=system:serviceaccount:{}:{}",
            [verb, type_name, namespace, place, account],
        )
    }

    /// Writes an object into a file, before it is changed or deleted.
    pub fn save(type_name: &str, name: &str, namespace: &str) -> Self {
        Command::of(
            "kubectl -n {} get {} {} -o yaml > {}-backup.yaml",
            [namespace, type_name, name, name],
        )
    }

    /// The same where an object of another type and of the same name is saved too: the file is named after both.
    pub fn save_by_type(type_name: &str, name: &str, namespace: &str) -> Self {
        Command::of(
            "kubectl -n {} get {} {} -o yaml > {}-{}-backup.yaml",
            [namespace, type_name, name, type_name, name],
        )
    }

    /// Writes all objects of a type into a file.
    pub fn save_all(type_name: &str) -> Self {
        Command::of(
            "kubectl get {} --all-namespaces -o yaml > {}-backup.yaml",
            [type_name, type_name],
        )
    }

    /// Deletes an object in the normal way.
    pub fn delete(type_name: &str, name: &str, namespace: &str) -> Self {
        Command::of("kubectl -n {} delete {} {}", [namespace, type_name, name])
    }

    /// Deletes a namespace with all that is in it; none for a namespace that every cluster needs. The API server refuses to
    /// delete the first three (`kubernetes/apiserver:pkg/admission/plugin/namespace/lifecycle/admission.go` NewLifecycle, with
    /// the names of `kubernetes/kubernetes:pkg/kubeapiserver/options/plugins.go`). Without the last, nodes lose their Leases.
    pub fn delete_namespace(name: &str) -> Option<Self> {
        let is_needed = ["default", "kube-system", "kube-public", "kube-node-lease"].contains(&name);
        (!is_needed).then(|| Command::of("kubectl delete namespace {}", [name]))
    }

    /// Deletes all objects of a type.
    pub fn delete_all(type_name: &str, is_namespaced: bool) -> Self {
        let all = Command::of("kubectl delete {} --all", [type_name]);
        if is_namespaced {
            all.with("--all-namespaces")
        } else {
            all
        }
    }

    /// Changes an object by a JSON patch.
    pub fn json_patch(type_name: &str, name: &str, namespace: &str, patch: &str) -> Self {
        Command::of(
            "kubectl -n {} patch {} {} --type=json -p {}",
            [namespace, type_name, name, patch],
        )
    }

    /// Changes an object by a merge patch.
    pub fn merge_patch(type_name: &str, name: &str, namespace: &str, patch: &str) -> Self {
        Command::of(
            "kubectl -n {} patch {} {} --type=merge -p {}",
            [namespace, type_name, name, patch],
        )
    }

    /// Sets the replicas of a workload.
    pub fn scale(type_name: &str, name: &str, namespace: &str, replicas: i64) -> Self {
        Command::of(
            "kubectl -n {} scale {} {} --replicas={}",
            [namespace, type_name, name, &replicas.to_string()],
        )
    }

    /// Wakes the controllers of an object.
    pub fn nudge(type_name: &str, name: &str, namespace: &str) -> Self {
        Command::of(
            "kubectl finalizers nudge {}/{} -n {}",
            [type_name, name, namespace],
        )
    }

    /// Plans the removal of one finalizer, which whoever reads the plan must accept.
    pub fn remove(type_name: &str, name: &str, namespace: &str, finalizer: &str) -> Self {
        Command::of(
            "kubectl finalizers remove {}/{} -n {} --finalizer {}",
            [type_name, name, namespace, finalizer],
        )
    }

    /// Shows the plan for that removal. The API server is asked whether it would take it, and nothing is changed.
    pub fn plan_removal(type_name: &str, name: &str, namespace: &str, finalizer: &str) -> Self {
        Command::remove(type_name, name, namespace, finalizer).with("--plan")
    }

    /// Sets volumes to Retain, or the volumes of claims. A name is `pv/NAME` or `pvc/NAME`.
    pub fn keep_disks(names: impl IntoIterator<Item = String>, namespace: &str) -> Self {
        let mut command = Command::of("kubectl finalizers rescue", []).arguments(names);
        if !namespace.is_empty() {
            command = command.flag("-n", namespace);
        }
        command.with("--only-retain")
    }

    /// Shows where etcd is, and how to take the deletion of an object back there.
    pub fn way_to_etcd(type_name: &str, name: &str, namespace: &str) -> Self {
        let names = [type_name, name, namespace];
        Command::of(
            "kubectl finalizers rescue {}/{} -n {} --print-etcd-commands",
            names,
        )
    }

    /// Whether it plans the removal of a finalizer.
    pub fn is_remove(&self) -> bool {
        let only_plans = |word: &Word| word.ours_alone() == Some("--plan");
        self.begins_with(&["kubectl", "finalizers", "remove"]) && !self.words.iter().any(only_plans)
    }

    /// Whether it keeps the disks of volumes or claims.
    pub fn is_keep_disks(&self) -> bool {
        let only_retain = |word: &Word| word.ours_alone() == Some("--only-retain");
        self.begins_with(&["kubectl", "finalizers", "rescue"]) && self.words.iter().any(only_retain)
    }

    /// Whether it wakes the controllers of an object.
    pub fn is_nudge(&self) -> bool {
        self.begins_with(&["kubectl", "finalizers", "nudge"])
    }

    /// Whether a controller resumes after it: it wakes one, or lets a workload run again.
    pub fn wakes(&self) -> bool {
        let scales = self.words.iter().any(|word| word.ours_alone() == Some("scale"));
        let replicas = |word: &Word| {
            word.text()
                .strip_prefix("--replicas=")
                .is_some_and(|count| count != "0")
        };
        self.is_nudge() || scales && self.words.iter().any(replicas)
    }

    /// Adds a word of ours.
    #[must_use]
    pub fn with(mut self, word: &'static str) -> Self {
        self.words.push(Word(vec![Part::Ours(word.to_owned())]));
        self
    }

    /// Adds a flag of ours with its value.
    #[must_use]
    pub fn flag(self, flag: &'static str, value: &str) -> Self {
        self.with(flag).arguments([value])
    }

    /// Adds a selector of these labels.
    #[must_use]
    pub fn selecting<'a>(self, labels: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut selector = Word::default();
        for (key, value) in labels {
            if !selector.0.is_empty() {
                selector.0.push(Part::Ours(",".to_owned()));
            }
            selector.0.extend([
                Part::Cluster(key.to_owned()),
                Part::Ours("=".to_owned()),
                Part::Cluster(value.to_owned()),
            ]);
        }
        let mut command = self.with("-l");
        command.words.push(selector);
        command
    }

    /// Adds words of strangers.
    #[must_use]
    pub fn arguments(mut self, values: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let words = values
            .into_iter()
            .map(|value| Word(vec![Part::Cluster(value.into())]));
        self.words.extend(words);
        self
    }
}
