//! The page: all text is text, nothing is fetched, and a thousand objects fit into it.

use super::reports::{HOSTILE, changed_scan_of, explanation, many, scan_of};
use crate::{
    output::picture::html::{write_explanations, write_scan},
    report::{ExplainReport, ScanReport},
};

/// Bytes of a page about a thousand objects.
const LIMIT: usize = 300_000;

pub(super) fn scanned(report: &ScanReport) -> String {
    let mut out = Vec::new();
    write_scan(report, false, &mut out).expect("written");
    String::from_utf8(out).expect("UTF-8")
}

fn explained(reports: &[ExplainReport]) -> String {
    let mut out = Vec::new();
    write_explanations(reports, &mut out).expect("written");
    String::from_utf8(out).expect("UTF-8")
}

/// All pages about objects of this name.
fn pages(name: &str) -> [String; 4] {
    [
        scanned(&scan_of(name)),
        scanned(&changed_scan_of(name)),
        explained(&[explanation(name)]),
        explained(&[explanation(name), explanation(name)]),
    ]
}

/// What is neither style nor script.
fn content(page: &str) -> String {
    let (head, rest) = page.split_once("<style>").expect("a style");
    let (_, rest) = rest.split_once("</style>").expect("its end");
    let (body, rest) = rest.split_once("<script>").expect("a script");
    let (_, end) = rest.split_once("</script>").expect("its end");
    format!("{head}{body}{end}")
}

/// The tags with their attributes. A command that is withheld is a paragraph.
fn tags(page: &str) -> Vec<String> {
    let tags = page
        .split('<')
        .skip(1)
        .map(|tag| tag.split('>').next().unwrap_or_default());
    tags.map(|tag| tag.replace("pre", "p")).collect()
}

#[test]
fn hostile_names_stay_text() {
    let plain: Vec<_> = pages("plain").iter().map(|page| tags(page)).collect();
    for name in HOSTILE {
        let pages = pages(name);
        for page in &pages {
            let content = content(page);
            for raw in [
                "</script>",
                "<img",
                "<!--",
                "\u{202e}",
                "\u{1b}",
                "&quot; x",
                "' on",
                "&#34;",
            ] {
                assert!(
                    !content.contains(raw) || !name.contains(raw),
                    "{raw:?} of {name:?}"
                );
            }
            let is_unseen = |c: char| c != '\n' && crate::characters::is_unseen(c);
            assert!(!content.contains(is_unseen), "{name:?}");
        }
        for (page, plain) in pages.iter().zip(&plain) {
            let tags = tags(page);
            let other = tags.iter().zip(plain).position(|(one, other)| one != other);
            assert_eq!(other.map(|at| tags.get(at..)), None, "{name:?}");
            assert_eq!(tags.len(), plain.len(), "{name:?}");
        }
    }
}

#[test]
fn nothing_is_fetched_and_no_other_script_runs() {
    for page in pages("plain") {
        assert!(page.contains("default-src 'none'; style-src 'sha256-"), "{page}");
        assert!(!page.contains("unsafe-inline"), "{page}");
        for tag in tags(&page) {
            for asks in ["src=", "<link", "@import", "url(", "style=", " on"] {
                let is_policy = tag.starts_with("meta http-equiv=Content-Security-Policy");
                assert!(is_policy || !tag.contains(asks), "{tag}");
            }
        }
        assert_eq!(page.matches("<script").count(), 1);
        assert_eq!(page.matches("<style").count(), 1);
    }
}

#[test]
fn tags_are_closed_in_order() {
    // Those that HTML closes itself.
    const OPEN: [&str; 5] = ["meta", "input", "!DOCTYPE", "tr", "td"];
    for page in pages("plain") {
        let mut open = Vec::new();
        for tag in tags(&content(&page)) {
            let name = tag.split_whitespace().next().unwrap_or_default().to_owned();
            match name.strip_prefix('/') {
                Some("tr") => {}
                Some(closed) => assert_eq!(open.pop().as_deref(), Some(closed), "{tag}"),
                None if OPEN.contains(&&*name) => {}
                None => open.push(name),
            }
        }
        assert!(open.is_empty(), "{open:?}");
    }
}

#[test]
fn the_page_says_what_the_terminal_says() {
    let page = scanned(&crate::output::scan::tests::causes());
    for says in [
        "4 objects stuck, 4 causes, worst first.",
        "1. <strong class=fault>NOT READY</strong>",
        "<strong class=fine>No fault:</strong> <code>pod/db-0 -n db</code> uses <code>pvc/data-0</code>: Running on node-7.",
        "No controller is known. Removal by hand costs: <strong class=fault>data-loss</strong>.",
        "<pre>kubectl finalizers explain node/node-3 --from stuck.snapshot</pre>",
        "kubectl-finalizers v",
        "As of <time>1970-01-01 00:00 UTC</time>",
        "aria-sort=none",
    ] {
        assert!(page.contains(says), "{says} in\n{page}");
    }
    let page = explained(&[explanation("data-0")]);
    for says in [
        "<strong class=fault>FAILING</strong> <code>pvc/data-0 -n db</code>, Terminating for 120m",
        "<strong class=fault>root cause</strong>",
        "<h3 class=caution>NOT READ (could change the answer):</h3>",
        "<summary>Evidence: 1</summary>",
        "Do not data-0.",
    ] {
        assert!(page.contains(says), "{says} in\n{page}");
    }
}

#[test]
fn a_thousand_objects_fit_into_a_page() {
    for causes in [1, 50, 1000] {
        let page = scanned(&many(1000, causes));
        assert!(page.len() < LIMIT, "{causes} causes: {} bytes", page.len());
        assert_eq!(page.matches("<tr><td>").count(), 1000);
    }
}

#[test]
fn gaps_and_an_interruption_are_shown_above_the_causes() {
    let mut report = scan_of("plain");
    report.interrupted = true;
    let page = scanned(&report);
    let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text} in\n{page}"));
    assert!(at("STOPPED before the end") < at("NOT READ (may hide stuck objects):"));
    assert!(at("NOT READ (may hide stuck objects):") < at("<h2>Causes</h2>"));
}
