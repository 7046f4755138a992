//! Without room for a copy or a receipt, nothing is sent.

use super::{Case, HOLD};
use crate::harness::Cluster;

#[test]
fn without_a_place_for_the_copy_nothing_is_sent() {
    let case = Case::held(Cluster::shared(), "no-copy", &[HOLD]);
    let digest = case.digest();
    // A path that is no directory, a path that even root cannot write to, and a full disk.
    for folder in ["/dev/null/x", "/proc/x", "/dev/full/x"] {
        let folder = format!("--backup-dir={folder}");
        let out = case.remove(&["--confirm", &digest, &folder]).run();
        assert_eq!(out.code, 1, "{out}");
        super::says(&out, "cannot write");
    }
    assert_eq!(case.finalizers().unwrap(), [HOLD]);
    assert!(case.writes().is_empty());
    assert_eq!(case.noted(), ["failed", "failed", "failed"]);
}

#[test]
fn without_room_for_the_receipt_nothing_is_sent() {
    let case = Case::held(Cluster::shared(), "no-receipt", &[HOLD]);
    let digest = case.digest();
    for file in ["/dev/full", "/proc/x", "/dev/null/x"] {
        let file = format!("--audit-file={file}");
        let out = case.remove(&["--confirm", &digest, &file]).run();
        assert_eq!(out.code, 1, "{out}");
        super::says(&out, "there would be no receipt");
    }
    assert_eq!(case.finalizers().unwrap(), [HOLD]);
    assert!(case.writes().is_empty());
}

#[test]
fn a_full_disk_stops_everything_before_the_request() {
    let case = Case::held(Cluster::shared(), "full-disk", &[HOLD]);
    let note = format!("note={}", "x".repeat(1000));
    case.ns
        .kubectl(["annotate", "configmap", "held", &note])
        .success();
    let digest = case.digest();
    // No byte of the copy fits, and some bytes of it fit.
    for blocks in [0, 1] {
        let out = case.remove(&["--confirm", &digest]).with_room(blocks).run();
        assert_eq!(out.code, 1, "{out}");
        super::says(&out, "cannot write");
        super::says(&out, "File too large");
        assert_eq!(case.copies(), Vec::<std::path::PathBuf>::new(), "no partial file");
    }
    // The copy fits, and the line of the receipt is cut, because it is longer.
    let receipts = case.place.path().join("receipts.jsonl");
    let earlier = "{}\n".repeat(1300);
    std::fs::write(&receipts, &earlier).unwrap();
    let out = case.remove(&["--confirm", &digest]).with_room(8).run();
    assert_eq!(out.code, 1, "{out}");
    super::says(&out, "there would be no receipt");
    assert_eq!(case.copies().len(), 1);
    assert!(std::fs::read_to_string(receipts).unwrap().starts_with(&earlier));
    assert_eq!(case.finalizers().unwrap(), [HOLD]);
    assert!(case.writes().is_empty(), "{:#?}", case.writes());
}

#[test]
fn a_truncated_receipt_does_not_spoil_the_next() {
    let case = Case::held(Cluster::shared(), "torn", &[HOLD]);
    let file = case.place.path().join("receipts.jsonl");
    std::fs::write(&file, "{\"what\":\"send").unwrap();
    let out = case.confirmed();
    assert_eq!(out.code, 0, "{out}");
    let text = std::fs::read_to_string(file).unwrap();
    let read = text
        .lines()
        .skip(1)
        .map(serde_json::from_str::<serde_json::Value>);
    assert_eq!(read.flatten().count(), 2, "{text}");
}

#[test]
fn without_a_home_the_places_must_be_named() {
    let case = Case::held(Cluster::shared(), "homeless", &[HOLD]);
    let out = case
        .cluster
        .plugin([
            "remove",
            "configmap/held",
            "--finalizer",
            HOLD,
            "--namespace",
            case.ns.name(),
        ])
        .env("HOME", "")
        .run();
    assert_eq!(out.code, 2, "{out}");
    super::says(&out, "--backup-dir DIR --audit-file FILE");
}
