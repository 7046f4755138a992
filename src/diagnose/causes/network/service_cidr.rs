//! `networking.k8s.io/service-cidr-finalizer`: a range whose addresses Services still use.
//!
//! # Symptom
//!
//! A ServiceCIDR stays in deletion, with the finalizer `networking.k8s.io/service-cidr-finalizer`. Its condition
//! `Ready` is `False` with reason `Terminating` and the message `There are still IPAddresses referencing the
//! ServiceCIDR`.
//!
//! ```text
//! $ kubectl finalizers explain servicecidrs/second --from tests/causes/network.yaml
//! ```
//!
//! # Why
//!
//! The controller removes the finalizer ten seconds after the deletion at the earliest, in one of two cases. Each range
//! of the object lies in another ServiceCIDR, or no allocated address lies in this one alone. The first address of a
//! range, and the last of an IPv4 range, are never allocated and do not count.
//!
//! # Before you act
//!
//! This is no fault. List the Services with an address in the range: `kubectl get ipaddresses`.
//!
//! # If it was a mistake
//!
//! Create another ServiceCIDR with the same range. This one then goes, every Service keeps its address, and nothing is
//! interrupted.
//!
//! # If it was intended
//!
//! Give the Services other addresses. A Service keeps its address for life, so it must be made again, which interrupts
//! its clients.
//!
//! # Do not
//!
//! Do not remove the finalizer by hand. The Services keep addresses that belong to no range, and these may be given out
//! twice.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | in-use | a Service has an address that lies in this range alone |
//! | stalled | none has, and the controller has not acted |
//! | unknown | addresses or ranges could not be listed |
//!
//! # What it reads
//!
//! All ServiceCIDRs and IPAddresses, and the Services that the addresses name.
//!
//! # Sources
//!
//! - `kubernetes/kubernetes:pkg/controller/servicecidrs/servicecidrs_controller.go` canDeleteCIDR
//! - `kubernetes/kubernetes:pkg/api/servicecidr/servicecidr.go` PrefixContainsIP

use serde_json::json;

use crate::{
    command::Command,
    diagnose::{
        causes::{
            advice,
            cause::{Cause, On, Reads, Tells},
            controller::Controller,
            in_use,
            in_use::{Standing, Users},
            network::ip_range::Range,
        },
        kinds::{IpAddress, Service, ServiceCidr},
        limits,
        model::{Blocker, Evidence, Finding, Moment, Outlook, Page, Safety, Step, Strength, Verdict, When},
        view::{Missing, View},
    },
    object::{Finalizer, ObjectRef, pasteable},
    snapshot::facts::Object,
};

pub(crate) const CAUSE: Cause = Cause {
    page: Page::of(module_path!()),
    types: &[("networking.k8s.io", "servicecidrs")],
    finalizer: On::Named("networking.k8s.io/service-cidr-finalizer"),
    reads: Reads::Whole,
    tells: Tells::Finalizer(range_in_use),
};

const GROUP: &str = "networking.k8s.io";

/// Answers for the finalizer on a range.
fn range_in_use(range: &Object, finalizer: &Finalizer, view: &View<'_>) -> Finding {
    let controller = Controller::of(range, finalizer, None, view);
    let says = controller
        .removes("kube-controller-manager")
        .part("service-cidrs-controller")
        .once("no Service has an address that lies in this range alone");
    let not_seen = |says, question, missing: &Missing| {
        let users = Users::not_seen(question, missing);
        in_use::finding(range, finalizer, &controller, says, users, view).0
    };
    let all = match view.list(GROUP, "servicecidrs", "") {
        Ok(all) => all,
        Err(missing) => return not_seen(says, "which other ranges there are", &missing),
    };
    let others: Vec<_> = all
        .iter()
        .filter(|other| other.name() != range.name())
        .flat_map(ranges)
        .collect();
    let own = ranges(range);
    let covered = !own.is_empty() && own.iter().all(|own| others.iter().any(|other| other.covers(own)));
    let mut used = Vec::new();
    let mut given_out = 0;
    if !covered {
        let addresses = match view.list(GROUP, "ipaddresses", "") {
            Ok(addresses) => addresses,
            Err(missing) => return not_seen(says, "which addresses are given out", &missing),
        };
        given_out = addresses.len();
        used.extend(addresses.iter().filter(|address| {
            let Ok(ip) = address.name().parse() else {
                return false;
            };
            IpAddress(address).is_from_allocator()
                && own.iter().any(|own| own.allocates(ip))
                && !others.iter().any(|other| other.allocates(ip))
        }));
    }
    let nobody = if covered {
        "each of its ranges lies in another ServiceCIDR, so none has"
    } else {
        "none has"
    };
    let shown = used.iter().take(limits::BLOCKERS);
    let mut blockers: Vec<_> = shown.map(|address| blocker(address, view)).collect();
    if used.len() > limits::BLOCKERS {
        let more = format!("{} more addresses", used.len() - limits::BLOCKERS);
        blockers.push(Blocker::new(None, more));
    }
    let users = Users::of(blockers, Verdict::InUse, nobody);
    let (mut finding, standing) = in_use::finding(range, finalizer, &controller, says, users, view);
    finding.evidence.push(Evidence {
        source: format!("ServiceCIDR {} spec.cidrs", range.name()),
        value: if covered {
            "each lies in another ServiceCIDR".into()
        } else {
            format!(
                "{} of {given_out} IPAddresses lie in it and in no other",
                used.len()
            )
        },
        strength: Strength::Proof,
    });
    if let Some(("False", "Terminating", message)) = range.condition("Ready") {
        finding.evidence.push(Evidence {
            source: format!("ServiceCIDR {} condition Ready", range.name()),
            value: format!("Terminating: {message}"),
            strength: Strength::Moderate,
        });
    }
    if standing == Standing::Used {
        add_advice(&mut finding, range, &used, finalizer);
    } else if standing == Standing::Late {
        finding.steps.push(advice::nudge(range));
    }
    finding
}

