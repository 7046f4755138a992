//! What uses an object, was made for it, or must be empty first.

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

/// Its controller, which runs.
fn argo_cd() -> [Object; 4] {
    let labels = json!({"app.kubernetes.io/name": "argocd-application-controller"});
    controller("argocd", "argocd-application-controller", &labels, "argoproj.io")
}

#[test]
fn what_names_it_uses_it_and_what_does_not_is_left_out() {
    let told = argo(
        [
            application("web", &json!({"project": "team"})),
            application("other", &json!({"project": "default"})),
            application("says-so", &json!({"description": "team"})),
        ]
        .into_iter()
        .chain(argo_cd()),
    )
    .explain(&project());
    assert_eq!(told.waits[0].verdict, Verdict::InUse, "{told:#?}");
    assert_eq!(
        waits_for(&told),
        [(
            "web".to_owned(),
            "names it in spec.project, is not being deleted".to_owned()
        )]
    );

    // Without its controller they keep nothing: it is orphaned, and who sees less does not say that it is protected.
    let told = argo([application("web", &json!({"project": "team"}))]).explain(&project());
    assert_eq!(told.waits[0].verdict, Verdict::Orphaned, "{told:#?}");

    // Finding none proves nothing: others may refer to it in ways of their own.
    let told = argo(
        [application("other", &json!({"project": "default"}))]
            .into_iter()
            .chain(argo_cd()),
    )
    .explain(&project());
    assert_ne!(told.waits[0].verdict, Verdict::InUse, "{told:#?}");
    let told = argo([application("web", &json!({"project": "team"}))])
        .hiding("applications")
        .explain(&project());
    assert!(
        told.waits[0]
            .says
            .contains("which applications.argoproj.io that are is not known"),
        "{told:#?}"
    );
}

#[test]
fn many_are_summed_up() {
    let many = (0..9).map(|number| application(&format!("web-{number}"), &json!({"project": "team"})));
    let told = argo(many.chain(argo_cd())).explain(&project());
    let found = waits_for(&told);
    assert_eq!(found.len(), 6, "{found:#?}");
    assert_eq!(found[5].1, "4 more applications.argoproj.io");
    let looks = told
        .steps
        .iter()
        .filter(|step| step.text.starts_with("before you delete or move it"));
    assert_eq!(looks.count(), 3);
}
