//! A property of random complaints: while a controller is seen running, what anybody complains of opens no removal. The
//! one exception is a recent complaint of the controller itself, about this very object, that its backend, its credentials
//! or the volume of an attachment do not exist any more.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::living::plan;
use crate::{
    diagnose::{
        COMPLAINT, Verdict,
        testing::{
            fixtures::{controller, going},
            world::{NOW, World, object},
        },
    },
    snapshot::facts::Object,
};

const FINALIZER: &str = "finalizer.acme.cert-manager.io";
const GROUP: &str = "acme.cert-manager.io";
/// The name under which the controller reports, and others.
const NAMES: [&str; 5] = [
    "cert-manager-challenges",
    "stranger",
    "controller",
    "kube-controller-manager",
    "",
];
/// What is said. The first two can be true of a controller that cannot succeed.
const MESSAGES: [&str; 6] = [
    "cannot read the credentials: secrets \"dns\" not found",
    "googleapi: Error 404: Project 'dns' not found or deleted.",
    "no route to the DNS server",
    "credentials are not there yet",
    "cannot read the credentials: secrets \"dns\" is forbidden",
    "",
];

#[derive(Clone, Copy, Debug)]
enum Form {
    Event,
    Condition,
}

#[derive(Clone, Debug)]
struct Complaint {
    form: Form,
    by: usize,
    /// A second name, where the form has room for one.
    also_by: usize,
    message: usize,
    is_warning: bool,
    is_about_it: bool,
    minutes_ago: i64,
}

fn complaint() -> impl Strategy<Value = Complaint> {
    (
        prop_oneof![Just(Form::Event), Just(Form::Condition)],
        // Half of all are the controller's own.
        prop_oneof![Just(0), 0..NAMES.len()],
        prop_oneof![Just(0), 0..NAMES.len()],
        prop_oneof![0..2_usize, 0..MESSAGES.len()],
        prop::bool::weighted(0.8),
        prop::bool::weighted(0.8),
        prop_oneof![0..30_i64, -60..90_i64],
    )
        .prop_map(
            |(form, by, also_by, message, is_warning, is_about_it, minutes_ago)| Complaint {
                form,
                by,
                also_by,
                message,
                is_warning,
                is_about_it,
                minutes_ago,
            },
        )
}

impl Complaint {
    fn time(&self) -> String {
        let now: jiff::Timestamp = NOW.parse().expect("a time");
        let time = now - jiff::SignedDuration::from_mins(self.minutes_ago);
        time.to_string()
    }

    /// The object in deletion, two hours long, with what it complains of itself.
    fn target(&self) -> Object {
        let mut metadata = going("api-cert", "pay", &[FINALIZER]);
        metadata["uid"] = "u".into();
        metadata["resourceVersion"] = "7".into();
        metadata["deletionTimestamp"] = "2026-01-01T10:00:00Z".into();
        let mut value = json!({"metadata": metadata, "spec": {}});
        if matches!(self.form, Form::Condition) {
            let entry = |manager: &str| {
                json!({"manager": manager, "subresource": "status", "time": self.time(), "fieldsV1":
                    {"f:status": {"f:conditions": {"k:{\"type\":\"CleanUpFailed\"}": {"f:message": {}}}}}})
            };
            value["metadata"]["managedFields"] = json!([entry(NAMES[self.by]), entry(NAMES[self.also_by])]);
            let status = if self.is_warning { "True" } else { "False" };
            value["status"] = json!({"conditions": [{"type": "CleanUpFailed", "status": status, "reason": "Error",
                "message": MESSAGES[self.message], "lastTransitionTime": self.time()}]});
        }
        object(GROUP, "challenges", "Challenge", value)
    }

    fn event(&self) -> Value {
        json!({"metadata": {"name": "e", "namespace": "pay"}, "type": if self.is_warning { "Warning" } else { "Normal" },
            "reason": "CleanUpError", "message": MESSAGES[self.message], "lastTimestamp": self.time(),
            "source": {"component": NAMES[self.by]}, "reportingComponent": NAMES[self.also_by],
            "involvedObject": {"name": "api-cert", "uid": if self.is_about_it { "u" } else { "other" }}})
    }

