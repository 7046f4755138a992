//! The width, colours and characters of a terminal.

use unicode_width::UnicodeWidthStr;

use super::{held, troubled::troubled};
use crate::harness::{Cluster, End, Plugin};

/// A recorded cluster, for what needs no server.
const RECORDED: &str = "examples/stuck-cluster.snapshot";

/// The lines on a terminal, without colours.
pub(super) fn screen(text: &str) -> Vec<String> {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("\u{1b}[") {
        plain.push_str(&rest[..at]);
        let end = rest[at..]
            .find(|c: char| c.is_ascii_alphabetic())
            .expect("a whole sequence");
        rest = &rest[at + end + 1..];
    }
    plain.push_str(rest);
    plain
        .lines()
        .map(|line| line.trim_end_matches('\r').to_owned())
        .collect()
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let cluster = troubled();
    for columns in [40, 80, 120] {
        for words in [
            &["scan"][..],
            &["scan", "--all"],
            &["scan", "-n", "db"],
            &["scan", "gadgets"],
        ] {
            let out = cluster
                .plugin(words.iter().copied())
                .stdout_to(End::Terminal(columns))
                .run()
                .success();
            for line in screen(&out) {
                // A single word is not broken, so that it can be copied. The terminal wraps it.
                let breakable = line.trim_end_matches(" \\").trim_start().contains(' ');
                assert!(
                    line.width() <= usize::from(columns) || !breakable,
                    "{} columns on {columns}: {line:?}\n{out}",
                    line.width()
                );
            }
        }
    }
}

#[test]
fn narrow_terminals_have_more_lines_and_the_same_names() {
    let cluster = troubled();
    let on = |columns| {
        let out = cluster
            .plugin(["scan", "--terminating"])
            .stdout_to(End::Terminal(columns))
            .run()
            .success();
        screen(&out).join("\n")
    };
    let (narrow, usual) = (on(40), on(120));
    assert!(narrow.lines().count() > usual.lines().count(), "{narrow}");
    for object in [
        "pvc/data-0 -n db",
        "challenges.acme.cert-manager.io/api-cert",
        "ns/pay",
        "pod/web-1 -n web",
    ] {
        assert!(
            narrow.contains(object) && usual.contains(object),
            "{object}:\n{narrow}\n{usual}"
        );
    }
}

#[test]
fn wide_output_is_never_truncated() {
    let cluster = troubled();
    let out = cluster
        .plugin(["scan", "-o", "wide"])
        .stdout_to(End::Terminal(40))
        .run()
        .success();
    assert!(
        out.contains(": waits for node/node-3: not ready (Unknown, NodeStatusUnknown)"),
        "{out}"
    );
    assert!(out.contains("deletion requested 20"), "{out}");
}

#[test]
fn colours_are_only_for_terminals_that_want_them() {
    let cluster = troubled();
    let scan = || cluster.plugin(["scan"]);
    let coloured = |text: &str| text.contains('\u{1b}');
    let terminal = End::Terminal(80);
    assert!(coloured(
        &scan().env("TERM", "xterm").stdout_to(terminal).run().success()
    ));
    assert!(!coloured(&scan().env("TERM", "xterm").run().success()));
    assert!(!coloured(
        &scan().env("TERM", "dumb").stdout_to(terminal).run().success()
    ));
    assert!(!coloured(
        &scan()
            .env("TERM", "xterm")
            .env("NO_COLOR", "1")
            .stdout_to(terminal)
            .run()
            .success()
    ));
    // By convention, an empty variable counts as unset.
    assert!(coloured(
        &scan()
            .env("TERM", "xterm")
            .env("NO_COLOR", "")
            .stdout_to(terminal)
            .run()
            .success()
    ));
    // JSON and YAML never have colours.
    for form in ["json", "yaml", "name"] {
        let out = cluster
            .plugin(["scan", "-o", form, "--color", "always"])
            .stdout_to(terminal)
            .run()
            .success();
        assert!(!coloured(&out), "{form}: {out}");
    }
}

