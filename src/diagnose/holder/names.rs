//! The names under which a controller reports: as the source of events, and as a manager of fields.
//!
//! Whoever may write events may write a Warning about any object. So a report counts against a controller only if
//! it bears a name of that controller. These are the names in the catalogue, the workload that was found, the manager
//! that put the finalizer on, and the kind of the object: `alert-controller`. Names can be forged, like the events themselves. So a report never proves
//! that a controller is gone.

use crate::{
    diagnose::holder::{
        trace::{Holder, Tells, Trace},
        writer,
    },
    knowledge::{Entry, is_of_one_project, schema::glob},
    object::{Finalizer, is_custom_group},
    snapshot::facts::Object,
};

/// Names that many programs share. The operators of one cluster often have several of them.
const SHARED: [&str; 12] = [
    "agent",
    "app",
    "controller",
    "controller-manager",
    "default",
    "main",
    "manager",
    "operator",
    "provider",
    "server",
    "unknown",
    "webhook",
];

/// The names of one controller.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// Names of programs and workloads, which can contain `*`.
    programs: Vec<String>,
    /// The manager that put the finalizer on.
    author: Option<String>,
    /// Whether the finalizer is of the project that the type is of.
    are_of_type: bool,
}

impl Names {
    /// The names of the controller that must remove this finalizer.
    pub fn of(object: &Object, finalizer: &Finalizer, entry: Option<&Entry>, holder: &Holder) -> Self {
        let known = entry.into_iter().flat_map(|entry| {
            let holder = &entry.holder;
            let workloads = holder.workloads.iter().filter_map(|one| one.name.as_ref());
            holder
                .reporters
                .iter()
                .chain(holder.managers.iter().filter(|name| is_telling(name)))
                .chain(workloads.filter(|name| is_telling(name)))
                .chain(holder.service_accounts.iter().filter(|name| is_telling(name)))
                .cloned()
        });
        let found = holder
            .signs
            .iter()
            .filter(|sign| sign.trace == Trace::Workload && sign.tells != Tells::Nothing)
            .filter_map(|sign| sign.object.as_ref())
            .map(|workload| workload.name.clone())
            .filter(|name| is_telling(name));
        // The name that kubebuilder gives to the controller of a type (`controller-runtime:pkg/builder/controller.go`
        // getControllerName), and the forms of it that most projects use. Built-in types have controllers of such names too.
        let kind = object.kind.to_lowercase();
        let of_type = [
            // A controller of one part of the work says so between the kind and the word: `cell-datahandler`.
            format!("{kind}-*controller"),
            format!("{kind}-*reconciler"),
            format!("{kind}-*handler"),
            kind,
            object.kind.clone(),
        ];
        let of_type = of_type
            .into_iter()
            .filter(|name| is_custom_group(&object.resource.group) && is_telling(name));
        Names {
            programs: known.chain(found).chain(of_type).collect(),
            author: writer::author(object, finalizer),
            are_of_type: is_of_one_project(&finalizer.name, &object.resource.group),
        }
    }

    /// Whether the controller of the finalizer is of the project that the type of the object is of.
    pub fn are_of_type(&self) -> bool {
        self.are_of_type
    }

    /// Whether the controller reports events under this name.
    pub fn has_reporter(&self, name: &str) -> bool {
        // `PROJECT-controller-manager` is what kubebuilder calls the workload of a project
        // (`kubernetes-sigs/kubebuilder:pkg/plugins/common/kustomize/v2/scaffolds`). Many report under the rest of it, as
        // `PROJECT-controller`, or as `PROJECT-KIND-controller`.
        let is_project = |known: &String| {
            let project = known.strip_suffix("-controller-manager");
            project.is_some_and(|project| {
                let reporter = name.strip_suffix("-controller").unwrap_or_default();
                let part = reporter.strip_prefix(project);
                name == project || part.is_some_and(|part| part.is_empty() || part.starts_with('-'))
            })
        };
        self.programs
            .iter()
            .any(|known| glob(known, name) || is_project(known) && is_telling(name))
            || self.author.as_deref() == Some(name) && is_telling(name)
    }

    /// Whether the controller writes fields of this object under this name. A shared name is enough if it also put
    /// the finalizer on this object.
    pub fn has_manager(&self, name: &str) -> bool {
        self.author.as_deref() == Some(name) || self.has_reporter(name)
    }
}

/// Whether a name belongs to one program, and is not only a word or a pattern that fits many.
pub fn is_telling(name: &str) -> bool {
    let fixed = name.trim_matches(['*', '-']);
    !fixed.is_empty() && !name.contains('{') && !SHARED.contains(&fixed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(programs: &[&str], author: Option<&str>) -> Names {
        let telling = programs.iter().filter(|name| is_telling(name));
        Names {
            programs: telling.map(|name| (*name).to_owned()).collect(),
            author: author.map(str::to_owned),
            are_of_type: false,
        }
    }

    #[test]
    fn a_shared_name_is_nobodys_as_the_source_of_an_event() {
        let known = names(
            &["manager", "*-controller-manager", "*", "{driver}", "w-operator"],
            None,
        );
        assert!(known.has_reporter("w-operator"));
        assert!(names(&["cass-operator-controller-manager"], None).has_reporter("cass-operator"));
        assert!(names(&["autoneg-controller-manager"], None).has_reporter("autoneg-controller"));
        let capc = names(&["capc-controller-manager"], None);
        assert!(capc.has_reporter("capc-machine-controller") && !capc.has_reporter("capcx-controller"));
        for stranger in [
            "manager",
            "controller-manager",
            "other-operator",
            "",
            "w-operator-2",
        ] {
            assert!(!known.has_reporter(stranger), "{stranger}");
        }
    }

    #[test]
    fn a_controller_of_a_custom_type_reports_under_the_name_of_the_type() {
        let of = |group: &str, plural: &str, kind: &str| {
            let object = crate::diagnose::testing::world::bare(group, plural, kind, serde_json::json!({}));
            let finalizer = Finalizer {
                name: "x.test/clean".into(),
                list: crate::object::List::Metadata,
            };
            Names::of(&object, &finalizer, None, &Holder::default())
        };
        let custom = of("w.test", "widgets", "Widget");
        for name in [
            "widget-controller",
            "widget-reconciler",
            "widget-datahandler",
            "widget",
            "Widget",
        ] {
            assert!(custom.has_reporter(name), "{name}");
        }
        assert!(!custom.has_reporter("widgetset-controller"));
        assert!(!of("apps", "deployments", "Deployment").has_reporter("deployment-controller"));
        // A kind that is a word of many programs is no name.
        assert!(!of("w.test", "agents", "Agent").has_reporter("agent"));
    }

    #[test]
    fn the_field_manager_that_added_the_finalizer_is_the_controller() {
        let known = names(&[], Some("manager"));
        assert!(known.has_manager("manager") && !known.has_reporter("manager"));
        let known = names(&[], Some("w-operator"));
        assert!(known.has_manager("w-operator") && known.has_reporter("w-operator"));
    }
}
