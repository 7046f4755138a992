//! The man pages in `docs/man/`, one a command. They come from the commands themselves, as the help does. After a change
//! to the help:
//!
//! `cargo test --test suite -- --ignored write_what_is_generated`

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::Command as Process,
};

use clap::{Args as _, Command};
use kubectl_finalizers::cli::{self, SharedArgs};
use testkit::clap_mangen::{
    Man,
    roff::{Roff, roman},
};

use crate::harness::installed;

const AGAIN: &str = "write it anew: cargo test --test suite -- --ignored write_what_is_generated";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/man")
}

/// The commands with the names of their pages: `kubectl-finalizers`, then one a verb.
fn commands() -> Vec<Command> {
    let mut all = cli::command()
        .display_name("kubectl-finalizers")
        .disable_help_subcommand(true);
    all.build();
    let verbs = all.get_subcommands().filter(|verb| !verb.is_hide_set());
    let verbs: Vec<_> = verbs.cloned().collect();
    let shown = |command: Command| {
        // These two pages list the flags that all commands accept, which the help of the others hides.
        let shared = ["kubectl finalizers", "options"].contains(&command.get_name());
        command.mut_args(|arg| {
            let arg = if shared { arg.hide(false) } else { arg };
            // The page has flags that only the short help leaves out.
            match arg.get_long_help().or(arg.get_help()).cloned() {
                Some(help) => arg.long_help(help),
                None => arg,
            }
        })
    };
    [vec![all], verbs].concat().into_iter().map(shown).collect()
}

fn name(command: &Command) -> String {
    command.get_display_name().unwrap().to_owned()
}

/// Every page with its text.
fn pages() -> BTreeMap<PathBuf, String> {
    let page = |command: &Command| (folder().join(format!("{}.1", name(command))), page(command));
    commands().iter().map(page).collect()
}

/// A page has no date: it would change without a change of the text.
fn page(command: &Command) -> String {
    let mut text = Roff::default().render();
    let (name, version) = (name(command), env!("CARGO_PKG_VERSION"));
    let _ = writeln!(
        text,
        r#".TH {name} 1 "" "kubectl-finalizers {version}" "kubectl finalizers""#
    );
    let man = Man::new(command.clone());
    let mut section = |write: &dyn Fn(&mut Vec<u8>) -> std::io::Result<()>| {
        let mut bytes = Vec::new();
        write(&mut bytes).unwrap();
        // Each section begins with the same two lines, which one page needs once.
        let rest = String::from_utf8(bytes).unwrap();
        text += rest.strip_prefix(&Roff::default().render()).unwrap();
    };
    section(&|out| man.render_name_section(out));
    section(&|out| man.render_synopsis_section(out));
    section(&|out| man.render_description_section(out));
    section(&|out| man.render_options_section(out));
    if command.has_subcommands() {
        section(&|out| man.render_subcommands_section(out));
    }
    section(&|out| examples(command).to_writer(out));
    section(&|out| see_also(command).to_writer(out));
    text.lines()
        .map(str::trim_end)
        .flat_map(|line| [line, "\n"])
        .collect()
}

fn examples(command: &Command) -> Roff {
    let help = command.get_before_help().unwrap().to_string();
    let lines = help.strip_prefix("Examples:\n").unwrap().lines();
    let mut roff = Roff::new();
    roff.control("SH", ["EXAMPLES"]).control("nf", []);
    for line in lines {
        roff.text([roman(line.strip_prefix("  ").unwrap())]);
    }
    roff.control("fi", []);
    roff
}

fn see_also(command: &Command) -> Roff {
    let more = if command.has_subcommands() {
        "kubectl(1)"
    } else if command.get_name() == "options" {
        "kubectl-finalizers(1)"
    } else {
        "kubectl-finalizers(1), kubectl-finalizers-options(1)"
    };
    let mut roff = Roff::new();
    roff.control("SH", ["SEE ALSO"])
        .text([roman(more)])
        .control("PP", [])
        .text([roman(concat!(env!("CARGO_PKG_REPOSITORY"), "/tree/main/docs"))]);
    roff
}

#[test]
fn the_man_pages_are_up_to_date() {
    let pages = pages();
    let found: BTreeSet<_> = fs::read_dir(folder())
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    assert!(found.iter().eq(pages.keys()), "{AGAIN}");
    for (path, text) in &pages {
        assert!(
            fs::read_to_string(path).unwrap() == *text,
            "{} is stale; {AGAIN}",
            path.display()
        );
    }
}