#[test]
fn the_flag_decides_on_colours_before_the_environment() {
    let coloured = |color: &str, variables: &[(&str, &str)], end: End| {
        let mut scan = Plugin::new(["scan", "--from", RECORDED, "--color", color]).stdout_to(end);
        for (name, value) in variables {
            scan = scan.env(name, *value);
        }
        scan.run().success().contains('\u{1b}')
    };
    let terminal = End::Terminal(80);
    assert!(coloured(
        "always",
        &[("NO_COLOR", "1"), ("TERM", "dumb")],
        End::Pipe
    ));
    assert!(!coloured(
        "never",
        &[("CLICOLOR_FORCE", "1"), ("TERM", "xterm")],
        terminal
    ));
    assert!(coloured("auto", &[("CLICOLOR_FORCE", "1")], End::Pipe));
    assert!(!coloured(
        "auto",
        &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")],
        terminal
    ));
    assert!(!coloured("auto", &[("TERM", "xterm")], End::Pipe));
}

#[test]
fn a_pipe_has_100_columns_unless_columns_says_otherwise() {
    let widest = |columns: Option<&str>| {
        let mut catalog = Plugin::new(["catalog"]);
        if let Some(columns) = columns {
            catalog = catalog.env("COLUMNS", columns);
        }
        let out = catalog.run().success();
        out.lines().map(UnicodeWidthStr::width).max().unwrap()
    };
    assert_eq!(widest(None), 100);
    assert_eq!(widest(Some("140")), 140);
    // The longest name alone is wider than this, and names are not cut.
    assert!(widest(Some("60")) < 100);
}

#[test]
fn a_dumb_terminal_gets_ascii() {
    let explain = |term: &str| {
        Plugin::new(["explain", "pvc/data-0", "-n", "db", "--from", RECORDED])
            .env("TERM", term)
            .stdout_to(End::Terminal(80))
            .run()
            .success()
    };
    assert!(explain("dumb").is_ascii(), "{}", explain("dumb"));
    assert!(!explain("xterm").is_ascii(), "{}", explain("xterm"));
}

#[test]
fn a_locale_without_utf8_gets_ascii() {
    let cluster = troubled();
    let scan = |locale: &str| {
        cluster
            .plugin(["scan", "-n", "db"])
            .env("LC_ALL", locale)
            .stdout_to(End::Terminal(20))
            .run()
            .success()
    };
    let (ascii, unicode) = (scan("C"), scan("C.UTF-8"));
    assert!(ascii.is_ascii(), "{ascii}");
    assert!(ascii.contains("..."), "something is cut at this width: {ascii}");
    assert!(unicode.contains('…'), "{unicode}");
}

#[test]
fn a_closed_pipe_is_no_error() {
    let cluster = troubled();
    for form in ["table", "wide", "json", "yaml", "name"] {
        let out = cluster
            .plugin(["scan", "--all", "-o", form])
            .stdout_to(End::Closed)
            .run();
        assert_eq!(out.code, 0, "{form}: {out}");
        // It may still report what was not read, but not the pipe.
        assert!(
            !out.stderr.contains("error") && !out.stderr.contains("pipe"),
            "{form}: {out}"
        );
    }
}

#[test]
fn a_quick_scan_prints_nothing_on_stderr() {
    let cluster = Cluster::shared();
    let ns = cluster.namespace("quiet");
    held(&ns, "kept", "example.com/hold");
    let out = cluster
        .plugin(["scan", "-n", ns.name()])
        .stdout_to(End::Terminal(80))
        .run();
    assert!(out.stderr.is_empty(), "{out}");
}

#[test]
fn commands_are_for_the_shell_that_the_flag_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let recorded = folder.path().join("it's.snapshot");
    std::fs::copy(RECORDED, &recorded).expect("a copy");
    let scan = |shell: &str| {
        let path = recorded.to_str().expect("UTF-8");
        Plugin::new(["scan", "--from", path, "--shell", shell])
            .env("COLUMNS", "60")
            .run()
            .success()
    };
    let (posix, powershell) = (scan("posix"), scan("powershell"));
    assert!(posix.contains(r"it'\''s.snapshot'"), "{posix}");
    assert!(posix.contains(" \\\n"), "{posix}");
    let expected = posix.replace(r"it'\''s", "it''s").replace(" \\\n", " `\n");
    assert_eq!(powershell, expected);
}
