//! Pages that break the contract of the API.

use super::{
    PODS,
    fake::{Fault, Malformed},
    healthy, report,
};

/// Pages that are unusual but valid, with the number of Pods in each.
fn means(page: Malformed) -> Option<u64> {
    match page {
        // Servers send both.
        Malformed::ItemsNull | Malformed::ListMetadataNull => Some(0),
        // An object without a uid is computed, not stored; the valid object beside it counts.
        Malformed::NameMissing => Some(1),
        // The plugin does not read the field of the second Pod that is malformed.
        Malformed::FinalizersNull | Malformed::DeepNesting => Some(2),
        _ => None,
    }
}

#[test]
fn a_malformed_page_is_a_gap_and_the_items_before_the_fault_count() {
    for &page in Malformed::ALL {
        let server = healthy().on(PODS, Fault::Malformed(page)).start();
        let report = report(&server, &[]);
        assert_eq!(report.carrying("widget/keep"), 3, "{page:?}");
        // The namespace and the widgets; at most the valid object, and the unusual one where it is valid.
        let pods = report.objects() - 4;
        if let Some(count) = means(page) {
            assert_eq!(
                (pods, report.gaps().len(), report.code),
                (count, 0, 0),
                "{page:?}"
            );
            continue;
        }
        assert!(pods <= 1, "{page:?}: {pods} pods");
        let gap = report.gap("pods");
        assert_eq!(gap["reason"], "Undecodable", "{page:?}");
        assert_eq!(gap["objectsRead"].as_u64().unwrap_or(0), pods, "{page:?}");
        assert!(!gap["message"].as_str().unwrap().is_empty(), "{page:?}");
        assert_eq!(report.code, 5, "{page:?}");
    }
}

#[test]
fn a_malformed_page_in_the_middle_keeps_the_pages_before_it() {
    for &page in Malformed::ALL {
        let server = healthy().on(PODS, Fault::Malformed(page).page(2)).start();
        let read = report(&server, &[]).carrying("pod/keep");
        assert_eq!(read, 500, "{page:?}");
    }
}
