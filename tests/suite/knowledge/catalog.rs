//! `catalog`: filters, output formats, and the answer for an empty result.

use super::{PV, PVC, catalog, json};
use crate::{harness::Plugin, schema};

#[test]
fn filters_select_entries() {
    let names = |words: &[&str]| -> Vec<String> {
        let output = catalog(&[words, &["-o", "name"]].concat()).success();
        output.lines().map(str::to_owned).collect()
    };
    let on_pv = names(&["--kinds", "pv"]);
    assert!(
        on_pv.contains(&PV.to_owned()) && !on_pv.contains(&PVC.to_owned()),
        "{on_pv:?}"
    );
    let both = names(&["--kinds", "pv,pvc"]);
    assert!(
        both.contains(&PV.to_owned()) && both.contains(&PVC.to_owned()),
        "{both:?}"
    );
    assert_eq!(names(&["kubernetes.io/pv-protection"]), [PV]);
    assert!(names(&["--project", "longhorn"]).contains(&"longhorn.io".to_owned()));
    let grave = names(&["--consequence", "data-loss"]);
    assert_eq!(grave, names(&["--consequence", "Data loss"]));
    assert!(grave.contains(&PVC.to_owned()), "{grave:?}");
    assert!(!grave.contains(&"foregroundDeletion".to_owned()), "{grave:?}");
    let narrow = names(&[
        "--kinds",
        "pvc",
        "--consequence",
        "data-loss",
        "--project",
        "kubernetes",
        "*pvc*",
    ]);
    assert_eq!(narrow, [PVC]);
}

#[test]
fn every_output_format_lists_the_entries() {
    let schema = schema::of(include_str!("../../../docs/catalog.schema.json"));
    let report = schema::checked(&schema, &catalog(&["-o", "json"]).success());
    assert_eq!(report["apiVersion"], "kubectl-finalizers/v2");
    assert_eq!(report["kind"], "Catalog");
    assert_eq!(
        report["entries"].as_array().unwrap().len() as u64,
        report["total"].as_u64().unwrap()
    );
    let yaml = catalog(&["-o", "yaml"]).success();
    let options = serde_saphyr::options! { budget: serde_saphyr::budget! { max_nodes: 1_000_000 } };
    let yaml: serde_json::Value = serde_saphyr::from_str_with_options(&yaml, options).unwrap();
    assert_eq!(yaml, report);
    let table = catalog(&["pvc-protection", "--no-headers"]).success();
    assert!(
        !table.contains("protects ") && !table.contains("known."),
        "{table}"
    );
    assert!(
        table.lines().all(|line| line.contains("pvc-protection")),
        "{table}"
    );
    let wide = catalog(&["kubernetes.io/pvc-protection", "-o", "wide"]).success();
    assert!(
        wide.contains("removed by") && wide.contains("pvc-protection-controller"),
        "{wide}"
    );
}

#[test]
fn an_empty_result_suggests_near_names() {
    for (words, near) in [
        (&["kubernetes.io/pvc-protecton"] as &[&str], PVC),
        (&["longhornn"], "Longhorn"),
        (&["--project", "lnghorn"], "Longhorn"),
        (&["--kinds", "persistentvolumeclaimss"], "persistentvolumeclaims"),
        (&["no such thing at all"], "kubectl finalizers catalog lists all"),
    ] {
        let output = catalog(words);
        assert_eq!((output.code, &*output.stdout), (0, ""), "{output}");
        assert!(
            output.stderr.starts_with("Nothing in the catalogue matches"),
            "{output}"
        );
        assert!(output.stderr.contains(near), "{output}");
    }
    let empty = json(catalog(&["no such thing at all", "-o", "json"]));
    assert_eq!(empty["entries"].as_array().unwrap().len(), 0);
    let wrong = catalog(&["--consequence", "bad"]);
    assert_eq!(wrong.code, 2, "{wrong}");
    assert!(wrong.stderr.contains("leaked-infrastructure"), "{wrong}");
}

#[test]
fn a_connection_flag_is_refused_because_no_cluster_is_asked() {
    let output = Plugin::new([
        "catalog",
        "longhorn",
        "-n",
        "x",
        "--context",
        "nope",
        "-o",
        "name",
    ])
    .run();
    assert_eq!(output.code, 2, "{output}");
    assert!(output.stderr.contains("this command asks no cluster"), "{output}");
}
