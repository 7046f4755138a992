//! The pages of `-o html` in a real Chromium: they sort, filter, open and print, and nothing leaves them. Plain `cargo test`
//! leaves this out, because it needs the programs `chromium` and `chromedriver` (Debian: chromium, chromium-driver) and npm:
//!
//! `cargo test --test browser`

// A test may panic, and its helpers are no public API.
#![allow(clippy::unwrap_used, missing_docs, unreachable_pub)]

mod axe;
mod driver;
mod page;

use std::{collections::BTreeSet, fs};

use serde_json::{Value, json};
use tempfile::TempDir;

use page::Page;

const RECORDED: &str = "examples/stuck-cluster.snapshot";
/// Two keys in the numbers of WebDriver.
const ENTER: &str = "\u{e007}";
const TAB: &str = "\u{e004}";

fn scan() -> Page {
    Page::of(&["scan", "-o", "html", "--from", RECORDED])
}

#[test]
fn columns_sort_with_the_keyboard() {
    let page = scan();
    let first = "return document.querySelector('table.objects tbody tr td').textContent";
    let sorted = "return document.querySelector('table.objects th').getAttribute('aria-sort')";
    page.run("document.querySelector('table.objects th button').focus()");
    page.press(ENTER);
    assert_eq!(page.run(sorted), "ascending");
    assert_eq!(page.run(first), "challenges.acme.cert-manager.io/api-cert -n pay");
    page.press(ENTER);
    assert_eq!(page.run(sorted), "descending");
    assert_eq!(page.run(first), "volumes.longhorn.io/pvc-18e2 -n longhorn-system");
    // The next column has ages, which are sorted as times; the first is no longer the sorted one.
    page.press(TAB);
    page.press(ENTER);
    assert_eq!(page.run(sorted), "none");
    let ages = page.run(
        "return [...document.querySelectorAll('table.objects tbody tr')].map(row => Number(row.cells[1].dataset.sort))",
    );
    let ages: Vec<i64> = serde_json::from_value(ages).unwrap();
    assert!(ages.is_sorted() && ages.len() == 11, "{ages:?}");
}

#[test]
fn the_filter_hides_rows_and_says_how_many_are_left() {
    let page = scan();
    let shown = "return [...document.querySelectorAll('table.objects tbody tr')].filter(row => row.checkVisibility()).length";
    assert_eq!(page.run(shown), 11);
    page.run("document.getElementById('filter').focus()");
    page.press("PVC/ use");
    assert_eq!(page.run(shown), 2);
    assert_eq!(
        page.run("return document.getElementById('shown').textContent"),
        "2 of 11 shown"
    );
}

#[test]
fn details_open_with_the_keyboard_and_when_printed() {
    let page = Page::of(&[
        "explain",
        "pvc/data-0",
        "-n",
        "db",
        "-o",
        "html",
        "--from",
        RECORDED,
    ]);
    let closed = "return document.querySelectorAll('details:not([open])').length";
    let evidence = "document.querySelector('article > details > summary')";
    assert_eq!(page.run(closed), 1);
    page.run(&format!("{evidence}.focus()"));
    page.press(ENTER);
    assert_eq!(page.run(closed), 0);
    page.press(ENTER);
    assert_eq!(page.run(closed), 1);
    page.run("dispatchEvent(new Event('beforeprint'))");
    assert_eq!(page.run(closed), 0);
}

#[test]
fn light_dark_and_print_have_colours_of_their_own() {
    let page = scan();
    let colours = |features: Value| {
        page.emulate(&features);
        page.run(
            "const body = getComputedStyle(document.body); return body.color + ' ' + body.backgroundColor",
        )
    };
    let scheme = |value: &str| json!({"features": [{"name": "prefers-color-scheme", "value": value}]});
    assert_eq!(colours(scheme("light")), "rgb(27, 31, 36) rgb(255, 255, 255)");
    assert_eq!(colours(scheme("dark")), "rgb(230, 237, 243) rgb(13, 17, 23)");
    assert_eq!(
        colours(json!({"media": "print"})),
        "rgb(0, 0, 0) rgb(255, 255, 255)"
    );
    let filter = "return document.querySelector('.filter').checkVisibility()";
    assert_eq!(page.run(filter), false);
}

