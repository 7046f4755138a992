//! Argo CD and Flux: projects, deployed objects, and ServiceAccounts that were deleted first.

use serde_json::{Value, json};

use crate::explain::{
    custom_resources::{apply, condition, define, going, running, status, status_by},
    holder::WORLD,
    less_is_weaker::withstands_less,
    told::{delete, goes, release, told},
};

const ARGO: &str = "resources-finalizer.argocd.argoproj.io";
const FLUX: &str = "finalizers.fluxcd.io";

fn application(name: &str, namespace: &str, project: &str) -> Value {
    json!({"apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
        "metadata": {"name": name, "namespace": namespace, "finalizers": [ARGO]},
        "spec": {"project": project, "source": {"repoURL": "https://git.example/apps.git", "path": name},
            "destination": {"server": "https://kubernetes.default.svc", "namespace": "shop"}}})
}

#[test]
fn argo_cd_waits_for_applications_projects_and_children() {
    let cluster = &*WORLD;
    define("argoproj.io", "v1alpha1", "applications", "Application");
    define("argoproj.io", "v1alpha1", "appprojects", "AppProject");
    running(
        "argocd",
        "argocd-application-controller",
        json!({"app.kubernetes.io/name": "argocd-application-controller", "app.kubernetes.io/part-of": "argocd",
            "app.kubernetes.io/component": "application-controller"}),
        "argoproj.io",
    );
    let ns = cluster.namespace("argocd");
    let place = ns.name();
    project_that_applications_name(place);
    application_whose_project_is_gone(place);
    application_with_a_child_that_stays(place);
}

fn project_that_applications_name(place: &str) {
    let cluster = &*WORLD;
    apply(&application("web", place, "shop"));
    apply(&application("other", place, "platform"));
    let target = going(
        "appprojects",
        &json!({"apiVersion": "argoproj.io/v1alpha1", "kind": "AppProject",
            "metadata": {"name": "shop", "namespace": place, "finalizers": [ARGO]},
            "spec": {"destinations": [{"server": "*", "namespace": "*"}], "sourceRepos": ["*"]}}),
        10,
    );
    let story = told(cluster, &target, place);
    assert_eq!(story.verdict(ARGO), "in-use", "{story}");
    story
        .has_root("Application web: names it in spec.project and is not being deleted")
        .says("Applications become invalid")
        .never_says("Application other")
        .never_advises("finalizers remove")
        .is_careful();
    withstands_less(cluster, &target, place, 25);
    let next = story.follow(cluster, "explain applications.argoproj.io/web");
    assert!(next.contains("web"), "{next}");
    // The other Application is healthy and no cause.
    delete(cluster, "applications.argoproj.io/web", place);
    release(cluster, "applications.argoproj.io/web", place);
    goes(cluster, "applications.argoproj.io/web", place);
    let story = told(cluster, &target, place);
    assert_eq!(story.verdict(ARGO), "waiting", "{story}");
    story.never_says("names it in");
    release(cluster, &target, place);
    goes(cluster, &target, place);
}

fn application_whose_project_is_gone(place: &str) {
    let cluster = &*WORLD;
    let target = going("applications", &application("lost", place, "gone"), 10);
    let said = "error getting app project: appproject.argoproj.io \"gone\" not found";
    status_by(
        "argocd-application-controller",
        &target,
        place,
        &json!({"conditions": [condition("DeletionError", "True", "", said)]}),
    );
    // Deployed objects keep running if the finalizer is removed by hand, so the project must be restored.
    let story = told(cluster, &target, place);
    assert_eq!(story.verdict(ARGO), "failing", "{story}");
    story
        .has_root("AppProject gone: does not exist")
        .says(said)
        .says("see what names AppProject gone")
        .never_advises("--cascade")
        .is_careful();
    withstands_less(cluster, &target, place, 32);
    apply(
        &json!({"apiVersion": "argoproj.io/v1alpha1", "kind": "AppProject", "metadata": {"name": "gone", "namespace": place}}),
    );
    told(cluster, &target, place).never_says("does not exist");
    release(cluster, &target, place);
    goes(cluster, &target, place);
}