fn ranges(of: &Object) -> Vec<Range> {
    ServiceCidr(of).ranges().filter_map(Range::parse).collect()
}

fn blocker(address: &Object, view: &View<'_>) -> Blocker {
    let (namespace, name) = IpAddress(address).parent();
    let mut blocker = Blocker::new(
        Some(address.reference()),
        format!("given to {} {namespace}/{name}", IpAddress(address).parent_type()),
    );
    let says = match view.object("", "services", namespace, name) {
        Ok(Some(service)) if service.deletion().is_some() => {
            blocker.on.push(view.blocker(service, "is being deleted".into()));
            return blocker;
        }
        Ok(Some(service)) => format!("is in use, with cluster IP {}", Service(service).cluster_ip()),
        Ok(None) => {
            "does not exist any more: the API server takes the address back by itself, within some minutes"
                .into()
        }
        Err(missing) => format!("how it stands is not known: {}", missing.in_words()),
    };
    let service = ObjectRef {
        type_name: "services".into(),
        kind: "Service".into(),
        api_version: "v1".into(),
        namespace: Some(namespace.to_owned()),
        name: name.to_owned(),
        ..ObjectRef::default()
    };
    blocker.on.push(Blocker::new(Some(service), says));
    blocker
}

fn add_advice(finding: &mut Finding, range: &Object, used: &[&Object], finalizer: &Finalizer) {
    let going = range.deletion().is_some();
    finding.outlook.push(Outlook {
        when: if going {
            Moment::NothingDone
        } else {
            Moment::DeletedNow
        },
        then: "it stays, Terminating; Services keep their addresses, and no new address is taken from it"
            .into(),
    });
    finding.do_not.push(format!(
        "remove {} by hand: these Services keep addresses that belong to no range, and the same addresses may be given out \
         a second time",
        finalizer.name
    ));
    if !going {
        return;
    }
    let cidrs: Vec<_> = ServiceCidr(range).ranges().collect();
    let again = json!({"apiVersion": range.api_version, "kind": range.kind,
        "metadata": {"name": format!("{}-again", range.name())}, "spec": {"cidrs": cidrs}});
    finding.steps.push(Step {
        when: When::Mistake,
        text: "make a ServiceCIDR of another name over the same range: this one then goes by itself, every Service keeps its \
               address, and nothing is interrupted"
            .into(),
        command: Some(Command::of("printf %s {} | kubectl create -f -", [&again.to_string()])),
        safety: Safety::Safe,
        lets_go: Vec::new(),
    });
    for address in used.iter().take(limits::BLOCKERS) {
        let (namespace, name) = IpAddress(address).parent();
        finding
            .steps
            .push(advice::save_step(When::Intended, "services", name, namespace));
        finding.steps.push(Step {
            when: When::Intended,
            text: format!(
                "INTERRUPTION: give {} another address. That needs to delete it and to make it again, without \
                 spec.clusterIP and spec.clusterIPs; clients that remember {} lose it",
                pasteable("services", Some(namespace), name),
                address.name()
            ),
            command: Some(Command::of("kubectl -n {} delete service {}", [namespace, name])),
            safety: Safety::Destructive,
            lets_go: Vec::new(),
        });
    }
}
