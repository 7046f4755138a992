//! The pictures at the top of README.md: what the program prints on a terminal, as SVG. After a change to the output:
//!
//! `scripts/terminal-svg`

mod svg;

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::harness::Plugin;
use svg::{DARK, LIGHT, Palette};

/// The command, as README.md shows it first.
const COMMAND: &str = "scan -n pay --from examples/stuck-cluster.snapshot";
const PICTURES: [(&str, &Palette); 2] = [("scan-light.svg", &LIGHT), ("scan-dark.svg", &DARK)];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn file(name: &str) -> PathBuf {
    root().join("docs/images").join(name)
}

/// The picture of the command in these colours.
fn picture(palette: &Palette) -> String {
    let words = COMMAND.split(' ').chain(["--color", "always"]);
    let printed = Plugin::new(words).env("LC_ALL", "C.UTF-8").run().success();
    svg::of(&format!("kubectl finalizers {COMMAND}"), &printed, palette)
}

#[test]
fn the_pictures_show_what_the_program_prints() {
    for (name, palette) in PICTURES {
        let is_same = fs::read_to_string(file(name)).unwrap_or_default() == picture(palette);
        assert!(is_same, "{name} is stale; make it anew: scripts/terminal-svg");
    }
}

#[test]
fn the_pictures_are_well_formed() {
    for (name, _) in PICTURES {
        let text = fs::read_to_string(file(name)).unwrap();
        let mut open = Vec::new();
        for part in text.split('<').skip(1) {
            let (tag, rest) = part.split_once('>').expect(name);
            assert!(!rest.contains('>'), "{name}: {rest}");
            for entity in part.split('&').skip(1) {
                let entity = entity.split(';').next().unwrap();
                assert!(["amp", "lt", "gt", "quot"].contains(&entity), "{name}: &{entity}");
            }
            assert_eq!(tag.matches('"').count() % 2, 0, "{name}: {tag}");
            match tag.strip_prefix('/') {
                Some(end) => assert_eq!(open.pop(), Some(end), "{name}"),
                None if tag.ends_with('/') => {}
                None => open.extend(tag.split([' ', '\n']).next()),
            }
        }
        assert!(open.is_empty(), "{name}: {open:?}");
        // A screen reader says these.
        assert!(text.contains("<title id=\"title\">") && text.contains("<desc id=\"desc\">"));
    }
}

#[test]
fn the_readme_has_both_pictures() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    for (name, _) in PICTURES {
        assert!(readme.contains(&format!("docs/images/{name}")), "{name}");
    }
    assert!(readme.contains("prefers-color-scheme: dark"));
    assert!(readme.contains(&format!("$ kubectl finalizers {COMMAND}\n")));
}

#[test]
#[ignore = "writes into the source tree"]
fn write_the_pictures() {
    fs::create_dir_all(file("")).unwrap();
    for (name, palette) in PICTURES {
        fs::write(file(name), picture(palette)).unwrap();
    }
}
