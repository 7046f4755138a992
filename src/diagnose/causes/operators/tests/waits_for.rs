//! Objects that use another object, were created for it, or must be gone before it.

use serde_json::{Value, json};

use crate::{
    diagnose::{
        Verdict,
        testing::{
            fixtures::{controller, going},
            told::waits_for,
            world::{World, object},
        },
    },
    snapshot::facts::Object,
};

fn project() -> Object {
    object(
        "argoproj.io",
        "appprojects",
        "AppProject",
        json!({"metadata": going("team", "argocd", &["resources-finalizer.argocd.argoproj.io"])}),
    )
}

fn application(name: &str, spec: &Value) -> Object {
    let metadata = json!({"name": name, "namespace": "argocd"});
    object(
        "argoproj.io",
        "applications",
        "Application",
        json!({"metadata": metadata, "spec": spec}),
    )
}

fn argo(objects: impl IntoIterator<Item = Object>) -> World {
    World::of(objects)
        .serving("argoproj.io", "applications", "Application")
        .serving("argoproj.io", "appprojects", "AppProject")
}

/// Its running controller.
fn argo_cd() -> [Object; 4] {
    let labels = json!({"app.kubernetes.io/name": "argocd-application-controller"});
    controller("argocd", "argocd-application-controller", &labels, "argoproj.io")
}

#[test]
fn only_objects_that_name_it_use_it() {
    let diagnosis = argo(
        [
            application("web", &json!({"project": "team"})),
            application("other", &json!({"project": "default"})),
            application("says-so", &json!({"description": "team"})),
        ]
        .into_iter()
        .chain(argo_cd()),
    )
    .explain(&project());
    assert_eq!(diagnosis.waits[0].verdict, Verdict::InUse, "{diagnosis:#?}");
    assert_eq!(
        waits_for(&diagnosis),
        [(
            "web".to_owned(),
            "names it in spec.project, is not being deleted".to_owned()
        )]
    );

    // Without its controller, Applications keep nothing: the project is orphaned. A user with fewer rights is not
    // diagnosis that the project is protected.
    let diagnosis = argo([application("web", &json!({"project": "team"}))]).explain(&project());
    assert_eq!(diagnosis.waits[0].verdict, Verdict::Orphaned, "{diagnosis:#?}");

    // Finding no Application proves nothing: others may reference the project in their own ways.
    let diagnosis = argo(
        [application("other", &json!({"project": "default"}))]
            .into_iter()
            .chain(argo_cd()),
    )
    .explain(&project());
    assert_ne!(diagnosis.waits[0].verdict, Verdict::InUse, "{diagnosis:#?}");
    let diagnosis = argo([application("web", &json!({"project": "team"}))])
        .hiding("applications")
        .explain(&project());
    assert!(
        diagnosis.waits[0]
            .says()
            .contains("which applications.argoproj.io that are is not known"),
        "{diagnosis:#?}"
    );
}

#[test]
fn summarizes_many_users() {
    let many = (0..9).map(|number| application(&format!("web-{number}"), &json!({"project": "team"})));
    let diagnosis = argo(many.chain(argo_cd())).explain(&project());
    let found = waits_for(&diagnosis);
    assert_eq!(found.len(), 6, "{found:#?}");
    assert_eq!(found[5].1, "4 more applications.argoproj.io");
    let looks = diagnosis
        .steps
        .iter()
        .filter(|step| step.text.starts_with("before you delete or move it"));
    assert_eq!(looks.count(), 3);
}

/// A DataStore of Kamaji, whose status lists the control planes that use it.
fn data_store(used_by: &Value) -> Object {
    object(
        "kamaji.clastix.io",
        "datastores",
        "DataStore",
        json!({"metadata": going("etcd", "", &["kamaji.clastix.io/TenantControlPlane"]), "status": {"usedBy": used_by}}),
    )
}

#[test]
fn a_field_that_must_be_empty_lists_what_keeps_the_object() {
    let labels =
        json!({"app.kubernetes.io/name": "kamaji", "app.kubernetes.io/component": "controller-manager"});
    let world = || {
        World::of(controller(
            "kamaji-system",
            "kamaji",
            &labels,
            "kamaji.clastix.io",
        ))
    };
    let told = world().explain(&data_store(&json!(["shop/blue", "shop/green"])));
    assert_eq!(told.waits[0].verdict, Verdict::Waiting, "{told:#?}");
    assert_eq!(
        told.waits[0].on[0].says,
        "status.usedBy still lists shop/blue, shop/green"
    );
    for empty in [json!([]), json!(null)] {
        let told = world().explain(&data_store(&empty));
        assert_eq!(told.waits[0].verdict, Verdict::Stalled, "{told:#?}");
        assert!(
            told.waits[0].says().contains("status.usedBy is empty"),
            "{told:#?}"
        );
    }
    // Nobody is late who is not known to run.
    let told = World::of([]).explain(&data_store(&json!([])));
    assert_ne!(told.waits[0].verdict, Verdict::Stalled, "{told:#?}");
}