#[test]
#[ignore = "writes files"]
fn write_what_is_generated() {
    fs::create_dir_all(folder()).unwrap();
    for file in fs::read_dir(folder()).unwrap() {
        fs::remove_file(file.unwrap().path()).unwrap();
    }
    for (path, text) in pages() {
        fs::write(path, text).unwrap();
    }
}

#[test]
fn each_man_page_has_every_flag_and_example_of_its_help() {
    for command in commands() {
        let shown = page(&command).replace(r"\-", "-").replace(r"\\", r"\");
        let flags = command.get_arguments().filter(|arg| !arg.is_hide_set());
        // The text of --help itself differs: it tells how -h differs.
        for flag in flags.filter(|flag| flag.get_long().is_some_and(|name| name != "help")) {
            let name = flag.get_long().unwrap();
            assert!(shown.contains(&format!(r"--{name}\fR")), "{name}:\n{shown}");
            let help = flag.get_help().unwrap_or_else(|| panic!("{name} has no help"));
            let help = help.to_string().replace('\'', r"\*(Aq");
            assert!(shown.contains(help.lines().next().unwrap()), "{help}:\n{shown}");
        }
        let help = command.get_before_help().unwrap().to_string();
        for line in help.lines().skip(1) {
            let line = line.trim_start().replace('\'', r"\*(Aq");
            assert!(shown.contains(&line), "{line}:\n{shown}");
        }
    }
    let options = commands().pop().unwrap();
    let shared = SharedArgs::augment_args(Command::new("options"));
    for flag in shared.get_arguments().filter_map(clap::Arg::get_long) {
        assert!(
            page(&options).replace(r"\-", "-").contains(&format!("--{flag}")),
            "{flag}"
        );
    }
}

/// This needs no groff, so every machine finds a mistake.
#[test]
fn each_man_page_has_only_requests_and_escapes_that_man_knows() {
    for (path, text) in pages() {
        let at = path.display();
        assert!(text.is_ascii(), "{at}: a character that an old man shows wrongly");
        let mut open = Vec::new();
        let mut sections = Vec::new();
        for line in text.lines() {
            let request = line.strip_prefix('.').map(|rest| rest.split(' ').next().unwrap());
            match request {
                Some("nf" | "RS") => open.push(request.unwrap()),
                Some("fi") => assert_eq!(open.pop(), Some("nf"), "{at}"),
                Some("RE") => assert_eq!(open.pop(), Some("RS"), "{at}"),
                Some("SH") => sections.push(line[4..].trim_matches('"')),
                Some("TH" | "TP" | "PP" | "IP" | "br" | "ie" | "el") => {}
                Some(other) => panic!("{at}: .{other} is no request of man: {line}"),
                None => assert!(!line.starts_with('\''), "{at}: {line} would be a request"),
            }
            let mut rest = line;
            while let Some((_, escape)) = rest.split_once('\\') {
                let known = ["-", "\\", "&", "fB", "fI", "fR", "*(Aq", "(bu", "(aq", "n(.g"];
                let length = known.iter().find(|known| escape.starts_with(**known));
                rest = &escape[length.unwrap_or_else(|| panic!("{at}: \\{escape}")).len()..];
            }
        }
        assert!(open.is_empty(), "{at}: {open:?} is not closed");
        assert_eq!(
            sections[..3],
            ["NAME", "SYNOPSIS", "DESCRIPTION"],
            "{at}: {sections:?}"
        );
        assert_eq!(sections[sections.len() - 2..], ["EXAMPLES", "SEE ALSO"], "{at}");
        // whatis(1) and apropos(1) read the name and its purpose from one line.
        let name = path.file_stem().unwrap().to_str().unwrap().replace('-', r"\-");
        let about = text.split(".SH NAME\n").nth(1).unwrap().lines().next().unwrap();
        assert!(about.starts_with(&format!(r"{name} \- ")), "{at}: {about}");
    }
}

#[test]
fn groff_formats_each_man_page_without_a_warning() {
    if !installed("groff") {
        return;
    }
    for path in pages().keys() {
        let out = Process::new("groff")
            .args(["-man", "-Tutf8", "-ww", "-z"])
            .arg(path)
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&out.stderr), "", "{}", path.display());
        assert!(out.status.success(), "{}", path.display());
    }
}
