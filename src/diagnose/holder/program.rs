//! The workload that runs the program which put a finalizer on.
//!
//! A field manager is the file name of a program, unless the program chooses another name
//! (`kubernetes/apimachinery:pkg/util/managedfields/` and `kubernetes/client-go:rest/config.go` adjustCommand). A workload whose
//! container, image or command has that name likely runs it. That none has it proves nothing.

use crate::{
    diagnose::{
        holder::{names::is_telling, pod_template::images, standing, trace::Holder, writer},
        kinds::PodSpec,
        model::Strength,
        view::View,
    },
    object::Finalizer,
    snapshot::facts::Object,
};

/// The kinds of workload that controllers run as.
const WORKLOADS: [&str; 3] = ["deployments", "statefulsets", "daemonsets"];

/// Adds the workloads that run the program, in any namespace.
pub(super) fn add_program(object: &Object, finalizer: &Finalizer, holder: &mut Holder, view: &View<'_>) {
    let Some(program) = writer::author(object, finalizer).filter(|name| is_telling(name)) else {
        return;
    };
    for plural in WORKLOADS {
        match view.list("apps", plural, "") {
            Ok(all) => {
                for workload in all.iter().filter(|workload| runs(workload, &program)) {
                    standing::add_standing(workload, Strength::Moderate, holder, view);
                }
            }
            Err(missing) => holder.add_missing(&missing),
        }
    }
}

fn runs(workload: &Object, program: &str) -> bool {
    let last = |path: &str| path.rsplit('/').next() == Some(program);
    let spec = PodSpec::of(workload);
    workload.name() == program
        || spec.container_names().any(|name| name == program)
        || images(workload).iter().any(|image| last(image))
        || spec.commands().any(last)
}
