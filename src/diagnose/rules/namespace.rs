//! `spec.finalizers: kubernetes`: a namespace goes when everything in it is gone and every API group has said so.
//!
//! **Why.** The namespace controller asks discovery for every namespaced type; any group that does not answer
//! stops it, whatever is left. Pods go first, and until they are gone (1.33 and later) nothing else is even asked
//! to. Its conditions are what it saw last, and while pods remain they may say that all is gone. Source:
//! `kubernetes/kubernetes:pkg/controller/namespace/deletion/namespaced_resources_deleter.go`. **Wants** the
//! content, listed, not believed. **Concludes** from what is really there. **Advises** to repair or remove the
//! dead group, and to resolve what is left, and never to empty `spec.finalizers`.

use std::collections::BTreeMap;

use crate::{
    diagnose::{
        holder,
        model::{Blocker, Evidence, Finding, Outlook, Safety, Step, Strength, Verdict},
        view::View,
    },
    object::Finalizer,
    snapshot::{
        What,
        facts::{Content, Object},
    },
};

/// More kinds than this are summed up.
const SHOWN: usize = 8;

pub(super) fn content(namespace: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    let entry = view.knowledge.lookup(
        &finalizer.name,
        finalizer.list,
        Some((&namespace.reference()).into()),
    );
    let life = entry.map(|entry| holder::life(&entry, None, view));
    let alive = life
        .as_ref()
        .map(|life| format!(", {}", life.in_words()))
        .unwrap_or_default();
    let says = format!(
        "removed by kube-controller-manager (namespace){alive}, once every API group answers and nothing is left in it"
    );
    let name = namespace.name();
    let listed = view.content(name);
    let mut finding = Finding::new(Some(finalizer.clone()), Verdict::Waiting, says);
    finding
        .evidence
        .extend(life.iter().filter_map(holder::Life::evidence));
    let silent = silent_groups(&mut finding, view);
    match listed {
        Ok(Some(content)) => left(&mut finding, name, content, silent, namespace, view),
        Ok(None) => {}
        Err(missing) => {
            finding.wait.verdict = if silent {
                Verdict::Waiting
            } else {
                Verdict::Unknown
            };
            finding.say(format!(
                "; what is left in it is not known: {}",
                missing.in_words()
            ));
        }
    }
    quote_conditions(&mut finding, namespace);
    finding.do_not.push(
        "empty spec.finalizers through /finalize: what is left stays in etcd in a namespace that no longer exists, and \
         its clean-up never runs"
            .into(),
    );
    finding
}

/// Groups that do not answer stop the deletion of every namespace of the cluster.
fn silent_groups(finding: &mut Finding, view: &View<'_>) -> bool {
    let mut any = false;
    for gap in view.silent_groups() {
        let What::GroupVersion { group, version, .. } = &gap.what else {
            continue;
        };
        // The group that only we could not make sense of does not stop anything.
        if version.is_empty() {
            continue;
        }
        any = true;
        let why = gap.why.message();
        finding.wait.on.push(Blocker::new(
            None,
            format!("API group {group}/{version} does not answer, which stops the deletion of every namespace: {why}"),
        ));
        finding.evidence.push(Evidence {
            source: format!("discovery of {group}/{version}"),
            value: why,
            strength: Strength::Proof,
        });
        finding.steps.push(Step {
            when: "what to do",
            text: format!(
                "bring the backend of {group}/{version} back: see which Service it is, and its pods"
            ),
            command: Some(format!("kubectl get apiservice {version}.{group} -o yaml")),
            safety: Safety::Safe,
        });
        finding.steps.push(Step {
            when: "product is gone?",
            text: format!(
                "ORPHANED OBJECTS if that API server stores objects of its own: delete the APIService, only if what \
                 served {group} is really uninstalled. APIs that compute their answers, such as metrics, store nothing"
            ),
            command: Some(format!("kubectl delete apiservice {version}.{group}")),
            safety: Safety::Destructive,
        });
    }
    any
}