    fn world(&self) -> World {
        let labels =
            json!({"app.kubernetes.io/name": "cert-manager", "app.kubernetes.io/component": "controller"});
        let world = World::of(controller("cert-manager", "cert-manager", &labels, GROUP));
        match self.form {
            Form::Event => world.with(object("", "events", "Event", self.event())),
            Form::Condition => world,
        }
    }

    /// Whether the controller itself says, now and of this object, that what it needs is gone for good.
    fn is_of_a_loss(&self) -> bool {
        let names = [NAMES[self.by], NAMES[self.also_by]];
        let says_itself = match self.form {
            // A source without a name says nothing. Of two names, both must be the controller's.
            Form::Event => {
                let mut given = names.iter().filter(|name| !name.is_empty()).peekable();
                given.peek().is_some() && given.all(|name| *name == NAMES[0]) && self.is_about_it
            }
            Form::Condition => names.iter().all(|name| *name == NAMES[0]),
        };
        let is_recent = self.minutes_ago.abs() <= COMPLAINT.as_mins();
        says_itself && is_recent && self.is_warning && self.message < 2
    }
}

proptest! {
    #![proptest_config(super::living::config(1))]

    #[test]
    fn only_its_own_recent_complaint_of_a_loss_opens_the_removal_of_a_running_controller(complaint in complaint()) {
        let verdict = plan(&complaint.target(), &complaint.world());
        let expected = complaint.is_of_a_loss().then_some(Verdict::Failing);
        prop_assert_eq!(verdict, expected);
    }
}

/// The driver of an attachment, and its attacher, which renews its Lease.
const DRIVER: &str = "disks.example.test";
/// What an attacher reports. The first is true of a volume that does not exist.
const ERRORS: [&str; 4] = [
    "persistentvolume \"pv-1\" not found",
    "persistentvolume \"pv-2\" not found",
    "rpc error: code = DeadlineExceeded desc = context deadline exceeded",
    "volumeattachments.storage.k8s.io \"a\" is forbidden: volume pv-1",
];

/// An attachment whose last try to detach ended so, and what else there is.
fn detaching(error: usize, minutes_ago: i64, is_volume_left: bool) -> (Object, World) {
    let now: jiff::Timestamp = NOW.parse().expect("a time");
    let time = now - jiff::SignedDuration::from_mins(minutes_ago);
    let mut metadata = going("a", "", &["external-attacher/disks-example-test"]);
    metadata["resourceVersion"] = "7".into();
    metadata["deletionTimestamp"] = "2026-01-01T10:00:00Z".into();
    let attachment = object(
        "storage.k8s.io",
        "volumeattachments",
        "VolumeAttachment",
        json!({"metadata": metadata,
            "spec": {"attacher": DRIVER, "nodeName": "n", "source": {"persistentVolumeName": "pv-1"}},
            "status": {"detachError": {"message": ERRORS[error], "time": time.to_string()}}}),
    );
    let lease = object(
        "coordination.k8s.io",
        "leases",
        "Lease",
        json!({"metadata": {"name": "external-attacher-leader-disks-example-test", "namespace": "disks"},
            "spec": {"renewTime": "2026-01-01T11:59:58Z", "leaseDurationSeconds": 60}}),
    );
    let driver = object(
        "storage.k8s.io",
        "csidrivers",
        "CSIDriver",
        json!({"metadata": {"name": DRIVER}}),
    );
    let world = World::of([lease, driver]);
    if !is_volume_left {
        return (attachment, world);
    }
    let volume =
        json!({"metadata": {"name": "pv-1"}, "spec": {"csi": {"driver": DRIVER, "volumeHandle": "v-1"}}});
    (
        attachment,
        world.with(object("", "persistentvolumes", "PersistentVolume", volume)),
    )
}

proptest! {
    #![proptest_config(super::living::config(1))]

    #[test]
    fn only_its_own_recent_complaint_of_a_missing_volume_opens_the_removal_beside_a_running_attacher(
        error in 0..ERRORS.len(), minutes_ago in -60..90_i64, is_volume_left in any::<bool>()
    ) {
        let (attachment, world) = detaching(error, minutes_ago, is_volume_left);
        let is_of_a_loss = error == 0 && minutes_ago.abs() <= COMPLAINT.as_mins() && !is_volume_left;
        prop_assert_eq!(plan(&attachment, &world), is_of_a_loss.then_some(Verdict::Failing));
    }
}
