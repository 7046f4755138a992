//! Pages that break the contract of the API.

use super::{
    PODS,
    fake::{Fault, Malformed},
    healthy, report,
};

/// Pages that are odd, and mean something all the same: how many pods they hold.
fn means(page: Malformed) -> Option<u64> {
    match page {
        // Servers do write both.
        Malformed::ItemsNull | Malformed::ListMetadataNull => Some(0),
        // An object without a uid is computed, not stored; the good one beside it counts.
        Malformed::NameMissing => Some(1),
        // What is wrong with the second one is nothing that is read.
        Malformed::FinalizersNull | Malformed::DeepNesting => Some(2),
        _ => None,
    }
}

#[test]
fn a_malformed_page_is_a_gap_and_what_was_good_before_its_fault_counts() {
    for &page in Malformed::ALL {
        let server = healthy().on(PODS, Fault::Malformed(page)).start();
        let report = report(&server, &[]);
        assert_eq!(report.carrying("widget/keep"), 3, "{page:?}");
        // The namespace and the widgets; at most the good object, and the odd one where it is only odd.
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