fn left(
    finding: &mut Finding,
    name: &str,
    content: &Content,
    silent: bool,
    namespace: &Object,
    view: &View<'_>,
) {
    let all: u64 = content.counts.values().sum();
    finding.evidence.push(Evidence {
        source: format!("a list of every type in {name}"),
        value: format!("{all} objects"),
        strength: if content.gaps.is_empty() {
            Strength::Proof
        } else {
            Strength::Moderate
        },
    });
    let mut held: BTreeMap<(String, String), Vec<&crate::snapshot::Seen>> = BTreeMap::new();
    for seen in content.kept.iter().filter(|seen| seen.deletion.is_some()) {
        let finalizer = seen
            .finalizers
            .first()
            .map(ToString::to_string)
            .unwrap_or_default();
        held.entry((seen.object.type_name.clone(), finalizer))
            .or_default()
            .push(seen);
    }
    for ((type_name, finalizer), objects) in held.iter().take(SHOWN) {
        let first = &objects[0].object;
        let how_many = if objects.len() == 1 {
            String::new()
        } else {
            format!(" and {} more of them", objects.len() - 1)
        };
        let why = if finalizer.is_empty() {
            "being deleted, without a finalizer".to_owned()
        } else {
            format!("being deleted, held by {finalizer}")
        };
        finding
            .wait
            .on
            .push(Blocker::new(Some(first.clone()), format!("{why}{how_many}")));
        finding.steps.push(Step {
            when: "what to do",
            text: format!("see what holds {}/{}{how_many}", first.type_name, first.name),
            command: Some(format!(
                "kubectl finalizers explain {type_name} {} -n {name}",
                first.name
            )),
            safety: Safety::Safe,
        });
    }
    if held.len() > SHOWN {
        finding.wait.on.push(Blocker::rest(format!(
            "and {} more kinds of object that are being deleted",
            held.len() - SHOWN
        )));
    }
    let going: usize = held.values().map(Vec::len).sum();
    let others = all.saturating_sub(going as u64);
    if others > 0 {
        let pods_first = held.keys().any(|(type_name, _)| type_name == "pods");
        let why = if pods_first {
            "wait until the pods are gone (Kubernetes 1.33 and later)"
        } else {
            "have not been deleted yet"
        };
        finding
            .wait
            .on
            .push(Blocker::rest(format!("{others} other objects {why}")));
    }
    if all == 0 && !silent {
        if content.gaps.is_empty() {
            finding.wait.verdict = super::nothing_blocks(namespace, view);
            finding.say("; nothing is left in it");
            if finding.wait.verdict == Verdict::Stalled {
                finding.steps.push(super::nudge(namespace));
            }
        } else {
            finding.wait.verdict = Verdict::Unknown;
            finding.say("; nothing was found in it, but not everything could be read");
        }
    }
    finding.outlook.push(Outlook {
        when: "if nothing is done".into(),
        then: if finding.wait.on.is_empty() {
            "the namespace controller looks again within a minute".into()
        } else {
            "it stays until what is named above is gone".into()
        },
    });
}

/// The controller's own words, because people search for them; as evidence, because they may be old or wrong.
fn quote_conditions(finding: &mut Finding, namespace: &Object) {
    for kind in [
        "NamespaceDeletionDiscoveryFailure",
        "NamespaceDeletionGroupVersionParsingFailure",
        "NamespaceDeletionContentFailure",
        "NamespaceContentRemaining",
        "NamespaceFinalizersRemaining",
    ] {
        if let Some(("True", _, message)) = namespace.condition(kind) {
            finding.evidence.push(Evidence {
                source: format!("Namespace {} condition {kind}", namespace.name()),
                value: message.to_owned(),
                strength: Strength::Moderate,
            });
            if kind == "NamespaceDeletionContentFailure" {
                finding.wait.verdict = Verdict::Failing;
                finding.say(format!("; it fails: {message}"));
            }
        }
    }
}