/// A thousand stuck objects of one type, with names that are as long as Kubernetes lets them be.
fn many() -> (TempDir, Page) {
    let object = |number: usize| {
        let name = format!("{number:03}-{}", "long".repeat(60));
        json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {
            "name": name, "namespace": "db", "uid": number.to_string(), "finalizers": ["example.com/keep"],
            "creationTimestamp": "2026-01-01T00:00:00Z", "deletionTimestamp": "2026-01-02T00:00:00Z"}})
    };
    let objects: Vec<_> = (0..1000).map(object).collect();
    let list = json!({"apiVersion": "v1", "kind": "List", "items": objects});
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("many.json");
    fs::write(&file, list.to_string()).unwrap();
    let page = Page::of(&["scan", "-o", "html", "--from", file.to_str().unwrap()]);
    (folder, page)
}

#[test]
fn a_thousand_objects_fit_a_phone_and_a_verdict_stays_one_word() {
    let (_folder, page) = many();
    assert_eq!(
        page.run("return document.querySelectorAll('table.objects tbody tr').length"),
        1000
    );
    let card = page.run("return document.querySelector('article').textContent");
    assert!(
        card.as_str().unwrap().contains("Finalizers: example.com/keep"),
        "{card}"
    );
    let fits = "return document.documentElement.scrollWidth <= document.documentElement.clientWidth";
    let lines = "const cell = document.querySelector('table.objects tbody td:nth-child(3)'); \
                 const range = document.createRange(); range.selectNodeContents(cell); \
                 return range.getClientRects().length";
    for width in [1280, 768, 360] {
        page.resize(width);
        assert_eq!(page.run(fits), true, "{width}");
        assert_eq!(page.run(lines), 1, "{width}");
    }
    page.emulate(&json!({"media": "print"}));
    assert_eq!(page.run(lines), 1);
}

#[test]
fn no_request_leaves_the_page() {
    for words in [&["scan"][..], &["explain", "pvc/data-0", "ns/pay", "-n", "db"]] {
        let all = words.iter().copied().chain(["-o", "html", "--from", RECORDED]);
        let page = Page::of(&all.collect::<Vec<_>>());
        assert_eq!(page.requests(), page.alone());
        // Not even one that somebody brings into it.
        page.run(
            "window.refused = []; \
             document.addEventListener('securitypolicyviolation', event => refused.push(event.violatedDirective)); \
             document.body.append(Object.assign(new Image(), {src: 'http://127.0.0.1:9/x.png'})); \
             document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.evil = true'}))",
        );
        let refused = page.run("return new Promise(done => setTimeout(() => done(refused.sort()), 200))");
        assert_eq!(refused, json!(["img-src", "script-src-elem"]));
        assert_eq!(page.run("return window.evil === undefined"), true);
        assert_eq!(page.requests(), BTreeSet::new());
    }
}

#[test]
fn hostile_names_are_text_in_the_page() {
    let name = "a\"'></title></script></code><img src=x onerror='window.evil=true'><script>window.evil=true</script>";
    let folder = tempfile::TempDir::new().unwrap();
    let file = folder.path().join("hostile.json");
    let object = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": name,
            "namespace": "db",
            "deletionTimestamp": "2026-01-01T00:00:00Z",
            "deletionGracePeriodSeconds": 0,
            "finalizers": [format!("example.com/{name}")],
        },
    });
    fs::write(&file, object.to_string()).unwrap();
    let page = Page::of(&["scan", "-o", "html", "--from", file.to_str().unwrap()]);
    assert_eq!(page.run("return window.evil === undefined"), true);
    assert_eq!(
        page.run("return document.images.length + document.scripts.length"),
        1
    );
    let cell = page.run("return document.querySelector('table.objects td').textContent");
    assert!(cell.as_str().unwrap().contains("<img src=x"), "{cell}");
    assert_eq!(page.requests(), page.alone());
}

#[test]
fn the_browser_complains_about_nothing() {
    let page = scan();
    assert_eq!(page.complaints(), Vec::<Value>::new());
    assert_eq!(page.run("return document.compatMode"), "CSS1Compat");
}

#[test]
fn axe_finds_no_serious_fault_in_accessibility() {
    for scheme in ["light", "dark"] {
        for words in [&["scan"][..], &["explain", "pvc/data-0", "ns/pay", "-n", "db"]] {
            let all = words.iter().copied().chain(["-o", "html", "--from", RECORDED]);
            let page = Page::of(&all.collect::<Vec<_>>());
            page.emulate(&json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]}));
            page.run("document.querySelectorAll('details').forEach(one => one.open = true)");
            let checked = axe::check(&page);
            assert!(checked.passed > 10, "{words:?}");
            assert_eq!(checked.faults, Vec::<String>::new(), "{words:?}, {scheme}");
        }
    }
}