fn application_with_a_child_that_stays(place: &str) {
    let cluster = &*WORLD;
    apply(&json!({"apiVersion": "v1", "kind": "Service",
        "metadata": {"name": "front", "namespace": place, "finalizers": ["example.test/hold"]}, "spec": {"ports": [{"port": 80}]}}));
    apply(
        &json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "back", "namespace": place}, "spec": {"ports": [{"port": 80}]}}),
    );
    delete(cluster, "service/front", place);
    let target = going("applications", &application("stuck", place, "platform"), 10);
    let resources: Vec<_> = ["front", "back", "not-made"]
        .map(|name| json!({"kind": "Service", "version": "v1", "namespace": place, "name": name}))
        .into();
    status(&target, place, &json!({"resources": resources}));
    let story = told(cluster, &target, place);
    assert_eq!(story.verdict(ARGO), "waiting", "{story}");
    story
        .says("was deployed by it, is being deleted, and is still there")
        .never_says("Service back")
        .never_says("not-made")
        .never_advises("finalizers remove")
        .is_careful();
    withstands_less(cluster, &target, place, 37);
    let next = story.follow(cluster, "explain services/front");
    assert!(next.contains("example.test/hold"), "{next}");
    release(cluster, "service/front", place);
    goes(cluster, "service/front", place);
    told(cluster, &target, place).never_says("was deployed by it");
    release(cluster, &target, place);
    goes(cluster, &target, place);
}

#[test]
fn flux_names_the_service_account_that_was_deleted_first() {
    let cluster = &*WORLD;
    define("helm.toolkit.fluxcd.io", "v2", "helmreleases", "HelmRelease");
    running(
        "flux-system",
        "helm-controller",
        json!({"app": "helm-controller"}),
        "helm.toolkit.fluxcd.io",
    );
    let ns = cluster.namespace("apps");
    let place = ns.name();
    let target = going(
        "helmreleases",
        &json!({"apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease",
            "metadata": {"name": "podinfo", "namespace": place, "finalizers": [FLUX]},
            "spec": {"interval": "10m", "serviceAccountName": "deployer",
                "chart": {"spec": {"chart": "podinfo", "sourceRef": {"kind": "HelmRepository", "name": "podinfo"}}}}}),
        10,
    );
    let said = "failed to delete release: serviceaccounts \"deployer\" not found";
    status_by(
        "helm-controller",
        &target,
        place,
        &json!({"conditions": [condition("Ready", "False", "UninstallFailed", said)]}),
    );
    let story = told(cluster, &target, place);
    assert_eq!(story.verdict(FLUX), "failing", "{story}");
    story
        .has_root("ServiceAccount deployer: does not exist; spec.serviceAccountName names it")
        .says("see what names ServiceAccount deployer")
        .says("orphaned-objects")
        .is_careful();
    withstands_less(cluster, &target, place, 31);
    let name = story.follow(cluster, "jsonpath='{.spec.serviceAccountName}'");
    assert_eq!(name, "deployer");
    ns.kubectl(["create", "serviceaccount", "deployer"]).success();
    told(cluster, &target, place).never_says("does not exist");

    // A suspended object is removed and its objects stay. A resumed one would uninstall them.
    let suspend = r#"{"spec":{"suspend":true},"status":null}"#;
    ns.kubectl(["patch", &target, "--type=merge", "--patch", suspend])
        .success();
    let story = told(cluster, &target, place);
    assert_eq!(story.verdict(FLUX), "waiting", "{story}");
    story
        .says("lets go without deleting anything")
        .says("resume it (spec.suspend")
        .never_says("left alone")
        .never_advises("\"suspend\":false")
        .is_careful();
    release(cluster, &target, place);
    goes(cluster, &target, place);
}
